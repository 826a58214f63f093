/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signal handlers of the program. The kernel knows one handler, ours, on a
 * stack of our own. A signal may come anywhere: in the middle of a translated
 * instruction or in C. So the handler only notes it, blocks all others, and
 * lets the processor go on instruction by instruction (trap flag; C is left to
 * run, and stepping begins where it ends), until it stands at the start of a
 * block: there all registers are the program's, and its address is known. Then the frame that the kernel would have made is
 * built on the program's stack, and its own handler runs, translated.
 *
 * A fault in a copied instruction is delivered at once: the registers are the
 * program's there, and the block's marks tell the address.
 *
 * A system call is not begun when a signal is waiting, and one that the kernel
 * wants to restart is begun anew after the handler: see slope_gate_syscall.
 */
#include "sources/translator/signals.h"
#include "sources/translator/vectors.h"
#include "sources/translator/observing.h"
#include "sources/translator/following.h"

#include <linux/mman.h>

#define ALIGNMENT_FLAG 0x40000u
#define RED_ZONE 128
#define TRAP_OVERFLOW 4
#define INT3 0xcc
#define FPSTATE_BYTES 512u
#define MEMORY_KEYS (UINT64_C(1) << 9)   /* of XSAVE's components */

struct frame {
	uint64_t restorer;
	struct ucontext uc;
	uint8_t info[128] __attribute__((aligned(8)));
};

/* ---- delivering ---- */

bool signals_on_altstack(uint64_t sp)
{
	const stack_t *alt = &context_here()->altstack;

	return !(alt->ss_flags & (int)SS_AUTODISARM) && sp - (uint64_t)alt->ss_sp < alt->ss_size;
}

uint64_t signals_allowed(uint64_t mask)
{
	context_here()->faults_blocked = mask & SIGNAL_FAULTS;
	return mask & ~SIGNAL_FAULTS;
}

static size_t fpstate_bytes(const struct ucontext *uc)
{
	const struct _fpx_sw_bytes *extra = &((const struct _fpstate *)uc->uc_mcontext.fpstate)->sw_reserved;

	return extra->magic1 == FP_XSTATE_MAGIC1 ? extra->extended_size : FPSTATE_BYTES;
}

/* The frame below the program's stack pointer, or on its alternate stack; NULL when there is no memory. */
static struct frame *frame_at(const struct ucontext *uc, const struct disposition *a, uint64_t *fpstate)
{
	uint64_t sp = uc->uc_mcontext.rsp - RED_ZONE;
	size_t bytes = fpstate_bytes(uc);
	const stack_t *alt = &context_here()->altstack;

	if (a->flags & SA_ONSTACK && alt->ss_size && !signals_on_altstack(uc->uc_mcontext.rsp))
		sp = (uint64_t)alt->ss_sp + alt->ss_size;
	*fpstate = (sp - bytes) & ~63ul;
	sp = ((*fpstate - sizeof(struct frame) + 8) & ~15ul) - 8;
	return space_allows(&runtime.space, sp, *fpstate + bytes - sp, PROT_READ | PROT_WRITE) ? (struct frame *)sp : NULL;
}

static void die_by(int number)
{
	struct disposition plain = { 0 };
	uint64_t set = signal_bit(number);

	system_call(__NR_rt_sigaction, number, (long)&plain, 0, SIGNAL_SET_BYTES, 0, 0);
	system_call(__NR_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, SIGNAL_SET_BYTES, 0, 0);
	system_call(__NR_kill, system_call(__NR_getpid, 0, 0, 0, 0, 0, 0), number, 0, 0, 0, 0);
}

void signals_go_to(struct ucontext *uc, uint64_t pc)
{
	const struct block *block = dispatch_block(pc);

	uc->uc_mcontext.rip = block ? block->code : raising_place(pc, (uint64_t *)&uc->uc_mcontext.eflags);
	if (observer.vectors)
		vectors_sums_go(context_here(), uc);
}

/* As the kernel does it: a handler begins with the initial state, whatever the program has made of rounding and exceptions. */
static void begin_vectors(struct ucontext *uc)
{
	struct _xstate *state = (struct _xstate *)uc->uc_mcontext.fpstate;

	/* Components that are not there are initial; the one of memory keys stays. */
	if (fpstate_bytes(uc) > FPSTATE_BYTES)
		state->xstate_hdr.xfeatures &= MEMORY_KEYS;
	memset(&state->fpstate, 0, offsetof(struct _fpstate, reserved3));
	state->fpstate.cwd = 0x37f;
	state->fpstate.mxcsr = 0x1f80;
	vectors_clear(context_here());
}

/* `uc` has the program's registers but for rip; afterwards those of its handler, ready to be translated. */
static void begin_handler(struct ucontext *uc, int number, const void *info, uint64_t pc, uint64_t mask)
{
	struct disposition a = dispositions_of(number);
	uint64_t fpstate;
	struct frame *f = frame_at(uc, &a, &fpstate);

	if (!f) {
		die_by(SIGSEGV);
		return;
	}
	uc->uc_mcontext.eflags &= ~(uint64_t)TRAP_FLAG;
	if (context_here()->stepping)
		uc->uc_mcontext.eflags |= TRAP_FLAG;
	memcpy((void *)fpstate, uc->uc_mcontext.fpstate, fpstate_bytes(uc));
	f->restorer = a.restorer;
	f->uc = *uc;
	f->uc.uc_mcontext.rip = pc;
	f->uc.uc_mcontext.fpstate = (void *)fpstate;
	if (observer.vectors)
		vectors_show(context_here(), (struct _xstate *)fpstate);
	begin_vectors(uc);
	context_here()->stepping = context_here()->step_due = false;
	uc->uc_mcontext.eflags &= ~(uint64_t)TRAP_FLAG;

	stack_t *alt = &context_here()->altstack;
	bool apart = (uint64_t)f - (uint64_t)alt->ss_sp < alt->ss_size;

	f->uc.uc_stack = *alt;
	if (!alt->ss_size)
		f->uc.uc_stack.ss_flags = SS_DISABLE;
	if (alt->ss_flags & (int)SS_AUTODISARM)
		*alt = (stack_t){ 0 };
	f->uc.uc_sigmask = (sigset_t)(mask | context_here()->faults_blocked);
	slope_copy(f->info, info, sizeof f->info);
	uc->uc_mcontext.rdi = (uint64_t)number;
	uc->uc_mcontext.rsi = (uint64_t)f->info;
	uc->uc_mcontext.rdx = (uint64_t)&f->uc;
	uc->uc_mcontext.rax = 0;
	uc->uc_mcontext.rsp = (uint64_t)f;
	uc->uc_mcontext.eflags &= ~UINT64_C(0x400);
	uc->uc_sigmask = (sigset_t)signals_allowed((uint64_t)f->uc.uc_sigmask | a.mask | (a.flags & SA_NODEFER ? 0 : signal_bit(number)));
	if (observer.on) {
		slope_session_kernel_write(&observer.session, (uint64_t)f, sizeof *f);
		activations_handler(a.handler, (uint64_t)f, apart);
	}
	if (observer.paths)
		pathevents_handler(context_here(), pc, (uint64_t)f->uc.uc_mcontext.rsp, a.handler, (uint64_t)f);
	if (a.flags & SA_RESETHAND)
		dispositions_reset(number);
	signals_go_to(uc, a.handler);
	if (context_here()->asked)
		uc->uc_mcontext.eflags |= TRAP_FLAG;
}

/* The vector registers go back to what the handler's frame holds. */
static void restore_vectors(const struct ucontext *uc)
{
	const struct _fpstate *state = (const struct _fpstate *)uc->uc_mcontext.fpstate;

	if (!state || (uint64_t)state % 64)
		return;
	/* Of all that the processor has only what the kernel puts there: tiles (AMX) it leaves out until somebody asks for them. */
	uint64_t there = state->sw_reserved.xfeatures;

	if (fpstate_bytes(uc) > FPSTATE_BYTES)
		__asm__ volatile("xrstor64 (%0)" : : "r"(state), "a"((uint32_t)there), "d"((uint32_t)(there >> 32)) : "memory");
	else
		__asm__ volatile("fxrstor64 (%0)" : : "r"(state) : "memory");
	if (observer.vectors)
		vectors_take(context_here(), (const struct _xstate *)state);
}

uint64_t signals_return(struct context *ctx)
{
	const struct ucontext *uc = (const struct ucontext *)ctx->reg[REG_RSP];

	if (!space_allows(&runtime.space, (uint64_t)uc, sizeof *uc, PROT_READ))
		die_by(SIGSEGV);
	const struct sigcontext_64 *from = (const void *)&uc->uc_mcontext;
	const uint64_t reg[16] = {
		from->ax, from->cx, from->dx, from->bx, from->sp, from->bp, from->si, from->di,
		from->r8, from->r9, from->r10, from->r11, from->r12, from->r13, from->r14, from->r15,
	};
	uint64_t mask = signals_allowed((uint64_t)uc->uc_sigmask), pc = from->ip, nearly_all = ~SIGNAL_FAULTS;

	/* Another signal is here before this, or waits until all is in its place. */
	system_call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&nearly_all, 0, SIGNAL_SET_BYTES, 0, 0);
	slope_copy(ctx->reg, reg, sizeof reg);
	ctx->stepping = from->flags & TRAP_FLAG;
	ctx->flags = from->flags | (ctx->waiting || ctx->asked ? TRAP_FLAG : 0);
	ctx->altstack = uc->uc_stack.ss_flags & SS_DISABLE ? (stack_t){ 0 } : uc->uc_stack;
	restore_vectors(uc);
	if (observer.on)
		activations_handler_ends();
	if (observer.paths)
		pathevents_handler_ends(ctx, pc, (uint64_t)uc);
	if (ctx->waiting)
		ctx->signal_mask = mask;     /* all others wait until this one is delivered */
	else
		system_call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, SIGNAL_SET_BYTES, 0, 0);
	if (ctx->held && !ctx->waiting)
		held_release(ctx);
	return pc;
}

/* ---- our own handler ---- */

/*
 * A repeated string instruction that is observed: C looks behind it, and a step for each repetition would take long. Where only
 * paths are followed, a counter may be all that is behind it.
 */
static bool is_observed_string(uint64_t rip)
{
	const uint8_t *code = (const uint8_t *)rip;

	bool repeated = false;

	for (; *code == 0x66 || *code == 0x67 || (*code & 0xf0) == 0x40 || (*code & 0xfe) == 0xf2; code++)
		repeated |= (*code & 0xfe) == 0xf2;
	return observer.on && repeated && ((*code >= 0xa4 && *code <= 0xa7) || (*code >= 0xaa && *code <= 0xaf));
}

/* A signal is waiting: step on, and begin no system call. */
static void step_on(struct ucontext *uc)
{
	stepping_mind_flags(uc);
	uint64_t rip = uc->uc_mcontext.rip;

	uc->uc_mcontext.eflags &= ~(uint64_t)TRAP_FLAG;
	if (context_here()->inside)
		context_here()->flags |= TRAP_FLAG;
	else if ((rip >= PLAN_CACHE && rip < PLAN_CACHE_END && !is_observed_string(rip)) ||
		 (rip >= (uint64_t)slope_gate_first && rip < (uint64_t)slope_gate_last))
		uc->uc_mcontext.eflags |= TRAP_FLAG;
	/* Else C has been called from translated code: slope_gate_report looks when it ends. */
	if (rip >= (uint64_t)slope_gate_syscall_begin && rip <= (uint64_t)slope_gate_syscall_instruction)
		uc->uc_mcontext.rip = (uint64_t)slope_gate_syscall_aborted;
}

/* No handler of the program: ours stands here for the default, so that the profile is written first. */
static void end_by(int number)
{
	space_say_refused(&runtime.space);
	profilefile_write(-1, "signal");
	die_by(number);
}

/* As if nothing had been waiting. */
static void go_back(struct ucontext *uc, uint64_t pc)
{
	uc->uc_mcontext.eflags &= ~(uint64_t)TRAP_FLAG;
	uc->uc_sigmask = (sigset_t)context_here()->signal_mask;
	signals_go_to(uc, pc);
}

/* The signal that waits, now that registers and address are the program's. */
static void deliver_waiting(struct ucontext *uc, uint64_t pc)
{
	struct context *ctx = context_here();
	int number = (int)ctx->waiting;

	ctx->waiting = 0;
	ctx->path_pc = pc;
	if (dispositions_of(number).handler > HANDLER_IGNORED)
		begin_handler(uc, number, ctx->signal_info, pc, ctx->signal_mask);
	else if (dispositions_of(number).handler == HANDLER_DEFAULT)
		end_by(number);
	else
		go_back(uc, pc);
}

/* Is the program at the start of the block there? `borrowed`: with the block's register not its own. */
static bool is_start(const struct block *block, uint64_t rip, bool *borrowed)
{
	const struct block_facts *facts = &block->facts;
	uint64_t at = rip - block->code;

	*borrowed = at && !facts->alone && (at == facts->handed || at == facts->inner);
	return *borrowed || !at || (at == facts->called && !facts->alone);
}

/*
 * A virtual machine may lose the bit that tells a step from the program's own int1: the kernel then has the same words for
 * both.
 */
static bool is_step(int number, const siginfo_t *info, uint64_t rip)
{
	return number == SIGTRAP && (info->si_code == TRAP_TRACE || info->si_code == TRAP_BRKPT) && !raising_is_trap(info, rip);
}

/* A trap has happened, and will not once more: its handler begins, and at its first instruction that of the signal that waits. */
static void begin_two(struct ucontext *uc, int number, const siginfo_t *info, uint64_t pc)
{
	struct context *ctx = context_here();

	begin_handler(uc, number, info, pc, ctx->signal_mask);
	ctx->signal_mask = (uint64_t)uc->uc_sigmask;
	uc->uc_sigmask = ~(sigset_t)SIGNAL_FAULTS;
	step_on(uc);
}

/* An instruction of a program that steps has run. */
static void tell_step(struct ucontext *uc, siginfo_t *info, uint64_t pc)
{
	struct context *ctx = context_here();

	ctx->step_due = false;
	info->si_code = TRAP_TRACE;
	info->si_addr = (void *)pc;
	if (!dispositions_of(SIGTRAP).handler || ctx->faults_blocked & signal_bit(SIGTRAP))
		end_by(SIGTRAP);
	else if (ctx->waiting)
		begin_two(uc, SIGTRAP, info, pc);
	else
		begin_handler(uc, SIGTRAP, info, pc, (uint64_t)uc->uc_sigmask);
}

static void on_step(struct ucontext *uc, siginfo_t *info)
{
	struct context *ctx = context_here();
	const struct block *block = faults_block(uc->uc_mcontext.rip);
	bool borrowed;
	uint64_t pc;

	lending_end(ctx, uc->uc_mcontext.rip);
	if (raising_tries(uc->uc_mcontext.rip))
		return;
	if (!ctx->waiting && !ctx->asked && stepping_has_popped(uc->uc_mcontext.rip)) {
		ctx->stepping = true;
		ctx->asked = 1;
	}
	if (!ctx->waiting && !ctx->asked && !ctx->stepping) {
		uc->uc_mcontext.eflags &= ~(uint64_t)TRAP_FLAG;
		return;
	}
	if (!block || !is_start(block, uc->uc_mcontext.rip, &borrowed)) {
		step_on(uc);
		return;
	}
	if (borrowed)
		faults_give_back(uc, block);
	pc = block->pc;
	ctx->path_pc = pc;
	ctx->asked = 0;
	threading_pause(ctx);
	if (ctx->step_due) {
		tell_step(uc, info, pc);
		return;
	}
	if (ctx->stepping && !ctx->waiting) {
		stepping_begin(uc, pc);
		return;
	}
	if (ctx->waiting) {
		deliver_waiting(uc, pc);
		return;
	}
	uc->uc_mcontext.eflags &= ~(uint64_t)TRAP_FLAG;
	signals_go_to(uc, pc);
}

/* Another thread wants all to stand still: at once if this one rests, or at the start of the next block. */
static bool is_asked(int number, const siginfo_t *info, struct ucontext *uc)
{
	struct context *ctx = context_here();

	if (number != SIGTRAP || info->si_code != SI_QUEUE || info->si_pid)
		return false;
	ctx->disturbed = 1;
	if (!ctx->rests && threading_wanted(ctx)) {
		ctx->asked = 1;
		step_on(uc);
	}
	return true;
}

static bool is_fault(int number, const siginfo_t *info)
{
	return (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP) &&
	       info->si_code > 0;
}

/* gate.S reads the program's stack in its name; where somebody wants to know of faults, the block has looked before. */
static bool is_programs(uint64_t rip, uint64_t address)
{
	return rip - (uint64_t)slope_gate_first < (uint64_t)(slope_gate_last - slope_gate_first) && address < runtime.space.window;
}

/* A fault of our own. */
static void fail(int number, uint64_t rip, uint64_t address)
{
	struct system_digits at, to;

	system_say("the translator has failed (at 0x", system_number(&at, rip, 16), ", address 0x", system_number(&to, address, 16),
		   "); record this program with --source=valgrind", NULL);
	die_by(number);
}

/* Has a breakpoint (int3) just run? */
static bool is_breakpoint(int number, const siginfo_t *info, uint64_t rip)
{
	return number == SIGTRAP && info->si_code == SI_KERNEL && rip >= PLAN_CACHE && rip < PLAN_CACHE_END;
}

/* A breakpoint has run when it is told, and what stands behind it in the cache may be the next instruction's check. */
static uint64_t fault_pc(struct ucontext *uc, bool breakpoint)
{
	uc->uc_mcontext.rip -= breakpoint;
	uint64_t pc = faults_pc(uc);

	if (!breakpoint || pc == FAULTS_NOWHERE)
		return pc;
	faults_count_trap();
	for (pc++; ((const uint8_t *)pc)[-1] != INT3; pc++)
		;                                /* prefixes */
	return pc;
}

/* It has run: int $4 is told as a fault, too. */
static bool is_trap(int number, const struct ucontext *uc)
{
	return number == SIGTRAP || uc->uc_mcontext.trapno == TRAP_OVERFLOW;
}

/* The registers are the program's, and this is where it stands. */
static void deliver_fault(int number, siginfo_t *info, struct ucontext *uc, uint64_t pc)
{
	struct context *ctx = context_here();

	ctx->path_pc = pc;
	if (number == SIGILL || number == SIGFPE)
		info->si_addr = (void *)pc;      /* the instruction's own address */
	if (ctx->waiting && !is_trap(number, uc))
		deliver_waiting(uc, pc);         /* it was first; the instruction will fault again */
	else if (!dispositions_of(number).handler || ctx->faults_blocked & signal_bit(number))
		end_by(number);
	else if (ctx->waiting)
		begin_two(uc, number, info, pc);
	else
		begin_handler(uc, number, info, pc, (uint64_t)uc->uc_sigmask);
}

static void on_fault(int number, siginfo_t *info, struct ucontext *uc)
{
	uint64_t pc;

	if (raising_has(number, info, uc, &pc)) {
		deliver_fault(number, info, uc, pc);
		return;
	}
	pc = fault_pc(uc, is_breakpoint(number, info, uc->uc_mcontext.rip));
	if (pc == FAULTS_SKIPPED)
		return;
	if (pc == FAULTS_NOWHERE && !is_programs(uc->uc_mcontext.rip, (uint64_t)info->si_addr))
		fail(number, uc->uc_mcontext.rip, (uint64_t)info->si_addr);
	else if (pc == FAULTS_NOWHERE)
		end_by(number);
	else
		deliver_fault(number, info, uc, pc);
}

/* It waits until a block begins. All others but faults wait longer. */
static void on_other(int number, const siginfo_t *info, struct ucontext *uc)
{
	struct context *ctx = context_here();

	if (held_take(ctx, number, info))
		return;
	ctx->waiting = (uint32_t)number;
	ctx->signal_mask = (uint64_t)uc->uc_sigmask;
	slope_copy(ctx->signal_info, info, sizeof ctx->signal_info);
	uc->uc_sigmask = ~(sigset_t)SIGNAL_FAULTS;
	step_on(uc);
}

static void handle(int number, siginfo_t *info, struct ucontext *uc)
{
	if ((number == SIGSEGV && faults_log_full(info, uc)) || faults_code_written(number, info, uc) || is_asked(number, info, uc))
		return;
	if (is_fault(number, info) && number != SIGTRAP && lending_tell(uc))
		return;
	if (number == SIGSEGV && lending_begin(context_here(), info, uc)) {
		context_here()->asked = 1;       /* so that it is stepped through */
		step_on(uc);
	} else if (number == SIGBUS && info->si_code == BUS_ADRALN) {
		/* A program has set the flag to see if there is one: what we add to it does not keep to alignments. */
		uc->uc_mcontext.eflags &= ~(uint64_t)ALIGNMENT_FLAG;
	} else if (is_step(number, info, uc->uc_mcontext.rip)) {
		on_step(uc, info);
	} else if (is_fault(number, info)) {
		on_fault(number, info, uc);
	} else {
		on_other(number, info, uc);
	}
}

/* A handler begins with the flags of what it interrupts; ours may not fault at odd addresses. */
static void keep_no_alignment(void)
{
	unsigned long long flags = __builtin_ia32_readeflags_u64();

	if (flags & ALIGNMENT_FLAG)
		__builtin_ia32_writeeflags_u64(flags & ~(unsigned long long)ALIGNMENT_FLAG);
	__asm__ volatile("" : : : "memory");
}

/* What C wants to know lies in the context meanwhile. */
void signals_handle(int number, siginfo_t *info, struct ucontext *uc)
{
	struct context *ctx = context_here();
	bool held = ctx->sums == SUMS_HELD;

	keep_no_alignment();
	if (held)
		vectors_sums_come(ctx, uc);
	handle(number, info, uc);
	if (held && ctx->sums == SUMS_AWAY)
		vectors_sums_go(ctx, uc);
}
