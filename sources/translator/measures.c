/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measuring paths by counters. An activation is measured from its call on, or
 * from the end of one of its paths on, for a few paths, without what
 * it calls: then its CTX_PATH is negative (PATHS_MEASURED), which calls keep
 * and returns bring back like the rest. When that begins is a countdown of calls and of ends
 * of paths, varied at random so that no rhythm of the program's is met.
 *
 * While a measured activation is on top the countdown is 0 and `left` has the
 * real one, so that translated code comes here at its next call or end of a path; all others pay
 * for the countdown alone.
 */
#include "sources/translator/following.h"

#include <linux/mman.h>

#include "sources/translator/observing.h"

#define MEASURES_MAX 64u         /* one within the other */
#define STRETCH 8u               /* paths that are measured at a time */
#define LONG_NS 20000u           /* a sample that may have been interrupted */

/* A measured activation. */
struct measure {
	uint64_t slot;               /* where its return address lies */
	bool runs;                   /* it is on top: */
	unsigned paths;              /* that have been measured */
	uint64_t from[COUNTERS_MAX]; /* since then */
	uint64_t spent[COUNTERS_MAX];        /* before, on the path that it is on */
};

struct measures {
	struct counters_thread counters;
	struct measure stack[MEASURES_MAX];
	unsigned depth;
	int64_t left;
	uint64_t random;
	uint64_t switches;           /* how often the thread had been switched out against its will, when that was looked at last */
};

/* ---- the beginning and the end of threads ---- */

void measures_thread(struct context *ctx)
{
	struct measures *m = system_pages(slope_page_round(sizeof *m), false);

	ctx->countdown = INT64_MAX;
	if (!m)
		return;
	ctx->measures = m;
	m->random = ctx->tid * UINT64_C(0x9e3779b97f4a7c15) | 1;
	if (counters_open(&m->counters))
		ctx->countdown = 0;      /* the first one is measured */
}

void measures_start(struct context *ctx)
{
	struct slope_session *s = &observer.session;

	observer.measures = observer.paths && counters_count();
	if (!observer.measures)
		return;
	if (counters_need_clock()) {
		fibers_look_at_clock();
		counters.ns_per_2_32_cycles = observer.ns_per_2_32_cycles;
	}
	if (!counters_possible())
		system_stop(counters.reason, NULL);
	s->path_metrics = counters_count();
	for (unsigned i = 0; i < counters_count(); i++)
		s->path_metric_name[i] = counters_name(i);
	if (!observer.path_sample)
		observer.path_sample = 1;
	s->path_period = observer.path_sample;
	measures_thread(ctx);
	if (ctx->measures)
		counters_calibrate(&ctx->measures->counters);
}

void measures_end(struct context *ctx)
{
	if (!ctx->measures)
		return;
	counters_close(&ctx->measures->counters);
	system_release(ctx->measures, slope_page_round(sizeof *ctx->measures));
	ctx->measures = NULL;
}

void measures_forked(struct context *ctx)
{
	if (!ctx->measures)
		return;
	counters_leave(&ctx->measures->counters);
	ctx->measures->depth = 0;
	if (!counters_open(&ctx->measures->counters))
		ctx->countdown = INT64_MAX;
}

/* ---- activations ---- */

/* Half of the period to one and a half times; always one if that is it. */
static int64_t next_one(struct measures *m)
{
	uint64_t period = observer.path_sample;

	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return period <= 1 ? 0 : (int64_t)(period / 2 + m->random % period);
}

static void run(struct measures *m, struct measure *a)
{
	a->runs = counters_read(&m->counters, a->from);
}

static uint64_t ns_of(uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * counters.ns_per_2_32_cycles >> 32);
}

/* Up to now, on this path; false: one of the counters was gone. */
static bool stop(struct context *ctx, struct measure *a)
{
	struct measures *m = ctx->measures;
	uint64_t now[COUNTERS_MAX];
	bool good = a->runs && counters_read(&m->counters, now);

	for (unsigned i = 0; good && i < counters_count(); i++) {
		bool exact = counters.own_exact[i] && counters.event[i].way != EVENT_BY_STEP;
		uint64_t passed = now[i] - a->from[i], own = exact ? counters.own[i] : 0;

		/* Time is looked at by translated code itself. */
		if (counters.event[i].way == EVENT_BY_TICKS) {
			passed = ns_of(ctx->ticks_in - ctx->ticks_out);
			own = 0;
		}

		a->spent[i] += passed > own ? passed - own : 0;
	}
	a->runs = false;
	return good;
}

/* The innermost one whose return address lies above; those below were left without a return. NULL: none. */
static struct measure *above(struct measures *m, uint64_t sp)
{
	while (m->depth && m->stack[m->depth - 1].slot <= sp)
		m->depth--;
	return m->depth ? &m->stack[m->depth - 1] : NULL;
}

/* The countdown is over. False: there is no room, or nothing to measure with. */
static bool begin(struct context *ctx, uint64_t slot)
{
	struct measures *m = ctx->measures;
	struct measure *a;

	if (!m) {
		ctx->countdown = INT64_MAX;
		return false;
	}
	m->left = ctx->countdown = next_one(m);
	if (m->depth == MEASURES_MAX)
		return false;
	a = &m->stack[m->depth++];
	*a = (struct measure){ .slot = slot };
	ctx->countdown = 0;
	run(m, a);
	return true;
}

/* A call, whose return address is at sp: by one that is measured, or the countdown is over. True: what is called is to be measured. */
static bool is_chosen(struct context *ctx, uint64_t sp)
{
	struct measures *m = ctx->measures;
	uint64_t *caller = pathevents_kept(ctx, sp);
	struct measure *a;

	if (!m) {
		ctx->countdown = INT64_MAX;
		return false;
	}
	a = above(m, sp);
	if (*caller & PATHS_MEASURED) {
		if (a)
			stop(ctx, a);
		ctx->countdown = m->left - 1;
	}
	return ctx->countdown < 0 && begin(ctx, sp);
}

void measures_call(uint64_t sp)
{
	struct context *ctx = context_here();

	if (is_chosen(ctx, sp))
		ctx->path |= PATHS_MEASURED;
}

void measures_call_target(uint64_t sp, uint64_t target)
{
	struct context *ctx = context_here();
	uint64_t slot;

	lock_take(&runtime.lock);
	slot = codeplaces_in_linkage(target) ? codeplaces_slot(target) : 0;
	/* Through a stub: at once to the function, if it is known. */
	if (slot && space_allows(&runtime.space, slot, 8, PROT_READ)) {
		uint64_t to = *(const uint64_t *)slot;

		if (space_allows(&runtime.space, to, 1, PROT_READ) && !codeplaces_in_linkage(to))
			target = to;
	}
	lock_give(&runtime.lock);
	ctx->guest_target = target;
	ctx->path_flag = is_chosen(ctx, sp) ? PATHS_MEASURED : 0;
}

/* A call of a measured activation has come back to it. */
void measures_resume(struct context *ctx, uint64_t sp)
{
	struct measures *m = ctx->measures;
	struct measure *a = m ? above(m, sp) : NULL;

	if (!a) {
		ctx->path &= ~PATHS_MEASURED;
		return;
	}
	m->left = ctx->countdown;
	ctx->countdown = 0;
	run(m, a);
}

/*
 * A sample of time in which another thread had the processor says nothing about the program. Only long ones are
 * looked at: that is a system call.
 */
static bool is_interrupted(struct measures *m, const struct measure *a)
{
	struct { int64_t times[4], rest[12], voluntary, involuntary; } usage;
	bool some = false;

	for (unsigned i = 0; i < counters_count(); i++)
		some |= counters.event[i].way == EVENT_BY_TICKS && a->spent[i] > LONG_NS;
	if (!some || system_call(__NR_getrusage, 1 /* RUSAGE_THREAD */, (long)&usage, 0, 0, 0, 0))
		return false;
	some = (uint64_t)usage.involuntary != m->switches;
	m->switches = (uint64_t)usage.involuntary;
	m->counters.seen.interrupted += some;
	return some;
}

/* A path ends of the activation on top, which is measured; `last`: it ends itself. */
void measures_path(struct context *ctx, const struct slope_path_row *key, bool last)
{
	struct measures *m = ctx->measures;
	struct measure *a = m && m->depth ? &m->stack[m->depth - 1] : NULL;
	struct slope_path_row *row;

	if (!a)
		return;
	if (stop(ctx, a) && !is_interrupted(m, a) && (row = slope_path_row(&ctx->fiber->core->paths, key))) {
		row->samples++;
		for (unsigned i = 0; i < counters_count(); i++)
			slope_path_measure(&row->metric[i], a->spent[i]);
	}
	for (unsigned i = 0; i < COUNTERS_MAX; i++)
		a->spent[i] = 0;
	if (last || (observer.path_sample > 1 && ++a->paths == STRETCH)) {
		m->depth--;
		ctx->countdown = m->left;
	} else {
		run(m, a);
	}
}

/* What lies above the stack pointer is its own, as far as it matters here. */
void measures_went_on(struct context *ctx)
{
	struct measures *m = ctx->measures;

	if (ctx->path & PATHS_MEASURED && (!m || !m->depth || !m->stack[m->depth - 1].runs))
		ctx->path &= ~PATHS_MEASURED;
	if (ctx->path & PATHS_MEASURED || ctx->countdown >= 0)
		return;
	if (begin(ctx, ctx->reg[REG_RSP]))
		ctx->path |= PATHS_MEASURED;
}
