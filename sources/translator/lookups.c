/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Indirect branches look into the code cache's table. A jump inside a module, of which interpreters are made, does so with
 * few instructions: the register that the block has borrowed, r11 wherever that can be, is given back where the jump lands.
 */
#include "sources/translator/making.h"
#include "sources/translator/observing.h"
#include "sources/translator/vectors.h"
#include "sources/translator/following.h"
#include "sources/translator/symbols.h"

#define NEAR_LOG2 20u            /* a jump is near within a range of so many bytes */
#define NEAR_LOG2_MIN 10u

/* ---- any branch ---- */

/* Is the address in rcx at its place in this half of the table? Then eax leads to its target; otherwise a jump. */
static uint8_t *probe(struct emit *e, unsigned half, bool keep_flags)
{
	emit_bytes(e, "\x0f\xb7\xc1\x8b\x04\x85", 6);             /* movzwl %cx, %eax; mov TABLE(,%rax,4), %eax */
	emit_32(e, (uint32_t)(uint64_t)codecache_table[half]);
	if (!keep_flags) {
		emit_bytes(e, "\x48\x3b\x88", 3);                 /* cmp TARGETS(%rax), %rcx */
		emit_32(e, PLAN_TARGETS);
		return emit_jump_ahead(e, CONDITION_NOT_EQUAL);
	}
	emit_bytes(e, "\x48\x8b\x90", 3);                         /* mov TARGETS(%rax), %rdx */
	emit_32(e, PLAN_TARGETS);
	emit_bytes(e, "\x48\xf7\xd2\x48\x8d\x4c\x11\x01", 8);     /* not %rdx; lea 1(%rcx,%rdx), %rcx */
	emit_bytes(e, "\xe3\x05", 2);                             /* jrcxz over the next */
	return emit_jump_ahead(e, CONDITION_NONE);
}

/* The target's entry is in rax: the context of its function. */
static void emit_context_of_target(struct emit *e, bool keep_flags)
{
	emit_save(e, REG_RAX, CTX_PATH_KEPT);
	emit_bytes(e, "\x8b\x88", 2);                             /* mov TARGETS+12(%rax), %ecx */
	emit_32(e, PLAN_TARGETS + offsetof(struct codecache_target, fn));
	if (keep_flags) {
		/* The call keeps registers where the program's are already. */
		emit_restore(e, REG_RAX, CTX_REG(REG_RAX));
		emit_restore(e, REG_RDX, CTX_REG(REG_RDX));
		reports_call(e, (const void *)pathcontexts_enter, (const struct argument[3]){ { ARGUMENT_REGISTER, REG_RCX } });
	} else {
		emit_save(e, REG_RDI, CTX_PATH_KEPT + 8);
		emit_move(e, REG_RDI, REG_RCX);
		emit_save(e, REG_RSP, CTX_REG(REG_RSP));
		emit_restore(e, REG_RSP, CTX_HOST_RSP);
		emit_near(e, 0xe8, (uint64_t)pathcontexts_quick);
		emit_restore(e, REG_RSP, CTX_REG(REG_RSP));
		emit_restore(e, REG_RDI, CTX_PATH_KEPT + 8);
	}
	emit_restore(e, REG_RAX, CTX_PATH_KEPT);
}

/* The jump that it takes when there is none, for C to see to that. */
static uint8_t *emit_begin_test(struct emit *e, bool keep_flags)
{
	if (!keep_flags) {
		emit_bytes(e, "\x48\x85\xc9", 3);                 /* test %rcx, %rcx */
		return emit_jump_ahead(e, CONDITION_EQUAL);
	}
	emit_bytes(e, "\xe3\x02\xeb\x05", 4);                   /* jrcxz over the next; jmp over the one behind it */
	return emit_jump_ahead(e, CONDITION_NONE);
}

/* Returns a jump that is taken where no path may begin without C, if there is one. */
static uint8_t *emit_go(struct emit *e, bool keep_flags, enum lookup_path path)
{
	uint8_t *none = NULL;

	if (path == LOOKUP_BEGINS) {
		emit_bytes(e, "\x48\x8b\x88", 3);                 /* mov TARGETS+24(%rax), %rcx */
		emit_32(e, PLAN_TARGETS + offsetof(struct codecache_target, begin));
		none = emit_begin_test(e, keep_flags);
		emit_save(e, REG_RCX, CTX_PATH);
		if (observer.path_contexts)
			emit_context_of_target(e, keep_flags);
	}
	emit_bytes(e, "\x8b\x80", 2);                             /* mov TARGETS+8(%rax), %eax */
	emit_32(e, PLAN_TARGETS + offsetof(struct codecache_target, code));
	emit_save(e, REG_RAX, CTX_TARGET);
	emit_restore(e, REG_RAX, CTX_REG(REG_RAX));
	emit_restore(e, REG_RCX, CTX_REG(REG_RCX));
	if (keep_flags)
		emit_restore(e, REG_RDX, CTX_REG(REG_RDX));
	emit_bytes(e, "\x65\xff\x24\x25", 4);                     /* jmp *%gs:TARGET */
	emit_32(e, CTX_TARGET);
	return none;
}

/*
 * The program's address is in rcx, its own rcx in the context: find the
 * translation and go there. Flags are kept by `not` and `lea`, which make the difference, and jrcxz, which decides.
 */
void lookups_go(struct maker *m, bool keep_flags, enum lookup_path path)
{
	struct emit *e = &m->e;
	struct cold *c = making_cold(m, COLD_MISS);

	c->keep_flags = keep_flags;
	c->path = path;
	emit_save(e, REG_RAX, CTX_REG(REG_RAX));
	emit_save(e, REG_RCX, CTX_GUEST_TARGET);
	if (keep_flags)
		emit_save(e, REG_RDX, CTX_REG(REG_RDX));
	c->jump[c->jumps++] = probe(e, 0, keep_flags);
	c->none = emit_go(e, keep_flags, path);
}

static void cold_miss(struct maker *m, const struct cold *c)
{
	struct emit *e = &m->e;
	uint8_t *miss, *none;

	if (c->keep_flags)
		emit_restore(e, REG_RCX, CTX_GUEST_TARGET);
	miss = probe(e, 1, c->keep_flags);
	none = emit_go(e, c->keep_flags, c->path);
	emit_land(e, miss);
	if (c->none)
		emit_land(e, c->none);
	if (none)
		emit_land(e, none);
	emit_restore(e, REG_RAX, CTX_REG(REG_RAX));
	emit_restore(e, REG_RCX, CTX_REG(REG_RCX));
	if (c->keep_flags)
		emit_restore(e, REG_RDX, CTX_REG(REG_RDX));
	exits_site(m, c->path == LOOKUP_RETURNS ? SITE_RETURN : c->path == LOOKUP_KEEPS ? SITE_CASE : SITE_INDIRECT,
		   c->path == LOOKUP_RETURNS ? 0 : m->trace.step[m->trace.steps - 1].pc, NULL);
}

/* The operand of an indirect call or jump into a register. */
static void load_operand(struct maker *m, const struct step *s, unsigned reg)
{
	const ZydisDecodedInstruction *i = &s->i;
	const uint8_t *code = (const uint8_t *)s->pc;
	struct emit *e = &m->e;

	if (i->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS || i->operand_width != 64)
		dispatch_refuse("an unusual indirect branch", s->pc);
	if (i->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS)
		emit_byte(e, 0x64);
	if (i->attributes & ZYDIS_ATTRIB_HAS_ADDRESSSIZE)
		emit_byte(e, 0x67);
	emit_byte(e, 0x48 | (reg >> 3) << 2 |
		  (i->attributes & ZYDIS_ATTRIB_HAS_REX ? (unsigned)i->raw.rex.X << 1 | i->raw.rex.B : 0u));
	emit_byte(e, 0x8b);
	emit_byte(e, (unsigned)i->raw.modrm.mod << 6 | (reg & 7) << 3 | i->raw.modrm.rm);
	if (i->raw.modrm.mod == 0 && i->raw.modrm.rm == 5)
		blocks_displacement(m, i->raw.disp.value, s->next, 0);
	else
		emit_bytes(e, code + i->raw.modrm.offset + 1, i->length - i->raw.modrm.offset - 1u);
}

void lookups_load(struct maker *m, const struct step *s)
{
	emit_save(&m->e, REG_RCX, CTX_REG(REG_RCX));
	m->mark[m->marks - 1].target = true;
	if (!s->far) {
		load_operand(m, s, REG_RCX);
		return;
	}
	emit_constant(&m->e, REG_RCX, s->far);
	emit_bytes(&m->e, "\x48\x8b\x09", 3);                     /* mov (%rcx), %rcx */
}

/* ---- jumps ---- */

/*
 * Does the address in rcx lie near, and so surely in the same module? If not,
 * C has a look. Flags are kept: shrx leaves what is above the nearness of a
 * difference, jrcxz decides.
 */
static void emit_near_test(struct maker *m, uint64_t pc, const struct symbols_range *code)
{
	uint64_t size = code->end - code->start, from, log2 = NEAR_LOG2;
	struct cold *c = making_cold(m, COLD_FAR);
	struct emit *e = &m->e;

	while (log2 && UINT64_C(1) << log2 > size)
		log2--;
	c->code = code;
	emit_save(e, REG_RCX, CTX_GUEST_TARGET);
	if (log2 < NEAR_LOG2_MIN || !observer.inlined || code->end >> 31) {
		making_jump(m, c, CONDITION_NONE);
		c->back = e->at;
		return;
	}
	from = pc - (UINT64_C(1) << (log2 - 1));
	if (pc < code->start || pc - code->start < UINT64_C(1) << (log2 - 1))
		from = code->start;
	if (from + (UINT64_C(1) << log2) > code->end)
		from = code->end - (UINT64_C(1) << log2);
	struct address difference = { .base = REG_RCX, .index = NO_REGISTER, .displacement = -(int64_t)from };

	emit_save(e, REG_RAX, CTX_REG(REG_RAX));
	emit_constant(e, REG_RAX, log2);
	emit_address(e, REG_RCX, &difference, 0);
	emit_bytes(e, "\xc4\xe2\xfb\xf7\xc9", 5);                 /* shrx %rax, %rcx, %rcx */
	emit_restore(e, REG_RAX, CTX_REG(REG_RAX));
	emit_bytes(e, "\xe3\x05", 2);                             /* jrcxz over the next */
	making_jump(m, c, CONDITION_NONE);
	c->back = e->at;
	emit_restore(e, REG_RCX, CTX_GUEST_TARGET);
}

static void cold_far(struct maker *m, const struct cold *c)
{
	emit_restore(&m->e, REG_RCX, CTX_GUEST_TARGET);
	reports_call(&m->e, (const void *)activations_jump_address, (const struct argument[3]){
		{ ARGUMENT_REGISTER, REG_RCX }, { ARGUMENT_REGISTER, REG_RSP }, { ARGUMENT_CONSTANT, (uint64_t)c->code },
	});
	emit_near(&m->e, 0xe9, (uint64_t)c->back);
}

/* A jump to the address in rcx. Out of a stub it ends in a function; elsewhere it does if it leaves the module. */
void lookups_observe(struct maker *m, const struct step *s)
{
	bool stub = codeplaces_is_stub(m->trace.start);
	const struct symbols_range *code = codeplaces_code_range(m->trace.start);

	if (stub && !runtime.flags_cross_calls) {
		vectors_keep(&m->e, 0, REG_RAX);
		emit_near(&m->e, 0xe8, (uint64_t)vectors_gates()->jump_from_stub);
	} else if (stub) {
		reports_call(&m->e, (const void *)activations_jump_from_stub, (const struct argument[3]){
			{ ARGUMENT_REGISTER, REG_RCX }, { ARGUMENT_REGISTER, REG_RSP },
		});
	} else if (code) {
		emit_near_test(m, s->pc, code);
	}
}


/* ---- jumps inside a module ---- */

bool lookups_may_stay(const struct maker *m, const struct step *s)
{
	return observer.on && observer.inlined && !observer.paths && !s->far && !codeplaces_is_stub(m->trace.start) &&
	       codeplaces_module(s->pc);
}

/* The address into r11, and the program's r11 to CTX_STAMP_HOME, where no other register is borrowed any more. */
static void load_landing(struct maker *m, const struct step *s)
{
	struct emit *e = &m->e;

	if (m->stamp == NO_REGISTER)
		emit_save(e, REG_R11, CTX_STAMP_HOME);
	if (m->stamp == NO_REGISTER || m->stamp == REG_R11) {
		load_operand(m, s, REG_R11);
		return;
	}
	load_operand(m, s, (unsigned)m->stamp);
	emit_save(e, (unsigned)m->stamp, CTX_GUEST_TARGET);
	emit_restore(e, (unsigned)m->stamp, CTX_STAMP_HOME);
	emit_save(e, REG_R11, CTX_STAMP_HOME);
	emit_restore(e, REG_R11, CTX_GUEST_TARGET);
}

/* The address in r11 at its place in this half of the table, and code of this module? Otherwise to the cold part. */
static void probe_landing(struct maker *m, struct cold *c, unsigned half, unsigned index)
{
	struct emit *e = &m->e;

	emit_bytes(e, "\x41\x0f\xb7", 3);                         /* movzwl %r11w, %index */
	emit_byte(e, 0xc3 | index << 3);
	emit_byte(e, 0x8b);                                       /* mov TABLE(,%index,4), %index */
	emit_byte(e, 0x04 | index << 3);
	emit_byte(e, 0x85 | index << 3);
	emit_32(e, (uint32_t)(uint64_t)codecache_table[half]);
	emit_bytes(e, "\x4c\x3b", 2);                             /* cmp TARGETS(%index), %r11 */
	emit_byte(e, 0x98 | index);
	emit_32(e, PLAN_TARGETS);
	making_jump(m, c, CONDITION_NOT_EQUAL);
	emit_byte(e, 0x81);                                       /* cmpl $module, TARGETS+16(%index) */
	emit_byte(e, 0xb8 | index);
	emit_32(e, PLAN_TARGETS + offsetof(struct codecache_target, module));
	emit_32(e, c->module);
	making_jump(m, c, CONDITION_NOT_EQUAL);
}

static void bring_flags(struct emit *e, bool kept)
{
	if (!kept)
		return;
	emit_bytes(e, "\x04\x7f\x9e", 3);                         /* add $0x7f, %al; sahf */
	emit_restore(e, REG_RCX, CTX_REG(REG_RCX));
}

void lookups_stay(struct maker *m, const struct step *s)
{
	struct cold *c = making_cold(m, COLD_AWAY);
	struct emit *e = &m->e;
	unsigned index = m->trace.live_flags ? REG_RCX : REG_RAX;

	c->keep_flags = m->trace.live_flags;
	c->code = codeplaces_code_range(s->pc);
	c->module = codeplaces_module(s->pc);
	load_landing(m, s);
	emit_save(e, REG_RAX, CTX_REG(REG_RAX));
	if (c->keep_flags) {
		emit_save(e, REG_RCX, CTX_REG(REG_RCX));
		emit_bytes(e, "\x9f\x0f\x90\xc0", 4);             /* lahf; seto %al */
	}
	probe_landing(m, c, 0, index);
	c->back = e->at;
	emit_bytes(e, "\x44\x8b", 2);                             /* mov TARGETS+20(%index), %r11d */
	emit_byte(e, 0x98 | index);
	emit_32(e, PLAN_TARGETS + offsetof(struct codecache_target, landing));
	bring_flags(e, c->keep_flags);
	emit_restore(e, REG_RAX, CTX_REG(REG_RAX));
	emit_bytes(e, "\x41\xff\xe3", 3);                         /* jmp *%r11 */
}

/* It is in the other half of the table; or C decides, with all registers the program's but rcx. */
static void cold_away(struct maker *m, struct cold *c)
{
	struct emit *e = &m->e;

	c->jumps = 0;
	probe_landing(m, c, 1, c->keep_flags ? REG_RCX : REG_RAX);
	emit_near(e, 0xe9, (uint64_t)c->back);
	making_land(m, c);
	bring_flags(e, c->keep_flags);
	emit_restore(e, REG_RAX, CTX_REG(REG_RAX));
	emit_save(e, REG_RCX, CTX_REG(REG_RCX));
	emit_move(e, REG_RCX, REG_R11);
	emit_restore(e, REG_R11, CTX_STAMP_HOME);
	reports_call(e, (const void *)activations_jump_address, (const struct argument[3]){
		{ ARGUMENT_REGISTER, REG_RCX }, { ARGUMENT_REGISTER, REG_RSP }, { ARGUMENT_CONSTANT, (uint64_t)c->code },
	});
	lookups_go(m, c->keep_flags, LOOKUP_PLAIN);
}

void lookups_cold(struct maker *m, struct cold *c)
{
	switch ((int)c->kind) {
	case COLD_MISS:
		cold_miss(m, c);
		return;
	case COLD_FAR:
		cold_far(m, c);
		return;
	default:
		cold_away(m, c);
		return;
	}
}
