/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/agree/oracle.h"

#include <stdlib.h>
#include <string.h>

#define KERNEL UINT32_MAX
#define NOBODY 0u

/* A set of cells, by their number in order of first appearance. */
struct set {
	uint64_t *bits;
	size_t words;
};

/* What an activation has called of one function. */
struct called {
	uint32_t fn;
	uint64_t calls, cost[ORACLE_UNITS];
};

struct activation {
	uint32_t fn;
	bool folded;
	struct set accessed, current; /* current: accessed, less what others have written since */
	uint64_t rms, trms, thread, external;
	uint64_t begin[ORACLE_UNITS], own[ORACLE_UNITS];
	struct called *called;
	size_t callees;
};

struct thread {
	struct activation *stack;    /* [0] is the root; entries past depth keep their sets' memory */
	size_t depth, capacity, deepest;
	uint64_t calls, cost[ORACLE_UNITS];
	bool off;
	struct set seen;             /* accessed since the latest write by somebody else */
	struct oracle_row **row;     /* by function */
	size_t rows;
};

struct cell {
	uint64_t number;
	uint32_t writer;
};

struct range {
	uint64_t start, end;
};

struct oracle {
	unsigned cell_bytes, units;
	bool trms;
	struct thread *thread;       /* [id - 1] */
	size_t threads;
	struct cell *cell;
	size_t cells, cell_capacity;
	size_t *slot;                /* hash of a cell's number -> position + 1 */
	size_t slots;
	struct range *file;
	size_t files;
};

static void *resize(void *p, size_t count, size_t bytes)
{
	void *q = realloc(p, (count ? count : 1) * bytes);

	if (!q)
		abort();
	return q;
}

static bool set_has(const struct set *s, size_t i)
{
	return i / 64 < s->words && s->bits[i / 64] >> i % 64 & 1;
}

static void set_add(struct set *s, size_t i)
{
	if (i / 64 >= s->words) {
		size_t words = i / 64 + 8;

		s->bits = resize(s->bits, words, sizeof *s->bits);
		memset(s->bits + s->words, 0, (words - s->words) * sizeof *s->bits);
		s->words = words;
	}
	s->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static void set_remove(struct set *s, size_t i)
{
	if (i / 64 < s->words)
		s->bits[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static void set_clear(struct set *s)
{
	if (s->words)
		memset(s->bits, 0, s->words * sizeof *s->bits);
}

struct oracle *oracle_new(unsigned cell_bytes, unsigned units, bool trms)
{
	struct oracle *o = calloc(1, sizeof *o);

	if (!o)
		abort();
	o->cell_bytes = cell_bytes;
	o->units = units;
	o->trms = trms;
	return o;
}

static void free_row(struct oracle_row *row)
{
	if (!row)
		return;
	for (int m = 0; m < ORACLE_METRICS; m++)
		free(row->points[m].at);
	for (size_t i = 0; i < row->edges; i++)
		free(row->edge[i].sizes.at);
	free(row->edge);
	free(row);
}

void oracle_free(struct oracle *o)
{
	for (size_t t = 0; t < o->threads; t++) {
		struct thread *thread = &o->thread[t];

		for (size_t i = 0; i < thread->capacity; i++) {
			free(thread->stack[i].accessed.bits);
			free(thread->stack[i].current.bits);
		}
		for (size_t i = 0; i < thread->rows; i++)
			free_row(thread->row[i]);
		free(thread->stack);
		free(thread->row);
		free(thread->seen.bits);
	}
	free(o->thread);
	free(o->cell);
	free(o->slot);
	free(o->file);
	free(o);
}

static size_t slot_of(const struct oracle *o, uint64_t number)
{
	size_t i = number * UINT64_C(0x9E3779B97F4A7C15) >> 20 & (o->slots - 1);

	while (o->slot[i] && o->cell[o->slot[i] - 1].number != number)
		i = (i + 1) & (o->slots - 1);
	return i;
}

/* The position of a cell, given on first appearance. */
static size_t cell_of(struct oracle *o, uint64_t number)
{
	if (o->cells * 2 >= o->slots) {
		o->slots = o->slots ? o->slots * 2 : 256;
		free(o->slot);
		o->slot = calloc(o->slots, sizeof *o->slot);
		if (!o->slot)
			abort();
		for (size_t i = 0; i < o->cells; i++)
			o->slot[slot_of(o, o->cell[i].number)] = i + 1;
	}
	size_t s = slot_of(o, number);

	if (!o->slot[s]) {
		if (o->cells == o->cell_capacity) {
			o->cell_capacity = o->cell_capacity ? o->cell_capacity * 2 : 256;
			o->cell = resize(o->cell, o->cell_capacity, sizeof *o->cell);
		}
		o->cell[o->cells] = (struct cell){ .number = number, .writer = NOBODY };
		o->slot[s] = ++o->cells;
	}
	return o->slot[s] - 1;
}

static struct oracle_row *row_of(struct thread *t, uint32_t fn)
{
	if (fn >= t->rows) {
		t->row = resize(t->row, fn + 1, sizeof *t->row);
		while (t->rows <= fn)
			t->row[t->rows++] = NULL;
	}
	if (!t->row[fn] && !(t->row[fn] = calloc(1, sizeof *t->row[fn])))
		abort();
	return t->row[fn];
}

static void push(struct oracle *o, struct thread *t, uint32_t fn, bool folded)
{
	if (t->depth == t->capacity) {
		size_t capacity = t->capacity ? t->capacity * 2 : 8;

		t->stack = resize(t->stack, capacity, sizeof *t->stack);
		memset(t->stack + t->capacity, 0, (capacity - t->capacity) * sizeof *t->stack);
		t->capacity = capacity;
	}
	struct activation *a = &t->stack[t->depth++];
	struct set accessed = a->accessed, current = a->current;

	set_clear(&accessed);
	set_clear(&current);
	*a = (struct activation){ .fn = fn, .folded = folded, .accessed = accessed, .current = current };
	for (unsigned u = 0; u < o->units; u++)
		a->begin[u] = t->cost[u];
	if (!folded)
		row_of(t, fn)->active++;
	t->calls++;
	if (t->depth > t->deepest)
		t->deepest = t->depth;
}

void oracle_thread(struct oracle *o)
{
	o->thread = resize(o->thread, o->threads + 1, sizeof *o->thread);
	o->thread[o->threads] = (struct thread){ 0 };
	push(o, &o->thread[o->threads++], 0, false);
}

void oracle_call(struct oracle *o, uint32_t thread, uint32_t fn, bool folded)
{
	struct thread *t = &o->thread[thread - 1];

	push(o, t, fn, folded || t->off);
}

static struct oracle_point *point_of(struct oracle_points *points, uint64_t n)
{
	size_t lo = 0, hi = points->count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (points->at[mid].n < n)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < points->count && points->at[lo].n == n)
		return &points->at[lo];
	if (points->count == points->capacity) {
		points->capacity = points->capacity ? points->capacity * 2 : 4;
		points->at = resize(points->at, points->capacity, sizeof *points->at);
	}
	memmove(points->at + lo + 1, points->at + lo, (points->count - lo) * sizeof *points->at);
	points->count++;
	points->at[lo] = (struct oracle_point){ .n = n };
	return &points->at[lo];
}

/* One activation with this cost at the point of size n. */
static struct oracle_point *count_at(const struct oracle *o, struct oracle_points *points, uint64_t n, const uint64_t *cost)
{
	struct oracle_point *p = point_of(points, n);

	for (unsigned u = 0; u < o->units; u++) {
		struct oracle_stat *s = &p->cost[u];

		s->min = !p->calls || cost[u] < s->min ? cost[u] : s->min;
		s->max = cost[u] > s->max ? cost[u] : s->max;
		s->sum += cost[u];
		s->squares += (unsigned __int128)cost[u] * cost[u];
	}
	p->calls++;
	return p;
}

static void add_point(const struct oracle *o, struct oracle_points *points, uint64_t n, const struct activation *a,
		      const uint64_t *cost)
{
	struct oracle_point *p = count_at(o, points, n, cost);

	p->rms += a->rms;
	p->thread += a->thread;
	p->external += a->external;
}

static struct oracle_edge *edge_of(struct oracle_row *row, uint32_t caller)
{
	size_t i = 0;

	while (i < row->edges && row->edge[i].caller != caller)
		i++;
	if (i == row->edges) {
		row->edge = resize(row->edge, ++row->edges, sizeof *row->edge);
		row->edge[i] = (struct oracle_edge){ .caller = caller };
	}
	return &row->edge[i];
}

static void add_edge(const struct oracle *o, struct oracle_row *row, uint32_t caller, const uint64_t *cost, bool outermost)
{
	struct oracle_edge *edge = edge_of(row, caller);

	edge->calls++;
	for (unsigned u = 0; outermost && u < o->units; u++)
		edge->cost[u] += cost[u];
}

static void note_call(const struct oracle *o, struct activation *caller, uint32_t fn, const uint64_t *cost)
{
	size_t i = 0;

	while (i < caller->callees && caller->called[i].fn != fn)
		i++;
	if (i == caller->callees) {
		caller->called = resize(caller->called, ++caller->callees, sizeof *caller->called);
		caller->called[i] = (struct called){ .fn = fn };
	}
	caller->called[i].calls++;
	for (unsigned u = 0; u < o->units; u++)
		caller->called[i].cost[u] += cost[u];
}

/* The activation is over, its size is known. */
static void add_sizes(const struct oracle *o, struct thread *t, struct activation *a)
{
	for (size_t i = 0; i < a->callees; i++) {
		struct oracle_edge *edge = edge_of(row_of(t, a->called[i].fn), a->fn);

		count_at(o, &edge->sizes, a->trms, a->called[i].cost)->rms += a->called[i].calls;
	}
	free(a->called);
	a->called = NULL;
	a->callees = 0;
}

static void pop(struct oracle *o, struct thread *t)
{
	struct activation *a = &t->stack[--t->depth];
	size_t below = t->depth;

	if (a->folded)
		return;
	struct oracle_row *row = row_of(t, a->fn);
	uint64_t cost[ORACLE_UNITS];
	bool outermost = --row->active == 0;

	for (unsigned u = 0; u < o->units; u++) {
		cost[u] = t->cost[u] - a->begin[u];
		row->self[u] += a->own[u];
		row->total[u] += outermost ? cost[u] : 0;
	}
	row->calls++;
	row->rms += a->rms;
	row->trms += a->trms;
	row->thread += a->thread;
	row->external += a->external;
	if (o->trms)
		add_point(o, &row->points[ORACLE_TRMS], a->trms, a, cost);
	add_point(o, &row->points[ORACLE_RMS], a->rms, a, cost);
	while (below && t->stack[below - 1].folded)
		below--;
	if (below) {
		add_edge(o, row, t->stack[below - 1].fn, cost, outermost);
		note_call(o, &t->stack[below - 1], a->fn, cost);
	}
	add_sizes(o, t, a);
}

void oracle_return(struct oracle *o, uint32_t thread)
{
	pop(o, &o->thread[thread - 1]);
}

void oracle_end(struct oracle *o, uint32_t thread)
{
	struct thread *t = &o->thread[thread - 1];

	while (t->depth)
		pop(o, t);
}

static bool in_file(const struct oracle *o, uint64_t address)
{
	for (size_t i = 0; i < o->files; i++)
		if (o->file[i].start <= address && address < o->file[i].end)
			return true;
	return false;
}

/* Who has put something new for thread t into the cell: a thread, the kernel, nobody. */
static uint32_t source_of(const struct oracle *o, uint32_t thread, size_t c)
{
	const struct cell *cell = &o->cell[c];

	if (!o->trms || set_has(&o->thread[thread - 1].seen, c) || cell->writer == thread)
		return NOBODY;
	if (cell->writer == NOBODY && in_file(o, cell->number * o->cell_bytes))
		return KERNEL;
	return cell->writer;
}

/* For all pending activations: the cell is accessed; a read may be a first one. */
static void access_cell(struct oracle *o, uint32_t thread, size_t c, bool read)
{
	struct thread *t = &o->thread[thread - 1];
	uint32_t source = read ? source_of(o, thread, c) : NOBODY;

	for (size_t i = 0; i < t->depth; i++) {
		struct activation *a = &t->stack[i];

		a->rms += read && !set_has(&a->accessed, c);
		a->trms += read && !set_has(&a->current, c);
		a->external += source == KERNEL;
		a->thread += source != KERNEL && source != NOBODY;
		set_add(&a->accessed, c);
		set_add(&a->current, c);
	}
	set_add(&t->seen, c);
}

/* Somebody else (not `but`) has written the cell. */
static void outdate(struct oracle *o, uint32_t but, size_t c)
{
	for (uint32_t id = 1; id <= o->threads; id++) {
		struct thread *t = &o->thread[id - 1];

		if (id == but || !o->trms)
			continue;
		set_remove(&t->seen, c);
		for (size_t i = 0; i < t->depth; i++)
			set_remove(&t->stack[i].current, c);
	}
}

void oracle_read(struct oracle *o, uint32_t thread, uint64_t address, uint64_t bytes)
{
	for (uint64_t n = address / o->cell_bytes; bytes && n <= (address + bytes - 1) / o->cell_bytes; n++)
		access_cell(o, thread, cell_of(o, n), true);
}

void oracle_write(struct oracle *o, uint32_t thread, uint64_t address, uint64_t bytes)
{
	for (uint64_t n = address / o->cell_bytes; bytes && n <= (address + bytes - 1) / o->cell_bytes; n++) {
		size_t c = cell_of(o, n);

		access_cell(o, thread, c, false);
		outdate(o, thread, c);
		o->cell[c].writer = thread;
	}
}

void oracle_kernel_write(struct oracle *o, uint64_t address, uint64_t bytes)
{
	for (uint64_t n = address / o->cell_bytes; bytes && n <= (address + bytes - 1) / o->cell_bytes; n++) {
		size_t c = cell_of(o, n);

		outdate(o, NOBODY, c);
		o->cell[c].writer = KERNEL;
	}
}

static void add_file(struct oracle *o, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	o->file = resize(o->file, o->files + 1, sizeof *o->file);
	o->file[o->files++] = (struct range){ start, end };
}

void oracle_map_file(struct oracle *o, uint64_t address, uint64_t bytes)
{
	add_file(o, address, address + bytes);
}

static void unmap_files(struct oracle *o, uint64_t start, uint64_t end)
{
	struct range *old = o->file;
	size_t count = o->files;

	o->file = NULL;
	o->files = 0;
	for (size_t i = 0; i < count; i++) {
		add_file(o, old[i].start, old[i].end < start ? old[i].end : start);
		add_file(o, old[i].start > end ? old[i].start : end, old[i].end);
	}
	free(old);
}

void oracle_forget(struct oracle *o, uint64_t address, uint64_t bytes)
{
	if (!bytes)
		return;
	unmap_files(o, address, address + bytes);
	for (uint64_t n = address / o->cell_bytes; n <= (address + bytes - 1) / o->cell_bytes; n++) {
		size_t c = cell_of(o, n);

		o->cell[c].writer = NOBODY;
		for (size_t t = 0; t < o->threads; t++) {
			set_remove(&o->thread[t].seen, c);
			for (size_t i = 0; i < o->thread[t].depth; i++) {
				set_remove(&o->thread[t].stack[i].accessed, c);
				set_remove(&o->thread[t].stack[i].current, c);
			}
		}
	}
}

static void copy_membership(struct set *s, size_t from, size_t to)
{
	if (set_has(s, from))
		set_add(s, to);
}

void oracle_move(struct oracle *o, uint64_t from, uint64_t bytes, uint64_t to)
{
	oracle_forget(o, to, bytes);
	size_t files = o->files;

	for (size_t i = 0; i < files; i++) {
		uint64_t start = o->file[i].start > from ? o->file[i].start : from;
		uint64_t end = o->file[i].end < from + bytes ? o->file[i].end : from + bytes;

		if (start < end)
			add_file(o, start - from + to, end - from + to);
	}
	for (uint64_t n = 0; n < bytes / o->cell_bytes; n++) {
		size_t c = cell_of(o, from / o->cell_bytes + n), d = cell_of(o, to / o->cell_bytes + n);

		o->cell[d].writer = o->cell[c].writer;
		for (size_t t = 0; t < o->threads; t++) {
			copy_membership(&o->thread[t].seen, c, d);
			for (size_t i = 0; i < o->thread[t].depth; i++) {
				copy_membership(&o->thread[t].stack[i].accessed, c, d);
				copy_membership(&o->thread[t].stack[i].current, c, d);
			}
		}
	}
	oracle_forget(o, from, bytes);
}

/* Costs belong to the topmost activation that is not folded. */
void oracle_cost(struct oracle *o, uint32_t thread, const uint64_t *more)
{
	struct thread *t = &o->thread[thread - 1];
	size_t i = t->depth - 1;

	while (t->stack[i].folded)
		i--;
	for (unsigned u = 0; u < o->units; u++) {
		t->cost[u] += more[u];
		t->stack[i].own[u] += more[u];
	}
}

void oracle_collect(struct oracle *o, uint32_t thread, bool on)
{
	o->thread[thread - 1].off = !on;
}

const struct oracle_row *oracle_row(const struct oracle *o, uint32_t thread, uint32_t fn)
{
	const struct thread *t = &o->thread[thread - 1];

	return fn < t->rows ? t->row[fn] : NULL;
}

uint64_t oracle_calls(const struct oracle *o, uint32_t thread)
{
	return o->thread[thread - 1].calls;
}

uint64_t oracle_depth(const struct oracle *o, uint32_t thread)
{
	return o->thread[thread - 1].deepest;
}
