// SPDX-License-Identifier: GPL-3.0-or-later
//
// web.mjs PAGE
//
// Opens a page once and goes through it; prints how long it took, as JSON.
// Tasks are those that the browser reports as long (50 ms and more); 0: none.
import { createRequire } from "node:module";
import { join } from "node:path";

const { chromium } = createRequire(join(process.env.PACKAGES, "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
page.on("pageerror", (error) => {
	throw error;
});
await page.addInitScript(() => {
	window.tasks = [];
	new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({
		type: "longtask",
		buffered: true,
	});
});

// The longest task since the last question.
async function longest() {
	await page.waitForTimeout(150);
	return page.evaluate(() => Math.max(0, ...window.tasks.splice(0)));
}

await page.goto(`file://${process.argv[2]}`);
await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", null, { timeout: 120000 });
const marks = await page.evaluate(() =>
	Object.fromEntries(performance.getEntriesByType("mark").map((mark) => [mark.name, mark.startTime])),
);
const figures = { first_ms: marks["slope-first-screen"], ready_ms: marks["slope-ready"], open_task_ms: await longest() };
if ((await page.locator("a.row svg.thumb").count()) < 5) throw new Error("the first screen has no plots");

await page.mouse.move(640, 500);
for (let i = 0; i < 60; i++) {
	await page.mouse.wheel(0, i % 2 ? 700 : 3000);
	await page.waitForTimeout(30);
}
await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
await page.waitForTimeout(100);
if ((await page.locator("a.row").count()) < 5) throw new Error("no rows after scrolling");
figures.scroll_task_ms = await longest();

await page.evaluate(() => scrollTo(0, 0));
for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
await page.fill("input[type=search]", "merge");
await page.fill("input[type=search]", "");
await page.click(".head .c-name");
await page.click(".head .c-name");
figures.rank_task_ms = await longest();

await page.click("a.row >> nth=0");
await page.waitForSelector(".cost-plot canvas");
figures.function_task_ms = await longest();

await page.keyboard.press("2");
await page.waitForSelector(".icicle canvas");
await page.click(".icicle canvas", { position: { x: 100, y: 60 } });
await page.fill("input[type=search]", "parse");
figures.contexts_task_ms = await longest();
figures.heap_mb = await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6);
await browser.close();
console.log(JSON.stringify(figures));
