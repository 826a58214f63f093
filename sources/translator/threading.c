/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads of the program. Each is a thread of the kernel, with a room of its
 * own (rooms.c), and runs at once with the others.
 *
 * Sometimes all others must stand still: when the profile is written, when the
 * whole cache is emptied. Then each of them that does not rest (in a system
 * call, say) gets a SIGTRAP, which the program cannot block: its handler lets
 * the processor step on to the start of the next block, as it does for signals
 * of the program, and waits there (signals.c).
 */
#include "sources/translator/observing.h"
#include "sources/translator/following.h"

#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/signal.h>

#define SET_BYTES 8
#define ALL_BUT_FAULTS (~(1ul << (SIGSEGV - 1) | 1ul << (SIGBUS - 1) | 1ul << (SIGILL - 1) | 1ul << (SIGFPE - 1)))
#define LOOK_AGAIN_NS UINT64_C(2000000)
#define ASK_AGAIN_ROUNDS 20u
#define STACK_REACH (8ul << 20)  /* so far below its first frame a thread's stack may go */
#define BASE_REACH 256u

static struct {
	struct context *all;         /* under the runtime's lock */
	uint32_t count;
	bool many;                   /* there has been a second one */
	int first_status;            /* with which the first thread has ended */
	struct context *first;
	struct lock still;           /* held by the one that others wait for */
	uint32_t standing;           /* 1: all but that one must stand still */
	uint32_t arrivals;           /* counts those that have come to rest meanwhile */
} threads;

void threading_init(struct context *first)
{
	threads.all = threads.first = first;
	threads.count = 1;
	first->tid = (uint64_t)system_call(__NR_gettid, 0, 0, 0, 0, 0, 0);
}

bool threading_many(void)
{
	return threads.many;
}

/* ---- standing still ---- */

bool threading_wanted(const struct context *ctx)
{
	return __atomic_load_n(&threads.standing, __ATOMIC_SEQ_CST) && threads.still.owner != ctx;
}

static void arrive(void)
{
	__atomic_fetch_add(&threads.arrivals, 1, __ATOMIC_SEQ_CST);
	lock_wake(&threads.arrivals, 1);
}

void threading_rest(struct context *ctx)
{
	if (!threads.many)
		return;
	__atomic_store_n(&ctx->rests, 1, __ATOMIC_SEQ_CST);
	if (threading_wanted(ctx))
		arrive();
}

void threading_wake(struct context *ctx)
{
	if (!threads.many)
		return;
	for (;;) {
		__atomic_store_n(&ctx->rests, 0, __ATOMIC_SEQ_CST);
		if (!threading_wanted(ctx))
			return;
		__atomic_store_n(&ctx->rests, 1, __ATOMIC_SEQ_CST);
		arrive();
		lock_wait(&threads.standing, 1, 0);
	}
}

void threading_pause(struct context *ctx)
{
	threading_rest(ctx);
	threading_wake(ctx);
}

static void ask(struct context *ctx)
{
	siginfo_t info = { .si_signo = SIGTRAP, .si_code = SI_QUEUE };

	system_call(__NR_rt_tgsigqueueinfo, system_call(__NR_getpid, 0, 0, 0, 0, 0, 0), (long)ctx->tid, SIGTRAP, (long)&info, 0, 0);
}

/* Is anybody still at work? Those are asked, the second time after a while. */
static bool somebody_works(bool asking)
{
	struct context *self = context_here();
	bool any = false;

	lock_take(&runtime.lock);
	for (struct context *ctx = threads.all; ctx; ctx = ctx->next) {
		if (ctx == self || __atomic_load_n(&ctx->rests, __ATOMIC_SEQ_CST))
			continue;
		any = true;
		if (asking)
			ask(ctx);
	}
	lock_give(&runtime.lock);
	return any;
}

void threading_stand_still(void)
{
	struct context *ctx = context_here();

	if (!threads.many)
		return;
	threading_rest(ctx);
	lock_take(&threads.still);
	threading_wake(ctx);
	__atomic_store_n(&threads.standing, 1, __ATOMIC_SEQ_CST);
	for (unsigned round = 0;; round++) {
		uint32_t arrived = __atomic_load_n(&threads.arrivals, __ATOMIC_SEQ_CST);

		if (!somebody_works(round % ASK_AGAIN_ROUNDS == 0))
			return;
		lock_wait(&threads.arrivals, arrived, LOOK_AGAIN_NS);
	}
}

void threading_go_on(void)
{
	if (!threads.many)
		return;
	__atomic_store_n(&threads.standing, 0, __ATOMIC_SEQ_CST);
	lock_wake(&threads.standing, INT32_MAX);
	lock_give(&threads.still);
}

void threading_each(void (*act)(struct context *ctx))
{
	for (struct context *ctx = threads.all; ctx; ctx = ctx->next)
		act(ctx);
}

/* Frames know where in the cache they return to, those that are no more too. */
static void forget_returns(void)
{
	const struct slope_session *s = &observer.session;

	for (size_t i = 0; i < s->thread_count; i++)
		for (size_t n = 0; s->thread[i] && n < s->thread[i]->capacity; n++)
			s->thread[i]->frame[n].back = 0;
}

void threading_empty_cache(uint64_t generation)
{
	threading_stand_still();
	lock_take(&runtime.lock);
	if (runtime.cache.generation == generation) {
		codecache_empty(&runtime.cache);
		forget_returns();
	}
	lock_give(&runtime.lock);
	threading_go_on();
}

/* ---- the beginning ---- */

/* The second thread is about to be: what was true for one alone is so no longer. */
static void become_many(void)
{
	threads.many = true;
	if (!observer.on)
		return;
	if (!observer.session.parallel)
		slope_session_parallel(&observer.session);
	runtime.translated_shared = true;
	codecache_empty(&runtime.cache);
	forget_returns();
}

static void find_stack(struct context *ctx)
{
	uint64_t sp = ctx->reg[REG_RSP];
	const struct space_region *region = space_at(&runtime.space, sp - 1);

	ctx->own_stack_end = sp + BASE_REACH;
	ctx->own_stack = sp - STACK_REACH;
	if (region && region->start > ctx->own_stack)
		ctx->own_stack = region->start;
}

static struct context *new_context(const struct context *ctx, uint64_t stack, uint64_t next)
{
	struct room *room = rooms_take(observer.looks ? observing_shadow_bytes(runtime.space.window) : 0);
	struct context *child = room ? (struct context *)(room->window + CTX_PLACE) : NULL;

	if (!child)
		return NULL;
	slope_copy(child->reg, ctx->reg, sizeof child->reg);
	child->sums = ctx->sums;
	slope_copy(child->masks, ctx->masks, sizeof child->masks);
	slope_copy(child->vectors, ctx->vectors, sizeof child->vectors);
	child->reg[REG_RAX] = 0;
	child->reg[REG_RCX] = next;
	child->reg[REG_R11] = child->flags = ctx->flags & ~UINT64_C(0x100);
	if (stack)
		child->reg[REG_RSP] = stack;
	child->begins_at = next;
	child->faults_blocked = ctx->faults_blocked;
	child->inside = child->rests = 1;
	find_stack(child);
	if (observer.looks && !observing_thread(child, ctx->fiber)) {
		room->busy = 0;
		return NULL;
	}
	child->next = threads.all;
	threads.all = child;
	threads.count++;
	return child;
}

static void forget(struct context *ctx)
{
	struct context **at = &threads.all;

	while (*at != ctx)
		at = &(*at)->next;
	*at = ctx->next;
	threads.count--;
}

static uint64_t set_mask(uint64_t mask)
{
	uint64_t old;

	system_call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&old, SET_BYTES, 0, 0);
	return old;
}

long threading_start(struct context *ctx, const uint64_t *args, uint64_t next)
{
	uint64_t mask = set_mask(ALL_BUT_FAULTS);
	struct context *child = NULL;
	long result = SYSCALLS_NOT_MADE;

	if (ctx->waiting)
		goto unblock;
	lock_take(&runtime.lock);
	if (!threads.many)
		become_many();
	child = new_context(ctx, args[1], next);
	lock_give(&runtime.lock);
	result = -EAGAIN;
	if (!child)
		goto unblock;
	child->signal_mask = mask;
	result = slope_gate_clone(args, (void *)child->host_rsp, context_window(child));
	if (system_failed(result)) {
		lock_take(&runtime.lock);
		forget(child);
		observing_thread_ends(child);
		child->room->busy = 0;
		lock_give(&runtime.lock);
	}
	if (observer.on)
		fibers_show_top();
unblock:
	set_mask(mask);
	return result;
}

/* In the new thread, with all signals blocked. */
void slope_thread_begins(struct context *ctx)
{
	uint64_t mask = ctx->signal_mask;

	ctx->tid = (uint64_t)system_call(__NR_gettid, 0, 0, 0, 0, 0, 0);
	/* It may run in code that is there already for long before it comes to dispatch.c. */
	__asm__ volatile("rdfsbase %0" : "=r"(ctx->fs));
	signals_use_stack(ctx->room->stack, ROOMS_SIGNAL_BYTES);
	threading_wake(ctx);             /* before it touches anything: all may be standing still for good */
	if (observer.looks)
		ctx->fiber->core->os_id = ctx->tid;
	if (observer.on)
		fibers_show_top();
	if (observer.measures)
		measures_thread(ctx);
	if (observer.paths)
		pathevents_start(ctx, ctx->begins_at);
	set_mask(mask);
	const struct block *block = dispatch_block(ctx->begins_at);

	ctx->target = block ? block->code : raising_branched(ctx, ctx->begins_at, ctx->begins_at);
}

/* ---- the end ---- */

long threading_exit(struct context *ctx, int status)
{
	uint64_t mask = set_mask(ALL_BUT_FAULTS);

	if (ctx->waiting) {
		set_mask(mask);
		return SYSCALLS_NOT_MADE;
	}
	if (ctx == threads.first)
		threads.first_status = status;
	lock_take(&runtime.lock);
	if (threads.count == 1) {
		lock_give(&runtime.lock);
		profilefile_write(threads.first_status & 0xff, "exit");
		for (;;)
			system_call(__NR_exit, status, 0, 0, 0, 0, 0);
	}
	observing_thread_ends(ctx);
	forget(ctx);
	lock_give(&runtime.lock);
	if (threading_wanted(ctx))
		arrive();
	raising_ends(ctx);
	if (!ctx->room)
		for (;;)
			system_call(__NR_exit, status, 0, 0, 0, 0, 0);
	rooms_clear(ctx->room);
	slope_gate_exit(status, &ctx->room->busy);
}

/* ---- forks ---- */

void threading_before_fork(void)
{
	lock_take(&runtime.lock);
	if (threads.many && observer.profiles)
		slope_sharing_lock(&observer.session);
}

void threading_after_fork(void)
{
	if (threads.many && observer.profiles)
		slope_sharing_unlock(&observer.session);
	lock_give(&runtime.lock);
}

void threading_forked(void)
{
	struct context *ctx = context_here();

	if (threads.many && observer.profiles)
		slope_sharing_unlock(&observer.session);
	ctx->next = NULL;
	ctx->held = 0;
	ctx->tid = (uint64_t)system_call(__NR_gettid, 0, 0, 0, 0, 0, 0);
	threads.all = threads.first = ctx;
	threads.count = 1;
	threads.many = false;
	threads.standing = 0;
	threads.still = (struct lock){ 0 };
	rooms_only(ctx->room);
	lock_give(&runtime.lock);
}
