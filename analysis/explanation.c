/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/explanation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sizebins.h"

#define RANGE_LEAST SLOPE_SIZEBINS_RANGE
#define GROWS 1.3                /* the largest sizes cost so many times the smallest, to speak of growth */
#define HANDED_ON 0.75           /* of the growth in callees, called as often as ever: the function itself is not what grows */
#define RISES 0.25               /* an exponent that is no accident */
#define MULTIPLIED 0.4           /* so much steeper than its body: recursion is what multiplies it */
#define EXCESS 0.01              /* of its cost that the callees may cost more than all of it: rounding */

/* What they called, or did themselves. */
struct tally {
	uint32_t callee;
	double calls[SLOPE_SIZEBINS_MAX], cost[SLOPE_SIZEBINS_MAX];
	double all_cost, share;
};

struct scratch {
	struct slope_sizebins sizes;
	double deeper[SLOPE_SIZEBINS_MAX];  /* part of the cost in activations that these called themselves */
	double excess;               /* of the callees' costs over those of the function, in bins where they are more */
	struct tally *tally;         /* the first is the function's own code */
	size_t count;
	struct slope_curve curve;
};

/* ---- gathering ---- */

static const struct slope_profile_edge *first_edge(const struct slope_profile *p, uint32_t caller)
{
	size_t low = 0, high = p->edge_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->edge[middle].caller < caller)
			low = middle + 1;
		else
			high = middle;
	}
	return p->edge + low;
}

static void add_edge(struct scratch *s, const struct slope_profile_edge *e, struct tally *to, uint32_t function, uint32_t unit)
{
	for (size_t i = 0; i < e->sizes.count; i++) {
		const struct slope_profile_size *row = &e->sizes.row[i];
		uint64_t edge = slope_points_edge(row->n, s->sizes.bits);
		size_t at = slope_sizebins_find(&s->sizes, edge);

		if (at == s->sizes.count || s->sizes.edge[at] != edge)
			continue;        /* the points of this size are lost */
		if (e->callee == function)
			s->deeper[at] += (double)row->cost[unit];
		to->calls[at] += (double)row->calls;
		to->cost[at] += (double)row->cost[unit];
		to->all_cost += (double)row->cost[unit];
	}
}

/* The tallies: own code, then every callee; one that is the function itself stands last. False: no memory. */
static bool gather_tallies(struct scratch *s, const struct slope_profile *p, uint32_t function, uint32_t unit)
{
	const struct slope_profile_edge *first = first_edge(p, function), *end = p->edge + p->edge_count;
	size_t callees = 0;

	for (const struct slope_profile_edge *e = first; e < end && e->caller == function; e++)
		callees += e == first || e->callee != e[-1].callee;
	free(s->tally);
	s->tally = calloc(callees + 1, sizeof(*s->tally));
	if (!s->tally)
		return false;
	s->tally[0].callee = SLOPE_FN_NONE;
	s->count = 1;
	s->excess = 0;
	for (const struct slope_profile_edge *e = first; e < end && e->caller == function; e++) {
		if (e == first || e->callee != e[-1].callee)
			s->tally[s->count++].callee = e->callee;
		add_edge(s, e, &s->tally[s->count - 1], function, unit);
	}
	for (size_t i = 0; i < s->sizes.count; i++) {
		double rest = s->sizes.cost[i];

		for (size_t k = 1; k < s->count; k++)
			rest -= s->tally[k].cost[i];
		s->excess += fmax(-rest, 0);
		s->tally[0].cost[i] = fmax(rest, 0);
		s->tally[0].all_cost += s->tally[0].cost[i];
	}
	return true;
}

/* ---- parts ---- */

static void measure_part(struct scratch *s, const struct tally *t, struct slope_part *part, double all)
{
	const struct slope_sizebins *sizes = &s->sizes;

	part->callee = t->callee;
	part->share = t->share;
	part->cost_share = all > 0 ? t->all_cost / all : 0;
	slope_sizebins_fit(&s->sizes, t->cost, sizes->activations, &s->curve, &part->cost);
	part->cost_rise = slope_sizebins_rise(sizes, t->cost, sizes->activations);
	part->calls_rise = part->each_rise = NAN;
	if (t->callee == SLOPE_FN_NONE)
		return;
	slope_sizebins_fit(&s->sizes, t->calls, sizes->activations, &s->curve, &part->calls);
	slope_sizebins_fit(&s->sizes, t->cost, t->calls, &s->curve, &part->each);
	part->calls_rise = slope_sizebins_rise(sizes, t->calls, sizes->activations);
	part->each_rise = slope_sizebins_rise(sizes, t->cost, t->calls);
	part->calls_top = slope_sizebins_end(sizes, t->calls, sizes->activations, true);
	part->each_top = slope_sizebins_end(sizes, t->cost, t->calls, true);
}

/* ---- one level ---- */

static double rise_of_ends(const struct slope_sizebins *s, const double *value)
{
	return slope_sizebins_end(s, value, s->activations, true) - slope_sizebins_end(s, value, s->activations, false);
}

static void set_shares(struct scratch *s, struct slope_level *level)
{
	const struct slope_sizebins *sizes = &s->sizes;
	double body[SLOPE_SIZEBINS_MAX] = { 0 }, all = 0;

	for (size_t i = 0; i < sizes->count; i++) {
		body[i] = fmax(sizes->cost[i] - s->deeper[i], 0);
		all += body[i];
	}
	double low = slope_sizebins_end(sizes, body, sizes->activations, false);
	double high = slope_sizebins_end(sizes, body, sizes->activations, true);
	double growth = high - low;

	level->body_rise = slope_sizebins_rise(sizes, body, sizes->activations);
	level->by_growth = sizes->count >= 4 && sizes->n[sizes->count - 1] >= RANGE_LEAST * fmax(sizes->n[0], 1) &&
			   growth > 0 && high >= GROWS * low;
	for (size_t k = 0; k < s->count; k++)
		s->tally[k].share = level->by_growth ? fmax(rise_of_ends(sizes, s->tally[k].cost) / growth, 0) :
				    all > 0 ? s->tally[k].all_cost / all : 0;
}

static int by_share(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return (x->callee > y->callee) - (x->callee < y->callee);
}

static double sum(const double *value, size_t count)
{
	double all = 0;

	for (size_t i = 0; i < count; i++)
		all += value[i];
	return all;
}

/* A callee that is the function itself goes to the level; the others are its parts. */
static void take_out_recursion(struct scratch *s, struct slope_level *level)
{
	for (size_t k = 1; k < s->count; k++) {
		if (s->tally[k].callee != level->function)
			continue;
		level->recursive = true;
		level->own_calls = sum(s->tally[k].calls, s->sizes.count) / sum(s->sizes.activations, s->sizes.count);
		s->tally[k] = s->tally[--s->count];
		return;
	}
}

/* The tallies of the curve's function, the largest share first; none where it has no points. */
static bool gather(struct scratch *s, const struct slope_profile *p, struct slope_level *level, uint32_t unit)
{
	s->count = 0;
	slope_sizebins_init(&s->sizes, &s->curve);
	memset(s->deeper, 0, sizeof(s->deeper));
	if (!s->sizes.count)
		return true;
	if (!gather_tallies(s, p, level->function, unit))
		return false;
	level->contradicts = s->excess > EXCESS * sum(s->sizes.cost, s->sizes.count);
	take_out_recursion(s, level);
	set_shares(s, level);
	qsort(s->tally, s->count, sizeof(*s->tally), by_share);
	return true;
}

static bool explain_level(struct scratch *s, const struct slope_profile *p, struct slope_level *level, uint32_t metric,
			  uint32_t unit)
{
	if (!slope_curve_load(&s->curve, p, level->function, SLOPE_CURVE_ALL_THREADS, metric, unit))
		return false;
	slope_growth_of(&level->growth, &s->curve, SLOPE_COST_MEAN, true);
	if (!gather(s, p, level, unit))
		return false;
	double all = 0;

	for (size_t k = 0; k < s->count; k++)
		all += s->tally[k].all_cost;
	for (size_t k = 0; k < s->count; k++) {
		if (level->parts == SLOPE_PARTS_KEPT || (k && s->tally[k].share <= 0))
			level->rest += s->tally[k].share;
		else
			measure_part(s, &s->tally[k], &level->part[level->parts++], all);
	}
	return true;
}

/* ---- from level to level ---- */

static double exponent_of(const struct slope_growth *g, double rise)
{
	if (g->verdict == SLOPE_VERDICT_EXPONENTIAL)
		return 9;
	if (g->verdict != SLOPE_VERDICT_INCONCLUSIVE)
		return fmax(g->exponent, isnan(rise) ? 0 : rise);
	return isnan(rise) ? 0 : rise;
}

/* Does the callee outgrow its own input? SLOPE_FN_NONE does not. False when memory runs out. */
static bool judge_callee(const struct slope_profile *p, uint32_t callee, uint32_t metric, uint32_t unit,
			 struct slope_curve *curve, bool *steep)
{
	struct slope_growth g;

	*steep = false;
	if (callee == SLOPE_FN_NONE)
		return true;
	if (!slope_curve_load(curve, p, callee, SLOPE_CURVE_ALL_THREADS, metric, unit))
		return false;
	slope_growth_of(&g, curve, SLOPE_COST_MEAN, false);
	*steep = slope_growth_is_steep(&g);
	return true;
}

static bool seen(const struct slope_explanation *e, uint32_t function)
{
	for (size_t i = 0; i < e->levels; i++)
		if (e->level[i].function == function)
			return true;
	return false;
}

/* What the level's largest part says; `down` when the answer lies inside the callee. */
static enum slope_blame judge(const struct slope_level *level, bool callee_steep, bool *down)
{
	const struct slope_part *main = &level->part[0];
	double whole = exponent_of(&level->growth, NAN), body = isnan(level->body_rise) ? whole : level->body_rise;

	*down = false;
	if (!level->parts)
		return SLOPE_BLAME_NOBODY;
	if (level->recursive && whole - body >= MULTIPLIED)
		return SLOPE_BLAME_DEEP;
	if (main->callee == SLOPE_FN_NONE)
		return SLOPE_BLAME_SELF;
	bool often = exponent_of(&main->calls, main->calls_rise) >= RISES;
	bool large = exponent_of(&main->each, main->each_rise) >= RISES;

	*down = !often || callee_steep;
	if (often && large)
		return callee_steep ? SLOPE_BLAME_LARGE : SLOPE_BLAME_BOTH;
	return often ? SLOPE_BLAME_OFTEN : SLOPE_BLAME_LARGE;
}

bool slope_explain(struct slope_explanation *e, const struct slope_profile *p, uint32_t function, uint32_t metric,
		   uint32_t unit)
{
	struct scratch *s = calloc(1, sizeof(*s));
	struct slope_curve other = slope_curve_none();
	bool ok = s != NULL, down = true;

	memset(e, 0, sizeof(*e));
	e->culprit = function;
	e->callee = SLOPE_FN_NONE;
	for (size_t i = 0; i < p->edge_count && !e->known; i++)
		e->known = p->edge[i].sizes.count;
	if (s)
		s->curve = slope_curve_none();
	while (ok && down && e->levels < SLOPE_LEVELS_MAX) {
		struct slope_level *level = &e->level[e->levels];

		level->function = function;
		ok = explain_level(s, p, level, metric, unit);
		e->levels++;
		uint32_t callee = level->parts ? level->part[0].callee : SLOPE_FN_NONE;
		bool steep;

		ok = ok && judge_callee(p, callee, metric, unit, &other, &steep);
		if (!ok)
			break;
		e->culprit = function;
		e->callee = callee;
		e->blame = judge(level, steep, &down);
		down = down && callee != SLOPE_FN_NONE && !seen(e, callee);
		function = callee;
	}
	if (s) {
		free(s->tally);
		slope_curve_fini(&s->curve);
	}
	slope_curve_fini(&other);
	free(s);
	return ok;
}

/* The share of the growth that is in callees which are not called more often for larger inputs. */
static double handed_on(const struct scratch *s)
{
	double share = 0;

	for (size_t k = 0; k < s->count; k++)
		if (s->tally[k].callee != SLOPE_FN_NONE && s->tally[k].share > 0 &&
		    !(slope_sizebins_rise(&s->sizes, s->tally[k].calls, s->sizes.activations) >= RISES))
			share += s->tally[k].share;
	return share;
}

bool slope_explain_hands_on(const struct slope_profile *p, uint32_t function, uint32_t metric, uint32_t unit,
			    uint32_t *callee)
{
	struct scratch *s = calloc(1, sizeof(*s));
	struct slope_level *level = calloc(1, sizeof(*level));
	bool ok = s && level;

	*callee = SLOPE_FN_NONE;
	if (ok) {
		s->curve = slope_curve_none();
		level->function = function;
		ok = slope_curve_load(&s->curve, p, function, SLOPE_CURVE_ALL_THREADS, metric, unit) && gather(s, p, level, unit);
	}
	if (ok && level->by_growth && !level->recursive && handed_on(s) >= HANDED_ON)
		*callee = s->tally[0].callee != SLOPE_FN_NONE ? s->tally[0].callee : s->tally[1].callee;
	if (s) {
		free(s->tally);
		slope_curve_fini(&s->curve);
	}
	free(level);
	free(s);
	return ok;
}
