/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that cannot be watched (enum space_doubt): whoever comes to a block of
 * it first compares the code with what the block was made of. Everything that is
 * known of such a trace comes from its own instructions, side by side; where the code
 * may be written by itself, it ends behind each write.
 */
#include "sources/translator/making.h"
#include "sources/translator/observing.h"

/* ---- the trace ---- */

enum space_doubt doubts_at(uint64_t pc)
{
	enum space_doubt here = space_doubts(&runtime.space, pc);
	enum space_doubt behind = space_doubts(&runtime.space, pc + TRACE_INSTRUCTION_BYTES - 1);

	return here > behind ? here : behind;
}

void doubts_begin(struct trace *t, uint64_t pc, size_t readable)
{
	size_t in_page = SLOPE_PAGE_BYTES - pc % SLOPE_PAGE_BYTES;

	t->doubt = doubts_at(pc);
	t->code_bytes = in_page > sizeof t->code ? sizeof t->code : in_page > readable ? in_page : readable;
	if (t->doubt && readable)
		slope_copy(t->code, (const void *)pc, t->code_bytes);
}

static bool writes_memory(const struct step *s, const ZydisDecodedOperand *operand)
{
	for (unsigned n = 0; n < s->i.operand_count; n++)
		if (operand[n].type == ZYDIS_OPERAND_TYPE_MEMORY && operand[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			return true;
	return false;
}

bool doubts_end(const struct trace *t, const struct step *s, const ZydisDecodedOperand *operand)
{
	if (!t->doubt)
		return false;
	return s->next - t->start + TRACE_INSTRUCTION_BYTES > t->code_bytes || s->i.mnemonic == ZYDIS_MNEMONIC_CPUID ||
	       s->i.mnemonic == ZYDIS_MNEMONIC_SERIALIZE || (t->doubt == SPACE_RESTLESS && writes_memory(s, operand));
}

/* ---- the block ---- */

static void keep_flags(struct emit *e)
{
	emit_bytes(e, "\x9f\x0f\x90\xc0", 4);                     /* lahf; seto %al */
	emit_save(e, REG_RAX, CTX_FLAGS_HOME);
}

static void bring_flags(struct emit *e)
{
	emit_restore(e, REG_RAX, CTX_FLAGS_HOME);
	emit_bytes(e, "\x04\x7f\x9e", 3);                         /* add $127, %al; sahf */
}

void doubts_emit(struct maker *m)
{
	const struct trace *t = &m->trace;
	uint32_t bytes = (uint32_t)(t->step[t->steps - 1].next - t->start);
	struct cold *c = making_cold(m, COLD_CHANGED);
	struct emit *e = &m->e;

	/* Where nothing is observed, nobody has asked which are alive. */
	c->keep_flags = !observer.on || t->step[0].live_flags;
	emit_save(e, REG_RAX, CTX_RAX_HOME);
	if (c->keep_flags)
		keep_flags(e);
	emit_constant(e, REG_RAX, t->start);
	for (uint32_t k = 0; k < bytes; k += bytes - k < 4 ? 1 : 4) {
		bool word = bytes - k >= 4;

		emit_bytes(e, word ? "\x81\xb8" : "\x80\xb8", 2);   /* cmp $code, k(%rax) */
		emit_32(e, k);
		emit_bytes(e, t->code + k, word ? 4 : 1);
		making_jump(m, c, CONDITION_NOT_EQUAL);
	}
	if (c->keep_flags)
		bring_flags(e);
	emit_restore(e, REG_RAX, CTX_RAX_HOME);
}

void doubts_cold(struct maker *m, const struct cold *c)
{
	if (c->keep_flags)
		bring_flags(&m->e);
	emit_restore(&m->e, REG_RAX, CTX_RAX_HOME);
	exits_site(m, SITE_CHANGED, m->trace.start, NULL);
}
