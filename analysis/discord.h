/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where two sources disagree about the same run: calls, costs, input and every
 * point of each function, threads and processes added up. Nothing is
 * tolerated; a difference is rather traced to where it comes from:
 *
 * - a *cause* has other calls, another self cost, or (with those the same)
 *   another input or total while none of its callees differs;
 * - all other differences *follow*: the function calls one that differs.
 *
 * Some differences are no fault. A function that differs between two runs
 * under the same source is *unsteady*: the program is not deterministic there.
 * Some causes are *known*: see slope_discord_known. What follows only from
 * these is unsteady or known itself; everything else is *open*.
 */
#ifndef SLOPE_ANALYSIS_DISCORD_H
#define SLOPE_ANALYSIS_DISCORD_H

#include "profile/profile.h"

#define SLOPE_DISCORD_RUNS 3u

enum slope_discord_what {
	SLOPE_DISCORD_CALLS = 1,
	SLOPE_DISCORD_SELF = 2,
	SLOPE_DISCORD_TOTAL = 4,
	SLOPE_DISCORD_INPUT = 8,     /* sums of rms, trms, or their parts */
	SLOPE_DISCORD_POINTS = 16,
};

/* From the strongest: what follows takes the first of its callees' states. */
enum slope_discord_state { SLOPE_DISCORD_OPEN, SLOPE_DISCORD_KNOWN, SLOPE_DISCORD_UNSTEADY };

struct slope_discord_entry {
	uint32_t function;
	unsigned what;               /* enum slope_discord_what, or'ed */
	bool follows;
	enum slope_discord_state state;
	const struct slope_profile_row *row[2];  /* of both runs; NULL where the function did not run */
};

struct slope_discord {
	struct slope_discord_entry *entry;   /* open ones first, causes before what follows, the largest difference of cost first */
	size_t count;
	size_t state_count[3];       /* by enum slope_discord_state */
	size_t functions, points;    /* that were compared; points of the first run */
};

/* The runs that are compared, as one profile. */
struct slope_discord_runs {
	struct slope_profile *profile;
	uint32_t thread[SLOPE_DISCORD_RUNS];     /* all rows of run i are in this thread; UINT32_MAX: there is no such run */
};

/*
 * Brings the runs of two sources together; the third, which may be NULL, is
 * another run under the second one's source. Forgets which thread and which
 * process a row belongs to: the profiles given are changed. False and `error`
 * when they do not fit together or memory runs out. Free the profile with
 * slope_profile_free.
 */
bool slope_discord_unite(struct slope_discord_runs *runs, struct slope_profile *const run[SLOPE_DISCORD_RUNS], char *error,
			 size_t error_bytes);

/* Compares the first two. False when memory runs out; `d` then holds nothing. `d` points into `runs`. */
bool slope_discord_init(struct slope_discord *d, const struct slope_discord_runs *runs);
void slope_discord_fini(struct slope_discord *d);

/* "calls", "self", "total", "input", "points". */
const char *slope_discord_word(enum slope_discord_what what);

/*
 * Is it known that this function differs so (`what`) under Valgrind?
 *
 * - The dynamic linker (or a static program's start) and libgcc ask the
 *   processor what it is, and libc's strstr chooses by it: Valgrind shows
 *   programs a processor of its own making.
 * - The dynamic linker's first memory lies elsewhere, and its string functions
 *   depend on how texts are aligned.
 * - Of the addresses and structures that a few system calls are given,
 *   Valgrind reports the parts that mean something; the kernel reads them whole.
 */
bool slope_discord_known(const struct slope_profile *p, const struct slope_profile_function *f, unsigned what);

/* The first size whose points differ, under the first metric where they do, and the points there; NULL: none of that size. */
struct slope_discord_point {
	uint32_t metric;
	uint64_t n;
	const struct slope_point *point[2];
};
bool slope_discord_point(const struct slope_profile *p, const struct slope_discord_entry *e, struct slope_discord_point *at);

#endif
