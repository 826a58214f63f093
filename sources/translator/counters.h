/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counters that instrumentation reads: events of the processor and of the
 * kernel (eventnames.h), time stamps, and a simulated source for tests. Up to
 * COUNTERS_MAX at once, each a number of 64 bits that only grows.
 *
 * They are chosen once for the process, and opened by each thread for itself.
 * A hardware event is read with rdpmc, without the kernel, where its page says
 * that one may; else with read. Hardware events count the program's own part
 * alone (no kernel, no hypervisor): kernel.perf_event_paranoid = 2 is enough.
 * Page faults, context switches and processor time need no permission.
 *
 * What is in the counts: all that the thread does, the translator's part
 * included. counters_own says how much of one reading falls between two.
 *
 * Descriptors stay out of the program's way where the limits allow it
 * (above its own), and are known by a mark: when the program has closed
 * one, it is opened anew, and no file of the program's is ever read.
 *
 * Freestanding; one struct holds what is chosen.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_COUNTERS_H
#define SLOPE_SOURCES_TRANSLATOR_COUNTERS_H

#include "core/paths.h"
#include "sources/translator/eventnames.h"

#define COUNTERS_MAX SLOPE_PATH_METRICS
#define COUNTERS_REASON_BYTES 400u

struct perf_event_mmap_page;

/* What has been read, and how. */
struct counters_statistics {
	uint64_t reads;              /* of all counters at once */
	uint64_t by_call;            /* of them, with system calls */
	uint64_t failed;             /* readings that say nothing: a counter was gone */
	uint64_t reopened;           /* counters that the program had closed */
	uint64_t interrupted;        /* samples of time that were left out: another thread had the processor */
	uint64_t threads, unopened;  /* threads, and those without counters */
	uint64_t enabled_ns[COUNTERS_MAX], running_ns[COUNTERS_MAX];     /* less running than enabled: shared with others, and scaled */
};

/* One counter of a thread. */
struct counters_one {
	const struct perf_event_mmap_page *page;     /* NULL: rdpmc is out of the question */
	long fd;                     /* -1: none */
	uint64_t value, raw;         /* what was told last, and what that was made of */
	uint64_t start;              /* EVENT_BY_TICKS: when it was opened */
	uint64_t enabled, running;   /* EVENT_BY_PERF: for how long, in ns, as far as that is known */
};

/* The caller's, one for each thread; starts as zeros. */
struct counters_thread {
	bool open;
	bool by_call;                /* a reading takes system calls */
	struct counters_one one[COUNTERS_MAX];
	struct counters_statistics seen;
};

struct counters {
	unsigned count;
	struct event event[COUNTERS_MAX];
	uint64_t ns_per_2_32_cycles; /* the caller's to set where `time` is among them */
	bool ticks, usage, clock, perf;      /* which ways are needed */
	struct counters_statistics total;    /* of threads that have closed theirs */
	uint64_t own[COUNTERS_MAX];  /* what counters_calibrate found */
	bool own_exact[COUNTERS_MAX];
	uint32_t placing;            /* a thread is looking for a place for a descriptor */
	char reason[COUNTERS_REASON_BYTES];  /* why something could not be */
};

extern struct counters counters;

/*
 * --events=LIST chooses and stops the process, with a line, where that names no event; --list-events[=LIST] writes
 * counters_list and ends it. False: the option is neither.
 */
bool counters_option(const char *option);

/* Chooses from names with commas between: "cycles,cache-misses,r01c2,time". False: `counters.reason` says why, and none is chosen. */
bool counters_choose(const char *list);

/* Can the calling thread open and read what is chosen? False: `counters.reason` says why not, and what can be had instead. */
bool counters_possible(void);

unsigned counters_count(void);
const char *counters_name(unsigned n);
/* Is `time` among them? Then the clock has to be looked at, and `ns_per_2_32_cycles` set, before the first counters_open. */
bool counters_need_clock(void);

/*
 * For the calling thread, all from now on. False: they cannot be had, which
 * is counted; `counters.reason` says why. A read then fails.
 */
bool counters_open(struct counters_thread *t);

/*
 * What each has counted in this thread since it was opened. False: one of them was gone, or has not been counting at all; the
 * difference to the reading before means nothing then.
 */
bool counters_read(struct counters_thread *t, uint64_t value[COUNTERS_MAX]);

/* Gives all back; `t` is zeros again, its statistics are added to `counters.total`. */
void counters_close(struct counters_thread *t);

/*
 * In a copy of the process (fork): pages of counters are not copied, so none
 * may be read there before this. As counters_close, but its statistics, and
 * those in `counters.total`, are the parent's and are forgotten. counters_open may follow.
 */
void counters_leave(struct counters_thread *t);

/*
 * How much of each counter one reading takes: what lies between two that
 * follow each other at once, the least of many. own_exact: it is the same
 * each time, and may be subtracted; else it is only worth being told.
 * The thread's counters are open; its statistics do not change.
 */
void counters_calibrate(struct counters_thread *t);

/*
 * What a reader of the profile must know, one sentence after the other, from
 * n = 0: counters that were shared, lost, or not there. False: there are no more. Words about `counters.total`.
 */
bool counters_problem(unsigned n, char *text, size_t room);

/*
 * For the command: one line on descriptor 1 for each of these events, or, for
 * an empty list, for each that has a name: name, kind, type and number as perf_event_open
 * takes them, and how it would be read here (rdpmc, read, free) or "no: " and why; a tab
 * between two of them. False: `counters.reason`. counterlist.c.
 */
bool counters_list(const char *list);

/* ---- between counters.c and counterlist.c ---- */

/* perf_event_open for the calling thread; `leader` is the group's first, or -1. The descriptor, or an error. */
long counters_perf(const struct event *e, long leader);
/* The page of this descriptor, if it says that rdpmc may be used; NULL otherwise. */
const struct perf_event_mmap_page *counters_page(long fd);
void counters_unmap(const struct perf_event_mmap_page *page);
/* Appends why it refused this event with this error (positive), in words, and what can be had instead; the new length. */
size_t counters_explain(const struct event *e, long error, char *to, size_t at, size_t room);

#endif
