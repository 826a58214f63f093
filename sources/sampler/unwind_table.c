/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/sampler/unwind_table.h"

#define INDEX_ENCODING 0x3b      /* pairs of 4 bytes, relative to the header */
#define COUNT_ENCODING 0x03
#define REMEMBERED_MAX 8u
#define RIP 16u

/* Ways of writing an address: the low bits are its size, the next what it is relative to. */
#define PE_SIZE 0x0f
#define PE_BASE 0x70
#define PE_PCREL 0x10

struct bytes {
	const uint8_t *at, *end;
};

/* How a register is had. */
struct rule {
	enum { SAME, UNDEFINED, AT_CFA, AT_RBP, ODD } how;
	int64_t offset;
};

struct row {
	enum { CFA_REGISTER, CFA_DEREF, CFA_ODD } cfa;
	uint64_t base;
	int64_t offset;
	struct rule reg[RIP + 1];
};

/* What all functions of one kind have in common. */
struct common {
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t pointer;             /* encoding of addresses */
	bool sized;                  /* entries have augmentation data */
	bool signal;
	struct bytes program;
};

struct machine {
	struct row row, first, remembered[REMEMBERED_MAX];
	unsigned depth;
	const struct common *common;
	bool failed;
	bool throws;                 /* it saves the registers in which handlers get what was thrown: only unwinders do */
};

static uint64_t uleb(struct bytes *b)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (b->at < b->end) {
		uint8_t byte = *b->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static int64_t sleb(struct bytes *b)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte = 0;

	while (b->at < b->end) {
		byte = *b->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80))
			break;
	}
	if (shift < 64 && byte & 0x40)
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

static uint64_t fixed(struct bytes *b, unsigned bytes, bool sign)
{
	uint64_t value = 0;

	if ((size_t)(b->end - b->at) < bytes) {
		b->at = b->end;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)b->at[i] << 8 * i;
	if (sign && bytes < 8 && b->at[bytes - 1] & 0x80)
		value |= ~UINT64_C(0) << 8 * bytes;
	b->at += bytes;
	return value;
}

/* Bytes of an address in this encoding; 0 where it has no fixed size. */
static unsigned pointer_bytes(uint8_t encoding)
{
	static const uint8_t size[] = { 8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8, 0, 0, 0 };

	return size[encoding & PE_SIZE];
}

static uint64_t pointer(struct bytes *b, uint8_t encoding)
{
	uint64_t place = (uint64_t)(uintptr_t)b->at;
	uint64_t value = fixed(b, pointer_bytes(encoding), encoding & 8);

	return (encoding & PE_BASE) == PE_PCREL ? value + place : value;
}

/* What the letters of the augmentation announce. */
static bool read_augmentation(struct common *c, const char *letters, struct bytes *b)
{
	if (!*letters)
		return true;
	if (*letters++ != 'z')
		return false;
	uint64_t bytes = uleb(b);
	struct bytes data = { b->at, b->at + bytes };

	if (bytes > (uint64_t)(b->end - b->at))
		return false;
	b->at = data.end;
	c->sized = true;
	for (; *letters; letters++) {
		if (*letters == 'R') {
			c->pointer = (uint8_t)fixed(&data, 1, false);
		} else if (*letters == 'P') {
			uint8_t encoding = (uint8_t)fixed(&data, 1, false);

			if (!pointer_bytes(encoding))
				return false;
			data.at += pointer_bytes(encoding);
		} else if (*letters == 'L') {
			data.at++;
		} else if (*letters == 'S') {
			c->signal = true;
		} else if (*letters != 'B') {
			return false;
		}
	}
	return data.at <= data.end && pointer_bytes(c->pointer);
}

/* An entry's bytes behind its length; false for a length that is none. */
static bool entry_bytes(const uint8_t *at, struct bytes *b)
{
	struct bytes head = { at, at + 4 };
	uint64_t bytes = fixed(&head, 4, false);

	*b = (struct bytes){ at + 4, at + 4 + bytes };
	return bytes >= 4 && bytes < 0xfffffff0u;
}

static bool read_common(const uint8_t *at, struct common *c)
{
	struct bytes b;

	*c = (struct common){ 0 };
	if (!entry_bytes(at, &b) || fixed(&b, 4, false) != 0)
		return false;
	uint64_t version = fixed(&b, 1, false);
	const char *letters = (const char *)b.at;

	while (b.at < b.end && *b.at)
		b.at++;
	b.at++;
	if (version == 4)
		b.at += 2;               /* sizes of addresses and segments */
	c->code_factor = uleb(&b);
	c->data_factor = sleb(&b);
	uint64_t ra = version == 1 ? fixed(&b, 1, false) : uleb(&b);

	if ((version != 1 && version != 3 && version != 4) || ra != RIP || !read_augmentation(c, letters, &b))
		return false;
	c->program = b;
	return true;
}

/* A function's entry: its addresses, its program, and what it has in common with others. */
static bool read_function(const uint8_t *at, struct common *c, struct bytes *program, uint64_t *start, uint64_t *end)
{
	struct bytes b;

	if (!entry_bytes(at, &b))
		return false;
	const uint8_t *here = b.at;
	uint64_t back = fixed(&b, 4, false);

	if (!back || !read_common(here - back, c))
		return false;
	*start = pointer(&b, c->pointer);
	*end = *start + fixed(&b, pointer_bytes(c->pointer), false);
	if (c->sized) {
		uint64_t bytes = uleb(&b);

		if (bytes > (uint64_t)(b.end - b.at))
			return false;
		b.at += bytes;
	}
	*program = b;
	return true;
}

/* ---- the program that makes the rows ---- */

static void set_rule(struct row *row, uint64_t reg, struct rule rule)
{
	if (reg <= RIP)
		row->reg[reg] = rule;
}

/* breg6 + offset: the place of a register in functions that align their stack. */
static struct rule rule_of_expression(struct bytes e)
{
	if (e.at < e.end && *e.at == 0x70 + SLOPE_REG_RBP) {
		e.at++;
		int64_t offset = sleb(&e);

		if (e.at == e.end)
			return (struct rule){ AT_RBP, offset };
	}
	return (struct rule){ ODD, 0 };
}

/*
 * Either a word at a register and an offset, or the rule of the linkage
 * table, where an entry has pushed a number after some of its 16 bytes.
 */
static void cfa_of_expression(struct row *row, struct bytes e, uint64_t ip)
{
	static const uint8_t linkage[] = { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22 };
	size_t same = 0;

	while (same < sizeof linkage && e.at + same < e.end && (same == 6 || e.at[same] == linkage[same]))
		same++;
	row->cfa = CFA_ODD;
	if (same == sizeof linkage && e.at + same == e.end) {
		row->cfa = CFA_REGISTER;
		row->base = SLOPE_REG_RSP;
		row->offset = 8 + (((ip & 15) >= (uint64_t)(e.at[6] - 0x30)) << 3);
	} else if (e.at < e.end && *e.at >= 0x70 && *e.at < 0x70 + SLOPE_REGS) {
		row->base = *e.at++ - 0x70u;
		row->offset = sleb(&e);
		if (e.at + 1 == e.end && *e.at == 0x06)
			row->cfa = CFA_DEREF;
	}
}

static struct bytes block(struct bytes *b)
{
	uint64_t bytes = uleb(b);
	struct bytes e = { b->at, b->at };

	if (bytes <= (uint64_t)(b->end - b->at))
		e.end = b->at += bytes;
	else
		b->at = b->end;
	return e;
}

static void remember(struct machine *m)
{
	if (m->depth < REMEMBERED_MAX)
		m->remembered[m->depth] = m->row;
	else
		m->failed = true;
	m->depth++;
}

static void restore(struct machine *m)
{
	if (m->depth && m->depth <= REMEMBERED_MAX)
		m->row = m->remembered[m->depth - 1];
	else
		m->failed = true;
	m->depth -= m->depth > 0;
}

static void set_cfa(struct row *row, uint64_t base, int64_t offset)
{
	row->cfa = CFA_REGISTER;
	row->base = base;
	row->offset = offset;
}

/* An instruction that is a byte with operands behind it; those that advance are run()'s. */
static void step(struct machine *m, uint8_t op, struct bytes *b, uint64_t ip)
{
	struct row *row = &m->row;
	int64_t factor = m->common->data_factor;
	uint64_t reg;

	switch (op) {
	case 0x00: break;
	case 0x05: reg = uleb(b); set_rule(row, reg, (struct rule){ AT_CFA, (int64_t)uleb(b) * factor }); break;
	case 0x06: reg = uleb(b); set_rule(row, reg, reg <= RIP ? m->first.reg[reg] : (struct rule){ ODD, 0 }); break;
	case 0x07: set_rule(row, uleb(b), (struct rule){ UNDEFINED, 0 }); break;
	case 0x08: set_rule(row, uleb(b), (struct rule){ SAME, 0 }); break;
	case 0x09: reg = uleb(b); uleb(b); set_rule(row, reg, (struct rule){ ODD, 0 }); break;
	case 0x0a: remember(m); break;
	case 0x0b: restore(m); break;
	case 0x0c: reg = uleb(b); set_cfa(row, reg, (int64_t)uleb(b)); break;
	case 0x0d: row->base = uleb(b); break;
	case 0x0e: row->offset = (int64_t)uleb(b); break;
	case 0x0f: cfa_of_expression(row, block(b), ip); break;
	case 0x10: reg = uleb(b); set_rule(row, reg, rule_of_expression(block(b))); break;
	case 0x11: reg = uleb(b); set_rule(row, reg, (struct rule){ AT_CFA, sleb(b) * factor }); break;
	case 0x12: reg = uleb(b); set_cfa(row, reg, sleb(b) * factor); break;
	case 0x13: row->offset = sleb(b) * factor; break;
	case 0x14: case 0x15: reg = uleb(b); sleb(b); set_rule(row, reg, (struct rule){ ODD, 0 }); break;
	case 0x16: reg = uleb(b); block(b); set_rule(row, reg, (struct rule){ ODD, 0 }); break;
	case 0x2e: uleb(b); break;       /* how much was pushed for a call */
	default: m->failed = true;
	}
}

/* Runs a program until it has passed `ip`. */
static void run(struct machine *m, struct bytes b, uint64_t location, uint64_t ip)
{
	while (b.at < b.end && !m->failed) {
		uint8_t byte = *b.at++, low = byte & 0x3f;
		uint64_t advance = 0;

		switch (byte & 0xc0) {
		case 0x40: advance = low; break;
		case 0x80:
			set_rule(&m->row, low, (struct rule){ AT_CFA, (int64_t)uleb(&b) * m->common->data_factor });
			m->throws |= low < 2;
			continue;
		case 0xc0: set_rule(&m->row, low, low <= RIP ? m->first.reg[low] : (struct rule){ ODD, 0 }); continue;
		default:
			if (byte == 0x01) {
				location = pointer(&b, m->common->pointer);
				if (location > ip)
					return;
				continue;
			}
			if (byte < 0x02 || byte > 0x04) {
				step(m, byte, &b, ip);
				continue;
			}
			advance = fixed(&b, 1u << (byte - 2), false);
		}
		location += advance * m->common->code_factor;
		if (location > ip)
			return;
	}
}

static uint8_t save_of(const struct rule *rule)
{
	int64_t k = -rule->offset / 8;

	if (rule->offset % 8 || k < (rule->how == AT_CFA) || k >= (int64_t)SLOPE_SAVE_RBP)
		return SLOPE_SAVE_SAME;
	return rule->how == AT_CFA ? (uint8_t)k : rule->how == AT_RBP ? (uint8_t)(SLOPE_SAVE_RBP + k) : SLOPE_SAVE_SAME;
}

static void recipe_of_row(const struct row *row, struct slope_recipe *recipe)
{
	const struct rule *ra = &row->reg[RIP];

	if (ra->how == UNDEFINED) {
		recipe->kind = SLOPE_RECIPE_END;
		return;
	}
	if (row->cfa == CFA_ODD || row->base >= SLOPE_REGS || row->offset != (int32_t)row->offset || ra->how != AT_CFA ||
	    ra->offset != -8)
		return;
	recipe->kind = row->cfa == CFA_DEREF ? SLOPE_RECIPE_DEREF : SLOPE_RECIPE_FRAME;
	recipe->base = (uint8_t)row->base;
	recipe->offset = (int32_t)row->offset;
	for (unsigned i = 0; i < SLOPE_RECIPE_SAVED; i++)
		recipe->save[i] = save_of(&row->reg[slope_recipe_register(i)]);
}

/* ---- the index ---- */

size_t slope_unwind_index(const uint8_t *header, const int32_t **pairs)
{
	struct bytes b = { header + 4, header + 64 };

	if (header[0] != 1 || header[2] != COUNT_ENCODING || header[3] != INDEX_ENCODING || !pointer_bytes(header[1]))
		return 0;
	b.at += pointer_bytes(header[1]);
	size_t count = fixed(&b, 4, false);

	*pairs = (const int32_t *)(const void *)b.at;
	return count;
}

/* The entry of the last function that begins at `ip` or before; NULL: none. */
static const uint8_t *find_entry(const uint8_t *header, uint64_t ip)
{
	const int32_t *pairs;
	size_t low = 0, high = slope_unwind_index(header, &pairs);
	int64_t distance = (int64_t)(ip - (uint64_t)(uintptr_t)header);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pairs[2 * middle] <= distance)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? header + pairs[2 * low - 1] : NULL;
}

bool slope_unwind_function(const uint8_t *header, uint64_t ip, uint64_t *start, uint64_t *end)
{
	const uint8_t *entry = find_entry(header, ip);
	struct bytes program;
	struct common common;

	return entry && read_function(entry, &common, &program, start, end) && ip >= *start && ip < *end;
}

_Static_assert(sizeof(struct machine) <= sizeof(struct slope_unwind_scratch), "room for rows");

void slope_unwind_recipe(const uint8_t *header, uint64_t ip, struct slope_recipe *recipe, struct slope_unwind_scratch *scratch)
{
	const uint8_t *entry = find_entry(header, ip);
	uint64_t start, end;
	struct bytes program;
	struct common common;

	recipe->kind = SLOPE_RECIPE_NONE;
	recipe->unwinder = false;
	for (unsigned i = 0; i < SLOPE_RECIPE_SAVED; i++)
		recipe->save[i] = SLOPE_SAVE_SAME;
	if (!entry || !read_function(entry, &common, &program, &start, &end) || ip < start || ip >= end)
		return;
	if (common.signal) {
		recipe->kind = SLOPE_RECIPE_SIGNAL;
		return;
	}
	struct machine *m = (struct machine *)(void *)scratch;

	m->row = (struct row){ .cfa = CFA_ODD };
	m->depth = 0;
	m->common = &common;
	m->failed = m->throws = false;
	run(m, common.program, 0, UINT64_MAX);
	m->first = m->row;
	run(m, program, start, ip);
	if (m->failed)
		return;
	recipe_of_row(&m->row, recipe);
	recipe->unwinder = m->throws;
	if (!m->throws) {
		run(m, program, start, UINT64_MAX);
		recipe->unwinder = m->throws;
	}
}
