// SPDX-License-Identifier: GPL-3.0-or-later
//
// The ranked table. Thousands of rows: only those in sight exist.
import { Virtualizer, observeWindowOffset, observeWindowRect, windowScroll } from "@tanstack/virtual-core";
import { bar, h, svg } from "./dom";
import { exact, growthText, interval, nearby, orderNodes, percent, short, where } from "./format";
import { GROUP_MEANS, Model, TITLES } from "./model";
import { fitted, step } from "./orders";
import { mean } from "./profile";
import type { State } from "./state";
import { csv, save } from "./csv";

const ROW = 46,
	HEAD = 44;
const THUMB_W = 104,
	THUMB_H = 34,
	THUMB_MOST = 60;

type Item = { group: string; count: number } | { row: number };

export const COLUMNS: { id: string; title: string; means: string; number?: boolean }[] = [
	{ id: "name", title: "function", means: "name, and where it is" },
	{
		id: "growth",
		title: "growth",
		means: "how the cost of a call grows with its input size n, and a 95 % interval of the exponent",
	},
	{
		id: "plot",
		title: "cost over n",
		means: "cost of a call over its input size, both axes logarithmic: the steepness is the exponent",
	},
	{ id: "now", title: "now", means: "share of the run's cost, with callees", number: true },
	{ id: "later", title: "at", means: "share foretold for larger inputs", number: true },
	{ id: "grade", title: "ev", means: "evidence, A good to D poor" },
	{
		id: "input",
		title: "input from",
		means: "where its input came from: memory of its own thread, other threads, outside (files, network)",
	},
	{ id: "context", title: "callers matter", means: "callers for which it grows otherwise" },
];

// Of a profile without input sizes: what was found, and nothing about growth.
const SAMPLED: typeof COLUMNS = [
	COLUMNS[0],
	{ id: "self", title: "self", means: "share of the run's cost in the function itself", number: true },
	{ id: "now", title: "total", means: "share of the run's cost, with callees", number: true },
	{
		id: "calls",
		title: "seen",
		means: "activations that a sample found, of which there may have been more; nobody counts those of inlined functions",
		number: true,
	},
	{
		id: "each",
		title: "per call",
		means: "total by the activations seen: no more than an upper bound for short calls",
		number: true,
	},
];

export function columnsOf(model: Model): typeof COLUMNS {
	return model.sampled ? SAMPLED : COLUMNS;
}

export function matches(model: Model, row: number, state: State): boolean {
	const f = model.functions[row];
	if (state.groups.length && !state.groups.includes(model.group(row))) return false;
	if (state.module && f.module !== state.module) return false;
	if (state.grade && !(f.growth.grade && f.growth.grade <= state.grade)) return false;
	if (!state.search) return true;
	const wanted = state.search.toLowerCase();
	return (
		f.name.toLowerCase().includes(wanted) ||
		(f.file ?? "").toLowerCase().includes(wanted) ||
		f.module.toLowerCase().includes(wanted) ||
		(f.symbol ?? "").toLowerCase().includes(wanted)
	);
}

const value: Record<string, (model: Model, row: number) => number | string> = {
	name: (m, r) => m.functions[r].name,
	growth: (m, r) => -(m.functions[r].growth.verdict === "inconclusive" ? -1 : (m.functions[r].growth.exponent ?? 99)),
	plot: (m, r) => -m.functions[r].points,
	self: (m, r) => -m.functions[r].cost.self,
	calls: (m, r) => -m.functions[r].calls,
	each: (m, r) => -(each(m, r) ?? -1),
	now: (m, r) => -(m.functions[r].share.now ?? 0),
	later: (m, r) => -(m.later(r) ?? -1),
	grade: (m, r) => m.functions[r].growth.grade ?? "Z",
	input: (m, r) => {
		const i = m.functions[r].input;
		return -(i.trms ? (i.thread + i.external) / i.trms : 0);
	},
	context: (m, r) => (m.functions[r].by_context?.differ ? 0 : 1),
};

function each(model: Model, row: number): number | null {
	const f = model.functions[row];
	return f.calls ? f.cost.total / f.calls : null;
}

const PRINTED = 200; // rows on paper

export class Table {
	readonly element: HTMLElement;
	private body = h("div", { class: "rows", role: "rowgroup" });
	private head = h("div", { class: "row head", role: "row" });
	private items: Item[] = [];
	private shown = new Map<number, HTMLElement>();
	private virtual: Virtualizer<Window, HTMLElement> | null = null;
	private unmount: (() => void) | null = null;
	selected = -1; // position among the items
	rows: number[] = [];

	constructor(
		private model: Model,
		private open: (row: number) => void,
		private sortBy: (column: string) => void,
	) {
		this.element = h(
			"div",
			{ class: "table functions", role: "table", "aria-label": "functions" },
			this.head,
			this.body,
		);
		this.element.classList.toggle("sampled", model.sampled);
		this.element.classList.toggle("no-contexts", !model.functions.some((f) => f.by_context?.differ));
		model.profileReady.then(
			() => this.repaint(),
			() => {},
		);
	}

	show(state: State) {
		const sort = value[state.sort] ?? (this.model.sampled ? value.self : undefined),
			rows = this.model.order().filter((row) => matches(this.model, row, state));
		if (sort)
			rows.sort((a, b) => {
				const x = sort(this.model, a),
					y = sort(this.model, b);
				return x < y ? -1 : x > y ? 1 : 0;
			});
		this.rows = rows;
		this.items = [];
		let last = "";
		for (const row of rows) {
			const group = this.model.group(row);
			if (!sort && group !== last) {
				this.items.push({ group, count: 0 });
				last = group;
			}
			this.items.push({ row });
		}
		let count = 0;
		for (let i = this.items.length - 1; i >= 0; i--) {
			const item = this.items[i];
			if ("row" in item) {
				count++;
			} else {
				item.count = count;
				count = 0;
			}
		}
		this.selected = -1;
		this.drawHead(state.sort);
		this.layout();
	}

	private drawHead(sort: string) {
		this.head.replaceChildren(
			...columnsOf(this.model).map((column) => {
				const title = column.id === "later" ? `at ${exact(this.model.times)}\u00d7` : column.title;
				return h(
					"button",
					{
						type: "button",
						role: "columnheader",
						class: `cell c-${column.id}`,
						title: `${column.means}; press to sort`,
						"aria-sort": sort === column.id ? "descending" : null,
						click: () => this.sortBy(sort === column.id ? "rank" : column.id),
					},
					title,
				);
			}),
		);
	}

	layout() {
		this.unmount?.();
		this.shown.clear();
		this.body.replaceChildren();
		this.virtual = new Virtualizer<Window, HTMLElement>({
			count: this.items.length,
			getScrollElement: () => window,
			estimateSize: (i) => ("row" in this.items[i] ? ROW : HEAD),
			scrollToFn: windowScroll,
			observeElementRect: observeWindowRect,
			observeElementOffset: observeWindowOffset,
			initialOffset: () => window.scrollY,
			initialRect: { width: window.innerWidth, height: window.innerHeight },
			scrollMargin: this.body.getBoundingClientRect().top + window.scrollY,
			overscan: 10,
			onChange: () => this.draw(),
		});
		this.unmount = this.virtual._didMount();
		this.virtual._willUpdate();
		this.body.style.height = `${this.virtual.getTotalSize()}px`;
		if (!this.items.length)
			this.body.append(
				h(
					"p",
					{ class: "none" },
					this.model.functions.length
						? "No function passes the filters. Escape clears them."
						: "The profile has no function: nothing was measured, or all was left out with --only or --skip.",
				),
			);
		this.draw();
	}

	leave() {
		this.unmount?.();
		this.unmount = null;
	}

	// On paper nothing scrolls: the first rows, all at once.
	layoutForPrint() {
		this.leave();
		this.virtual = null;
		this.shown.clear();
		this.body.replaceChildren(...this.items.slice(0, PRINTED).map((_, i) => this.make(i)));
		if (this.items.length > PRINTED)
			this.body.append(h("p", { class: "under" }, `${exact(this.items.length - PRINTED)} more rows`));
	}

	private draw() {
		if (!this.virtual) return;
		const seen = new Set<number>(),
			margin = this.virtual.options.scrollMargin;
		for (const one of this.virtual.getVirtualItems()) {
			seen.add(one.index);
			if (this.shown.has(one.index)) continue;
			const element = this.make(one.index);
			element.style.transform = `translateY(${one.start - margin}px)`;
			this.shown.set(one.index, element);
			this.body.append(element);
		}
		for (const [index, element] of this.shown)
			if (!seen.has(index)) {
				element.remove();
				this.shown.delete(index);
			}
	}

	private repaint() {
		if (!this.virtual) return;
		for (const element of this.shown.values()) element.remove();
		this.shown.clear();
		this.draw();
	}

	private make(index: number): HTMLElement {
		const item = this.items[index];
		if ("group" in item)
			return h(
				"div",
				{ class: `group g-${item.group}`, role: "row" },
				h("h2", { role: "cell" }, TITLES[item.group]),
				h("span", null, `${exact(item.count)} \u00b7 ${GROUP_MEANS[item.group]}`),
			);
		return this.makeRow(item.row, index);
	}

	private makeRow(row: number, index: number): HTMLElement {
		const f = this.model.functions[row],
			group = this.model.group(row);
		const unclear = group === "unclear" && f.growth.advice !== null,
			under = unclear ? f.growth.advice! : interval(f.growth);
		const via = this.model.via(row);
		return h(
			"a",
			{
				class: `row r-${this.model.sampled ? "rest" : group}${index === this.selected ? " selected" : ""}`,
				role: "row",
				href: "#",
				"data-row": row,
				click: (event: MouseEvent) => {
					event.preventDefault();
					this.open(row);
				},
			},
			cell(
				"name",
				h("span", { class: "name", title: f.name }, f.name),
				h(
					"span",
					{ class: "under", title: where(f) },
					via === null ? nearby(f) : `by ${this.model.functions[via].name}`,
				),
			),
			...(this.model.sampled ? this.measured(row) : this.grown(row, unclear, under)),
		);
	}

	private measured(row: number): HTMLElement[] {
		const f = this.model.functions[row],
			self = f.cost.self / Math.max(this.model.report.cost.total, 1),
			one = each(this.model, row);
		return [
			cell("self", bar(self, percent(self))),
			cell("now", bar(f.share.now, percent(f.share.now))),
			cell("calls", h("span", null, f.calls ? short(f.calls) : "\u2013")),
			cell("each", h("span", null, one === null ? "\u2013" : short(one))),
		];
	}

	private grown(row: number, unclear: boolean, under: string): HTMLElement[] {
		const f = this.model.functions[row];
		return [
			cell(
				"growth",
				h(
					"span",
					{ class: `order s${step(f.growth)}` },
					...(f.growth.verdict === "inconclusive"
						? [growthText(f.growth)]
						: orderNodes(f.growth.text)),
				),
				h("span", { class: unclear ? "under phone" : "under", title: under }, under),
			),
			cell("plot", this.thumbnail(row)),
			cell("now", bar(f.share.now, percent(f.share.now))),
			...(unclear ? [cell("advice", h("span", { title: under }, under))] : this.forecast(row)),
		];
	}

	private forecast(row: number): HTMLElement[] {
		const f = this.model.functions[row],
			later = this.model.later(row);
		return [
			cell("later", bar(later, percent(later), "later")),
			cell(
				"grade",
				h(
					"span",
					{
						class: `grade v${f.growth.grade ?? ""}`,
						title: `${f.points} sizes, evidence ${f.growth.evidence.toFixed(2)}`,
					},
					f.growth.grade ?? "\u2013",
				),
			),
			cell("input", origin(f.input)),
			cell("context", h("span", { class: "under", title: f.by_context?.text ?? "" }, f.by_context?.text ?? "")),
		];
	}

	// Cost over n on log-log axes: points, and the fit through them.
	private thumbnail(row: number): Element {
		const f = this.model.functions[row],
			profile = this.model.profile;
		if (!profile) return h("span", { class: "thumb" });
		let points = profile.points(this.model.fn(row)).filter((p) => p.n > 0 && p.sum > 0);
		if (points.length < 2)
			return h("span", { class: "thumb under" }, points.length ? `n = ${short(points[0].n)}` : "");
		const every = Math.ceil(points.length / THUMB_MOST);
		points = points.filter((_, i) => i % every === 0 || i === points.length - 1);
		const x = points.map((p) => Math.log(p.n)),
			y = points.map((p) => Math.log(mean(p)));
		const left = x[0],
			wide = x[x.length - 1] - left || 1,
			low = Math.min(...y),
			high = Math.max(...y);
		// One unit of n takes the same height everywhere: linear growth rises to the middle, n^2 to the top.
		const tall = Math.max(high - low, wide * 2);
		const px = (v: number) => 3 + ((v - left) / wide) * (THUMB_W - 6),
			py = (v: number) => THUMB_H - 3 - ((v - low) / tall) * (THUMB_H - 6);
		const dots = x.map((v, i) => `M${px(v).toFixed(1)} ${py(y[i]).toFixed(1)}h0`).join("");
		const line: string[] = [];
		if (f.growth.verdict !== "inconclusive")
			for (let i = 0; i <= 16; i++) {
				const lx = left + (wide * i) / 16,
					value = fitted(f.growth, Math.exp(lx));
				if (value && value > 0)
					line.push(
						`${px(lx).toFixed(1)} ${Math.max(-9, Math.min(THUMB_H + 9, py(Math.log(value)))).toFixed(1)}`,
					);
			}
		const label = `${f.points} sizes, n ${short(points[0].n)} to ${short(points[points.length - 1].n)}`;
		return svg(
			"svg",
			{
				class: `thumb s${step(f.growth)}`,
				width: THUMB_W,
				height: THUMB_H,
				viewBox: `0 0 ${THUMB_W} ${THUMB_H}`,
				role: "img",
				"aria-label": label,
			},
			...(line.length > 1 ? [svg("path", { class: "fit", d: "M" + line.join("L") })] : []),
			svg("path", { class: "dots", d: dots }),
		);
	}

	// ---- keyboard ----

	move(by: number) {
		let at = this.selected;
		do at += by;
		while (at >= 0 && at < this.items.length && !("row" in this.items[at]));
		if (at < 0 || at >= this.items.length) return;
		this.select(at);
	}

	private select(at: number) {
		this.shown.get(this.selected)?.classList.remove("selected");
		this.selected = at;
		this.virtual?.scrollToIndex(at, { align: "auto" });
		this.shown.get(at)?.classList.add("selected");
	}

	selectRow(row: number) {
		const at = this.items.findIndex((item) => "row" in item && item.row === row);
		if (at >= 0) this.select(at);
	}

	openSelected(): boolean {
		const item = this.items[this.selected];
		if (!item || !("row" in item)) return false;
		this.open(item.row);
		return true;
	}

	private saveSampledCsv() {
		save(
			"functions.csv",
			csv(
				["function", "module", "file", "line", "share_self", "share_total", "self", "total", "seen", "per_call"],
				this.rows.map((row) => {
					const f = this.model.functions[row];
					return [
						f.name,
						f.module,
						f.file,
						f.line,
						f.cost.self / Math.max(this.model.report.cost.total, 1),
						f.share.now,
						f.cost.self,
						f.cost.total,
						f.calls,
						each(this.model, row),
					];
				}),
			),
		);
	}

	saveCsv() {
		if (this.model.sampled) return this.saveSampledCsv();
		save(
			"functions.csv",
			csv(
				[
					"function",
					"module",
					"file",
					"line",
					"group",
					"growth",
					"exponent",
					"low",
					"high",
					"evidence",
					"grade",
					"share_now",
					`share_at_${this.model.times}x`,
					"calls",
					"total",
					"self",
					"points",
					"n_min",
					"n_max",
					"input_thread",
					"input_external",
				],
				this.rows.map((row) => {
					const f = this.model.functions[row],
						g = f.growth;
					return [
						f.name,
						f.module,
						f.file,
						f.line,
						this.model.group(row),
						g.verdict === "inconclusive" ? g.reason : g.text,
						g.exponent,
						g.low,
						g.high,
						g.evidence,
						g.grade,
						f.share.now,
						this.model.later(row),
						f.calls,
						f.cost.total,
						f.cost.self,
						f.points,
						f.n?.min,
						f.n?.max,
						f.input.thread,
						f.input.external,
					];
				}),
			),
		);
	}
}

function cell(id: string, ...children: (Node | string)[]): HTMLElement {
	return h("div", { class: `cell c-${id}`, role: "cell" }, ...children);
}

// Which part of its input other threads wrote, and which came from outside.
export function origin(input: { trms: number; rms: number; thread: number; external: number }): HTMLElement {
	const all = Math.max(input.trms, 1),
		thread = input.thread / all,
		external = input.external / all;
	const said = [
		thread >= 0.0005 ? `${percent(thread)} threads` : "",
		external >= 0.0005 ? `${percent(external)} outside` : "",
	].filter(Boolean);
	return h(
		"span",
		{ class: "under", title: `${exact(input.trms)} cells in all` },
		said.join(", ") || (input.trms ? "memory" : "none"),
	);
}
