/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"

#define REPLACEMENT 0xFFFDu
#define DOTS "..."
#define DOTS_COLUMNS 3u

static unsigned sequence_bytes(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xC2 && lead < 0xE0)
		return 2;
	if (lead >= 0xE0 && lead < 0xF0)
		return 3;
	return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

uint32_t slope_utf8_next(const char *text, unsigned *bytes)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *t = (const unsigned char *)text;
	unsigned length = sequence_bytes(t[0]);

	*bytes = 1;
	if (length <= 1)
		return length ? t[0] : REPLACEMENT;
	uint32_t c = t[0] & (0x7Fu >> length);

	for (unsigned i = 1; i < length; i++) {
		if ((t[i] & 0xC0) != 0x80)
			return REPLACEMENT;
		c = c << 6 | (t[i] & 0x3F);
	}
	if (c < least[length] || (c >= 0xD800 && c < 0xE000) || c > 0x10FFFF)
		return REPLACEMENT;
	*bytes = length;
	return c;
}

struct span {
	uint32_t first, last;
};

static bool in_spans(uint32_t c, const struct span *spans, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (c >= spans[i].first && c <= spans[i].last)
			return true;
	return false;
}

/* The wide blocks as terminals have them; a locale may not be set, so wcwidth cannot be asked. */
static unsigned char_columns(uint32_t c)
{
	static const struct span wide[] = {
		{ 0x1100, 0x115F }, { 0x2E80, 0xA4CF }, { 0xAC00, 0xD7A3 }, { 0xF900, 0xFAFF }, { 0xFE30, 0xFE6F },
		{ 0xFF00, 0xFF60 }, { 0xFFE0, 0xFFE6 }, { 0x1F300, 0x1FAFF }, { 0x20000, 0x3FFFD },
	};
	static const struct span none[] = { { 0x300, 0x36F }, { 0x200B, 0x200F }, { 0x20D0, 0x20FF }, { 0xFE00, 0xFE0F } };

	if (c < 0x300)
		return 1;
	if (in_spans(c, none, sizeof(none) / sizeof(none[0])))
		return 0;
	return in_spans(c, wide, sizeof(wide) / sizeof(wide[0])) ? 2 : 1;
}

static bool is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == REPLACEMENT || (c >= 0x202A && c <= 0x202E) ||
	       (c >= 0x2066 && c <= 0x2069) || (c & 0xFFFE) == 0xFFFE;   /* the last are no characters, and no XML */
}

size_t slope_clip_columns(const char *text)
{
	size_t columns = 0;
	unsigned bytes;

	for (; *text; text += bytes) {
		uint32_t c = slope_utf8_next(text, &bytes);

		columns += is_unsafe(c) ? 1 : char_columns(c);
	}
	return columns;
}

static char *safe_copy(const char *text)
{
	char *copy = malloc(strlen(text) + 1), *to = copy;
	unsigned bytes;

	if (!copy)
		return NULL;
	for (; *text; text += bytes) {
		if (is_unsafe(slope_utf8_next(text, &bytes))) {
			*to++ = '?';
		} else {
			memcpy(to, text, bytes);
			to += bytes;
		}
	}
	*to = 0;
	return copy;
}

/* Bytes of the longest beginning of `text` within `columns`. */
static size_t head_bytes(const char *text, size_t columns)
{
	size_t at = 0, used = 0;
	unsigned bytes;

	while (text[at]) {
		used += char_columns(slope_utf8_next(text + at, &bytes));
		if (used > columns)
			break;
		at += bytes;
	}
	return at;
}

/* Where the longest end of `text` within `columns` begins. */
static size_t tail_start(const char *text, size_t columns)
{
	size_t at = 0, left = slope_clip_columns(text);
	unsigned bytes;

	for (; left > columns; at += bytes)
		left -= char_columns(slope_utf8_next(text + at, &bytes));
	return at;
}

char *slope_clip_middle(const char *text, size_t columns)
{
	char *safe = safe_copy(text);

	if (!safe || slope_clip_columns(safe) <= columns)
		return safe;
	if (columns <= DOTS_COLUMNS) {
		safe[head_bytes(safe, columns)] = 0;
		return safe;
	}
	/* The end says more than the beginning: the method, not the namespace. */
	size_t head = (columns - DOTS_COLUMNS) * 2 / 5, tail = columns - DOTS_COLUMNS - head;
	size_t head_end = head_bytes(safe, head), tail_at = tail_start(safe, tail), tail_length = strlen(safe + tail_at);

	if (tail_at < head_end + sizeof(DOTS) - 1) {   /* wide characters: dots would need more bytes than they replace */
		safe[head_bytes(safe, columns)] = 0;
		return safe;
	}
	memcpy(safe + head_end, DOTS, DOTS_COLUMNS);
	memmove(safe + head_end + DOTS_COLUMNS, safe + tail_at, tail_length + 1);
	return safe;
}

/* Puts dots between the bracket at `open` and its partner at `close`, if that is shorter. */
static void empty_brackets(char *name, size_t open, size_t close)
{
	if (close - open - 1 <= DOTS_COLUMNS)
		return;
	memcpy(name + open + 1, DOTS, DOTS_COLUMNS);
	memmove(name + open + 1 + DOTS_COLUMNS, name + close, strlen(name + close) + 1);
}

/* A '<' or '>' that belongs to an operator's name or to an arrow is no bracket. */
static bool is_angle(const char *name, size_t i)
{
	static const char word[] = "operator";
	size_t before = i;

	if (name[i] == '>' && i && name[i - 1] == '-')
		return false;
	while (before && strchr("<>=-", name[before - 1]))
		before--;
	return before < sizeof(word) - 1 || strncmp(name + before - (sizeof(word) - 1), word, sizeof(word) - 1) != 0;
}

/* The last top-level "(...)" that has something before it: the parameters. */
static void empty_parameters(char *name)
{
	size_t open = 0, close = 0, start = 0;
	int depth = 0;

	for (size_t i = 0; name[i]; i++) {
		if (name[i] == '(' && !depth++)
			start = i;
		else if (name[i] == ')' && depth && !--depth && start) {
			open = start;
			close = i;
		}
	}
	if (close)
		empty_brackets(name, open, close);
}

static void empty_templates(char *name)
{
	size_t open = 0;
	int depth = 0;

	for (size_t i = 0; name[i]; i++) {
		if (name[i] == '<' && is_angle(name, i)) {
			if (!depth++)
				open = i;
		} else if (name[i] == '>' && is_angle(name, i) && depth && !--depth && open) {
			size_t before = strlen(name);

			empty_brackets(name, open, i);
			i -= before - strlen(name);
		}
	}
}

/* Takes out emptied brackets: better than dots beside dots. */
static void drop_brackets(char *name, const char *emptied)
{
	size_t bytes = strlen(emptied);

	for (char *left = strstr(name, emptied); left; left = strstr(left, emptied))
		memmove(left, left + bytes, strlen(left + bytes) + 1);
}

char *slope_clip_name(const char *name, size_t columns)
{
	char *work = safe_copy(name), *clipped;

	if (!work)
		return NULL;
	if (slope_clip_columns(work) > columns)
		empty_parameters(work);
	if (slope_clip_columns(work) > columns)
		empty_templates(work);
	if (slope_clip_columns(work) > columns)
		drop_brackets(work, "(" DOTS ")");
	if (slope_clip_columns(work) > columns)
		drop_brackets(work, "<" DOTS ">");
	clipped = slope_clip_middle(work, columns);
	free(work);
	return clipped;
}
