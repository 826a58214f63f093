// SPDX-License-Identifier: GPL-3.0-or-later
//
// Numbers and words as slope's text reports write them.
import type { Growth, Place } from "./types";

const UNITS = ["", "k", "M", "G", "T", "P", "E"];

// 999, 1.23k, 45.6M
export function short(value: number): string {
	if (!isFinite(value)) return "?";
	let unit = 0,
		v = Math.abs(value);
	while (v >= 999.5 && unit < UNITS.length - 1) {
		v /= 1000;
		unit++;
	}
	const sign = value < 0 ? "-" : "";
	if (!unit) return sign + (Number.isInteger(v) ? String(v) : v.toPrecision(3).replace(/\.?0+$/, ""));
	return sign + (v >= 99.95 ? v.toFixed(0) : v >= 9.995 ? v.toFixed(1) : v.toFixed(2)) + UNITS[unit];
}

// All digits, in groups of three that a reader can count.
export function exact(value: number): string {
	const text = Number.isInteger(value)
		? value.toLocaleString("en-US")
		: Number(value.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 6 });
	return text.replaceAll(",", "\u202f");
}

export function percent(share: number | null | undefined): string {
	if (share === null || share === undefined || !isFinite(share)) return "?";
	if (share === 0) return "0%";
	if (share < 0.0005) return "<0.1%";
	return share >= 0.9995 ? "100%" : `${(share * 100).toFixed(1)}%`;
}

export function interval(growth: Growth): string {
	if (growth.verdict === "inconclusive" || growth.low === null || growth.high === null) return "";
	return `${Math.max(growth.low, 0).toFixed(2)}..${Math.max(growth.high, 0).toFixed(2)}`;
}

// An order inside a sentence: small exponents raised, others as they are typed.
export function order(text: string): string {
	const raised: Record<string, string> = { "2": "\u00b2", "3": "\u00b3", n: "\u207f" };
	return text.replace(/\^([23n])(?![.0-9])/g, (_, power: string) => raised[power]).replaceAll(" .. ", " \u2026 ");
}

// The same as elements, with every exponent raised.
export function orderNodes(text: string): (Node | string)[] {
	return text
		.replaceAll(" .. ", " \u2026 ")
		.split(/\^([0-9.]+|n)/)
		.map((part, i) => {
			if (i % 2 === 0) return part;
			const raised = document.createElement("sup");
			raised.textContent = part;
			return raised;
		});
}

// How a growth reads in a table: the order, or why there is none.
export function growthText(growth: Growth): string {
	return growth.verdict === "inconclusive" ? (growth.reason ?? "inconclusive") : order(growth.text);
}

// Where a function is, without folders that say nothing here: those outside of where the program ran.
export function nearby(place: Place): string {
	const file = place.file && /^(\/|\.\.?\/)/.test(place.file) ? place.file.replace(/.*\//, "") : place.file;
	return where({ ...place, file });
}

export function where(place: Place): string {
	const at = place.file ? place.file + (place.line ? `:${place.line}` : "") : "";
	return at && place.module ? `${at}  [${place.module}]` : at || `[${place.module || "no file"}]`;
}

export function plural(count: number, one: string, many = one + "s"): string {
	return `${exact(count)} ${count === 1 ? one : many}`;
}

// A word for a shell, quoted where it must be.
export function shell(word: string): string {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export const UNIT_NAMES: Record<string, string> = { ir: "instructions", bb: "basic blocks", time: "nanoseconds" };
