/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls of plain C out of translated code, keeping all registers and flags:
 * each access with --access=call, and what the shorter ways of checks.c and
 * transfers.c leave over.
 */
#include "sources/translator/observing.h"

#include "sources/translator/taking.h"

#define LONG_BYTES 12u           /* so many are worth vectors */

/* Could there be memory of a program's? */
static bool is_address(uint64_t address)
{
	return SLOPE_LIKELY(address - PLAN_LOWEST < (UINT64_C(1) << 47) - PLAN_LOWEST);
}

/* What comes most often: 4-byte cells in a window. */
void reports_read(uint64_t address, uint64_t bytes)
{
	struct context *ctx = context_here();
	struct slope_thread *core = ctx->fiber->core;
	uint64_t cell = address >> 2, last = (address + bytes - 1) >> 2;

	if (!is_address(address) || !bytes)
		return;
	if (!observer.inlined || last >= core->shadow.window_cells)
		slope_thread_read(core, address, bytes);
	else if (bytes >= LONG_BYTES && ctx->by_16)
		taking_read(core, cell, core->shadow.window + cell, last - cell + 1);
	else
		slope_thread_read_words(core, cell, core->shadow.window + cell, last - cell + 1);
}

void reports_read_cell(uint64_t address)
{
	struct slope_thread *core = context_here()->core;
	uint64_t cell = address >> 2;

	if (address % 4 || cell >= core->shadow.window_cells || !slope_thread_read_handed(core, cell, core->shadow.window + cell))
		reports_read(address, 4);
}

void reports_write(uint64_t address, uint64_t bytes)
{
	if (is_address(address))
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

void reports_call(struct emit *e, const void *function, const struct argument argument[3])
{
	static const unsigned to[3] = { REG_RDI, REG_RSI, REG_RDX };

	begin_report(e);
	for (unsigned i = 0; i < 3; i++) {
		if (argument[i].kind == ARGUMENT_REGISTER)
			emit_move(e, to[i], (unsigned)argument[i].value);
		else if (argument[i].kind == ARGUMENT_CONSTANT)
			emit_constant(e, to[i], argument[i].value);
		else if (argument[i].kind == ARGUMENT_CONTEXT)
			emit_restore(e, to[i], (uint32_t)argument[i].value);
	}
	end_report(e, function);
}

/* ---- accesses ---- */

#define MASKED_WRITE 0x100u

static void masked_cells(uint64_t address, uint64_t kind, uint64_t mask)
{
	uint64_t bytes = kind & 0xff;

	for (; mask; mask >>= 1, address += bytes)
		if (mask & 1) {
			if (kind & MASKED_WRITE)
				reports_write(address, bytes);
			else
				reports_read(address, bytes);
		}
}

/* vmovmskps or vmovmskpd of the mask register into edx. */
static void emit_mask_bits(struct emit *e, ZydisRegister mask, bool doubles)
{
	bool wide = mask >= ZYDIS_REGISTER_YMM0 && mask <= ZYDIS_REGISTER_YMM15;
	unsigned number = (unsigned)(mask - (wide ? ZYDIS_REGISTER_YMM0 : ZYDIS_REGISTER_XMM0));

	emit_byte(e, 0xc4);
	emit_byte(e, 0xc1 | (number < 8) << 5);
	emit_byte(e, 0x78 | (unsigned)wide << 2 | (unsigned)doubles);
	emit_byte(e, 0x50);
	emit_byte(e, 0xc0 | REG_RDX << 3 | (number & 7));
}

void reports_access(struct emit *e, const struct access *a)
{
	begin_report(e);
	if (a->at.in_fs) {
		emit_address(e, REG_RSI, &a->at, 0);
		emit_bytes(e, "\xf3\x48\x0f\xae\xc7", 5);    /* rdfsbase %rdi */
		emit_bytes(e, "\x48\x8d\x3c\x37", 4);        /* lea (%rdi,%rsi), %rdi */
	} else {
		emit_address(e, REG_RDI, &a->at, 0);
	}
	if (a->element) {
		emit_constant(e, REG_RSI, a->element | (a->write ? MASKED_WRITE : 0));
		emit_mask_bits(e, (ZydisRegister)a->mask, a->element == 8);
		end_report(e, (const void *)masked_cells);
		return;
	}
	emit_constant(e, REG_RSI, a->bytes);
	end_report(e, a->write ? (const void *)reports_write : (const void *)reports_read);
}
