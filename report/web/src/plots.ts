// SPDX-License-Identifier: GPL-3.0-or-later
//
// Plots over the input size n, drawn by uPlot. Nothing is fitted here: curves
// come from the models that slope has fitted.
import uPlot from "uplot";
import { order, short } from "./format";
import { fitted, powerThrough, reference } from "./orders";
import { deviation, mean, Point } from "./profile";
import type { Growth } from "./types";

const SAMPLES = 120; // of a curve
const BINS = 48; // of the workload histogram

export interface Axes {
	logX: boolean;
	logY: boolean;
}

export interface CostPlot {
	points: Point[];
	behind: Point[]; // behind: all calls, where the points are a part of them
	growth: Growth | null;
	below: string | null;
	above: string | null; // nearest usual orders
	hidden: Set<string>; // worst, best, spread, fit, classes
	unit: string;
}

export function color(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function faded(name: string, alpha: number): string {
	return `color-mix(in srgb, ${color(name)} ${alpha * 100}%, transparent)`;
}

// Decades of a log axis; where there are few of them, 2 and 5 as well.
function decades(_: uPlot, __: number, low: number, high: number): number[] {
	const from = Math.floor(Math.log10(low)),
		to = Math.ceil(Math.log10(high)),
		list: number[] = [],
		every = Math.ceil((to - from) / 8);
	for (let e = from; e <= to; e += every) for (const m of to - from < 4 ? [1, 2, 5] : [1]) list.push(m * 10 ** e);
	return list.filter((v) => v >= low && v <= high);
}

function axis(label: string, size: number, log: boolean): uPlot.Axis {
	return {
		...(log ? { splits: decades, filter: (_: uPlot, splits: number[]) => splits } : {}),
		label,
		labelSize: 22,
		size,
		stroke: color("soft"),
		font: "12px system-ui, sans-serif",
		labelFont: "12px system-ui, sans-serif",
		grid: { stroke: color("line"), width: 1 },
		ticks: { stroke: color("line"), width: 1, size: 4 },
		values: (_, splits) => splits.map((v) => (v === null ? "" : short(v))),
	};
}

// Room on both sides, and never an empty range.
function range(log: boolean, floor = 0): uPlot.Scale.Range {
	return (_, low, high) => {
		if (low === null || high === null || !isFinite(low)) return log ? [1, 10] : [0, 1];
		if (log) return [Math.max(low, 1e-9) / 1.25, high * 1.25];
		const room = (high - low || high || 1) * 0.05;
		return [Math.max(floor, low - room), high + room];
	};
}

// The same for n, but what a reader zooms to stays as it is.
function sizes(log: boolean): uPlot.Scale.Range {
	const padded = range(log) as uPlot.Range.Function;
	return (u, low, high, key) => {
		const x = u.data[0];
		return x.length && (low === null || (low === x[0] && high === x[x.length - 1]))
			? padded(u, low, high, key)
			: [low, high];
	};
}

function scales(axes: Axes): uPlot.Scales {
	return {
		x: { time: false, distr: axes.logX ? 3 : 1, range: sizes(axes.logX) },
		y: { distr: axes.logY ? 3 : 1, range: range(axes.logY) },
	};
}

const usable = (value: number | null, log: boolean) => (value !== null && isFinite(value) && (!log || value > 0) ? value : null);

function samples(points: Point[], log: boolean): number[] {
	if (points.length < 2) return [];
	const from = Math.max(points[0].n, log ? 1 : 0),
		to = points[points.length - 1].n;
	return Array.from({ length: SAMPLES + 1 }, (_, i) =>
		log && from > 0 ? from * (to / from) ** (i / SAMPLES) : from + ((to - from) * i) / SAMPLES,
	);
}

function dots(stroke: string, size: number, show = true): Partial<uPlot.Series> {
	return { show, stroke, paths: () => null, points: { show: true, size, width: 0, fill: stroke, stroke } };
}

function line(stroke: string, width: number, dash?: number[], show = true): Partial<uPlot.Series> {
	return { show, stroke, width, dash, spanGaps: true, points: { show: false } };
}

export class Plot {
	readonly chart: uPlot;
	constructor(
		options: Omit<uPlot.Options, "width" | "height">,
		data: uPlot.AlignedData,
		private host: HTMLElement,
		height: number,
	) {
		this.chart = new uPlot(
			{ ...options, width: Math.max(280, host.clientWidth), height, legend: { show: false } },
			data,
			host,
		);
	}
	destroy() {
		this.chart.destroy();
		this.host.replaceChildren();
	}
}

// The cost plot. `hover` is told of the point under the cursor, `zoom` of the sizes in sight.
export function costPlot(
	host: HTMLElement,
	height: number,
	plot: CostPlot,
	axes: Axes,
	hover: (point: Point | null) => void,
	zoom: (min: number, max: number) => void,
): Plot {
	const shown = plot.points.filter((p) => !axes.logX || p.n > 0),
		by = new Map(shown.map((p) => [p.n, p]));
	const behind = new Map(plot.behind.filter((p) => !axes.logX || p.n > 0).map((p) => [p.n, p]));
	const wide = plot.behind.length ? plot.behind : shown,
		curve = new Set(
			samples(
				wide.filter((p) => !axes.logX || p.n > 0),
				axes.logX,
			),
		);
	const x = [...new Set([...by.keys(), ...behind.keys(), ...curve])].sort((a, b) => a - b);
	const of = (f: (p: Point) => number, from = by) =>
		x.map((n) => {
			const p = from.get(n);
			return p ? usable(f(p), axes.logY) : null;
		});
	const g = plot.growth,
		fit = (f: (n: number) => number | null) => x.map((n) => (g && curve.has(n) ? usable(f(n), axes.logY) : null));
	const on = (name: string) => !plot.hidden.has(name),
		said = g !== null && g.verdict !== "inconclusive";
	const hasInterval = said && g.low !== null && g.high !== null;
	const data = [
		x,
		of(mean, behind),
		of((p) => (p.calls > 1 ? mean(p) - deviation(p) : NaN)),
		of((p) => (p.calls > 1 ? mean(p) + deviation(p) : NaN)),
		fit((n) => (hasInterval ? powerThrough(g, g.low!, n) : null)),
		fit((n) => (hasInterval ? powerThrough(g, g.high!, n) : null)),
		fit((n) => (plot.below ? reference(g!, plot.below, n) : null)),
		fit((n) => (plot.above ? reference(g!, plot.above, n) : null)),
		of((p) => p.max),
		of((p) => p.min),
		of(mean),
		fit((n) => (g!.coefficients ? fitted(g!, n) : null)),
	] as uPlot.AlignedData;
	const nothing = "rgba(0,0,0,0)";
	return new Plot(
		{
			scales: scales(axes),
			axes: [axis("input size n", 34, axes.logX), axis(`cost of a call (${plot.unit})`, 62, axes.logY)],
			cursor: { drag: { x: true, y: false }, points: { show: false }, y: false },
			series: [
				{},
				dots(color("line"), 5),
				line(nothing, 0, undefined, on("spread")),
				line(nothing, 0, undefined, on("spread")),
				line(nothing, 0, undefined, on("fit")),
				line(nothing, 0, undefined, on("fit")),
				line(color("faint"), 1.2, [2, 4], on("classes")),
				line(color("faint"), 1.2, [8, 4], on("classes")),
				dots(faded("soft", 0.55), 4, on("worst")),
				dots(faded("soft", 0.55), 3, on("best")),
				dots(color("ink"), 5),
				line(color(said ? "accent" : "faint"), 2, said ? undefined : [6, 4], on("fit")),
			],
			bands: [
				{ series: [3, 2], fill: faded("soft", 0.16) },
				{ series: [5, 4], fill: faded("accent", 0.1) },
			],
			hooks: {
				setCursor: [(u) => hover(nearest(u, x, by))],
				setScale: [
					(u, key) => {
						if (key === "x") zoom(u.scales.x.min!, u.scales.x.max!);
					},
				],
				draw: [
					(u) => {
						if (on("classes")) labelClasses(u, plot);
					},
				],
			},
		},
		data,
		host,
		height,
	);
}

// The measured size nearest to the cursor, which may stand on a sample of a curve.
function nearest(u: uPlot, x: number[], by: Map<number, Point>): Point | null {
	const at = u.cursor.idx;
	if (at === null || at === undefined) return null;
	for (let d = 0; d < x.length; d++) {
		const left = by.get(x[at - d]),
			right = by.get(x[at + d]);
		if (left || right) {
			if (!left || !right) return left ?? right ?? null;
			const px = (p: Point) => Math.abs(u.valToPos(p.n, "x") - (u.cursor.left ?? 0));
			return px(left) <= px(right) ? left : right;
		}
	}
	return null;
}

// The names of the nearest classes at the right end of their curves.
function labelClasses(u: uPlot, plot: CostPlot) {
	const g = plot.growth,
		n = u.scales.x.max! / (u.scales.x.distr === 3 ? 1.3 : 1.06);
	if (!g?.coefficients || g.verdict === "inconclusive") return;
	u.ctx.save();
	u.ctx.fillStyle = color("soft");
	u.ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
	u.ctx.textAlign = "right";
	for (const text of [plot.below, plot.above]) {
		const value = text && reference(g, text, n);
		if (!text || !value || !isFinite(value)) continue;
		const top = u.bbox.top + 14 * devicePixelRatio,
			bottom = u.bbox.top + u.bbox.height - 4 * devicePixelRatio;
		const y = Math.max(top, Math.min(bottom, u.valToPos(value, "y", true) - 5 * devicePixelRatio));
		u.ctx.fillText(order(text), u.valToPos(n, "x", true), y);
	}
	u.ctx.restore();
}

// Calls by size, in bins as wide as the axis asks; on a log scale, so that a single large call is seen.
export function workloadPlot(host: HTMLElement, height: number, points: Point[], axes: Axes): Plot {
	const shown = points.filter((p) => !axes.logX || p.n > 0),
		from = shown[0]?.n ?? 1,
		to = Math.max(shown[shown.length - 1]?.n ?? 1, from + 1e-9);
	const edge = (i: number) => (axes.logX ? from * (to / from) ** (i / BINS) : from + ((to - from) * i) / BINS);
	const calls = new Array<number>(BINS).fill(0);
	for (const p of shown) {
		const part = axes.logX ? Math.log(p.n / from) / Math.log(to / from) : (p.n - from) / (to - from);
		calls[Math.min(BINS - 1, Math.max(0, Math.floor((part || 0) * BINS)))] += p.calls;
	}
	const x = calls.map((_, i) => edge(i)),
		most = Math.max(...calls, 1);
	return new Plot(
		{
			scales: {
				x: { time: false, distr: axes.logX ? 3 : 1, range: (_, low, high) => [low, high] },
				y: { distr: 3, range: () => [0.7, Math.max(most * 1.6, 10)] },
			},
			axes: [{ ...axis("", 6, axes.logX), label: undefined, values: () => [] }, { ...axis("calls", 62, true) }],
			cursor: { drag: { x: false, y: false }, show: false },
			series: [{}, { paths: () => null, points: { show: false } }],
			hooks: {
				draw: [
					(u) => {
						u.ctx.save();
						u.ctx.beginPath();
						u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
						u.ctx.clip();
						u.ctx.fillStyle = color("faint");
						const base = u.valToPos(0.7, "y", true);
						calls.forEach((count, i) => {
							if (!count) return;
							const left = u.valToPos(edge(i), "x", true),
								right = u.valToPos(edge(i + 1), "x", true),
								top = u.valToPos(count, "y", true);
							u.ctx.fillRect(left, top, Math.max(1.5, right - left - 1), base - top);
						});
						u.ctx.restore();
					},
				],
			},
		},
		[x, calls.map((c) => c || null)] as uPlot.AlignedData,
		host,
		height,
	);
}

// One series of dots over n: guess ratios, residuals.
export function dotPlot(
	host: HTMLElement,
	height: number,
	x: number[],
	y: (number | null)[],
	label: string,
	axes: Axes,
	zero = false,
	hover?: (at: number | null) => void,
): Plot {
	return new Plot(
		{
			scales: {
				x: { time: false, distr: axes.logX ? 3 : 1, range: sizes(axes.logX) },
				y: {
					distr: 1,
					range: (_, low, high) => {
						const room = ((high ?? 1) - (low ?? 0)) * 0.08 || 0.1;
						return zero
							? [Math.min(0, low ?? 0) - room, (high ?? 1) + room]
							: [Math.min(0, low ?? 0), (high ?? 1) + room];
					},
				},
			},
			axes: [axis("input size n", 34, axes.logX), axis(label, 62, false)],
			cursor: { drag: { x: true, y: false }, y: false, points: { show: false } },
			series: [{}, dots(color("ink"), 5)],
			hooks: { setCursor: [(u) => hover?.(u.cursor.idx ?? null)] },
		},
		[x, y] as uPlot.AlignedData,
		host,
		height,
	);
}

// Two clouds on one pair of axes: before and after.
export function twoClouds(
	host: HTMLElement,
	height: number,
	old: [number, number][],
	now: [number, number][],
	fits: (Growth | null)[],
	unit: string,
	axes: Axes,
): Plot {
	const a = new Map(old.filter(([n, c]) => n > 0 && c > 0)),
		b = new Map(now.filter(([n, c]) => n > 0 && c > 0));
	const all = [...a.keys(), ...b.keys()].sort((p, q) => p - q),
		from = all[0] ?? 1,
		to = all[all.length - 1] ?? 1;
	const curve = new Set(Array.from({ length: SAMPLES + 1 }, (_, i) => from * (to / from) ** (i / SAMPLES)));
	const x = [...new Set([...all, ...curve])].sort((p, q) => p - q);
	const fit = (g: Growth | null) => x.map((n) => (g?.coefficients && curve.has(n) ? usable(fitted(g, n), true) : null));
	return new Plot(
		{
			scales: scales(axes),
			axes: [axis("input size n", 34, axes.logX), axis(`cost of a call (${unit})`, 62, axes.logY)],
			cursor: { drag: { x: true, y: false }, y: false, points: { show: false } },
			series: [
				{},
				line(color("faint"), 1.5, [6, 4]),
				line(color("accent"), 2),
				dots(color("soft"), 5),
				dots(color("accent"), 5),
			],
		},
		[
			x,
			fit(fits[0]),
			fit(fits[1]),
			x.map((n) => a.get(n) ?? null),
			x.map((n) => b.get(n) ?? null),
		] as uPlot.AlignedData,
		host,
		height,
	);
}

// How many have at least so much: a falling staircase.
export function stepPlot(
	host: HTMLElement,
	height: number,
	x: number[],
	y: number[],
	xLabel: string,
	yLabel: string,
	log: boolean,
): Plot {
	return new Plot(
		{
			scales: {
				x: {
					time: false,
					distr: log ? 3 : 1,
					range: (_, low, high) => [low ?? 0, Math.max(high ?? 1, (low ?? 0) + 1e-9)],
				},
				y: { range: () => [0, 100] },
			},
			axes: [axis(xLabel, 34, log), axis(yLabel, 46, false)],
			cursor: { show: false },
			series: [
				{},
				{
					stroke: color("accent"),
					width: 2,
					points: { show: x.length < 40, size: 4, fill: color("accent") },
				},
			],
		},
		[x, y] as uPlot.AlignedData,
		host,
		height,
	);
}
