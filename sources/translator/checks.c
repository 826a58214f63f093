/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The checks that spare most accesses the way into C. Words of shadow memory
 * lie at %gs + address, and core/stamp.h has made it so that one comparison
 * with the stamp in the borrowed register decides:
 *
 *   a read passes when no word of it is less (signed) than the stamp;
 *   a write passes when all words of it equal the stamp.
 *
 * Stamps are marked, so words at odd addresses never pass by accident. One or
 * two bytes need the address of their cell, and so a second register, unless the displacement tells it: one
 * whose value is dead, or one that is borrowed for the moment. A write
 * that does not pass stores the stamps, as long as nobody else can have
 * seen the cells; a read that does not goes to misses.S. Writes relative to the stack
 * pointer are stored at once, once it is known to be a multiple of 4.
 *
 * A comparison changes flags. A check comes before its instruction, where its
 * flags are dead, or further up, where they still are: not above a branch, not
 * above an earlier check, and not where an address register is another. Where
 * there is no such place, the flags are kept.
 *
 * What one check of the trace has seen need not be checked again.
 */
#include "sources/translator/checkparts.h"
#include "sources/translator/rates.h"
#include "sources/translator/vectors.h"

#define SEEN_MAX 64u
#define LONG_BYTES 12u
#define NEAR_BYTES 4000
#define FARTHEST 4096            /* bytes that a check is from its instruction's operand, with GS_BIAS and what was added since */

/* A place in memory that is known to be up to date, or written, by origins of its registers. */
struct place {
	uint16_t base, index;        /* origins; 0: none */
	uint8_t scale_log2;
	bool in_fs, written;
	int64_t from, to;
};

bool checks_possible(void)
{
	uint32_t a = 7, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return b >> 8 & 1 && observer.cell_bytes == 4;
}

bool checks_have_16(void)
{
	const uint32_t wanted = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;       /* AVX-512 F, DQ, BW and VL */
	uint32_t a = 1, b, c = 0, d, low, high;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (!(c >> 27 & 1) || observer.narrow)
		return false;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	a = 7;
	c = 0;
	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return (b & wanted) == wanted && (low & 0xe6) == 0xe6;    /* and the kernel keeps its registers */
}

/* ---- where ---- */

static struct place place_of(const struct maker *m, const struct access *a)
{
	const struct origin *origin = m->trace.step[a->step].origin;
	struct place p = { .scale_log2 = (uint8_t)a->at.scale_log2, .in_fs = a->at.in_fs, .written = a->write, .from = a->at.displacement };

	if (a->at.base != NO_REGISTER) {
		p.base = origin[a->at.base].id;
		p.from += origin[a->at.base].plus;
	}
	if (a->at.index != NO_REGISTER) {
		p.index = origin[a->at.index].id;
		p.from += (int64_t)origin[a->at.index].plus << a->at.scale_log2;
	}
	p.to = p.from + a->bytes;
	return p;
}

static bool is_same_base(const struct place *a, const struct place *b)
{
	return a->base == b->base && a->index == b->index && a->scale_log2 == b->scale_log2 && a->in_fs == b->in_fs;
}

static bool covers(const struct place *known, const struct place *p)
{
	return is_same_base(known, p) && known->from <= p->from && known->to >= p->to && (known->written || !p->written);
}

/* Are the address's registers before step `at` those of the access, but for constants? */
static bool reaches(const struct maker *m, const struct access *a, unsigned at)
{
	const struct origin *then = m->trace.step[a->step].origin, *now = m->trace.step[at].origin;

	if (a->at.base != NO_REGISTER && then[a->at.base].id != now[a->at.base].id)
		return false;
	return a->at.index == NO_REGISTER || then[a->at.index].id == now[a->at.index].id;
}

/* The last step, not before `first`, at which the check can be without anybody's flags; -1: there is none. */
static int find_step(const struct maker *m, const struct access *a, unsigned first)
{
	for (unsigned at = a->step;; at--) {
		if (!m->trace.step[at].live_flags && reaches(m, a, at))
			return (int)at;
		if (at == first || m->trace.step[at - 1].kind == STEP_BRANCH)
			return -1;
	}
}

/* Does the trace come back to itself, or to a place in it? */
static bool is_loop(const struct trace *t)
{
	bool loop = t->next == t->start;

	for (unsigned i = 0; i < t->steps && !loop; i++) {
		const struct step *s = &t->step[i];
		uint64_t target = s->next + (uint64_t)s->i.raw.imm[0].value.s;

		loop = (s->kind == STEP_BRANCH || s->kind == STEP_LAST) && s->i.raw.imm[0].is_relative && target >= t->start &&
		       target <= s->pc;
	}
	return loop;
}

/* No displacement is left for the shadow of what lies so far below its registers. */
static bool is_too_low(const struct address *a)
{
	return a->displacement < INT32_MIN + FARTHEST;
}

/*
 * Has the program touched something within a page of it before step `at`, and lived on? Then it lies in the window, too: the last page
 * of that is left free.
 */
static bool is_near(const struct maker *m, const struct place *p, unsigned at)
{
	for (unsigned n = 0; (p->base || p->index) && n < m->trace.accesses; n++) {
		const struct access *a = &m->trace.access[n];
		struct place other;

		if (a->step >= at || a->only_called || a->at.short_registers)
			continue;
		other = place_of(m, a);
		if (is_same_base(&other, p) && other.from - p->from <= NEAR_BYTES && p->from - other.from <= NEAR_BYTES)
			return true;
	}
	return false;
}

void checks_place(struct maker *m)
{
	struct place known[SEEN_MAX];
	unsigned count = 0, first = 0;

	m->checks = 0;
	m->loops = is_loop(&m->trace);
	for (unsigned n = 0; n < m->trace.accesses; n++) {
		const struct access *a = &m->trace.access[n];
		bool called = !observer.inlined || a->only_called || is_too_low(&a->at), kept = false, covered = false;
		struct place p = place_of(m, a);
		int at = a->step;

		for (unsigned k = 0; !called && k < count && !covered; k++)
			covered = covers(&known[k], &p);
		if (covered)
			continue;
		if (!called) {
			at = find_step(m, a, first);
			kept = at < 0;
		}
		if (kept)
			at = a->step;
		if (!called && count < SEEN_MAX && !a->at.short_registers)
			known[count++] = p;
		m->check[m->checks].access = (uint16_t)n;
		m->check[m->checks].step = (uint16_t)at;
		m->check[m->checks].kept = kept;
		m->trace.access[n].near = runtime.precise && is_near(m, &p, (unsigned)at);
		m->check[m->checks++].called = called;
		first = (unsigned)at;
	}
}

/* ---- what ---- */

/* The access's address with the registers as they are before step `at`. */
static struct address address_at(const struct maker *m, const struct access *a, unsigned at)
{
	const struct origin *then = m->trace.step[a->step].origin, *now = m->trace.step[at].origin;
	struct address to = a->at;

	if (to.base != NO_REGISTER)
		to.displacement += then[to.base].plus - now[to.base].plus;
	if (to.index != NO_REGISTER)
		to.displacement += (int64_t)(then[to.index].plus - now[to.index].plus) * (1 << to.scale_log2);
	return to;
}

/* A register that nobody needs before step `at`, or NO_REGISTER. */
static int find_dead(const struct maker *m, const struct address *a, unsigned at)
{
	uint16_t live = m->trace.step[at].live | 1u << REG_RSP | (uint16_t)(1u << m->stamp);

	if (a->base != NO_REGISTER)
		live |= (uint16_t)(1u << a->base);
	if (a->index != NO_REGISTER)
		live |= (uint16_t)(1u << a->index);
	for (unsigned r = 0; r < REGISTERS && !runtime.precise; r++)
		if (!(live >> r & 1))
			return (int)r;
	return NO_REGISTER;
}

/* What is longer than two words is often at an odd address: by its first cell, and its last. */
static bool is_long_read(const struct access *a)
{
	return !a->write && a->bytes >= LONG_BYTES;
}

/* No operand reaches a constant address above 2 GB. */
static bool is_far(const struct address *a)
{
	return a->base == NO_REGISTER && a->index == NO_REGISTER && a->displacement >> 31;
}

/* Relative to the stack pointer, which we take for a multiple of 4 as long as it is one. */
static bool is_on_stack(const struct access *a)
{
	return !runtime.odd_stack && a->at.base == REG_RSP && a->at.index == NO_REGISTER && !a->at.in_fs && !a->at.short_registers;
}

/* Does the displacement alone tell the cells? */
static bool has_fixed_cells(const struct access *a)
{
	return is_on_stack(a) ||
	       (a->at.base == NO_REGISTER && a->at.index == NO_REGISTER && !a->at.in_fs && !a->at.short_registers &&
		!is_far(&a->at));
}

static bool needs_register(const struct access *a)
{
	return a->at.in_fs || is_far(&a->at) || ((a->bytes < 4 || is_long_read(a)) && !has_fixed_cells(a));
}

/*
 * One or two bytes at some distance from a register are a part of a structure, which begins at a multiple of 4: its displacement tells the
 * cell. Where it does not begin there, the word that is compared looks old, and the cold part finds the cell.
 */
static bool is_guessed(const struct access *a, const struct address *at)
{
	return a->bytes < 4 && !has_fixed_cells(a) && a->at.base != NO_REGISTER && a->at.index == NO_REGISTER && !a->at.in_fs &&
	       !a->at.short_registers && a->at.displacement >= 4 && !((at->displacement - a->at.displacement) & 3) &&
	       (at->displacement & 3) + a->bytes <= 4;
}

/* The same as it is compared: bytes by their cell; halves too, but odd ones stay odd; long ones by their first cell. */
static void load_place(struct emit *e, unsigned reg, const struct address *a, uint32_t bytes)
{
	load_address(e, reg, a, 0);
	if (bytes == 1 || bytes >= LONG_BYTES)
		and_constant(e, reg, 0xfc);
	else if (bytes == 2)
		and_constant(e, reg, 0xfd);
}

/* cmp %gs:k(a), %stamp and the jump to the cold part for each word or, to be equal, pair of words. */
static void emit_comparisons(struct maker *m, struct cold *c, const struct address *a, uint32_t bytes, bool write)
{
	uint32_t width = write && bytes >= 8 ? 8 : 4;

	for (uint32_t k = 0; k < bytes; k += width) {
		if (bytes - k < width)
			width = 4;
		emit_memory(&m->e, 0x3b, (unsigned)m->stamp, (struct operand){ a, OPERAND_SHADOW, width == 8 }, k);
		making_jump(m, c, write ? CONDITION_NOT_EQUAL : CONDITION_GREATER);
	}
}

static bool stack_is_known(const struct maker *m, unsigned step)
{
	struct origin sp = m->trace.step[step].origin[REG_RSP];

	return m->stack_origin == sp.id && (sp.plus - m->stack_plus) % 4 == 0;
}

/* Is the stack pointer a multiple of 4? The first one of a trace looks. */
static void look_at_stack(struct maker *m, unsigned step, bool kept)
{
	struct origin sp = m->trace.step[step].origin[REG_RSP];

	if (stack_is_known(m, step))
		return;
	struct cold *c = making_cold(m, COLD_ODD_STACK);

	c->step = step;
	c->borrowed = step >= m->borrow_from && step <= m->borrow_to;
	c->keep_flags = kept;
	emit_bytes(&m->e, "\x40\xf6\xc4\x03", 4);                 /* test $3, %spl */
	making_jump(m, c, CONDITION_NOT_EQUAL);
	m->stack_origin = sp.id;
	m->stack_plus = sp.plus;
}

/* A write to the stack that covers its cells, or lies in one, and that nobody else can have seen: no comparison. */
static bool is_stored_at_once(const struct maker *m, const struct access *a, unsigned step)
{
	uint64_t odd = (uint64_t)address_at(m, a, step).displacement % 4;

	return a->write && !m->checked_writes && is_on_stack(a) && a->bytes <= 16 &&
	       (a->bytes < 4 ? odd + a->bytes <= 4 : !odd && a->bytes % 4 == 0);
}

/* A write that finds other stamps than the top's so often that nobody can foretell it, or nearly always. */
static bool stores_anyway(const struct maker *m, const struct access *a)
{
	return !m->checked_writes && stalereads_can_count(a) && rates_of(m->trace.step[a->step].pc, a->write) > RATE_FRESH;
}

/* Such a one stores without a look whether it must, where there are words of a thread's already. */
static void emit_anyway(struct maker *m, struct cold *c, const struct address *words, uint32_t bytes)
{
	emit_touched_test(m, c, words, bytes);
	emit_stamps(m, words, bytes, 0);
}

static uint16_t *counter_of(const struct maker *m, const struct access *a)
{
	return m->counted && stalereads_can_count(a) ? rates_counter(m->trace.step[a->step].pc, a->bytes, a->write) : NULL;
}

static void emit_check(struct maker *m, const struct access *a, unsigned step, bool kept)
{
	struct address at = address_at(m, a, step), cells = at;
	uint32_t odd = (uint32_t)at.displacement & 3;
	struct emit *e = &m->e;

	cells.displacement -= odd;
	if (is_on_stack(a) && (a->write || a->bytes < 4 || is_long_read(a)))
		look_at_stack(m, step, kept);
	if (is_stored_at_once(m, a, step)) {
		emit_stamps(m, &cells, (a->bytes + 3) & ~3u, 0);
		return;
	}
	/* The words that tell, from the one of the first cell on. */
	bool guessed = is_guessed(a, &at), by_register = needs_register(a) && !guessed, by_cells = a->bytes < 4 || is_long_read(a);
	int dead = find_dead(m, &at, step);
	unsigned reg = (unsigned)(dead == NO_REGISTER ? m->spare : dead);
	struct address words = by_cells ? cells : at;
	uint32_t bytes = by_cells ? (odd + a->bytes + 3) & ~3u : a->bytes;

	if (by_register) {
		words = (struct address){ .base = (int)reg, .index = NO_REGISTER };
		bytes = a->bytes < 4 ? 4 : a->bytes;
		load_place(e, reg, &at, by_cells ? a->bytes : 4);
	}
	struct stale_read read = {
		.at = at, .words = words, .read = a->bytes, .bytes = bytes, .step = step, .taken = by_register ? (uint16_t)(1u << reg) : 0,
		.by_register = by_register, .guessed = guessed, .counter = counter_of(m, a), .either = stalereads_are_either(m, a),
		.near = a->near,
	};

	if (stalereads_are_often(m, a)) {
		stalereads_emit(m, &read);
		return;
	}
	struct cold *c = making_cold(m, a->write ? COLD_WRITE : COLD_READ);

	c->at = at;
	c->bytes = a->bytes;
	c->stale = read;
	c->far = is_far(&at);
	c->live = runtime.precise ? UINT16_MAX : m->trace.step[step].live;
	if (a->write && stores_anyway(m, a)) {
		emit_anyway(m, c, &words, bytes);
	} else if (is_on_stack(a) && !a->write && a->bytes == 8) {
		/* What the activation keeps there it has written itself: most often one comparison will do. */
		c->alike = true;
		emit_memory(e, 0x3b, (unsigned)m->stamp, (struct operand){ &words, OPERAND_SHADOW, true }, 0);
		making_jump(m, c, CONDITION_NOT_EQUAL);
	} else {
		emit_comparisons(m, c, &words, bytes, a->write);
	}
	if (by_register && is_long_read(a)) {
		load_address(e, reg, &at, a->bytes - 1);
		and_constant(e, reg, 0xfc);
		emit_comparisons(m, c, &words, 4, false);
	}
	c->back = e->at;
}

/*
 * Two bytes at a place that is counted in bytes are at an odd address half of the time, which nobody can foretell: each of them by its own
 * cell. Elsewhere they nearly always lie in one, and odd ones are for misses.S.
 */
static bool is_odd_pair(const struct access *a)
{
	return !a->write && a->bytes == 2 && !has_fixed_cells(a) &&
	       (a->at.displacement & 1 || (a->at.index != NO_REGISTER && a->at.base != NO_REGISTER && !a->at.scale_log2));
}

static void emit_checks(struct maker *m, const struct access *a, unsigned step, bool kept)
{
	struct access byte = *a;

	if (!is_odd_pair(a)) {
		emit_check(m, a, step, kept);
		return;
	}
	byte.bytes = 1;
	emit_check(m, &byte, step, kept);
	byte.at.displacement++;
	emit_check(m, &byte, step, kept);
}

/* The same with the flags kept, by way of rax. */
static void emit_kept_check(struct maker *m, const struct access *a, unsigned step)
{
	struct emit *e = &m->e;

	if (is_stored_at_once(m, a, step) && stack_is_known(m, step)) {
		emit_check(m, a, step, false);           /* changes none */
		return;
	}
	emit_save(e, REG_RAX, CTX_RAX_HOME);
	emit_bytes(e, "\x9f\x0f\x90\xc0", 4);                     /* lahf; seto %al */
	emit_save(e, REG_RAX, CTX_FLAGS_HOME);
	emit_restore(e, REG_RAX, CTX_RAX_HOME);
	emit_checks(m, a, step, true);
	bring_flags(e);
}

/* Does a check before this step need a register, where none is dead? */
static bool must_borrow(const struct maker *m, unsigned step)
{
	for (unsigned n = 0; n < m->checks; n++) {
		const struct access *a = &m->trace.access[m->check[n].access];

		if (m->check[n].step != step || m->check[n].called || !needs_register(a) || find_dead(m, &a->at, step) != NO_REGISTER)
			continue;
		struct address at = address_at(m, a, step);

		if (!is_guessed(a, &at))
			return true;
	}
	return false;
}

/* Once for all checks between the first and the last that must: ways out in between give it back. */
void checks_borrow(struct maker *m)
{
	m->borrow_from = m->borrow_to = m->trace.steps;
	for (unsigned step = 0; step < m->trace.steps; step++) {
		if (!must_borrow(m, step))
			continue;
		if (m->borrow_from == m->trace.steps)
			m->borrow_from = step;
		m->borrow_to = step;
	}
}

bool checks_can_count(const struct maker *m)
{
	if (m->trace.doubt || m->trace.step[0].live_flags)
		return false;
	for (unsigned n = 0; n < m->checks; n++)
		if (!m->check[n].called && stalereads_can_count(&m->trace.access[m->check[n].access]))
			return true;
	return false;
}

/* The block has run once more. */
static void emit_run(struct maker *m)
{
	struct cold *c = making_cold(m, COLD_COUNTED);

	emit_bytes(&m->e, "\xff\x0c\x25", 3);                    /* decl */
	emit_32(&m->e, (uint32_t)(uint64_t)rates_left(m->counted));
	making_jump(m, c, CONDITION_EQUAL);
	c->back = m->e.at;
	m->counted->back = (uint32_t)(uint64_t)c->back;
}

void checks_emit(struct maker *m, unsigned step)
{
	if (!step && m->counted)
		emit_run(m);
	if (step == m->borrow_from)
		emit_save(&m->e, (unsigned)m->spare, CTX_SPARE_HOME);
	for (unsigned n = 0; n < m->checks; n++) {
		const struct access *a = &m->trace.access[m->check[n].access];

		if (m->check[n].step != step)
			continue;
		if (m->check[n].called)
			reports_access(&m->e, a);
		else if (m->check[n].kept)
			emit_kept_check(m, a, step);
		else
			emit_checks(m, a, step, false);
	}
	if (step == m->borrow_to)
		emit_restore(&m->e, (unsigned)m->spare, CTX_SPARE_HOME);
}

void checks_entry(struct maker *m, uint32_t fn)
{
	if (m->trace.step[0].live_flags || fn >= CTX_QUICKS) {
		reports_call(&m->e, (const void *)activations_jump, (const struct argument[3]){
			{ ARGUMENT_CONSTANT, fn }, { ARGUMENT_REGISTER, REG_RSP },
		});
		return;
	}
	vectors_keep(&m->e, 0, REG_RAX);
	vectors_keep(&m->e, 1, REG_RCX);
	emit_constant(&m->e, REG_RCX, fn);
	emit_near(&m->e, 0xe8, (uint64_t)vectors_gates()->jump);
}
