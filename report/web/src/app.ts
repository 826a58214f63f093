// SPDX-License-Identifier: GPL-3.0-or-later
//
// The frame around the views: tabs, filters, the slider, keys, the address.
import { ContextsView } from "./contexts";
import { ChangesView } from "./diff";
import { button, copy, h } from "./dom";
import { exact, shell } from "./format";
import { FunctionView } from "./function";
import { Keys } from "./keys";
import { GROUPS, Model, TITLES } from "./model";
import { read, START, State, write } from "./state";
import { lede, summary } from "./summary";
import { Table } from "./table";
import { PathsView } from "./paths";
import { ThreadsView } from "./threads";

const MODULES_SHOWN = 4;

export interface View {
	element: HTMLElement;
	show(state: State): void;
	leave?(): void;
	command?(state: State): string;
	key?(event: KeyboardEvent): boolean;
}

export class App {
	state: State = read();
	private table: Table;
	private list: View;
	private views: Record<string, View>;
	private current: View | null = null;
	private main = h("main");
	private tabs = h("nav", { class: "tabs", "aria-label": "views" });
	private command = h("code", { class: "command" });
	private keys: Keys;
	private listScroll = 0;

	constructor(
		readonly model: Model,
		private page: HTMLElement,
	) {
		const open = (row: number) => this.openFunction(row);
		this.table = new Table(model, open, (sort) => this.go({ sort }));
		this.list = this.makeList();
		this.views = {
			functions: this.list,
			function: new FunctionView(model, this),
			contexts: new ContextsView(model, this),
			paths: new PathsView(model, this),
			threads: new ThreadsView(model, this),
			changes: new ChangesView(model, this),
		};
		this.keys = new Keys(this);
	}

	start() {
		const copyButton = button("copy", "copy the command that shows the same in a terminal", () =>
			copy(this.command.textContent ?? "", copyButton),
		);
		const scheme = button("", "dark or light", () => this.setScheme(this.isDark() ? "light" : "dark"), {
			class: "scheme",
		});
		this.page.replaceChildren(
			h(
				"header",
				null,
				h(
					"div",
					{ class: "top" },
					h("span", { class: "brand" }, "slope"),
					this.tabs,
					scheme,
					button("?", "keys and columns", () => this.keys.help(), { class: "help" }),
				),
				summary(this.model),
			),
			this.main,
			h("footer", null, h("span", { class: "label" }, "in a terminal"), " ", this.command, " ", copyButton),
		);
		this.model.profileReady.catch((reason) =>
			this.page
				.querySelector("header")
				?.append(
					h(
						"p",
						{ class: "lost" },
						`This page is cut off or damaged: its points and contexts cannot be read (${reason instanceof Error ? reason.message : reason}).`,
					),
				),
		);
		document.title = `slope: ${this.model.report.program.join(" ") || this.model.facts.file}`.slice(0, 200);
		addEventListener("hashchange", () => {
			this.state = read();
			this.refresh();
		});
		let width = innerWidth; // a phone changes the height whenever its bars come and go
		addEventListener("resize", () => {
			if (innerWidth !== width) this.refresh();
			width = innerWidth;
		});
		const print = matchMedia("print");
		print.addEventListener("change", () => {
			if (!print.matches) this.refresh();
			else if (this.isList) this.table.layoutForPrint();
		});
		// A sampled profile is about paths: they come first, as long as nobody asks for something else.
		if (this.model.sampled && this.model.facts.contexts && !location.hash) this.state.view = "contexts";
		this.refresh();
	}

	// ---- where we are ----

	go(change: Partial<State>, replace = false) {
		this.state = { ...this.state, ...change };
		const address = write(this.state);
		if (replace) history.replaceState(null, "", address);
		else if (address !== (location.hash || "#")) history.pushState(null, "", address);
		this.refresh();
	}

	openFunction(row: number) {
		if (this.state.view === "functions") this.listScroll = window.scrollY;
		this.go({ view: "function", fn: this.model.key(row), tab: "cost", split: "all" });
		window.scrollTo(0, 0);
	}

	back() {
		const row = this.model.find(this.state.fn);
		this.go({ view: "functions", fn: "" });
		window.scrollTo(0, this.listScroll);
		if (row !== undefined) this.table.selectRow(row);
	}

	refresh() {
		if (this.model.facts.paths_only && !location.hash) this.state.view = "paths";
		const wanted = this.views[this.state.view] ?? this.list;
		this.model.times = this.model.stops.includes(this.state.k) ? this.state.k : this.model.report.times;
		if (wanted !== this.current) {
			this.current?.leave?.();
			this.main.replaceChildren(wanted.element);
			this.current = wanted;
		}
		this.page.dataset.view = this.state.view;
		this.drawTabs();
		wanted.show(this.state);
		this.command.textContent = wanted.command?.(this.state) ?? "";
	}

	get view(): View | null {
		return this.current;
	}

	get isList(): boolean {
		return this.current === this.list;
	}

	get tableOfFunctions(): Table {
		return this.table;
	}

	focusSearch() {
		if (this.state.view !== "functions" && this.state.view !== "contexts") this.go({ view: "functions", fn: "" });
		this.main.querySelector<HTMLInputElement>("input[type=search]")?.focus();
	}

	moveTimes(by: number) {
		const stops = this.model.stops,
			at = stops.indexOf(this.model.times) + by;
		if (at >= 0 && at < stops.length) this.go({ k: stops[at] }, true);
	}

	clear() {
		this.go({ search: "", groups: [], module: "", grade: "", sort: START.sort });
	}

	private drawTabs() {
		const names: [string, string][] = [
			["functions", "Functions"],
			["contexts", "Contexts"],
			["threads", "Threads"],
		];
		if (this.model.sampled) names.splice(0, 2, ["contexts", "Call paths"], ["functions", "Functions"]);
		if (this.model.hasPaths) names.splice(2, 0, ["paths", "Paths"]);
		if (this.model.diff) names.push(["changes", `Changes (${exact(this.model.diff.functions.length)})`]);
		const here = this.state.view === "function" ? "functions" : this.state.view;
		this.tabs.replaceChildren(
			...names.map(([view, title]) =>
				h(
					"a",
					{
						href: write({ ...START, k: this.state.k, view }),
						"aria-current": view === here ? "page" : null,
					},
					title,
				),
			),
		);
	}

	// ---- dark and light ----

	isDark(): boolean {
		const chosen = document.documentElement.dataset.scheme;
		return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
	}

	setScheme(scheme: string) {
		document.documentElement.dataset.scheme = scheme;
		this.refresh();
	}

	// ---- the first screen ----

	private makeList(): View {
		const said = h("div"),
			tools = h("div", { class: "tools" });
		const search = h("input", {
			type: "search",
			placeholder: "find a function, file or module",
			"aria-label": "find",
			input: () => this.go({ search: search.value }, true),
		});
		const slider = h("input", {
			type: "range",
			min: 0,
			max: this.model.stops.length - 1,
			step: 1,
			"aria-label": "inputs so many times as large",
			input: () => this.go({ k: this.model.stops[Number(slider.value)] }, true),
		});
		const times = h("output", { class: "times" }),
			chips = h("div", { class: "chips" });
		tools.append(
			search,
			this.model.sampled ? "" : h(
				"label",
				{ class: "slider", title: "how much larger inputs may get; everything is ranked anew" },
				h("span", null, "inputs"),
				slider,
				times,
			),
			chips,
		);
		const element = h("section", { class: "list" }, said, tools, this.table.element);
		return {
			element,
			show: (state) => {
				said.replaceChildren(lede(this.model, (row) => this.openFunction(row)));
				if (search.value !== state.search) search.value = state.search;
				slider.value = String(this.model.stops.indexOf(this.model.times));
				times.textContent = `\u00d7 ${exact(this.model.times)}`;
				slider.setAttribute("aria-valuetext", `${this.model.times} times as large`);
				chips.replaceChildren(...this.chips(state));
				this.table.show(state);
			},
			leave: () => this.table.leave(),
			command: (state) => this.listCommand(state),
		};
	}

	private chips(state: State): HTMLElement[] {
		const at = this.model.at(),
			counts = GROUPS.map((_, g) => at.group.filter((one) => one === g).length);
		const chip = (text: string, on: boolean, title: string, press: () => void) =>
			button(text, title, press, { class: "chip", "aria-pressed": on ? "true" : "false" });
		const toggle = (group: string) =>
			state.groups.includes(group) ? state.groups.filter((g) => g !== group) : [...state.groups, group];
		const list = (this.model.sampled ? [] : GROUPS).map((group, i) =>
			chip(
				`${TITLES[group]} ${exact(counts[i])}`,
				state.groups.includes(group),
				`show only "${TITLES[group]}"`,
				() => this.go({ groups: toggle(group) }),
			),
		);
		if (!this.model.sampled) list.push(
			chip("evidence A\u2013B", state.grade === "B", "only functions with good evidence", () =>
				this.go({ grade: state.grade === "B" ? "" : "B" }),
			),
		);
		for (const module of this.modules())
			list.push(
				chip(`[${module}]`, state.module === module, `only functions of ${module}`, () =>
					this.go({ module: state.module === module ? "" : module }),
				),
			);
		list.push(button("CSV", "save the table as CSV", () => this.table.saveCsv(), { class: "chip plain" }));
		return list;
	}

	// Those with most of the cost.
	private modules(): string[] {
		const cost = new Map<string, number>();
		for (const f of this.model.functions) cost.set(f.module, (cost.get(f.module) ?? 0) + f.cost.self);
		const names = [...cost]
			.sort((a, b) => b[1] - a[1])
			.map(([name]) => name)
			.filter(Boolean);
		return names.length > 1 ? names.slice(0, MODULES_SHOWN) : [];
	}

	private listCommand(state: State): string {
		const words = ["slope", "report", "--top=0"];
		if (this.model.times !== 10) words.push(`--times=${this.model.times}`);
		if (state.search) words.push(`--filter=${shell(`*${state.search}*`)}`);
		return [...words, shell(this.model.facts.file)].join(" ");
	}
}
