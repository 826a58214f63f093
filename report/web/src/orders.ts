// SPDX-License-Identifier: GPL-3.0-or-later
//
// Orders of growth as analysis/order.h writes them, their values, and the
// fitted models. Nothing is fitted here.
import type { Growth, Model } from "./types";

export interface Order {
	power: number;
	logs: number;
	base: number;
}

export function parse(text: string): Order {
	const exponential = /^([0-9.]+)\^n$/.exec(text);
	if (exponential) return { power: 0, logs: 0, base: Number(exponential[1]) };
	const logs = /log(?:\^([0-9]+))? n/.exec(text);
	const rest = text.replace(/log(?:\^[0-9]+)? n/, "").trim();
	const power = /^n\^([0-9.]+)$/.exec(rest);
	return {
		power: power ? Number(power[1]) : rest === "n" ? 1 : rest === "sqrt n" ? 0.5 : 0,
		logs: logs ? Number(logs[1] ?? 1) : 0,
		base: 0,
	};
}

export function at(order: Order, n: number): number {
	return order.base ? order.base ** n : n ** order.power * Math.log2(n + 1) ** order.logs;
}

export function modelAt(model: Model, n: number): number {
	return model.constant + model.linear * n + model.factor * at(parse(model.order), n);
}

// What the fit says of a size: the lower regime's model below the break.
export function fitted(growth: Growth, n: number): number | null {
	const model = growth.below && growth.n && n < growth.n.from ? growth.below : growth.coefficients;
	return model ? modelAt(model, n) : null;
}

export function middle(growth: Growth): number {
	return growth.n ? Math.sqrt(Math.max(growth.n.from, 1) * Math.max(growth.n.to, 1)) : 1;
}

// An order scaled to meet the model in the middle of its sizes (on a log scale).
export function reference(growth: Growth, text: string, n: number): number | null {
	if (!growth.coefficients) return null;
	const m = middle(growth),
		value = modelAt(growth.coefficients, m),
		order = parse(text);
	return order.base ? value * order.base ** (n - m) : (value / at(order, m)) * at(order, n);
}

// The same for a plain power, at either end of the exponent's interval. Below the middle smaller terms matter more.
export function powerThrough(growth: Growth, power: number, n: number): number | null {
	const m = middle(growth);
	return growth.coefficients && n >= m ? modelAt(growth.coefficients, m) * (n / m) ** power : null;
}

// Six steps of steepness, -1 where nothing is known. Colours and legends use these.
export const STEPS = ["1, log n", "below n", "n", "n log n", "up to n\u00b2", "steeper"];

export function step(growth: Growth): number {
	switch (growth.verdict) {
		case "constant":
			return 0;
		case "sublinear":
			return growth.model === "log n" ? 0 : 1;
		case "linear":
			return 2;
		case "linearithmic":
			return 3;
		case "superlinear":
			return (growth.exponent ?? 2) < 2.25 ? 4 : 5;
		case "exponential":
			return 5;
	}
	return -1;
}
