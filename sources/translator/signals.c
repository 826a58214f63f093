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
#include "sources/translator/runtime.h"
#include "sources/translator/observing.h"

#include <linux/signal.h>
#include <asm/sigcontext.h>
#include <asm/ucontext.h>
#include <linux/errno.h>
#include <linux/mman.h>

#define SIGNALS 65
#define TRAP_FLAG 0x100u
#define ALIGNMENT_FLAG 0x40000u
#define SET_BYTES 8
#define RED_ZONE 128
#define OWN_STACK_BYTES (1u << 20)
#define FPSTATE_BYTES 512u
#define DEFAULT ((uint64_t)0)
#define FAULTS (bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP))
#define IGNORED ((uint64_t)1)
#define NOWHERE UINT64_MAX
#define SKIPPED (UINT64_MAX - 1)
#define FAULT_WRITE 2u           /* in a page fault's error code */

struct action {
	uint64_t handler, flags, restorer, mask;
};

struct frame {
	uint64_t restorer;
	struct ucontext uc;
	uint8_t info[128] __attribute__((aligned(8)));
};

static struct {
	struct action action[SIGNALS];   /* the program's; where ours stands for it. Under the runtime's lock */
	bool watching;                   /* some code is on pages that the program may write */
} signals;

static uint64_t bit(int number)
{
	return UINT64_C(1) << (number - 1);
}

static bool is_fault(int number, const siginfo_t *info)
{
	return (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP) &&
	       info->si_code > 0;
}

static struct action action_of(int number)
{
	struct action a;

	lock_take(&runtime.lock);
	a = signals.action[number];
	lock_give(&runtime.lock);
	return a;
}

/* Faults must reach us: of checks, of writes to code, and steps. A fault that the program has blocked ends it. */
static uint64_t allowed(uint64_t mask)
{
	context_here()->faults_blocked = mask & FAULTS;
	return mask & ~FAULTS;
}

/* ---- delivering ---- */

static bool on_altstack(uint64_t sp)
{
	const stack_t *alt = &context_here()->altstack;

	return sp - (uint64_t)alt->ss_sp < alt->ss_size;
}

static size_t fpstate_bytes(const struct ucontext *uc)
{
	const struct _fpx_sw_bytes *extra = &((const struct _fpstate *)uc->uc_mcontext.fpstate)->sw_reserved;

	return extra->magic1 == FP_XSTATE_MAGIC1 ? extra->extended_size : FPSTATE_BYTES;
}

/* The frame below the program's stack pointer, or on its alternate stack; NULL when there is no memory. */
static struct frame *frame_at(const struct ucontext *uc, const struct action *a, uint64_t *fpstate)
{
	uint64_t sp = uc->uc_mcontext.rsp - RED_ZONE;
	size_t bytes = fpstate_bytes(uc);
	const stack_t *alt = &context_here()->altstack;

	if (a->flags & SA_ONSTACK && alt->ss_size && !on_altstack(uc->uc_mcontext.rsp))
		sp = (uint64_t)alt->ss_sp + alt->ss_size;
	*fpstate = (sp - bytes) & ~63ul;
	sp = ((*fpstate - sizeof(struct frame) + 8) & ~15ul) - 8;
	return space_allows(&runtime.space, sp, *fpstate + bytes - sp, PROT_READ | PROT_WRITE) ? (struct frame *)sp : NULL;
}

static void die_by(int number)
{
	struct action plain = { 0 };
	uint64_t set = bit(number);

	system_call(__NR_rt_sigaction, number, (long)&plain, 0, SET_BYTES, 0, 0);
	system_call(__NR_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, SET_BYTES, 0, 0);
	system_call(__NR_kill, system_call(__NR_getpid, 0, 0, 0, 0, 0, 0), number, 0, 0, 0, 0);
}

static void reset(int number)
{
	struct action *a = &signals.action[number];

	lock_take(&runtime.lock);
	memset(a, 0, sizeof *a);
	system_call(__NR_rt_sigaction, number, (long)a, 0, SET_BYTES, 0, 0);
	lock_give(&runtime.lock);
}

/* On at the program's address, with the registers that are the program's. */
static void go_to(struct ucontext *uc, uint64_t pc)
{
	const struct block *block = dispatch_block(pc);

	uc->uc_mcontext.rip = block ? block->code : pc;
}

/* `uc` has the program's registers but for rip; afterwards those of its handler, ready to be translated. */
static void begin_handler(struct ucontext *uc, int number, const void *info, uint64_t pc, uint64_t mask)
{
	struct action a = action_of(number);
	uint64_t fpstate;
	struct frame *f = frame_at(uc, &a, &fpstate);

	if (!f) {
		die_by(SIGSEGV);
		return;
	}
	uc->uc_mcontext.eflags &= ~(uint64_t)TRAP_FLAG;
	memcpy((void *)fpstate, uc->uc_mcontext.fpstate, fpstate_bytes(uc));
	f->restorer = a.restorer;
	f->uc = *uc;
	f->uc.uc_mcontext.rip = pc;
	f->uc.uc_mcontext.fpstate = (void *)fpstate;
	f->uc.uc_stack = context_here()->altstack;
	f->uc.uc_sigmask = (sigset_t)(mask | context_here()->faults_blocked);
	slope_copy(f->info, info, sizeof f->info);
	uc->uc_mcontext.rdi = (uint64_t)number;
	uc->uc_mcontext.rsi = (uint64_t)f->info;
	uc->uc_mcontext.rdx = (uint64_t)&f->uc;
	uc->uc_mcontext.rax = 0;
	uc->uc_mcontext.rsp = (uint64_t)f;
	uc->uc_mcontext.eflags &= ~UINT64_C(0x400);
	uc->uc_sigmask = (sigset_t)allowed((uint64_t)f->uc.uc_sigmask | a.mask | (a.flags & SA_NODEFER ? 0 : bit(number)));
	if (observer.on) {
		slope_session_kernel_write(&observer.session, (uint64_t)f, sizeof *f);
		activations_handler(a.handler, (uint64_t)f, on_altstack((uint64_t)f));
	}
	if (a.flags & SA_RESETHAND)
		reset(number);
	go_to(uc, a.handler);
}

/* ---- our own handler ---- */

/* A repeated string instruction that is observed: C looks behind it, and a step for each repetition would take long. */
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

/* The block around a place in the cache; elsewhere C may be at work on the list of blocks. */
static const struct block *block_around(uint64_t rip)
{
	const struct block *block;

	if (rip < PLAN_CACHE || rip >= PLAN_CACHE_END)
		return NULL;
	lock_take(&runtime.lock);
	block = codecache_around(&runtime.cache, rip);
	lock_give(&runtime.lock);
	return block;
}

/* No handler of the program: ours stands here for the default, so that the profile is written first. */
static void end_by(int number)
{
	profilefile_write(-1, "signal");
	die_by(number);
}

/* The program's register with this number. */
static uint64_t *register_of(struct ucontext *uc, int number)
{
	struct sigcontext_64 *r = (struct sigcontext_64 *)(void *)&uc->uc_mcontext;
	__u64 *const list[16] = {
		&r->ax, &r->cx, &r->dx, &r->bx, &r->sp, &r->bp, &r->si, &r->di,
		&r->r8, &r->r9, &r->r10, &r->r11, &r->r12, &r->r13, &r->r14, &r->r15,
	};

	return (uint64_t *)list[number];
}

/* The register that the block has borrowed gets the program's value. */
static void give_back(struct ucontext *uc, const struct block *block)
{
	if (block->facts.stamp >= 0)
		*register_of(uc, block->facts.stamp) = context_here()->stamp_home;
}

/* As if nothing had been waiting. */
static void go_back(struct ucontext *uc, uint64_t pc)
{
	uc->uc_mcontext.eflags &= ~(uint64_t)TRAP_FLAG;
	uc->uc_sigmask = (sigset_t)context_here()->signal_mask;
	go_to(uc, pc);
}

/* Is the program at the start of the block there? `borrowed`: with the block's register not its own. */
static bool is_start(const struct block *block, uint64_t rip, bool *borrowed)
{
	const struct block_facts *facts = &block->facts;
	uint64_t at = rip - block->code;

	*borrowed = at && (at == facts->handed || at == facts->inner);
	return *borrowed || !at || at == facts->called;
}

static void on_step(struct ucontext *uc)
{
	struct context *ctx = context_here();
	const struct block *block = block_around(uc->uc_mcontext.rip);
	int number = (int)ctx->waiting;
	bool borrowed;
	uint64_t pc;

	if (!number && !ctx->asked) {
		uc->uc_mcontext.eflags &= ~(uint64_t)TRAP_FLAG;     /* the program kept flags from an earlier step */
		return;
	}
	if (!block || !is_start(block, uc->uc_mcontext.rip, &borrowed)) {
		step_on(uc);
		return;
	}
	if (borrowed)
		give_back(uc, block);
	pc = block->pc;
	ctx->asked = 0;
	threading_pause(ctx);
	if (!number) {
		uc->uc_mcontext.eflags &= ~(uint64_t)TRAP_FLAG;
		go_to(uc, pc);
		return;
	}
	ctx->waiting = 0;
	if (action_of(number).handler > IGNORED)
		begin_handler(uc, number, ctx->signal_info, pc, ctx->signal_mask);
	else if (action_of(number).handler == DEFAULT)
		end_by(number);
	else
		go_back(uc, pc);
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

/*
 * The program's address of the instruction that faulted, and its registers;
 * NOWHERE when it was not one of the program's. SKIPPED: it was a check, which
 * has been left out: its instruction will fault itself.
 */
static uint64_t fault_pc(struct ucontext *uc)
{
	uint64_t rip = uc->uc_mcontext.rip;
	const struct block *block = block_around(rip);
	uint32_t i = 0;

	if (!block)
		return rip < PLAN_CACHE || (rip >= PLAN_SELF_END && rip < runtime.space.window) ? rip : NOWHERE;
	uint64_t at = rip - block->code;

	if (at >= block->code_bytes)
		return NOWHERE;          /* nothing faults in the cold part */
	while (i + 1 < block->marks && block->mark[i + 1].cache <= at)
		i++;
	if (at >= block->mark[i].cache && at < block->mark[i].own) {
		if (block->mark[i].borrowed && !block->mark[i].spared)
			*register_of(uc, block->facts.spare) = context_here()->spare_home;
		uc->uc_mcontext.rip = block->code + block->mark[i].own;
		return SKIPPED;
	}
	if (block->mark[i].spared)
		*register_of(uc, block->facts.spare) = context_here()->spare_home;
	if (at >= block->facts.inner)
		give_back(uc, block);
	return block->pc + (uint64_t)(int64_t)block->mark[i].program;
}

/*
 * Cold parts of blocks call gate.S below the program's red zone: where there is
 * no memory, the stack being nearly at its end. What was to be told is told
 * here, and the block goes on behind the call.
 */
static bool told_at_stack_end(struct ucontext *uc)
{
	uint64_t rip = uc->uc_mcontext.rip;
	const struct block *block = block_around(rip);
	const uint8_t *code = (const uint8_t *)rip;
	int32_t distance;

	if (!block || rip < block->cold || rip >= block->cold + block->cold_bytes || block->facts.stamp < 0 || *code != 0xe8)
		return false;
	__builtin_memcpy(&distance, code + 1, sizeof distance);
	uint64_t *stamp = register_of(uc, block->facts.stamp), routine = rip + 5 + (uint64_t)(int64_t)distance;

	for (unsigned log2 = 0; log2 < 4; log2++) {
		if (routine == (uint64_t)slope_gate_reads[block->facts.stamp][log2])
			reports_read(*stamp, UINT64_C(1) << log2);
		else if (routine == (uint64_t)slope_gate_writes[block->facts.stamp][log2])
			reports_write(*stamp, UINT64_C(1) << log2);
		else
			continue;
		*stamp = context_here()->top;
		uc->uc_mcontext.rsp += 128;
		uc->uc_mcontext.rip = rip + 9;   /* the call, and the addition to the stack pointer */
		return true;
	}
	return false;
}

/* Is the page writable, or has it been made so by another thread meanwhile? */
static bool make_writable(uint64_t address)
{
	const struct space_region *region;
	bool good;

	lock_take(&runtime.lock);
	region = space_at(&runtime.space, address);
	good = region && region->prot & PROT_WRITE;
	if (good && space_unwatch(&runtime.space, address))
		codecache_changed(&runtime.cache, address, 1);
	lock_give(&runtime.lock);
	return good;
}

/*
 * A write to a page with code that was translated, which is watched: the
 * page is writable again, the blocks made of it die, and the instruction runs anew:
 * in a new block, if its own was one of them.
 */
static bool code_written(int number, const siginfo_t *info, struct ucontext *uc)
{
	const struct block *block;
	uint64_t pc;

	if (number != SIGSEGV || info->si_code != SEGV_ACCERR || !(uc->uc_mcontext.err & FAULT_WRITE) ||
	    !make_writable((uint64_t)info->si_addr))
		return false;
	block = block_around(uc->uc_mcontext.rip);
	if (block && block->dead && (pc = fault_pc(uc)) != NOWHERE)
		go_to(uc, pc);
	return true;
}

/* A fault of our own. */
static void fail(int number, uint64_t rip, uint64_t address)
{
	struct system_digits at, to;

	system_say("the translator has failed (at 0x", system_number(&at, rip, 16), ", address 0x", system_number(&to, address, 16),
		   "); record this program with --source=valgrind", NULL);
	die_by(number);
}

static void on_signal(int number, siginfo_t *info, struct ucontext *uc)
{
	uint64_t mask = (uint64_t)uc->uc_sigmask;

	if (code_written(number, info, uc) || is_asked(number, info, uc))
		return;
	/* A program has set the flag to see if there is one: what we add to it does not keep to alignments. */
	if (number == SIGBUS && info->si_code == BUS_ADRALN) {
		uc->uc_mcontext.eflags &= ~(uint64_t)ALIGNMENT_FLAG;
		return;
	}
	if (number == SIGTRAP && info->si_code == TRAP_TRACE) {
		on_step(uc);
		return;
	}
	if (is_fault(number, info)) {
		if (told_at_stack_end(uc))
			return;
		uint64_t pc = fault_pc(uc);

		if (pc == SKIPPED)
			return;
		if (number == SIGILL || number == SIGFPE)
			info->si_addr = (void *)pc;      /* the instruction's own address */
		if (pc == NOWHERE)
			fail(number, uc->uc_mcontext.rip, (uint64_t)info->si_addr);
		else if (!action_of(number).handler || context_here()->faults_blocked & bit(number))
			end_by(number);
		else
			begin_handler(uc, number, info, pc, mask);
		return;
	}
	struct context *ctx = context_here();

	ctx->waiting = (uint32_t)number;
	ctx->signal_mask = mask;
	slope_copy(ctx->signal_info, info, sizeof ctx->signal_info);
	uc->uc_sigmask = ~(sigset_t)FAULTS;
	step_on(uc);
}

/* ---- the program's system calls ---- */

static bool own_stack(void)
{
	struct context *ctx = context_here();
	void *stack = ctx->own_altstack ? NULL : system_pages(OWN_STACK_BYTES, false);

	if (stack)
		signals_use_stack(stack, OWN_STACK_BYTES);
	return ctx->own_altstack;
}

void signals_use_stack(void *stack, size_t bytes)
{
	stack_t own = { .ss_sp = stack, .ss_size = bytes };

	context_here()->own_altstack = !system_call(__NR_sigaltstack, (long)&own, 0, 0, 0, 0, 0);
}

static struct action ours(uint64_t flags)
{
	return (struct action){
		.handler = (uint64_t)on_signal, .restorer = (uint64_t)slope_gate_sigreturn, .mask = ~(FAULTS & ~bit(SIGTRAP)),
		.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER | (flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT)),
	};
}

/* Does a process without a handler end by this signal? */
static bool ends_process(int number)
{
	static const int others[] = { SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH, SIGKILL };

	for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i] == number)
			return false;
	return true;
}

/* Is ours the kernel's handler for it? SIGTRAP: steps must reach us, whatever the program thinks of it. */
static bool wants_ours(int number, uint64_t handler)
{
	return handler > 1 || number == SIGTRAP || (number == SIGSEGV && signals.watching) ||
	       (observer.on && handler == DEFAULT && ends_process(number));
}

void signals_watch_faults(void)
{
	struct action set = ours(0);

	if (signals.watching)
		return;
	if (!own_stack())
		system_stop("no memory for a stack of signal handlers", NULL);
	if (!signals.action[SIGSEGV].handler)
		system_call(__NR_rt_sigaction, SIGSEGV, (long)&set, 0, SET_BYTES, 0, 0);
	signals.watching = true;
}

void signals_start(void)
{
	struct action steps = ours(0);
	uint64_t set = bit(SIGTRAP);

	if (!own_stack())
		system_stop("no memory for a stack of signal handlers", NULL);
	system_call(__NR_rt_sigaction, SIGTRAP, (long)&steps, 0, SET_BYTES, 0, 0);
	system_call(__NR_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, SET_BYTES, 0, 0);
	for (int number = 1; number < SIGNALS; number++) {
		struct action now, set = ours(0);

		if (!observer.on || !ends_process(number) ||
		    system_call(__NR_rt_sigaction, number, 0, (long)&now, SET_BYTES, 0, 0) || now.handler != DEFAULT)
			continue;
		system_call(__NR_rt_sigaction, number, (long)&set, 0, SET_BYTES, 0, 0);
	}
}

/* With the lock held: sets what is wanted, where something is, and tells what was. */
static long set_action(int number, const struct action *wanted, struct action *was)
{
	bool by_us = wanted && wants_ours(number, wanted->handler);
	struct action set = by_us ? ours(wanted->flags) : wanted ? *wanted : (struct action){ 0 };
	long result = system_call(__NR_rt_sigaction, number, wanted ? (long)&set : 0, (long)was, SET_BYTES, 0, 0);

	if (result)
		return result;
	if (was->handler == (uint64_t)on_signal)
		*was = signals.action[number];
	if (wanted)
		signals.action[number] = wanted->handler > 1 || by_us ? *wanted : (struct action){ 0 };
	return 0;
}

long signals_action(int number, const void *action, void *old, size_t set_bytes)
{
	struct action wanted = { 0 }, was;
	long result;

	if (number < 1 || number >= SIGNALS || set_bytes != SET_BYTES)
		return -EINVAL;
	if ((action && !space_allows(&runtime.space, (uint64_t)action, sizeof wanted, PROT_READ)) ||
	    (old && !space_allows(&runtime.space, (uint64_t)old, sizeof was, PROT_WRITE)))
		return -EFAULT;
	if (action)
		slope_copy(&wanted, action, sizeof wanted);
	lock_take(&runtime.lock);
	result = set_action(number, action ? &wanted : NULL, &was);
	lock_give(&runtime.lock);
	if (!result && old)
		slope_copy(old, &was, sizeof was);
	/* It will look at registers, or go on elsewhere with them. */
	if (!result && wanted.handler > IGNORED && FAULTS >> (number - 1) & 1 && !runtime.precise) {
		runtime.precise = true;
		threading_empty_cache(runtime.cache.generation);
	}
	return result;
}

long signals_mask(struct context *ctx, int how, const void *set, void *old, size_t set_bytes)
{
	uint64_t mask = 0, kept, was, faults = ctx->faults_blocked;
	uint64_t args[6] = { (uint64_t)how, set ? (uint64_t)&kept : 0, (uint64_t)&was, set_bytes };

	if ((set && !space_allows(&runtime.space, (uint64_t)set, SET_BYTES, PROT_READ)) ||
	    (old && !space_allows(&runtime.space, (uint64_t)old, SET_BYTES, PROT_WRITE)))
		return -EFAULT;
	if (set)
		slope_copy(&mask, set, sizeof mask);
	kept = mask & ~FAULTS;
	long result = slope_gate_syscall(__NR_rt_sigprocmask, args);

	if (result)
		return result;
	if (set)
		ctx->faults_blocked = FAULTS & (how == SIG_BLOCK ? faults | mask : how == SIG_UNBLOCK ? faults & ~mask : mask);
	was |= faults;
	if (old)
		slope_copy(old, &was, sizeof was);
	return 0;
}

long signals_altstack(struct context *ctx, const void *new, void *old)
{
	bool inside = on_altstack(ctx->reg[REG_RSP]);

	if ((new && !space_allows(&runtime.space, (uint64_t)new, sizeof(stack_t), PROT_READ)) ||
	    (old && !space_allows(&runtime.space, (uint64_t)old, sizeof(stack_t), PROT_WRITE)))
		return -EFAULT;
	if (old) {
		stack_t was = ctx->altstack;

		was.ss_flags = !was.ss_size ? SS_DISABLE : inside ? SS_ONSTACK : 0;
		slope_copy(old, &was, sizeof was);
	}
	if (!new)
		return 0;
	if (inside)
		return -EPERM;
	stack_t wanted = *(const stack_t *)new;

	if (wanted.ss_flags & SS_DISABLE)
		wanted = (stack_t){ 0 };
	else if (wanted.ss_size < MINSIGSTKSZ)
		return -ENOMEM;
	ctx->altstack = wanted;
	return 0;
}

/* The vector registers go back to what the handler's frame holds. */
static void restore_vectors(const struct ucontext *uc)
{
	const void *state = uc->uc_mcontext.fpstate;

	if (!state || (uint64_t)state % 64)
		return;
	if (fpstate_bytes(uc) > FPSTATE_BYTES)
		__asm__ volatile("xrstor64 (%0)" : : "r"(state), "a"(-1), "d"(-1) : "memory");
	else
		__asm__ volatile("fxrstor64 (%0)" : : "r"(state) : "memory");
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
	uint64_t mask = allowed((uint64_t)uc->uc_sigmask), pc = from->ip, nearly_all = ~FAULTS;

	/* Another signal is here before this, or waits until all is in its place. */
	system_call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&nearly_all, 0, SET_BYTES, 0, 0);
	slope_copy(ctx->reg, reg, sizeof reg);
	ctx->flags = from->flags | (ctx->waiting || ctx->asked ? TRAP_FLAG : 0);
	ctx->altstack = uc->uc_stack.ss_flags & SS_DISABLE ? (stack_t){ 0 } : uc->uc_stack;
	restore_vectors(uc);
	if (observer.on)
		activations_handler_ends();
	if (ctx->waiting)
		ctx->signal_mask = mask;     /* all others wait until this one is delivered */
	else
		system_call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, SET_BYTES, 0, 0);
	return pc;
}
