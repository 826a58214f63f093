/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is measured: each meter is a column of the tree and a cost unit of the
 * profile, in the order in which they were asked for; behind them is the column
 * of samples. Time comes by timers, events by the kernel's counters
 * (overflows.c), and the others by calls of functions that the program reaches
 * through us.
 */
#ifndef SLOPE_SAMPLER_METERS_H
#define SLOPE_SAMPLER_METERS_H

#include "core/base.h"

#define SLOPE_METERS_MAX (SLOPE_UNITS_MAX - 1u)
#define SLOPE_METER_NAME 33u

/* How a meter is read from its word, and what its unit is called. */
#define SLOPE_METER_LIST(X)                                                        \
	X(TIME, "time")                                                            \
	X(PERF, "perf")              /* perf/TYPE/CONFIG/PERIOD/OWN/NAME */          \
	X(ALLOCATED, "alloc-bytes")  /* these have /PERIOD behind them */            \
	X(LIVE, "live-bytes")                                                      \
	X(READ, "read-bytes")                                                      \
	X(WRITTEN, "write-bytes")                                                  \
	X(LOCKED, "lock-wait")

enum slope_meter_kind {
#define X(id, word) SLOPE_METER_##id,
	SLOPE_METER_LIST(X)
#undef X
	SLOPE_METER_KINDS
};

struct slope_meter {
	enum slope_meter_kind kind;
	char name[SLOPE_METER_NAME];
	uint64_t period;             /* so much of it is a sample, on average */
	uint32_t type;               /* of an event, as perf_event_open takes it */
	uint64_t config;
	bool own;                    /* without what the kernel does for the program */
};

struct slope_meters {
	struct slope_meter meter[SLOPE_METERS_MAX];
	uint32_t count;
	int8_t column[SLOPE_METER_KINDS];      /* -1: not measured; that of PERF is any of them */
};

/*
 * Reads words with commas between, up to a blank or the end; NULL: time alone.
 * Words that say nothing are passed over.
 */
void slope_meters_read(struct slope_meters *meters, const char *words, bool wall);

/* The column of samples, and the number of all columns. */
static inline uint32_t slope_meters_samples(const struct slope_meters *meters)
{
	return meters->count;
}

static inline uint32_t slope_meters_units(const struct slope_meters *meters)
{
	return meters->count + 1;
}

#endif
