// SPDX-License-Identifier: GPL-3.0-or-later
//
// One function in words: its name, its growth, its numbers.
import type { App } from "./app";
import { bar, button, h } from "./dom";
import { exact, growthText, interval, order, orderNodes, percent, plural, short, where } from "./format";
import type { Model } from "./model";
import { modelAt } from "./orders";
import type { Details } from "./types";

export class FunctionFacts {
	constructor(
		private model: Model,
		private app: App,
	) {}

	head(row: number): HTMLElement {
		const f = this.model.functions[row],
			position = this.model.order().indexOf(row);
		return h(
			"div",
			{ class: "fn-head" },
			button("\u2190 all functions", "back (Escape)", () => this.app.back(), { class: "back" }),
			h("h2", { class: "mono fn-name", title: f.name }, f.name),
			h(
				"p",
				{ class: "under" },
				where(f),
				f.symbol && f.symbol !== f.name ? ` \u00b7 ${f.symbol}` : "",
				` \u00b7 ${position + 1} of ${exact(this.model.functions.length)}`,
			),
		);
	}

	// Of a profile without input sizes.
	private measured(row: number): HTMLElement {
		const f = this.model.functions[row],
			total = Math.max(this.model.report.cost.total, 1),
			unit = this.model.report.cost_unit;
		const list: [string, Node | string][] = [
			["self", bar(f.cost.self / total, percent(f.cost.self / total))],
			["with callees", bar(f.share.now, percent(f.share.now))],
			[`cost (${unit})`, `${exact(f.cost.total)}, self ${exact(f.cost.self)}`],
			["calls seen", f.calls ? exact(f.calls) : "none"],
			["per call", f.calls ? `${short(f.cost.total / f.calls)} ${unit} at most` : "\u2013"],
		];
		return h(
			"aside",
			{ class: "verdict" },
			h("p", { class: "big" }, percent(f.cost.self / total), h("span", { class: "under" }, "  of the run in itself")),
			h(
				"dl",
				null,
				list.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
			),
		);
	}

	verdict(row: number, detail: Details | undefined): HTMLElement {
		const f = this.model.functions[row],
			g = f.growth,
			total = this.model.report.cost.total,
			unit = this.model.report.cost_unit;
		const said = g.verdict !== "inconclusive",
			via = this.model.via(row);
		const list: [string, Node | string][] = [];
		if (this.model.sampled) return this.measured(row);
		if (said && g.exponent !== null) list.push(["exponent", `${g.exponent.toFixed(2)} (${interval(g)})`]);
		list.push(["evidence", g.grade ? `${g.grade}, ${g.evidence.toFixed(2)}` : "none"]);
		list.push([
			"sizes",
			f.n
				? `${plural(f.points, "size")}, n ${exact(f.n.min)} to ${exact(f.n.max)}${f.folded ? ", binned" : ""}`
				: "none",
		]);
		if (g.error !== undefined && g.error !== null) list.push(["model's error", percent(g.error)]);
		if (g.top_slope !== undefined && g.top_slope !== null) list.push(["slope at the top", g.top_slope.toFixed(2)]);
		if (detail) {
			list.push(
				["worst calls", growthText(detail.show.growth.max)],
				["best calls", growthText(detail.show.growth.min)],
			);
			if (detail.show.scatter !== null) list.push(["calls of one n differ by", percent(detail.show.scatter)]);
		}
		list.push(["calls", exact(f.calls)], [`cost (${unit})`, `${exact(f.cost.total)}, self ${exact(f.cost.self)}`]);
		list.push(
			["share now", bar(f.share.now, percent(f.share.now))],
			[
				`share at ${exact(this.model.times)}\u00d7`,
				bar(this.model.later(row), percent(this.model.later(row)), "later"),
			],
		);
		const largest = f.n && f.n.max * this.model.times,
			then = said && largest && g.coefficients ? modelAt(g.coefficients, largest) : null;
		if (then && then > 0 && isFinite(then))
			list.push([`a call of n = ${short(largest!)}`, `would take ${short(then)} ${unit}`]);
		list.push(["self", bar(f.cost.self / Math.max(total, 1), percent(f.cost.self / Math.max(total, 1)))]);
		if (f.input.trms || f.input.rms) list.push(["input", `${exact(f.input.trms || f.input.rms)} cells`]);
		if (f.input.thread || f.input.external)
			list.push([
				"of it",
				`${percent(f.input.thread / Math.max(f.input.trms, 1))} other threads, ${percent(f.input.external / Math.max(f.input.trms, 1))} outside`,
			]);
		return h(
			"aside",
			{ class: "verdict" },
			h(
				"p",
				{ class: `big ${said ? "" : "soft"}` },
				...(said ? orderNodes(g.text) : [g.reason ?? "inconclusive"]),
			),
			!said && g.advice && h("p", null, `To settle it: ${g.advice}.`),
			g.below &&
				g.n &&
				h("p", { class: "under" }, `Two regimes: ${order(g.below.order)} below n = ${exact(g.n.from)}.`),
			f.ramp &&
				h(
					"p",
					{ class: "under" },
					"It is called for every size up to the largest, as for each element of something that grows: all calls together are one order steeper.",
				),
			via !== null && h("p", { class: "under" }, "Its growth is that of ", this.link(via), "."),
			f.by_context?.differ && h("p", null, f.by_context.text ?? ""),
			f.path &&
				h(
					"p",
					{ class: "under" },
					`The path with most of its own instructions (${percent(f.path.instructions_share)}` +
						`${f.path.executions_per_call === null ? "" : `, ${f.path.executions_per_call.toPrecision(3)} times a call`}): `,
					h("span", { class: "mono" }, f.path.text),
				),
			g.outlier_count > 0 &&
				h(
					"p",
					{ class: "under" },
					`${plural(g.outlier_count, "size")} off the curve: n = ${g.outliers
						.slice(0, 4)
						.map((o) => exact(o.n))
						.join(", ")}${g.outlier_count > 4 ? ", \u2026" : ""}`,
				),
			h(
				"dl",
				null,
				list.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
			),
		);
	}

	link(row: number, most = 70): HTMLElement {
		const name = this.model.functions[row].name;
		return h(
			"a",
			{
				href: "#",
				class: "mono link",
				title: name,
				click: (e: MouseEvent) => {
					e.preventDefault();
					this.app.openFunction(row);
				},
			},
			name.length > most ? name.slice(0, most - 1) + "\u2026" : name,
		);
	}
}
