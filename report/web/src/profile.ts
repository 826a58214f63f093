// SPDX-License-Identifier: GPL-3.0-or-later
//
// The profile itself (docs/format.md; points by columns, profile/columns.h), for
// what the JSON of the verbs does not repeat: points, edges, contexts. It was
// checked when the page was made.
import { pause } from "./blocks";

const HEADER = 24,
	CHUNK_HEADER = 12;
const BUDGET_MS = 40;

// excess: the sum of squares beyond sum^2 / calls, that is calls times the variance.
export interface Point {
	n: number;
	calls: number;
	min: number;
	max: number;
	sum: number;
	excess: number;
}

export const mean = (p: Point) => p.sum / p.calls;
export const deviation = (p: Point) => Math.sqrt(Math.max(0, p.excess / p.calls));

// Numbers as they come: LEB128, up to 2^53 exactly.
class Reader {
	at: number;
	constructor(
		readonly bytes: Uint8Array,
		at: number,
		readonly end: number,
	) {
		this.at = at;
	}
	number(): number {
		const bytes = this.bytes;
		let byte = bytes[this.at++];
		if (byte < 128) return byte;
		let value = byte & 127,
			scale = 128;
		do {
			byte = bytes[this.at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte >= 128);
		return value;
	}
	signed(): number {
		const value = this.number();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}
}

// Rows of points of many tables, side by side: a million of them fit.
class Rows {
	count = 0;
	n = new Float64Array(4096);
	calls = new Float64Array(4096);
	min = new Float64Array(4096);
	max = new Float64Array(4096);
	sum = new Float64Array(4096);
	excess = new Float64Array(4096);
	room() {
		if (this.count < this.n.length) return;
		for (const key of ["n", "calls", "min", "max", "sum", "excess"] as const) {
			const more = new Float64Array(this.n.length === this[key].length ? this[key].length * 2 : this.n.length);
			more.set(this[key]);
			this[key] = more;
		}
	}
	point(i: number): Point {
		return {
			n: this.n[i],
			calls: this.calls[i],
			min: this.min[i],
			max: this.max[i],
			sum: this.sum[i],
			excess: this.excess[i],
		};
	}
}

interface Table {
	thread: number;
	metric: number;
	first: number;
	end: number;
}

export interface Edge {
	thread: number;
	caller: number;
	callee: number;
	calls: number;
	cost: number;
}

export interface Contexts {
	count: number;
	fn: Uint32Array;
	parent: Int32Array;
	thread: Uint32Array;
	calls: Float64Array;
	total: Float64Array;
	self: Float64Array;
}

export interface Variant {
	number: number;
	rest: boolean;
	callers: number[];
	fn: number;
	thread: number;
	calls: number;
	total: number;
	self: number;
}

export class Profile {
	private rows = new Rows();
	private tables = new Map<number, Table[]>();
	private variantTables = new Map<number, Table[]>();
	edges: Edge[] = [];
	callersOf = new Map<number, Edge[]>();
	calleesOf = new Map<number, Edge[]>();
	variants = new Map<number, Variant[]>();
	private nodes: number[][] = [[], [], [], [], [], []];
	private nodeNumbers: Map<number, number>[] = [];
	contexts: Contexts | null = null;

	constructor(
		private readonly unit: number,
		private readonly metric: number,
	) {}

	// Section after section, in pieces that leave the page alive.
	async read(bytes: Uint8Array) {
		const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		let began = performance.now();
		for (let at = HEADER; at + CHUNK_HEADER <= bytes.length; ) {
			const tag = String.fromCharCode(...bytes.subarray(at, at + 4)),
				size = view.getUint32(at + 4, true);
			this.chunk(tag, new Reader(bytes, at + CHUNK_HEADER, at + CHUNK_HEADER + size));
			at += CHUNK_HEADER + size;
			if (performance.now() - began > BUDGET_MS) {
				await pause();
				began = performance.now();
			}
		}
		for (const edge of this.edges) {
			push(this.callersOf, edge.callee, edge);
			push(this.calleesOf, edge.caller, edge);
		}
		this.finishContexts();
	}

	private chunk(tag: string, r: Reader) {
		switch (tag) {
			case "PNTS":
				return this.readTables(r, this.tables);
			case "pnts":
				return this.readColumns(r, this.tables);
			case "VPNT":
				return this.readTables(r, this.variantTables);
			case "vpnt":
				return this.readColumns(r, this.variantTables);
			case "EDGE":
				return this.readEdges(r);
			case "CTXT":
				return this.readContexts(r);
			case "VARS":
				return this.readVariants(r);
		}
	}

	private readTables(r: Reader, into: Map<number, Table[]>) {
		const units = r.number(),
			rows = this.rows;
		while (r.at < r.end) {
			const table: Table = { metric: r.number(), first: 0, thread: 0, end: 0 };
			const owner = r.number();
			table.thread = r.number();
			r.number();
			table.first = rows.count;
			for (let n = 0, kind; r.at < r.end && (kind = r.bytes[r.at++]); ) {
				n += r.signed();
				this.readRow(r, kind, n, units);
			}
			table.end = rows.count;
			push(into, owner, table);
		}
	}

	private readRow(r: Reader, kind: number, n: number, units: number) {
		const rows = this.rows,
			i = rows.count,
			calls = r.number();
		rows.room();
		rows.n[i] = n;
		rows.calls[i] = calls;
		if (!(kind & 4)) {
			r.number();
			r.number();
			r.number();
		}
		for (let u = 0; u < units; u++) {
			const least = r.number();
			let most = least,
				sum = least * calls,
				excess = 0;
			if (!(kind & 2)) {
				most = least + r.number();
				sum = r.number();
				excess = r.number() - (sum / calls) * sum;
				excess += r.number() * 2 ** 64;
			}
			if (u === this.unit) this.setCosts(i, least, most, sum, excess);
		}
		rows.count++;
	}

	private setCosts(i: number, least: number, most: number, sum: number, excess: number) {
		const rows = this.rows;
		rows.min[i] = least;
		rows.max[i] = most;
		rows.sum[i] = sum;
		rows.excess[i] = excess;
	}

	// The same from columns: heads, kinds, sizes, calls, inputs, and four of each unit.
	private readColumns(r: Reader, into: Map<number, Table[]>) {
		const units = r.number(),
			bytes = Array.from({ length: 5 + 4 * units }, () => r.number()),
			rows = this.rows;
		const [heads, kinds, sizes, calls, inputs, ...costs] = bytes.map((size) => {
			r.at += size;
			return new Reader(r.bytes, r.at - size, r.at);
		});
		while (heads.at < heads.end) {
			const table: Table = { metric: heads.number(), first: rows.count, thread: 0, end: 0 },
				owner = heads.number();
			table.thread = heads.number();
			heads.number();
			for (let n = 0, kind; kinds.at < kinds.end && (kind = kinds.bytes[kinds.at++]); ) {
				rows.room();
				rows.n[rows.count] = n += sizes.signed();
				rows.calls[rows.count] = calls.number();
				for (let i = 0; i < 3 && !(kind & 4); i++) inputs.number();
				for (let u = 0; u < units; u++) this.readCosts(costs, u, kind);
				rows.count++;
			}
			table.end = rows.count;
			push(into, owner, table);
		}
	}

	private readCosts(costs: Reader[], u: number, kind: number) {
		const i = this.rows.count,
			calls = this.rows.calls[i],
			least = costs[4 * u].number();
		let most = least,
			sum = least * calls,
			excess = 0;
		if (!(kind & 2)) {
			most = least + costs[4 * u + 1].number();
			const beyond = calls > 2 ? costs[4 * u + 2].number() : 0;
			sum = (calls - 1) * least + most + beyond;
			if (calls > 3) excess = costs[4 * u + 3].number() - roundedOff(sum, calls);
			else
				for (const cost of calls === 3 ? [least, most, least + beyond] : [least, most])
					excess += (cost - sum / calls) ** 2;
		}
		if (u === this.unit) this.setCosts(i, least, most, sum, excess);
	}

	private costs(r: Reader, units: number): number {
		let cost = 0;
		for (let u = 0; u < units; u++) {
			const value = r.number();
			if (u === this.unit) cost = value;
		}
		return cost;
	}

	private readEdges(r: Reader) {
		const units = r.number();
		while (r.at < r.end)
			this.edges.push({
				thread: r.number(),
				caller: r.number(),
				callee: r.number(),
				calls: r.number(),
				cost: this.costs(r, units),
			});
	}

	private readContexts(r: Reader) {
		const units = r.number(),
			[fn, parent, threads, calls, total, self] = this.nodes;
		while (r.at < r.end) {
			const thread = r.number(),
				number = r.number(),
				distance = r.number();
			const numbers = (this.nodeNumbers[thread] ??= new Map<number, number>());
			numbers.set(number, fn.length);
			parent.push(distance ? (numbers.get(number - distance) ?? -1) : -1);
			threads.push(thread);
			fn.push(r.number());
			r.number();
			calls.push(r.number());
			total.push(this.costs(r, units));
			self.push(this.costs(r, units));
		}
	}

	private finishContexts() {
		const [fn, parent, thread, calls, total, self] = this.nodes;
		if (fn.length)
			this.contexts = {
				count: fn.length,
				fn: Uint32Array.from(fn),
				parent: Int32Array.from(parent),
				thread: Uint32Array.from(thread),
				calls: Float64Array.from(calls),
				total: Float64Array.from(total),
				self: Float64Array.from(self),
			};
		this.nodes = [];
		this.nodeNumbers = [];
	}

	private readVariants(r: Reader) {
		const units = r.number();
		while (r.at < r.end) {
			const number = r.number(),
				rest = r.number() !== 0,
				callers: number[] = [];
			for (let left = r.number(); left; left--) callers.push(r.number());
			const fn = r.number(),
				thread = r.number(),
				calls = r.number(),
				total = this.costs(r, units),
				self = this.costs(r, units);
			for (let i = 0; i < 4; i++) r.number();
			push(this.variants, fn, { number, rest, callers, fn, thread, calls, total, self });
		}
	}

	// The points of a function, those of one size added up: of all threads, or of one.
	points(fn: number, thread?: number): Point[] {
		const tables = this.tables.get(fn) ?? [];
		return this.gather(
			tables.filter((t) => t.metric === this.metric && (thread === undefined || t.thread === thread)),
		);
	}

	// The same of some of its variants.
	variantPoints(numbers: number[]): Point[] {
		return this.gather(
			numbers.flatMap((number) => this.variantTables.get(number) ?? []).filter((t) => t.metric === this.metric),
		);
	}

	private gather(tables: Table[]): Point[] {
		const all: Point[] = [];
		for (const table of tables) for (let i = table.first; i < table.end; i++) all.push(this.rows.point(i));
		if (tables.length < 2) return all;
		all.sort((a, b) => a.n - b.n);
		const kept: Point[] = [];
		for (const point of all) {
			const last = kept[kept.length - 1];
			if (!last || last.n !== point.n) {
				kept.push(point);
				continue;
			}
			const apart = mean(last) - mean(point);
			last.excess += point.excess + (apart * apart * last.calls * point.calls) / (last.calls + point.calls);
			last.calls += point.calls;
			last.min = Math.min(last.min, point.min);
			last.max = Math.max(last.max, point.max);
			last.sum += point.sum;
		}
		return kept;
	}
}

// What was lost when sum^2 / calls was rounded down; of no account where it cannot be known.
function roundedOff(sum: number, calls: number): number {
	const square = sum * sum;
	return Number.isSafeInteger(square) ? (square % calls) / calls : 0;
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V) {
	const list = map.get(key);
	if (list) list.push(value);
	else map.set(key, [value]);
}
