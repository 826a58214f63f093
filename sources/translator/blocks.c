/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trace of the program's code becomes a block of ours: instructions are
 * copied, rip-relative operands get a new displacement, checks come before
 * them, and whatever leaves the block goes through exits.c and transfers.c. The program's
 * stack never shows our addresses but for the moment of a call or return.
 */
#include "sources/translator/making.h"
#include "sources/translator/observing.h"
#include "sources/translator/following.h"
#include "sources/translator/rates.h"
#include "sources/translator/vectors.h"

static struct maker maker;               /* one block at a time */

void blocks_displacement(struct maker *m, int64_t displacement, uint64_t next, unsigned behind)
{
	emit_32(&m->e, (uint32_t)(next + (uint64_t)displacement - ((uint64_t)m->e.at + 4 + behind)));
}

/* The byte with the operand's bits for the registers from 8 on, and what is added or taken to have none of them. */
static void clear_high_register(const ZydisDecodedInstruction *i, uint8_t *copy)
{
	if (i->attributes & ZYDIS_ATTRIB_HAS_REX)
		copy[i->raw.rex.offset] &= (uint8_t)~1u;
	else if (i->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && i->raw.vex.size == 3)
		copy[i->raw.vex.offset + 1] |= 0x20;
	else if (i->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		copy[i->raw.evex.offset + 1] |= 0x20;
	else if (i->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP)
		copy[i->raw.xop.offset + 1] |= 0x20;
}

/* Its operand is out of reach: it goes there by way of a register that it does not mention, of those that need no prefix. */
static void copy_far(struct maker *m, const struct step *s)
{
	static const uint8_t order[] = { REG_RSI, REG_RDI, REG_RBX, REG_RCX, REG_RDX, REG_RAX };
	const ZydisDecodedInstruction *i = &s->i;
	uint8_t copy[ZYDIS_MAX_INSTRUCTION_LENGTH];
	unsigned n = 0, behind = i->raw.disp.offset + 4u;

	while (n + 1 < sizeof order && (s->uses | s->kills) >> order[n] & 1)
		n++;
	slope_copy(copy, (const void *)s->pc, i->length);
	copy[i->raw.modrm.offset] = (uint8_t)(i->raw.modrm.reg << 3 | order[n]);
	clear_high_register(i, copy);
	m->mark[m->marks - 1].far = (int8_t)order[n];
	emit_save(&m->e, order[n], CTX_FAR_HOME);
	emit_constant(&m->e, order[n], s->far);
	emit_bytes(&m->e, copy, i->raw.disp.offset);
	emit_bytes(&m->e, copy + behind, i->length - behind);
	emit_restore(&m->e, order[n], CTX_FAR_HOME);
}

static void copy(struct maker *m, const struct step *s)
{
	const ZydisDecodedInstruction *i = &s->i;
	const uint8_t *code = (const uint8_t *)s->pc;

	if (trace_uses_gs(i))
		dispatch_refuse("use of %gs", s->pc);
	if (s->far) {
		copy_far(m, s);
		return;
	}
	if (!(i->attributes & ZYDIS_ATTRIB_HAS_MODRM && i->raw.modrm.mod == 0 && i->raw.modrm.rm == 5)) {
		emit_bytes(&m->e, code, i->length);
		return;
	}
	unsigned behind = i->length - i->raw.disp.offset - 4u;

	emit_bytes(&m->e, code, i->raw.disp.offset);
	blocks_displacement(m, i->raw.disp.value, s->next, behind);
	emit_bytes(&m->e, code + i->raw.disp.offset + 4, behind);
}

void blocks_copy(struct maker *m, const struct step *s)
{
	vectors_load(&m->e, s->vectors);
	copy(m, s);
	vectors_store(&m->e, s->vectors);
}

/* ---- the registers that a block borrows ---- */

/* A block without checks borrows one only to hand it on. */
static void choose_registers(struct maker *m, int prefer)
{
	/* Those first that code mentions least. */
	static const uint8_t order[] = {
		REG_R11, REG_R10, REG_R9, REG_R8, 15, 14, 13, 12, REG_RBX, REG_RBP, REG_RDI, REG_RSI, REG_RDX, REG_RCX, REG_RAX,
	};
	int found[2] = { NO_REGISTER, NO_REGISTER };
	bool checks = false;
	unsigned count = 0;

	if (prefer >= 0 && !(m->trace.mentioned >> prefer & 1))
		found[count++] = prefer;
	bool handed = count;

	for (unsigned i = 0; i < sizeof order && count < 2; i++)
		if (!(m->trace.mentioned >> order[i] & 1) && order[i] != found[0])
			found[count++] = order[i];
	for (unsigned n = 0; n < m->checks; n++)
		checks |= !m->check[n].called;
	m->stamp = checks || handed ? found[0] : NO_REGISTER;
	m->spare = found[1];
}

/*
 * Before which step the main way counts: the last one where flags are dead. A branch at the end is
 * counted for both of its ways.
 */
static void choose_count(struct maker *m)
{
	const struct trace *t = &m->trace;

	m->counts = observer.on;
	m->counted_at = t->steps;
	if (!t->live_flags && t->step[t->steps - 1].kind != STEP_BRANCH)
		return;
	while (m->counted_at && t->step[m->counted_at - 1].live_flags)
		m->counted_at--;
	/* Nowhere: behind the last step, keeping them. */
	m->counted_at = m->counted_at ? m->counted_at - 1 : t->steps;
}

/* ---- steps ---- */

/* The stack pointer is set: if not to somewhere in the topmost frame, C decides what that means. */
static void emit_stack_move(struct maker *m, unsigned step)
{
	const struct step *s = &m->trace.step[step];
	bool flags = step + 1 < m->trace.steps ? s[1].live_flags != 0 : m->trace.live_flags != 0;
	struct cold *c = making_cold(m, COLD_STACK);

	c->step = step;
	emit_save(&m->e, REG_RSP, CTX_SPARE);
	if (observer.paths)
		emit_save(&m->e, REG_RSP, CTX_OLD_SP);
	blocks_copy(m, s);
	if (flags) {
		making_jump(m, c, CONDITION_NONE);
		return;
	}
	emit_context(&m->e, 0x3b, REG_RSP, CTX_SPARE);
	making_jump(m, c, CONDITION_BELOW);
	emit_context(&m->e, 0x3b, REG_RSP, CTX_TOP_SP);
	making_jump(m, c, CONDITION_ABOVE);
}

static void emit_step(struct maker *m, unsigned step)
{
	const struct step *s = &m->trace.step[step];

	switch (s->kind) {
	case STEP_PLAIN:
		if (s->moves_stack && observer.on) {
			emit_stack_move(m, step);
			break;
		}
		if (s->moves_stack)
			emit_save(&m->e, REG_RSP, CTX_OLD_SP);
		blocks_copy(m, s);
		if (trace_sets_all_flags(&s->i))
			emit_byte(&m->e, SIGNALS_BEHIND_POPF);
		break;
	case STEP_BRANCH:
		exits_branch(m, step);
		break;
	case STEP_FOLLOWED:
		break;
	case STEP_REPEATED:
		if (observer.looks)
			strings_before(&m->e);
		blocks_copy(m, s);
		if (observer.on)
			strings_after(&m->e, &s->i);
		if (observer.paths)
			pathcode_repeated(m, s);
		break;
	case STEP_REQUEST:
	case STEP_LAST:
		break;
	}
}

/* Behind the last step. */
static void emit_end(struct maker *m)
{
	const struct step *last = &m->trace.step[m->trace.steps - 1];
	uint64_t next = m->trace.next ? m->trace.next : last->next;

	switch (last->kind) {
	case STEP_LAST:
		transfers_last(m, last);
		return;
	case STEP_REQUEST:
		exits_give_back(m);
		reports_call(&m->e, (const void *)observing_request, (const struct argument[3]){ { ARGUMENT_REGISTER, REG_RAX } });
		if (observer.paths)
			pathcode_on(m, last, next);
		exits_add_plain(m, next);
		return;
	case STEP_BRANCH:
		if (making_branches_last(m))
			return;
		if (!m->trace.next && last->taken)
			next = last->next + (uint64_t)last->i.raw.imm[0].value.s;
		break;
	default:
		break;
	}
	if (observer.paths && last->kind == STEP_REPEATED)
		pathcode_on(m, last, next);
	exits_on(m, CONDITION_NONE, next);
}

/* Where those enter who know more than that the program is here: see struct block_facts. */
static void emit_start(struct maker *m)
{
	uint64_t pc = m->trace.start;
	bool entry = observer.on && codeplaces_is_entry(pc), inner = !observer.paths || pathplaces_is_inner(pc);
	bool linkage = !inner && codeplaces_in_linkage(pc), unwinder = !inner && codeplaces_is_unwinder(pc);

	m->facts = (struct block_facts){
		.entry = entry || linkage || unwinder, .doubted = m->trace.doubt, .stamp = (int8_t)m->stamp, .spare = (int8_t)m->spare,
	};
	if (m->trace.doubt)
		doubts_emit(m);
	if (entry && !codeplaces_is_stub(pc))
		checks_entry(m, codeplaces_function(pc));
	m->facts.called = (uint16_t)(m->e.at - m->start);
	if (m->stamp != NO_REGISTER)
		emit_save(&m->e, (unsigned)m->stamp, CTX_STAMP_HOME);
	m->facts.handed = (uint16_t)(m->e.at - m->start);
	/* Calls, too, come by here. */
	if (linkage)
		pathcode_stub(m);
	if (unwinder)
		reports_call(&m->e, (const void *)pathevents_unwinds, (const struct argument[3]){ { ARGUMENT_REGISTER, REG_RSP } });
	if (m->stamp != NO_REGISTER)
		emit_restore(&m->e, (unsigned)m->stamp, CTX_TOP);
	m->facts.inner = (uint16_t)(m->e.at - m->start);
	m->facts.stamped = observer.paths ? m->facts.handed : m->facts.inner;
}

/* Where jumps inside the module come to, with the program's r11 at CTX_STAMP_HOME: behind its saving, or all is as before. */
static uint32_t emit_landing(struct maker *m)
{
	uint32_t at = (uint32_t)(uint64_t)m->e.at;

	if (!observer.on || !observer.inlined || observer.paths)
		return 0;
	if (m->stamp == REG_R11 && !m->facts.entry && !m->facts.doubted)
		return (uint32_t)(uint64_t)m->start + m->facts.handed;
	emit_restore(&m->e, REG_R11, CTX_STAMP_HOME);
	emit_near(&m->e, 0xe9, (uint64_t)m->start);
	return at;
}

static void emit_count(struct maker *m, bool keep_flags)
{
	exits_count(m, m->trace.instructions, m->trace.blocks, keep_flags);
	m->facts.counted = (uint16_t)(m->e.at - m->start);
	m->facts.instructions = (int16_t)m->trace.instructions;
	m->facts.blocks = (int16_t)m->trace.blocks;
}

/* The path across a step that does not branch. */
static void emit_way_on(struct maker *m, unsigned step)
{
	const struct step *s = &m->trace.step[step];

	if (s->kind == STEP_PLAIN)
		pathcode_on(m, s, s->next);
	else if (s->kind == STEP_FOLLOWED)
		pathcode_on(m, s, making_target(s));
}

static void emit_steps(struct maker *m)
{
	for (unsigned n = 0; n < m->trace.steps; n++) {
		struct mark *mark = &m->mark[m->marks++];

		*mark = (struct mark){
			.program = (int32_t)(m->trace.step[n].pc - m->trace.start), .cache = (uint16_t)(m->e.at - m->start),
			.far = NO_REGISTER,
			.instructions = (uint8_t)(n ? m->trace.step[n - 1].instructions : 0),
			.blocks = (uint8_t)(m->trace.step[n].blocks - 1),
		};
		if (n == m->counted_at)
			emit_count(m, false);
		if (observer.on && m->trace.stub.target && n + 1 == m->trace.steps)
			transfers_before_stub(m, n);
		checks_emit(m, n);
		if (m->jumps && n == m->use.step)
			landings_read(m);
		mark->borrowed = n >= m->borrow_from && n <= m->borrow_to;
		mark->spared = making_is_spared(m, n);
		mark->own = (uint16_t)(m->e.at - m->start);
		emit_step(m, n);
		if (observer.paths)
			emit_way_on(m, n);
	}
	if (m->counted_at == m->trace.steps)
		emit_count(m, m->trace.live_flags != 0);
}

/* NULL: there is no code; all blocks must be made anew; or paths have begun where nobody had expected it. */
static const struct block *translate(uint64_t pc, int prefer, bool alone)
{
	struct maker *m = &maker;
	const struct block *block;
	const uint8_t *end;
	uint64_t surprises = pathvalues_surprises();
	bool there;

	decoder_begin(&runtime.decoder);
	if (observer.paths)
		pathplaces_at(pc);
	m->trace.alone = alone;
	there = trace_make(&m->trace, pc);
	if (!there) {
		decoder_end(&runtime.decoder);
		return NULL;
	}
	if (m->trace.entry_flags) {
		decoder_end(&runtime.decoder);
		/* From now on flags live across calls: in all blocks. */
		runtime.flags_cross_calls = runtime.start_over = true;
		return NULL;
	}
	m->start = m->e.at = runtime.cache.next;
	m->colds = m->exits = 0;
	m->marks = 0;
	m->stack_origin = 0;
	m->call_pc = 0;
	m->path = (struct known_path){ 0 };
	m->checked_writes = observer.session.shared && (observer.trms || observer.apart);
	m->checks = 0;
	if (observer.on)
		checks_place(m);
	m->counted = rates_begin(pc, !alone && checks_can_count(m), &prefer);
	choose_registers(m, prefer);
	checks_borrow(m);
	choose_count(m);
	landings_find(m);
	emit_start(m);
	emit_steps(m);
	emit_end(m);
	end = m->e.at;
	m->e.at = runtime.cache.next_cold;
	for (unsigned n = 0; n < m->colds; n++) {
		m->path = (struct known_path){ 0 };
		if (m->cold[n].kind >= COLD_BRANCH)
			transfers_cold(m, &m->cold[n]);
		else
			checks_cold(m, &m->cold[n]);
	}
	exits_finish(m);
	uint32_t landing = emit_landing(m);

	decoder_end(&runtime.decoder);
	if (surprises != pathvalues_surprises()) {
		codecache_abandon(&runtime.cache, m->call_pc);
		return NULL;
	}
	block = codecache_add(&runtime.cache, pc, alone, end, m->e.at, m->mark, m->marks);
	if (!block)
		system_stop("no memory for translated code", NULL);
	m->facts.counts = m->counted != NULL;
	m->facts.alone = alone;
	((struct block *)block)->facts = m->facts;
	((struct block *)block)->call_pc = m->call_pc;
	((struct block *)block)->landing = landing;
	return block;
}

const struct block *blocks_translate(uint64_t pc, int prefer, bool alone)
{
	const struct block *block;
	uint64_t surprises;

	/* What was known while it was made, and is no longer, is known no more the next time. */
	do {
		surprises = pathvalues_surprises();
		block = translate(pc, prefer, alone);
	} while (!block && surprises != pathvalues_surprises());
	return block;
}
