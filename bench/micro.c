/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * micro [--quick] [--check]
 *
 * What one event costs the core, in nanoseconds of processor time (the best of
 * three), while one thing grows: the depth of the stack, the number of
 * functions, of threads, the memory in use. It should stay flat. What does not
 * is cache misses: the column "plain" is a walk over a plain array of the size
 * that the core has to touch, and shows what the machine itself takes for one
 * access to that.
 *
 * --quick stops each row early and leaves out the largest sizes; --check
 * exits with 1 when a cost grows more than FLAT times from the first row on,
 * misses (as many times `plain` as lines are touched) set aside.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sources/replay/replay.h"

#define CELL_LOG2 2u
#define FLAT 4.0
#define ROUNDS 3
#define CELLS 4096u              /* what a row reads again and again: a page of 16 KB */
#define JUMPS_MAX 4000000u     /* jumps of one measurement, at most */
#define ADDRESS UINT64_C(0x10000000)

struct bench {
	struct slope_session session;
	struct slope_thread **thread;
	size_t threads;
	uint32_t *function;
	size_t functions;
	uint64_t cost[SLOPE_UNITS_MAX];
	bool quick, bad;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void out_of_memory(void)
{
	fputs("micro: out of memory\n", stderr);
	exit(1);
}

static void open_bench(struct bench *b, size_t threads, size_t functions)
{
	static const struct slope_config config = { .cell_log2 = CELL_LOG2, .units = 1, .metrics = 1 };

	b->thread = calloc(threads, sizeof *b->thread);
	b->function = calloc(functions, sizeof *b->function);
	if (!b->thread || !b->function || !slope_session_init(&b->session, &config, &slope_replay_host))
		out_of_memory();
	b->threads = threads;
	b->functions = functions;
	for (size_t i = 0; i < functions; i++)
		b->function[i] = slope_session_function(&b->session, 1, 16 * i, 0, NULL);
	for (size_t i = 0; i < threads; i++)
		if (!(b->thread[i] = slope_thread_new(&b->session, 0, i, b->cost)))
			out_of_memory();
}

static void close_bench(struct bench *b)
{
	slope_session_fini(&b->session);
	free(b->thread);
	free(b->function);
}

static void enter(struct bench *b, size_t thread, size_t function)
{
	slope_thread_enter(b->thread[thread], b->function[function], 0, 0, b->cost);
}

static void leave(struct bench *b, size_t thread)
{
	b->cost[0]++;
	slope_thread_leave(b->thread[thread], b->cost);
}

/* A piece of work of `events` events, done ROUNDS times: the least that one event took. */
static double best(struct bench *b, void (*work)(struct bench *b, size_t events), size_t events)
{
	double least = 1e30;

	for (int r = 0; r < ROUNDS; r++) {
		double start = now_ns();

		work(b, events);
		double spent = (now_ns() - start) / (double)events;

		least = spent < least ? spent : least;
	}
	return least;
}

/* Pairs of call and return, over all functions and threads in turn. */
static void calls(struct bench *b, size_t events)
{
	for (size_t i = 0, fn = 0, t = 0; i < events; i++) {
		enter(b, t, fn);
		leave(b, t);
		fn = fn + 1 == b->functions ? 0 : fn + 1;
		t = t + 1 == b->threads ? 0 : t + 1;
	}
}

/* Reads of cells that the topmost activation has read before. */
static void fresh_reads(struct bench *b, size_t events)
{
	for (size_t i = 0; i < events; i++)
		slope_thread_read(b->thread[0], ADDRESS + (i % CELLS << CELL_LOG2), 1);
}

/* Reads of cells that the caller has touched last: 44 to 99 percent of what is not fresh. */
static void callers_reads(struct bench *b, size_t events)
{
	for (size_t i = 0; i < events; i += CELLS) {
		enter(b, 0, 0);
		fresh_reads(b, CELLS);
		leave(b, 0);
	}
}

static void writes(struct bench *b, size_t events)
{
	for (size_t i = 0; i < events; i++)
		slope_thread_write(b->thread[0], ADDRESS + (i % CELLS << CELL_LOG2), 1);
}

/* A walk that visits 0 .. count-1 once each (count a power of two), with long jumps. */
static uint64_t jump(uint64_t i, uint64_t count)
{
	return (i * 5 * UINT64_C(0x61c88647) + 12345) & (count - 1);
}

/* In order, or with jumps of which each is known only when the one before has arrived. */
static double time_plain(uint64_t count, bool jumps)
{
	uint32_t *next = malloc(count * sizeof *next);
	uint64_t steps = jumps && count > JUMPS_MAX ? JUMPS_MAX : count;
	volatile uint32_t sink;
	uint32_t at = 0;

	if (!next)
		out_of_memory();
	for (uint64_t i = 0; i < count; i++)             /* with jumps: a generator whose period is count */
		next[i] = (uint32_t)(jumps ? (i * UINT64_C(0x9E3779B1) + 12345) & (count - 1) : i);
	double start = now_ns();

	for (uint64_t i = 0; i < steps; i++)
		at = jumps ? next[at] : at + next[i];
	double spent = (now_ns() - start) / (double)steps;

	sink = at;
	(void)sink;
	free(next);
	return spent;
}

/*
 * Builds a stack of `depth` activations in which each touches its share of
 * `cells` (or the lowest one touches all); then the top reads all of them.
 */
static double time_far(struct bench *b, size_t depth, uint64_t cells, bool one_owner)
{
	uint64_t cell = 0;

	open_bench(b, 1, 1);
	for (size_t d = 0; d < depth; d++) {
		enter(b, 0, 0);
		for (; cell < (one_owner ? cells : cells * (d + 1) / depth); cell++)
			slope_thread_read(b->thread[0], ADDRESS + (cell << CELL_LOG2), 1);
	}
	enter(b, 0, 0);
	double start = now_ns();

	for (uint64_t i = 0; i < cells; i++)
		slope_thread_read(b->thread[0], ADDRESS + (jump(i, cells) << CELL_LOG2), 1);
	double spent = (now_ns() - start) / (double)cells;

	close_bench(b);
	return spent;
}

/* `misses`: what the machine takes for the lines that the event touches. */
static void must_be_flat(struct bench *b, const char *what, double first, double now, double misses)
{
	if (now > FLAT * (first > 2 ? first : 2) + 3 * misses) {
		fprintf(stderr, "micro: %s grew from %.1f to %.1f ns, misses are %.1f of it\n", what, first, now, misses);
		b->bad = true;
	}
}

static uint64_t words_of(uint64_t bytes)
{
	uint64_t words = 64;

	while (words * sizeof(uint32_t) < bytes)
		words *= 2;
	return words;
}

static void sweep_depth(struct bench *b)
{
	static const size_t depths[] = { 10, 100, 1000, 10000, 100000, 1000000 };
	size_t events = b->quick ? 64 * CELLS : 1024 * CELLS;
	uint64_t cells = UINT64_C(1) << (b->quick ? 16 : 20);
	double first[6] = { 0 };

	puts("depth     call+return   read: fresh   caller's   one ancestor's   any ancestor's   (plain)    write");
	for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
		double plain = time_plain(words_of(depths[i] * sizeof(struct slope_frame)), true);
		double ns[6] = { [3] = time_far(b, depths[i], cells, true), [4] = time_far(b, depths[i], cells, false) };

		open_bench(b, 1, 1);
		for (size_t d = 0; d < depths[i]; d++)
			enter(b, 0, 0);
		ns[0] = best(b, calls, events);
		ns[1] = best(b, fresh_reads, events);
		ns[2] = best(b, callers_reads, events);
		ns[5] = best(b, writes, events);
		close_bench(b);
		printf("%-8zu %12.1f %13.1f %10.1f %16.1f %16.1f %9.1f %8.1f\n", depths[i], ns[0], ns[1], ns[2], ns[3], ns[4], plain,
		       ns[5]);
		for (int k = 0; k < 6; k++) {
			first[k] = i ? first[k] : ns[k];
			must_be_flat(b, "a cost by depth", first[k], ns[k], k == 4 ? 4 * plain : 0);
		}
	}
	puts("  any ancestor's: a search among the stamps, so the logarithm of the depth, with a miss in the last\n"
	     "  steps and one in the frame; plain: an access to as many bytes as the frames have\n");
}

static void sweep_functions(struct bench *b)
{
	static const size_t counts[] = { 10, 100, 1000, 10000, 100000 };
	double first = 0;

	puts("functions    call+return       (plain)");
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		size_t events = (b->quick ? 1 : 10) * 300000;
		double plain = time_plain(words_of(counts[i] * sizeof(struct slope_record)), true);

		open_bench(b, 1, counts[i]);
		calls(b, counts[i]);
		double ns = best(b, calls, events);

		close_bench(b);
		printf("%-10zu %13.1f %13.1f\n", counts[i], ns, plain);
		first = i ? first : ns;
		must_be_flat(b, "call and return by functions", first, ns, 4 * plain);
	}
	puts("  plain: an access to as many bytes as their records have; a call and its return touch the function,\n"
	     "  the pointer to its record, three lines of the record, its edge, its row of points\n");
}

/* Each thread in turn reads and writes cells of its own. */
static void own_accesses(struct bench *b, size_t events)
{
	for (size_t i = 0, t = 0; i < events; i += 16) {
		for (unsigned k = 0; k < 8; k++) {
			slope_thread_read(b->thread[t], ADDRESS + 4096 * t + 4 * k, 4);
			slope_thread_write(b->thread[t], ADDRESS + 4096 * t + 4 * k, 4);
		}
		t = t + 1 == b->threads ? 0 : t + 1;
	}
}

/* Each thread in turn reads a cell that the one before has written, and writes it. */
static void handovers(struct bench *b, size_t events)
{
	for (size_t i = 0, t = 0; i < events; i++) {
		slope_thread_read(b->thread[t], ADDRESS - 64, 4);
		slope_thread_write(b->thread[t], ADDRESS - 64, 4);
		t = t + 1 == b->threads ? 0 : t + 1;
	}
}

static void sweep_threads(struct bench *b)
{
	static const size_t counts[] = { 2, 10, 100, 1000 };
	size_t events = b->quick ? 200000 : 2000000;
	double first[3] = { 0 };

	puts("threads      call+return   own read or write   a cell handed on (read and write)    (plain)");
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		/* What a thread's turn touches: its struct with the shadow's cache, frames, stamps, shadow, record. */
		double plain = time_plain(words_of(counts[i] * (sizeof(struct slope_thread) + 1024)), true);

		open_bench(b, counts[i], 1);
		double ns[3] = { best(b, calls, events), best(b, own_accesses, events), best(b, handovers, events) };

		close_bench(b);
		printf("%-10zu %13.1f %19.1f %35.1f %10.1f\n", counts[i], ns[0], ns[1], ns[2], plain);
		for (int k = 0; k < 3; k++) {
			first[k] = i ? first[k] : ns[k];
			must_be_flat(b, "a cost by threads", first[k], ns[k], (k == 1 ? 1 : 8) * plain);
		}
	}
	puts("  each thread has its own tables: with many of them a turn begins with cold lines\n");
}

/* Over a working set, in order and with jumps: the first touch, then reads of what is there. */
static void sweep_memory(struct bench *b)
{
	double first = 0;

	puts("memory       first touch   read, in order   (plain)   with jumps   (plain)");
	for (unsigned log2 = 20; log2 <= (b->quick ? 26u : 32u); log2 += 2) {
		uint64_t cells = UINT64_C(1) << (log2 - CELL_LOG2), jumps_made = cells < JUMPS_MAX ? cells : JUMPS_MAX;
		double at[4];

		open_bench(b, 1, 1);
		at[0] = now_ns();
		for (uint64_t i = 0; i < cells; i++)
			slope_thread_read(b->thread[0], ADDRESS + (i << CELL_LOG2), 4);
		at[1] = now_ns();
		for (uint64_t i = 0; i < cells; i++)
			slope_thread_read(b->thread[0], ADDRESS + (i << CELL_LOG2), 4);
		at[2] = now_ns();
		for (uint64_t i = 0; i < jumps_made; i++)
			slope_thread_read(b->thread[0], ADDRESS + (jump(i, cells) << CELL_LOG2), 4);
		at[3] = now_ns();
		close_bench(b);
		double order = (at[2] - at[1]) / (double)cells, jumps = (at[3] - at[2]) / (double)jumps_made;
		double plain = time_plain(cells, false), plain_jumps = time_plain(cells, true);

		printf("%4u MB %17.1f %16.1f %9.1f %12.1f %9.1f\n", 1u << (log2 - 20), (at[1] - at[0]) / (double)cells, order, plain,
		       jumps, plain_jumps);
		fflush(stdout);
		first = log2 == 20 ? order : first;
		must_be_flat(b, "a read in order by memory", first, order, plain);
		must_be_flat(b, "a read with jumps by memory", first, jumps, 2 * plain_jumps);
	}
	puts("  first touch: with the system's zeroed pages; jumps: misses in the shadow and in its three tables");
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	bool check = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--quick"))
			b.quick = true;
		else if (!strcmp(argv[i], "--check"))
			check = true;
		else
			return fprintf(stderr, "usage: micro [--quick] [--check]\n"), 2;
	}
	puts("nanoseconds per event of the core, cells of 4 bytes, trms, one cost unit\n");
	sweep_depth(&b);
	sweep_functions(&b);
	sweep_threads(&b);
	sweep_memory(&b);
	return check && b.bad;
}
