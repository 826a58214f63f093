// SPDX-License-Identifier: GPL-3.0-or-later
//
// What stands below the plots of a function: why it grows, its parts, its callers and callees, paths, source, points.
import type { App } from "./app";
import { csv, csvButton, save } from "./csv";
import { bar, button, h } from "./dom";
import { explanation } from "./explain";
import { exact, growthText, interval, percent, shell, short } from "./format";
import type { FunctionFacts } from "./function_facts";
import type { Model } from "./model";
import { pathTable } from "./paths";
import { deviation, mean, Point, Profile } from "./profile";
import type { Split } from "./splits";
import type { Details } from "./types";

const POINTS_SHOWN = 500,
	NEIGHBOURS = 12;

export class FunctionTables {
	constructor(
		private model: Model,
		private app: App,
		private facts: FunctionFacts,
	) {}

	tables(row: number, profile: Profile, detail: Details | undefined, splits: Split[]): HTMLElement[] {
		const list: HTMLElement[] = [],
			fn = this.model.fn(row);
		const sampled = this.model.sampled;
		if (detail && !sampled)
			list.push(
				explanation(detail.explain, (name) => {
					const to = this.model.functions.findIndex((f) => f.name === name);
					if (to >= 0) this.app.openFunction(to);
				}),
			);
		else if (!sampled)
			list.push(
				h(
					"section",
					null,
					h("h3", null, "What makes it grow"),
					h(
						"p",
						{ class: "under" },
						"It is too small for the page to carry that; ",
						h("code", null, `slope explain ${shell(this.model.functions[row].name)}`),
						" says it.",
					),
				),
			);
		if (splits.length > 1 && !sampled) list.push(this.splitTable(splits));
		list.push(
			this.neighbours(
				"Callers",
				"cost from there",
				(profile.callersOf.get(fn) ?? []).map((e) => ({ fn: e.caller, calls: e.calls, cost: e.cost })),
			),
		);
		list.push(
			this.neighbours(
				"Callees",
				"cost there",
				(profile.calleesOf.get(fn) ?? []).map((e) => ({ fn: e.callee, calls: e.calls, cost: e.cost })),
			),
		);
		if (this.model.facts.contexts)
			list.push(
				h(
					"section",
					null,
					h("h3", null, "Contexts"),
					button(
						"show its callers and callees as a flame",
						"pivot of the context tree",
						() => this.app.go({ view: "contexts" }),
						{ class: "plain" },
					),
				),
			);
		const paths = this.model.paths,
			name = this.model.functions[row].name,
			own = paths?.functions.find((f) => f.name === name);
		if (paths && own) {
			const hot = paths.paths.filter((p) => p.function === name),
				c = own.coverage;
			list.push(
				h(
					"section",
					{ class: "wide-section hot-paths" },
					h(
						"h3",
						null,
						"Paths",
						h(
							"span",
							{ class: "under" },
							`  ${exact(c.paths)} of ${c.of_paths} paths executed, ${exact(c.blocks)} of ${exact(c.of_blocks)} blocks`,
						),
					),
					hot.length
						? pathTable(hot, paths.metric, null)
						: h(
								"p",
								{ class: "under" },
								`None has ${percent(paths.threshold)} of the run; `,
								h("code", null, `slope paths ${shell(name)}`),
								" shows them all.",
							),
				),
			);
		}
		if (detail?.show.source_lines) list.push(source(detail.show.source_lines, this.model.functions[row].line));
		if (!sampled) list.push(this.pointsTable(row, splits[0]));
		return list;
	}

	private splitTable(splits: Split[]): HTMLElement {
		return h(
			"section",
			{ class: "parts-of" },
			h(
				"h3",
				null,
				"By thread and by caller ",
				csvButton("parts", ["part", "calls", "cost", "growth", "low", "high"], () =>
					splits.map((one) => [
						one.title,
						one.calls,
						one.cost,
						one.growth && growthText(one.growth),
						one.growth?.low,
						one.growth?.high,
					]),
				),
			),
			h(
				"table",
				{ class: "plain-table" },
				h(
					"thead",
					null,
					h(
						"tr",
						null,
						...["", "calls", "cost", "growth", "exponent"].map((t) =>
							h("th", { class: t === "calls" || t === "cost" ? "r" : "" }, t),
						),
					),
				),
				h(
					"tbody",
					null,
					...splits.map((one) =>
						h(
							"tr",
							null,
							h(
								"td",
								null,
								h(
									"a",
									{
										href: "#",
										class: "link",
										title: one.title,
										click: (e: MouseEvent) => {
											e.preventDefault();
											this.app.go(
												{ split: one.id, tab: "cost" },
												true,
											);
											window.scrollTo(0, 0);
										},
									},
									one.title,
								),
							),
							h("td", { class: "r" }, exact(one.calls)),
							h("td", { class: "r" }, short(one.cost)),
							h("td", null, one.growth ? growthText(one.growth) : ""),
							h("td", null, one.growth ? interval(one.growth) : ""),
						),
					),
				),
			),
		);
	}

	private neighbours(title: string, costTitle: string, edges: { fn: number; calls: number; cost: number }[]): HTMLElement {
		const by = new Map<number, { calls: number; cost: number }>();
		for (const e of edges) {
			const one = by.get(e.fn) ?? { calls: 0, cost: 0 };
			by.set(e.fn, { calls: one.calls + e.calls, cost: one.cost + e.cost });
		}
		const list = [...by].sort((a, b) => b[1].cost - a[1].cost || b[1].calls - a[1].calls),
			total = this.model.report.cost.total;
		const body = h("tbody"),
			rowOf = ([fn, one]: [number, { calls: number; cost: number }]) => {
				const row = this.model.row(fn);
				return h(
					"tr",
					null,
					h(
						"td",
						{ class: "wide" },
						bar(one.cost / Math.max(total, 1), percent(one.cost / Math.max(total, 1))),
					),
					h("td", { class: "r" }, exact(one.calls)),
					h(
						"td",
						null,
						row === undefined
							? h("span", { class: "under" }, "(start)")
							: this.facts.link(row),
					),
					this.model.sampled
						? h("td", { class: "r" }, one.calls ? short(one.cost / one.calls) : "\u2013")
						: h("td", null, row === undefined ? "" : growthText(this.model.functions[row].growth)),
				);
			};
		body.append(...list.slice(0, NEIGHBOURS).map(rowOf));
		const more =
			list.length > NEIGHBOURS &&
			button(
				`${exact(list.length - NEIGHBOURS)} more`,
				"show all",
				() => {
					body.replaceChildren(...list.map(rowOf));
					(more as HTMLElement).remove();
				},
				{ class: "plain" },
			);
		return h(
			"section",
			{ class: title.toLowerCase() },
			h(
				"h3",
				null,
				`${title} `,
				list.length > 0 &&
					csvButton(title.toLowerCase(), ["function", "calls", "cost"], () =>
						list.map(([fn, one]) => [this.model.name(fn), one.calls, one.cost]),
					),
			),
			list.length
				? h(
						"table",
						{ class: "plain-table" },
						h(
							"thead",
							null,
							h(
								"tr",
								null,
								...[
									costTitle,
									this.model.sampled ? "seen" : "calls",
									title.slice(0, -1).toLowerCase(),
									this.model.sampled ? "per call" : "growth",
								].map((t) => h("th", { class: ["calls", "seen", "per call"].includes(t) ? "r" : "" }, t)),
							),
						),
						body,
					)
				: h(
						"p",
						{ class: "under" },
						title === "Callees" ? "It calls nobody." : "Nobody in the profile calls it.",
					),
			more,
		);
	}

	private pointsTable(row: number, all: Split): HTMLElement {
		const f = this.model.functions[row],
			points = all.points();
		const fields = (p: Point) => [p.n, p.calls, p.min, p.max, p.sum, mean(p), deviation(p)];
		const head = ["n", "calls", "min", "max", "sum", "mean", "deviation"];
		const body = h("tbody"),
			box = h(
				"details",
				{
					class: "points",
					toggle: () => {
						if (!body.childElementCount)
							body.append(
								...points
									.slice(0, POINTS_SHOWN)
									.map((p) =>
										h(
											"tr",
											null,
											...fields(p).map((v) =>
												h("td", { class: "r" }, exact(v)),
											),
										),
									),
							);
					},
				},
				h("summary", null, `Points (${exact(points.length)})`),
				h(
					"table",
					{ class: "plain-table" },
					h("thead", null, h("tr", null, ...head.map((t) => h("th", { class: "r" }, t)))),
					body,
				),
				points.length > POINTS_SHOWN &&
					h("p", { class: "under" }, `The first ${POINTS_SHOWN}; the CSV has all of them.`),
			);
		return h(
			"section",
			{ class: "wide-section" },
			box,
			button(
				"CSV",
				"save the points as CSV",
				() => save(`${f.name.replace(/[^\w.-]+/g, "_").slice(0, 60)}.csv`, csv(head, points.map(fields))),
				{ class: "plain save-points" },
			),
		);
	}
}

function source(lines: NonNullable<Details["show"]["source_lines"]>, line: number | null): HTMLElement {
	return h(
		"section",
		{ class: "wide-section source" },
		h("h3", null, "Source"),
		h("p", { class: "under" }, lines.path, lines.newer ? " (changed since the run)" : ""),
		h(
			"pre",
			null,
			...lines.lines.map((text, i) =>
				h(
					"div",
					{ class: lines.first + i === line ? "here" : "" },
					h("span", { class: "no" }, String(lines.first + i)),
					text,
				),
			),
		),
		lines.more > 0 && h("p", { class: "under" }, `${exact(lines.more)} more lines`),
	);
}
