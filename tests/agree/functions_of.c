/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * functions_of [--resolved=PERCENT] [--whole] [--loose] [--unresolved] [--time] [--at=ADDRESS] FILE...
 *
 * Control flow graphs of all functions of ELF files, and the numbers of their
 * paths, against what must be so whatever the code is: blocks are made of
 * instructions side by side and do not overlap, edges lead to blocks, walks
 * along random edges have the numbers that decode to them, edge by edge, and
 * random numbers decode to paths that have them; where there are few paths, all
 * of them are written down, and have all numbers. --resolved wants that share of
 * the indirect jumps that stay in a function to be known, --whole every instruction
 * but padding to be in a block; --loose lets functions
 * without names have no borders; --unresolved lists the
 * others, and code that nothing leads to; --at prints one function's graph; --time compares the time
 * with that of the decoding alone. Files that are not there are skipped (exit status 77 if that is all).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sources/replay/replay.h"
#include "tests/agree/elfcode.h"

#define WALKS 8u
#define WALK_EDGES 400u
#define NUMBERS 8u
#define LENGTH_MAX (1u << 20)
#define ENUMERATED_MAX 4096u     /* paths of a function that are all looked at */
#define SKIPPED 77

#define CHECK(x) check((x), #x, __LINE__)

static struct {
	const char *file, *name;
	uint64_t entry, random, only, least;
	bool list, time, loose, whole;
	uint8_t seen[ENUMERATED_MAX];
	uint32_t way[LENGTH_MAX], decoded[LENGTH_MAX];
	/* Of one file. */
	struct {
		uint64_t functions, empty, blocks, edges, instructions, switches, unresolved, tails;
		uint64_t partly, unreached, shorter, overlaps, cut, many, walked, enumerated;
	} sum;
} all;

static void check(bool good, const char *what, int line)
{
	if (good)
		return;
	printf("functions_of: %s: %s at %#" PRIx64 ": line %d: not so: %s\n", all.file, all.name ? all.name : "function", all.entry,
	       line, what);
	exit(1);
}

static uint64_t random_below(uint64_t limit)
{
	all.random = all.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (slope_mix64(all.random) & (UINT64_MAX >> 1)) % limit;
}

/* ---- the graph ---- */

static void check_block(struct elfcode *c, const struct flow *f, uint32_t n)
{
	const struct flow_block *b = &f->block[n];
	ZydisDecodedInstruction i = { 0 };
	uint64_t pc = b->start, last = 0;
	uint32_t count = 0;

	CHECK(b->bytes && b->instructions);
	for (; pc < b->start + b->bytes; pc += i.length, count++) {
		CHECK(c->source.decode(c, pc, &i, NULL));
		CHECK(flow_block_at(f, pc) == n);
		last = pc;
	}
	CHECK(pc == b->start + b->bytes && count == b->instructions && last == b->last);
	CHECK(f->first[n] < f->first[n + 1]);
}

static void check_edge(const struct flow *f, uint32_t from, const struct flow_edge *e)
{
	const struct flow_block *b = &f->block[from];

	CHECK(e->to == SLOPE_PATH_OUT || e->to < f->blocks);
	if (e->to != SLOPE_PATH_OUT) {
		CHECK(f->block[e->to].start == e->target);
		CHECK(e->way == SLOPE_WAY_NEXT || e->way == SLOPE_WAY_TAKEN || e->way == SLOPE_WAY_TABLE);
	} else {
		CHECK(e->way > SLOPE_WAY_TABLE && !e->cut);
	}
	if (e->way == SLOPE_WAY_NEXT)
		CHECK(e->target == b->start + b->bytes);
	CHECK((e->way == SLOPE_WAY_TABLE) <= (b->end == SLOPE_BLOCK_SWITCHES));
	CHECK((e->way == SLOPE_WAY_RETURN) == (b->end == SLOPE_BLOCK_RETURNS));
}

static void check_flow(struct elfcode *c, const struct flow *f)
{
	CHECK(f->blocks && f->block[0].start == f->entry);
	for (uint32_t n = 0; n < f->blocks; n++) {
		uint32_t before = n > 1 ? n - 1 : 0;

		check_block(c, f, n);
		if (n > 1) {
			CHECK(f->block[before].start < f->block[n].start);
			all.sum.overlaps += f->block[before].start + f->block[before].bytes > f->block[n].start;
		}
		for (uint32_t k = f->first[n]; k < f->first[n + 1]; k++)
			check_edge(f, n, &f->edge[k]);
	}
	CHECK(f->first[f->blocks] == f->edges);
	CHECK(!f->unresolved == !(f->flags & SLOPE_GRAPH_UNRESOLVED));
}

/* ---- its paths ---- */

/* The path that was walked has that number. */
static void check_path(const struct slope_path_graph *g, uint64_t number, uint32_t begin, uint32_t length)
{
	uint32_t decoded_begin, count = slope_path_decode(g, number, &decoded_begin, all.decoded, LENGTH_MAX);

	CHECK(number < g->total);
	CHECK(count == length && decoded_begin == begin);
	CHECK(!memcmp(all.decoded, all.way, length * sizeof *all.way));
	all.sum.walked++;
}

/* Random edges from a vertex on, with the register that a program would keep. */
static void walk(const struct slope_path_graph *g, uint32_t vertex)
{
	uint32_t begin = vertex, length = 0;
	int64_t r = slope_path_begin(g, vertex);

	for (uint32_t step = 0; step < WALK_EDGES || length; step++) {
		uint32_t choice = g->first[vertex] + (uint32_t)random_below(g->first[vertex + 1] - g->first[vertex]);
		const struct slope_path_edge *e = &g->edge[choice];
		bool ends = e->cut != SLOPE_PATH_WHOLE || e->to == SLOPE_PATH_OUT;

		CHECK(length < LENGTH_MAX);
		all.way[length++] = choice;
		r = (int64_t)((uint64_t)r + (uint64_t)e->add);
		vertex = e->to;
		if (!ends)
			continue;
		check_path(g, (uint64_t)r, begin, length);
		if (vertex == SLOPE_PATH_OUT)
			return;
		begin = vertex;
		length = 0;
		r = slope_path_begin(g, vertex);
	}
}

static void check_number(const struct slope_path_graph *g, uint64_t number)
{
	uint32_t begin, count = slope_path_decode(g, number, &begin, all.decoded, LENGTH_MAX);
	uint64_t sum = g->start[begin];
	uint32_t vertex = begin;

	CHECK(count && count <= LENGTH_MAX);
	for (uint32_t n = 0; n < count; n++) {
		const struct slope_path_edge *e = &g->edge[all.decoded[n]];

		CHECK(e->from == vertex);
		CHECK((n + 1 == count) == (e->cut != SLOPE_PATH_WHOLE || e->to == SLOPE_PATH_OUT));
		sum += e->value;
		vertex = e->to;
	}
	CHECK(sum == number);
}

/* Every path that begins at a vertex, one by one: each has a number of its own. */
static void enumerate_from(const struct slope_path_graph *g, uint32_t begin)
{
	uint32_t length = 0, edge = g->first[begin];
	uint64_t number = g->start[begin];

	for (;;) {
		const struct slope_path_edge *e = &g->edge[edge];

		number += e->value;
		all.way[length++] = edge;
		if (e->cut == SLOPE_PATH_WHOLE && e->to != SLOPE_PATH_OUT) {
			edge = g->first[e->to];
			continue;
		}
		CHECK(number < g->total && !all.seen[number]);
		all.seen[number] = 1;
		check_path(g, number, begin, length);
		/* Back to the last choice that has another way. */
		do {
			if (!length)
				return;
			edge = all.way[--length];
			number -= g->edge[edge].value;
			edge++;
		} while (edge == g->first[g->edge[edge - 1].from + 1]);
	}
}

/* Numbers are unique, and there are no others. */
static void enumerate(const struct slope_path_graph *g)
{
	uint64_t numbers = 0;

	memset(all.seen, 0, g->total);
	for (uint32_t v = 0; v < g->vertices; v++)
		enumerate_from(g, v);
	for (uint64_t n = 0; n < g->total; n++)
		numbers += all.seen[n];
	CHECK(numbers == g->total);
	all.sum.enumerated++;
}

static void check_paths(const struct flow *f, struct slope_arena *arena)
{
	struct slope_graphs graphs = { .arena = arena };
	struct slope_graph made, *g;

	CHECK(flow_graph(f, arena, f->entry & ~UINT64_C(4095), &made));
	CHECK(g = slope_graphs_add(&graphs, &made, SLOPE_PATH_LIMIT));
	CHECK(g->paths.regular && g->paths.regular <= g->paths.total);
	all.sum.cut += !!(g->flags & SLOPE_GRAPH_CUT);
	all.sum.many += g->paths.regular > 1u << 20;
	if (g->paths.total <= ENUMERATED_MAX)
		enumerate(&g->paths);
	for (unsigned n = 0; n < WALKS; n++)
		walk(&g->paths, n % 2 ? (uint32_t)random_below(f->blocks) : 0);
	for (unsigned n = 0; n < NUMBERS; n++)
		check_number(&g->paths, n == 0 ? 0 : n == 1 ? g->paths.total - 1 : random_below(g->paths.total));
}

/* ---- files ---- */

static void print_graph(const struct flow *f)
{
	static const char *const end[] = {
		"falls", "jumps", "branches", "calls", "switches", "jumps anywhere", "returns", "tail calls", "stops",
	};
	static const char *const way[] = { "next", "taken", "table", "return", "tail", "elsewhere", "nowhere" };

	for (uint32_t n = 0; n < f->blocks; n++) {
		const struct flow_block *b = &f->block[n];

		printf("%u: %" PRIx64 "-%" PRIx64 " %u %s:", n, b->start, b->start + b->bytes, b->instructions, end[b->end]);
		for (uint32_t k = f->first[n]; k < f->first[n + 1]; k++) {
			const struct flow_edge *e = &f->edge[k];

			printf(" %s%s", way[e->way], e->cut ? "|" : "");
			if (e->to != SLOPE_PATH_OUT)
				printf(" %u", e->to);
			else if (e->target)
				printf(" %" PRIx64, e->target);
			printf(" (%u)", e->weight);
		}
		putchar('\n');
	}
}

static void count_function(const struct flow *f)
{
	all.sum.functions++;
	all.sum.blocks += f->blocks;
	all.sum.edges += f->edges;
	all.sum.instructions += f->instructions;
	all.sum.switches += f->switches;
	all.sum.unresolved += f->unresolved;
	all.sum.tails += f->tail_calls;
	all.sum.shorter += !!(f->flags & SLOPE_GRAPH_SHORT);
	for (uint32_t n = 0; all.list && n < f->blocks; n++)
		if (f->block[n].end == SLOPE_BLOCK_JUMPS_ANYWHERE)
			printf("%" PRIx64 " in %" PRIx64 " %s\n", f->block[n].last, f->entry, all.name ? all.name : "");
	if (all.only)
		print_graph(f);
}

/* Instructions of the function, but what only fills it up, that no block has: landing pads of exceptions, targets not found. */
static void count_unreached(struct elfcode *c, const struct elfcode_function *e, const struct flow *f)
{
	ZydisDecodedInstruction i;
	uint64_t before = all.sum.unreached;

	for (uint64_t pc = e->start; pc < e->end; pc += i.length) {
		uint32_t block = flow_block_at(f, pc);

		if (block != FLOW_NO_BLOCK) {
			i.length = (uint8_t)(f->block[block].start + f->block[block].bytes - pc > 15 ? 15 :
					     f->block[block].start + f->block[block].bytes - pc);
			continue;
		}
		if (!c->source.decode(c, pc, &i, NULL))
			break;
		if (i.meta.category != ZYDIS_CATEGORY_NOP && i.meta.category != ZYDIS_CATEGORY_WIDENOP &&
		    i.mnemonic != ZYDIS_MNEMONIC_INT3 && i.mnemonic != ZYDIS_MNEMONIC_UD2 && i.mnemonic != ZYDIS_MNEMONIC_HLT) {
			if (all.list && all.sum.unreached == before)
				printf("%" PRIx64 " is not reached, of %" PRIx64 " %s\n", pc, e->start, e->name ? e->name : "");
			all.sum.unreached++;
		}
	}
	all.sum.partly += all.sum.unreached != before;
}

static void look_at(struct elfcode *c, const struct elfcode_function *e)
{
	struct slope_arena arena;
	struct flow f;

	all.name = e->name;
	all.entry = e->start;
	slope_arena_init(&arena, &slope_replay_host);
	if (flow_make(&f, &arena, &c->source, e->start)) {
		count_function(&f);
		check_flow(c, &f);
		count_unreached(c, e, &f);
		check_paths(&f, &arena);
	} else {
		all.sum.empty++;
	}
	slope_arena_fini(&arena);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The instructions of all graphs, one by one. */
static uint64_t *all_instructions(struct elfcode *c, struct slope_arena *arena, uint64_t *count)
{
	uint64_t *pc = calloc(all.sum.instructions + 1, sizeof *pc);
	ZydisDecodedInstruction i;
	struct flow f;

	CHECK(pc);
	*count = 0;
	for (size_t n = 0; n < c->functions; n++) {
		if (c->function[n].cold || !flow_make(&f, arena, &c->source, c->function[n].start))
			continue;
		for (uint32_t b = 0; b < f.blocks; b++)
			for (uint64_t at = f.block[b].start; at <= f.block[b].last && *count < all.sum.instructions; at += i.length) {
				CHECK(c->source.decode(c, at, &i, NULL));
				pc[(*count)++] = at;
			}
		flow_free(&f, arena);
	}
	return pc;
}

/* All graphs, and all the same instructions just decoded, in turns; the least of each. */
static void measure(struct elfcode *c)
{
	double making = 1e9, decoding = 1e9;
	ZydisDecodedInstruction i;
	struct slope_arena arena;
	uint64_t count, *pc;

	slope_arena_init(&arena, &slope_replay_host);
	pc = all_instructions(c, &arena, &count);
	for (unsigned turn = 0; turn < 7; turn++) {
		double before = seconds(), between;
		struct flow f;

		for (size_t n = 0; n < c->functions; n++)
			if (!c->function[n].cold && flow_make(&f, &arena, &c->source, c->function[n].start))
				flow_free(&f, &arena);
		between = seconds();
		for (uint64_t n = 0; n < count; n++)
			c->source.decode(c, pc[n], &i, NULL);
		making = between - before < making ? between - before : making;
		decoding = seconds() - between < decoding ? seconds() - between : decoding;
	}
	printf("  %.4f s to make the graphs, %.4f s to decode their instructions: %.2f\n", making, decoding, making / decoding);
	free(pc);
	slope_arena_fini(&arena);
}

static bool look_at_file(const char *path)
{
	static struct elfcode c;

	if (access(path, R_OK) != 0)
		return false;
	if (!elfcode_open(&c, path))
		exit(1);
	all.file = path;
	c.loose = all.loose;
	memset(&all.sum, 0, sizeof all.sum);
	for (size_t n = 0; n < c.functions; n++)
		if (!c.function[n].cold && (!all.only || c.function[n].start == all.only))
			look_at(&c, &c.function[n]);
	printf("%s: %" PRIu64 " functions (%" PRIu64 " without code), %" PRIu64 " blocks, %" PRIu64 " edges, %" PRIu64
	       " instructions;\n", path, all.sum.functions, all.sum.empty, all.sum.blocks, all.sum.edges, all.sum.instructions);
	printf("  %" PRIu64 " switches, %" PRIu64 " indirect tail calls, %" PRIu64 " indirect jumps not resolved;\n",
	       all.sum.switches, all.sum.tails, all.sum.unresolved);
	printf("  %" PRIu64 " instructions that nothing leads to, in %" PRIu64 " functions;\n", all.sum.unreached, all.sum.partly);
	printf("  %" PRIu64 " incomplete, %" PRIu64 " overlaps; more than 2^20 paths: %" PRIu64 ", than 2^60 (cut): %" PRIu64 ";\n",
	       all.sum.shorter, all.sum.overlaps, all.sum.many, all.sum.cut);
	printf("  %" PRIu64 " paths walked, all of %" PRIu64 " functions\n", all.sum.walked, all.sum.enumerated);
	CHECK(!all.whole || !all.sum.unreached);
	CHECK(all.sum.switches * 100 >= (all.sum.switches + all.sum.unresolved) * all.least);
	CHECK(all.sum.functions);
	if (all.time)
		measure(&c);
	elfcode_close(&c);
	return true;
}

int main(int argc, char **argv)
{
	bool any = false;

	for (int n = 1; n < argc; n++) {
		if (!strcmp(argv[n], "--unresolved"))
			all.list = true;
		else if (!strcmp(argv[n], "--whole"))
			all.whole = true;
		else if (!strcmp(argv[n], "--loose"))
			all.loose = true;
		else if (!strcmp(argv[n], "--time"))
			all.time = true;
		else if (!strncmp(argv[n], "--resolved=", 11))
			all.least = strtoull(argv[n] + 11, NULL, 0);
		else if (!strncmp(argv[n], "--at=", 5))
			all.only = strtoull(argv[n] + 5, NULL, 0);
		else
			any |= look_at_file(argv[n]);
	}
	return any ? 0 : SKIPPED;
}
