// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tables as CSV files.
import { button } from "./dom";

function field(value: unknown): string {
	const text = value === null || value === undefined ? "" : String(value);
	return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(head: string[], rows: unknown[][]): string {
	return [head, ...rows].map((row) => row.map(field).join(",")).join("\n") + "\n";
}

export function save(name: string, text: string) {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function csvButton(name: string, head: string[], rows: () => unknown[][]): HTMLButtonElement {
	return button("CSV", "save this table as CSV", () => save(`${name}.csv`, csv(head, rows())), { class: "plain csv" });
}
