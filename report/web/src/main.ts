// SPDX-License-Identifier: GPL-3.0-or-later
//
// The page: opens the data, and shows what the address asks for.
import { h } from "./dom";
import { Model } from "./model";
import { App } from "./app";

const page = document.getElementById("page")!;

function fail(reason: unknown) {
	const text = reason instanceof Error ? reason.message : String(reason);
	page.replaceChildren(
		h("p", { class: "wait" }, `This page cannot be shown: ${text}`),
		h(
			"p",
			{ class: "wait" },
			"The profile in it may still be whole: 'slope report' with the name of this file tries to read it.",
		),
	);
}

async function start() {
	const model = await Model.open();
	const app = new App(model, page);
	app.start();
	performance.mark("slope-first-screen");
	await new Promise<void>((ready) =>
		document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", () => ready()) : ready(),
	);
	await model.openRest();
	app.refresh();
	await model.openProfile();
	performance.mark("slope-ready");
	document.documentElement.dataset.ready = "yes";
	app.refresh();
}

start().catch(fail);
