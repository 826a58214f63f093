/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is added to translated code: for each read and write a call of plain C,
 * behind the check of checks.c, before the instruction that makes it, while
 * the registers of its address are those of the instruction; the costs; and reports of calls and returns.
 *
 * The address that a call pushes and a return pops is not data. What reads or
 * writes under a mask in a vector register is seen element by element; under
 * one in a mask register (AVX-512) it counts with all of its operand. What has
 * one address per element is not seen, which is said once.
 */
#include "sources/translator/observing.h"

#include "core/access.h"

#define NO_REGISTER (-1)

struct address {
	int base, index;             /* numbers, or NO_REGISTER */
	unsigned scale_log2;
	int64_t displacement;        /* with no registers: the whole address */
	bool short_registers;        /* 32 bits */
	bool in_fs;
};

/* What comes most often: whole 4-byte cells in a window. */
static void read_cells(uint64_t address, uint64_t bytes)
{
	struct slope_thread *core = context_here()->fiber->core;
	uint64_t cell = address >> 2;

	if (SLOPE_UNLIKELY(address < PLAN_LOWEST))
		return;
	if (!observer.inlined || address & 3 || cell + 2 > core->shadow.window_cells || (bytes != 8 && bytes != 4))
		slope_thread_read(core, address, bytes);
	else if (bytes == 8)
		slope_thread_read_pair(core, cell, core->shadow.window + cell);
	else
		slope_thread_read_words(core, cell, core->shadow.window + cell, 1);
}

static void write_cells(uint64_t address, uint64_t bytes)
{
	if (address >= PLAN_LOWEST)
		slope_thread_write(context_here()->fiber->core, address, bytes);
}

/* ---- calls of C ---- */

static const int report_saves[] = { REG_RAX, REG_RDI, REG_RSI, REG_RDX };

static void begin_report(struct emit *e)
{
	for (unsigned i = 0; i < 4; i++)
		emit_save(e, (unsigned)report_saves[i], CTX_REG((unsigned)report_saves[i]));
}

static void end_report(struct emit *e, const void *function)
{
	emit_constant(e, REG_RAX, (uint64_t)function);
	emit_save(e, REG_RSP, CTX_REG(REG_RSP));
	emit_restore(e, REG_RSP, CTX_HOST_RSP);
	emit_near(e, 0xe8, (uint64_t)slope_gate_report);
	emit_restore(e, REG_RSP, CTX_REG(REG_RSP));
	for (unsigned i = 0; i < 4; i++)
		emit_restore(e, (unsigned)report_saves[i], CTX_REG((unsigned)report_saves[i]));
}

static void emit_move(struct emit *e, unsigned to, unsigned from)
{
	emit_byte(e, 0x48 | (from >> 3 & 1) << 2 | (to >> 3 & 1));
	emit_byte(e, 0x89);
	emit_byte(e, 0xc0 | (from & 7) << 3 | (to & 7));
}

void accesses_report(struct emit *e, const void *function, const struct argument argument[3])
{
	static const unsigned to[3] = { REG_RDI, REG_RSI, REG_RDX };

	begin_report(e);
	for (unsigned i = 0; i < 3; i++) {
		switch (argument[i].kind) {
		case ARGUMENT_CONSTANT:
			emit_constant(e, to[i], argument[i].value);
			break;
		case ARGUMENT_REGISTER:
			emit_move(e, to[i], (unsigned)argument[i].value);
			break;
		case ARGUMENT_CONTEXT:
			emit_restore(e, to[i], (uint32_t)argument[i].value);
			break;
		case ARGUMENT_NONE:
			break;
		}
	}
	end_report(e, function);
}

static void count_unit(struct emit *e, int unit, uint32_t add)
{
	uint32_t offset = CTX_COST + 8 * (uint32_t)unit;

	if (unit < 0 || !add)
		return;
	emit_restore(e, REG_RAX, offset);
	emit_bytes(e, "\x48\x8d\x80", 3);        /* lea add(%rax), %rax */
	emit_32(e, add);
	emit_save(e, REG_RAX, offset);
}

void accesses_count(struct emit *e, uint32_t instructions, uint32_t blocks)
{
	emit_save(e, REG_RAX, CTX_REG(REG_RAX));
	count_unit(e, observer.unit_ir, instructions);
	count_unit(e, observer.unit_bb, blocks);
	emit_restore(e, REG_RAX, CTX_REG(REG_RAX));
}

/* ---- addresses ---- */

static int register_number(ZydisRegister r)
{
	if (r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15)
		return (int)(r - ZYDIS_REGISTER_RAX);
	if (r >= ZYDIS_REGISTER_EAX && r <= ZYDIS_REGISTER_R15D)
		return (int)(r - ZYDIS_REGISTER_EAX);
	return NO_REGISTER;
}

static struct address address_of(const ZydisDecodedOperand *o, const ZydisDecodedInstruction *i, uint64_t pc)
{
	struct address a = {
		.base = register_number(o->mem.base), .index = register_number(o->mem.index),
		.displacement = o->mem.disp.has_displacement ? o->mem.disp.value : 0,
		.short_registers = i->address_width == 32, .in_fs = o->mem.segment == ZYDIS_REGISTER_FS,
	};

	while (1u << a.scale_log2 < o->mem.scale)
		a.scale_log2++;
	if (o->mem.base == ZYDIS_REGISTER_RIP)
		a.displacement += (int64_t)(pc + i->length);
	return a;
}

/* lea address, %reg */
static void emit_address(struct emit *e, unsigned reg, const struct address *a)
{
	unsigned base = a->base == NO_REGISTER ? 5 : (unsigned)a->base, index = a->index == NO_REGISTER ? 4 : (unsigned)a->index;

	if (a->base == NO_REGISTER && a->index == NO_REGISTER) {
		emit_constant(e, reg, (uint64_t)a->displacement);
		return;
	}
	if (a->short_registers)
		emit_byte(e, 0x67);
	emit_byte(e, 0x48 | (reg >> 3) << 2 | (index >> 3) << 1 | (base >> 3));
	emit_byte(e, 0x8d);
	emit_byte(e, (a->base == NO_REGISTER ? 0x04u : 0x84u) | (reg & 7) << 3);
	emit_byte(e, a->scale_log2 << 6 | (index & 7) << 3 | (base & 7));
	emit_32(e, (uint32_t)a->displacement);
}

/* A call of C for the access. */
static void emit_called(struct emit *e, const struct address *a, uint64_t bytes, bool write)
{
	begin_report(e);
	if (a->in_fs) {
		emit_address(e, REG_RSI, a);
		emit_bytes(e, "\xf3\x48\x0f\xae\xc7", 5);    /* rdfsbase %rdi */
		emit_bytes(e, "\x48\x8d\x3c\x37", 4);        /* lea (%rdi,%rsi), %rdi */
	} else {
		emit_address(e, REG_RDI, a);
	}
	emit_constant(e, REG_RSI, bytes);
	end_report(e, write ? (const void *)write_cells : (const void *)read_cells);
}

static void emit_access(struct emit *e, const struct address *a, uint64_t bytes, bool write)
{
	struct checks_jump jump;

	if (!observer.inlined || a->in_fs || !checks_size(bytes)) {
		emit_called(e, a, bytes, write);
		return;
	}
	checks_begin(e);
	emit_address(e, REG_RCX, a);
	jump = checks_emit(e, bytes, write);
	emit_called(e, a, bytes, write);
	checks_end(e, jump);
}

/* ---- masked moves ---- */

#define MASKED_WRITE 0x100u

static void masked_cells(uint64_t address, uint64_t kind, uint64_t mask)
{
	uint64_t bytes = kind & 0xff;

	for (; mask; mask >>= 1, address += bytes)
		if (mask & 1) {
			if (kind & MASKED_WRITE)
				write_cells(address, bytes);
			else
				read_cells(address, bytes);
		}
}

/* Bytes of an element of a move under a vector mask; 0: the instruction is none. */
static unsigned masked_element(const ZydisDecodedInstruction *i)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
		return 4;
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		return 8;
	default:
		return 0;
	}
}

/* vmovmskps or vmovmskpd of the mask register, which is always the second operand, into edx. */
static void emit_mask_bits(struct emit *e, const ZydisDecodedOperand *mask, bool doubles)
{
	bool wide = mask->reg.value >= ZYDIS_REGISTER_YMM0 && mask->reg.value <= ZYDIS_REGISTER_YMM15;
	unsigned number = (unsigned)(mask->reg.value - (wide ? ZYDIS_REGISTER_YMM0 : ZYDIS_REGISTER_XMM0));

	emit_byte(e, 0xc4);
	emit_byte(e, 0xc1 | (number < 8) << 5);
	emit_byte(e, 0x78 | (unsigned)wide << 2 | (unsigned)doubles);
	emit_byte(e, 0x50);
	emit_byte(e, 0xc0 | REG_RDX << 3 | (number & 7));
}

static void emit_masked(struct emit *e, const struct address *a, const ZydisDecodedOperand *mask, unsigned bytes, bool write)
{
	begin_report(e);
	emit_address(e, REG_RDI, a);
	emit_constant(e, REG_RSI, bytes | (write ? MASKED_WRITE : 0));
	emit_mask_bits(e, mask, bytes == 8);
	end_report(e, (const void *)masked_cells);
}

/* ---- operands ---- */

static void say_unseen(const char *what)
{
	static bool said;

	if (!said)
		system_say("the program uses ", what, ", whose reads and writes the translator does not see yet", NULL);
	said = true;
}

static bool touches_no_data(const ZydisDecodedInstruction *i)
{
	switch (i->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
		return true;
	default:
		return i->mnemonic == ZYDIS_MNEMONIC_CLFLUSH || i->mnemonic == ZYDIS_MNEMONIC_CLFLUSHOPT ||
		       i->mnemonic == ZYDIS_MNEMONIC_CLWB;
	}
}

/* Where the stack's hidden operand really lies, before the instruction. */
static void correct_stack_address(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o, struct address *a)
{
	bool hidden = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

	if (i->mnemonic == ZYDIS_MNEMONIC_LEAVE && hidden) {
		*a = (struct address){ .base = REG_RBP, .index = NO_REGISTER };
		return;
	}
	if (a->base != REG_RSP)
		return;
	if (hidden && o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		a->displacement -= o->size / 8;
	if (!hidden && i->mnemonic == ZYDIS_MNEMONIC_POP)
		a->displacement += i->operand_width / 8;
}

static void emit_operand(struct emit *e, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o,
			 const ZydisDecodedOperand *all, uint64_t pc, bool write)
{
	ZydisOperandActions mask = write ? ZYDIS_OPERAND_ACTION_MASK_WRITE : ZYDIS_OPERAND_ACTION_MASK_READ;
	struct address a;

	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || !(o->actions & mask) || o->size < 8)
		return;
	/* A call's or a return's own word is no data; what a call reads to find its target is. */
	if (touches_no_data(i) && (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN || i->meta.category != ZYDIS_CATEGORY_CALL))
		return;
	if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return;
	if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM || i->mnemonic == ZYDIS_MNEMONIC_XLAT) {
		say_unseen("instructions that gather and scatter");
		return;
	}
	a = address_of(o, i, pc);
	correct_stack_address(i, o, &a);
	if (masked_element(i) && !a.in_fs)
		emit_masked(e, &a, &all[1], masked_element(i), write);
	else
		emit_access(e, &a, o->size / 8, write);
}

void accesses_emit(struct emit *e, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand, uint64_t pc)
{
	for (unsigned n = 0; n < i->operand_count; n++)
		emit_operand(e, i, &operand[n], operand, pc, false);
	for (unsigned n = 0; n < i->operand_count; n++)
		emit_operand(e, i, &operand[n], operand, pc, true);
}

bool accesses_sets_stack(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand)
{
	const ZydisDecodedOperand *to = NULL;

	if (i->mnemonic == ZYDIS_MNEMONIC_LEAVE)
		return true;
	for (unsigned n = 0; n < i->operand_count_visible; n++)
		if (operand[n].type == ZYDIS_OPERAND_TYPE_REGISTER && operand[n].reg.value == ZYDIS_REGISTER_RSP &&
		    operand[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			to = &operand[n];
	if (!to)
		return false;
	if (i->mnemonic == ZYDIS_MNEMONIC_XCHG)
		return true;
	if (to->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		return false;            /* computed from itself */
	return !(i->mnemonic == ZYDIS_MNEMONIC_LEA && operand[1].mem.base == ZYDIS_REGISTER_RSP);
}
