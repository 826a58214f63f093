// SPDX-License-Identifier: GPL-3.0-or-later
//
// Calling contexts: width is cost, colour is growth. A click pivots on a
// function: its callers above it, its callees below.
import type { App, View } from "./app";
import { csv, save } from "./csv";
import { button, h } from "./dom";
import { exact, growthText, percent, plural, shell, short, UNIT_NAMES } from "./format";
import { Frame, ROW, Tree } from "./icicle";
import type { Model } from "./model";
import { step, STEPS } from "./orders";
import { color } from "./plots";
import type { State } from "./state";

const CALLERS = [1, 2, 4, 10, 1000];
const LABEL_LEAST = 34; // pixels of a frame that has a name in it
const TALLEST = 12000; // of the canvas
const SHARES = [0, 0.01, 0.05, 0.1, 0.2]; // of the run: from the second on, a frame itself has at least so much
const SHARE_NAMES = ["self 0", "< 1 %", "1 %", "5 %", "10 %", "20 % or more"];

export class ContextsView implements View {
	element = h("section", { class: "view contexts" });
	private tree: Tree | null = null;
	private frames: Frame[] = [];
	private top = 0; // rows above the pivot
	private canvas = h("canvas", { tabindex: 0, role: "img" });
	private readout = h("p", { class: "readout", "aria-live": "polite" });
	private at: Frame | null = null;
	private wanted = "";

	constructor(
		private model: Model,
		private app: App,
	) {
		this.canvas.addEventListener("mousemove", (e) => this.point(this.hit(e)));
		this.canvas.addEventListener("mouseleave", () => this.point(null));
		this.canvas.addEventListener("click", (e) => {
			const frame = this.hit(e);
			if (frame) this.pivot(frame);
		});
	}

	show(state: State) {
		const facts = this.model.facts;
		if (!facts.contexts) {
			this.element.replaceChildren(
				h("h2", null, "No calling contexts"),
				h(
					"p",
					null,
					"This profile was recorded without them. To see along which callers the cost comes:",
				),
				h(
					"pre",
					{ class: "hint" },
					`slope record --contexts ${this.model.report.program.map(shell).join(" ")}\nslope html`,
				),
				h(
					"p",
					{ class: "under" },
					"Callers and callees of each function are there without: open a function.",
				),
			);
			return;
		}
		const profile = this.model.profile;
		if (!profile?.contexts) {
			this.element.replaceChildren(h("p", { class: "none" }, "Reading the contexts \u2026"));
			return;
		}
		this.tree ??= new Tree(profile.contexts);
		this.wanted = state.search.toLowerCase();
		this.draw(state);
	}

	command(state: State): string {
		const row = this.model.find(state.fn),
			file = shell(this.model.facts.file);
		return row === undefined
			? `slope contexts ${file}`
			: `slope contexts --by=total --function=${shell(this.model.functions[row].name)} ${file}`;
	}

	key(event: KeyboardEvent): boolean {
		const near = (passes: (f: Frame) => boolean) => this.frames.find(passes) ?? null,
			at = this.at;
		const move = (frame: Frame | null) => {
			if (frame) this.point(frame);
			return true;
		};
		switch (event.key) {
			case "ArrowDown":
				return move(
					at
						? (near((f) => f.parent === at && f.level > at.level) ??
								(at.level < 0 ? at.parent : null))
						: (this.frames[0] ?? null),
				);
			case "ArrowUp":
				return move(
					at
						? at.level > 0
							? at.parent
							: near((f) => f.parent === at && f.level < at.level)
						: (this.frames[0] ?? null),
				);
			case "ArrowRight":
				return at ? move(near((f) => f.level === at.level && f.x > at.x)) : false;
			case "ArrowLeft":
				return at
					? move([...this.frames].reverse().find((f) => f.level === at.level && f.x < at.x) ?? null)
					: false;
			case "Enter":
				if (!at || event.target instanceof HTMLButtonElement) return false;
				this.pivot(at);
				return true;
			case "o": {
				const row = at && this.model.row(at.fn);
				if (row === null || row === undefined) return false;
				this.app.openFunction(row);
				return true;
			}
			case "Escape":
				if (this.app.state.search || this.app.state.fn) {
					this.app.go({ search: "", fn: "" });
					return true;
				}
		}
		return false;
	}

	private pivot(frame: Frame) {
		const row = this.model.row(frame.fn);
		this.app.go({ fn: row === undefined ? "" : this.model.key(row) });
	}

	// ---- what stands around the frames ----

	private draw(state: State) {
		const tree = this.tree!,
			row = this.model.find(state.fn),
			slabs = this.model.facts.context_k > 0;
		const search = h("input", {
			type: "search",
			placeholder: "mark functions",
			"aria-label": "mark",
			value: state.search,
			input: () => {
				this.app.go({ search: search.value }, true);
			},
		});
		const had =
			document.activeElement instanceof HTMLInputElement && this.element.contains(document.activeElement)
				? document.activeElement.selectionStart
				: null;
		const unit = this.model.report.cost_unit;
		this.element.replaceChildren(
			h(
				"div",
				{ class: "tools" },
				search,
				h(
					"span",
					{ class: "chips" },
					h("span", { class: "under" }, "callers"),
					...CALLERS.map((k) =>
						button(
							k === 1000 ? "all" : String(k),
							`follow at most ${k} callers`,
							() => this.app.go({ callers: k }),
							{ class: "chip", "aria-pressed": state.callers === k ? "true" : "false" },
						),
					),
				),
				button("CSV", "save the frames in sight as CSV", () => this.saveCsv(), { class: "chip plain" }),
				this.legend(),
			),
			this.title(row, slabs, tree),
			this.readout,
			h("div", { class: "icicle" }, this.canvas),
			h(
				"p",
				{ class: "under" },
				`Width: ${unit}${UNIT_NAMES[unit] ? ` (${UNIT_NAMES[unit]})` : ""}, ${slabs && row === undefined ? "of a function itself" : "with callees"}. ` +
					(this.model.sampled ? "Colour: cost in the function itself, on this path. " : "Colour: how the function grows with its input. ") +
					"Click: pivot. Arrows move, Enter pivots, o opens the function.",
			),
		);
		if (had !== null) {
			search.focus();
			search.setSelectionRange(had, had);
		}
		const width = Math.max(300, this.canvas.parentElement!.clientWidth),
			k = Math.max(1, slabs ? Math.min(state.callers, this.model.facts.context_k) : state.callers);
		if (row === undefined) this.frames = slabs ? tree.inverted(width, k) : tree.whole(width);
		else
			this.frames = slabs
				? tree.invertedOf(this.model.fn(row), width, k)
				: tree.pivot(this.model.fn(row), width, k);
		this.top = -this.frames.reduce((least, f) => Math.min(least, f.level), 0);
		const rows = this.top + this.frames.reduce((most, f) => Math.max(most, f.level), 0) + 1;
		this.resize(width, Math.min(TALLEST, rows * ROW + 2));
		this.at = null;
		this.paint();
		this.point(null);
	}

	private title(row: number | undefined, slabs: boolean, tree: Tree): HTMLElement {
		if (row === undefined)
			return h(
				"h2",
				null,
				slabs ? "Functions, and their callers below them" : "The whole run",
				h(
					"span",
					{ class: "under" },
					`  ${plural(this.model.facts.contexts, "context")}` +
						(slabs ? `, paths of ${this.model.facts.context_k} callers` : "") +
						(this.model.facts.burst_period_ns ? ", recorded in bursts" : "") +
						(this.model.facts.context_collapsed ? ", recursion collapsed" : ""),
				),
			);
		const f = this.model.functions[row],
			fn = this.model.fn(row),
			cost = slabs ? f.cost.total : tree.cost(tree.outermost((one) => one === fn));
		return h(
			"div",
			{ class: "pivot" },
			button("\u2190 the whole run", "Escape", () => this.app.go({ fn: "" }), { class: "back" }),
			h(
				"h2",
				null,
				h(
					"a",
					{
						href: "#",
						class: "mono link",
						title: f.name,
						click: (e: MouseEvent) => {
							e.preventDefault();
							this.app.openFunction(row);
						},
					},
					f.name.length > 90 ? f.name.slice(0, 89) + "\u2026" : f.name,
				),
				h(
					"span",
					{ class: "under" },
					`  ${this.model.sampled ? "" : `${growthText(f.growth)}, `}${percent(cost / Math.max(tree.self, 1))} of the run; ${slabs ? "callers below" : "callers above, callees below"}`,
				),
			),
		);
	}

	private legend(): HTMLElement {
		return h(
			"span",
			{ class: "legend" },
			...(this.model.sampled ? SHARE_NAMES : STEPS).map((text, i) => h("span", null, h("i", { class: `swatch f${i}` }), text)),
			this.model.sampled ? "" : h("span", null, h("i", { class: "swatch fx" }), "not known"),
		);
	}

	// ---- frames ----

	private resize(width: number, height: number) {
		const ratio = devicePixelRatio;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		this.canvas.getContext("2d")!.setTransform(ratio, 0, 0, ratio, 0, 0);
	}

	private y(frame: Frame): number {
		return (this.top + frame.level) * ROW;
	}

	private name(frame: Frame): string {
		if (frame.thread < 0 || frame.fn !== 0) return this.model.name(frame.fn);
		const thread = this.model.report.threads[frame.thread];
		return thread ? `thread ${thread.id}${thread.name ? ` ${thread.name}` : ""}` : "(start)";
	}

	private steepness(frame: Frame): number {
		const row = this.model.row(frame.fn);
		if (this.model.sampled) {
			const share = frame.self / Math.max(this.tree!.self, 1);
			return frame.self ? SHARES.filter((least) => share >= least).length : 0;
		}
		return row === undefined ? -1 : step(this.model.functions[row].growth);
	}

	private paint() {
		const ctx = this.canvas.getContext("2d")!,
			fills = [0, 1, 2, 3, 4, 5].map((i) => color(`s${i}`)),
			none = color("sx"),
			paper = color("paper");
		const dark = this.app.isDark(),
			names = new Map<number, boolean>();
		const marked = (fn: number) => {
			if (!names.has(fn)) names.set(fn, this.model.name(fn).toLowerCase().includes(this.wanted));
			return names.get(fn)!;
		};
		ctx.clearRect(0, 0, this.canvas.width, this.canvas.height);
		ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
		ctx.textBaseline = "middle";
		for (const frame of this.frames) {
			const s = this.steepness(frame),
				y = this.y(frame),
				w = Math.max(frame.width - 1, 0.6);
			ctx.globalAlpha = this.wanted && !marked(frame.fn) ? 0.22 : 1;
			ctx.fillStyle = s < 0 ? none : fills[s];
			ctx.fillRect(frame.x, y, w, ROW - 1);
			if (frame === this.at) {
				ctx.strokeStyle = color("ink");
				ctx.lineWidth = 2;
				ctx.strokeRect(frame.x + 1, y + 1, Math.max(w - 2, 1), ROW - 3);
			}
			if (w < LABEL_LEAST) continue;
			ctx.fillStyle =
				s === 5 || (s === 4 && !dark) || (dark && s < 3) ? "#fff" : s < 0 && dark ? "#fff" : "#1d1f21";
			ctx.fillText(this.label(ctx, frame, w - 8), frame.x + 5, y + ROW / 2);
		}
		ctx.globalAlpha = 1;
		ctx.fillStyle = paper;
		this.canvas.setAttribute(
			"aria-label",
			`${this.frames.length} frames; the widest: ${this.frames
				.slice(0, 5)
				.map((f) => this.name(f))
				.join(", ")}`,
		);
	}

	// The name, with the growth where there is room, so that colour is not needed to read it.
	private label(ctx: CanvasRenderingContext2D, frame: Frame, room: number): string {
		const row = this.model.row(frame.fn),
			name = this.name(frame),
			growth = row === undefined ? "" : this.model.functions[row].growth;
		const whole = this.model.sampled
			? `${name}  \u00b7  ${percent(frame.value / Math.max(this.tree!.self, 1))}`
			: growth && growth.verdict !== "inconclusive" ? `${name}  \u00b7  ${growthText(growth)}` : name;
		if (ctx.measureText(whole.slice(0, 400)).width <= room) return whole;
		let fits = Math.min(name.length, Math.floor(room / 4));
		while (fits > 1 && ctx.measureText(name.slice(0, fits) + "\u2026").width > room) fits = Math.floor(fits * 0.9);
		return fits >= name.length ? name : fits > 1 ? name.slice(0, fits) + "\u2026" : "";
	}

	private hit(event: MouseEvent): Frame | null {
		const box = this.canvas.getBoundingClientRect(),
			x = event.clientX - box.left,
			level = Math.floor((event.clientY - box.top) / ROW) - this.top;
		return this.frames.find((f) => f.level === level && x >= f.x && x < f.x + Math.max(f.width, 1)) ?? null;
	}

	private point(frame: Frame | null) {
		if (frame !== this.at || !frame) {
			const repaint = frame !== this.at;
			this.at = frame;
			if (repaint) this.paint();
		}
		const tree = this.tree!,
			pair = (name: string, value: string) =>
				h("span", { class: "pair" }, h("span", { class: "label" }, name), " ", h("b", null, value));
		if (frame) {
			const row = this.model.row(frame.fn),
				name = this.name(frame);
			this.readout.replaceChildren(
				h("b", { class: "mono" }, name.length > 110 ? name.slice(0, 109) + "\u2026" : name),
				pair("of the run", percent(frame.value / Math.max(tree.self, 1))),
				pair("cost", exact(frame.value)),
				pair("self", exact(frame.self)),
				pair(this.model.sampled ? "seen" : "calls", exact(frame.calls)),
				this.model.sampled
					? pair("per call", frame.calls ? short(frame.value / frame.calls) : "\u2013")
					: pair("grows like", row === undefined ? "\u2013" : growthText(this.model.functions[row].growth)),
			);
		} else if (this.wanted) {
			const nodes = tree.outermost((fn) => this.model.name(fn).toLowerCase().includes(this.wanted));
			this.readout.replaceChildren(
				h(
					"span",
					{ class: "label" },
					`"${this.wanted}" is in ${plural(nodes.length, "context")} with ${percent(tree.cost(nodes) / Math.max(tree.self, 1))} of the run.`,
				),
			);
		} else {
			this.readout.replaceChildren(
				h(
					"span",
					{ class: "label" },
					`${plural(this.frames.length, "frame")} wide enough to be seen. Point at one for its numbers.`,
				),
			);
		}
	}

	private saveCsv() {
		const path = (frame: Frame): string => (frame.parent ? path(frame.parent) + ";" : "") + this.name(frame);
		save(
			"contexts.csv",
			csv(
				["path", "level", "function", "total", "self", "calls"],
				this.frames.map((f) => [path(f), f.level, this.name(f), f.value, f.self, f.calls]),
			),
		);
	}
}
