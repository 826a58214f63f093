// SPDX-License-Identifier: GPL-3.0-or-later
//
// The top of the page: what ran, how it was measured, what was lost.
import { h } from "./dom";
import { exact, percent, plural, short, shell, UNIT_NAMES, order } from "./format";
import type { Model } from "./model";

function when(text: string | null): string {
	if (!text) return "";
	const date = new Date(text);
	return date.toLocaleString(undefined, {
		day: "numeric",
		month: "short",
		year: "numeric",
		hour: "2-digit",
		minute: "2-digit",
	});
}

function ended(model: Model): string {
	const { exit } = model.report;
	if (exit.signal) return `ended by signal ${exit.signal}`;
	if (exit.code !== null) return `exit status ${exit.code}`;
	return exit.ended ? `ended: ${exit.ended}` : "";
}

// What is missing, or that nothing is.
function losses(model: Model): HTMLElement {
	const { lost, problems, complete } = model.report;
	const some = Object.entries(lost).filter(([, count]) => count > 0);
	const said = [
		...problems,
		...some.map(([name, count]) => `${exact(count)} ${(Object.hasOwn(model.facts.lost_means, name) && model.facts.lost_means[name]) || name} lost`),
	];
	if (!complete && !problems.length) said.push("the file is not whole");
	return said.length ? h("span", { class: "lost" }, said.join("; ")) : h("span", null, "nothing");
}

function fact(name: string, ...value: (Node | string)[]): HTMLElement {
	return h("span", { class: "fact" }, h("span", { class: "label" }, name), " ", ...value);
}

export function summary(model: Model): HTMLElement {
	const r = model.report,
		command = r.program.map(shell).join(" ") || model.facts.file;
	const facts = h(
		"p",
		{ class: "facts" },
		model.facts.recorded ? fact("recorded", when(model.facts.recorded)) : "",
		fact("source", r.source),
		model.facts.paths_only ? "" : fact(
			"cost",
			`${short(r.cost.total)} ${r.cost_unit}${UNIT_NAMES[r.cost_unit] ? ` (${UNIT_NAMES[r.cost_unit]})` : ""}`,
		),
		r.cell_bytes && !model.facts.paths_only ? fact("input size n", `${r.input_metric}, cells of ${plural(r.cell_bytes, "byte")}`) : "",
		fact("runs", r.runs === 1 ? "1" : `${exact(r.runs)} merged`),
		fact("threads", exact(r.threads.length)),
		fact("end", ended(model)),
		fact("lost", losses(model)),
	);
	return h("div", { class: "summary" }, h("h1", { title: command }, command), facts);
}

// One sentence for who has a minute.
export function lede(model: Model, open: (row: number) => void): HTMLElement {
	const first = model.order()[0],
		f = model.functions[first],
		group = first === undefined ? "" : model.group(first);
	const link = () =>
		h(
			"a",
			{
				href: "#",
				class: "mono",
				click: (event: MouseEvent) => {
					event.preventDefault();
					open(first);
				},
			},
			clipped(f.name),
		);
	if (model.facts.paths_only)
		return h(
			"p",
			{ class: "lede" },
			"This profile has paths only: which ways through functions were taken, and how often. Recorded with --input as well, functions get costs and growth.",
		);
	if (f && model.report.source === "sampler") {
		const self = model.functions.reduce((best, g, i) => (g.cost.self > model.functions[best].cost.self ? i : best), 0);
		return h(
			"p",
			{ class: "lede" },
			"Sampled: time and callers, no input sizes, and so no growth. Most time itself has ",
			h(
				"a",
				{
					href: "#",
					class: "mono",
					click: (event: MouseEvent) => {
						event.preventDefault();
						open(self);
					},
				},
				clipped(model.functions[self].name),
			),
			` (${percent(model.functions[self].cost.self / Math.max(1, model.report.cost.total))}); the contexts show how it comes there.`,
		);
	}
	if (!f)
		return h(
			"p",
			{ class: "lede" },
			"No function was recorded: the program ended before one returned, or all were left out (--only, --skip).",
		);
	if (group === "will_hurt")
		return h(
			"p",
			{ class: "lede" },
			link(),
			` grows like ${order(f.growth.text)}. It has ${percent(f.share.now)} of the cost now, and would have `,
			h("strong", null, percent(model.later(first))),
			` with inputs ${exact(model.times)} times as large.`,
		);
	if (group === "hot")
		return h(
			"p",
			{ class: "lede" },
			"Nothing is seen to outgrow its input. Most of the cost today is in ",
			link(),
			` (${percent(f.cost.self / Math.max(1, model.report.cost.total))} of it in itself), which grows like ${order(f.growth.text)}.`,
		);
	if (group === "unclear")
		return h(
			"p",
			{ class: "lede" },
			"No function has enough input sizes for an answer. The first to settle is ",
			link(),
			`: ${f.growth.reason}`,
			f.growth.advice ? `; ${f.growth.advice}.` : ".",
		);
	return h(
		"p",
		{ class: "lede" },
		"No function stands out: none outgrows its input, none takes one per cent of the cost itself. What the dynamic loader does to start a program is not counted.",
	);
}

export function clipped(name: string, most = 120): string {
	return name.length > most ? name.slice(0, most - 1) + "\u2026" : name;
}
