/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * random_traces [--events=N] [--seed=S] [--print]
 *
 * Random traces, played into the core and into the oracle until N events have
 * been played (6 million) and all kinds of situations have come up. When the
 * two disagree, the trace is shrunk and printed as a text for slope-replay.
 * --seed plays the one trace of that seed, --print prints it too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/agree/agreement.h"

#define EVENTS_DEFAULT 6000000u
#define THREADS_MAX 24u

/* What a trace is like; drawn from its seed. */
struct shape {
	uint32_t threads, depth, span_cells, access_bytes;
	uint64_t base[3];            /* where its memory lies */
	uint32_t weight[SLOPE_EVENT_KINDS], weights;
	bool costly;                 /* costs that make squares of more than 64 bits */
};

struct maker {
	uint64_t random;
	struct shape shape;
	struct trace trace;
	uint32_t threads, depth[THREADS_MAX + 1];
	uint64_t recent[8];          /* addresses */
};

static uint64_t draw(struct maker *m, uint64_t below)
{
	m->random += UINT64_C(0x9E3779B97F4A7C15);
	uint64_t x = m->random;

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return (x ^ x >> 31) % below;
}

static void draw_weights(struct maker *m)
{
	static const uint32_t usual[SLOPE_EVENT_KINDS] = {
		[SLOPE_EVENT_THREAD] = 3, [SLOPE_EVENT_END] = 1, [SLOPE_EVENT_CALL] = 180, [SLOPE_EVENT_RETURN] = 150,
		[SLOPE_EVENT_UNWIND] = 8, [SLOPE_EVENT_CUT] = 2, [SLOPE_EVENT_READ] = 400, [SLOPE_EVENT_WRITE] = 150,
		[SLOPE_EVENT_KREAD] = 15, [SLOPE_EVENT_KWRITE] = 25, [SLOPE_EVENT_MAPFILE] = 3, [SLOPE_EVENT_FORGET] = 4,
		[SLOPE_EVENT_MOVE] = 4,
		[SLOPE_EVENT_COST] = 150, [SLOPE_EVENT_COLLECT] = 4, [SLOPE_EVENT_RENUMBER] = 1,
	};

	for (int k = 0; k < SLOPE_EVENT_KINDS; k++) {
		m->shape.weight[k] = usual[k] * (uint32_t)(1 + draw(m, 8));
		m->shape.weights += m->shape.weight[k];
	}
}

static void draw_config(struct maker *m)
{
	static const uint32_t limits[] = { 0, 20, 30, 64, 200, 1000 };
	static const uint32_t most[] = { 0, 1, 2, 5, 16, 40 };
	struct slope_config *c = &m->trace.config;

	c->cell_log2 = (uint32_t)draw(m, 7);
	c->units = (uint32_t)(1 + draw(m, 2));
	c->metrics = (uint32_t)(draw(m, 3) ? 3 : 1 + draw(m, 2));
	c->max_points = most[draw(m, 6)];
	c->stamp_limit = limits[draw(m, 6)];
	c->marked = draw(m, 2);
	c->parallel = draw(m, 2);
	m->trace.window_bytes = draw(m, 3) ? 0 : (uint64_t)(1 + draw(m, 4000)) << c->cell_log2;
}

static void draw_shape(struct maker *m)
{
	struct shape *s = &m->shape;
	bool deep = draw(m, 24) == 0;
	uint32_t log2 = m->trace.config.cell_log2;

	s->threads = (uint32_t)(draw(m, 12) ? 1 + draw(m, 8) : THREADS_MAX);
	s->depth = (uint32_t)(deep ? 1500 + draw(m, 3500) : 2 + draw(m, 30));
	s->span_cells = (uint32_t)(1 + draw(m, draw(m, 2) ? 64 : 2000));
	s->access_bytes = (uint32_t)(1 + draw(m, draw(m, 2) ? 16 : 90));
	s->base[0] = draw(m, 64);
	s->base[1] = ((UINT64_C(1) << 12) * (1 + draw(m, 1000)) - draw(m, 60)) << log2;  /* across two leaves */
	s->base[2] = (UINT64_C(1) << SLOPE_ADDRESS_BITS) - (((uint64_t)s->span_cells + 40) << log2) - 8192;
	s->costly = draw(m, 8) == 0;
	draw_weights(m);
	if (deep) {
		uint32_t more = 4 * s->weight[SLOPE_EVENT_RETURN];

		s->weight[SLOPE_EVENT_CALL] += more;
		s->weights += more;
		s->threads = s->threads > 2 ? 2 : s->threads;
	}
	m->trace.functions = (uint32_t)(1 + draw(m, draw(m, 2) ? 6 : 60));
	m->trace.count = deep ? 15000 : 500 + draw(m, 30000);
}

static uint64_t draw_address(struct maker *m)
{
	const struct shape *s = &m->shape;
	uint64_t *slot = &m->recent[draw(m, 8)];

	if (!*slot || draw(m, 3) == 0)
		*slot = s->base[draw(m, 3)] + draw(m, (uint64_t)s->span_cells << m->trace.config.cell_log2);
	return *slot;
}

static void draw_range(struct maker *m, struct slope_event *e)
{
	e->args[0] = draw_address(m);
	e->args[1] = 1 + draw(m, draw(m, 4) ? 8 : m->shape.access_bytes);
	if (e->kind >= SLOPE_EVENT_KREAD && draw(m, 2))
		e->args[1] *= 1 + draw(m, 20);
}

/* What makes no sense (two places that overlap) is skipped when it is played. */
static void draw_move(struct maker *m, struct slope_event *e)
{
	uint64_t cell = UINT64_C(1) << m->trace.config.cell_log2;

	e->args[0] = draw_address(m) & ~(cell - 1);
	e->args[1] = (1 + draw(m, 40)) * cell;
	e->args[2] = draw_address(m) & ~(cell - 1);
}

static void draw_cost(struct maker *m, struct slope_event *e)
{
	for (uint32_t u = 0; u < m->trace.config.units; u++)
		e->args[u] = m->shape.costly && draw(m, 4) == 0 ? draw(m, UINT64_C(1) << 44) : draw(m, 20);
}

static enum slope_event_kind draw_kind(struct maker *m)
{
	uint64_t at = draw(m, m->shape.weights);
	int k = 0;

	while (at >= m->shape.weight[k])
		at -= m->shape.weight[k++];
	return (enum slope_event_kind)k;
}

/* One more event; what makes no sense (a return at the root) is skipped when it is played. */
static struct slope_event draw_event(struct maker *m)
{
	struct slope_event e = { .kind = draw_kind(m), .thread = (uint32_t)(1 + draw(m, m->threads)) };
	uint32_t *depth = &m->depth[e.thread];

	if (*depth >= m->shape.depth && e.kind == SLOPE_EVENT_CALL)
		e.kind = SLOPE_EVENT_RETURN;
	switch (slope_event_shape[e.kind]) {
	case SLOPE_SHAPE_THREAD:
		e.args[0] = e.thread;
		e.thread = m->threads + (m->threads < m->shape.threads);
		m->threads = e.thread;
		break;
	case SLOPE_SHAPE_FUNCTION:
		e.args[0] = 1 + draw(m, m->trace.functions);
		e.args[1] = draw(m, 40) ? 0 : SLOPE_FRAME_BASE;
		++*depth;
		break;
	case SLOPE_SHAPE_COUNT:
		e.args[0] = draw(m, 10) ? 1 : 1 + draw(m, *depth < 10 || !draw(m, 100) ? *depth + 1 : 10);
		*depth -= e.args[0] <= *depth ? (uint32_t)e.args[0] : 0;
		break;
	case SLOPE_SHAPE_RANGE:
		draw_range(m, &e);
		break;
	case SLOPE_SHAPE_MOVE:
		draw_move(m, &e);
		break;
	case SLOPE_SHAPE_COSTS:
		draw_cost(m, &e);
		break;
	case SLOPE_SHAPE_SWITCH:
		e.args[0] = draw(m, 2);
		break;
	case SLOPE_SHAPE_NONE:
		break;
	}
	return e;
}

/* The trace of a seed; the caller frees `event` and `folded`. */
static struct trace make_trace(uint64_t seed)
{
	struct maker m = { .random = seed * UINT64_C(0xD1342543DE82EF95) + 1, .threads = 1 };

	draw_config(&m);
	draw_shape(&m);
	m.trace.folded = calloc(m.trace.functions + 1, sizeof *m.trace.folded);
	m.trace.event = calloc(m.trace.count, sizeof *m.trace.event);
	if (!m.trace.folded || !m.trace.event)
		abort();
	for (uint32_t fn = 1; fn <= m.trace.functions; fn++)
		m.trace.folded[fn] = draw(&m, 6) == 0;
	for (size_t i = 0; i < m.trace.count; i++)
		m.trace.event[i] = draw_event(&m);
	return m.trace;
}

static bool run_seed(uint64_t seed, bool print, struct coverage *c)
{
	struct trace trace = make_trace(seed);
	char difference[400];
	bool good = trace_agrees(&trace, difference, sizeof difference, c);

	if (good && print)
		trace_print(stdout, &trace);
	if (!good) {
		fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, difference);
		trace_shrink(&trace);
		trace_agrees(&trace, difference, sizeof difference, NULL);
		fprintf(stderr, "shrunk to %zu events: %s\n", trace.count, difference);
		trace_print(stderr, &trace);
	}
	free(trace.event);
	free(trace.folded);
	return good;
}

/* A run that has not met a situation has not tested it. */
static bool covered(const struct coverage *c)
{
	printf("%" PRIu64 " events, %" PRIu64 " renumberings, %" PRIu64 " folded tables, %" PRIu64 " thread and %" PRIu64
	       " external reads, %" PRIu64 " sets of sharers, depth %" PRIu64 ", %" PRIu64 " rows of edges, %" PRIu64
	       " with several calls\n", c->events, c->renumberings, c->folded_tables, c->thread_input, c->external_input,
	       c->sets, c->deepest, c->edge_bins, c->edge_repeats);
	if (c->renumberings >= 500 && c->folded_tables >= 100 && c->thread_input >= 10000 && c->external_input >= 10000 &&
	    c->sets >= 1000 && c->deepest >= 1000 && c->edge_bins >= 100000 && c->edge_repeats >= 10000)
		return true;
	fputs("random_traces: too few of these for a test\n", stderr);
	return false;
}

int main(int argc, char **argv)
{
	uint64_t events = EVENTS_DEFAULT, only = 0;
	struct coverage c = { 0 };
	bool print = false;

	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--events=", 9))
			events = strtoull(argv[i] + 9, NULL, 10);
		else if (!strncmp(argv[i], "--seed=", 7))
			only = strtoull(argv[i] + 7, NULL, 10);
		else if (!strcmp(argv[i], "--print"))
			print = true;
		else
			return fprintf(stderr, "usage: random_traces [--events=N] [--seed=S] [--print]\n"), 2;
	}
	if (only)
		return run_seed(only, print, &c) ? 0 : 1;
	for (uint64_t seed = 1; c.events < events; seed++)
		if (!run_seed(seed, false, &c))
			return 1;
	return events < EVENTS_DEFAULT || covered(&c) ? 0 : 1;
}
