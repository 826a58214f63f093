// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the page knows, and the order of its functions for inputs k times as
// large: positions in the report's list, as slope's own ranking has them.
import { block, json } from "./blocks";
import { Profile } from "./profile";
import type { Details, Diff, Explanation, Facts, Paths, RankAt, Ranks, Report, ReportFunction, Threads } from "./types";

export const GROUPS = ["will_hurt", "hot", "unclear", "rest"] as const;
export const TITLES: Record<string, string> = { will_hurt: "will hurt", hot: "hot today", unclear: "unclear", rest: "the rest" };
export const GROUP_MEANS: Record<string, string> = {
	will_hurt: "cost outgrows the input",
	hot: "costly now, not steep",
	unclear: "costly, and not enough is known; what would settle it is said",
	rest: "neither costly nor steep",
};

export class Model {
	ranks!: Ranks;
	times: number; // the k of now
	private details = new Map<number, Details>();
	private rowOf = new Map<number, number>();
	private rowByPlace = new Map<string, number>();
	private rest: number[] = []; // all functions in the order that "the rest" has
	threads: Threads | null = null;
	diff: Diff | null = null;
	paths: Paths | null = null;
	profile: Profile | null = null;
	readonly profileReady: Promise<Profile>;
	private profileDone!: (profile: Profile) => void;
	private profileFailed!: (reason: unknown) => void;

	private constructor(
		readonly report: Report,
		readonly facts: Facts,
	) {
		this.times = report.times;
		this.profileReady = new Promise((done, failed) => {
			this.profileDone = done;
			this.profileFailed = failed;
		});
		this.profileReady.catch(() => {});
	}

	// What the first screen needs.
	static async open(): Promise<Model> {
		const facts = await json<Facts>("facts"),
			report = await json<Report>("report"),
			ranks = await json<Ranks>("ranks");
		if (!facts || !report || !ranks)
			throw new Error("the page is not whole: its data are missing. Make it again with 'slope html'.");
		const model = new Model(report, facts);
		model.ranks = ranks;
		ranks.function.forEach((fn, row) => model.rowOf.set(fn, row));
		report.functions.forEach((f, row) => model.rowByPlace.set(`${f.module_index}.${f.offset.toString(16)}`, row));
		model.rest = report.functions
			.map((_, row) => row)
			.sort((a, b) => {
				const x = report.functions[a],
					y = report.functions[b];
				return y.cost.total - x.cost.total || y.cost.self - x.cost.self || a - b;
			});
		return model;
	}

	// And the rest of it, when the first screen stands.
	async openRest() {
		for (const one of (await json<Details[]>("details")) ?? []) this.details.set(one.row, one);
		this.threads = await json<Threads>("threads");
		this.paths = await json<Paths>("paths");
		this.diff = await json<Diff>("diff");
	}

	async openProfile() {
		try {
			const bytes = await block("profile");
			if (!bytes) throw new Error("the page ends before its profile");
			const profile = new Profile(this.facts.unit, this.facts.metric);
			await profile.read(bytes);
			this.profile = profile;
			this.profileDone(profile);
		} catch (reason) {
			this.profileFailed(reason);
		}
	}

	// Known before they are read.
	get hasPaths(): boolean {
		return this.paths !== null || document.getElementById("slope-paths") !== null;
	}

	get functions(): ReportFunction[] {
		return this.report.functions;
	}

	// Time by call path, and no input sizes.
	get sampled(): boolean {
		return this.report.source === "sampler";
	}

	get stops(): number[] {
		return this.ranks.at.map((one) => one.times);
	}

	at(times = this.times): RankAt {
		return this.ranks.at.find((one) => one.times === times) ?? this.ranks.at[0];
	}

	// Rows in the order of `slope report --times=k`.
	order(times = this.times): number[] {
		const at = this.at(times),
			rest = GROUPS.indexOf("rest");
		return [...at.order, ...this.rest.filter((row) => at.group[row] === rest)];
	}

	group(row: number): string {
		return GROUPS[this.at().group[row]];
	}

	later(row: number): number | null {
		return this.at().share[row];
	}

	// The callee that makes it grow, which has a row of its own.
	via(row: number): number | null {
		return this.at().via.find(([from]) => from === row)?.[1] ?? null;
	}

	// The profile's number of a function, and back; function 0 is where a thread starts.
	fn(row: number): number {
		return this.ranks.function[row];
	}

	row(fn: number): number | undefined {
		return this.rowOf.get(fn);
	}

	name(fn: number): string {
		const row = this.rowOf.get(fn);
		return row === undefined ? "(start)" : this.functions[row].name;
	}

	// What names a function in the page's address.
	key(row: number): string {
		const f = this.functions[row];
		return `${f.module_index}.${f.offset.toString(16)}`;
	}

	find(key: string): number | undefined {
		return this.rowByPlace.get(key);
	}

	detail(row: number): Details | undefined {
		return this.details.get(row);
	}

	explanation(row: number): Explanation | undefined {
		return this.details.get(row)?.explain;
	}
}
