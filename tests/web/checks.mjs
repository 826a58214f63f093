// SPDX-License-Identifier: GPL-3.0-or-later
//
// checks.mjs FOLDER [CHECK...]
//
// Each check makes one claim about a page; its name says which.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Session, rows, saved } from "./browser.mjs";

const [folder, ...wanted] = process.argv.slice(2);
const session = new Session(folder);
const checks = {};

const visible = (page) =>
	page.$$eval("a.row", (list) =>
		list
			.map((row) => ({
				row: Number(row.dataset.row),
				top: row.getBoundingClientRect().top,
				name: row.querySelector(".name").textContent,
			}))
			.sort((a, b) => a.top - b.top),
	);
const functionsCsv = (page) => saved(page, () => page.click(".list .chip.plain"));
const names = (list) => list.map((f) => f.name ?? f.function);

async function openFunction(page, name) {
	await page.click(`a.row:has(.name:text-is("${name}"))`);
	await page.waitForSelector(".fn-name");
}

function inReport(report, times) {
	return report.functions.map((f) => ({ name: f.name, group: f.group, later: f.share[`at_${times}x`] }));
}

// ---- the first screen ----

checks["opens from disk without a word on the console"] = async () => {
	for (const file of ["wf.html", "threads.html", "true.html"]) {
		const page = await session.open(file);
		assert.match(await page.title(), /^slope: /);
		await session.shot(page, file.replace(".html", "-first"));
		await session.close(page);
	}
};

checks["says what ran, how it was measured, and what was lost"] = async () => {
	const page = await session.open("wf.html"),
		text = await page.innerText("header"),
		report = session.json("report", "--json", "wf.data");
	assert.match(text, /\.\/wf text/);
	for (const word of [
		report.source,
		report.cost_unit,
		report.input_metric,
		"cells of 4 bytes",
		"exit status 0",
		"lost nothing",
	])
		assert.ok(text.includes(word), `${word} in ${text}`);
	await session.close(page);
};

checks["ranks as slope report does"] = async () => {
	const page = await session.open("wf.html"),
		report = session.json("report", "--json", "wf.data");
	const table = await functionsCsv(page);
	assert.deepEqual(names(table), names(report.functions));
	assert.deepEqual(
		table.map((f) => f.group),
		report.functions.map((f) => f.group),
	);
	const shown = await visible(page);
	assert.ok(shown.length >= 8);
	assert.deepEqual(
		shown.map((r) => r.row),
		shown.map((_, i) => i),
	);
	assert.deepEqual(names(shown), names(report.functions).slice(0, shown.length));
	assert.equal(await page.innerText("a.row[data-row='0'] .order"), "n2 \u2026 n2 log n");
	assert.equal(await page.innerText("a.row[data-row='0'] .order sup >> nth=0"), "2");
	await session.close(page);
};

checks["the slider ranks as slope report --times does"] = async () => {
	const page = await session.open("wf.html");
	const stops = await page.$eval(".slider input", (input) => Number(input.max) + 1);
	for (const [stop, times] of [
		[0, 2],
		[stops - 1, 1000],
		[6, 100],
	]) {
		await page.$eval(
			".slider input",
			(input, value) => {
				input.value = value;
				input.dispatchEvent(new Event("input"));
			},
			stop,
		);
		assert.match(await page.innerText(".times"), new RegExp(` ${times === 1000 ? "1\\s000" : times}$`));
		const table = await functionsCsv(page),
			expected = inReport(session.json("report", "--json", `--times=${times}`, "wf.data"), times);
		assert.deepEqual(names(table), names(expected));
		assert.deepEqual(
			table.map((f) => f.group),
			expected.map((f) => f.group),
		);
		table.forEach((f, i) =>
			assert.ok(
				expected[i].later === null
					? f[`share_at_${times}x`] === ""
					: Math.abs(Number(f[`share_at_${times}x`]) - expected[i].later) < 6e-4,
				`${f.function}: ${f[`share_at_${times}x`]}, ${expected[i].later}`,
			),
		);
	}
	assert.match(await page.evaluate(() => location.hash), /k=100/);
	const later = await page.innerText("a.row[data-row='0'] .c-later");
	await page.keyboard.press("ArrowLeft");
	assert.match(await page.innerText(".times"), / 50$/);
	assert.notEqual(await page.innerText("a.row[data-row='0'] .c-later"), later);
	await session.close(page);
};

checks["finds, filters and sorts"] = async () => {
	const page = await session.open("wf.html");
	await page.keyboard.press("/");
	await page.keyboard.type("word");
	const found = names(await visible(page));
	assert.ok(found.includes("count_word") && found.includes("next_word") && !found.includes("str_tolower"), String(found));
	assert.match(await page.evaluate(() => location.hash), /q=word/);
	await page.keyboard.press("Escape");
	await page.click(".chip:has-text('will hurt')");
	assert.deepEqual(names(await visible(page)), ["str_tolower"]);
	await page.click(".chip:has-text('unclear')");
	assert.deepEqual(names(await visible(page)), ["str_tolower", "main"]);
	await page.keyboard.press("Escape");
	await page.click(".chip:has-text('[wf]')");
	const report = session.json("report", "--json", "wf.data");
	assert.deepEqual(names(await functionsCsv(page)), names(report.functions.filter((f) => f.module === "wf")));
	await page.click(".chip:has-text('[wf]')");
	await page.click(".chip:has-text('evidence')");
	assert.ok((await functionsCsv(page)).every((f) => f.grade === "A" || f.grade === "B"));
	await page.keyboard.press("Escape");
	await page.click(".head .c-name");
	const sorted = names(await functionsCsv(page));
	assert.deepEqual(
		sorted,
		[...sorted].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
	);
	await page.fill("input[type=search]", "no such function");
	assert.match(await page.innerText(".none"), /No function passes the filters/);
	await session.close(page);
};

checks["goes by the keyboard"] = async () => {
	const page = await session.open("wf.html");
	for (const key of ["ArrowDown", "j", "k", "ArrowDown"]) await page.keyboard.press(key);
	const second = await page.innerText("a.row.selected .name");
	assert.equal(second, session.json("report", "--json", "wf.data").functions[1].name);
	await page.keyboard.press("Enter");
	assert.equal(await page.innerText(".fn-name"), second);
	await page.keyboard.press("ArrowLeft");
	assert.equal(await page.innerText(".fn-name"), "str_tolower");
	await page.keyboard.press("Escape");
	assert.equal(await page.innerText("a.row.selected .name"), "str_tolower");
	await page.keyboard.press("?");
	assert.ok(await page.isVisible("dialog.sheet"));
	await session.shot(page, "help");
	await page.keyboard.press("Escape");
	assert.ok(!(await page.isVisible("dialog.sheet")));
	for (const [key, view] of [
		["2", "contexts"],
		["3", "threads"],
		["4", "changes"],
		["1", "functions"],
	]) {
		await page.keyboard.press(key);
		assert.equal(await page.getAttribute("#page", "data-view"), view);
	}
	await session.close(page);
};

// docs/page.png is this picture, with fewer colours.
checks["makes the README's picture"] = async () => {
	const page = await session.open("wf.html", "", { viewport: { width: 1200, height: 660 } });
	await page.$eval("footer", (footer) => footer.remove());
	await session.shot(page, "readme");
	await session.close(page);
};

// ---- one function ----

// What slope exports of a function, sizes of all threads and contexts added up.
function exported(name, file) {
	const by = new Map();
	for (const row of rows(session.slope("export", "--format=csv", file))) {
		if (row.function !== name || row.metric !== "trms" || row.unit !== "ir") continue;
		const at = by.get(row.n) ?? { n: Number(row.n), calls: 0, min: Infinity, max: 0, sum: 0, squares: 0 };
		by.set(row.n, {
			n: at.n,
			calls: at.calls + Number(row.calls),
			min: Math.min(at.min, row.min),
			max: Math.max(at.max, row.max),
			sum: at.sum + Number(row.sum),
			squares: at.squares + Number(row.sumsq),
		});
	}
	return [...by.values()].sort((a, b) => a.n - b.n);
}

checks["the function view has the values of slope export"] = async () => {
	for (const [file, data, name] of [
		["wf.html", "wf.data", "str_tolower"],
		["wf.html", "wf.data", "count_word"],
		["threads.html", "threads.data", "transform"],
	]) {
		const page = await session.open(file),
			expected = exported(name, data);
		await page.fill("input[type=search]", name);
		await openFunction(page, name);
		const points = await saved(page, () => page.click(".save-points"));
		assert.equal(points.length, expected.length);
		points.forEach((p, i) => {
			for (const key of ["n", "calls", "min", "max", "sum"])
				assert.equal(Number(p[key]), expected[i][key], `${name} n=${p.n} ${key}`);
			const e = expected[i],
				deviation = Math.sqrt(Math.max(0, e.squares / e.calls - (e.sum / e.calls) ** 2));
			assert.ok(
				Math.abs(Number(p.deviation) - deviation) <= 1e-6 * (1 + e.max),
				`${name} n=${p.n}: ${p.deviation}, ${deviation}`,
			);
		});
		await page.click("details.points summary");
		await page.waitForSelector("details.points tbody tr");
		const shown = await page.$$eval("details.points tbody tr", (list) =>
			list.map((tr) => [...tr.cells].map((td) => Number(td.textContent.replaceAll(/\s/g, "")))),
		);
		assert.equal(shown.length, Math.min(500, expected.length));
		shown.forEach((cells, i) =>
			assert.deepEqual(
				cells.slice(0, 5),
				["n", "calls", "min", "max", "sum"].map((key) => expected[i][key]),
			),
		);
		await session.close(page);
	}
};

checks["hovering says exact values"] = async () => {
	const page = await session.open("wf.html"),
		expected = new Map(exported("str_tolower", "wf.data").map((p) => [p.n, p]));
	await openFunction(page, "str_tolower");
	const box = await page.locator(".cost-plot .u-over").boundingBox();
	let seen = 0;
	for (let part = 0.05; part < 1; part += 0.15) {
		await page.mouse.move(box.x + box.width * part, box.y + box.height / 2);
		const text = (await page.innerText(".readout")).replaceAll(/(\d)\s(?=\d{3})/g, "$1"),
			value = (key) => Number(new RegExp(`\\b${key} ([0-9.]+)`).exec(text)?.[1]);
		const point = expected.get(value("n"));
		assert.ok(point, text);
		assert.equal(value("calls"), point.calls);
		assert.equal(value("worst"), point.max);
		assert.equal(value("best"), point.min);
		assert.ok(Math.abs(value("mean") / (point.sum / point.calls) - 1) < 1e-5, text);
		seen++;
	}
	assert.ok(seen > 5);
	await session.shot(page, "function");
	await session.close(page);
};

checks["shows growth, explanation, neighbours and source as the verbs do"] = async () => {
	const page = await session.open("wf.html"),
		shown = session.json("show", "--json", "str_tolower", "wf.data");
	await openFunction(page, "str_tolower");
	const text = await page.innerText(".function");
	assert.match(text, /is called n times at n each: 9\d\.\d% of the growth/);
	assert.match(text, /str_tolower calls \S*strlen\S* more and more often, and each call has more to do\./);
	for (const one of [...shown.callers, ...shown.callees]) assert.ok(text.includes(one.name), one.name);
	assert.ok(text.includes("word[i] = (char)tolower((unsigned char)word[i]);"));
	assert.ok(text.includes("B, 0.4"));
	for (const side of ["callers", "callees"]) {
		const table = await saved(page, () => page.click(`.${side} .csv`));
		assert.deepEqual(
			table.map((e) => [e.function, Number(e.calls), Number(e.cost)]),
			shown[side].map((e) => [e.name, e.calls, e.cost]),
		);
	}
	await page.click(".callers a.link");
	assert.equal(await page.innerText(".fn-name"), shown.callers[0].name);
	await page.goBack();
	assert.equal(await page.innerText(".fn-name"), "str_tolower");
	await session.close(page);
};

checks["tabs, log axes, layers and splits redraw the plot"] = async () => {
	const page = await session.open("wf.html");
	await openFunction(page, "str_tolower");
	const picture = () => page.$eval(".cost-plot canvas", (canvas) => canvas.toDataURL());
	let last = await picture();
	for (const chip of ["log n", "log cost", "worst", "fit", "nearest classes", "from main"]) {
		await page.click(`.plots .chip:text-is("${chip}")`);
		const now = await picture();
		assert.notEqual(now, last, chip);
		last = now;
	}
	const box = await page.locator(".cost-plot .u-over").boundingBox();
	await page.mouse.move(box.x + 100, box.y + 50);
	await page.mouse.down();
	await page.mouse.move(box.x + 300, box.y + 60, { steps: 4 });
	await page.mouse.up();
	const zoomed = await picture();
	assert.notEqual(zoomed, last, "a drag zooms");
	await page.mouse.dblclick(box.x + 100, box.y + 50);
	assert.notEqual(await picture(), zoomed, "a double click goes back");
	await page.click(".plots .chip:text-is('guess ratio')");
	assert.equal(
		await page.locator(".guess-plot canvas").count(),
		session.json("show", "--json", "str_tolower", "wf.data").guesses.length,
	);
	assert.match(await page.innerText(".plots"), /levels off|open|falls|rises/);
	await session.shot(page, "guesses");
	await page.click(".plots .chip:text-is('residuals')");
	assert.equal(await page.locator(".residual-plot canvas").count(), 1);
	await session.close(page);
};

// ---- contexts, threads, changes ----

checks["contexts: frames, pivot and search agree with slope contexts"] = async () => {
	const page = await session.open("wf.html", "#v=contexts"),
		said = session.json("contexts", "--json", "--by=total", "--similar=0", "wf.data");
	const frames = await saved(page, () => page.click(".contexts .chip.plain"));
	const tolower = said.functions.find((f) => f.name === "str_tolower");
	const frame = frames.find((f) => f.function === "str_tolower");
	assert.equal(Number(frame.total), tolower.cost.total);
	assert.equal(Number(frame.calls), tolower.calls);
	await session.shot(page, "contexts");
	await page.fill("input[type=search]", "strlen");
	assert.match(await page.innerText(".readout"), /"strlen" is in \d+ contexts? with \d+\.\d% of the run/);
	await session.shot(page, "contexts-search");
	await page.keyboard.press("Escape");
	// The widest frame at the level of str_tolower: a click on it pivots.
	const canvas = await page.locator(".icicle canvas").boundingBox(),
		level = Number(frame.level);
	await page.mouse.click(canvas.x + 20, canvas.y + 21 * level + 10);
	assert.match(await page.innerText(".pivot"), /str_tolower/);
	const pivoted = await saved(page, () => page.click(".contexts .chip.plain"));
	assert.deepEqual(
		pivoted.filter((f) => Number(f.level) === -1).map((f) => f.function),
		["main"],
	);
	const callees = pivoted.filter((f) => Number(f.level) === 1).map((f) => f.function);
	assert.deepEqual(
		callees,
		session.json("show", "--json", "str_tolower", "wf.data").callees.map((f) => f.name),
	);
	await session.shot(page, "pivot");
	await page.click(".contexts .chip:text-is('1')");
	const one = await saved(page, () => page.click(".contexts .chip.plain"));
	assert.equal(Math.min(...one.map((f) => Number(f.level))), -1);
	await page.keyboard.press("Escape");
	assert.ok(!(await page.isVisible(".pivot")));
	await session.close(page);
};

checks["a sampled profile: paths first, then what there is, and no word of growth"] = async () => {
	if (!existsSync(join(folder, "sampled.html"))) return;
	const page = await session.open("sampled.html"),
		report = session.json("report", "--json", "sampled.data");
	await page.waitForSelector(".icicle canvas");
	assert.equal(await page.innerText(".tabs [aria-current=page]"), "Call paths");
	await page.locator(".icicle canvas").focus();
	for (let i = 0; i < 7; i++) await page.keyboard.press("ArrowDown");
	const said = await page.innerText(".readout");
	assert.match(said, /of the run.*self.*seen.*per call/s);
	assert.doesNotMatch(said, /grows/);
	await session.shot(page, "sampled-paths");
	await page.click(".tabs a:text-is('Functions')");
	await page.waitForSelector("a.row");
	const heads = await page.$$eval(".row.head [role=columnheader]", (list) => list.map((one) => one.textContent));
	assert.deepEqual(heads, ["function", "self", "total", "seen", "per call"]);
	assert.equal(await page.locator(".slider").count(), 0);
	assert.equal(await page.locator(".group").count(), 0);
	const by = [...report.functions].sort((a, b) => b.cost.self - a.cost.self),
		shown = await visible(page);
	assert.equal(shown[0].name, by[0].name);
	assert.equal(by[0].name, "inner [inlined]");
	const table = await functionsCsv(page);
	assert.deepEqual(
		table.map((f) => Number(f.self)),
		by.map((f) => f.cost.self),
	);
	await page.click(".row.head .c-now");
	const most = Math.max(...report.functions.map((f) => f.cost.total));
	assert.equal(report.functions[(await visible(page))[0].row].cost.total, most);
	await session.shot(page, "sampled-functions");
	await openFunction(page, "leaf");
	const view = await page.innerText(".view, main");
	assert.match(view, /calls seen/);
	assert.match(view, /Sampled: time by call path/);
	assert.doesNotMatch(view, /evidence|exponent|What makes it grow|no points/);
	assert.match(await page.innerText(".callers"), /outer/);
	await session.shot(page, "sampled-function");
	await session.close(page);
};

checks["contexts: a recursion counts once"] = async () => {
	const page = await session.open("recursion.html", "#v=contexts"),
		said = session.json("contexts", "--json", "--by=total", "--similar=0", "recursion.data");
	for (const name of ["fib", "even"]) {
		const row = session.json("report", "--json", "recursion.data").functions.find((f) => f.name === name);
		await page.evaluate(
			(hash) => {
				location.hash = hash;
			},
			`#v=contexts&f=${row.module_index}.${row.offset.toString(16)}`,
		);
		await page.waitForSelector(`.pivot a:text-is("${name}")`);
		const frames = await saved(page, () => page.click(".contexts .chip.plain")),
			pivot = frames.find((f) => f.level === "0");
		const expected = said.functions.find((f) => f.name === name);
		assert.equal(Number(pivot.total), expected.cost.total);
		assert.ok(frames.some((f) => f.level === "2"));
		assert.ok(frames.every((f) => Number(f.total) <= expected.cost.total));
	}
	await session.shot(page, "recursion");
	await session.close(page);
};

checks["a page that is cut off shows what it has and says so"] = async () => {
	const whole = readFileSync(join(folder, "wf.html"));
	writeFileSync(join(folder, "cut.html"), whole.subarray(0, whole.length - 3000));
	const page = await session.open("cut.html");
	assert.match(await page.innerText("header .lost"), /cut off or damaged/);
	assert.equal((await visible(page))[0].name, "str_tolower");
	await openFunction(page, "str_tolower");
	assert.match(await page.innerText(".plots"), /cannot be read/);
	await session.close(page);
	writeFileSync(join(folder, "cut.html"), whole.subarray(0, 60000));
	const nothing = await session.browser.newPage();
	await nothing.goto(`file://${join(folder, "cut.html")}`);
	assert.match(await nothing.innerText("body"), /^\s*Opening the profile … If nothing follows, this file is not whole\.\s*$/);
	await nothing.close();
};

checks["an empty profile says why there is nothing"] = async () => {
	const page = await session.open("empty.html");
	assert.match(await page.innerText(".lede"), /No function was recorded/);
	assert.match(await page.innerText(".none"), /no function/);
	for (const view of ["contexts", "threads"]) {
		await page.evaluate((hash) => {
			location.hash = hash;
		}, `#v=${view}`);
		await page.waitForSelector(`.${view}`);
		assert.ok((await page.innerText(`.${view}`)).length > 20);
	}
	await session.close(page);
};

checks["contexts of slabs, and of none, are explained"] = async () => {
	let page = await session.open("threads.html", "#v=contexts");
	assert.match(await page.innerText(".contexts"), /paths of 2 callers/);
	await session.shot(page, "slabs");
	await session.close(page);
	page = await session.open("true.html", "#v=contexts");
	assert.match(await page.innerText(".contexts"), /slope record --contexts true/);
	await session.close(page);
};

checks["paths: the lines and numbers of slope paths"] = async () => {
	if (!existsSync(join(folder, "paths.html"))) return;
	const page = await session.open("paths.html", "#v=paths"),
		said = session.json("paths", "--json", "paths.data");
	const table = await saved(page, () => page.click(".paths button.plain"));
	assert.ok(table.length > 0);
	assert.deepEqual(
		table.map((p) => [p.function, p.number, Number(p.count), p.kind]),
		said.paths.map((p) => [p.function, String(p.number), p.count, p.kind]),
	);
	const text = session
		.slope("paths", "--top=0", "paths.data")
		.replaceAll(/\s/g, "")
		.replaceAll("─", "\u2500")
		.replaceAll("→", "\u2192")
		.replaceAll("->", "\u2192");
	for (const path of table)
		assert.ok(
			text
				.replaceAll(/-(?=taken|nottaken|case|loopback|cut)/g, "\u2500")
				.includes(path.lines.replaceAll(/\s/g, "")),
			path.lines,
		);
	await session.shot(page, "paths");
	await page.click(".path-table a.link >> nth=0");
	const shown = await page.innerText(".hot-paths");
	assert.match(shown, /\d+ of \d+ paths executed/);
	assert.equal(
		await page.locator(".hot-paths tbody tr").count(),
		said.paths.filter((p) => p.function === said.paths[0].function).length,
	);
	await session.close(page);
	const only = await session.open("only.html");
	assert.match(await only.innerText(".paths"), /Hot paths/);
	await session.close(only);
	const none = await session.open("wf.html", "#v=paths");
	assert.match(await none.innerText(".paths"), /slope record --paths/);
	await session.close(none);
};

checks["threads: who feeds whom, as slope threads has it"] = async () => {
	const page = await session.open("threads.html", "#v=threads"),
		said = session.json("threads", "--json", "threads.data");
	const text = await page.innerText(".threads");
	assert.match(text, new RegExp(`^${said.threads.length} threads`));
	const table = await saved(page, () => page.click(".threads p button.plain:text-is('CSV')"));
	const threads = await saved(page, () => page.click(".threads h2 .csv"));
	assert.deepEqual(
		threads.map((t) => [Number(t.id), Number(t.cost), Number(t.thread)]),
		said.threads.map((t) => [t.id, t.cost.ir, t.input.thread]),
	);
	const fed = said.functions.filter((f) => f.input.thread + f.input.external > 0);
	assert.deepEqual(
		table.map((f) => [f.function, Number(f.thread), Number(f.external)]),
		fed.map((f) => [f.name, f.input.thread, f.input.external]),
	);
	assert.ok((await page.locator("[data-curve] canvas").count()) >= 4);
	await session.shot(page, "threads");
	await session.close(page);
};

checks["changes: the words, both clouds, and the order of slope diff"] = async () => {
	const page = await session.open("wf.html", "#v=changes"),
		diff = session.json("diff", "--json", "--top=0", "mended.data", "wf.data");
	const listed = await page.$$eval(".change-table tbody tr td:first-child", (list) => list.map((td) => td.textContent));
	assert.deepEqual(listed, names(diff.functions));
	assert.match(await page.innerText(".change"), /Grows faster: n .* before, n\u00b2 .* now/);
	assert.equal(await page.locator(".change canvas").count(), 1);
	await session.shot(page, "changes");
	await page.keyboard.press("ArrowDown");
	assert.equal(await page.innerText(".change h2"), diff.functions[1].name);
	await session.close(page);
	const alone = await session.open("threads.html", "#v=changes");
	assert.match(await alone.innerText(".changes"), /--baseline=OLD/);
	await session.close(alone);
};

// ---- manners ----

checks["the address brings back what was seen"] = async () => {
	let page = await session.open("wf.html");
	await openFunction(page, "count_word");
	await page.click(".plots .chip:text-is('residuals')");
	const hash = await page.evaluate(() => location.hash);
	await session.close(page);
	page = await session.open("wf.html", hash);
	assert.equal(await page.innerText(".fn-name"), "count_word");
	assert.equal(await page.locator(".residual-plot canvas").count(), 1);
	await page.click(".tabs a:has-text('Contexts')");
	await page.goBack();
	assert.equal(await page.innerText(".fn-name"), "count_word");
	await session.close(page);
};

checks["names the command that shows the same"] = async () => {
	const page = await session.open("wf.html");
	await openFunction(page, "str_tolower");
	const command = await page.innerText(".command");
	assert.equal(command, "slope show str_tolower wf.data");
	assert.match(session.slope(...command.split(" ").slice(1)), /str_tolower/);
	await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
	await page.keyboard.press("c");
	await page.waitForSelector("footer button:text-is('copied')");
	await session.close(page);
};

checks["dark and light, chosen and by the system"] = async () => {
	const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const dark = await session.open("wf.html", "", { colorScheme: "dark" });
	assert.equal(await paper(dark), "rgb(22, 24, 26)");
	await session.shot(dark, "dark");
	await openFunction(dark, "str_tolower");
	await session.shot(dark, "dark-function");
	await dark.keyboard.press("d");
	assert.equal(await paper(dark), "rgb(255, 255, 255)");
	await session.close(dark);
	const light = await session.open("wf.html", "#v=contexts");
	assert.equal(await paper(light), "rgb(255, 255, 255)");
	await light.keyboard.press("d");
	assert.equal(await paper(light), "rgb(22, 24, 26)");
	await session.shot(light, "dark-contexts");
	await session.close(light);
};

checks["fits a phone and prints"] = async () => {
	for (const [hash, name] of [
		["", "list"],
		["#v=contexts", "contexts"],
		["#v=threads", "threads"],
		["#v=changes", "changes"],
	]) {
		const page = await session.open("wf.html", hash, { viewport: { width: 390, height: 780 } });
		const wide = await page.evaluate(() => document.documentElement.scrollWidth);
		assert.ok(wide <= 390, `${name} is ${wide} wide`);
		await session.shot(page, `phone-${name}`);
		if (!hash) {
			await openFunction(page, "str_tolower");
			assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
			await session.shot(page, "phone-function");
		}
		await session.close(page);
	}
	const page = await session.open("wf.html");
	await page.emulateMedia({ media: "print" });
	assert.ok(!(await page.isVisible("footer")) && !(await page.isVisible(".tools")));
	await page.waitForFunction(() => document.querySelectorAll("a.row").length > 150);
	assert.ok(await page.isVisible("a.row[data-row='0']"));
	await session.shot(page, "print");
	await page.emulateMedia({ media: "screen" });
	await page.waitForFunction(() => document.querySelectorAll("a.row").length < 50);
	await session.close(page);
};

checks["nothing depends on colour alone"] = async () => {
	const page = await session.open("wf.html");
	for (const row of await page.$$("a.row")) assert.match(await row.innerText(), /%/);
	const frames = await session.open("wf.html", "#v=contexts");
	assert.match(await frames.innerText(".legend"), /n log n/);
	await frames.hover(".icicle canvas", { position: { x: 30, y: 50 } });
	assert.match(await frames.innerText(".readout"), /grows like/);
	await session.close(frames);
	await session.close(page);
};

// ---- what a stranger's profile may hold ----

checks["hostile names stay text"] = async () => {
	for (const hash of ["", "#v=contexts", "#v=threads"]) {
		const page = await session.open("hostile.html", hash),
			report = session.json("report", "--json", "hostile.data");
		if (!hash) {
			const shown = await visible(page);
			assert.deepEqual(names(shown), names(report.functions).slice(0, shown.length));
			for (let i = 0; i < 6; i++) {
				await page.click(`a.row[data-row='${i}']`);
				assert.equal(await page.textContent(".fn-name"), report.functions[i].name);
				if (i === 0) await session.shot(page, "hostile-function");
				await page.keyboard.press("Escape");
			}
			assert.deepEqual(names(await functionsCsv(page)), names(report.functions));
		}
		await session.shot(page, `hostile${hash.replace("#v=", "-")}`);
		assert.equal(await page.evaluate(() => window.hurt), undefined);
		assert.equal(await page.locator("#page img, #page script, #page iframe").count(), 0);
		assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1280);
		await session.close(page);
	}
};

checks["the policy forbids the network and foreign scripts"] = async () => {
	const page = await session.open("wf.html");
	const policy = await page.getAttribute("meta[http-equiv]", "content");
	assert.match(
		policy,
		/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data: blob:; base-uri 'none'; form-action 'none'$/,
	);
	const tried = await page.evaluate(async () => {
		const script = document.createElement("script");
		script.textContent = "window.hurt = 1";
		document.body.append(script);
		return [
			window.hurt,
			await fetch("http://127.0.0.1:9/").then(
				() => "sent",
				() => "refused",
			),
		];
	});
	assert.deepEqual(tried, [undefined, "refused"]);
	assert.ok(
		page.wrong.every((line) => /Content Security Policy|Refused|violates/i.test(line)) && page.wrong.length >= 2,
		String(page.wrong),
	);
	page.wrong = [];
	await session.close(page);
};

checks["every verb reads the page"] = async () => {
	for (const verb of [
		["report", "--json"],
		["report", "--json", "--times=100"],
		["show", "--json", "str_tolower"],
		["explain", "--json", "str_tolower"],
		["contexts", "--json"],
		["threads", "--json"],
		["export", "--format=csv"],
		["export", "--format=json"],
	])
		assert.equal(
			session.slope(...verb, "wf.html"),
			session.slope(...verb, "wf.data").replaceAll("wf.data", "wf.html"),
			verb.join(" "),
		);
	assert.equal(session.json("diff", "--json", "mended.data", "wf.html").counts.growth_worse, 1);
	session.slope("merge", "-o", "merged.data", "wf.html", "wf.data");
	assert.equal(session.json("report", "--json", "merged.data").runs, 2);
	session.slope("html", "-o", "again.html", "wf.html");
	assert.equal(session.slope("export", "--format=json", "again.html"), session.slope("export", "--format=json", "wf.data"));
};

await session.start();
let failed = 0,
	passed = 0;
for (const [name, check] of Object.entries(checks)) {
	if (wanted.length && !wanted.some((word) => name.includes(word))) continue;
	try {
		await check();
		passed++;
	} catch (error) {
		failed++;
		console.log(
			`FAILED: ${name}\n    ${String(error.stack ?? error)
				.split("\n")
				.slice(0, 30)
				.join("\n    ")}`,
		);
	}
}
await session.browser.close();
console.log(`web: ${passed} passed, ${failed} failed; screenshots in ${folder}/screenshots`);
process.exit(failed || !passed ? 1 : 0);
