// SPDX-License-Identifier: GPL-3.0-or-later
//
// Threads: what each cost, and which functions other threads and the outside feed.
import type { App, View } from "./app";
import { csv, csvButton, save } from "./csv";
import { bar, button, h } from "./dom";
import { exact, percent, plural, shell, short } from "./format";
import type { Model } from "./model";
import { Plot, stepPlot } from "./plots";
import type { CurveEntry, Input, Threads, ThreadsFunction } from "./types";

const SHOWN = 40,
	CURVE_H = 190;

const CURVES: [string, string, string][] = [
	["points", "sizes per function", "how many functions have a curve worth looking at"],
	[
		"thread_of_input",
		"input from other threads",
		"functions with at least this part of their input written by other threads",
	],
	[
		"external_of_input",
		"input from outside",
		"functions with at least this part of their input from files, network, devices",
	],
	["richness", "richness", "points that trms gives over those of rms: 1 is twice as many"],
	["volume", "input that rms does not see", "functions with at least this part of their input unseen by rms"],
];

export class ThreadsView implements View {
	element = h("section", { class: "view threads" });
	private plots: Plot[] = [];
	private all = false;

	constructor(
		private model: Model,
		private app: App,
	) {}

	show() {
		this.leave();
		const t = this.model.threads;
		if (!t) {
			this.element.replaceChildren(h("p", { class: "none" }, "Reading \u2026"));
			return;
		}
		this.element.replaceChildren(...this.threadTable(t), ...this.functionTable(t), ...this.curves(t));
		this.drawCurves(t);
	}

	leave() {
		for (const plot of this.plots) plot.destroy();
		this.plots = [];
	}

	command(): string {
		return `slope threads ${shell(this.model.facts.file)}`;
	}

	private threadTable(t: Threads): HTMLElement[] {
		const unit = t.cost_unit,
			input = t.statistics.input;
		const said =
			input.thread_of_input === null
				? "Where input came from is not known: the profile has rms only."
				: `${exact(input.cells)} cells of input in all: ${percent(input.thread_of_input)} written by other threads, ${percent(input.external_of_input)} from outside.`;
		return [
			h(
				"h2",
				null,
				plural(t.threads.length, "thread"),
				h("span", { class: "under" }, `  ${said} `),
				csvButton(
					"threads",
					[
						"id",
						"name",
						"process",
						"cost",
						"calls",
						"max_depth",
						"rms",
						"trms",
						"thread",
						"external",
					],
					() =>
						t.threads.map((one) => [
							one.id,
							one.name,
							one.process,
							one.cost?.[unit],
							one.calls,
							one.max_depth,
							one.input?.rms,
							one.input?.trms,
							one.input?.thread,
							one.input?.external,
						]),
				),
			),
			scroll(
				h(
					"table",
					{ class: "plain-table thread-table" },
					h(
						"thead",
						null,
						h(
							"tr",
							null,
							...[
								"thread",
								"share",
								"cost",
								"calls",
								"deepest",
								"input from",
								"",
								"busiest function",
							].map((x) =>
								h(
									"th",
									{
										class: ["cost", "calls", "deepest"].includes(x)
											? "r"
											: "",
									},
									x,
								),
							),
						),
					),
					h(
						"tbody",
						null,
						...t.threads.map((one) =>
							h(
								"tr",
								null,
								h(
									"td",
									null,
									`${one.id} ${one.name}${one.coroutine ? " (coroutine)" : ""}`,
								),
								h("td", { class: "wide" }, bar(one.share, percent(one.share))),
								h(
									"td",
									{ class: "r" },
									one.cost ? short(one.cost[unit] ?? NaN) : "?",
								),
								h("td", { class: "r" }, exact(one.calls)),
								h("td", { class: "r" }, exact(one.max_depth)),
								h("td", null, one.input ? stack(one.input) : ""),
								h(
									"td",
									{ class: "under" },
									one.input ? parts(one.input) : "lost",
								),
								h("td", null, one.busiest ? this.link(one.busiest.name) : ""),
							),
						),
					),
				),
			),
		];
	}

	private functionTable(t: Threads): HTMLElement[] {
		const fed = t.functions.filter((f) => f.input.thread + f.input.external > 0),
			list = this.all ? fed : fed.slice(0, SHOWN);
		if (!fed.length)
			return [
				h("h3", null, "Functions that others feed"),
				h(
					"p",
					{ class: "under" },
					"None: no function read what another thread or the outside had written.",
				),
			];
		const richness = fed.some((f) => f.richness !== null);
		const body = h(
			"tbody",
			null,
			...list.map((f) =>
				h(
					"tr",
					null,
					h("td", null, this.link(f.name)),
					h("td", null, stack(f.input)),
					h("td", { class: "under" }, parts(f.input)),
					h("td", { class: "r" }, exact(f.input.trms)),
					h("td", { class: "r" }, exact(f.calls)),
					h("td", { class: "r" }, f.volume === null ? "" : percent(f.volume)),
					richness && h("td", { class: "r" }, f.richness === null ? "" : f.richness.toFixed(2)),
				),
			),
		);
		const heads = [
			"function",
			"input from",
			"",
			"cells",
			"calls",
			"unseen by rms",
			...(richness ? ["richness"] : []),
		];
		return [
			h(
				"h3",
				null,
				"Functions that others feed",
				h(
					"span",
					{ class: "under" },
					"  pale: memory of its own thread; blue: other threads; yellow: outside",
				),
			),
			scroll(
				h(
					"table",
					{ class: "plain-table fed" },
					h(
						"thead",
						null,
						h("tr", null, ...heads.map((x, i) => h("th", { class: i > 2 ? "r" : "" }, x))),
					),
					body,
				),
			),
			h(
				"p",
				null,
				list.length < fed.length &&
					button(
						`${exact(fed.length - list.length)} more`,
						"show all",
						() => {
							this.all = true;
							this.app.refresh();
						},
						{ class: "plain" },
					),
				" ",
				button("CSV", "save as CSV", () => this.saveCsv(fed), { class: "plain" }),
				t.function_count > t.functions.length &&
					h(
						"span",
						{ class: "under" },
						`  the first ${t.functions.length} of ${exact(t.function_count)}; 'slope threads --top=0' has all`,
					),
			),
		];
	}

	private curves(t: Threads): HTMLElement[] {
		const there = CURVES.filter(([id]) => Array.isArray(t.statistics[id]));
		return there.length
			? [
					h("h3", null, "All functions together"),
					h(
						"div",
						{ class: "curves" },
						...there.map(([id, title, means]) =>
							h(
								"figure",
								null,
								h(
									"figcaption",
									{ title: means },
									title,
									h("span", { class: "under" }, `  ${means}`),
								),
								h("div", { class: "plot", "data-curve": id }),
							),
						),
					),
				]
			: [];
	}

	private drawCurves(t: Threads) {
		for (const host of this.element.querySelectorAll<HTMLElement>("[data-curve]")) {
			const entries = t.statistics[host.dataset.curve!] as CurveEntry[];
			this.plots.push(
				stepPlot(
					host,
					CURVE_H,
					entries.map((e) => e.at_least),
					entries.map((e) => e.share * 100),
					"at least",
					"% of functions",
					host.dataset.curve === "points",
				),
			);
		}
	}

	private link(name: string): HTMLElement {
		const row = this.model.functions.findIndex((f) => f.name === name);
		return h(
			"a",
			{
				href: "#",
				class: "mono link",
				title: name,
				click: (e: MouseEvent) => {
					e.preventDefault();
					if (row >= 0) this.app.openFunction(row);
				},
			},
			name.length > 60 ? name.slice(0, 59) + "\u2026" : name,
		);
	}

	private saveCsv(list: ThreadsFunction[]) {
		save(
			"threads.csv",
			csv(
				["function", "module", "calls", "rms", "trms", "thread", "external", "volume", "richness"],
				list.map((f) => [
					f.name,
					f.module,
					f.calls,
					f.input.rms,
					f.input.trms,
					f.input.thread,
					f.input.external,
					f.volume,
					f.richness,
				]),
			),
		);
	}
}

function scroll(table: HTMLElement): HTMLElement {
	return h("div", { class: "scroll" }, table);
}

function parts(input: Input): string {
	const all = Math.max(input.trms, 1),
		said = [];
	if (input.thread) said.push(`${percent(input.thread / all)} threads`);
	if (input.external) said.push(`${percent(input.external / all)} outside`);
	return said.join(", ") || "memory alone";
}

// Own memory, other threads, outside, side by side.
function stack(input: Input): HTMLElement {
	const all = Math.max(input.trms, 1),
		part = (kind: string, share: number) => {
			const piece = h("i", { class: kind });
			piece.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
			return piece;
		};
	return h(
		"span",
		{ class: "stack", role: "img", "aria-label": parts(input) },
		part("own", 1 - (input.thread + input.external) / all),
		part("thread", input.thread / all),
		part("outside", input.external / all),
	);
}
