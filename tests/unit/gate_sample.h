/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Profiles made by hand for the tests of rules and comparisons: functions with
 * a law, sizes, calls and noise, as many as a test wants. Random numbers are
 * the same in every run.
 */
#ifndef SLOPE_TESTS_GATE_SAMPLE_H
#define SLOPE_TESTS_GATE_SAMPLE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"
#include "tests/unit/failing.h"

struct law {
	double constant, factor, power;
	unsigned logs;
};

struct made {                    /* how one function is to be made */
	const char *name;
	struct law law;
	unsigned sizes;              /* about so many different ones ... */
	double from, to;             /* ... spread on a log scale */
	unsigned calls;              /* of each size */
	double noise;                /* relative, of a single call */
};

static inline uint64_t gate_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static inline double gate_uniform(uint64_t *state)
{
	return ((double)(gate_random(state) >> 11) + 0.5) * 0x1p-53;
}

static inline double gate_normal(uint64_t *state)
{
	return sqrt(-2 * log(gate_uniform(state))) * cos(6.283185307179586 * gate_uniform(state));
}

static inline double law_at(struct law law, double n)
{
	double value = pow(n, law.power);

	for (unsigned i = 0; i < law.logs; i++)
		value *= log2(n + 1);
	return law.constant + law.factor * value;
}

static inline char *gate_text(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	return copy;
}

/* An empty profile of one unit with its thread and module; slope_profile_free frees it. */
static inline struct slope_profile *gate_profile(unsigned functions)
{
	struct slope_profile *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->source = gate_text("replay");
	p->program = calloc(2, sizeof(*p->program));
	p->program[0] = gate_text("./made");
	p->runs = 1;
	p->cell_bytes = 4;
	p->units = 1;
	p->unit_name[0] = gate_text("ir");
	p->metrics = 1u << SLOPE_METRIC_TRMS;
	p->complete = p->symbolized = true;
	p->module = calloc(2, sizeof(*p->module));
	p->module_count = 2;
	p->module[0].path = gate_text("");
	p->module[1].path = gate_text("/home/ada/made");
	p->thread = calloc(1, sizeof(*p->thread));
	p->thread_count = 1;
	p->function = calloc(functions + 1, sizeof(*p->function));
	p->row = calloc(functions + 1, sizeof(*p->row));
	p->function_count = p->row_count = 1;
	p->function[0].name = gate_text("(thread)");
	return p;
}

static inline void gate_calls(struct slope_point *point, const struct made *m, double n, double height, uint64_t *state)
{
	point->n = (uint64_t)n;
	point->calls = m->calls;
	point->cost[0].min = UINT64_MAX;
	for (unsigned i = 0; i < m->calls; i++) {
		double wave = height * sin(3 * log((double)point->n));
		double cost = law_at(m->law, (double)point->n) * exp(wave + m->noise * gate_normal(state));

		slope_stat_add(&point->cost[0], (uint64_t)(cost + 0.5));
	}
}

/*
 * Adds a function; sizes vary a little with the state, as those of two runs do.
 * Its position. `height`: of waves on the curve, which no law describes.
 */
static inline uint32_t gate_add_waves(struct slope_profile *p, const struct made *m, double height, uint64_t *state)
{
	uint32_t at = (uint32_t)p->function_count++;
	struct slope_profile_function *f = &p->function[at];
	struct slope_profile_row *row = &p->row[p->row_count++];
	struct slope_profile_points *points = &row->points[SLOPE_METRIC_TRMS];
	uint32_t bytes = slope_point_bytes(1);
	double last = -1;

	f->module = 1;
	f->offset = at * 16;
	f->name = gate_text(m->name);
	f->raw_name = gate_text(m->name);
	row->function = at;
	points->bits = SLOPE_POINTS_EXACT;
	points->rows = calloc(m->sizes + 1, bytes);
	for (unsigned i = 0; i < m->sizes; i++) {
		double where = m->sizes > 1 ? (i + 0.8 * gate_uniform(state)) / (m->sizes - 0.2) : 0;
		double n = floor(m->from * pow(m->to / m->from, where));

		if (n <= last)
			continue;
		last = n;
		struct slope_point *point = (struct slope_point *)(points->rows + points->count++ * bytes);

		gate_calls(point, m, n, height, state);
		row->calls += point->calls;
		row->total[0] += point->cost[0].sum;
	}
	row->self[0] = row->total[0];
	p->row[0].total[0] += row->total[0];
	return at;
}

static inline uint32_t gate_add(struct slope_profile *p, const struct made *m, uint64_t *state)
{
	return gate_add_waves(p, m, 0, state);
}

#endif
