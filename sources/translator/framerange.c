/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/framerange.h"

#define HEAD_BYTES 12u           /* before the table */
#define ENTRY_BYTES 8u

/* Encodings of pointers (DW_EH_PE_*). */
#define ABSOLUTE_8 0x00u
#define UNSIGNED_4 0x03u
#define TO_ITSELF_4 0x1bu        /* signed, from where it stands */
#define TO_ITSELF_8 0x1cu
#define TO_HEAD_4 0x3bu          /* signed, from the head on */

#define DEFINE_CFA 0x0cu         /* DW_CFA_def_cfa */
#define DEFINE_CFA_OFFSET 0x0eu  /* DW_CFA_def_cfa_offset */

/* ---- reading ---- */

/* A place in the memory that must not go beyond an end; `bad` once it has. */
struct place {
	const struct framerange_table *t;
	uint64_t at, end;
	bool bad;
};

static uint64_t read_bytes(struct place *p, unsigned bytes)
{
	uint64_t value = 0;

	if (p->bad || p->at < p->t->low || p->end > p->t->high || p->at > p->end || p->end - p->at < bytes) {
		p->bad = true;
		return 0;
	}
	for (unsigned n = 0; n < bytes; n++)
		value |= (uint64_t)p->t->memory[p->at - p->t->low + n] << 8 * n;
	p->at += bytes;
	return value;
}

static int64_t read_signed_4(struct place *p)
{
	return (int32_t)read_bytes(p, 4);
}

static uint64_t read_leb(struct place *p)
{
	uint64_t value = 0, byte = 0x80;

	for (unsigned shift = 0; byte & 0x80 && shift < 63 && !p->bad; shift += 7) {
		byte = read_bytes(p, 1);
		value |= (byte & 0x7f) << shift;
	}
	return value;
}

/* The contents of an entry that begins there. */
static struct place open_entry(const struct framerange_table *t, uint64_t at)
{
	struct place p = { t, at, t->high, false };
	uint64_t bytes = read_bytes(&p, 4);

	p.bad = p.bad || bytes == UINT32_MAX || bytes > t->high - p.at;
	p.end = p.bad ? p.at : p.at + bytes;
	return p;
}

/* ---- entries ---- */

/* How a common entry says that pointers are encoded; false: it does not, or it cannot be read. */
static bool read_common(struct place p, unsigned *encoding, bool *has_lengths)
{
	char letter[8] = { 0 };
	unsigned letters = 0, version;

	*encoding = ABSOLUTE_8;
	if (read_bytes(&p, 4) != 0)
		return false;
	version = (unsigned)read_bytes(&p, 1);
	while (letters < sizeof letter && (letter[letters] = (char)read_bytes(&p, 1)))
		letters++;
	if (p.bad || letters == sizeof letter || (version != 1 && version != 3))
		return false;
	read_leb(&p);
	read_leb(&p);
	if (version == 1)
		read_bytes(&p, 1);
	else
		read_leb(&p);
	*has_lengths = letter[0] == 'z';
	if (!*has_lengths)
		return letters == 0 && !p.bad;
	read_leb(&p);
	for (unsigned n = 1; n < letters; n++) {
		unsigned how = letter[n] == 'P' || letter[n] == 'L' || letter[n] == 'R' ? (unsigned)read_bytes(&p, 1) : 0;

		if (letter[n] == 'P')
			read_bytes(&p, (how & 0x0f) == 0 || (how & 0x0f) == 0x0c || (how & 0x0f) == 0x04 ? 8 : 4);
		if (letter[n] == 'R')
			*encoding = how;
	}
	return !p.bad;
}

static bool read_range(struct place *p, unsigned encoding, struct framerange *r)
{
	unsigned bytes = encoding == ABSOLUTE_8 || encoding == TO_ITSELF_8 ? 8 : 4;
	uint64_t from = encoding == TO_ITSELF_4 || encoding == TO_ITSELF_8 ? p->at : 0;

	if (encoding != ABSOLUTE_8 && encoding != UNSIGNED_4 && encoding != TO_ITSELF_4 && encoding != TO_ITSELF_8)
		return false;
	r->start = from + (encoding == TO_ITSELF_4 ? (uint64_t)read_signed_4(p) : read_bytes(p, bytes));
	r->end = r->start + read_bytes(p, bytes);
	return !p->bad && r->end > r->start;
}

/* Is the stack said to hold more than a return address before the first instruction? */
static bool begins_late(struct place p)
{
	uint64_t operation = 0;

	while (operation == 0 && !p.bad && p.at < p.end)
		operation = read_bytes(&p, 1);
	return !p.bad && (operation == DEFINE_CFA || operation == DEFINE_CFA_OFFSET);
}

static bool read_frame(const struct framerange_table *t, uint64_t at, struct framerange *r)
{
	struct place p = open_entry(t, at);
	uint64_t common = p.at;
	unsigned encoding;
	bool has_lengths;

	common -= read_bytes(&p, 4);
	if (p.bad || !read_common(open_entry(t, common), &encoding, &has_lengths) || !read_range(&p, encoding, r))
		return false;
	if (has_lengths) {
		uint64_t skipped = read_leb(&p);

		p.bad = p.bad || skipped > p.end - p.at;
		p.at += p.bad ? 0 : skipped;
	}
	r->late = begins_late(p);
	return !p.bad;
}

/* ---- the table ---- */

bool framerange_open(struct framerange_table *t, const void *memory, uint64_t low, uint64_t high, uint64_t head)
{
	*t = (struct framerange_table){ .memory = memory, .low = low, .high = high, .head = head };
	struct place p = { t, head, high, false };
	bool good = read_bytes(&p, 1) == 1 && read_bytes(&p, 1) == TO_ITSELF_4 && read_bytes(&p, 1) == UNSIGNED_4 &&
		    read_bytes(&p, 1) == TO_HEAD_4;

	read_bytes(&p, 4);
	t->count = (uint32_t)read_bytes(&p, 4);
	if (!good || p.bad || t->count > (high - p.at) / ENTRY_BYTES)
		t->count = 0;
	return t->count != 0;
}

/* Where the code of an entry begins, and where the entry itself is. */
static uint64_t start_of(const struct framerange_table *t, uint32_t number, uint64_t *frame)
{
	struct place p = { t, t->head + HEAD_BYTES + (uint64_t)number * ENTRY_BYTES, t->high, false };
	uint64_t start = t->head + (uint64_t)read_signed_4(&p);

	*frame = t->head + (uint64_t)read_signed_4(&p);
	return start;
}

bool framerange_at(const struct framerange_table *t, uint32_t number, struct framerange *r)
{
	uint64_t frame, start;

	if (number >= t->count)
		return false;
	start = start_of(t, number, &frame);
	return read_frame(t, frame, r) && r->start == start;
}

bool framerange_around(const struct framerange_table *t, uint64_t pc, struct framerange *r)
{
	uint32_t low = 0, high = t->count;
	uint64_t frame;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (start_of(t, middle, &frame) <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low && framerange_at(t, low - 1, r) && pc < r->end;
}
