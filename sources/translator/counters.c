/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/counters.h"

#include <asm/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/perf_event.h>
#include <linux/resource.h>
#include <linux/time_types.h>

#include "sources/translator/system.h"

#define MARK 63                  /* the signal that a descriptor of ours would send, if it sent any */
#define PLACES 4096u             /* for descriptors, above the program's limit */
#define PLACE_MAX 65536u         /* the kernel keeps a table up to the highest one */
#define ROUNDS 256u
#define CLOCK_THREAD 3           /* CLOCK_THREAD_CPUTIME_ID */
#define USAGE_THREAD 1           /* RUSAGE_THREAD */
#define SECOND_NS UINT64_C(1000000000)

struct counters counters;

/* ---- choosing ---- */

static bool refuse(const char *const *word)
{
	size_t n = 0;

	for (; *word; word++)
		n = system_append(counters.reason, n, sizeof counters.reason, *word);
	counters.count = 0;
	return false;
}

static bool unknown(const char *text, size_t length)
{
	char name[EVENT_NAME_BYTES] = "";

	for (size_t i = 0; i < length && i + 1 < sizeof name; i++)
		name[i] = text[i];
	return refuse((const char *[]){ "there is no event '", name, length >= sizeof name ? "...'" : "'", NULL });
}

static bool take(const char *text, size_t length)
{
	struct event *e = &counters.event[counters.count];

	if (counters.count == COUNTERS_MAX)
		return refuse((const char *[]){ "at most 4 events can be counted at once", NULL });
	if (!eventnames_find(text, length, e))
		return unknown(text, length);
	for (unsigned i = 0; i < counters.count; i++)
		if (system_same(counters.event[i].name, e->name))
			return refuse((const char *[]){ "'", e->name, "' is there twice", NULL });
	counters.count++;
	counters.ticks |= e->way == EVENT_BY_TICKS;
	counters.usage |= e->way == EVENT_BY_USAGE;
	counters.clock |= e->way == EVENT_BY_CLOCK;
	return true;
}

bool counters_choose(const char *list)
{
	counters.count = 0;
	counters.ticks = counters.usage = counters.clock = false;
	for (;; list++) {
		const char *start = list;

		while (*list && *list != ',')
			list++;
		if (!take(start, (size_t)(list - start)))
			return false;
		if (!*list)
			return true;
	}
}

unsigned counters_count(void)
{
	return counters.count;
}

const char *counters_name(unsigned n)
{
	return counters.event[n].name;
}

bool counters_need_clock(void)
{
	return counters.ticks;
}

/* ---- events of the kernel ---- */

long counters_perf(const struct event *e, long leader)
{
	struct perf_event_attr attr = {
		.size = sizeof attr, .type = e->type, .config = e->config, .exclude_kernel = !e->in_kernel, .exclude_hv = !e->in_kernel,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return system_call(__NR_perf_event_open, (long)&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC, 0);
}

const struct perf_event_mmap_page *counters_page(long fd)
{
	long p = system_call(__NR_mmap, 0, SLOPE_PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	const struct perf_event_mmap_page *page = system_failed(p) ? NULL : (void *)p;

	if (page && page->cap_user_rdpmc)
		return page;
	counters_unmap(page);
	return NULL;
}

void counters_unmap(const struct perf_event_mmap_page *page)
{
	if (page)
		system_release((void *)page, SLOPE_PAGE_BYTES);
}

static long duplicate(long fd, uint64_t least)
{
	return system_call(__NR_fcntl, fd, F_DUPFD_CLOEXEC, (long)least, 0, 0, 0);
}

/* Where the program does not come across it: above its limit, if there is room, else at least not among the lowest. */
static long place(long fd)
{
	struct rlimit64 limit, more;
	long moved = -1;

	while (__atomic_exchange_n(&counters.placing, 1, __ATOMIC_ACQUIRE))
		system_call(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
	if (!system_call(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0)) {
		more = limit;
		more.rlim_cur = limit.rlim_max - limit.rlim_cur > PLACES ? limit.rlim_cur + PLACES : limit.rlim_max;
		if (limit.rlim_cur < PLACE_MAX && more.rlim_cur > limit.rlim_cur &&
		    !system_call(__NR_prlimit64, 0, RLIMIT_NOFILE, (long)&more, 0, 0, 0)) {
			moved = duplicate(fd, limit.rlim_cur);
			system_call(__NR_prlimit64, 0, RLIMIT_NOFILE, (long)&limit, 0, 0, 0);
		}
		if (system_failed(moved))
			moved = duplicate(fd, (limit.rlim_cur < PLACE_MAX ? limit.rlim_cur : PLACE_MAX) / 4 * 3);
	}
	__atomic_store_n(&counters.placing, 0, __ATOMIC_RELEASE);
	if (system_failed(moved))
		return fd;
	system_close(fd);
	return moved;
}

static bool is_ours(long fd)
{
	return system_call(__NR_fcntl, fd, F_GETSIG, 0, 0, 0, 0) == MARK;
}

static long open_perf(const struct event *e, long leader)
{
	long fd = counters_perf(e, leader);

	/* As one group they count the same stretches of time; where they do not fit together, each counts by itself. */
	if (leader >= 0 && fd == -EINVAL)
		fd = counters_perf(e, -1);
	if (system_failed(fd))
		return fd;
	fd = place(fd);
	system_call(__NR_fcntl, fd, F_SETSIG, MARK, 0, 0, 0);
	return fd;
}

static inline uint64_t rdpmc(uint32_t counter)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
	return (uint64_t)high << 32 | low;
}

/* The page's lock is a number that changes whenever the kernel changes something there. */
static uint64_t read_page(const struct perf_event_mmap_page *page, uint64_t *enabled, uint64_t *running)
{
	const volatile struct perf_event_mmap_page *p = page;
	uint64_t count;
	uint32_t seen;

	do {
		seen = p->lock;
		__asm__ volatile("" : : : "memory");
		uint32_t index = p->index;

		count = (uint64_t)p->offset;
		*enabled = p->time_enabled;
		*running = p->time_running;
		if (index && p->cap_user_rdpmc) {
			unsigned above = 64u - p->pmc_width;

			/* The offset belongs to a number of that width with a sign. */
			count += (uint64_t)((int64_t)(rdpmc(index - 1) << above) >> above);
		}
		__asm__ volatile("" : : : "memory");
	} while (p->lock != seen);
	return count;
}

/* Of `delta` counted while it was running, for all the time that it was to. */
static uint64_t scaled(uint64_t delta, uint64_t enabled, uint64_t running)
{
	while (enabled >> 31) {
		enabled >>= 1;
		running >>= 1;
	}
	return running ? (uint64_t)((unsigned __int128)delta * ((enabled << 32) / running) >> 32) : delta;
}

static void advance(struct counters_one *one, uint64_t raw)
{
	uint64_t delta = raw > one->raw ? raw - one->raw : 0;

	one->raw = raw;
	one->value += SLOPE_LIKELY(one->running == one->enabled) ? delta : scaled(delta, one->enabled, one->running);
}

/* Somebody has closed it: what it has counted since the last reading is gone. */
static SLOPE_APART void reopen(struct counters_thread *t, unsigned n)
{
	struct counters_one *one = &t->one[n];
	long fd = open_perf(&counters.event[n], -1);

	one->fd = system_failed(fd) ? -1 : fd;
	one->raw = one->enabled = one->running = 0;
	t->seen.reopened += one->fd >= 0;
}

static bool read_perf(struct counters_thread *t, unsigned n)
{
	struct counters_one *one = &t->one[n];
	struct { uint64_t value, enabled, running; } now;

	if (one->page) {
		now.value = read_page(one->page, &now.enabled, &now.running);
	} else if (one->fd < 0 || !is_ours(one->fd) ||
		   system_call(__NR_read, one->fd, (long)&now, sizeof now, 0, 0, 0) != sizeof now) {
		reopen(t, n);
		return false;
	}
	one->enabled = now.enabled;
	one->running = now.running;
	advance(one, now.value);
	return now.running || !now.enabled;
}

/* ---- all of them ---- */

static uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static uint64_t thread_clock(void)
{
	struct __kernel_timespec now = { 0 };

	system_call(__NR_clock_gettime, CLOCK_THREAD, (long)&now, 0, 0, 0, 0);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static uint64_t usage_of(const struct rusage *u, uint64_t what)
{
	switch (what) {
	case EVENT_FAULTS:
		return (uint64_t)(u->ru_minflt + u->ru_majflt);
	case EVENT_MINOR_FAULTS:
		return (uint64_t)u->ru_minflt;
	case EVENT_MAJOR_FAULTS:
		return (uint64_t)u->ru_majflt;
	default:
		return (uint64_t)(u->ru_nvcsw + u->ru_nivcsw);
	}
}

/* Ticks are turned into time with all of their digits, so that no part of one is lost between two readings. */
static void advance_time(struct counters_one *one, uint64_t now)
{
	if (now <= one->raw)
		return;                  /* another processor's is a little behind */
	one->raw = now;
	one->value = (uint64_t)((unsigned __int128)(now - one->start) * counters.ns_per_2_32_cycles >> 32);
}

static bool read_one(struct counters_thread *t, unsigned n, const struct rusage *usage)
{
	struct counters_one *one = &t->one[n];

	switch (counters.event[n].way) {
	case EVENT_BY_TICKS:
		advance_time(one, ticks());
		return true;
	case EVENT_BY_STEP:
		one->value += counters.event[n].config;
		return true;
	case EVENT_BY_USAGE:
		advance(one, usage_of(usage, counters.event[n].config));
		return true;
	case EVENT_BY_CLOCK:
		advance(one, thread_clock());
		return true;
	default:
		return read_perf(t, n);
	}
}

static bool needs_calls(const struct counters_thread *t)
{
	bool any = counters.usage || counters.clock;

	for (unsigned i = 0; i < counters.count; i++)
		any |= counters.event[i].way == EVENT_BY_PERF && !t->one[i].page;
	return any;
}

static bool read_all(struct counters_thread *t, uint64_t value[COUNTERS_MAX])
{
	struct rusage usage;
	bool good = t->open;

	if (counters.usage)
		good &= !system_call(__NR_getrusage, USAGE_THREAD, (long)&usage, 0, 0, 0, 0);
	for (unsigned i = 0; i < counters.count; i++) {
		good = good && read_one(t, i, &usage);
		value[i] = t->one[i].value;
	}
	return good;
}

bool counters_read(struct counters_thread *t, uint64_t value[COUNTERS_MAX])
{
	bool good = read_all(t, value);

	t->seen.reads++;
	t->seen.by_call += t->by_call;
	t->seen.failed += !good;
	return good;
}

/* ---- the beginning and the end ---- */

static void give_back(struct counters_thread *t)
{
	for (unsigned i = 0; i < counters.count; i++) {
		counters_unmap(t->one[i].page);
		if (t->one[i].fd >= 0 && is_ours(t->one[i].fd))
			system_close(t->one[i].fd);
		t->one[i] = (struct counters_one){ .fd = -1 };
	}
	t->open = false;
}

static bool open_one(struct counters_thread *t, unsigned n, long *leader)
{
	struct counters_one *one = &t->one[n];
	const struct event *e = &counters.event[n];

	if (e->way == EVENT_BY_TICKS)
		one->raw = one->start = ticks();
	if (e->way != EVENT_BY_PERF)
		return true;
	long fd = open_perf(e, *leader);

	if (system_failed(fd)) {
		counters_explain(e, -fd, counters.reason, 0, sizeof counters.reason);
		return false;
	}
	one->fd = fd;
	one->page = counters_page(fd);
	if (*leader < 0)
		*leader = fd;
	return true;
}

/* What the thread had used before it began to count does not belong to it; a page keeps its event, without a descriptor. */
static void begin(struct counters_thread *t)
{
	uint64_t value[COUNTERS_MAX];

	for (unsigned i = 0; i < counters.count; i++)
		if (t->one[i].page) {
			system_close(t->one[i].fd);
			t->one[i].fd = -1;
		}
	t->by_call = needs_calls(t);
	t->open = true;
	read_all(t, value);
	for (unsigned i = 0; i < counters.count; i++)
		if (counters.event[i].way != EVENT_BY_TICKS)
			t->one[i].value = 0;
}

bool counters_open(struct counters_thread *t)
{
	long leader = -1;
	bool good = true;

	for (unsigned i = 0; i < COUNTERS_MAX; i++)
		t->one[i] = (struct counters_one){ .fd = -1 };
	for (unsigned i = 0; good && i < counters.count; i++)
		good = open_one(t, i, &leader);
	t->seen.threads = 1;
	t->seen.unopened = !good;
	if (good)
		begin(t);
	else
		give_back(t);
	return good;
}

bool counters_possible(void)
{
	struct counters_thread t = { 0 };
	bool good = counters_open(&t);

	if (good)
		give_back(&t);
	return good;
}

static void add(uint64_t *to, uint64_t more)
{
	__atomic_fetch_add(to, more, __ATOMIC_RELAXED);
}

void counters_close(struct counters_thread *t)
{
	struct counters_statistics *to = &counters.total;

	add(&to->reads, t->seen.reads);
	add(&to->by_call, t->seen.by_call);
	add(&to->failed, t->seen.failed);
	add(&to->reopened, t->seen.reopened);
	add(&to->interrupted, t->seen.interrupted);
	add(&to->threads, t->seen.threads);
	add(&to->unopened, t->seen.unopened);
	for (unsigned i = 0; i < counters.count; i++)
		if (counters.event[i].way == EVENT_BY_PERF) {
			add(&to->enabled_ns[i], t->one[i].enabled);
			add(&to->running_ns[i], t->one[i].running);
		}
	give_back(t);
	t->seen = (struct counters_statistics){ 0 };
}

void counters_leave(struct counters_thread *t)
{
	for (unsigned i = 0; i < COUNTERS_MAX; i++)
		t->one[i].page = NULL;   /* it was not copied; something else may lie there */
	give_back(t);
	counters.placing = 0;
	counters.total = t->seen = (struct counters_statistics){ 0 };
}

/* ---- what reading costs ---- */

void counters_calibrate(struct counters_thread *t)
{
	struct counters_statistics before = t->seen;
	uint64_t from[COUNTERS_MAX], to[COUNTERS_MAX];
	unsigned same[COUNTERS_MAX] = { 0 };

	for (unsigned round = 0; round < ROUNDS && read_all(t, from) && read_all(t, to); round++)
		for (unsigned i = 0; i < counters.count; i++) {
			uint64_t between = to[i] - from[i];

			if (!round || between < counters.own[i]) {
				counters.own[i] = between;
				same[i] = 0;
			}
			same[i] += between == counters.own[i];
		}
	for (unsigned i = 0; i < counters.count; i++)
		counters.own_exact[i] = counters.event[i].steady && !t->by_call && same[i] >= ROUNDS / 4 * 3;
	t->seen = before;
}
