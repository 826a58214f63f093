/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Follows a trace of single steps through control flow graphs and counts the
 * paths that it took, by walking: nothing is numbered here.
 *
 * usage: follow TRACE GRAPHS [PROGRAM]      PROGRAM: 0 (the first) and up, after so many execs
 *
 * GRAPHS is a text, made of what `slope paths --json --graphs` prints:
 *   graph NUMBER MODULE BLOCKS EDGES        module as the stepper numbers it
 *   block ADDRESS BYTES INSTRUCTIONS END    END: a word of block_ends below
 *   edge FROM TO CUT                        TO -1: out of the graph; CUT: 0 or 1; sorted by FROM
 * To standard output go, in any order:
 *   path THREAD GRAPH COUNT STOP STOP_INSTRUCTIONS TO BLOCK...
 *        STOP -1: it ended by an edge to TO (-1: out); otherwise it was left in the block STOP
 *   repeats GRAPH BLOCK COUNT               repetitions of instructions beyond one for each execution; that the count is
 *                                           at zero is found out in one more, as in Valgrind's tools
 *   steps GRAPH COUNT                       instructions, each repetition one
 *   calls GRAPH COUNT                       how often the graph was entered at its entry by a call, a jump or a signal
 *   bare MODULE ADDRESS COUNT               instructions that are in no graph
 *   odd WHAT GRAPH ADDRESS COUNT            what no graph explains
 *
 * Activations are told apart by calls, returns and the stack pointer: an
 * activation is over when the stack pointer is above its return address.
 */
#include "stepper.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define TABLE_SIZE (1u << 20)

enum block_end { FALLS, JUMPS, BRANCHES, CALLS, SWITCHES, ANYWHERE, RETURNS, TAIL_CALLS, STOPS };
static const char *const block_ends[] = { "falls", "jumps", "branches", "calls", "switches", "anywhere", "returns", "tail-calls", "stops" };

struct block {
	uint64_t start, end;
	uint32_t module, graph, number;      /* graph: position */
	uint32_t instructions, ends;
	uint32_t first_edge, edges;
	uint64_t repeats;
};

struct edge {
	uint32_t to;
	bool cut;
};

struct graph {
	uint32_t number, first_block, blocks;
	uint64_t steps, calls;
};

struct frame {
	uint64_t sp;                 /* at its first instruction */
	bool handler;
	bool dark;                   /* of a function in no graph */
	uint32_t block;              /* position; NONE: no path yet */
	uint32_t executed;           /* instructions of that block */
	bool inside;                 /* begun in the middle of it: it is over when it is left */
	uint64_t last;               /* address of the last instruction */
	uint32_t *path;              /* blocks, by number */
	uint32_t length, capacity;
};

struct thread {
	struct frame *frame;
	uint32_t depth, capacity;
	uint64_t last_sp;
	bool signal, returning;      /* events before the next record */
	bool left;                   /* the last instruction was in no graph */
};

/* A count under a key of 32-bit numbers. */
struct count {
	struct count *next;
	uint64_t count;
	uint32_t length;
	uint32_t key[];
};

static struct block *block, *sorted;
static struct edge *edge;
static struct graph *graph;
static uint32_t blocks, edges, graphs;
static uint64_t longest;             /* of all blocks, in bytes */
static struct thread thread[256];
static struct count *table[TABLE_SIZE];

static void *grow(void *at, size_t bytes)
{
	void *p = realloc(at, bytes);

	if (!p)
		exit(125);
	return p;
}

static void add(const uint32_t *key, uint32_t length, uint64_t n)
{
	uint64_t hash = 1469598103934665603u;

	for (uint32_t i = 0; i < length; i++)
		hash = (hash ^ key[i]) * 1099511628211u;
	struct count **bucket = &table[(hash ^ hash >> 32) % TABLE_SIZE], *c = *bucket;

	while (c && (c->length != length || memcmp(c->key, key, length * sizeof *key)))
		c = c->next;
	if (!c) {
		c = grow(NULL, sizeof *c + length * sizeof *key);
		*c = (struct count){ .next = *bucket, .length = length };
		memcpy(c->key, key, length * sizeof *key);
		*bucket = c;
	}
	c->count += n;
}

enum row { PATH, BARE, ODD };
static const char *const oddities[] = {
	"begins inside a block", "leaves a block before its end", "no such edge", "returns elsewhere", "comes back elsewhere",
};
enum oddity { BEGINS_INSIDE, LEAVES_EARLY, NO_EDGE, RETURNS_ELSEWHERE, COMES_BACK_ELSEWHERE };

static void odd(enum oddity what, uint32_t in, uint64_t address)
{
	uint32_t key[] = { ODD, what, in == NONE ? NONE : graph[block[in].graph].number, (uint32_t)(address >> 32), (uint32_t)address };

	add(key, 5, 1);
}

/* ---- graphs ---- */

static int by_place(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return x->module != y->module ? (x->module > y->module) - (x->module < y->module) : (x->start > y->start) - (x->start < y->start);
}

static void read_graphs(const char *path)
{
	FILE *in = fopen(path, "r");
	char line[256], end[32];
	unsigned number, module, cut, instructions, bytes;
	unsigned long address;
	int from, to;

	while (in && fgets(line, sizeof line, in)) {
		if (sscanf(line, "graph %u %u", &number, &module) == 2) {
			graph = grow(graph, (graphs + 1) * sizeof *graph);
			graph[graphs++] = (struct graph){ .number = number, .first_block = blocks };
		} else if (sscanf(line, "block %lx %u %u %31s", &address, &bytes, &instructions, end) == 4) {
			block = grow(block, (blocks + 1) * sizeof *block);
			struct block *b = &block[blocks++];

			*b = (struct block){ .start = address, .end = address + bytes, .module = module, .graph = graphs - 1,
				.number = graph[graphs - 1].blocks++, .instructions = instructions };
			longest = bytes > longest ? bytes : longest;
			while (b->ends <= STOPS && strcmp(block_ends[b->ends], end))
				b->ends++;
		} else if (sscanf(line, "edge %d %d %u", &from, &to, &cut) == 3) {
			struct block *b = &block[graph[graphs - 1].first_block + (uint32_t)from];

			edge = grow(edge, (edges + 1) * sizeof *edge);
			if (!b->edges++)
				b->first_edge = edges;
			edge[edges++] = (struct edge){ to < 0 ? NONE : (uint32_t)to, cut != 0 };
		} else {
			fprintf(stderr, "follow: %s", line);
			exit(125);
		}
	}
	if (!in || !blocks) {
		fprintf(stderr, "follow: no graphs in %s\n", path);
		exit(125);
	}
	fclose(in);
	sorted = grow(NULL, blocks * sizeof *sorted);
	memcpy(sorted, block, blocks * sizeof *sorted);
	qsort(sorted, blocks, sizeof *sorted, by_place);
}

/* How well a block suits an instruction at this address, for a path in this graph; 0: not at all. */
static unsigned fitness(const struct block *b, uint32_t module, uint64_t address, uint32_t in)
{
	if (b->module != module || address < b->start || address >= b->end)
		return 0;
	return 1 + (address == b->start && !b->number) + 2 * (address == b->start) + 4 * (b->graph == in);
}

/*
 * The block around an address, or NONE. Graphs may overlap, where one begins in the middle of another's block: a path
 * stays in its own, and otherwise begins where a block does, best of all where a graph does.
 */
static uint32_t block_at(uint32_t module, uint64_t address, uint32_t in)
{
	uint32_t low = 0, high = blocks, best = NONE;
	unsigned most = 0;

	while (low < high) {
		uint32_t mid = (low + high) / 2;
		const struct block *b = &sorted[mid];

		if (b->module < module || (b->module == module && b->start <= address))
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- && sorted[low].module == module && sorted[low].start + longest > address) {
		unsigned fits = fitness(&sorted[low], module, address, in);

		if (fits > most) {
			most = fits;
			best = graph[sorted[low].graph].first_block + sorted[low].number;
		}
	}
	return best;
}

/* The edge from a block to another of its graph, by number; NULL: none. */
static const struct edge *edge_to(const struct block *b, uint32_t to)
{
	for (uint32_t i = 0; i < b->edges; i++)
		if (edge[b->first_edge + i].to == to)
			return &edge[b->first_edge + i];
	return NULL;
}

/* ---- paths ---- */

static uint32_t number_of(const struct thread *t)
{
	return (uint32_t)(t - thread);
}

/* Counts the path of a frame, which is over. */
static void end_path(struct thread *t, struct frame *f, bool stopped, uint32_t to)
{
	if (f->block == NONE)
		return;
	uint32_t key[6 + f->length];

	key[0] = PATH;
	key[1] = number_of(t);
	key[2] = block[f->block].graph;
	key[3] = stopped ? block[f->block].number : NONE;
	key[4] = stopped ? f->executed : 0;
	key[5] = stopped ? NONE : to;
	memcpy(key + 6, f->path, f->length * sizeof *f->path);
	add(key, 6 + f->length, 1);
	f->block = NONE;
	f->length = 0;
}

static void go_to(struct frame *f, uint32_t to)
{
	if (f->length == f->capacity) {
		f->capacity = f->capacity ? 2 * f->capacity : 16;
		f->path = grow(f->path, f->capacity * sizeof *f->path);
	}
	f->path[f->length++] = block[to].number;
	f->block = to;
	f->executed = 0;
	f->inside = false;
}

static void begin_path(struct frame *f, uint32_t at, uint64_t address)
{
	f->length = 0;
	go_to(f, at);
	f->inside = address != block[at].start;
	if (f->inside)
		odd(BEGINS_INSIDE, at, address);
	else if (!block[at].number)
		graph[block[at].graph].calls++;
}

static struct frame *push(struct thread *t, uint64_t sp, bool handler)
{
	if (t->depth == t->capacity) {
		uint32_t capacity = t->capacity ? 2 * t->capacity : 64;

		t->frame = grow(t->frame, capacity * sizeof *t->frame);
		memset(t->frame + t->capacity, 0, (capacity - t->capacity) * sizeof *t->frame);
		t->capacity = capacity;
	}
	struct frame *f = &t->frame[t->depth++];

	f->sp = sp;
	f->handler = handler;
	f->inside = f->dark = false;
	f->block = NONE;
	f->length = 0;
	return f;
}

/* The activation is over: by its return, if that was its last instruction; otherwise it was left. */
static void pop(struct thread *t)
{
	struct frame *f = &t->frame[--t->depth];
	bool returned = f->block != NONE && block[f->block].ends == RETURNS && f->executed == block[f->block].instructions;

	end_path(t, f, !returned, NONE);
}

/* Goes on in a frame at an address of a block, by an edge if there is one; false: there is none. */
static bool go_on(struct thread *t, struct frame *f, uint32_t at, uint64_t address)
{
	const struct block *from = &block[f->block];

	if (f->executed < from->instructions)
		return at == f->block && address >= f->last;
	if (block[at].graph != from->graph || address != block[at].start)
		return false;
	const struct edge *e = edge_to(from, block[at].number);

	if (!e)
		return false;
	if (e->cut) {
		end_path(t, f, false, block[at].number);
		f->length = 0;
	}
	go_to(f, at);
	return true;
}

/* The stack is what it was before some frames: goes on in the topmost that is left. */
static void come_back(struct thread *t, uint32_t at, uint64_t address, uint64_t sp)
{
	while (t->depth && t->frame[t->depth - 1].sp < sp)
		pop(t);
	struct frame *f = t->depth && !t->frame[t->depth - 1].dark ? &t->frame[t->depth - 1] : push(t, sp, false);

	if (f->block != NONE && go_on(t, f, at, address))
		return;
	if (f->block != NONE) {
		odd(COMES_BACK_ELSEWHERE, f->block, address);
		end_path(t, f, true, NONE);
	}
	begin_path(f, at, address);
}

static bool is_call(const struct block *b)
{
	return b->ends == CALLS || b->ends == STOPS;
}

/* An instruction that does not follow the one before it within a block. */
static void enter(struct thread *t, uint32_t at, uint64_t address, uint64_t sp)
{
	struct frame *f = t->depth ? &t->frame[t->depth - 1] : NULL;

	/* How many of a block's instructions come before the one where it was begun is not known: it ends where it is left. */
	if (f && f->block != NONE && f->inside && !t->signal && !t->returning && f->executed) {
		f->executed = block[f->block].instructions;
	}
	if (t->signal || !f) {
		begin_path(push(t, sp, t->signal), at, address);
	} else if (f->dark && !t->returning) {
		come_back(t, at, address, sp);
	} else if (t->returning) {
		while (t->depth && !t->frame[t->depth - 1].handler)
			pop(t);
		if (t->depth)
			pop(t);
		come_back(t, at, address, sp);
	} else if (f->block == NONE) {
		begin_path(f, at, address);
	} else if (f->executed < block[f->block].instructions) {
		if (!go_on(t, f, at, address)) {
			odd(LEAVES_EARLY, f->block, address);
			come_back(t, at, address, sp);
		}
	} else if (is_call(&block[f->block]) && sp == t->last_sp - 8) {
		begin_path(push(t, sp, false), at, address);
	} else if (block[f->block].ends == RETURNS) {
		end_path(t, f, false, NONE);
		if (f->handler) {            /* to the code that ends a handler */
			begin_path(f, at, address);
			f->sp = sp;
		} else {
			t->depth--;
			come_back(t, at, address, sp);
		}
	} else if (!go_on(t, f, at, address)) {
		bool gone = sp > f->sp;

		if (!edge_to(&block[f->block], NONE))
			odd(NO_EDGE, f->block, address);
		end_path(t, f, false, NONE);
		if (gone) {
			t->depth--;
			come_back(t, at, address, sp);
		} else {
			begin_path(f, at, address);
		}
	}
}

/*
 * Code in no graph right behind a call or a jump to another function, of whose block something is left: the stub of the
 * linkage table, whose instructions are counted with that block.
 */
static bool is_stub(const struct thread *t, const struct frame *f)
{
	const struct block *b = f && f->block != NONE ? &block[f->block] : NULL;

	return b && !t->signal && !t->returning && !t->left && f->executed < b->instructions &&
	       (b->ends == CALLS || b->ends == STOPS || b->ends == TAIL_CALLS);
}

static void take(struct thread *t, const struct step *s)
{
	uint32_t module = (uint32_t)(s->place >> STEP_MODULE_SHIFT) & STEP_MODULE_MASK;
	uint64_t address = s->place & STEP_ADDRESS_MASK;
	struct frame *f = t->depth ? &t->frame[t->depth - 1] : NULL;
	bool quiet = f && f->block != NONE && !t->signal && !t->returning && !t->left;
	struct block *b = quiet ? &block[f->block] : NULL;

	if (quiet && s->place & STEP_REPEATS && address == f->last && f->executed && module == b->module) {
		b->repeats++;
		graph[b->graph].steps++;
		return;
	}
	if (!quiet || module != b->module || address <= f->last || address >= b->end || f->executed == b->instructions) {
		uint32_t at = block_at(module, address, f && f->block != NONE ? block[f->block].graph : NONE);

		if (at == NONE && is_stub(t, f)) {
			f->executed++;
			graph[block[f->block].graph].steps++;
			return;
		}
		if (at == NONE) {
			uint32_t key[] = { BARE, module, (uint32_t)(address >> 32), (uint32_t)address };

			add(key, 4, 1);
			if (!t->left && f && f->block != NONE && is_call(&block[f->block]) && s->sp == t->last_sp - 8)
				push(t, s->sp, false)->dark = true;
			t->left = true;
			return;
		}
		enter(t, at, address, s->sp);
	}
	f = &t->frame[t->depth - 1];
	t->signal = t->returning = t->left = false;
	t->last_sp = s->sp;
	f->last = address;
	f->executed++;
	graph[block[f->block].graph].steps++;
}

/* An instruction that ends since its count is at zero has looked at the count once more than it has repeated itself. */
static void look_once_more(struct thread *t)
{
	struct frame *f = t->depth ? &t->frame[t->depth - 1] : NULL;

	if (!f || f->block == NONE || t->left)
		return;
	block[f->block].repeats++;
	graph[block[f->block].graph].steps++;
}

static void end_thread(struct thread *t)
{
	while (t->depth)
		pop(t);
}

/* ---- output ---- */

static void print_count(const struct count *c)
{
	const uint32_t *k = c->key;

	switch (k[0]) {
	case PATH:
		printf("path %u %u %lu %d %u %d", k[1], graph[k[2]].number, c->count, (int)k[3], k[4], (int)k[5]);
		for (uint32_t i = 6; i < c->length; i++)
			printf(" %u", k[i]);
		putchar('\n');
		break;
	case BARE:
		printf("bare %u 0x%lx %lu\n", k[1], (unsigned long)k[2] << 32 | k[3], c->count);
		break;
	default:
		printf("odd %s|%d|0x%lx|%lu\n", oddities[k[1]], (int)k[2], (unsigned long)k[3] << 32 | k[4], c->count);
		break;
	}
}

static void print_all(void)
{
	for (uint32_t i = 0; i < TABLE_SIZE; i++)
		for (const struct count *c = table[i]; c; c = c->next)
			print_count(c);
	for (uint32_t i = 0; i < blocks; i++)
		if (block[i].repeats)
			printf("repeats %u %u %lu\n", graph[block[i].graph].number, block[i].number, block[i].repeats);
	for (uint32_t i = 0; i < graphs; i++) {
		printf("steps %u %lu\n", graph[i].number, graph[i].steps);
		printf("calls %u %lu\n", graph[i].number, graph[i].calls);
	}
}

int main(int argc, char **argv)
{
	FILE *in = argc > 2 ? fopen(argv[1], "rb") : NULL;
	long wanted = argc > 3 ? atol(argv[3]) : 0, program = 0;
	struct thread *t = thread;
	struct step s;

	if (!in) {
		fputs("usage: follow TRACE GRAPHS [PROGRAM]\n", stderr);
		return 125;
	}
	read_graphs(argv[2]);
	while (fread(&s, sizeof s, 1, in) == 1) {
		if (!(s.place & STEP_EVENT)) {
			if (program == wanted)
				take(t, &s);
			continue;
		}
		switch (s.place & 0xff) {
		case STEP_THREAD:
			t = &thread[s.sp % 256];
			break;
		case STEP_SIGNAL:
			t->signal = true;
			break;
		case STEP_SIGNAL_RETURN:
			t->returning = true;
			break;
		case STEP_COUNTED_OUT:
			if (program == wanted)
				look_once_more(t);
			break;
		case STEP_EXEC:
			program++;
			/* fall through */
		default:
			end_thread(t);
			break;
		}
	}
	fclose(in);
	for (unsigned i = 0; i < 256; i++)
		end_thread(&thread[i]);
	print_all();
	return 0;
}
