/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the program does with each signal, its masks and its alternate stacks:
 * its system calls about them, and what the kernel is told instead.
 */
#include "sources/translator/signals.h"
#include "sources/translator/observing.h"

#include <linux/errno.h>
#include <linux/mman.h>

#define SIGNALS 65
#define OWN_STACK_BYTES (1u << 20)

static struct {
	struct disposition action[SIGNALS];   /* the program's; where ours stands for it. Under the runtime's lock */
	bool watching;                   /* some code is on pages that the program may write */
} signals;

struct disposition dispositions_of(int number)
{
	struct disposition a;

	lock_take(&runtime.lock);
	a = signals.action[number];
	lock_give(&runtime.lock);
	return a;
}

void dispositions_reset(int number)
{
	struct disposition *a = &signals.action[number];

	lock_take(&runtime.lock);
	memset(a, 0, sizeof *a);
	system_call(__NR_rt_sigaction, number, (long)a, 0, SIGNAL_SET_BYTES, 0, 0);
	lock_give(&runtime.lock);
}

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

static struct disposition ours(uint64_t flags)
{
	return (struct disposition){
		.handler = (uint64_t)signals_handle, .restorer = (uint64_t)slope_gate_sigreturn,
		.mask = ~(SIGNAL_FAULTS & ~signal_bit(SIGTRAP)),
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

/*
 * Is ours the kernel's handler for it? SIGTRAP: steps must reach us, whatever the program thinks of it. What is sent while
 * the program blocks it must not end it (held.c).
 */
static bool wants_ours(int number, uint64_t handler)
{
	return handler > 1 || number == SIGTRAP || (number == SIGSEGV && signals.watching) ||
	       (handler == HANDLER_DEFAULT && SIGNAL_FAULTS & signal_bit(number)) ||
	       (observer.profiles && handler == HANDLER_DEFAULT && ends_process(number));
}

void signals_watch_faults(void)
{
	struct disposition set = ours(0);

	if (signals.watching)
		return;
	if (!own_stack())
		system_stop("no memory for a stack of signal handlers", NULL);
	if (!signals.action[SIGSEGV].handler)
		system_call(__NR_rt_sigaction, SIGSEGV, (long)&set, 0, SIGNAL_SET_BYTES, 0, 0);
	signals.watching = true;
}

void signals_start(void)
{
	struct disposition steps = ours(0);
	uint64_t set = SIGNAL_FAULTS, before = 0;

	if (!own_stack())
		system_stop("no memory for a stack of signal handlers", NULL);
	system_call(__NR_rt_sigaction, SIGTRAP, (long)&steps, 0, SIGNAL_SET_BYTES, 0, 0);
	system_call(__NR_rt_sigprocmask, SIG_UNBLOCK, (long)&set, (long)&before, SIGNAL_SET_BYTES, 0, 0);
	context_here()->faults_blocked = before & SIGNAL_FAULTS;
	for (int number = 1; number < SIGNALS; number++) {
		struct disposition now, set = ours(0);

		if (!(observer.profiles ? ends_process(number) : SIGNAL_FAULTS & signal_bit(number)) || number == SIGTRAP ||
		    system_call(__NR_rt_sigaction, number, 0, (long)&now, SIGNAL_SET_BYTES, 0, 0) || now.handler != HANDLER_DEFAULT)
			continue;
		system_call(__NR_rt_sigaction, number, (long)&set, 0, SIGNAL_SET_BYTES, 0, 0);
	}
}

/* With the lock held: sets what is wanted, where something is, and tells what was. */
static long set_action(int number, const struct disposition *wanted, struct disposition *was)
{
	bool by_us = wanted && wants_ours(number, wanted->handler);
	struct disposition set = by_us ? ours(wanted->flags) : wanted ? *wanted : (struct disposition){ 0 };
	long result = system_call(__NR_rt_sigaction, number, wanted ? (long)&set : 0, (long)was, SIGNAL_SET_BYTES, 0, 0);

	if (result)
		return result;
	if (was->handler == (uint64_t)signals_handle)
		*was = signals.action[number];
	if (wanted)
		signals.action[number] = wanted->handler > 1 || by_us ? *wanted : (struct disposition){ 0 };
	return 0;
}

long signals_action(int number, const void *action, void *old, size_t set_bytes)
{
	struct disposition wanted = { 0 }, was;
	long result;

	if (number < 1 || number >= SIGNALS || set_bytes != SIGNAL_SET_BYTES)
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
	if (!result && wanted.handler > HANDLER_IGNORED && SIGNAL_FAULTS >> (number - 1) & 1 && !runtime.precise) {
		runtime.precise = true;
		threading_empty_cache(runtime.cache.generation);
	}
	return result;
}

long signals_mask(struct context *ctx, int how, const void *set, void *old, size_t set_bytes)
{
	uint64_t mask = 0, kept, was, faults = ctx->faults_blocked;
	uint64_t args[6] = { (uint64_t)how, set ? (uint64_t)&kept : 0, (uint64_t)&was, set_bytes };

	if ((set && !space_allows(&runtime.space, (uint64_t)set, SIGNAL_SET_BYTES, PROT_READ)) ||
	    (old && !space_allows(&runtime.space, (uint64_t)old, SIGNAL_SET_BYTES, PROT_WRITE)))
		return -EFAULT;
	if (set)
		slope_copy(&mask, set, sizeof mask);
	kept = mask & ~SIGNAL_FAULTS;
	long result = slope_gate_syscall(__NR_rt_sigprocmask, args);

	if (result)
		return result;
	if (set)
		ctx->faults_blocked = SIGNAL_FAULTS & (how == SIG_BLOCK ? faults | mask : how == SIG_UNBLOCK ? faults & ~mask : mask);
	if (ctx->held)
		held_release(ctx);
	was |= faults;
	if (old)
		slope_copy(old, &was, sizeof was);
	return 0;
}

void signals_tell_mask(bool all)
{
	uint64_t faults = context_here()->faults_blocked;

	system_call(__NR_rt_sigprocmask, all ? SIG_BLOCK : SIG_UNBLOCK, (long)&faults, 0, SIGNAL_SET_BYTES, 0, 0);
}

long signals_altstack(struct context *ctx, const void *new, void *old)
{
	bool inside = signals_on_altstack(ctx->reg[REG_RSP]);

	if ((new && !space_allows(&runtime.space, (uint64_t)new, sizeof(stack_t), PROT_READ)) ||
	    (old && !space_allows(&runtime.space, (uint64_t)old, sizeof(stack_t), PROT_WRITE)))
		return -EFAULT;
	if (old) {
		stack_t was = ctx->altstack;

		was.ss_flags = (!was.ss_size ? SS_DISABLE : inside ? SS_ONSTACK : 0) | (was.ss_flags & (int)SS_AUTODISARM);
		slope_copy(old, &was, sizeof was);
	}
	if (!new)
		return 0;
	if (inside)
		return -EPERM;
	stack_t wanted = *(const stack_t *)new;
	int mode = wanted.ss_flags & ~(int)SS_AUTODISARM;

	if (mode != SS_DISABLE && mode != SS_ONSTACK && mode)
		return -EINVAL;
	if (mode == SS_DISABLE)
		wanted = (stack_t){ 0 };
	else if (wanted.ss_size < MINSIGSTKSZ)
		return -ENOMEM;
	ctx->altstack = wanted;
	return 0;
}
