/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jumps by a table that have a second table beside it, of where in the cache each entry lands (lookups.c): the entry's number
 * is enough to find it, as soon as the program has it, and nothing is looked up by the address. The landing is read where the
 * program reads the entry, into r11, which no check needs behind it; 0 is none, and C is asked, which puts it there for the next time.
 *
 * The table is memory of the module that nobody may write to. When that changes, the block dies with it.
 */
#include "sources/translator/making.h"
#include "sources/translator/observing.h"

/* From the reading of the entry up to the jump nobody may need the stamp, nor flags where they are compared. */
static bool is_quiet(const struct maker *m, unsigned step)
{
	if (m->stamp != REG_R11 || m->trace.step[step].live_flags || m->trace.live_flags)
		return false;
	for (unsigned n = step; n + 1 < m->trace.steps; n++)
		if (m->trace.step[n].kind != STEP_PLAIN || m->trace.step[n].moves_stack)
			return false;
	for (unsigned n = 0; n < m->checks; n++)
		if (m->check[n].step > step)
			return false;
	return true;
}

static void depend_on_table(const struct codecache_jumps *j)
{
	uint64_t end = j->start + j->entries * (uint64_t)j->bytes;

	for (uint64_t page = j->start & -SLOPE_PAGE_BYTES; page < end; page += SLOPE_PAGE_BYTES)
		dispatch_depends_on(page);
}

void landings_find(struct maker *m)
{
	const struct step *last = &m->trace.step[m->trace.steps - 1];
	struct table_use *use = &m->use;
	struct codecache_jumps *j;
	uint32_t module;

	m->jumps = NULL;
	if (last->kind != STEP_LAST || last->i.mnemonic != ZYDIS_MNEMONIC_JMP || last->i.raw.imm[0].is_relative ||
	    m->trace.doubt || !lookups_may_stay(m, last) || !tablejumps_find(&m->trace, use) || !is_quiet(m, use->step) ||
	    use->base_value >> 31)
		return;
	j = codecache_find_jumps(&runtime.cache, use->table);
	module = codeplaces_module(last->pc);
	if (!j) {
		uint32_t entries = tablejumps_entries(use, module);
		struct codecache_jumps new = {
			.start = use->table, .bytes = use->bytes, .entries = entries, .module = module,
			.code = codeplaces_code_range(last->pc),
		};

		j = entries ? codecache_add_jumps(&runtime.cache, &new) : NULL;
	}
	if (!j || j->bytes != use->bytes || j->module != module)
		return;
	depend_on_table(j);
	m->jumps = j;
}

/* cmp $value, %reg, of 64 bits */
static void emit_compare(struct emit *e, int reg, uint64_t value)
{
	emit_byte(e, 0x48 | (unsigned)reg >> 3);
	emit_byte(e, 0x81);
	emit_byte(e, 0xf8 | ((unsigned)reg & 7));
	emit_32(e, (uint32_t)value);
}

void landings_read(struct maker *m)
{
	unsigned index = (unsigned)m->use.index;
	struct cold *c = making_cold(m, COLD_OTHER_TABLE);
	struct emit *e = &m->e;

	if (m->use.base != NO_REGISTER) {
		emit_compare(e, m->use.base, m->use.base_value);
		making_jump(m, c, CONDITION_NOT_EQUAL);
	}
	emit_compare(e, m->use.index, m->jumps->entries);
	making_jump(m, c, CONDITION_NOT_BELOW);
	emit_byte(e, 0x44 | (index >> 3) << 1);                   /* mov LANDING(,%index,4), %r11d */
	emit_bytes(e, "\x8b\x1c", 2);
	emit_byte(e, 0x85 | (index & 7) << 3);
	emit_32(e, m->jumps->landing);
	c->back = e->at;
}

void landings_jump(struct maker *m, const struct step *s)
{
	struct cold *c = making_cold(m, COLD_UNKNOWN_LANDING);

	c->step = (unsigned)(s - m->trace.step);
	emit_bytes(&m->e, "\x45\x85\xdb", 3);                     /* test %r11d, %r11d */
	making_jump(m, c, CONDITION_EQUAL);
	emit_bytes(&m->e, "\x41\xff\xe3", 3);                     /* jmp *%r11 */
}

/* As activations_jump_address; and where the entries for this target land, if that is known. */
static void jumped(uint64_t target, uint64_t sp, struct codecache_jumps *j)
{
	const struct codecache_target *known;

	lock_take(&runtime.lock);
	known = codecache_target(target);
	struct block *block = known ? (struct block *)codecache_find(&runtime.cache, target) : NULL;

	for (uint32_t n = 0; block && known->module == j->module && n < j->entries; n++)
		if (tablejumps_entry(j->start, j->bytes, n) == target) {
			block->landed = true;
			__atomic_store_n(&codecache_landings(j)[n], known->landing, __ATOMIC_RELEASE);
		}
	lock_give(&runtime.lock);
	activations_jump_address(target, sp, j->code);
}

void landings_cold(struct maker *m, struct cold *c)
{
	struct emit *e = &m->e;

	if (c->kind == COLD_OTHER_TABLE) {
		emit_bytes(e, "\x45\x31\xdb", 3);                 /* xor %r11d, %r11d */
		emit_near(e, 0xe9, (uint64_t)c->back);
		return;
	}
	exits_give_back(m);
	lookups_load(m, &m->trace.step[c->step]);
	reports_call(e, (const void *)jumped, (const struct argument[3]){
		{ ARGUMENT_REGISTER, REG_RCX }, { ARGUMENT_REGISTER, REG_RSP }, { ARGUMENT_CONSTANT, (uint64_t)m->jumps },
	});
	lookups_go(m, false, LOOKUP_PLAIN);
}
