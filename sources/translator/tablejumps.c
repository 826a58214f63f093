/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Indirect jumps by a table that nobody writes to, as compilers make them: of addresses, or of distances from
 * the table. Found at the end of a trace; where the table's address is in a register, what that holds at the trace's start, which
 * is now, is the guess.
 *
 * Do flags live across an indirect jump? Nothing says that they do not, and
 * code that is written by hand may have some. They do not where the last instruction that sets
 * them has made the address that is jumped to, or has moved the stack pointer; nor where the jump is by a table
 * and nothing uses flags where its entries lead.
 */
#include "sources/translator/making.h"
#include "sources/translator/observing.h"

#include <linux/mman.h>

#define TABLES 64u               /* that are known at once */

static struct {
	uint64_t start, changes;
	bool dead;
} tables[TABLES];

/* The register in the operand that may be one in memory, or NO_REGISTER; the other operand's. */
static int plain_register(const ZydisDecodedInstruction *i)
{
	if (!(i->attributes & ZYDIS_ATTRIB_HAS_MODRM) || i->raw.modrm.mod != 3)
		return NO_REGISTER;
	return (int)(i->raw.modrm.rm | (i->attributes & ZYDIS_ATTRIB_HAS_REX ? (unsigned)i->raw.rex.B << 3 : 0u));
}

static int other_register(const ZydisDecodedInstruction *i)
{
	return (int)(i->raw.modrm.reg | (i->attributes & ZYDIS_ATTRIB_HAS_REX ? (unsigned)i->raw.rex.R << 3 : 0u));
}

/* The last step before this one that sets the register, or any flag if it is NO_REGISTER. NULL: none does. */
static const struct step *set_by(const struct trace *t, const struct step *behind, int reg)
{
	while (behind-- > t->step)
		if (reg == NO_REGISTER ? behind->flag_kills != 0 : behind->kills >> reg & 1)
			return behind;
	return NULL;
}

/* What the base register holds at the step: known for good, or what it holds there this time. False: nobody knows. */
static bool find_base(const struct trace *t, const struct step *s, struct table_use *use, uint64_t *value)
{
	const struct step *set = set_by(t, s, use->base);
	const struct origin *o = &s->origin[use->base];

	if (set && set->i.mnemonic == ZYDIS_MNEMONIC_LEA && set->i.raw.modrm.mod == 0 && set->i.raw.modrm.rm == 5) {
		*value = set->next + (uint64_t)set->i.raw.disp.value;
		use->base = NO_REGISTER;
		return true;
	}
	if (o->id > REGISTERS)
		return false;
	*value = context_here()->reg[o->id - 1] + (uint64_t)(int64_t)o->plus;
	return true;
}

/* Is the step's operand an entry of a table, of so many bytes? */
static bool is_entry(const struct trace *t, const struct step *s, unsigned bytes, struct table_use *use)
{
	const ZydisDecodedInstruction *i = &s->i;
	unsigned high = i->attributes & ZYDIS_ATTRIB_HAS_REX ? (unsigned)i->raw.rex.X << 1 | i->raw.rex.B : 0;
	uint64_t value = 0;

	if (!(i->attributes & ZYDIS_ATTRIB_HAS_MODRM) || i->raw.modrm.mod == 3 || i->raw.modrm.rm != 4 ||
	    1u << i->raw.sib.scale != bytes || (i->raw.sib.index == 4 && !(high & 2)) ||
	    i->attributes & (ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_ADDRESSSIZE))
		return false;
	*use = (struct table_use){
		.bytes = bytes, .base = (int)(i->raw.sib.base | (high & 1) << 3), .index = (int)(i->raw.sib.index | (high & 2) << 2),
		.step = (unsigned)(s - t->step),
	};
	if (i->raw.sib.base == 5 && !i->raw.modrm.mod)
		use->base = NO_REGISTER;
	else if (!find_base(t, s, use, &value))
		return false;
	use->base_value = value;
	use->table = value + (uint64_t)i->raw.disp.value;
	return true;
}

/* A distance is read, by way of one register that the addition mentions, and the table's address, which is in the other, added. */
static bool is_distance(const struct trace *t, const struct step *add, int loaded, int base, struct table_use *use)
{
	const struct step *load = set_by(t, add, loaded), *moved = set_by(t, add, base);
	unsigned high;

	if (!load || (moved && moved >= load) || load->i.mnemonic != ZYDIS_MNEMONIC_MOVSXD ||
	    !(load->i.attributes & ZYDIS_ATTRIB_HAS_REX) || !load->i.raw.rex.W || load->i.raw.disp.value)
		return false;
	high = (unsigned)load->i.raw.rex.B << 3;
	return is_entry(t, load, 4, use) && (int)(load->i.raw.sib.base | high) == base;
}

bool tablejumps_find(const struct trace *t, struct table_use *use)
{
	const struct step *jump = &t->step[t->steps - 1], *made;
	int reg = plain_register(&jump->i), one, other;

	if (reg == NO_REGISTER)
		return is_entry(t, jump, 8, use);
	made = set_by(t, jump, reg);
	if (!made)
		return false;
	if (made->i.mnemonic == ZYDIS_MNEMONIC_MOV)
		return is_entry(t, made, 8, use) && made->i.operand_width == 64;
	one = plain_register(&made->i);
	if (made->i.mnemonic != ZYDIS_MNEMONIC_ADD || one == NO_REGISTER)
		return false;
	other = other_register(&made->i);
	return is_distance(t, made, one, other, use) || is_distance(t, made, other, one, use);
}

uint64_t tablejumps_entry(uint64_t table, unsigned bytes, uint32_t n)
{
	uint64_t address;
	int32_t distance;

	if (bytes == 8) {
		slope_copy(&address, (const void *)(table + n * UINT64_C(8)), sizeof address);
		return address;
	}
	slope_copy(&distance, (const void *)(table + n * UINT64_C(4)), sizeof distance);
	return table + (uint64_t)(int64_t)distance;
}

uint32_t tablejumps_entries(const struct table_use *use, uint32_t module)
{
	const struct space_region *region = space_at(&runtime.space, use->table);
	uint32_t n = 0;

	if (!module || !region || !region->path || region->shared || (region->prot & (PROT_READ | PROT_WRITE)) != PROT_READ)
		return 0;
	while (n < TABLEJUMPS_ENTRIES && use->table + (n + 1) * (uint64_t)use->bytes <= region->end &&
	       codeplaces_module(tablejumps_entry(use->table, use->bytes, n)) == module)
		n++;
	return n;
}

/* ---- flags ---- */

static bool no_entry_uses_flags(const struct table_use *use, uint32_t module)
{
	uint32_t entries = tablejumps_entries(use, module);

	for (uint32_t n = 0; n < entries; n++)
		if (effects_wanted(tablejumps_entry(use->table, use->bytes, n)).used)
			return false;
	return entries;
}

/* The block in the making does not depend on where the entries lead: that code stays as long as its own. */
static bool is_dead_by_table(const struct table_use *use, uint32_t module)
{
	unsigned n = (use->table >> 3 ^ use->table >> 12) % TABLES, pages = runtime.cache.pages;
	uint64_t page[CODECACHE_PAGES];

	if (tables[n].start == use->table && tables[n].changes == runtime.space.changes)
		return tables[n].dead;
	slope_copy(page, runtime.cache.page, sizeof page);
	tables[n].dead = no_entry_uses_flags(use, module);
	slope_copy(runtime.cache.page, page, sizeof page);
	runtime.cache.pages = pages;
	tables[n].start = use->table;
	tables[n].changes = runtime.space.changes;
	return tables[n].dead;
}

bool tablejumps_flags_are_dead(const struct trace *t)
{
	const struct step *jump = &t->step[t->steps - 1], *flags = set_by(t, jump, NO_REGISTER);
	int reg = plain_register(&jump->i);
	struct table_use use;

	if (runtime.flags_cross_calls || t->doubt)
		return false;
	if (flags && (flags->i.mnemonic == ZYDIS_MNEMONIC_ADD || flags->i.mnemonic == ZYDIS_MNEMONIC_SUB) &&
	    (flags->kills >> REG_RSP & 1 || (reg != NO_REGISTER && flags == set_by(t, jump, reg))))
		return true;
	return tablejumps_find(t, &use) && is_dead_by_table(&use, codeplaces_module(jump->pc));
}
