/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads and their timers. */
#define _GNU_SOURCE
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sources/sampler/liveblocks.h"
#include "sources/sampler/reals.h"
#include "sources/sampler/trampolines.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define NS_PER_S 1000000000u

/* What a new thread is to do, and who has made it. */
struct errand {
	void *(*start)(void *arg);
	thrd_start_t start_c11;
	void *arg;
	uint32_t parent;
};

static pthread_key_t at_end;
static bool have_key;

static void find_stack(struct slope_sampled *t)
{
	pthread_attr_t attributes;
	void *low;
	size_t bytes;

	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return;
	if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
		t->stack_low = (uint64_t)(uintptr_t)low;
		t->stack_high = t->stack_low + bytes;
	}
	pthread_attr_destroy(&attributes);
}

void slope_clocks_arm(struct slope_sampled *t, bool on)
{
	const struct timespec period = { (time_t)(slope_sampler.period_ns / NS_PER_S), (long)(slope_sampler.period_ns % NS_PER_S) };
	const struct itimerspec every = { period, period }, never = { 0 };

	if (__atomic_load_n(&t->timed, __ATOMIC_SEQ_CST))
		timer_settime(t->timer, 0, on ? &every : &never, NULL);
	if (on)
		slope_overflows_resume(t);
	else
		slope_overflows_pause(t);
}

static bool make_timer(struct slope_sampled *t)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SLOPE_SIGNAL,
				  .sigev_value.sival_ptr = &slope_sampler };
	bool there;

	event.sigev_notify_thread_id = t->tid;
	there = timer_create(slope_sampler.wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &event, &t->timer) == 0;
	__atomic_store_n(&t->timed, there, __ATOMIC_SEQ_CST);
	return there;
}

/* All that the thread is measured by. It is set going unless all are stopped; whoever starts or stops all sees it from now on. */
static void start_meters(struct slope_sampled *t)
{
	bool timer = slope_sampler.meters.column[SLOPE_METER_TIME] < 0 || make_timer(t);

	t->armed = true;
	if (!slope_overflows_open(t) || !timer)
		slope_session_lose(&slope_sampler.session, SLOPE_LOST_THREADS, 1);
	if (!slope_controlling_paused())
		slope_clocks_arm(t, true);
}

/* The tree, empty. */
static bool plant(struct slope_sampled *t)
{
	slope_arena_init(&t->arena, &slope_sampler.host);
	t->tree = slope_contexts_new(&slope_sampler.session, &t->arena);
	t->root = t->tree ? slope_context_root(t->tree, SLOPE_PLACE_ROOT) : NULL;
	return t->root;
}

static void enlist(struct slope_sampled *t)
{
	t->next = __atomic_load_n(&slope_sampler.newest, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&slope_sampler.newest, &t->next, t, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static void unblock_signal(void)
{
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SLOPE_SIGNAL);
	SLOPE_REAL(pthread_sigmask)(SIG_UNBLOCK, &ours, NULL);
}

static void end_thread(void *unused)
{
	(void)unused;
	slope_clocks_end();
}

/* One that a thread has left as it was: it is in the list already. */
static struct slope_sampled *take_spare(void)
{
	struct slope_sampled *t = NULL;

	for (size_t i = 0; i < SLOPE_SPARE_THREADS && !t; i++)
		t = __atomic_exchange_n(&slope_sampler.spare[i], NULL, __ATOMIC_ACQ_REL);
	if (t)
		t->name[0] = '\0';
	return t;
}

static void leave_spare(struct slope_sampled *t)
{
	for (size_t i = 0; i < SLOPE_SPARE_THREADS; i++) {
		struct slope_sampled *none = NULL;

		if (__atomic_compare_exchange_n(&slope_sampler.spare[i], &none, t, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return;
	}
}

static struct slope_sampled *new_thread(void)
{
	size_t bytes = slope_page_round(sizeof(struct slope_sampled));
	struct slope_sampled *t = slope_sampler.host.pages(slope_sampler.host.ctx, bytes);

	if (!t || !plant(t)) {
		slope_session_lose(&slope_sampler.session, SLOPE_LOST_THREADS, 1);
		return NULL;
	}
	enlist(t);
	return t;
}

void slope_clocks_begin(uint32_t parent)
{
	struct slope_sampled *t = take_spare();

	if (!t && !(t = new_thread()))
		return;
	t->tid = (pid_t)syscall(SYS_gettid);
	t->id = __atomic_add_fetch(&slope_sampler.threads, 1, __ATOMIC_RELAXED);
	t->parent = parent;
	find_stack(t);
	if (!have_key)
		have_key = pthread_key_create(&at_end, end_thread) == 0;
	if (have_key)
		pthread_setspecific(at_end, t);
	slope_sampled = t;
	unblock_signal();
	start_meters(t);
}

void slope_clocks_end(void)
{
	struct slope_sampled *t = slope_sampled;

	if (!t)
		return;
	t->armed = false;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (t->timed)
		timer_delete(t->timer);
	t->timed = false;
	slope_overflows_end(t);
	prctl(PR_GET_NAME, t->name);
	if (slope_trampoline_there(t, (uint64_t)(uintptr_t)__builtin_frame_address(0)))
		slope_trampoline_remove(t);
	slope_trampoline_forget(t);
	slope_sampled = NULL;
	if (!t->samples && !t->kept_count && t->tree->nodes == 1)
		leave_spare(t);
}

void slope_clocks_alone(void)
{
	struct slope_sampled *t = slope_sampled;

	for (struct slope_sampled *other = slope_sampler.newest; other; other = other->next)
		slope_overflows_end(other);
	slope_liveblocks_forget();
	slope_sampler.newest = NULL;
	for (size_t i = 0; i < SLOPE_SPARE_THREADS; i++)
		slope_sampler.spare[i] = NULL;
	slope_sampler.threads = 0;
	slope_sampler.at_work = 0;
	slope_sampler.stopped = false;
	slope_sampler.writing = 0;
	if (!t)
		return;
	t->armed = false;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (slope_trampoline_there(t, (uint64_t)(uintptr_t)__builtin_frame_address(0)))
		slope_trampoline_remove(t);
	slope_trampoline_forget(t);
	slope_arena_fini(&t->arena);
	t->walked = NULL;
	t->kept = NULL;
	t->kept_from = NULL;
	t->walked_count = t->walked_capacity = t->kept_count = t->kept_capacity = 0;
	t->samples = t->max_depth = 0;
	for (unsigned i = 0; i < SLOPE_SAMPLER_LOST_COUNT; i++)
		t->lost[i] = 0;
	t->next = NULL;
	t->id = slope_sampler.threads = 1;
	t->parent = 0;
	t->tid = (pid_t)syscall(SYS_gettid);
	if (!plant(t))
		return;
	slope_sampler.newest = t;
	start_meters(t);
}

/* ---- threads that the program makes ---- */

#define ERRAND_BYTES slope_page_round(sizeof(struct errand))

static struct errand *new_errand(void *arg)
{
	struct errand *errand = slope_sampler.on ? slope_sampler.host.pages(slope_sampler.host.ctx, ERRAND_BYTES) : NULL;

	if (errand)
		*errand = (struct errand){ .arg = arg, .parent = slope_sampled ? slope_sampled->id : 0 };
	return errand;
}

static void free_errand(struct errand *errand)
{
	slope_sampler.host.release(slope_sampler.host.ctx, errand, ERRAND_BYTES);
}

static struct errand begin_errand(void *given)
{
	struct errand errand = *(struct errand *)given;

	free_errand(given);
	slope_clocks_begin(errand.parent);
	return errand;
}

static void *run_errand(void *given)
{
	struct errand errand = begin_errand(given);

	return errand.start(errand.arg);
}

static int run_errand_c11(void *given)
{
	struct errand errand = begin_errand(given);

	return errand.start_c11(errand.arg);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *arg)
{
	struct errand *errand = new_errand(arg);

	if (!errand)
		return SLOPE_REAL(pthread_create)(thread, attributes, start, arg);
	errand->start = start;
	int result = SLOPE_REAL(pthread_create)(thread, attributes, run_errand, errand);

	if (result != 0)
		free_errand(errand);
	return result;
}

int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
	struct errand *errand = new_errand(arg);

	if (!errand)
		return SLOPE_REAL(thrd_create)(thread, start, arg);
	errand->start_c11 = start;
	int result = SLOPE_REAL(thrd_create)(thread, run_errand_c11, errand);

	if (result != thrd_success)
		free_errand(errand);
	return result;
}
