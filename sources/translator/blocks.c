/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One block of the program's code becomes one of ours: instructions are
 * copied, rip-relative operands get a new displacement, and whatever leaves
 * the block goes through an exit.
 *
 * A block ends behind a branch, a call, a return, a system call or a repeated
 * string instruction, or after BLOCK_MAX instructions. Calls push the
 * program's own return address; its stack never shows ours.
 */
#include "sources/translator/runtime.h"
#include "sources/translator/emit.h"
#include "sources/translator/observing.h"
#include "sources/translator/symbols.h"

#include <linux/mman.h>

#define BLOCK_MAX 60u
#define BLOCK_BYTES_ENOUGH 49152         /* marks and the cache's idea of a block have 16 bits */
#define EXITS_MAX 2u
#define INSTRUCTION_MAX_BYTES 15u

struct exit {
	uint64_t target;
	uint8_t *patch;              /* the branch's displacement; NULL: a site of another kind */
};

struct maker {
	struct emit e;
	uint64_t start, pc;
	struct exit exit[EXITS_MAX];
	unsigned exits;
	struct mark mark[BLOCK_MAX];
	uint32_t marks;
	uint32_t uncounted;          /* instructions that the costs do not have yet */
	bool block_counted;
	bool ended;
};

/* ---- observing ---- */

static void bring_costs_up_to_date(struct maker *m)
{
	if (observer.on)
		accesses_count(&m->e, m->uncounted, m->block_counted ? 0 : 1);
	m->uncounted = 0;
	m->block_counted = true;
}

/* A function begins with this block: somebody may have jumped here. */
static void observe_entry(struct maker *m)
{
	uint32_t fn;

	if (!observer.on || codeplaces_is_stub(m->start) || !codeplaces_is_entry(m->start))
		return;
	fn = codeplaces_function(m->start);
	struct checks_jump jump = checks_top_fn(&m->e, fn);

	accesses_report(&m->e, (const void *)activations_jump, (const struct argument[3]){
		{ ARGUMENT_CONSTANT, fn }, { ARGUMENT_REGISTER, REG_RSP },
	});
	checks_end(&m->e, jump);
}

static void observe_call(struct maker *m, bool direct, uint64_t target)
{
	uint32_t fn = direct && observer.on ? codeplaces_function(target) : 0;

	if (!observer.on || fn == CODEPLACES_STUB)
		return;
	accesses_report(&m->e, direct ? (const void *)activations_call : (const void *)activations_call_address,
			(const struct argument[3]){
		{ direct ? ARGUMENT_CONSTANT : ARGUMENT_REGISTER, direct ? fn : REG_RCX }, { ARGUMENT_REGISTER, REG_RSP },
	});
}

/* A jump to the address in rcx. Out of a stub it ends in a function; elsewhere it does if it leaves the module. */
static void observe_jump(struct maker *m)
{
	bool stub = observer.on && codeplaces_is_stub(m->start);
	const struct symbols_range *code = observer.on ? codeplaces_code_range(m->start) : NULL;

	if (stub)
		accesses_report(&m->e, (const void *)activations_jump_from_stub, (const struct argument[3]){
			{ ARGUMENT_REGISTER, REG_RCX }, { ARGUMENT_REGISTER, REG_RSP },
		});
	else if (code)
		accesses_report(&m->e, (const void *)activations_jump_address, (const struct argument[3]){
			{ ARGUMENT_REGISTER, REG_RCX }, { ARGUMENT_REGISTER, REG_RSP }, { ARGUMENT_CONSTANT, (uint64_t)code },
		});
}

static void observe_return(struct maker *m)
{
	if (observer.on)
		accesses_report(&m->e, (const void *)activations_return, (const struct argument[3]){
			{ ARGUMENT_REGISTER, REG_RSP },
		});
}

/* ---- leaving ---- */

/* Our stack, and the call that brings the site's record to slope_dispatch. */
static void emit_site(struct emit *e, enum site_kind kind, uint64_t target, const uint8_t *patch)
{
	struct site site = { target, kind, (uint32_t)(uint64_t)patch };

	emit_save(e, REG_RSP, CTX_REG(REG_RSP));
	emit_restore(e, REG_RSP, CTX_HOST_RSP);
	emit_near(e, 0xe8, (uint64_t)slope_gate_leave);
	emit_bytes(e, &site, sizeof site);
}

/* A branch that will be linked: `jmp`, or the conditional one with this condition. */
static void exit_to(struct maker *m, int condition, uint64_t target)
{
	emit_align(&m->e, condition < 0 ? 1 : 2);
	if (condition < 0) {
		emit_byte(&m->e, 0xe9);
	} else {
		emit_byte(&m->e, 0x0f);
		emit_byte(&m->e, 0x80 | (unsigned)condition);
	}
	m->exit[m->exits++] = (struct exit){ target, m->e.at };
	emit_32(&m->e, 0);
}

static void emit_exits(struct maker *m)
{
	for (unsigned i = 0; i < m->exits; i++) {
		struct exit *x = &m->exit[i];
		uint32_t distance = (uint32_t)(m->e.at - (x->patch + 4));

		slope_copy(x->patch, &distance, 4);
		emit_site(&m->e, SITE_DIRECT, x->target, x->patch);
	}
}

/* The program's address is in rcx, and its own rcx in the context: find the block and go there. */
static void emit_lookup(struct maker *m)
{
	static const uint8_t index[] = { 0x0f, 0xb7, 0xc1 };                        /* movzwl %cx, %eax */
	static const uint8_t entry[] = { 0x8b, 0x04, 0x85 };                        /* mov TABLE(,%rax,4), %eax */
	static const uint8_t target[] = { 0x48, 0x8b, 0x90 };                       /* mov TARGETS(%rax), %rdx */
	static const uint8_t compare[] = { 0x48, 0xf7, 0xd2, 0x48, 0x8d, 0x4c, 0x11, 0x01, 0xe3, 5 };
	static const uint8_t found[] = { 0x48, 0x8b, 0x80 };                        /* mov TARGETS+8(%rax), %rax */
	static const uint8_t go[] = { 0x65, 0xff, 0x24, 0x25 };                     /* jmp *%gs:TARGET */
	struct emit *e = &m->e;
	uint8_t *miss;
	uint32_t distance;

	emit_save(e, REG_RAX, CTX_REG(REG_RAX));
	emit_save(e, REG_RDX, CTX_REG(REG_RDX));
	emit_save(e, REG_RCX, CTX_GUEST_TARGET);
	emit_bytes(e, index, sizeof index);
	emit_bytes(e, entry, sizeof entry);
	emit_32(e, (uint32_t)(uint64_t)codecache_table);
	emit_bytes(e, target, sizeof target);
	emit_32(e, PLAN_TARGETS);
	/* not %rdx; lea 1(%rcx,%rdx), %rcx; jrcxz over the next: without touching flags. */
	emit_bytes(e, compare, sizeof compare);
	emit_byte(e, 0xe9);
	miss = e->at;
	emit_32(e, 0);
	emit_bytes(e, found, sizeof found);
	emit_32(e, PLAN_TARGETS + 8);
	emit_save(e, REG_RAX, CTX_TARGET);
	emit_restore(e, REG_RAX, CTX_REG(REG_RAX));
	emit_restore(e, REG_RDX, CTX_REG(REG_RDX));
	emit_restore(e, REG_RCX, CTX_REG(REG_RCX));
	emit_bytes(e, go, sizeof go);
	emit_32(e, CTX_TARGET);
	distance = (uint32_t)(e->at - (miss + 4));
	slope_copy(miss, &distance, 4);
	emit_restore(e, REG_RAX, CTX_REG(REG_RAX));
	emit_restore(e, REG_RDX, CTX_REG(REG_RDX));
	emit_restore(e, REG_RCX, CTX_REG(REG_RCX));
	emit_site(e, SITE_INDIRECT, 0, NULL);
}

/* ---- instructions ---- */

static bool is_rip_relative(const ZydisDecodedInstruction *i)
{
	return i->attributes & ZYDIS_ATTRIB_HAS_MODRM && i->raw.modrm.mod == 0 && i->raw.modrm.rm == 5;
}

/* A displacement of 32 bits for what the original reaches from `next`, now from the end of emission + `behind`. */
static void emit_displacement(struct maker *m, int64_t displacement, uint64_t next, unsigned behind)
{
	int64_t distance = (int64_t)(next + (uint64_t)displacement) - (int64_t)((uint64_t)m->e.at + 4 + behind);

	if (distance != (int32_t)distance)
		dispatch_refuse("code too far away for its operands", m->pc);
	emit_32(&m->e, (uint32_t)distance);
}

static void copy_instruction(struct maker *m, const ZydisDecodedInstruction *i)
{
	const uint8_t *code = (const uint8_t *)m->pc;

	if (i->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS)
		dispatch_refuse("use of %gs", m->pc);
	if (!is_rip_relative(i)) {
		emit_bytes(&m->e, code, i->length);
		return;
	}
	emit_bytes(&m->e, code, i->raw.disp.offset);
	unsigned behind = i->length - i->raw.disp.offset - 4u;

	emit_displacement(m, i->raw.disp.value, m->pc + i->length, behind);
	emit_bytes(&m->e, code + i->raw.disp.offset + 4, behind);
}

/* The operand of an indirect call or jump into rcx; the program's rcx goes to the context. */
static void load_target(struct maker *m, const ZydisDecodedInstruction *i)
{
	const uint8_t *code = (const uint8_t *)m->pc;
	struct emit *e = &m->e;

	if (i->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS || i->operand_width != 64)
		dispatch_refuse("an unusual indirect branch", m->pc);
	emit_save(e, REG_RCX, CTX_REG(REG_RCX));
	if (i->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS)
		emit_byte(e, 0x64);
	if (i->attributes & ZYDIS_ATTRIB_HAS_ADDRESSSIZE)
		emit_byte(e, 0x67);
	emit_byte(e, 0x48 | (i->attributes & ZYDIS_ATTRIB_HAS_REX ? (unsigned)i->raw.rex.X << 1 | i->raw.rex.B : 0u));
	emit_byte(e, 0x8b);
	emit_byte(e, (unsigned)i->raw.modrm.mod << 6 | REG_RCX << 3 | i->raw.modrm.rm);
	if (is_rip_relative(i))
		emit_displacement(m, i->raw.disp.value, m->pc + i->length, 0);
	else
		emit_bytes(e, code + i->raw.modrm.offset + 1, i->length - i->raw.modrm.offset - 1u);
}

static void push_return_address(struct maker *m, uint64_t address)
{
	static const uint8_t high_half[] = { 0xc7, 0x44, 0x24, 0x04 };      /* movl $.., 4(%rsp) */

	emit_byte(&m->e, 0x68);
	emit_32(&m->e, (uint32_t)address);
	if (address == (uint64_t)(int32_t)address)
		return;
	emit_bytes(&m->e, high_half, sizeof high_half);
	emit_32(&m->e, (uint32_t)(address >> 32));
}

static void on_return(struct maker *m, const ZydisDecodedInstruction *i)
{
	static const uint8_t skip[] = { 0x48, 0x8d, 0xa4, 0x24 };           /* lea n(%rsp), %rsp */

	if (i->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		dispatch_refuse("a far return", m->pc);
	bring_costs_up_to_date(m);
	observe_return(m);
	emit_save(&m->e, REG_RCX, CTX_REG(REG_RCX));
	emit_byte(&m->e, 0x59);
	if (i->raw.imm[0].size) {
		emit_bytes(&m->e, skip, sizeof skip);
		emit_32(&m->e, (uint32_t)i->raw.imm[0].value.u);
	}
	emit_lookup(m);
}

/* A call or an unconditional jump. */
static void on_transfer(struct maker *m, const ZydisDecodedInstruction *i, uint64_t next)
{
	bool call = i->mnemonic == ZYDIS_MNEMONIC_CALL, direct = i->raw.imm[0].is_relative;

	if (i->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		dispatch_refuse("a far branch", m->pc);
	uint64_t target = next + (uint64_t)i->raw.imm[0].value.s;

	bring_costs_up_to_date(m);
	if (!direct)
		load_target(m, i);
	if (call) {
		push_return_address(m, next);
		observe_call(m, direct, target);
	} else if (!direct) {
		observe_jump(m);
	}
	if (direct)
		exit_to(m, -1, target);
	else
		emit_lookup(m);
}

/* jrcxz and the loops reach only 127 bytes: they jump over the way out. */
static void on_short_branch(struct maker *m, const ZydisDecodedInstruction *i, uint64_t next)
{
	uint8_t *distance;

	if (i->attributes & ZYDIS_ATTRIB_HAS_ADDRESSSIZE)
		emit_byte(&m->e, 0x67);
	emit_byte(&m->e, i->opcode);
	distance = m->e.at;
	emit_byte(&m->e, 0);
	exit_to(m, -1, next);
	*distance = (uint8_t)(m->e.at - (distance + 1));
	exit_to(m, -1, next + (uint64_t)i->raw.imm[0].value.s);
}

static void on_conditional(struct maker *m, const ZydisDecodedInstruction *i, uint64_t next)
{
	bring_costs_up_to_date(m);
	if (i->opcode >= 0xe0 && i->opcode <= 0xe3) {
		on_short_branch(m, i, next);
		return;
	}
	exit_to(m, i->opcode & 15, next + (uint64_t)i->raw.imm[0].value.s);
	exit_to(m, -1, next);
}

static bool is_repeated(const ZydisDecodedInstruction *i)
{
	return i->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

/* The mark of include/slope.h: four rotations, and an exchange of a register with itself. */
static bool is_request(const struct maker *m)
{
	static const uint8_t mark[] = {
		0x48, 0xc1, 0xc7, 3, 0x48, 0xc1, 0xc7, 13, 0x48, 0xc1, 0xc7, 61, 0x48, 0xc1, 0xc7, 51, 0x48, 0x87, 0xdb,
	};
	const uint8_t *code = (const uint8_t *)(m->pc - 16);

	if (m->pc - m->start < 16)
		return false;
	for (unsigned i = 0; i < sizeof mark; i++)
		if (code[i] != mark[i])
			return false;
	return true;
}

/* An instruction that goes on behind itself, with what is to be seen of it. */
static void on_plain(struct maker *m, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand)
{
	bool moves = observer.on && accesses_sets_stack(i, operand);

	if (moves) {
		bring_costs_up_to_date(m);
		emit_save(&m->e, REG_RSP, CTX_SPARE);
	}
	if (observer.on && is_repeated(i))
		strings_before(&m->e);
	copy_instruction(m, i);
	if (observer.on && is_repeated(i))
		strings_after(&m->e, i);
	if (moves)
		accesses_report(&m->e, (const void *)fibers_stack_moved, (const struct argument[3]){
			{ ARGUMENT_REGISTER, REG_RSP }, { ARGUMENT_CONTEXT, CTX_SPARE },
		});
}

/* Translates the instruction at m->pc and goes on behind it. */
static void on_instruction(struct maker *m, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand)
{
	uint64_t next = m->pc + i->length;

	struct mark *mark = &m->mark[m->marks++];

	mark->program = (uint16_t)(m->pc - m->start);
	mark->cache = (uint16_t)(m->e.at - runtime.cache.next);
	m->ended = true;
	m->uncounted++;
	if (observer.on && !is_repeated(i))
		accesses_emit(&m->e, i, operand, m->pc);
	mark->own = (uint16_t)(m->e.at - runtime.cache.next);
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_JMP:
		on_transfer(m, i, next);
		break;
	case ZYDIS_MNEMONIC_RET:
		on_return(m, i);
		break;
	case ZYDIS_MNEMONIC_SYSCALL:
		bring_costs_up_to_date(m);
		emit_site(&m->e, SITE_SYSCALL, next, NULL);
		break;
	case ZYDIS_MNEMONIC_XBEGIN:
		/* A transaction that never begins: status 0, and the way it has for that. */
		bring_costs_up_to_date(m);
		emit_constant(&m->e, REG_RAX, 0);
		exit_to(m, -1, next + (uint64_t)i->raw.imm[0].value.s);
		break;
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_RDGSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE:
		dispatch_refuse("an instruction of another system", m->pc);
		break;
	case ZYDIS_MNEMONIC_XCHG:
		if (observer.on && is_request(m)) {
			m->uncounted -= 4;       /* one instruction, to the Valgrind source */
			bring_costs_up_to_date(m);
			accesses_report(&m->e, (const void *)observing_request, (const struct argument[3]){
				{ ARGUMENT_REGISTER, REG_RAX },
			});
			exit_to(m, -1, next);
			break;
		}
		/* fallthrough */
	default:
		if (i->meta.category == ZYDIS_CATEGORY_COND_BR) {
			on_conditional(m, i, next);
			break;
		}
		on_plain(m, i, operand);
		m->ended = is_repeated(i);
		if (m->ended) {
			bring_costs_up_to_date(m);
			exit_to(m, -1, next);
		}
	}
	m->pc = next;
}

/* How many bytes may be looked at from the program's address on. */
static size_t readable_code(uint64_t pc)
{
	struct space_region *region = space_at(&runtime.space, pc);
	size_t bytes;

	if (!region || !(region->prot & PROT_EXEC))
		return 0;
	bytes = region->end - pc;
	if (bytes < INSTRUCTION_MAX_BYTES && space_allows(&runtime.space, region->end, 1, PROT_READ | PROT_EXEC))
		bytes = INSTRUCTION_MAX_BYTES;
	bytes = bytes < INSTRUCTION_MAX_BYTES ? bytes : INSTRUCTION_MAX_BYTES;
	dispatch_depends_on(pc);
	dispatch_depends_on(pc + bytes - 1);
	return bytes;
}

const struct block *blocks_translate(uint64_t pc)
{
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	struct maker m = { .start = pc, .pc = pc };
	const struct block *block;

	m.e.at = runtime.cache.next;
	observe_entry(&m);
	decoder_begin(&runtime.decoder);
	while (!m.ended && m.marks < BLOCK_MAX && m.e.at - runtime.cache.next < BLOCK_BYTES_ENOUGH) {
		size_t bytes = readable_code(m.pc);

		if (!bytes || !decoder_decode(&runtime.decoder, (const void *)m.pc, bytes, &instruction) ||
		    (observer.on && !decoder_operands(&runtime.decoder, &instruction, operand))) {
			if (m.marks)
				break;       /* it may never come to this */
			if (bytes)
				dispatch_refuse("an instruction that the decoder does not know", m.pc);
			decoder_end(&runtime.decoder);
			return NULL;
		}
		on_instruction(&m, &instruction, operand);
	}
	decoder_end(&runtime.decoder);
	if (!m.ended) {
		bring_costs_up_to_date(&m);
		exit_to(&m, -1, m.pc);
	}
	emit_exits(&m);
	block = codecache_add(&runtime.cache, pc, m.e.at, m.mark, m.marks);
	if (!block)
		system_stop("no memory for translated code", NULL);
	return block;
}
