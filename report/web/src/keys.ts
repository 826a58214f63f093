// SPDX-License-Identifier: GPL-3.0-or-later
//
// The keyboard, and the sheet that explains it.
import type { App } from "./app";
import { button, h } from "./dom";
import { columnsOf } from "./table";

const KEYS: [string, string][] = [
	["/", "find a function"],
	["\u2191 \u2193, k j", "go through the rows"],
	["Enter", "open the row"],
	["Escape", "back; in the table: clear the filters"],
	["\u2190 \u2192, [ ]", "smaller or larger inputs; in a function: the one before or behind"],
	["1 2 3 4 5", "functions, contexts, threads, changes, paths"],
	["c", "copy the command that shows the same in a terminal"],
	["d", "dark or light"],
	["?", "this sheet"],
];

export class Keys {
	private sheet: HTMLDialogElement | null = null;

	constructor(private app: App) {
		document.addEventListener("keydown", (event) => this.press(event));
	}

	private press(event: KeyboardEvent) {
		if (event.ctrlKey || event.metaKey || event.altKey || this.sheet?.open) return;
		const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
		if (typing ? this.whileTyping(event) : this.act(event)) event.preventDefault();
	}

	private whileTyping(event: KeyboardEvent): boolean {
		const input = event.target as HTMLInputElement;
		if (event.key === "Escape") {
			input.blur();
			if (input.value) this.app.go({ search: "" });
			return true;
		}
		if (event.key === "Enter" || event.key === "ArrowDown") {
			input.blur();
			if (this.app.isList) this.app.tableOfFunctions.move(1);
			return true;
		}
		return false;
	}

	private act(event: KeyboardEvent): boolean {
		const app = this.app,
			views = ["functions", "contexts", "threads", "changes", "paths"];
		switch (event.key) {
			case "/":
				app.focusSearch();
				return true;
			case "?":
				this.help();
				return true;
			case "d":
				app.setScheme(app.isDark() ? "light" : "dark");
				return true;
			case "c":
				document.querySelector<HTMLButtonElement>("footer button")?.click();
				return true;
			case "1":
			case "2":
			case "3":
			case "4":
			case "5":
				app.go({ view: views[Number(event.key) - 1], fn: "", search: "" });
				return true;
		}
		if (app.view?.key?.(event)) return true;
		return app.isList ? this.inList(event) : event.key === "Escape" && (app.back(), true);
	}

	private inList(event: KeyboardEvent): boolean {
		const table = this.app.tableOfFunctions;
		switch (event.key) {
			case "ArrowDown":
			case "j":
				table.move(1);
				return true;
			case "ArrowUp":
			case "k":
				table.move(-1);
				return true;
			case "Enter":
				return !(event.target instanceof HTMLButtonElement) && table.openSelected();
			case "ArrowRight":
			case "]":
				this.app.moveTimes(1);
				return true;
			case "ArrowLeft":
			case "[":
				this.app.moveTimes(-1);
				return true;
			case "Escape":
				this.app.clear();
				return true;
		}
		return false;
	}

	help() {
		const close = () => this.sheet?.close();
		this.sheet ??= h(
			"dialog",
			{ class: "sheet" },
			h("h2", null, "Keys"),
			h(
				"dl",
				null,
				KEYS.flatMap(([key, text]) => [h("dt", null, key), h("dd", null, text)]),
			),
			h("h2", null, "Columns"),
			h(
				"dl",
				null,
				columnsOf(this.app.model).flatMap((c) => [
					h("dt", null, c.id === "later" ? "at k\u00d7" : c.title),
					h("dd", null, c.means),
				]),
			),
			!this.app.model.sampled && h(
				"p",
				{ class: "under" },
				"Functions that will hurt stand in the order of the share that is foretold, times the evidence; the others by their share now. " +
					"docs/growth.md of slope says how growth is found and when nothing is said.",
			),
			button("close", "close", close),
		);
		if (!this.sheet.isConnected) document.body.append(this.sheet);
		this.sheet.showModal();
	}
}
