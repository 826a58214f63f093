// SPDX-License-Identifier: GPL-3.0-or-later
//
// One function: its plots, and around them what is known of it.
import type { App, View } from "./app";
import { button, h } from "./dom";
import { exact, order, plural, shell } from "./format";
import { FunctionFacts } from "./function_facts";
import { FunctionTables } from "./function_tables";
import type { Model } from "./model";
import { fitted } from "./orders";
import { Axes, costPlot, dotPlot, Plot, workloadPlot } from "./plots";
import { deviation, mean, Point } from "./profile";
import { Split, splitsOf } from "./splits";
import type { State } from "./state";
import type { Details, Growth } from "./types";

const PLOT_H = 330,
	WORKLOAD_H = 84,
	GUESS_H = 210;

export class FunctionView implements View {
	element = h("section", { class: "function" });
	private plots: Plot[] = [];
	private axes: Axes = { logX: true, logY: true };
	private hidden = new Set<string>();

	private facts: FunctionFacts;
	private tables: FunctionTables;

	constructor(
		private model: Model,
		private app: App,
	) {
		this.facts = new FunctionFacts(model, app);
		this.tables = new FunctionTables(model, app, this.facts);
	}

	show(state: State) {
		this.leave();
		const row = this.model.find(state.fn),
			profile = this.model.profile;
		if (row === undefined) {
			this.element.replaceChildren(
				h(
					"p",
					{ class: "none" },
					"This function is not in the profile; the address may be that of another page.",
				),
			);
			return;
		}
		const f = this.model.functions[row],
			detail = this.model.detail(row);
		const main = h("div", { class: "plots" }),
			more = h("div", { class: "more" });
		this.element.replaceChildren(
			this.facts.head(row),
			h("div", { class: "columns" }, main, this.facts.verdict(row, detail)),
			more,
		);
		if (!profile) {
			main.append(h("p", { class: "none" }, "Reading the points \u2026"));
			this.model.profileReady.catch((reason) =>
				main.replaceChildren(h("p", { class: "lost" }, `The points cannot be read: ${reason}`)),
			);
			return;
		}
		const splits = splitsOf(this.model, row, profile, detail),
			split = splits.find((one) => one.id === state.split) ?? splits[0];
		const points = split.points();
		if (this.model.sampled)
			main.append(
				h("p", { class: "none" }, "Sampled: time by call path, no input sizes, and so no curve. Callers and callees are below; " +
					"'slope record' without --source=sampler measures how it grows."),
			);
		else if (!points.length)
			main.append(
				h(
					"p",
					{ class: "none" },
					`No points by ${this.model.report.input_metric}: `,
					f.growth.advice ?? "this input size was not recorded.",
				),
			);
		else this.drawPlots(main, state, row, splits, split, points, detail);
		more.append(...this.tables.tables(row, profile, detail, splits));
	}

	leave() {
		for (const plot of this.plots) plot.destroy();
		this.plots = [];
	}

	command(state: State): string {
		const row = this.model.find(state.fn);
		return row === undefined
			? ""
			: `slope show ${shell(this.model.functions[row].name)} ${shell(this.model.facts.file)}`;
	}

	key(event: KeyboardEvent): boolean {
		const by =
			event.key === "ArrowRight" || event.key === "]"
				? 1
				: event.key === "ArrowLeft" || event.key === "["
					? -1
					: 0;
		const order = this.model.order(),
			at = order.indexOf(this.model.find(this.app.state.fn) ?? -1) + by;
		if (!by || at < 0 || at >= order.length) return false;
		this.app.go({ fn: this.model.key(order[at]), split: "all" });
		return true;
	}

	// ---- plots ----

	private drawPlots(
		to: HTMLElement,
		state: State,
		row: number,
		splits: Split[],
		split: Split,
		points: Point[],
		detail: Details | undefined,
	) {
		const tab = (id: string, title: string) =>
			button(title, title, () => this.app.go({ tab: id }, true), {
				class: "chip tab",
				"aria-pressed": state.tab === id ? "true" : "false",
			});
		const again = () => this.app.refresh();
		const toggle = (title: string, on: boolean, press: () => void) =>
			button(
				title,
				title,
				() => {
					press();
					again();
				},
				{ class: "chip", "aria-pressed": on ? "true" : "false" },
			);
		const tools = h(
			"div",
			{ class: "chips toggles" },
			tab("cost", "cost"),
			tab("guess", "guess ratio"),
			tab("residuals", "residuals"),
			h("span", { class: "gap" }),
			toggle("log n", this.axes.logX, () => {
				this.axes.logX = !this.axes.logX;
			}),
		);
		const readout = h("p", { class: "readout", "aria-live": "polite" });
		to.append(tools);
		if (splits.length > 1 && state.tab !== "guess")
			to.append(
				h(
					"div",
					{ class: "chips splits" },
					...splits.slice(0, 12).map((one) =>
						button(
							one.title.length > 48 ? one.title.slice(0, 47) + "\u2026" : one.title,
							one.title,
							() => this.app.go({ split: one.id }, true),
							{
								class: "chip",
								"aria-pressed": one === split ? "true" : "false",
							},
						),
					),
				),
			);
		to.append(readout);
		if (state.tab === "guess") return this.drawGuesses(to, detail);
		if (state.tab === "residuals") return this.drawResiduals(to, split, points, readout);
		tools.append(
			toggle("log cost", this.axes.logY, () => {
				this.axes.logY = !this.axes.logY;
			}),
		);
		for (const [id, title] of [
			["worst", "worst"],
			["best", "best"],
			["spread", "spread"],
			["fit", "fit"],
			["classes", "nearest classes"],
		])
			tools.append(
				toggle(title, !this.hidden.has(id), () => {
					if (!this.hidden.delete(id)) this.hidden.add(id);
				}),
			);
		this.drawCost(to, row, split, splits[0], points, detail, readout);
	}

	private drawCost(
		to: HTMLElement,
		row: number,
		split: Split,
		all: Split,
		points: Point[],
		detail: Details | undefined,
		readout: HTMLElement,
	) {
		const upper = h("div", { class: "plot cost-plot" }),
			lower = h("div", { class: "plot workload" });
		to.append(upper, lower);
		const guesses = detail?.show.guesses ?? [],
			model = this.model.functions[row].growth.coefficients?.order;
		const at = guesses.findIndex((g) => g.order === model),
			below = at > 0 ? guesses[at - 1].order : null;
		const above = at >= 0 && at < guesses.length - 1 ? guesses[at + 1].order : null;
		const workload = workloadPlot(lower, WORKLOAD_H, points, this.axes);
		const say = (p: Point | null) =>
			readout.replaceChildren(...(p ? this.said(p, split.growth) : this.legend(points, split)));
		const cost = costPlot(
			upper,
			PLOT_H,
			{
				points,
				behind: split === all ? [] : all.points(),
				growth: split.growth,
				below,
				above,
				hidden: this.hidden,
				unit: this.model.report.cost_unit,
			},
			this.axes,
			say,
			(min, max) => workload.chart.setScale("x", { min, max }),
		);
		this.plots.push(cost, workload);
		say(null);
	}

	// Exact values of one size.
	private said(p: Point, growth: Growth | null): Node[] {
		const fit = growth && fitted(growth, p.n),
			pair = (name: string, value: string) =>
				h("span", { class: "pair" }, h("span", { class: "label" }, name), " ", h("b", null, value));
		return [
			pair("n", exact(p.n)),
			pair("calls", exact(p.calls)),
			pair("worst", exact(p.max)),
			pair("mean", exact(mean(p))),
			pair("best", exact(p.min)),
			...(p.calls > 1 ? [pair("\u00b1", exact(Number(deviation(p).toPrecision(4))))] : []),
			...(fit ? [pair("fit", exact(Number(fit.toPrecision(4))))] : []),
		];
	}

	private legend(points: Point[], split: Split): Node[] {
		const zero = this.axes.logX && points.some((p) => p.n === 0) ? " n = 0 has no place on a log axis." : "";
		return [
			h(
				"span",
				{ class: "label" },
				`${plural(points.length, "size")}, ${plural(split.calls, "call")}. Points: mean cost of a call; pale: worst and best. ` +
					`Line: fit; shade: 95 % interval of the exponent, from the middle on. Drag to zoom, double-click to go back.${zero}`,
			),
		];
	}

	private drawGuesses(to: HTMLElement, detail: Details | undefined) {
		const means: Record<string, string> = {
			falls: "falls: the guess grows faster than the cost",
			levels_off: "levels off: the guess fits",
			rises: "rises: the guess grows slower than the cost",
			unclear: "open: the sizes do not tell",
		};
		if (!detail?.show.guesses.length) {
			to.append(
				h(
					"p",
					{ class: "none" },
					"No guesses were tried for this function; 'slope show --guess=n^2' tries one.",
				),
			);
			return;
		}
		to.append(
			h(
				"p",
				{ class: "under" },
				"Cost over a guessed order. A guess that fits levels off; one that is too steep makes the ratio fall, one that is not steep enough lets it rise.",
			),
		);
		for (const guess of detail.show.guesses) {
			const box = h("div", { class: "plot guess-plot" }),
				ratios = guess.ratios.filter((r) => !this.axes.logX || r.n > 0);
			to.append(
				h(
					"h4",
					null,
					`cost / ${order(guess.order)}`,
					h(
						"span",
						{ class: "under" },
						`  ${means[guess.trend] ?? guess.trend}` +
							(guess.level !== null
								? `, at ${guess.level.toPrecision(3)} (${guess.level_low?.toPrecision(3)} to ${guess.level_high?.toPrecision(3)})`
								: ""),
					),
				),
				box,
			);
			this.plots.push(
				dotPlot(
					box,
					GUESS_H,
					ratios.map((r) => r.n),
					ratios.map((r) => r.ratio),
					"ratio",
					this.axes,
				),
			);
		}
	}

	private drawResiduals(to: HTMLElement, split: Split, points: Point[], readout: HTMLElement) {
		const g = split.growth;
		if (!g?.coefficients) {
			to.append(h("p", { class: "none" }, "Nothing was fitted, so nothing is left over."));
			return;
		}
		const shown = points.filter((p) => !this.axes.logX || p.n > 0),
			left = shown.map((p) => {
				const fit = fitted(g, p.n);
				return fit && fit > 0 ? (mean(p) / fit - 1) * 100 : null;
			});
		const box = h("div", { class: "plot residual-plot" });
		to.append(box);
		readout.textContent =
			"What the fit leaves: mean cost over the fitted one, in per cent. Points in a curve mean that the model is not the right one.";
		this.plots.push(
			dotPlot(
				box,
				PLOT_H,
				shown.map((p) => p.n),
				left,
				"off the fit (%)",
				this.axes,
				true,
				(at) => {
					if (at !== null) readout.replaceChildren(...this.said(shown[at], g));
				},
			),
		);
	}
}
