// SPDX-License-Identifier: GPL-3.0-or-later
//
// The data of the page: blocks of text (profile/text7.h) that hold gzip streams.

// As in profile/text7.c: NUL, BEL, BS, LF, VT, FF, CR, SUB, ESC, &, <, >, DEL
const SPECIALS = [0, 7, 8, 10, 11, 12, 13, 26, 27, 38, 60, 62, 127];
const FIRST_CODE = 0x100,
	LAST_CODE = FIRST_CODE + 128 * SPECIALS.length;
const PIECE = 1 << 19;

export const pause = () => new Promise<void>((resume) => setTimeout(resume));

// Seven bits a character; a character above ASCII is a special value and the seven bits behind it.
async function decode(text: string): Promise<Uint8Array<ArrayBuffer>> {
	const bytes = new Uint8Array(Math.ceil((text.length * 7) / 4));
	let bits = 0,
		count = 0,
		to = 0;
	for (let i = 0; i < text.length; i++) {
		const code = text.charCodeAt(i);
		if (code < 128) {
			bits = ((bits << 7) | code) & 0xffff;
			count += 7;
		} else if (code >= LAST_CODE) {
			bits = ((bits << 7) | SPECIALS[code - LAST_CODE]) & 0xffff;
			count += 7;
		} else {
			bits = ((bits << 7) | SPECIALS[(code - FIRST_CODE) >> 7]) & 0xffff;
			count += 7;
			if (count >= 8) bytes[to++] = bits >> (count -= 8);
			bits = ((bits << 7) | (code & 127)) & 0xffff;
			count += 7;
		}
		if (count >= 8) bytes[to++] = bits >> (count -= 8);
		if (i % PIECE === PIECE - 1) await pause();
	}
	return bytes.subarray(0, to);
}

export async function block(id: string): Promise<Uint8Array | null> {
	const element = document.getElementById(`slope-${id}`);
	if (!element) return null;
	const packed = await decode(element.textContent ?? "");
	element.textContent = ""; // the text is not needed twice
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function json<T>(id: string): Promise<T | null> {
	const bytes = await block(id);
	return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as T);
}
