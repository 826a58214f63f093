/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/vectors.h"

#include <asm/sigcontext.h>

#include "sources/translator/observing.h"
#include "sources/translator/runtime.h"
#include "sources/translator/signals.h"

/* Components of XSAVE: masks, and zmm16 to zmm31. */
#define COMPONENT_MASKS 5u
#define COMPONENT_UPPER 7u
#define UPPER_FIRST 16u
#define VECTOR_BYTES 64u

/* ---- which ---- */

static bool is_among(ZydisRegister r, ZydisRegister first, unsigned from)
{
	return r >= first + from && r < first + from + VECTORS_OURS;
}

uint32_t vectors_bit(ZydisRegister r)
{
	static const ZydisRegister first[3] = { ZYDIS_REGISTER_XMM0, ZYDIS_REGISTER_YMM0, ZYDIS_REGISTER_ZMM0 };

	for (unsigned length = 0; length < 3; length++)
		if (is_among(r, first[length], VECTORS_FIRST))
			return 1u << (r - first[length] - VECTORS_FIRST);
	return r == ZYDIS_REGISTER_K6 || r == ZYDIS_REGISTER_K7 ? VECTORS_MASKS : 0;
}

/* It saves or loads what the kernel's picture has. */
static bool is_state(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
	case ZYDIS_MNEMONIC_XRSTOR:
	case ZYDIS_MNEMONIC_XRSTOR64:
		return true;
	default:
		return false;
	}
}

uint32_t vectors_named(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand)
{
	uint32_t named = 0;

	if (i->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return is_state(i->mnemonic) ? VECTORS_ALL : 0;
	for (unsigned n = 0; n < i->operand_count; n++) {
		if (operand[n].type == ZYDIS_OPERAND_TYPE_REGISTER)
			named |= vectors_bit(operand[n].reg.value);
		else if (operand[n].type == ZYDIS_OPERAND_TYPE_MEMORY)
			named |= vectors_bit(operand[n].mem.index);
	}
	return named | vectors_bit(i->avx.mask.reg);
}

/* ---- code ---- */

/* vmovdqu64 between one of them and its place in the context. */
static void emit_vector(struct emit *e, unsigned opcode, unsigned n)
{
	unsigned number = VECTORS_FIRST + n;

	emit_byte(e, 0x65);
	emit_byte(e, 0x62);
	emit_byte(e, (unsigned)!(number & 8) << 7 | 0x60 | (unsigned)!(number & 16) << 4 | 1);
	emit_byte(e, 0xfe);
	emit_byte(e, 0x48);
	emit_byte(e, opcode);
	emit_byte(e, (number & 7) << 3 | 4);
	emit_byte(e, 0x25);
	emit_32(e, CTX_VECTORS + VECTOR_BYTES * n);
}

/* kmovq. */
static void emit_mask(struct emit *e, unsigned opcode, unsigned n)
{
	emit_bytes(e, "\x65\xc4\xe1\xf8", 4);
	emit_byte(e, opcode);
	emit_byte(e, (6 + n) << 3 | 4);
	emit_byte(e, 0x25);
	emit_32(e, CTX_MASKS + 8 * n);
}

static void emit_all(struct emit *e, uint32_t named, unsigned opcode, unsigned mask_opcode)
{
	for (unsigned n = 0; n < VECTORS_OURS; n++)
		if (named >> n & 1)
			emit_vector(e, opcode, n);
	for (unsigned n = 0; n < 2 && named & VECTORS_MASKS; n++)
		emit_mask(e, mask_opcode, n);
}

/* vmovq. */
static void emit_move_vector(struct emit *e, unsigned opcode, unsigned n, unsigned reg)
{
	emit_byte(e, 0x62);
	emit_byte(e, 0x41 | (reg < 8) << 5);
	emit_bytes(e, "\xfd\x08", 2);
	emit_byte(e, opcode);
	emit_byte(e, 0xc0 | n << 3 | (reg & 7));
}

#define VPADDQ 0xd4
#define VPSUBQ 0xfb

/* One of these: to xmm30, or from it; where k6 is set, if `masked`. */
static void emit_add_where(struct emit *e, unsigned opcode, const uint64_t addend[2], bool masked)
{
	emit_bytes(e, "\x62\x61\x8d", 3);
	emit_byte(e, masked ? 6 : 0);
	emit_byte(e, opcode);
	emit_byte(e, 0x35);
	emit_32(e, (uint32_t)((uint64_t)addend - ((uint64_t)e->at + 4)));
}

static void emit_add(struct emit *e, unsigned opcode, const uint64_t addend[2])
{
	emit_add_where(e, opcode, addend, false);
}

/* vmovdqu64 between xmm30 and the context. */
static void emit_sums(struct emit *e, unsigned opcode)
{
	emit_bytes(e, "\x65\x62\x61\xfe\x08", 5);
	emit_byte(e, opcode);
	emit_bytes(e, "\x34\x25", 2);
	emit_32(e, CTX_LOG);
}

/* movb */
static void emit_sums_are(struct emit *e, unsigned where)
{
	emit_bytes(e, "\x65\xc6\x04\x25", 4);
	emit_32(e, CTX_SUMS);
	emit_byte(e, where);
}

void vectors_load(struct emit *e, uint32_t named)
{
	if (named >> VECTORS_SUMS & 1) {
		emit_add(e, VPSUBQ, slope_gate_log_at);
		emit_sums(e, 0x7f);
		emit_sums_are(e, SUMS_AWAY);
	}
	emit_all(e, named, 0x6f, 0x90);
}

void vectors_store(struct emit *e, uint32_t named)
{
	emit_all(e, named, 0x7f, 0x91);
	if (named >> VECTORS_SUMS & 1) {
		emit_sums(e, 0x6f);
		emit_add(e, VPADDQ, slope_gate_log_at);
		emit_sums_are(e, SUMS_HELD);
	}
}

void vectors_log_end(struct emit *e, unsigned reg)
{
	emit_move_vector(e, 0x7e, VECTORS_SUMS, reg);
}

void vectors_log_entry(struct emit *e, unsigned reg, bool wide)
{
	bool sib = (reg & 7) == REG_RSP, displacement = (reg & 7) == REG_RBP;

	emit_bytes(e, "\x65\x62", 2);                             /* vmovd or vmovq %xmm31, %gs:(%reg) */
	emit_byte(e, 0x41 | (unsigned)(reg < 8) << 5);
	emit_byte(e, wide ? 0xfd : 0x7d);
	emit_bytes(e, "\x08\x7e", 2);
	emit_byte(e, (unsigned)displacement << 6 | 0x38 | (reg & 7));
	if (sib)
		emit_byte(e, 0x24);
	if (displacement)
		emit_byte(e, 0);
}

void vectors_log_more(struct emit *e, unsigned entries)
{
	emit_add(e, VPADDQ, slope_gate_entries[entries - 1]);
}

/* vmovd between the n-th of ours and a shadow word; vmovq, if it is two. */
static void emit_words(struct emit *e, unsigned opcode, unsigned n, const struct address *a, bool wide)
{
	int bytes = wide ? 8 : 4;
	int64_t displacement = a->displacement + GS_BIAS;
	unsigned base = a->base == NO_REGISTER ? 5 : (unsigned)a->base, index = a->index == NO_REGISTER ? 4 : (unsigned)a->index;
	bool based = a->base != NO_REGISTER, sib = !based || a->index != NO_REGISTER || (base & 7) == 4;
	bool little = based && displacement % bytes == 0 && displacement / bytes == (int8_t)(displacement / bytes);

	if (a->short_registers)
		emit_byte(e, 0x67);
	emit_bytes(e, "\x65\x62", 2);
	emit_byte(e, (index < 8) << 6 | (base < 8) << 5 | 1);
	emit_byte(e, wide ? 0xfd : 0x7d);
	emit_byte(e, 0x08);
	emit_byte(e, opcode);
	emit_byte(e, (based ? little ? 0x40 : 0x80 : 0) | n << 3 | (sib ? 4 : base & 7));
	if (sib)
		emit_byte(e, a->scale_log2 << 6 | (index & 7) << 3 | (base & 7));
	if (little)
		emit_byte(e, (unsigned)(displacement / bytes) & 0xff);
	else
		emit_32(e, (uint32_t)displacement);
}

void vectors_word(struct emit *e, const struct address *at)
{
	emit_words(e, 0x6e, VECTORS_FREE, at, false);
}

#define VPADDD 0xfe
#define VPANDND 0xdf
#define VPORD 0xeb

/* One of these, of one of ours and what lies in memory, into another one. */
static void emit_constant_to(struct emit *e, unsigned opcode, unsigned to, unsigned from, const uint32_t constant[4])
{
	emit_bytes(e, "\x62\x61", 2);
	emit_byte(e, (7 - from) << 3 | 5);
	emit_byte(e, 0);
	emit_byte(e, opcode);
	emit_byte(e, to << 3 | 5);
	emit_32(e, (uint32_t)((uint64_t)constant - ((uint64_t)e->at + 4)));
}

/* The stamp in the first one of ours becomes what cells become whose words are in the free one. By way of the second. */
static void own_or_seen(struct emit *e)
{
	emit_constant_to(e, VPANDND, 1, VECTORS_FREE, slope_gate_ones);
	emit_bytes(e, "\x62\x01\x3d\x00\xfe\xc1", 6);       /* vpaddd %xmm25, %xmm24, %xmm24 */
	emit_constant_to(e, VPORD, 0, 0, slope_gate_marks);
}

void vectors_fresh_word(struct emit *e, unsigned stamp, const struct address *at, bool trms)
{
	vectors_put(e, 0, stamp);
	emit_bytes(e, "\x62\x91\x3d\x00\x66\xf7", 6);           /* vpcmpgtd %xmm31, %xmm24, %k6 */
	if (trms)
		own_or_seen(e);
	emit_bytes(e, "\x62\x02\x3d\x00\x3d\xc7", 6);           /* vpmaxsd %xmm31, %xmm24, %xmm24 */
	emit_words(e, 0x7e, 0, at, false);
}

void vectors_seen_words(struct emit *e, unsigned stamp, const struct address *at, bool wide, bool shared)
{
	vectors_put(e, 0, stamp);
	if (shared) {
		emit_constant_to(e, VPADDD, 0, 0, slope_gate_ones);
		emit_constant_to(e, VPORD, 0, 0, slope_gate_marks);
	} else {
		own_or_seen(e);
	}
	emit_words(e, 0x7e, 0, at, wide);
}

void vectors_log_more_if_stale(struct emit *e)
{
	emit_add_where(e, VPADDQ, slope_gate_entries[0], true);
}

void vectors_cost_more(struct emit *e, int32_t cost)
{
	for (; cost > SUMS_COST_MAX; cost -= SUMS_COST_MAX)
		emit_add(e, VPADDQ, slope_gate_costs[2 * SUMS_COST_MAX]);
	for (; cost < -SUMS_COST_MAX; cost += SUMS_COST_MAX)
		emit_add(e, VPADDQ, slope_gate_costs[0]);
	if (cost)
		emit_add(e, VPADDQ, slope_gate_costs[cost + SUMS_COST_MAX]);
}

void vectors_put(struct emit *e, unsigned n, unsigned reg)
{
	emit_move_vector(e, 0x6e, n, reg);
}

void vectors_get(struct emit *e, unsigned n, unsigned reg)
{
	emit_move_vector(e, 0x7e, n, reg);
}

const struct usual_gates *vectors_gates(void)
{
	return &slope_gate_usual[observer.vectors];
}

void vectors_keep(struct emit *e, unsigned n, unsigned reg)
{
	if (observer.vectors)
		vectors_put(e, n, reg);
	else
		emit_save(e, reg, CTX_REG(reg));
}

/* ---- signals ---- */

/* Where a component lies in the kernel's picture. The processor takes long to say it: it is asked once. */
static uint32_t component_at(unsigned component)
{
	static uint32_t known[COMPONENT_UPPER + 1];
	uint32_t a = 0xd, b = known[component], c = component, d;

	if (!b) {
		__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
		known[component] = b;
	}
	return b;
}

/* The component, which is in use from now on. */
static void *use_component(struct _xstate *state, unsigned component, size_t bytes)
{
	char *at = (char *)state + component_at(component);

	if (!(state->xstate_hdr.xfeatures >> component & 1))
		memset(at, 0, bytes);
	state->xstate_hdr.xfeatures |= UINT64_C(1) << component;
	return at;
}

/* Where the kernel's picture has the sums. */
static char *sums_in(const struct ucontext *uc)
{
	struct _xstate *state = (struct _xstate *)uc->uc_mcontext.fpstate;

	return (char *)use_component(state, COMPONENT_UPPER, UPPER_FIRST * VECTOR_BYTES) +
	       (VECTORS_FIRST + VECTORS_SUMS - UPPER_FIRST) * VECTOR_BYTES;
}

void vectors_sums_come(struct context *ctx, const struct ucontext *uc)
{
	slope_copy(&ctx->log, sums_in(uc), 2 * sizeof ctx->log);
	ctx->log -= (uint64_t)CTX_LOG_AT;
	ctx->sums = SUMS_AWAY;
}

void vectors_sums_go(struct context *ctx, struct ucontext *uc)
{
	uint64_t sums[2] = { ctx->log + (uint64_t)CTX_LOG_AT, ctx->cost[0] };

	slope_copy(sums_in(uc), sums, sizeof sums);
	ctx->sums = SUMS_HELD;
}

void vectors_show(const struct context *ctx, struct _xstate *state)
{
	char *masks = use_component(state, COMPONENT_MASKS, 8 * sizeof *ctx->masks);
	char *upper = use_component(state, COMPONENT_UPPER, UPPER_FIRST * VECTOR_BYTES);

	slope_copy(masks + 6 * sizeof *ctx->masks, ctx->masks, sizeof ctx->masks);
	slope_copy(upper + (VECTORS_FIRST - UPPER_FIRST) * VECTOR_BYTES, ctx->vectors, sizeof ctx->vectors);
}

void vectors_take(struct context *ctx, const struct _xstate *state)
{
	const char *masks = (const char *)state + component_at(COMPONENT_MASKS);
	const char *upper = (const char *)state + component_at(COMPONENT_UPPER);

	vectors_clear(ctx);
	if (state->xstate_hdr.xfeatures >> COMPONENT_MASKS & 1)
		slope_copy(ctx->masks, masks + 6 * sizeof *ctx->masks, sizeof ctx->masks);
	if (state->xstate_hdr.xfeatures >> COMPONENT_UPPER & 1)
		slope_copy(ctx->vectors, upper + (VECTORS_FIRST - UPPER_FIRST) * VECTOR_BYTES, sizeof ctx->vectors);
}

void vectors_clear(struct context *ctx)
{
	memset(ctx->vectors, 0, sizeof ctx->vectors);
	memset(ctx->masks, 0, sizeof ctx->masks);
}
