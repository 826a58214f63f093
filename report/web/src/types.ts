// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the blocks of a page hold: the JSON of slope's verbs (docs/exports.md),
// as far as the page uses it.

export interface Model {
	order: string;
	constant: number;
	linear: number;
	factor: number;
}

export interface Growth {
	verdict: string;
	text: string;
	sizes: number;
	bins: number;
	model: string | null;
	exponent: number | null;
	low: number | null;
	high: number | null;
	r2: number | null;
	reason: string | null;
	range?: { least: string; most: string };
	error?: number | null;
	top_slope?: number | null;
	holdout?: number | null;
	n?: { from: number; to: number };
	coefficients?: Model;
	below?: Model | null;
	evidence: number;
	grade: string | null;
	outlier_count: number;
	advice: string | null;
	outliers: { n: number; cost: number; expected: number; weight: number }[];
}

export interface Place {
	name: string;
	module: string;
	file: string | null;
	line: number | null;
	module_index: number;
	offset: number;
	symbol: string | null;
}

export interface Input {
	rms: number;
	trms: number;
	thread: number;
	external: number;
}

export interface Run {
	source: string;
	program: string[];
	directory: string | null;
	created_by: string | null;
	runs: number;
	exit: { ended: string | null; code: number | null; signal: number | null };
	cell_bytes: number;
	complete: boolean;
	problems: string[];
	lost: Record<string, number>;
}

export interface ReportFunction extends Place {
	calls: number;
	cost: { total: number; self: number };
	points: number;
	folded: boolean;
	n: { min: number; max: number } | null;
	input: Input;
	threads: number;
	growth: Growth;
	share: Record<string, number | null>;
	group: string;
	ramp: boolean;
	via: string | null;
	by_context: { k: number; differ: boolean; text: string | null } | null;
	path?: { text: string; instructions_share: number | null; executions_per_call: number | null } | null;
}

export interface ThreadFacts {
	id: number;
	parent: number;
	process: number;
	os_id: number;
	name: string;
	coroutine: boolean;
	calls: number;
	max_depth: number;
	cost: Record<string, number> | null;
	input: Input | null;
}

export interface Report extends Run {
	cost_unit: string;
	input_metric: string;
	statistic: string;
	times: number;
	cost: { total: number; self: number };
	threads: ThreadFacts[];
	functions: ReportFunction[];
}

export interface Facts {
	file: string;
	recorded: string | null;
	unit: number;
	metric: number;
	contexts: number;
	context_k: number;
	paths_only: boolean;
	context_collapsed: boolean;
	burst_period_ns: number;
	variants: number;
	variant_k: number;
	lost_means: Record<string, string>;
}

export interface RankAt {
	times: number;
	group: number[];
	share: (number | null)[];
	order: number[];
	via: [number, number][];
}

export interface Ranks {
	function: number[];
	at: RankAt[];
}

export interface Guess {
	order: string;
	trend: string;
	slope: number | null;
	low: number | null;
	high: number | null;
	level: number | null;
	level_low: number | null;
	level_high: number | null;
	tail_from: number | null;
	ratios: { n: number; ratio: number }[];
}

export interface Part {
	callee: string | null;
	share: number;
	cost_share: number;
	cost_grows_like: string;
	calls_per_activation: { grows_like: string; at_largest_n: number | null } | null;
	cost_per_call: { grows_like: string; at_largest_n: number | null } | null;
}

export interface Level extends Place {
	growth: Growth;
	shares_of: string;
	contradicts: boolean;
	recursive: boolean;
	parts: Part[];
	rest: number;
}

export interface Explanation {
	callees_known: boolean;
	levels: Level[];
	blame: string;
	culprit: string;
	callee: string | null;
}

export interface Details {
	row: number;
	show: {
		scatter: number | null;
		growth: { mean: Growth; max: Growth; min: Growth };
		guesses: Guess[];
		threads: {
			id: number;
			process: number;
			name: string;
			calls: number;
			cost: { total: number; self: number };
			growth: Growth;
		}[];
		by_context: {
			k: number;
			differ: boolean;
			text: string | null;
			contexts: {
				callers: string[];
				rest: boolean;
				calls: number;
				cost: { total: number; self: number };
				growth: Growth;
			}[];
		} | null;
		source_lines: { path: string; first: number; more: number; newer: boolean; lines: string[] } | null;
	};
	explain: Explanation;
}

export interface ThreadsFunction extends Place {
	calls: number;
	cost: { total: number; self: number; costliest: number };
	input: Input;
	threads: number;
	richness: number | null;
	volume: number | null;
	points: Record<string, number | boolean | null>;
	thread_of_input: number | null;
	external_of_input: number | null;
}

export interface CurveEntry {
	at_least: number;
	functions: number;
	share: number;
	self_cost: number;
}

export interface Threads {
	cost_unit: string;
	cost: { total: number };
	threads: (ThreadFacts & { share: number | null; busiest: { name: string; self: number } | null })[];
	statistics: {
		functions: number;
		input: {
			cells: number;
			thread: number;
			external: number;
			thread_of_input: number | null;
			external_of_input: number | null;
		};
		input_volume: number | null;
	} & Record<string, CurveEntry[] | null | unknown>;
	function_count: number;
	functions: ThreadsFunction[];
}

export interface Coverage {
	paths: number;
	of_paths: number | string;
	blocks: number;
	of_blocks: number;
	edges: number;
	of_edges: number;
}

export interface Path {
	function: string;
	graph: number;
	number: number | string;
	whole: boolean;
	kind: string;
	share: number;
	count: number;
	blocks: number;
	instructions_each: number;
	instructions: number;
	instructions_share: number;
	samples: number;
	metrics: Record<string, { value: number | null; error: number | null; share: number | null }>;
	metric_per_instruction: number | null;
	text: string;
	callers: string[] | null;
}

export interface Paths {
	metric: string;
	threshold: number;
	path_count: number;
	paths: Path[];
	recorded: { metrics: string[]; period: number | null; contexts: boolean; sizes: boolean; paths_only: boolean };
	summary: {
		instructions: number;
		coverage: Coverage;
		paths: Record<string, { count: number; instructions: number } | null>;
	};
	functions: (Place & {
		instructions: number;
		share: number;
		kind: string;
		coverage: Coverage;
		unresolved: boolean;
		cut_edges: number;
	})[];
}

export interface DiffSide {
	calls: number;
	cost: number;
	self: number;
	share: number;
	growth: Growth;
	points: [number, number, number][];
}

export interface DiffFunction extends Place {
	change: {
		growth: string | null;
		cost: string | null;
		rising: boolean;
		workload: boolean;
		appeared: boolean;
		gone: boolean;
	};
	impact_at_10x: number | null;
	cross: number | null;
	in_callees: number | null;
	ratio: {
		sizes: number;
		from: number;
		to: number;
		mean: number;
		low: number;
		high: number;
		at_from: number;
		at_to: number;
		tilt: number;
		tilt_error: number;
	} | null;
	sizes_moved: number | null;
	old: DiffSide | null;
	new: DiffSide | null;
}

export interface Diff {
	cost_unit: string;
	old: Run & { file: string; cost: number };
	new: Run & { file: string; cost: number };
	counts: Record<string, number>;
	unclear: string[];
	functions: DiffFunction[];
}
