// SPDX-License-Identifier: GPL-3.0-or-later
//
// The calling context tree as frames to draw. A frame stands for a path of
// calls and holds the tree's nodes along it; its width is their cost with
// callees. Frames are made when they are drawn, and only if they can be seen:
// a tree may have hundreds of thousands of nodes.
import type { Contexts } from "./profile";

export const ROW = 21;
const LEAST = 0.7; // pixels; a narrower frame is not drawn
const DEEPEST = 600;

export interface Frame {
	fn: number;
	thread: number; // thread: only for the start of one, else -1
	value: number;
	self: number;
	calls: number;
	x: number;
	width: number;
	level: number; // level: rows from the pivot, negative for callers
	parent: Frame | null;
}

// Nodes along a path, and the nodes whose cost they carry: the same, except among callers.
interface Members {
	node: number[];
	of: number[];
}

export class Tree {
	private first: Int32Array; // children of a node, as a list
	private next: Int32Array;
	private byFunction = new Map<number, number[]>();
	readonly roots: number[] = [];
	readonly self: number; // of all nodes: the cost of the run, as far as contexts know it

	constructor(readonly c: Contexts) {
		this.first = new Int32Array(c.count).fill(-1);
		this.next = new Int32Array(c.count).fill(-1);
		let self = 0;
		for (let i = c.count - 1; i >= 0; i--) {
			const parent = c.parent[i];
			if (parent >= 0) {
				this.next[i] = this.first[parent];
				this.first[parent] = i;
			} else {
				this.roots.push(i);
			}
			self += c.self[i];
		}
		this.roots.reverse();
		this.self = self;
		for (let i = 0; i < c.count; i++) {
			const list = this.byFunction.get(c.fn[i]);
			if (list) list.push(i);
			else this.byFunction.set(c.fn[i], [i]);
		}
	}

	// The nodes of functions that pass, without those inside another one: a recursion counts once, and nothing twice.
	outermost(passes: (fn: number) => boolean): number[] {
		const { fn, parent, count } = this.c,
			found: number[] = [],
			inside = new Uint8Array(count);
		for (let i = 0; i < count; i++) {
			const up = parent[i],
				wanted = passes(fn[i]);
			if (wanted && !(up >= 0 && inside[up])) found.push(i);
			inside[i] = wanted || (up >= 0 && inside[up]) ? 1 : 0;
		}
		return found;
	}

	cost(nodes: number[]): number {
		return nodes.reduce((sum, i) => sum + this.c.total[i], 0);
	}

	private frame(fn: number, members: Members, thread = -1): Frame {
		let value = 0,
			self = 0,
			calls = 0;
		for (const i of members.of) {
			value += this.c.total[i];
			self += this.c.self[i];
			calls += this.c.calls[i];
		}
		return { fn, thread, value, self, calls, x: 0, width: 0, level: 0, parent: null };
	}

	private callees(members: Members): [number, Members][] {
		const by = new Map<number, Members>();
		for (const i of members.node)
			for (let child = this.first[i]; child >= 0; child = this.next[child])
				join(by, this.c.fn[child], child, child);
		return [...by];
	}

	private callers(members: Members): [number, Members][] {
		const by = new Map<number, Members>();
		members.node.forEach((i, k) => {
			const up = this.c.parent[i];
			if (up >= 0) join(by, this.c.fn[up], up, members.of[k]);
		});
		return [...by];
	}

	// Frames from the starts of the threads down.
	whole(width: number): Frame[] {
		const to: Frame[] = [],
			how = this.down(width / Math.max(this.cost(this.roots), 1));
		let x = 0;
		for (const root of this.roots.slice().sort((a, b) => this.c.total[b] - this.c.total[a])) {
			const members = { node: [root], of: [root] };
			x = this.place(
				to,
				this.frame(this.c.fn[root], members, this.c.thread[root]),
				members,
				x,
				0,
				null,
				how,
				DEEPEST,
			);
		}
		return to;
	}

	// A function with its callees below and up to k callers above.
	pivot(fn: number, width: number, k: number): Frame[] {
		const nodes = this.outermost((one) => one === fn),
			members = { node: nodes, of: nodes },
			to: Frame[] = [];
		const scale = width / Math.max(this.cost(nodes), 1),
			frame = this.frame(fn, members);
		this.place(to, frame, members, 0, 0, null, this.down(scale), DEEPEST);
		this.children(to, frame, members, { scale, step: -1, weight: (f) => f.value, next: (m) => this.callers(m) }, k);
		return to;
	}

	// From slabs, which are no tree of the run: functions by their own cost, each with its callers below it.
	inverted(width: number, k: number): Frame[] {
		const to: Frame[] = [],
			how: How = {
				scale: width / Math.max(this.self, 1),
				step: 1,
				weight: (f) => f.self,
				next: (m) => this.callers(m),
			};
		const tops = [...this.byFunction]
			.map(([fn, nodes]) => {
				const members = { node: nodes, of: nodes };
				return { members, frame: this.frame(fn, members) };
			})
			.sort((a, b) => b.frame.self - a.frame.self);
		let x = 0;
		for (const { frame, members } of tops) x = this.place(to, frame, members, x, 0, null, how, k);
		return to;
	}

	// The same for one function, by its cost with callees.
	invertedOf(fn: number, width: number, k: number): Frame[] {
		const nodes = this.byFunction.get(fn) ?? [],
			members = { node: nodes, of: nodes },
			to: Frame[] = [];
		this.place(
			to,
			this.frame(fn, members),
			members,
			0,
			0,
			null,
			{
				scale: width / Math.max(this.cost(nodes), 1),
				step: 1,
				weight: (f) => f.value,
				next: (m) => this.callers(m),
			},
			k,
		);
		return to;
	}

	private down(scale: number): How {
		return { scale, step: 1, weight: (f) => f.value, next: (m) => this.callees(m) };
	}

	// Where it ends.
	private place(
		to: Frame[],
		frame: Frame,
		members: Members,
		x: number,
		level: number,
		parent: Frame | null,
		how: How,
		left: number,
	): number {
		frame.x = x;
		frame.width = how.weight(frame) * how.scale;
		frame.level = level;
		frame.parent = parent;
		if (frame.width >= LEAST) {
			to.push(frame);
			this.children(to, frame, members, how, left);
		}
		return x + frame.width;
	}

	// The widest first.
	private children(to: Frame[], frame: Frame, members: Members, how: How, left: number) {
		if (!left) return;
		const list = how.next(members).map(([fn, m]) => ({ m, child: this.frame(fn, m) }));
		list.sort((a, b) => how.weight(b.child) - how.weight(a.child));
		let x = frame.x;
		for (const { m, child } of list) x = this.place(to, child, m, x, frame.level + how.step, frame, how, left - 1);
	}
}

// Which way frames go on, and what their width is.
interface How {
	scale: number;
	step: 1 | -1;
	weight: (frame: Frame) => number;
	next: (members: Members) => [number, Members][];
}

function join(by: Map<number, Members>, fn: number, node: number, of: number) {
	const members = by.get(fn);
	if (members) {
		members.node.push(node);
		members.of.push(of);
	} else {
		by.set(fn, { node: [node], of: [of] });
	}
}
