// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the reader is, kept in the address behind the '#': what is copied from
// there opens at the same place.

export interface State {
	view: string; // functions, function, contexts, threads, changes
	fn: string; // the function of the function view, or of a pivot
	k: number; // inputs so many times as large
	search: string;
	groups: string[]; // shown; empty: all
	module: string;
	grade: string; // at least this good; empty: any
	sort: string; // rank, or a column
	tab: string; // of the function view
	split: string; // all, thread:N, context:N
	callers: number; // callers that a pivot follows
}

export const START: State = {
	view: "functions",
	fn: "",
	k: 0,
	search: "",
	groups: [],
	module: "",
	grade: "",
	sort: "rank",
	tab: "cost",
	split: "all",
	callers: 1000,
};

const NAMES: Record<keyof State, string> = {
	view: "v",
	fn: "f",
	k: "k",
	search: "q",
	groups: "g",
	module: "m",
	grade: "e",
	sort: "s",
	tab: "t",
	split: "p",
	callers: "c",
};

export function read(): State {
	const from = new URLSearchParams(location.hash.slice(1)),
		state: State = { ...START, groups: [] };
	for (const key of Object.keys(NAMES) as (keyof State)[]) {
		const value = from.get(NAMES[key]);
		if (value === null) continue;
		if (key === "k" || key === "callers") state[key] = Number(value) || START[key];
		else if (key === "groups") state.groups = value.split(",").filter(Boolean);
		else state[key] = value;
	}
	return state;
}

export function write(state: State): string {
	const to = new URLSearchParams();
	for (const key of Object.keys(NAMES) as (keyof State)[]) {
		const value = String(state[key]);
		if (value !== String(START[key])) to.set(NAMES[key], value);
	}
	return "#" + to.toString();
}
