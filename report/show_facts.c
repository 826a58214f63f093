/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics.h"

#define WIDE_SPREAD 1.5          /* worst over best cost of one size that is worth a word */

/* ---- numbers ---- */

static void add_up(struct slope_show *s, const struct slope_profile_row *row, size_t rows)
{
	uint32_t unit = s->o.unit;

	for (size_t i = 0; i < rows; i++) {
		s->calls += row[i].calls;
		s->total += row[i].total[unit];
		s->self += row[i].self[unit];
		s->rms += row[i].rms;
		s->trms += row[i].trms;
		s->thread_input += row[i].thread_input;
		s->external += row[i].external;
	}
	s->program = slope_program_cost(s->p, unit, NULL);
}

static void measure_scatter(struct slope_show *s)
{
	double sum = 0, calls = 0, widest = WIDE_SPREAD;

	for (size_t i = 0; i < s->curve.count; i++) {
		const struct slope_curve_point *point = &s->curve.point[i];
		double mean = point->cost[SLOPE_COST_MEAN], spread;

		if (point->calls < 2 || mean <= 0)
			continue;
		sum += point->variance / (mean * mean) * (point->calls - 1);
		calls += point->calls - 1;
		spread = point->cost[SLOPE_COST_MAX] / fmax(point->cost[SLOPE_COST_MIN], 1);
		if (spread > widest) {
			widest = spread;
			s->widest = point;
		}
	}
	s->scatter = calls > 0 ? sqrt(sum / calls) : NAN;
}

static void make_guesses(struct slope_show *s)
{
	struct slope_order standard[SLOPE_GUESSES_STANDARD];
	const struct slope_order *order = s->o.guess;
	size_t count = s->o.guesses < SLOPE_SHOW_GUESSES ? s->o.guesses : SLOPE_SHOW_GUESSES;

	if (!order) {
		count = slope_guess_standard(&s->growth[SLOPE_COST_MEAN], standard);
		order = standard;
	}
	for (s->guesses = 0; s->guesses < count; s->guesses++)
		slope_guess_of(&s->guess[s->guesses], &s->curve, SLOPE_COST_MEAN, order[s->guesses]);
}

static void analyse(struct slope_show *s)
{
	const struct slope_growth *mean = &s->growth[SLOPE_COST_MEAN];

	for (enum slope_statistic of = 0; of < SLOPE_STATISTICS; of++)
		slope_growth_of(&s->growth[of], &s->curve, of, true);
	measure_scatter(s);
	make_guesses(s);
	s->has_below = slope_guess_below(mean, &s->below);
	s->has_above = slope_guess_above(mean, &s->above);
}

/* ---- threads ---- */

static int by_thread_cost(const void *a, const void *b)
{
	const struct slope_show_thread *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static bool split_threads(struct slope_show *s, const struct slope_profile_row *row, size_t rows)
{
	struct slope_curve curve = slope_curve_none();
	bool ok = true;

	s->thread = calloc(rows + 1, sizeof(*s->thread));
	if (!s->thread)
		return false;
	for (size_t i = 0; ok && i < rows; i++) {
		struct slope_show_thread *t = &s->thread[s->threads++];

		*t = (struct slope_show_thread){
			.thread = row[i].thread, .calls = row[i].calls, .total = row[i].total[s->o.unit],
			.self = row[i].self[s->o.unit], .growth = s->growth[SLOPE_COST_MEAN],
		};
		if (rows == 1)
			break;
		ok = slope_curve_load(&curve, s->p, s->o.function, row[i].thread, s->o.metric, s->o.unit);
		if (ok)
			slope_growth_of(&t->growth, &curve, SLOPE_COST_MEAN, false);
	}
	qsort(s->thread, s->threads, sizeof(*s->thread), by_thread_cost);
	slope_curve_fini(&curve);
	return ok;
}

/* ---- callers and callees ---- */

static int by_function(const void *a, const void *b)
{
	const struct slope_show_neighbour *x = a, *y = b;

	return (x->function > y->function) - (x->function < y->function);
}

static int by_cost(const void *a, const void *b)
{
	const struct slope_show_neighbour *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? 1 : -1;
	return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : by_function(a, b);
}

/* Edges of several threads become one. */
static size_t unite(struct slope_show_neighbour *list, size_t count)
{
	size_t kept = 0;

	qsort(list, count, sizeof(*list), by_function);
	for (size_t i = 0; i < count; i++) {
		if (kept && list[kept - 1].function == list[i].function) {
			list[kept - 1].calls += list[i].calls;
			list[kept - 1].cost += list[i].cost;
		} else {
			list[kept++] = list[i];
		}
	}
	qsort(list, kept, sizeof(*list), by_cost);
	return kept;
}

static bool find_neighbours(struct slope_show *s)
{
	const struct slope_profile *p = s->p;
	size_t callers = 0, callees = 0;
	uint32_t unit = s->o.unit;

	for (size_t i = 0; i < p->edge_count; i++) {
		callers += p->edge[i].callee == s->o.function;
		callees += p->edge[i].caller == s->o.function;
	}
	s->caller = calloc(callers + 1, sizeof(*s->caller));
	s->callee = calloc(callees + 1, sizeof(*s->callee));
	if (!s->caller || !s->callee)
		return false;
	for (size_t i = 0; i < p->edge_count; i++) {
		const struct slope_profile_edge *e = &p->edge[i];

		if (e->callee == s->o.function)
			s->caller[s->callers++] = (struct slope_show_neighbour){ e->caller, e->calls, e->cost[unit] };
		if (e->caller == s->o.function)
			s->callee[s->callees++] = (struct slope_show_neighbour){ e->callee, e->calls, e->cost[unit] };
	}
	s->callers = unite(s->caller, s->callers);
	s->callees = unite(s->callee, s->callees);
	return true;
}

/* ---- all of it ---- */

bool slope_show_init(struct slope_show *s, const struct slope_profile *p, const struct slope_show_options *o)
{
	size_t rows;
	const struct slope_profile_row *row = slope_curve_rows(p, o->function, &rows);

	memset(s, 0, sizeof(*s));
	s->p = p;
	s->o = *o;
	s->f = &p->function[o->function];
	s->curve = slope_curve_none();
	add_up(s, row, rows);
	bool ok = slope_curve_load(&s->curve, p, o->function, SLOPE_CURVE_ALL_THREADS, o->metric, o->unit);

	if (ok)
		analyse(s);
	ok = ok && (!p->variant_count || slope_contrast_init(&s->contrast, p, o->function, 0, o->metric, o->unit, true));
	ok = ok && split_threads(s, row, rows) && find_neighbours(s) && slope_listing_init(&s->listing, p, s->f);
	if (!ok)
		slope_show_fini(s);
	return ok;
}

void slope_show_fini(struct slope_show *s)
{
	slope_curve_fini(&s->curve);
	slope_contrast_fini(&s->contrast);
	free(s->thread);
	free(s->caller);
	free(s->callee);
	slope_listing_fini(&s->listing);
	memset(s, 0, sizeof(*s));
}

struct slope_axis slope_show_x(const struct slope_show *s)
{
	const struct slope_curve_point *point = s->curve.point;
	size_t last = s->curve.count - 1;

	return slope_axis_of(point[0].n, point[0].n > 0 ? point[0].n : last ? point[1].n : 0, point[last].n,
			     s->o.axes, false);
}

struct slope_axis slope_show_y(const struct slope_show *s)
{
	double least = INFINITY, positive = INFINITY, most = 0;

	for (size_t i = 0; i < s->curve.count; i++) {
		const double *cost = s->curve.point[i].cost;

		for (enum slope_statistic of = 0; of < SLOPE_STATISTICS; of++) {
			least = fmin(least, cost[of]);
			most = fmax(most, cost[of]);
			positive = cost[of] > 0 ? fmin(positive, cost[of]) : positive;
		}
	}
	return slope_axis_of(least, isfinite(positive) ? positive : 0, most, s->o.axes, true);
}

double slope_show_reference(const struct slope_show *s, struct slope_order order, double n)
{
	const struct slope_growth *g = &s->growth[SLOPE_COST_MEAN];
	double middle = sqrt(fmax(g->from, 1) * fmax(g->to, 1));

	if (order.base)              /* b^n alone is soon more than a number can hold */
		return slope_model_at(&g->model, middle) * pow(order.base, n - middle);
	return slope_model_at(&g->model, middle) / slope_order_at(order, middle) * slope_order_at(order, n);
}

char *slope_show_growth(const struct slope_growth *g, char text[SLOPE_SHOW_TEXT])
{
	char growth[SLOPE_GROWTH_TEXT], exponent[64] = "", range[SLOPE_INTERVAL_TEXT];

	if (g->verdict == SLOPE_VERDICT_INCONCLUSIVE) {
		snprintf(text, SLOPE_SHOW_TEXT, "inconclusive: %s", slope_reason_text(g->reason));
		return text;
	}
	if (isfinite(g->exponent))
		snprintf(exponent, sizeof(exponent), ", exponent %.2f (%s)", g->exponent + 0.0,
			 slope_growth_interval(g, range));
	snprintf(text, SLOPE_SHOW_TEXT, "%s%s, grade %c", slope_growth_text(g, growth), exponent, g->grade);
	return text;
}
