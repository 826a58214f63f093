/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions that end a block. A call is a real call, so
 * that the processor expects its return; the address that it pushes is then
 * overwritten by the program's own. A return finds the translation of the
 * address on the stack, puts it there, and is a real return. What indirect branches
 * look up is in lookups.c; direct ones are exits.c's.
 */
#include "sources/translator/making.h"
#include "sources/translator/observing.h"
#include "sources/translator/following.h"
#include "sources/translator/rates.h"
#include "sources/translator/symbols.h"
#include "sources/translator/vectors.h"

/* ---- calls, jumps, returns ---- */

/* The address that the call has pushed becomes the program's own. */
static void correct_return_address(struct emit *e, uint64_t address)
{
	emit_bytes(e, "\x48\xc7\x04\x24", 4);                     /* movq $.., (%rsp) */
	emit_32(e, (uint32_t)address);
	if (address == (uint64_t)(int32_t)address)
		return;
	emit_bytes(e, "\xc7\x44\x24\x04", 4);                     /* movl $.., 4(%rsp) */
	emit_32(e, (uint32_t)(address >> 32));
}

/*
 * What slope sees of a call, all registers kept; the target is in rcx if it is not known. returns_to: where `address` is in the
 * cache; 0 for addresses of more than 32 bits, of which usual.S does not keep any.
 */
static void observe_call(struct maker *m, bool direct, uint64_t target, uint64_t address, uint64_t returns_to)
{
	uint32_t fn = direct ? codeplaces_function(target) : 0;
	const struct usual_gates *gates = vectors_gates();

	bool stub = direct && fn == CODEPLACES_STUB, lent = direct && m->stamp == REG_R11;

	if (stub)
		reports_call(&m->e, (const void *)activations_call_stub, (const struct argument[3]){ { ARGUMENT_REGISTER, REG_RSP } });
	else if (runtime.flags_cross_calls || !returns_to || fn >= CTX_QUICKS)
		reports_call(&m->e, direct ? (const void *)activations_call : (const void *)activations_call_address,
			     (const struct argument[3]){
			{ direct ? ARGUMENT_CONSTANT : ARGUMENT_REGISTER, direct ? fn : REG_RCX }, { ARGUMENT_REGISTER, REG_RSP },
		});
	if (stub || runtime.flags_cross_calls || !returns_to || fn >= CTX_QUICKS) {
		/* As usual.S leaves it. */
		if (lent)
			emit_restore(&m->e, REG_R11, CTX_TOP);
		return;
	}
	unsigned back = direct ? REG_R10 : REG_RAX;

	vectors_keep(&m->e, 0, back);
	emit_constant(&m->e, back, returns_to << 32 | address);

	if (direct && !lent)
		vectors_keep(&m->e, 1, REG_R11);
	if (direct)
		emit_constant(&m->e, REG_R11, fn);
	emit_near(&m->e, 0xe8, (uint64_t)(!direct ? gates->call_address : lent ? gates->call_lent : gates->call));
}

/*
 * Here the return comes to, by usual.S with r11 borrowed for the stamp. Whoever else returns to the program's address finds a place
 * where all registers are its own: of two calls, the usual one's.
 */
static void emit_returned(struct maker *m, const struct step *s, bool seen_through)
{
	bool usual = observer.on || seen_through || !m->trace.stub.target;

	m->path = (struct known_path){ 0 };
	if (observer.on && !observer.paths) {
		struct cold *c = making_cold(m, COLD_RETURN);

		c->back = m->e.at;
		c->step = (unsigned)(s - m->trace.step);
		exits_add_return(m, s->next);
		return;
	}
	if (observer.on)
		emit_restore(&m->e, REG_R11, CTX_STAMP_HOME);
	if (usual && (!observer.paths || pathcode_may_return(s)))
		codecache_return(&runtime.cache, s->next, (uint64_t)m->e.at);
	if (observer.paths)
		pathcode_on(m, s, s->next);
	m->path = (struct known_path){ 0 };
	exits_add_plain(m, s->next);
}

static void cold_return(struct maker *m, const struct cold *c)
{
	codecache_return(&runtime.cache, m->trace.step[c->step].next, (uint64_t)m->e.at);
	emit_save(&m->e, REG_R11, CTX_STAMP_HOME);
	emit_restore(&m->e, REG_R11, CTX_TOP);
	emit_near(&m->e, 0xe9, (uint64_t)c->back);
}

/* The call itself: of the program's address `target`, or of what is in rcx if that is 0. */
static void emit_call_of(struct maker *m, const struct step *s, uint64_t target, bool seen_through)
{
	uint8_t *over;
	uint64_t returns_to;

	emit_byte(&m->e, 0xe8);
	over = m->e.at;
	emit_32(&m->e, 0);
	returns_to = (uint64_t)m->e.at;
	emit_returned(m, s, seen_through);
	emit_land(&m->e, over);
	correct_return_address(&m->e, s->next);
	if (seen_through)
		exits_count_apart(m, (int32_t)m->trace.stub.instructions, 1, false);
	if (observer.on)
		observe_call(m, target != 0, target, s->next, s->next >> 32 ? 0 : returns_to);
	if (observer.paths)
		pathcode_call(m, s, target);
	if (target)
		exits_add_call(m, target);
	else
		lookups_go(m, runtime.flags_cross_calls, observer.paths ? LOOKUP_BEGINS : LOOKUP_PLAIN);
}

/* To where the call is made: in another block, which may have borrowed another register. */
static void jump_to_call(struct maker *m, uint64_t made_at)
{
	int stamp = codecache_around(&runtime.cache, made_at)->facts.stamp;

	if (stamp != m->stamp) {
		exits_give_back(m);
		if (stamp != NO_REGISTER)
			emit_save(&m->e, (unsigned)stamp, CTX_STAMP_HOME);
	}
	emit_near(&m->e, 0xe9, made_at);
}

static void emit_call(struct maker *m, const struct step *s)
{
	const struct stub *stub = &m->trace.stub;
	bool apart = m->trace.doubt || m->trace.alone;
	uint64_t made_at = apart ? 0 : codecache_call(&runtime.cache, s->pc, (uint64_t)m->e.at);
	struct cold *c;

	if (made_at) {
		jump_to_call(m, made_at);
		return;
	}
	m->call_pc = apart ? 0 : s->pc;
	m->path = (struct known_path){ 0 };                       /* other blocks come here, on other paths */
	if (!s->i.raw.imm[0].is_relative) {
		exits_give_back(m);
		lookups_load(m, s);
		emit_call_of(m, s, 0, false);
		return;
	}
	if (!stub->target) {
		emit_call_of(m, s, making_target(s), false);
		return;
	}
	/* The slot of the linkage table may change: then the stub decides. */
	c = making_cold(m, COLD_STUB);
	c->step = (unsigned)(s - m->trace.step);
	emit_bytes(&m->e, "\x48\x81\x3c\x25", 4);                 /* cmpq $target, slot */
	emit_32(&m->e, (uint32_t)stub->slot);
	emit_32(&m->e, (uint32_t)stub->target);
	making_jump(m, c, CONDITION_NOT_EQUAL);
	emit_call_of(m, s, stub->target, true);
}

static void emit_jump(struct maker *m, const struct step *s)
{
	enum lookup_path path = LOOKUP_PLAIN;

	if (s->i.raw.imm[0].is_relative) {
		if (observer.paths)
			pathcode_on(m, s, making_target(s));
		exits_add(m, CONDITION_NONE, making_target(s));
		return;
	}
	if (m->jumps) {
		landings_jump(m, s);
		return;
	}
	if (lookups_may_stay(m, s)) {
		lookups_stay(m, s);
		return;
	}
	exits_give_back(m);
	lookups_load(m, s);
	if (observer.paths)
		pathcode_leave(m, s);
	if (observer.on)
		lookups_observe(m, s);
	if (observer.paths)
		path = pathcode_indirect(m, s);
	if (path == LOOKUP_DONE)
		return;
	/* Stubs jump to functions: no flags there. */
	lookups_go(m, runtime.flags_cross_calls || !observer.looks || !codeplaces_is_stub(m->trace.start), path);
}

/* The target is in rcx. The jump that it takes, flags kept, if a path has been begun there. */
static uint8_t *emit_landed_test(struct maker *m)
{
	uint8_t *landed;

	emit_save(&m->e, REG_RCX, CTX_GUEST_TARGET);
	emit_restore(&m->e, REG_RCX, CTX_LANDED);
	emit_bytes(&m->e, "\xe3\x05", 2);                         /* jrcxz over the next */
	landed = emit_jump_ahead(&m->e, CONDITION_NONE);
	emit_restore(&m->e, REG_RCX, CTX_GUEST_TARGET);
	return landed;
}

/* The return as it was before all this, for programs whose functions return something in flags. */
static void emit_careful_return(struct maker *m, uint32_t more)
{
	static const uint8_t skip[] = { 0x48, 0x8d, 0xa4, 0x24 };           /* lea n(%rsp), %rsp */

	if (observer.on)
		reports_call(&m->e, (const void *)activations_return, (const struct argument[3]){ { ARGUMENT_REGISTER, REG_RSP } });
	if (observer.paths)
		reports_call(&m->e, (const void *)pathevents_return, (const struct argument[3]){ { ARGUMENT_REGISTER, REG_RSP } });
	emit_save(&m->e, REG_RCX, CTX_REG(REG_RCX));
	emit_byte(&m->e, 0x59);
	if (more) {
		emit_bytes(&m->e, skip, sizeof skip);
		emit_32(&m->e, more);
	}
	uint8_t *landed = observer.paths ? emit_landed_test(m) : NULL;

	lookups_go(m, true, observer.paths ? LOOKUP_RETURNS : LOOKUP_PLAIN);
	if (landed) {
		emit_land(&m->e, landed);
		emit_restore(&m->e, REG_RCX, CTX_REG(REG_RCX));
		exits_site(m, SITE_RETURN, 0, NULL);
	}
}

/* The unwinder's, which may go elsewhere than to its caller. */
static void emit_unwound(struct maker *m)
{
	reports_call(&m->e, (const void *)pathevents_unwound, (const struct argument[3]){ { ARGUMENT_REGISTER, REG_RSP } });
	emit_save(&m->e, REG_RCX, CTX_REG(REG_RCX));
	emit_byte(&m->e, 0x59);
	emit_save(&m->e, REG_RCX, CTX_GUEST_TARGET);
	emit_restore(&m->e, REG_RCX, CTX_REG(REG_RCX));
	exits_site(m, SITE_RETURN, 0, NULL);
}

/* Somebody may want to know where a return faults: here, and not in gate.S. */
static void emit_look_at_stack(struct maker *m)
{
	if (!runtime.flags_cross_calls) {
		emit_bytes(&m->e, "\x80\x3c\x24\x00", 4);         /* cmpb $0, (%rsp) */
		return;
	}
	emit_save(&m->e, REG_RAX, CTX_REG(REG_RAX));
	emit_bytes(&m->e, "\x48\x8b\x04\x24", 4);                 /* mov (%rsp), %rax */
	emit_restore(&m->e, REG_RAX, CTX_REG(REG_RAX));
}

static void emit_return(struct maker *m, const struct step *s)
{
	bool saved = false;
	uint32_t more = s->i.raw.imm[0].size ? (uint32_t)s->i.raw.imm[0].value.u : 0;

	if (s->i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		dispatch_refuse("a far return", s->pc);
	if (runtime.precise)
		emit_look_at_stack(m);
	if (observer.paths)
		saved = pathcode_return(m, s);
	if (observing_keeps_paths_apart() && !runtime.flags_cross_calls)
		reports_call(&m->e, (const void *)pathevents_return, (const struct argument[3]){ { ARGUMENT_REGISTER, REG_RSP } });
	if (observer.paths && !observer.on && !more && codeplaces_in_unwinder(s->pc)) {
		if (saved)
			emit_restore(&m->e, REG_RCX, CTX_REG(REG_RCX));
		emit_unwound(m);
	} else if (runtime.flags_cross_calls) {
		emit_careful_return(m, more);
	} else if (!more) {
		emit_near(&m->e, 0xe9, (uint64_t)(observer.on ? vectors_gates()->leave :
						  observer.path_contexts ? slope_gate_context_return :
						  saved ? slope_gate_path_return_saved :
						  observer.paths ? slope_gate_path_return : slope_gate_plain_return));
	} else {
		emit_near(&m->e, 0xe8, (uint64_t)(observer.on ? slope_gate_return_event :
						  observer.path_contexts ? slope_gate_context_return_event :
						  saved ? slope_gate_path_return_event_saved :
						  observer.paths ? slope_gate_path_return_event : slope_gate_plain_return_event));
		emit_byte(&m->e, 0xc2);
		emit_byte(&m->e, more & 0xff);
		emit_byte(&m->e, more >> 8);
	}
}

/* A return for usual.S that may use r11, whose value it brings back. */
static bool is_lent(const struct maker *m, const struct step *s)
{
	return m->stamp == REG_R11 && observer.on && !observer.paths && !runtime.flags_cross_calls && !runtime.precise &&
	       !s->i.raw.imm[0].size;
}

/* jrcxz and the loops reach only 127 bytes: they jump over the way out. */
static void emit_short_branch(struct maker *m, const struct step *s)
{
	uint8_t *distance;

	if (s->i.attributes & ZYDIS_ATTRIB_HAS_ADDRESSSIZE)
		emit_byte(&m->e, 0x67);
	emit_byte(&m->e, s->i.opcode);
	distance = m->e.at;
	emit_byte(&m->e, 0);
	/* Over the next jump only: what is added may be longer. */
	uint8_t *next = emit_jump_ahead(&m->e, CONDITION_NONE);
	struct known_path known = m->path;

	*distance = (uint8_t)(m->e.at - (distance + 1));
	if (observer.paths)
		pathcode_on(m, s, making_target(s));
	exits_add(m, CONDITION_NONE, making_target(s));
	emit_land(&m->e, next);
	m->path = known;
	if (observer.paths)
		pathcode_on(m, s, s->next);
	exits_add(m, CONDITION_NONE, s->next);
}

void transfers_last(struct maker *m, const struct step *s)
{
	if (s->i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		dispatch_refuse("a far branch", s->pc);
	switch (s->i.mnemonic) {
	case ZYDIS_MNEMONIC_CALL:
		emit_call(m, s);
		break;
	case ZYDIS_MNEMONIC_JMP:
		emit_jump(m, s);
		break;
	case ZYDIS_MNEMONIC_RET:
		if (is_lent(m, s)) {
			emit_near(&m->e, 0xe9, (uint64_t)vectors_gates()->leave_lent);
			break;
		}
		exits_give_back(m);
		emit_return(m, s);
		break;
	case ZYDIS_MNEMONIC_SYSCALL:
		exits_give_back(m);
		exits_site(m, SITE_SYSCALL, s->next, NULL);
		break;
	case ZYDIS_MNEMONIC_XBEGIN:
		/* A transaction that never begins: status 0, and the way it has for that. */
		exits_give_back(m);
		emit_constant(&m->e, REG_RAX, 0);
		if (observer.paths)
			pathcode_on(m, s, making_target(s));
		exits_add_plain(m, making_target(s));
		break;
	case ZYDIS_MNEMONIC_WRFSBASE:
		blocks_copy(m, s);
		emit_save(&m->e, REG_RAX, CTX_REG(REG_RAX));
		emit_bytes(&m->e, "\xf3\x48\x0f\xae\xc0", 5);     /* rdfsbase %rax */
		emit_save(&m->e, REG_RAX, CTX_FS);
		emit_restore(&m->e, REG_RAX, CTX_REG(REG_RAX));
		if (observer.paths)
			pathcode_on(m, s, s->next);
		exits_add(m, CONDITION_NONE, s->next);
		break;
	default:
		if (trace_is_foreign(&s->i))
			dispatch_refuse("an instruction of another system", s->pc);
		emit_short_branch(m, s);
		break;
	}
}

/* ---- the cold part ---- */

void transfers_before_stub(struct maker *m, unsigned step)
{
	struct cold *c = making_cold(m, COLD_STALE);

	c->step = step;
	emit_context(&m->e, 0x3b, REG_RSP, CTX_TOP_SP);
	making_jump(m, c, CONDITION_ABOVE);
	c->back = m->e.at;
}

/* The costs are those behind the call, for the moment; and another activation may be on top afterwards. */
static void cold_stale(struct maker *m, const struct cold *c)
{
	bool counted = c->step >= m->counted_at;

	if (!counted)
		exits_count(m, m->trace.instructions, m->trace.blocks, true);
	reports_call(&m->e, (const void *)activations_before_stub, (const struct argument[3]){ { ARGUMENT_REGISTER, REG_RSP } });
	if (!counted)
		exits_count(m, -m->trace.instructions, -m->trace.blocks, true);
	if (m->stamp != NO_REGISTER)
		emit_restore(&m->e, (unsigned)m->stamp, CTX_TOP);
	emit_near(&m->e, 0xe9, (uint64_t)c->back);
}

void transfers_cold(struct maker *m, struct cold *c)
{
	const struct step *s = &m->trace.step[c->step];
	struct exit_costs more;

	making_land(m, c);
	switch ((int)c->kind) {
	case COLD_MISS:
	case COLD_FAR:
	case COLD_AWAY:
		lookups_cold(m, c);
		return;
	case COLD_OTHER_TABLE:
	case COLD_UNKNOWN_LANDING:
		landings_cold(m, c);
		return;
	case COLD_STALE:
		cold_stale(m, c);
		return;
	case COLD_CHANGED:
		doubts_cold(m, c);
		return;
	case COLD_RETURN:
		cold_return(m, c);
		return;
	case COLD_STUB:
		emit_call_of(m, s, making_target(s), false);
		return;
	case COLD_WAY:
	case COLD_CASE:
	case COLD_HIT:
	case COLD_UNLIKELY:
	case COLD_MEASURED:
	case COLD_SAMPLE:
	case COLD_CONTEXT:
		pathcode_cold(m, c);
		return;
	default:
		break;
	}
	more = exits_costs(m, c->step);
	if (making_is_spared(m, c->step))
		emit_restore(&m->e, (unsigned)m->spare, CTX_SPARE_HOME);
	if (c->kind == COLD_BRANCH) {
		uint64_t target = s->taken ? s->next : making_target(s);

		if (m->counted && !s->leaving_flags)
			emit_count_one(&m->e, rates_branch(s->pc, target));
		exits_count(m, more.instructions, more.blocks, s->leaving_flags != 0);
		if (observer.paths)
			pathcode_on(m, s, target);
		exits_add(m, CONDITION_NONE, target);
		return;
	}
	exits_count(m, more.instructions, more.blocks, true);
	exits_give_back(m);
	reports_call(&m->e, (const void *)fibers_stack_moved, (const struct argument[3]){
		{ ARGUMENT_REGISTER, REG_RSP }, { ARGUMENT_CONTEXT, CTX_SPARE },
	});
	if (observer.paths)
		pathcode_on(m, s, s->next);
	/* What goes on here will count as a block again, but is none. */
	exits_count_apart(m, 0, -1, true);
	/* Not linked: stacks may have become several, which other translations do not know yet. */
	exits_site(m, SITE_DIRECT, s->next, NULL);
}
