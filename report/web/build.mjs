// SPDX-License-Identifier: GPL-3.0-or-later
//
// build.mjs OUTPUT.c FOLDER
//
// Bundles the page (src/, style.css, uPlot and the virtual list from npm) into
// one HTML text and writes it as C. FOLDER holds the packages. Without them
// the C says why there is no page; that is no error.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [output, folder] = process.argv.slice(2).map((path) => resolve(path));
const HEAD =
	"/* SPDX-License-Identifier: GPL-3.0-or-later */\n/* Made by report/web/build.mjs. */\n" +
	'#include "report/page_template.h"\n\n';

// The packages of package-lock.json, fetched once and again when the list changes. A reason when that fails.
function fetchPackages() {
	const lock = readFileSync(join(here, "package-lock.json"));
	const stamp = join(folder, "fetched");
	if (existsSync(stamp) && readFileSync(stamp).equals(lock)) return null;
	mkdirSync(folder, { recursive: true });
	for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(here, name), join(folder, name));
	const done = spawnSync(
		"npm",
		["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=60000"],
		{ cwd: folder, encoding: "utf8" },
	);
	if (done.status === 0) {
		writeFileSync(stamp, lock);
		return null;
	}
	const said = (done.stderr || String(done.error)).split("\n").filter((line) => /error/i.test(line));
	return "npm could not fetch its packages (" + (said[0] || "no reason given").replace(/^npm (error|ERR!) */, "") + ")";
}

function hash(text) {
	return "'sha256-" + createHash("sha256").update(text).digest("base64") + "'";
}

// The notices that the packages' licences ask to keep.
function notices() {
	return ["uplot", "@tanstack/virtual-core"]
		.map((name) => {
			const text = readFileSync(join(folder, "node_modules", name, "LICENSE"), "utf8").trim();
			return `/*! ${name}\n${text.replaceAll("*/", "* /")}\n*/\n`;
		})
		.join("");
}

async function bundle(entry, more) {
	const esbuild = createRequire(join(folder, "package.json"))("esbuild");
	const made = await esbuild.build({
		entryPoints: [join(here, entry)],
		bundle: true,
		minify: true,
		write: false,
		charset: "ascii",
		target: ["es2022"],
		nodePaths: [join(folder, "node_modules")],
		logLevel: "error",
		...more,
	});
	return made.outputFiles[0].text;
}

async function makePage() {
	const script = notices() + (await bundle("src/main.ts", { format: "iife" }));
	const style = await bundle("style.css", { loader: { ".css": "css" } });
	if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error("the bundle would end its own element");
	const policy =
		`default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data: blob:; ` +
		"base-uri 'none'; form-action 'none'";
	return readFileSync(join(here, "page.html"), "utf8")
		.replace("{{policy}}", () => policy)
		.replace("{{style}}", () => style)
		.replace("{{script}}", () => script);
}

function asC(bytes, reason) {
	const lines = [];
	for (let i = 0; i < bytes.length; i += 32) lines.push("\t" + Array.from(bytes.subarray(i, i + 32)).join(","));
	return (
		HEAD +
		`const unsigned char slope_page_template[] = {\n${lines.join(",\n") || "\t0"}\n};\n` +
		`const size_t slope_page_template_bytes = ${bytes.length};\n` +
		`const char slope_page_absence[] = ${JSON.stringify(reason)};\n`
	);
}

const reason = fetchPackages();
if (reason) {
	console.error(`slope is built without the report page: ${reason}`);
	writeFileSync(output, asC(Buffer.alloc(0), reason.replace(/[^ -~]/g, "?")));
} else {
	writeFileSync(output, asC(Buffer.from(await makePage(), "utf8"), ""));
}
