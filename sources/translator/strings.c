/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repeated string instructions. They run as they are; afterwards the registers
 * tell how often they did, and all elements are reported at once where that
 * comes to the same as one by one. As in the
 * Valgrind source every repetition is an instruction and, but for the first, a
 * block, and so is the last look at a counter that is zero.
 */
#include "sources/translator/observing.h"

#define SPARE_RCX CTX_SPARE
#define SPARE_RSI (CTX_SPARE + 8)
#define SPARE_RDI (CTX_SPARE + 16)

/* What an instruction does, in one word: element size, and these. */
#define READS_SI 0x100u
#define READS_DI 0x200u
#define WRITES_DI 0x400u
#define COMPARES_A 0x800u        /* with the accumulator */
#define UNTIL_EQUAL 0x1000u
#define UNTIL_OTHER 0x2000u

static uint32_t kind_of(const ZydisDecodedInstruction *i)
{
	static const struct { ZydisMnemonic mnemonic; uint32_t kind; } list[] = {
		{ ZYDIS_MNEMONIC_MOVSB, READS_SI | WRITES_DI | 1 }, { ZYDIS_MNEMONIC_MOVSW, READS_SI | WRITES_DI | 2 },
		{ ZYDIS_MNEMONIC_MOVSD, READS_SI | WRITES_DI | 4 }, { ZYDIS_MNEMONIC_MOVSQ, READS_SI | WRITES_DI | 8 },
		{ ZYDIS_MNEMONIC_STOSB, WRITES_DI | 1 }, { ZYDIS_MNEMONIC_STOSW, WRITES_DI | 2 },
		{ ZYDIS_MNEMONIC_STOSD, WRITES_DI | 4 }, { ZYDIS_MNEMONIC_STOSQ, WRITES_DI | 8 },
		{ ZYDIS_MNEMONIC_LODSB, READS_SI | 1 }, { ZYDIS_MNEMONIC_LODSW, READS_SI | 2 },
		{ ZYDIS_MNEMONIC_LODSD, READS_SI | 4 }, { ZYDIS_MNEMONIC_LODSQ, READS_SI | 8 },
		{ ZYDIS_MNEMONIC_CMPSB, READS_SI | READS_DI | 1 }, { ZYDIS_MNEMONIC_CMPSW, READS_SI | READS_DI | 2 },
		{ ZYDIS_MNEMONIC_CMPSD, READS_SI | READS_DI | 4 }, { ZYDIS_MNEMONIC_CMPSQ, READS_SI | READS_DI | 8 },
		{ ZYDIS_MNEMONIC_SCASB, READS_DI | COMPARES_A | 1 }, { ZYDIS_MNEMONIC_SCASW, READS_DI | COMPARES_A | 2 },
		{ ZYDIS_MNEMONIC_SCASD, READS_DI | COMPARES_A | 4 }, { ZYDIS_MNEMONIC_SCASQ, READS_DI | COMPARES_A | 8 },
	};
	uint32_t kind = 0;

	for (size_t n = 0; n < sizeof list / sizeof *list; n++)
		if (list[n].mnemonic == i->mnemonic)
			kind = list[n].kind;
	if (kind & READS_DI)
		kind |= i->attributes & ZYDIS_ATTRIB_HAS_REPNE ? UNTIL_EQUAL : UNTIL_OTHER;
	return kind;
}

bool strings_run_out(const ZydisDecodedInstruction *i)
{
	uint32_t kind = kind_of(i);

	return kind && !(kind & READS_DI) && i->address_width == 64;
}

static uint64_t element(uint64_t address, uint32_t bytes)
{
	uint64_t value = 0;

	slope_copy(&value, (const void *)address, bytes);
	return value;
}

/* Did the last comparison end it, and not the counter? */
static bool ended_by_comparison(uint32_t kind, uint64_t si, uint64_t di, uint64_t accumulator)
{
	uint32_t bytes = kind & 0xff;
	uint64_t with;

	if (!(kind & (UNTIL_EQUAL | UNTIL_OTHER)))
		return false;
	with = kind & COMPARES_A ? accumulator & (UINT64_MAX >> (64 - 8 * bytes)) : element(si, bytes);
	return (with == element(di, bytes)) == ((kind & UNTIL_EQUAL) != 0);
}

/* How it goes from element to element. The registers that were saved for this call are those behind the instruction. */
static uint64_t step_of(const struct context *ctx, uint64_t kind)
{
	uint64_t bytes = kind & 0xff;
	uint64_t moved = kind & (WRITES_DI | READS_DI) ? ctx->reg[REG_RDI] - ctx->spare[2] : ctx->reg[REG_RSI] - ctx->spare[1];

	return (int64_t)moved < 0 ? -bytes : bytes;
}

uint64_t strings_extra(uint64_t kind, uint64_t left)
{
	struct context *ctx = context_here();
	uint64_t times = ctx->spare[0] - left, last = (times - 1) * step_of(ctx, kind);

	if (times && ended_by_comparison((uint32_t)kind, ctx->spare[1] + last, ctx->spare[2] + last, ctx->reg[REG_RAX]))
		return times - 1;
	return times;
}

/*
 * May all reads of a copy come before all of its writes? Not where a cell is written before it is first read: if the target
 * lies ahead of the source, in the direction that the copy takes.
 */
static bool reads_come_first(uint64_t ahead, uint64_t bytes)
{
	return ahead == 0 || ahead >= bytes + 3;
}

/* `times` elements of it, the first one at si and di. */
static void touch(struct slope_thread *core, uint64_t kind, uint64_t times, uint64_t si, uint64_t di, uint64_t step)
{
	uint64_t bytes = (kind & 0xff) * times, back = (int64_t)step < 0 ? bytes - (kind & 0xff) : 0;

	if (kind & READS_SI)
		reports_read(si - back, bytes);
	if (kind & READS_DI)
		reports_read(di - back, bytes);
	if (kind & WRITES_DI)
		slope_thread_write(core, di - back, bytes);
}

static void repeated(uint64_t kind, uint64_t left)
{
	struct context *ctx = context_here();
	struct slope_thread *core = ctx->fiber->core;
	uint64_t times = ctx->spare[0] - left, si = ctx->spare[1], di = ctx->spare[2], size = kind & 0xff;
	uint64_t step = step_of(ctx, kind), extra = strings_extra(kind, left);
	bool down = (int64_t)step < 0, copies = kind & READS_SI && kind & WRITES_DI;

	if (!copies || reads_come_first(down ? si - di : di - si, size * times))
		touch(core, kind, times, si, di, step);
	else
		for (uint64_t n = 0; n < times; n++, si += step, di += step)
			touch(core, kind, 1, si, di, step);
	if (observer.unit_ir >= 0)
		ctx->cost[observer.unit_ir] += extra;
	if (observer.unit_bb >= 0)
		ctx->cost[observer.unit_bb] += extra;
}

void strings_before(struct emit *e)
{
	emit_save(e, REG_RCX, SPARE_RCX);
	emit_save(e, REG_RSI, SPARE_RSI);
	emit_save(e, REG_RDI, SPARE_RDI);
}

void strings_after(struct emit *e, const ZydisDecodedInstruction *i)
{
	reports_call(e, (const void *)repeated, (const struct argument[3]){
		{ ARGUMENT_CONSTANT, kind_of(i) }, { ARGUMENT_REGISTER, REG_RCX },
	});
}

void strings_count(struct emit *e, const ZydisDecodedInstruction *i, const void *function, const void *argument)
{
	reports_call(e, function, (const struct argument[3]){
		{ ARGUMENT_CONSTANT, kind_of(i) }, { ARGUMENT_REGISTER, REG_RCX }, { ARGUMENT_CONSTANT, (uint64_t)argument },
	});
}
