/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals like SIGSEGV and SIGTRAP that somebody sends while the program has
 * blocked them. For the kernel they are never blocked, so they come; each waits
 * here, one of a kind, until the thread unblocks it and it is sent anew, or asks for it. A signalfd
 * does not see them, nor do other threads.
 */
#include "sources/translator/signals.h"

#include <linux/errno.h>
#include <linux/mman.h>

bool held_take(struct context *ctx, int number, const siginfo_t *info)
{
	if (!(signal_bit(number) & ctx->faults_blocked))
		return false;
	if (!(ctx->held & signal_bit(number)))
		slope_copy(ctx->held_info[number], info, CONTEXT_HELD_BYTES);
	ctx->held |= signal_bit(number);
	ctx->disturbed = 1;
	return true;
}

/* It waits no longer: what the kernel has said of it. */
static void let_go(struct context *ctx, int number, siginfo_t *info)
{
	memset(info, 0, sizeof *info);
	slope_copy(info, ctx->held_info[number], CONTEXT_HELD_BYTES);
	ctx->held &= ~signal_bit(number);
}

/* The lowest of these; 0: none waits. */
static int held_of(const struct context *ctx, uint64_t set)
{
	return ctx->held & set ? __builtin_ctzll(ctx->held & set) + 1 : 0;
}

void held_release(struct context *ctx)
{
	siginfo_t info;
	int number;

	while ((number = held_of(ctx, ~ctx->faults_blocked))) {
		let_go(ctx, number, &info);
		system_call(__NR_rt_tgsigqueueinfo, system_call(__NR_getpid, 0, 0, 0, 0, 0, 0), (long)ctx->tid, number, (long)&info, 0, 0);
	}
}

long held_pending(struct context *ctx, const uint64_t *args)
{
	uint64_t set = 0;

	if (args[1] > SIGNAL_SET_BYTES)
		return -EINVAL;
	if (!space_allows(&runtime.space, args[0], args[1], PROT_WRITE))
		return -EFAULT;
	system_call(__NR_rt_sigpending, (long)&set, SIGNAL_SET_BYTES, 0, 0, 0, 0);
	set |= ctx->held;
	slope_copy((void *)args[0], &set, args[1]);
	return 0;
}

long held_wait(struct context *ctx, const uint64_t *args)
{
	uint64_t wanted, others, kernels[6] = { (uint64_t)&others, args[1], args[2], args[3] };
	siginfo_t info;
	long result;
	int number;

	if (args[3] != SIGNAL_SET_BYTES)
		return -EINVAL;
	if (!space_allows(&runtime.space, args[0], sizeof wanted, PROT_READ))
		return -EFAULT;
	slope_copy(&wanted, (const void *)args[0], sizeof wanted);
	others = wanted & ~SIGNAL_FAULTS;        /* among these may be a SIGTRAP of ours */
	for (;;) {
		if ((number = held_of(ctx, wanted))) {
			if (args[1] && !space_allows(&runtime.space, args[1], sizeof info, PROT_WRITE))
				return -EFAULT;
			let_go(ctx, number, &info);
			if (args[1])
				slope_copy((void *)args[1], &info, sizeof info);
			return number;
		}
		ctx->disturbed = 0;
		threading_rest(ctx);
		result = slope_gate_syscall(__NR_rt_sigtimedwait, kernels);
		threading_wake(ctx);
		if (result != -EINTR || !ctx->disturbed || ctx->waiting)
			return result;
	}
}
