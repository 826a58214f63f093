// SPDX-License-Identifier: GPL-3.0-or-later
//
// What makes a function grow, in the words of `slope explain`.
import { csvButton } from "./csv";
import { bar, h } from "./dom";
import { order, percent, short } from "./format";
import type { Explanation, Level, Part } from "./types";
import { clipped } from "./summary";

const WORTH_A_ROW = 0.005;

const grows = (text: string) => text !== "1" && text !== "?";

function mainPart(part: Part, of: string): string {
	if (part.callee === null)
		return `Its own code${grows(part.cost_grows_like) ? ` grows like ${order(part.cost_grows_like)}` : ""}: ${percent(part.share)} of the ${of}.`;
	const calls = part.calls_per_activation,
		each = part.cost_per_call;
	const often = !calls
		? ""
		: grows(calls.grows_like)
			? `is called ${order(calls.grows_like)} times`
			: calls.at_largest_n === 1
				? "is called once"
				: `is called ${short(calls.at_largest_n ?? NaN)} times`;
	const at = !each ? "" : ` at ${grows(each.grows_like) ? order(each.grows_like) : short(each.at_largest_n ?? NaN)} each`;
	return `${clipped(part.callee, 80)} ${often}${at}: ${percent(part.share)} of the ${of}.`;
}

export function culprit(e: Explanation): string {
	const who = clipped(e.culprit, 80),
		whom = clipped(e.callee ?? "", 80);
	switch (e.blame) {
		case "often":
			return `${who} calls ${whom} more and more often.`;
		case "both":
			return `${who} calls ${whom} more and more often, and each call has more to do.`;
		case "large":
			return `${who} gives ${whom} ever more to do, which is as far as it can be followed.`;
		case "self":
			return `${who}, in its own code.`;
		case "deep":
			return `${who}: it calls itself, and every time does as much again.`;
	}
	return "none: nothing grows.";
}

function level(one: Level, open: (name: string) => void): HTMLElement {
	const parts = one.parts.filter((part, i) => !i || part.share >= WORTH_A_ROW);
	return h(
		"div",
		{ class: "level" },
		h(
			"p",
			null,
			one.parts[0]
				? mainPart(one.parts[0], one.shares_of)
				: "Nothing is known of its parts: no call of it has ended with points by this input size.",
		),
		parts.length > 0 &&
			csvButton(
				"explanation",
				[
					"part",
					"share",
					"cost_share",
					"cost_grows_like",
					"calls_per_activation",
					"calls_grow_like",
					"cost_per_call",
					"cost_per_call_grows_like",
				],
				() =>
					one.parts.map((part) => [
						part.callee ?? "(its own code)",
						part.share,
						part.cost_share,
						part.cost_grows_like,
						part.calls_per_activation?.at_largest_n,
						part.calls_per_activation?.grows_like,
						part.cost_per_call?.at_largest_n,
						part.cost_per_call?.grows_like,
					]),
			),
		one.contradicts &&
			h(
				"p",
				{ class: "lost" },
				"Its callees cost more than all of it: the profile contradicts itself, and so do the shares.",
			),
		parts.length > 0 &&
			h(
				"table",
				{ class: "plain-table parts" },
				h(
					"thead",
					null,
					h(
						"tr",
						null,
						...[`of ${one.shares_of}`, "like", "calls", "like", "each", "like", "part"].map(
							(t) => h("th", { class: t === "calls" || t === "each" ? "r" : "" }, t),
						),
					),
				),
				h(
					"tbody",
					null,
					...parts.map((part) =>
						h(
							"tr",
							null,
							h("td", { class: "wide" }, bar(part.share, percent(part.share))),
							h("td", null, order(part.cost_grows_like)),
							h(
								"td",
								{ class: "r" },
								short(part.calls_per_activation?.at_largest_n ?? NaN).replace(
									"?",
									"\u2013",
								),
							),
							h("td", null, order(part.calls_per_activation?.grows_like ?? "\u2013")),
							h(
								"td",
								{ class: "r" },
								short(part.cost_per_call?.at_largest_n ?? NaN).replace(
									"?",
									"\u2013",
								),
							),
							h("td", null, order(part.cost_per_call?.grows_like ?? "\u2013")),
							h(
								"td",
								{ class: "name" },
								part.callee === null
									? "(its own code)"
									: h(
											"a",
											{
												href: "#",
												title: part.callee,
												click: (e: MouseEvent) => {
													e.preventDefault();
													open(part.callee!);
												},
											},
											clipped(part.callee, 60),
										),
							),
						),
					),
				),
			),
	);
}

export function explanation(e: Explanation, open: (name: string) => void): HTMLElement {
	const box = h("section", { class: "explain" }, h("h3", null, "What makes it grow"));
	e.levels.forEach((one, i) => {
		if (i) box.append(h("h4", null, clipped(one.name, 80), ` grows like ${order(one.growth.text)}`));
		box.append(level(one, open));
	});
	if (!e.callees_known)
		box.append(
			h(
				"p",
				{ class: "under" },
				"The profile has no callees by size: it was recorded by an older version, or no function called another.",
			),
		);
	box.append(h("p", { class: "culprit" }, h("strong", null, "culprit"), " ", culprit(e)));
	return box;
}
