// SPDX-License-Identifier: GPL-3.0-or-later
//
// One function: its plots, its growth in words, who calls it and whom it calls.
import type { App, View } from "./app";
import { csv, csvButton, save } from "./csv";
import { bar, button, h } from "./dom";
import { explanation } from "./explain";
import { exact, growthText, interval, order, orderNodes, percent, plural, shell, short, where } from "./format";
import type { Model } from "./model";
import { fitted, modelAt } from "./orders";
import { pathTable } from "./paths";
import { Axes, costPlot, dotPlot, Plot, workloadPlot } from "./plots";
import { deviation, mean, Point, Profile } from "./profile";
import type { State } from "./state";
import type { Details, Growth } from "./types";

const PLOT_H = 330, WORKLOAD_H = 84, GUESS_H = 210;
const POINTS_SHOWN = 500, NEIGHBOURS = 12;

interface Split { id: string; title: string; points: () => Point[]; growth: Growth | null; calls: number; cost: number }

export class FunctionView implements View {
	element = h("section", { class: "function" });
	private plots: Plot[] = [];
	private axes: Axes = { logX: true, logY: true };
	private hidden = new Set<string>();

	constructor(private model: Model, private app: App) {}

	show(state: State) {
		this.leave();
		const row = this.model.find(state.fn), profile = this.model.profile;
		if (row === undefined) {
			this.element.replaceChildren(h("p", { class: "none" }, "This function is not in the profile; the address may be that of another page."));
			return;
		}
		const f = this.model.functions[row], detail = this.model.detail(row);
		const main = h("div", { class: "plots" }), more = h("div", { class: "more" });
		this.element.replaceChildren(this.head(row), h("div", { class: "columns" }, main, this.verdict(row, detail)), more);
		if (!profile) {
			main.append(h("p", { class: "none" }, "Reading the points \u2026"));
			this.model.profileReady.catch((reason) => main.replaceChildren(h("p", { class: "lost" }, `The points cannot be read: ${reason}`)));
			return;
		}
		const splits = this.splits(row, profile, detail), split = splits.find((one) => one.id === state.split) ?? splits[0];
		const points = split.points();
		if (!points.length)
			main.append(h("p", { class: "none" }, `No points by ${this.model.report.input_metric}: `, f.growth.advice ?? "this input size was not recorded."));
		else
			this.drawPlots(main, state, row, splits, split, points, detail);
		more.append(...this.tables(row, profile, detail, splits));
	}

	leave() {
		for (const plot of this.plots)
			plot.destroy();
		this.plots = [];
	}

	command(state: State): string {
		const row = this.model.find(state.fn);
		return row === undefined ? "" : `slope show ${shell(this.model.functions[row].name)} ${shell(this.model.facts.file)}`;
	}

	key(event: KeyboardEvent): boolean {
		const by = event.key === "ArrowRight" || event.key === "]" ? 1 : event.key === "ArrowLeft" || event.key === "[" ? -1 : 0;
		const order = this.model.order(), at = order.indexOf(this.model.find(this.app.state.fn) ?? -1) + by;
		if (!by || at < 0 || at >= order.length)
			return false;
		this.app.go({ fn: this.model.key(order[at]), split: "all" });
		return true;
	}

	// ---- words ----

	private head(row: number): HTMLElement {
		const f = this.model.functions[row], position = this.model.order().indexOf(row);
		return h("div", { class: "fn-head" }, button("\u2190 all functions", "back (Escape)", () => this.app.back(), { class: "back" }),
			h("h2", { class: "mono fn-name", title: f.name }, f.name),
			h("p", { class: "under" }, where(f), f.symbol && f.symbol !== f.name ? ` \u00b7 ${f.symbol}` : "", ` \u00b7 ${position + 1} of ${exact(this.model.functions.length)}`));
	}

	private verdict(row: number, detail: Details | undefined): HTMLElement {
		const f = this.model.functions[row], g = f.growth, total = this.model.report.cost.total, unit = this.model.report.cost_unit;
		const said = g.verdict !== "inconclusive", via = this.model.via(row);
		const list: [string, Node | string][] = [];
		if (said && g.exponent !== null)
			list.push(["exponent", `${g.exponent.toFixed(2)} (${interval(g)})`]);
		list.push(["evidence", g.grade ? `${g.grade}, ${g.evidence.toFixed(2)}` : "none"]);
		list.push(["sizes", f.n ? `${plural(f.points, "size")}, n ${exact(f.n.min)} to ${exact(f.n.max)}${f.folded ? ", binned" : ""}` : "none"]);
		if (g.error !== undefined && g.error !== null)
			list.push(["model's error", percent(g.error)]);
		if (g.top_slope !== undefined && g.top_slope !== null)
			list.push(["slope at the top", g.top_slope.toFixed(2)]);
		if (detail) {
			list.push(["worst calls", growthText(detail.show.growth.max)], ["best calls", growthText(detail.show.growth.min)]);
			if (detail.show.scatter !== null)
				list.push(["calls of one n differ by", percent(detail.show.scatter)]);
		}
		list.push(["calls", exact(f.calls)], [`cost (${unit})`, `${exact(f.cost.total)}, self ${exact(f.cost.self)}`]);
		list.push(["share now", bar(f.share.now, percent(f.share.now))], [`share at ${exact(this.model.times)}\u00d7`, bar(this.model.later(row), percent(this.model.later(row)), "later")]);
		const largest = f.n && f.n.max * this.model.times, then = said && largest && g.coefficients ? modelAt(g.coefficients, largest) : null;
		if (then && then > 0 && isFinite(then))
			list.push([`a call of n = ${short(largest!)}`, `would take ${short(then)} ${unit}`]);
		list.push(["self", bar(f.cost.self / Math.max(total, 1), percent(f.cost.self / Math.max(total, 1)))]);
		if (f.input.trms || f.input.rms)
			list.push(["input", `${exact(f.input.trms || f.input.rms)} cells`]);
		if (f.input.thread || f.input.external)
			list.push(["of it", `${percent(f.input.thread / Math.max(f.input.trms, 1))} other threads, ${percent(f.input.external / Math.max(f.input.trms, 1))} outside`]);
		return h("aside", { class: "verdict" }, h("p", { class: `big ${said ? "" : "soft"}` }, ...(said ? orderNodes(g.text) : [g.reason ?? "inconclusive"])),
			!said && g.advice && h("p", null, `To settle it: ${g.advice}.`),
			g.below && g.n && h("p", { class: "under" }, `Two regimes: ${order(g.below.order)} below n = ${exact(g.n.from)}.`),
			f.ramp && h("p", { class: "under" }, "It is called for every size up to the largest, as for each element of something that grows: all calls together are one order steeper."),
			via !== null && h("p", { class: "under" }, "Its growth is that of ", this.link(via), "."),
			f.by_context?.differ && h("p", null, f.by_context.text ?? ""),
			f.path && h("p", { class: "under" }, `The path with most of its own instructions (${percent(f.path.instructions_share)}` +
				`${f.path.executions_per_call === null ? "" : `, ${f.path.executions_per_call.toPrecision(3)} times a call`}): `, h("span", { class: "mono" }, f.path.text)),
			g.outlier_count > 0 && h("p", { class: "under" }, `${plural(g.outlier_count, "size")} off the curve: n = ${g.outliers.slice(0, 4).map((o) => exact(o.n)).join(", ")}${g.outlier_count > 4 ? ", \u2026" : ""}`),
			h("dl", null, list.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)])));
	}

	private link(row: number, most = 70): HTMLElement {
		const name = this.model.functions[row].name;
		return h("a", { href: "#", class: "mono link", title: name, click: (e: MouseEvent) => { e.preventDefault(); this.app.openFunction(row); } },
			name.length > most ? name.slice(0, most - 1) + "\u2026" : name);
	}

	// ---- plots ----

	private splits(row: number, profile: Profile, detail: Details | undefined): Split[] {
		const f = this.model.functions[row], fn = this.model.fn(row), list: Split[] = [
			{ id: "all", title: "all calls", points: () => profile.points(fn), growth: f.growth, calls: f.calls, cost: f.cost.total }];
		const threads = this.model.report.threads;
		if (detail && detail.show.threads.length > 1)
			for (const one of detail.show.threads) {
				const at = threads.findIndex((t) => t.id === one.id && t.process === one.process);
				list.push({ id: `thread:${at}`, title: `thread ${one.id}${one.name ? ` ${one.name}` : ""}`, points: () => profile.points(fn, at),
					growth: one.growth, calls: one.calls, cost: one.cost.total });
			}
		const by = detail?.show.by_context;
		by?.contexts.forEach((one, i) => {
			const same = (profile.variants.get(fn) ?? []).filter((v) => {
				const callers = v.callers.slice(0, by.k).map((c) => this.model.name(c)), short = v.rest && v.callers.length < by.k;
				return short === one.rest && callers.length === one.callers.length && callers.every((c, k) => c === named(one.callers[k]));
			});
			list.push({ id: `context:${i}`, title: one.rest ? "other callers" : `from ${one.callers.map(named).join(" \u2190 ") || "(start)"}`,
				points: () => profile.variantPoints(same.map((v) => v.number)), growth: one.growth, calls: one.calls, cost: one.cost.total });
		});
		return list;
	}

	private drawPlots(to: HTMLElement, state: State, row: number, splits: Split[], split: Split, points: Point[], detail: Details | undefined) {
		const tab = (id: string, title: string) => button(title, title, () => this.app.go({ tab: id }, true), { class: "chip tab", "aria-pressed": state.tab === id ? "true" : "false" });
		const again = () => this.app.refresh();
		const toggle = (title: string, on: boolean, press: () => void) => button(title, title, () => { press(); again(); }, { class: "chip", "aria-pressed": on ? "true" : "false" });
		const tools = h("div", { class: "chips toggles" }, tab("cost", "cost"), tab("guess", "guess ratio"), tab("residuals", "residuals"), h("span", { class: "gap" }),
			toggle("log n", this.axes.logX, () => { this.axes.logX = !this.axes.logX; }));
		const readout = h("p", { class: "readout", "aria-live": "polite" });
		to.append(tools);
		if (splits.length > 1 && state.tab !== "guess")
			to.append(h("div", { class: "chips splits" }, ...splits.slice(0, 12).map((one) => button(one.title.length > 48 ? one.title.slice(0, 47) + "\u2026" : one.title, one.title,
				() => this.app.go({ split: one.id }, true), { class: "chip", "aria-pressed": one === split ? "true" : "false" }))));
		to.append(readout);
		if (state.tab === "guess")
			return this.drawGuesses(to, detail);
		if (state.tab === "residuals")
			return this.drawResiduals(to, split, points, readout);
		tools.append(toggle("log cost", this.axes.logY, () => { this.axes.logY = !this.axes.logY; }));
		for (const [id, title] of [["worst", "worst"], ["best", "best"], ["spread", "spread"], ["fit", "fit"], ["classes", "nearest classes"]])
			tools.append(toggle(title, !this.hidden.has(id), () => { if (!this.hidden.delete(id)) this.hidden.add(id); }));
		this.drawCost(to, row, split, splits[0], points, detail, readout);
	}

	private drawCost(to: HTMLElement, row: number, split: Split, all: Split, points: Point[], detail: Details | undefined, readout: HTMLElement) {
		const upper = h("div", { class: "plot cost-plot" }), lower = h("div", { class: "plot workload" });
		to.append(upper, lower);
		const guesses = detail?.show.guesses ?? [], model = this.model.functions[row].growth.coefficients?.order;
		const at = guesses.findIndex((g) => g.order === model), below = at > 0 ? guesses[at - 1].order : null;
		const above = at >= 0 && at < guesses.length - 1 ? guesses[at + 1].order : null;
		const workload = workloadPlot(lower, WORKLOAD_H, points, this.axes);
		const say = (p: Point | null) => readout.replaceChildren(...(p ? this.said(p, split.growth) : this.legend(points, split)));
		const cost = costPlot(upper, PLOT_H, { points, behind: split === all ? [] : all.points(), growth: split.growth, below, above, hidden: this.hidden,
			unit: this.model.report.cost_unit }, this.axes, say, (min, max) => workload.chart.setScale("x", { min, max }));
		this.plots.push(cost, workload);
		say(null);
	}

	// Exact values of one size.
	private said(p: Point, growth: Growth | null): Node[] {
		const fit = growth && fitted(growth, p.n), pair = (name: string, value: string) => h("span", { class: "pair" }, h("span", { class: "label" }, name), " ", h("b", null, value));
		return [pair("n", exact(p.n)), pair("calls", exact(p.calls)), pair("worst", exact(p.max)), pair("mean", exact(mean(p))), pair("best", exact(p.min)),
			...(p.calls > 1 ? [pair("\u00b1", exact(Number(deviation(p).toPrecision(4))))] : []), ...(fit ? [pair("fit", exact(Number(fit.toPrecision(4))))] : [])];
	}

	private legend(points: Point[], split: Split): Node[] {
		const zero = this.axes.logX && points.some((p) => p.n === 0) ? " n = 0 has no place on a log axis." : "";
		return [h("span", { class: "label" }, `${plural(points.length, "size")}, ${plural(split.calls, "call")}. Points: mean cost of a call; pale: worst and best. ` +
			`Line: fit; shade: 95 % interval of the exponent, from the middle on. Drag to zoom, double-click to go back.${zero}`)];
	}

	private drawGuesses(to: HTMLElement, detail: Details | undefined) {
		const means: Record<string, string> = { falls: "falls: the guess grows faster than the cost", levels_off: "levels off: the guess fits", rises: "rises: the guess grows slower than the cost",
			unclear: "open: the sizes do not tell" };
		if (!detail?.show.guesses.length) {
			to.append(h("p", { class: "none" }, "No guesses were tried for this function; 'slope show --guess=n^2' tries one."));
			return;
		}
		to.append(h("p", { class: "under" }, "Cost over a guessed order. A guess that fits levels off; one that is too steep makes the ratio fall, one that is not steep enough lets it rise."));
		for (const guess of detail.show.guesses) {
			const box = h("div", { class: "plot guess-plot" }), ratios = guess.ratios.filter((r) => !this.axes.logX || r.n > 0);
			to.append(h("h4", null, `cost / ${order(guess.order)}`, h("span", { class: "under" }, `  ${means[guess.trend] ?? guess.trend}` +
				(guess.level !== null ? `, at ${guess.level.toPrecision(3)} (${guess.level_low?.toPrecision(3)} to ${guess.level_high?.toPrecision(3)})` : ""))), box);
			this.plots.push(dotPlot(box, GUESS_H, ratios.map((r) => r.n), ratios.map((r) => r.ratio), "ratio", this.axes));
		}
	}

	private drawResiduals(to: HTMLElement, split: Split, points: Point[], readout: HTMLElement) {
		const g = split.growth;
		if (!g?.coefficients) {
			to.append(h("p", { class: "none" }, "Nothing was fitted, so nothing is left over."));
			return;
		}
		const shown = points.filter((p) => !this.axes.logX || p.n > 0), left = shown.map((p) => { const fit = fitted(g, p.n); return fit && fit > 0 ? (mean(p) / fit - 1) * 100 : null; });
		const box = h("div", { class: "plot residual-plot" });
		to.append(box);
		readout.textContent = "What the fit leaves: mean cost over the fitted one, in per cent. Points in a curve mean that the model is not the right one.";
		this.plots.push(dotPlot(box, PLOT_H, shown.map((p) => p.n), left, "off the fit (%)", this.axes, true, (at) => {
			if (at !== null)
				readout.replaceChildren(...this.said(shown[at], g));
		}));
	}

	// ---- tables ----

	private tables(row: number, profile: Profile, detail: Details | undefined, splits: Split[]): HTMLElement[] {
		const list: HTMLElement[] = [], fn = this.model.fn(row);
		if (detail)
			list.push(explanation(detail.explain, (name) => { const to = this.model.functions.findIndex((f) => f.name === name); if (to >= 0) this.app.openFunction(to); }));
		else
			list.push(h("section", null, h("h3", null, "What makes it grow"), h("p", { class: "under" }, "It is too small for the page to carry that; "
				, h("code", null, `slope explain ${shell(this.model.functions[row].name)}`), " says it.")));
		if (splits.length > 1)
			list.push(this.splitTable(splits));
		list.push(this.neighbours("Callers", "cost from there", (profile.callersOf.get(fn) ?? []).map((e) => ({ fn: e.caller, calls: e.calls, cost: e.cost }))));
		list.push(this.neighbours("Callees", "cost there", (profile.calleesOf.get(fn) ?? []).map((e) => ({ fn: e.callee, calls: e.calls, cost: e.cost }))));
		if (this.model.facts.contexts)
			list.push(h("section", null, h("h3", null, "Contexts"), button("show its callers and callees as a flame", "pivot of the context tree",
				() => this.app.go({ view: "contexts" }), { class: "plain" })));
		const paths = this.model.paths, name = this.model.functions[row].name, own = paths?.functions.find((f) => f.name === name);
		if (paths && own) {
			const hot = paths.paths.filter((p) => p.function === name), c = own.coverage;
			list.push(h("section", { class: "wide-section hot-paths" }, h("h3", null, "Paths", h("span", { class: "under" }, `  ${exact(c.paths)} of ${c.of_paths} paths executed, ${exact(c.blocks)} of ${exact(c.of_blocks)} blocks`)),
				hot.length ? pathTable(hot, paths.metric, null) : h("p", { class: "under" }, `None has ${percent(paths.threshold)} of the run; `, h("code", null, `slope paths ${shell(name)}`), " shows them all.")));
		}
		if (detail?.show.source_lines)
			list.push(source(detail.show.source_lines, this.model.functions[row].line));
		list.push(this.pointsTable(row, splits[0]));
		return list;
	}

	private splitTable(splits: Split[]): HTMLElement {
		return h("section", { class: "parts-of" }, h("h3", null, "By thread and by caller ", csvButton("parts", ["part", "calls", "cost", "growth", "low", "high"],
			() => splits.map((one) => [one.title, one.calls, one.cost, one.growth && growthText(one.growth), one.growth?.low, one.growth?.high]))), h("table", { class: "plain-table" },
			h("thead", null, h("tr", null, ...["", "calls", "cost", "growth", "exponent"].map((t) => h("th", { class: t === "calls" || t === "cost" ? "r" : "" }, t)))),
			h("tbody", null, ...splits.map((one) => h("tr", null, h("td", null, h("a", { href: "#", class: "link", title: one.title,
				click: (e: MouseEvent) => { e.preventDefault(); this.app.go({ split: one.id, tab: "cost" }, true); window.scrollTo(0, 0); } }, one.title)),
			h("td", { class: "r" }, exact(one.calls)), h("td", { class: "r" }, short(one.cost)), h("td", null, one.growth ? growthText(one.growth) : ""),
			h("td", null, one.growth ? interval(one.growth) : ""))))));
	}

	private neighbours(title: string, costTitle: string, edges: { fn: number; calls: number; cost: number }[]): HTMLElement {
		const by = new Map<number, { calls: number; cost: number }>();
		for (const e of edges) {
			const one = by.get(e.fn) ?? { calls: 0, cost: 0 };
			by.set(e.fn, { calls: one.calls + e.calls, cost: one.cost + e.cost });
		}
		const list = [...by].sort((a, b) => b[1].cost - a[1].cost || b[1].calls - a[1].calls), total = this.model.report.cost.total;
		const body = h("tbody"), rowOf = ([fn, one]: [number, { calls: number; cost: number }]) => {
			const row = this.model.row(fn);
			return h("tr", null, h("td", { class: "wide" }, bar(one.cost / Math.max(total, 1), percent(one.cost / Math.max(total, 1)))),
				h("td", { class: "r" }, exact(one.calls)), h("td", null, row === undefined ? h("span", { class: "under" }, "(start)") : this.link(row)),
				h("td", null, row === undefined ? "" : growthText(this.model.functions[row].growth)));
		};
		body.append(...list.slice(0, NEIGHBOURS).map(rowOf));
		const more = list.length > NEIGHBOURS && button(`${exact(list.length - NEIGHBOURS)} more`, "show all", () => { body.replaceChildren(...list.map(rowOf)); (more as HTMLElement).remove(); }, { class: "plain" });
		return h("section", { class: title.toLowerCase() }, h("h3", null, `${title} `, list.length > 0 && csvButton(title.toLowerCase(), ["function", "calls", "cost"],
			() => list.map(([fn, one]) => [this.model.name(fn), one.calls, one.cost]))), list.length ? h("table", { class: "plain-table" },
			h("thead", null, h("tr", null, ...[costTitle, "calls", title.slice(0, -1).toLowerCase(), "growth"].map((t) => h("th", { class: t === "calls" ? "r" : "" }, t)))), body) :
			h("p", { class: "under" }, title === "Callees" ? "It calls nobody." : "Nobody in the profile calls it."), more);
	}

	private pointsTable(row: number, all: Split): HTMLElement {
		const f = this.model.functions[row], points = all.points();
		const fields = (p: Point) => [p.n, p.calls, p.min, p.max, p.sum, mean(p), deviation(p)];
		const head = ["n", "calls", "min", "max", "sum", "mean", "deviation"];
		const body = h("tbody"), box = h("details", { class: "points", toggle: () => {
			if (!body.childElementCount)
				body.append(...points.slice(0, POINTS_SHOWN).map((p) => h("tr", null, ...fields(p).map((v) => h("td", { class: "r" }, exact(v))))));
		} }, h("summary", null, `Points (${exact(points.length)})`),
		h("table", { class: "plain-table" }, h("thead", null, h("tr", null, ...head.map((t) => h("th", { class: "r" }, t)))), body),
		points.length > POINTS_SHOWN && h("p", { class: "under" }, `The first ${POINTS_SHOWN}; the CSV has all of them.`));
		return h("section", { class: "wide-section" }, box, button("CSV", "save the points as CSV", () => save(`${f.name.replace(/[^\w.-]+/g, "_").slice(0, 60)}.csv`,
			csv(head, points.map(fields))), { class: "plain save-points" }));
	}
}

// Contexts name the start of a thread as the profile does.
function named(name: string): string {
	return name === "(thread)" ? "(start)" : name;
}

function source(lines: NonNullable<Details["show"]["source_lines"]>, line: number | null): HTMLElement {
	return h("section", { class: "wide-section source" }, h("h3", null, "Source"), h("p", { class: "under" }, lines.path, lines.newer ? " (changed since the run)" : ""),
		h("pre", null, ...lines.lines.map((text, i) => h("div", { class: lines.first + i === line ? "here" : "" }, h("span", { class: "no" }, String(lines.first + i)), text))),
		lines.more > 0 && h("p", { class: "under" }, `${exact(lines.more)} more lines`));
}
