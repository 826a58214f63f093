/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile as a whole: how many functions have a curve worth looking at and
 * what the others cost, what trms sees that rms does not, and how much of the
 * input came from other threads and from outside; for each function, for each
 * thread and for the run. docs/statistics.md has the formulas and where they
 * come from.
 */
#ifndef SLOPE_ANALYSIS_STATISTICS_H
#define SLOPE_ANALYSIS_STATISTICS_H

#include "profile/profile.h"

#define SLOPE_FEW_POINTS 10u     /* fewer sizes than this make no curve that tells much: a poor function */

/* The different input sizes of a function in some rows. */
struct slope_sizes {
	size_t points;               /* how many; 0: none, or the metric was not kept */
	uint64_t n_min, n_max;       /* only where points > 0 */
	uint32_t bits;               /* SLOPE_POINTS_EXACT, or the coarsest of the tables that are folded */
};

struct slope_function_statistics {
	uint32_t function;
	uint64_t calls, total, self; /* over all threads */
	uint64_t costliest;          /* what the most costly of its calls took, with callees */
	uint64_t rms, trms, thread, external;   /* input of all its activations together */
	struct slope_sizes sizes[SLOPE_METRICS];
};

/* What the profile has about a thread itself. Its input counts every read once, however deep the stack was. */
struct slope_thread_statistics {
	bool known;                  /* false: the file has lost the thread's own row, and cost and input with it */
	uint64_t cost, rms, trms, thread, external;
	uint32_t busiest;            /* the function with most of its self cost; SLOPE_FN_ROOT: none has any */
	uint64_t busiest_self;
};

struct slope_statistics {
	struct slope_function_statistics *function;   /* those that ran, by number; without SLOPE_FN_ROOT */
	size_t functions;
	struct slope_thread_statistics *thread;       /* one for each thread of the profile, in its order */
	size_t threads;
	uint32_t metrics;            /* the profile's: bits 1 << SLOPE_METRIC_* */
	uint64_t cost;               /* of the run */
	uint64_t rms, trms;          /* of all activations of all functions */
	uint64_t input, thread_input, external;       /* sums over the threads */
};

/*
 * Works everything out for one cost unit. False when memory runs out; `s` then
 * holds nothing. O(rows + points log points).
 */
bool slope_statistics_init(struct slope_statistics *s, const struct slope_profile *p, uint32_t unit);
void slope_statistics_fini(struct slope_statistics *s);

/* The numbers of a function that ran; NULL for another. O(log functions). */
const struct slope_function_statistics *slope_statistics_find(const struct slope_statistics *s, uint32_t function);

/*
 * What a function can have much or little of. X(id, name in JSON)
 * points: sizes by trms, by rms where that is all there is.
 * poor_cost: the costliest call of a function with fewer than SLOPE_FEW_POINTS.
 * richness: points that trms gives over those of rms, as a part of the latter; -0.5 is half as many, 1 twice as many.
 * volume: part of the input of its activations that rms does not see.
 * *_of_input: part of its input that other threads wrote, that came from outside.
 * *_of_induced: the same as parts of these two together.
 */
#define SLOPE_MEASURE_LIST(X)                              \
	X(POINTS, "points")                                \
	X(POOR_COST, "poor_cost")                          \
	X(RICHNESS, "richness")                            \
	X(VOLUME, "volume")                                \
	X(THREAD_OF_INPUT, "thread_of_input")              \
	X(EXTERNAL_OF_INPUT, "external_of_input")          \
	X(THREAD_OF_INDUCED, "thread_of_induced")          \
	X(EXTERNAL_OF_INDUCED, "external_of_induced")

enum slope_measure {
#define X(id, name) SLOPE_MEASURE_##id,
	SLOPE_MEASURE_LIST(X)
#undef X
	SLOPE_MEASURES
};

const char *slope_measure_name(enum slope_measure m);

/* NaN where the function has none: a rich one has no poor_cost, one without points by rms no richness. */
double slope_measure_of(const struct slope_statistics *s, const struct slope_function_statistics *f, enum slope_measure m);

/* Limits that make a readable curve of the measure, ascending. */
const double *slope_measure_limits(enum slope_measure m, size_t *count);

/* One point of such a curve. */
struct slope_at_least {
	size_t functions;            /* that have at least the limit */
	size_t of;                   /* that have the measure at all */
	uint64_t self;               /* what those `functions` cost without callees */
};

struct slope_at_least slope_statistics_at_least(const struct slope_statistics *s, enum slope_measure m, double limit);

/* The part of the run's input that rms does not see, over all activations; NaN without trms. */
double slope_statistics_volume(const struct slope_statistics *s);

/* Part of whole, 0 to 1 whatever the numbers are. */
double slope_share_of(uint64_t part, uint64_t whole);

/* ---- what is below is of use alone ---- */

/*
 * What all threads cost; their sum of self costs where the file has lost the
 * threads' own rows. `outside`: what of it belongs to no function.
 */
uint64_t slope_program_cost(const struct slope_profile *p, uint32_t unit, uint64_t *outside);

/* The row of a thread itself, by its position in the profile; NULL: lost. */
const struct slope_profile_row *slope_thread_row(const struct slope_profile *p, size_t thread);

#endif
