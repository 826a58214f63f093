// SPDX-License-Identifier: GPL-3.0-or-later
//
// A browser for the checks, and what slope says of the same files.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

export class Session {
	constructor(folder) {
		this.folder = folder;
		this.chromium = createRequire(join(folder, "package.json"))("playwright-core").chromium;
	}

	async start() {
		this.browser = await this.chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
	}

	// A page that was opened from disk and stands; whatever goes wrong in it fails the check.
	async open(file, hash = "", options = {}) {
		const context = await this.browser.newContext({
			viewport: { width: 1280, height: 720 },
			acceptDownloads: true,
			...options,
		});
		const page = await context.newPage();
		page.wrong = [];
		page.on("console", (message) => {
			if (["error", "warning"].includes(message.type())) page.wrong.push(`console: ${message.text()}`);
		});
		page.on("pageerror", (error) => page.wrong.push(`error: ${error.message}`));
		page.on("request", (request) => {
			if (!/^(file|blob|data):/.test(request.url())) page.wrong.push(`request: ${request.url()}`);
		});
		await page.goto(`file://${join(this.folder, file)}${hash}`);
		await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", null, { timeout: 30000 });
		return page;
	}

	async close(page) {
		assert.deepEqual(page.wrong, []);
		await page.context().close();
	}

	shot(page, name) {
		return page.screenshot({ path: join(this.folder, "screenshots", `${name}.png`) });
	}

	slope(...words) {
		return execFileSync(process.env.SLOPE, words, {
			cwd: this.folder,
			encoding: "utf8",
			maxBuffer: 1 << 28,
			stdio: ["ignore", "pipe", "ignore"],
		});
	}

	json(...words) {
		return JSON.parse(this.slope(...words));
	}
}

// What a press saves.
export async function saved(page, press) {
	const [download] = await Promise.all([page.waitForEvent("download"), press()]);
	return rows(readFileSync(await download.path(), "utf8"));
}

// CSV as objects.
export function rows(text) {
	const lines = [];
	let line = [""],
		quoted = false;
	for (let i = 0; i < text.length; i++) {
		const c = text[i];
		if (quoted && c === '"' && text[i + 1] === '"') line[line.length - 1] += text[++i];
		else if (c === '"') quoted = !quoted;
		else if (c === "," && !quoted) line.push("");
		else if (c === "\n" && !quoted) (lines.push(line), (line = [""]));
		else line[line.length - 1] += c;
	}
	const [head, ...body] = lines;
	return body.map((fields) => Object.fromEntries(head.map((name, i) => [name, fields[i]])));
}
