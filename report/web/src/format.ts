// SPDX-License-Identifier: GPL-3.0-or-later
//
// Numbers and words as slope's text reports write them.
import type { Growth, Place } from "./types";

const UNITS = ["", "k", "M", "G", "T", "P", "E"];

// 999, 1.23k, 45.6M
export function short(value: number): string {
	if (!isFinite(value))
		return "?";
	let unit = 0, v = Math.abs(value);
	while (v >= 999.5 && unit < UNITS.length - 1) {
		v /= 1000;
		unit++;
	}
	const sign = value < 0 ? "-" : "";
	if (!unit)
		return sign + (Number.isInteger(v) ? String(v) : v.toPrecision(3).replace(/\.?0+$/, ""));
	return sign + (v >= 99.95 ? v.toFixed(0) : v >= 9.995 ? v.toFixed(1) : v.toFixed(2)) + UNITS[unit];
}

// All digits, in groups of three that a reader can count.
export function exact(value: number): string {
	const text = Number.isInteger(value) ? value.toLocaleString("en-US") :
		Number(value.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 6 });
	return text.replaceAll(",", "\u202f");
}

export function percent(share: number | null | undefined): string {
	if (share === null || share === undefined || !isFinite(share))
		return "?";
	if (share === 0)
		return "0%";
	if (share < 0.0005)
		return "<0.1%";
	return share >= 0.9995 ? "100%" : `${(share * 100).toFixed(1)}%`;
}

export function interval(growth: Growth): string {
	if (growth.verdict === "inconclusive" || growth.low === null || growth.high === null)
		return "";
	return `${Math.max(growth.low, 0).toFixed(2)}..${Math.max(growth.high, 0).toFixed(2)}`;
}

// "n^2" with the exponent raised; in text it stays as it is typed.
export function order(text: string): string {
	const raised: Record<string, string> = { "0": "\u2070", "1": "\u00b9", "2": "\u00b2", "3": "\u00b3", "4": "\u2074", "5": "\u2075",
		"6": "\u2076", "7": "\u2077", "8": "\u2078", "9": "\u2079", ".": "\u00b7", n: "\u207f" };
	return text.replace(/\^([0-9.]+|n)/g, (_, power: string) => [...power].map((c) => raised[c]).join(""))
		.replaceAll(" .. ", " \u2026 ");
}

// How a growth reads in a table: the order, or why there is none.
export function growthText(growth: Growth): string {
	return growth.verdict === "inconclusive" ? growth.reason ?? "inconclusive" : order(growth.text);
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
