// SPDX-License-Identifier: GPL-3.0-or-later
//
// Hot paths: which ways through functions were taken, as their source lines.
import type { App, View } from "./app";
import { csv, save } from "./csv";
import { bar, button, h } from "./dom";
import { exact, percent, plural, shell, short } from "./format";
import type { Model } from "./model";
import type { Path, Paths } from "./types";

export function pathTable(paths: Path[], metric: string, name: ((path: Path) => Node) | null): HTMLElement {
	const measured = metric !== "ir";
	const heads = [
		"share",
		"count",
		"ir each",
		...(measured ? [`${metric} per ir`] : []),
		"kind",
		...(name ? ["function"] : []),
		"lines",
	];
	return h(
		"table",
		{ class: "plain-table path-table" },
		h(
			"thead",
			null,
			h("tr", null, ...heads.map((t) => h("th", { class: ["count", "ir each"].includes(t) ? "r" : "" }, t))),
		),
		h(
			"tbody",
			null,
			...paths.map((p) =>
				h(
					"tr",
					null,
					h("td", { class: "wide" }, bar(p.share, percent(p.share))),
					h("td", { class: "r" }, exact(p.count)),
					h("td", { class: "r" }, exact(p.instructions_each)),
					measured &&
						h(
							"td",
							{ class: "r" },
							p.metric_per_instruction === null
								? ""
								: p.metric_per_instruction.toPrecision(3),
						),
					h("td", null, p.kind),
					name && h("td", null, name(p)),
					h("td", { class: "steps mono" }, p.text),
				),
			),
		),
	);
}

export class PathsView implements View {
	element = h("section", { class: "view paths" });

	constructor(
		private model: Model,
		private app: App,
	) {}

	show() {
		const paths = this.model.paths;
		if (!paths && this.model.hasPaths) {
			this.element.replaceChildren(h("p", { class: "none" }, "Reading the paths \u2026"));
			return;
		}
		if (!paths) {
			this.element.replaceChildren(
				h("h2", null, "No paths"),
				h(
					"p",
					null,
					"This profile was recorded without them. To see which ways through functions were taken:",
				),
				h(
					"pre",
					{ class: "hint" },
					`slope record --paths --input=trms ${this.model.report.program.map(shell).join(" ")}\nslope html`,
				),
			);
			return;
		}
		const c = paths.summary.coverage,
			hot = paths.summary.paths.hot;
		this.element.replaceChildren(
			h(
				"h2",
				null,
				"Hot paths",
				h(
					"span",
					{ class: "under" },
					`  ${plural(c.paths, "path")} executed in ${plural(paths.functions.length, "function")}, ${short(paths.summary.instructions)} instructions; ` +
						`${plural(paths.paths.length, "path")} with ${percent(paths.threshold)} or more of all ${paths.metric}` +
						(hot ? `, ${percent(hot.instructions)} of the instructions together` : ""),
				),
			),
			h(
				"div",
				{ class: "scroll" },
				pathTable(paths.paths, paths.metric, (p) => this.link(p.function)),
			),
			h(
				"p",
				{ class: "under" },
				"Lines in the order in which a path comes along them. A loop of n rounds is n paths or so. Taken and not taken are about the machine's branch. ",
				button("CSV", "save as CSV", () => this.saveCsv(paths), { class: "plain" }),
			),
		);
	}

	command(): string {
		return `slope paths ${shell(this.model.facts.file)}`;
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
			name.length > 50 ? name.slice(0, 49) + "\u2026" : name,
		);
	}

	private saveCsv(paths: Paths) {
		save(
			"paths.csv",
			csv(
				["function", "number", "kind", "share", "count", "instructions_each", "blocks", "lines"],
				paths.paths.map((p) => [
					p.function,
					p.number,
					p.kind,
					p.share,
					p.count,
					p.instructions_each,
					p.blocks,
					p.text,
				]),
			),
		);
	}
}
