/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/text7.h"

#include <string.h>

#define SPECIALS 13u
#define FIRST_CODE 0x100u
#define LAST_CODE (FIRST_CODE + SPECIALS * 128)  /* a special value that nothing follows; plus which one */

/* NUL, BEL, BS, LF, VT, FF, CR, SUB, ESC, &, <, >, DEL */
static const char specials[SPECIALS] = "\0\a\b\n\v\f\r\x1a\x1b&<>\x7f";

static char *put_code(unsigned code, char *to)
{
	*to++ = (char)(0xC0 | code >> 6);
	*to++ = (char)(0x80 | (code & 0x3F));
	return to;
}

static char *put_group(struct slope_text7 *t, unsigned group, char *to)
{
	if (t->held) {
		to = put_code(FIRST_CODE + (t->held - 1) * 128 + group, to);
		t->held = 0;
		return to;
	}
	const char *special = memchr(specials, (int)group, SPECIALS);

	if (special)
		t->held = 1 + (unsigned)(special - specials);
	else
		*to++ = (char)group;
	return to;
}

size_t slope_text7_put(struct slope_text7 *t, const void *bytes, size_t count, char *text)
{
	const unsigned char *from = bytes;
	char *to = text;

	for (size_t i = 0; i < count; i++) {
		t->bits = t->bits << 8 | from[i];
		t->count += 8;
		while (t->count >= 7) {
			t->count -= 7;
			to = put_group(t, t->bits >> t->count & 0x7F, to);
		}
		t->bits &= (1u << t->count) - 1;
	}
	return (size_t)(to - text);
}

size_t slope_text7_end(struct slope_text7 *t, char *text)
{
	char *to = text;

	if (t->count)
		to = put_group(t, t->bits << (7 - t->count) & 0x7F, to);
	if (t->held)
		to = put_code(LAST_CODE + t->held - 1, to);
	*t = (struct slope_text7){ 0 };
	return (size_t)(to - text);
}

/* The bits that came in, and the whole bytes among them. */
struct collector {
	uint32_t bits;
	unsigned count;
	unsigned char *to;
};

static void collect(struct collector *c, unsigned group)
{
	c->bits = c->bits << 7 | group;
	c->count += 7;
	if (c->count >= 8) {
		c->count -= 8;
		*c->to++ = (unsigned char)(c->bits >> c->count);
	}
}

size_t slope_text7_decode(const char *text, size_t count, void *bytes, size_t *used)
{
	struct collector c = { .to = bytes };
	size_t i = 0;

	while (i < count) {
		unsigned char first = (unsigned char)text[i];

		if (first < 0x80) {
			if (memchr(specials, first, SPECIALS))
				break;
			collect(&c, first);
			i++;
			continue;
		}
		if ((first & 0xE0) != 0xC0 || i + 1 == count || ((unsigned char)text[i + 1] & 0xC0) != 0x80)
			break;
		unsigned code = (first & 0x1Fu) << 6 | ((unsigned char)text[i + 1] & 0x3Fu);

		if (code < FIRST_CODE || code >= LAST_CODE + SPECIALS)
			break;
		bool last = code >= LAST_CODE;

		collect(&c, (unsigned char)specials[last ? code - LAST_CODE : (code - FIRST_CODE) / 128]);
		if (!last)
			collect(&c, code & 0x7F);
		i += 2;
	}
	*used = i;
	return (size_t)(c.to - (unsigned char *)bytes);
}
