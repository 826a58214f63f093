/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The answer that the core must give, found the slow way: the "simple-minded"
 * algorithm of the first paper and the "naive" one of the second. Every
 * pending activation has two sets of cells: those accessed during it (rms),
 * and the same less what somebody else has written since (trms). It shares no
 * line with the core.
 *
 * Classification: a read is induced when the acting thread has not accessed
 * the cell since the latest write to it by another thread or by the kernel; it
 * is thread or external input by who wrote last. A cell that starts in a
 * file's range and was never written counts as external at each thread's first
 * read of it. Forgotten cells are as new.
 *
 * Without `trms` nothing is induced, and the trms is the rms.
 */
#ifndef SLOPE_TESTS_ORACLE_H
#define SLOPE_TESTS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_UNITS 4
enum { ORACLE_TRMS, ORACLE_RMS, ORACLE_METRICS };

struct oracle_stat {
	uint64_t min, max, sum;
	unsigned __int128 squares;
};

struct oracle_point {
	uint64_t n, calls, rms, thread, external;
	struct oracle_stat cost[ORACLE_UNITS];
};

struct oracle_points {
	struct oracle_point *at;     /* sorted by n */
	size_t count, capacity;
};

/* `sizes` is by the caller's trms: `calls` of a point are its activations that called, `rms` are the callee's calls. */
struct oracle_edge {
	uint32_t caller;
	uint64_t calls, cost[ORACLE_UNITS];
	struct oracle_points sizes;
};

/* One function in one thread. */
struct oracle_row {
	uint64_t calls, total[ORACLE_UNITS], self[ORACLE_UNITS];
	uint64_t rms, trms, thread, external;
	struct oracle_points points[ORACLE_METRICS];
	struct oracle_edge *edge;
	size_t edges;
	size_t active;
};

struct oracle;

/* All functions abort when memory runs out: this is a test. */
struct oracle *oracle_new(unsigned cell_bytes, unsigned units, bool trms);
void oracle_free(struct oracle *o);

/* Threads are numbered from 1 in the order of these calls; each gets a root activation of function 0. */
void oracle_thread(struct oracle *o);
void oracle_end(struct oracle *o, uint32_t thread);

void oracle_call(struct oracle *o, uint32_t thread, uint32_t fn, bool folded);
void oracle_return(struct oracle *o, uint32_t thread);
void oracle_read(struct oracle *o, uint32_t thread, uint64_t address, uint64_t bytes);
void oracle_write(struct oracle *o, uint32_t thread, uint64_t address, uint64_t bytes);
void oracle_kernel_write(struct oracle *o, uint64_t address, uint64_t bytes);
void oracle_map_file(struct oracle *o, uint64_t address, uint64_t bytes);
void oracle_forget(struct oracle *o, uint64_t address, uint64_t bytes);
/* Whole cells; the two ranges do not overlap. */
void oracle_move(struct oracle *o, uint64_t from, uint64_t bytes, uint64_t to);
void oracle_cost(struct oracle *o, uint32_t thread, const uint64_t *more);
void oracle_collect(struct oracle *o, uint32_t thread, bool on);

/* What was found of a function in a thread; NULL if it never ran there unfolded. */
const struct oracle_row *oracle_row(const struct oracle *o, uint32_t thread, uint32_t fn);

/* Activations a thread has had, and the most at a time; the root and folded ones included. */
uint64_t oracle_calls(const struct oracle *o, uint32_t thread);
uint64_t oracle_depth(const struct oracle *o, uint32_t thread);

#endif
