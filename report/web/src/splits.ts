// SPDX-License-Identifier: GPL-3.0-or-later
//
// The calls of a function, and parts of them: by thread, by caller.
import type { Model } from "./model";
import type { Point, Profile } from "./profile";
import type { Details, Growth } from "./types";

export interface Split {
	id: string;
	title: string;
	points: () => Point[];
	growth: Growth | null;
	calls: number;
	cost: number;
}

export function splitsOf(model: Model, row: number, profile: Profile, detail: Details | undefined): Split[] {
	const f = model.functions[row],
		fn = model.fn(row),
		list: Split[] = [
			{
				id: "all",
				title: "all calls",
				points: () => profile.points(fn),
				growth: f.growth,
				calls: f.calls,
				cost: f.cost.total,
			},
		];
	const threads = model.report.threads;
	if (detail && detail.show.threads.length > 1)
		for (const one of detail.show.threads) {
			const at = threads.findIndex((t) => t.id === one.id && t.process === one.process);
			list.push({
				id: `thread:${at}`,
				title: `thread ${one.id}${one.name ? ` ${one.name}` : ""}`,
				points: () => profile.points(fn, at),
				growth: one.growth,
				calls: one.calls,
				cost: one.cost.total,
			});
		}
	const by = detail?.show.by_context;
	by?.contexts.forEach((one, i) => {
		const same = (profile.variants.get(fn) ?? []).filter((v) => {
			const callers = v.callers.slice(0, by.k).map((c) => model.name(c)),
				short = v.rest && v.callers.length < by.k;
			return (
				short === one.rest &&
				callers.length === one.callers.length &&
				callers.every((c, k) => c === named(one.callers[k]))
			);
		});
		list.push({
			id: `context:${i}`,
			title: one.rest ? "other callers" : `from ${one.callers.map(named).join(" \u2190 ") || "(start)"}`,
			points: () => profile.variantPoints(same.map((v) => v.number)),
			growth: one.growth,
			calls: one.calls,
			cost: one.cost.total,
		});
	});
	return list;
}

// Contexts name the start of a thread as the profile does.
function named(name: string): string {
	return name === "(thread)" ? "(start)" : name;
}
