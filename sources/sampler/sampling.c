/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The signal handler. It runs with all signals blocked. What a sample of time
 * weighs is how often the timer has gone off for it: a timer that wants to be
 * faster than the kernel's tick goes off several times at once, and the kernel
 * says how often. One of events weighs a period.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "sources/sampler/trampolines.h"

#define KEPT_FIRST 64u
#define LONG_CYCLES 60000u       /* of the processor's clock; 20 to 30 microseconds */
#define REST_FACTOR 9u

/* The node of a place below `above`; NULL when memory runs out. */
static struct slope_context *child(struct slope_sampled *t, struct slope_context *above, const struct slope_walked *f)
{
	const struct slope_code *code = slope_codemap_code(f->code);
	uint64_t offset = code ? f->place - code->bias : f->place;
	uint32_t site = f->code;

	if (!code || offset > UINT32_MAX)
		site = SLOPE_PLACE_ANYWHERE | (uint32_t)(f->place >> 32);
	t->tree->site = site;
	return slope_context_call(t->tree, above, (uint32_t)(site == f->code ? offset : f->place));
}

static struct slope_context *broken(struct slope_sampled *t)
{
	t->tree->site = 0;
	return slope_context_call(t->tree, t->root, SLOPE_PLACE_BROKEN);
}

static struct slope_context *node_before(const struct slope_sampled *t, size_t i)
{
	return i ? t->kept[i - 1].node : t->kept_from;
}

/* Room for as many kept ones as were walked. */
static bool make_room(struct slope_sampled *t, size_t need)
{
	void *kept = t->kept;
	bool good = slope_arena_grow(&t->arena, &kept, &t->kept_capacity, need < KEPT_FIRST ? KEPT_FIRST : need, sizeof *t->kept);

	t->kept = kept;
	return good;
}

/* The kept ones from `first` on are gone; with trampolines we know how often that happens. */
static void end_kept(struct slope_sampled *t, size_t first)
{
	while (t->kept_count > first)
		t->kept[--t->kept_count].node->calls += slope_sampler.trampolines;
}

/*
 * Without a trampoline on the way: how many of the kept ones are still there.
 * The last of those may have gone on to another place: then it is no longer
 * kept, but has not ended either.
 */
static void keep_same(struct slope_sampled *t, struct slope_context *from)
{
	size_t same = 0, n = t->walked_count;

	while (from == t->kept_from && same < t->kept_count && same < n && t->kept[same].slot == t->walked[n - 1 - same].slot &&
	       t->kept[same].ra == t->walked[n - 1 - same].ra) {
		if (child(t, node_before(t, same), &t->walked[n - 1 - same]) != t->kept[same].node) {
			end_kept(t, same + 1);
			t->kept_count = same;
			break;
		}
		same++;
	}
	end_kept(t, same);
	t->kept_from = from;
}

/* What was walked is added to what is kept. The innermost node, or NULL. */
static struct slope_context *keep_walked(struct slope_sampled *t, size_t left)
{
	struct slope_context *node = node_before(t, t->kept_count);

	if (!make_room(t, t->kept_count + left))
		return NULL;
	while (left && node) {
		const struct slope_walked *f = &t->walked[--left];

		node = child(t, node, f);
		if (node)
			t->kept[t->kept_count++] = (struct slope_kept){ f->slot, f->ra, node, f->safe };
	}
	return node;
}

/* The node of a path that is not kept. */
static struct slope_context *follow(struct slope_sampled *t, struct slope_context *node)
{
	for (size_t left = t->walked_count; left && node; left--)
		node = child(t, node, &t->walked[left - 1]);
	return node;
}

/* A path that leaves what is kept alone: on another stack, or not known to its end. */
static struct slope_context *path_apart(struct slope_sampled *t, enum slope_walk_end end)
{
	if (end == SLOPE_WALK_JOINED)
		return follow(t, node_before(t, t->kept_count - 1));
	return follow(t, end == SLOPE_WALK_BROKEN ? broken(t) : t->root);
}

/* A path on the thread's own stack, known to its end. */
static struct slope_context *path_kept(struct slope_sampled *t, enum slope_walk_end end)
{
	if (end == SLOPE_WALK_JOINED) {
		slope_trampoline_remove(t);
		t->kept_count--;
		if (!t->walked_count)
			t->kept[t->kept_count].node->calls++;    /* its last doing was to jump to a function of ours */
	} else {
		if (t->placed)
			slope_trampoline_forget(t);
		keep_same(t, t->root);
	}
	struct slope_context *node = keep_walked(t, t->walked_count - (end == SLOPE_WALK_JOINED ? 0 : t->kept_count));

	if (t->max_depth < t->kept_count)
		t->max_depth = t->kept_count;
	if (!node) {
		t->kept_count = 0;       /* no memory: begin anew the next time */
		return NULL;
	}
	if (slope_sampler.impossible || (slope_sampler.trampolines && !slope_trampoline_place(t)))
		t->lost[SLOPE_SAMPLER_LOST_UNPLACED]++;
	return node;
}

/* On the own stack, not in a part of it that somebody uses as another one, and nobody unwinds it just now. */
static bool is_ours_to_change(const struct slope_sampled *t, uint64_t sp, enum slope_walk_end end)
{
	if (t->frozen || sp < t->stack_low || sp >= t->stack_high)
		return false;
	return end == SLOPE_WALK_JOINED || !slope_trampoline_there(t, sp);
}

/* Ours to sample just now? The caller is counted in at_work. */
static bool may_sample(const struct slope_sampled *t)
{
	return t && t->armed && !__atomic_load_n(&slope_sampler.stopped, __ATOMIC_SEQ_CST) && !slope_controlling_paused();
}

/* Where it was counted; NULL: it is lost. */
static struct slope_context *sample(struct slope_sampled *t, const ucontext_t *context, int column, uint64_t weight)
{
	uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];

	/* A handler of the program may have left the code that was busy for good. */
	if (t->busy && sp > (uint64_t)(uintptr_t)t->busy)
		t->busy = NULL;
	enum slope_walk_end end = t->busy ? SLOPE_WALK_UNSAFE : slope_stackwalk(t, context);
	struct slope_context *node = NULL;

	if (end == SLOPE_WALK_BROKEN)
		t->lost[SLOPE_SAMPLER_LOST_BROKEN]++;
	if (end == SLOPE_WALK_JOINED || (end != SLOPE_WALK_UNSAFE && t->walked_count))
		node = end != SLOPE_WALK_BROKEN && is_ours_to_change(t, sp, end) ? path_kept(t, end) : path_apart(t, end);
	if (!node) {
		t->lost[SLOPE_SAMPLER_LOST_UNSAFE]++;
		return NULL;
	}
	if (column >= 0)
		node->cost[column] += weight;
	node->cost[slope_meters_samples(&slope_sampler.meters)]++;
	t->samples++;
	return node;
}

/*
 * A walk of a deep stack can take longer than a period. Lest the program never
 * gets on, it is left alone for some time after such a one; the next sample
 * weighs what was left out.
 */
static void sample_in_turn(struct slope_sampled *t, const ucontext_t *context, uint64_t weight)
{
	uint64_t start = __builtin_ia32_rdtsc();

	t->pending += weight;
	if (start < t->rest_until)
		return;
	weight = t->pending * slope_sampler.period_ns;
	t->pending = 0;
	sample(t, context, slope_sampler.meters.column[SLOPE_METER_TIME], weight);
	uint64_t end = __builtin_ia32_rdtsc();

	t->rest_until = end - start > LONG_CYCLES ? end + REST_FACTOR * (end - start) : 0;
}

/* The calling function's own registers, as far as a walk from here needs them. */
#define REGISTERS_HERE(context)                                                                         \
	do {                                                                                            \
		greg_t *reg = (context)->uc_mcontext.gregs;                                             \
		__asm__ volatile("mov %%rbx, %0\n\tmov %%rbp, %1\n\tmov %%rsp, %2"                        \
				 : "=m"(reg[REG_RBX]), "=m"(reg[REG_RBP]), "=m"(reg[REG_RSP]));         \
		__asm__ volatile("mov %%r12, %0\n\tmov %%r13, %1\n\tmov %%r14, %2\n\tmov %%r15, %3"        \
				 : "=m"(reg[REG_R12]), "=m"(reg[REG_R13]), "=m"(reg[REG_R14]), "=m"(reg[REG_R15])); \
		__asm__ volatile("lea 0(%%rip), %0" : "=r"(reg[REG_RIP]));                              \
	} while (0)

struct slope_context *slope_sampling_here(int column, uint64_t weight)
{
	struct slope_sampled *t = slope_sampled;
	struct slope_context *node = NULL;
	uint64_t all = UINT64_MAX, before;
	int error = errno;
	ucontext_t context;

	/* The child of a vfork has the memory of its parent, but is another thread. */
	if (!t || syscall(SYS_gettid) != t->tid)
		return NULL;
	bool counted = slope_sampler.meters.column[SLOPE_METER_PERF] >= 0;

	/* What we do is not to be counted. A handler of the program may leave by a longjmp: not from here. */
	if (counted)
		slope_overflows_pause(t);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
	__atomic_fetch_add(&slope_sampler.at_work, 1, __ATOMIC_SEQ_CST);
	if (may_sample(t)) {
		REGISTERS_HERE(&context);
		node = sample(t, &context, column, weight);
	}
	__atomic_fetch_sub(&slope_sampler.at_work, 1, __ATOMIC_SEQ_CST);
	if (counted && !slope_controlling_paused())
		slope_overflows_resume(t);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
	errno = error;
	return node;
}

static void take_time(struct slope_sampled *t, const siginfo_t *info, const ucontext_t *context)
{
	if (may_sample(t))
		sample_in_turn(t, context, 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0));
}

/* The counter has stopped before its signal came, and goes on after it. */
static void take_event(struct slope_sampled *t, const siginfo_t *info, const ucontext_t *context)
{
	int sender = slope_overflows_sender(t, info), column = sender / 2;

	if (sender < 0)
		return;
	if (may_sample(t))
		sample(t, context, column, slope_sampler.meters.meter[column].period);
	slope_overflows_go_on(t, sender);
}

void slope_sampling_signal(int number, siginfo_t *info, void *context)
{
	struct slope_sampled *t = slope_sampled;
	bool timer = info->si_code == SI_TIMER && info->si_value.sival_ptr == &slope_sampler;
	int error = errno;

	slope_keep_no_alignment();
	if (!timer && !slope_overflows_sent(info)) {
		if (!slope_controlling_request(info))
			slope_guarding_pass_on(number, info, context);
		errno = error;
		return;
	}
	__atomic_fetch_add(&slope_sampler.at_work, 1, __ATOMIC_SEQ_CST);
	if (t && t->armed && slope_controlling_paused())
		slope_clocks_arm(t, false);      /* it was started while all were stopped */
	else if (timer)
		take_time(t, info, context);
	else
		take_event(t, info, context);
	__atomic_fetch_sub(&slope_sampler.at_work, 1, __ATOMIC_SEQ_CST);
	if (slope_sampler.waking)
		slope_waiting_settle(context);
	errno = error;
}
