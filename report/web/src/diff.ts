// SPDX-License-Identifier: GPL-3.0-or-later
//
// What changed since another profile: in words, and both clouds of points.
import type { App, View } from "./app";
import { csv, save } from "./csv";
import { button, h } from "./dom";
import { exact, growthText, interval, order, percent, plural, shell, short, where } from "./format";
import type { Model } from "./model";
import { Plot, twoClouds } from "./plots";
import type { State } from "./state";
import type { Diff, DiffFunction, DiffSide } from "./types";

const PLOT_H = 320;

function factor(ratio: number): string {
	return ratio >= 1 ? `${ratio.toPrecision(3)} times as much` : `${(1 / ratio).toPrecision(3)} times less`;
}

// The change as a sentence or two.
export function words(f: DiffFunction, unit: string): string[] {
	const list: string[] = [],
		{ change, old, new: now, ratio } = f;
	if (change.appeared) list.push(`New: ${now ? plural(now.calls, "call") : "it"} with ${percent(now?.share)} of the cost.`);
	if (change.gone) list.push(`Gone: it had ${percent(old?.share)} of the cost.`);
	if (change.growth && old && now)
		list.push(
			`Grows ${change.growth === "worse" ? "faster" : "slower"}: ${order(old.growth.text)} before, ${order(now.growth.text)} now` +
				(interval(old.growth) && interval(now.growth)
					? ` (exponent ${interval(old.growth)}, now ${interval(now.growth)}).`
					: "."),
		);
	if (change.cost && ratio)
		list.push(
			`A call of the same size costs ${factor(ratio.mean)} ${unit} (${ratio.low.toPrecision(3)} to ${ratio.high.toPrecision(3)} times)` +
				(Math.abs(ratio.at_from / ratio.at_to - 1) > 0.2
					? `; ${ratio.at_from.toPrecision(3)} times at n = ${short(ratio.from)}, ${ratio.at_to.toPrecision(3)} times at n = ${short(ratio.to)}.`
					: "."),
		);
	if (change.rising && !change.growth) list.push("Its cost pulls away from the old one at the largest sizes.");
	if (change.workload && old && now)
		list.push(
			old.calls !== now.calls
				? `Called ${exact(now.calls)} times, ${exact(old.calls)} before.`
				: "Called as often, with inputs of other sizes.",
		);
	if (f.cross !== null) list.push(`The two curves cross near n = ${short(f.cross)}.`);
	if (f.in_callees !== null && f.in_callees > 0.5 && (change.growth || change.cost))
		list.push(`${percent(f.in_callees)} of the change is in its callees.`);
	return list;
}

function kind(f: DiffFunction): string {
	const c = f.change;
	return c.growth === "worse"
		? "grows faster"
		: c.growth === "better"
			? "grows slower"
			: c.cost === "worse"
				? "costs more"
				: c.cost === "better"
					? "costs less"
					: c.appeared
						? "new"
						: c.gone
							? "gone"
							: "other workload";
}

export class ChangesView implements View {
	element = h("section", { class: "view changes" });
	private plot: Plot | null = null;
	private axes = { logX: true, logY: true };

	constructor(
		private model: Model,
		private app: App,
	) {}

	show(state: State) {
		this.leave();
		const diff = this.model.diff;
		if (!diff) {
			this.element.replaceChildren(
				h("h2", null, "Nothing to compare with"),
				h("p", null, "This page was made of one profile. To see what changed since another one:"),
				h("pre", { class: "hint" }, `slope html --baseline=OLD ${shell(this.model.facts.file)}`),
			);
			return;
		}
		const list = diff.functions,
			chosen = list.find((f) => place(f) === state.fn) ?? list[0];
		this.element.replaceChildren(this.head(diff));
		if (!chosen) {
			this.element.append(
				h(
					"p",
					{ class: "none" },
					`No function grows, costs or is called otherwise: ${plural(diff.counts.compared ?? 0, "function")} had enough common sizes to tell.`,
				),
			);
			return;
		}
		const box = h("div", { class: "plot" }),
			detail = h("div", { class: "change" });
		this.element.append(
			h("div", { class: "columns" }, h("div", { class: "scroll" }, this.table(list, chosen)), detail),
		);
		this.describe(detail, chosen, diff, box);
	}

	leave() {
		this.plot?.destroy();
		this.plot = null;
	}

	command(): string {
		const diff = this.model.diff;
		return diff ? `slope diff ${shell(diff.old.file)} ${shell(diff.new.file)}` : "";
	}

	key(event: KeyboardEvent): boolean {
		const by =
				event.key === "ArrowDown" || event.key === "j"
					? 1
					: event.key === "ArrowUp" || event.key === "k"
						? -1
						: 0,
			list = this.model.diff?.functions ?? [];
		const at =
			Math.max(
				0,
				list.findIndex((f) => place(f) === this.app.state.fn),
			) + by;
		if (!by || at < 0 || at >= list.length) return false;
		this.app.go({ fn: place(list[at]) }, true);
		return true;
	}

	private head(diff: Diff): HTMLElement {
		const c = diff.counts,
			kinds: [number, string, string][] = [
				[c.growth_worse, "grows faster", "grow faster"],
				[c.growth_better, "grows slower", "grow slower"],
				[c.cost_more, "costs more", "cost more"],
				[c.cost_less, "costs less", "cost less"],
				[c.workload, "has another workload", "have another workload"],
				[c.appeared, "is new", "are new"],
				[c.gone, "is gone", "are gone"],
				[c.unclear, "cannot be judged any more", "cannot be judged any more"],
			];
		const said = kinds.filter(([n]) => n).map(([n, one, many]) => `${exact(n)} ${n === 1 ? one : many}`);
		return h(
			"div",
			null,
			h(
				"p",
				{ class: "lede" },
				said.length
					? `Of ${plural(c.functions ?? 0, "function")}, ${said.join(", ")}.`
					: "Nothing changed that is news.",
			),
			h(
				"p",
				{ class: "under" },
				`before: ${diff.old.file}, ${short(diff.old.cost)} ${diff.cost_unit} in all; now: ${diff.new.file}, ${short(diff.new.cost)}. `,
				button("CSV", "save as CSV", () => this.saveCsv(diff), { class: "plain" }),
			),
		);
	}

	private table(list: DiffFunction[], chosen: DiffFunction): HTMLElement {
		return h(
			"table",
			{ class: "plain-table change-table" },
			h(
				"thead",
				null,
				h(
					"tr",
					null,
					...["function", "change", "before", "now", "cost at 10\u00d7"].map((t) =>
						h("th", null, t),
					),
				),
			),
			h(
				"tbody",
				null,
				...list.map((f) =>
					h(
						"tr",
						{
							class: f === chosen ? "selected" : "",
							click: () => this.app.go({ fn: place(f) }, true),
						},
						h("td", { class: "mono", title: f.name }, f.name),
						h(
							"td",
							{
								class:
									f.change.growth === "worse" || f.change.cost === "worse"
										? "worse"
										: "",
							},
							kind(f),
						),
						h("td", null, f.old ? growthText(f.old.growth) : "\u2013"),
						h("td", null, f.new ? growthText(f.new.growth) : "\u2013"),
						h(
							"td",
							{
								class: "r",
								title: "cost added or saved with inputs ten times as large, as a share of all",
							},
							f.impact_at_10x === null
								? "?"
								: Math.abs(f.impact_at_10x) < 0.0005
									? "0"
									: (f.impact_at_10x > 0 ? "+" : "\u2212") +
										percent(Math.abs(f.impact_at_10x)),
						),
					),
				),
			),
		);
	}

	private describe(to: HTMLElement, f: DiffFunction, diff: Diff, box: HTMLElement) {
		const row = this.model.find(place(f)),
			cloud = (side: DiffSide | null) =>
				(side?.points ?? []).map(([n, , cost]) => [n, cost] as [number, number]);
		to.append(
			h("h2", { class: "mono", title: f.name }, f.name.length > 90 ? f.name.slice(0, 89) + "\u2026" : f.name),
			h("p", { class: "under" }, where(f)),
			...words(f, diff.cost_unit).map((text) => h("p", null, text)),
			h("p", { class: "under" }, "grey, dashed: before; accent: now. Mean cost of a call over its input size."),
			box,
		);
		if (row !== undefined && f.new)
			to.append(
				button("open the function", "its own view", () => this.app.openFunction(row), { class: "plain" }),
			);
		this.plot = twoClouds(
			box,
			PLOT_H,
			cloud(f.old),
			cloud(f.new),
			[f.old?.growth ?? null, f.new?.growth ?? null],
			diff.cost_unit,
			this.axes,
		);
	}

	private saveCsv(diff: Diff) {
		save(
			"changes.csv",
			csv(
				[
					"function",
					"module",
					"change",
					"growth_before",
					"growth_now",
					"ratio",
					"ratio_low",
					"ratio_high",
					"calls_before",
					"calls_now",
					"impact_at_10x",
				],
				diff.functions.map((f) => [
					f.name,
					f.module,
					kind(f),
					f.old?.growth.text,
					f.new?.growth.text,
					f.ratio?.mean,
					f.ratio?.low,
					f.ratio?.high,
					f.old?.calls,
					f.new?.calls,
					f.impact_at_10x,
				]),
			),
		);
	}
}

// As the page names functions; one that is gone has its place in the other profile.
function place(f: DiffFunction): string {
	return `${f.new ? "" : "old."}${f.module_index}.${f.offset.toString(16)}`;
}
