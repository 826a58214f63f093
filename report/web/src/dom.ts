// SPDX-License-Identifier: GPL-3.0-or-later
//
// Elements, made by hand. Text always becomes a text node: nothing that comes
// from a profile is ever read as HTML.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
	tag: K,
	attributes?: Attributes | null,
	...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (value === null || value === undefined || value === false) continue;
		if (typeof value === "function") element.addEventListener(name, value as EventListener);
		else element.setAttribute(name, value === true ? "" : String(value));
	}
	add(element, children);
	return element;
}

export function add(parent: Element, children: (Child | Child[])[]) {
	for (const child of children.flat()) if (child !== null && child !== undefined && child !== false) parent.append(child);
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag: string, attributes: Record<string, string | number>, ...children: Node[]): SVGElement {
	const element = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
	element.append(...children);
	return element;
}

export function button(text: string, title: string, press: () => void, more?: Attributes): HTMLButtonElement {
	return h("button", { type: "button", title, click: press, ...more }, text);
}

// A share as a bar behind its number; the number carries the meaning.
export function bar(share: number | null, text: string, kind = ""): HTMLElement {
	const fill = h("i", { class: "fill" });
	fill.style.width = `${Math.max(0, Math.min(1, share ?? 0)) * 100}%`;
	return h("span", { class: `bar ${kind}` }, fill, h("b", null, text));
}

export function copy(text: string, from: HTMLElement) {
	const done = () => {
		const before = from.textContent;
		from.textContent = "copied";
		setTimeout(() => {
			from.textContent = before;
		}, 1200);
	};
	const byHand = () => {
		const area = h("textarea", { class: "away" });
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
		done();
	};
	if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand);
	else byHand();
}
