/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls of plain C out of translated code, keeping all registers and flags:
 * each access with --access=call, and what the shorter ways of checks.c and
 * transfers.c leave over.
 */
#include "sources/translator/observing.h"

#include "sources/translator/taking.h"
#include "sources/translator/vectors.h"

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

void reports_seen(uint64_t address)
{
	struct slope_thread *core = context_here()->core;
	uint64_t cell = address >> 2;

	slope_sharing_seen(core, cell, core->shadow.window + cell, core->steps.kept);
}

void reports_had(uint64_t address, uint64_t bytes)
{
	struct slope_thread *core = context_here()->core;
	uint64_t cell = address >> 2;

	slope_sharing_had(core, cell, core->shadow.window + cell, bytes / 4);
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

static unsigned bits_in(uint64_t mask)
{
	unsigned n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

/* Elements that lie side by side are one access. */
void reports_masked(uint64_t address, uint64_t kind, uint64_t mask)
{
	uint64_t bytes = kind & 0xff, count = kind >> 16;

	mask &= UINT64_MAX >> (64 - count);
	if (kind & MASKED_PACKED)
		mask = mask ? UINT64_MAX >> (64 - bits_in(mask)) : 0;
	while (mask) {
		unsigned from = (unsigned)__builtin_ctzll(mask);
		uint64_t rest = ~(mask >> from);
		unsigned run = rest ? (unsigned)__builtin_ctzll(rest) : 64;

		if (kind & MASKED_WRITE)
			reports_write(address + from * bytes, run * bytes);
		else
			reports_read(address + from * bytes, run * bytes);
		mask = from + run < 64 ? mask >> (from + run) << (from + run) : 0;
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

/* kmovw or, for more than 16 elements, kmovq of a mask register into rdx. */
static void emit_mask_register(struct emit *e, ZydisRegister mask, unsigned count)
{
	if (observer.vectors)
		vectors_load(e, vectors_bit(mask));
	emit_bytes(e, count > 16 ? "\xc4\xe1\xfb" : "\xc4\xe1\x78", 3);
	emit_byte(e, 0x93);
	emit_byte(e, 0xc0 | REG_RDX << 3 | (unsigned)(mask - ZYDIS_REGISTER_K0));
}

/* The bits of the mask into rdx, and what else may be there. */
static void emit_mask(struct emit *e, const struct access *a)
{
	ZydisRegister mask = (ZydisRegister)a->mask;

	if (mask >= ZYDIS_REGISTER_K0 && mask <= ZYDIS_REGISTER_K7)
		emit_mask_register(e, mask, a->count);
	else
		emit_mask_bits(e, mask, a->element == 8);
}

/* Which one it is, and its length: 0, 1 or 2 for 16, 32 and 64 bytes. */
static unsigned vector_number(ZydisRegister r, unsigned *length)
{
	static const ZydisRegister first[3] = { ZYDIS_REGISTER_XMM0, ZYDIS_REGISTER_YMM0, ZYDIS_REGISTER_ZMM0 };

	for (*length = 0; *length < 2 && !(r >= first[*length] && r < first[*length] + 32); ++*length)
		;
	return (unsigned)(r - first[*length]);
}

/* vmovdqu or vmovdqu64 of a vector register into the context. */
static void emit_keep_vector(struct emit *e, ZydisRegister vector)
{
	unsigned length, number = vector_number(vector, &length);

	emit_byte(e, 0x65);
	if (number < 16 && length < 2) {
		emit_byte(e, 0xc5);
		emit_byte(e, (number < 8) << 7 | 0x78 | length << 2 | 2);
	} else {
		emit_byte(e, 0x62);
		emit_byte(e, (unsigned)!(number & 8) << 7 | 0x60 | (unsigned)!(number & 16) << 4 | 1);
		emit_byte(e, 0xfe);
		emit_byte(e, length << 5 | 8);
	}
	emit_byte(e, 0x7f);
	emit_byte(e, (number & 7) << 3 | 4);
	emit_byte(e, 0x25);
	emit_32(e, CTX_VECTOR);
}

/* What gathers or scatters, with its indices in the context. */
#define SCATTERS 0x80u
#define LONG_INDICES 0x40u
static void spread_cells(uint64_t address, uint64_t kind, uint64_t mask)
{
	uint64_t vector[8], bytes = kind & 0xf, scale = kind >> 8 & 0xf, count = kind >> 16;

	slope_copy(vector, context_here()->vector, sizeof vector);       /* who reads may need that place */
	for (uint64_t n = 0; n < count; n++) {
		int64_t index = kind & LONG_INDICES ? (int64_t)vector[n] : (int32_t)(vector[n / 2] >> n % 2 * 32);
		uint64_t at = address + (uint64_t)index * scale;

		if (!(mask >> n & 1))
			continue;
		if (kind & SCATTERS)
			reports_write(at, bytes);
		else
			reports_read(at, bytes);
	}
}

/* The address into rdi; rsi, or rax where that is kept, may change. */
static void load_address(struct emit *e, const struct address *at, bool keep_rsi)
{
	emit_address(e, REG_RDI, at, 0);
	if (at->in_fs) {
		emit_bytes(e, keep_rsi ? "\xf3\x48\x0f\xae\xc0" : "\xf3\x48\x0f\xae\xc6", 5);      /* rdfsbase %rax or %rsi */
		emit_bytes(e, keep_rsi ? "\x48\x8d\x3c\x07" : "\x48\x8d\x3c\x37", 4);              /* lea (%rdi,%rsi), %rdi */
	}
}

/* The unit, of so many bytes, that the index selects; of xlat, whose are bytes, the index is a byte. */
static void indexed_cell(uint64_t address, uint64_t kind, uint64_t index)
{
	uint64_t bytes = kind & 0xff;
	int64_t units = bytes == 1 ? (uint8_t)index : bytes == 2 ? (int16_t)index >> 4 :
			bytes == 4 ? (int32_t)index >> 5 : (int64_t)index >> 6;

	if (kind & MASKED_WRITE)
		reports_write(address + (uint64_t)units * bytes, bytes);
	else
		reports_read(address + (uint64_t)units * bytes, bytes);
}

static void report_indexed(struct emit *e, const struct access *a)
{
	static const int order[] = { REG_RDX, REG_RAX, REG_RSI };
	unsigned n = 0;

	while (order[n] == a->at.base || order[n] == a->at.index)
		n++;
	emit_move(e, (unsigned)order[n], a->by);
	load_address(e, &a->at, order[n] == REG_RSI);
	if (order[n] != REG_RDX)
		emit_move(e, REG_RDX, (unsigned)order[n]);
	emit_constant(e, REG_RSI, a->bytes | (a->write ? MASKED_WRITE : 0));
	end_report(e, (const void *)indexed_cell);
}

/* The address is that of an index of 0; its own scale is the indices'. */
static void report_spread(struct emit *e, const struct access *a)
{
	struct address origin = a->at;

	origin.scale_log2 = 0;
	if (observer.vectors)
		vectors_load(e, vectors_bit((ZydisRegister)a->indices));
	emit_keep_vector(e, (ZydisRegister)a->indices);
	load_address(e, &origin, false);
	emit_constant(e, REG_RSI, a->element | (a->write ? SCATTERS : 0) | (a->index_bytes == 8 ? LONG_INDICES : 0) |
		      1u << a->at.scale_log2 << 8 | (uint32_t)a->count << 16);
	emit_mask(e, a);
	end_report(e, (const void *)spread_cells);
}

static uint32_t masked_kind(const struct access *a)
{
	return a->element | (a->write ? MASKED_WRITE : 0) | (a->packed ? MASKED_PACKED : 0) | (uint32_t)a->count << 16;
}

/* A read under a mask, without a way into C. */
static void call_masked_read(struct emit *e, const struct access *a)
{
	emit_save(e, REG_RAX, CTX_REG(REG_RAX));
	emit_address(e, REG_RAX, &a->at, 0);
	emit_save(e, REG_RCX, CTX_REG(REG_RCX));
	emit_save(e, REG_RDX, CTX_REG(REG_RDX));
	emit_mask(e, a);
	emit_move(e, REG_RCX, REG_RDX);
	emit_constant(e, REG_RDX, masked_kind(a));
	emit_save(e, REG_RSP, CTX_REG(REG_RSP));
	emit_restore(e, REG_RSP, CTX_HOST_RSP);
	emit_near(e, 0xe8, (uint64_t)(observer.trms ? slope_gate_masked_read_kept : slope_gate_masked_read));
	emit_restore(e, REG_RSP, CTX_REG(REG_RSP));
	emit_restore(e, REG_RDX, CTX_REG(REG_RDX));
	emit_restore(e, REG_RCX, CTX_REG(REG_RCX));
	emit_restore(e, REG_RAX, CTX_REG(REG_RAX));
}

void reports_access(struct emit *e, const struct access *a)
{
	if (a->element && !a->indices && !a->write && !a->at.in_fs && observer.inlined && observer.vectors) {
		call_masked_read(e, a);
		return;
	}
	begin_report(e);
	if (a->indices) {
		report_spread(e, a);
		return;
	}
	if (a->indexed) {
		report_indexed(e, a);
		return;
	}
	load_address(e, &a->at, false);
	if (a->element) {
		emit_constant(e, REG_RSI, masked_kind(a));
		emit_mask(e, a);
		end_report(e, (const void *)reports_masked);
		return;
	}
	emit_constant(e, REG_RSI, a->bytes);
	end_report(e, a->write ? (const void *)reports_write : (const void *)reports_read);
}
