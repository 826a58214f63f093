/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/explanation.h"
#include "analysis/statistics.h"

#define WORTH_LATER 0.01         /* a share of the cost at larger inputs that hurts */
#define WORTH_NOW 0.01           /* ... or is hot, by the function itself */
#define WORTH_ASKING 0.05        /* with callees: an unclear function is worth a line */
#define SMALL 0.003              /* a share now, below which a forecast needs good evidence */
#define EVIDENCE_GOOD 0.45
#define FACTOR_MOST 1e9          /* nobody waits for more */
#define RUNS_LEAST 3u            /* of a merged profile, to compare them */
#define RUNS_APART 1.5           /* largest sizes of the runs: nearer ones are the same */
#define RAMP_LEAST 0.7           /* exponent of a single call, for which the sum over all sizes is worth a word */
#define LOOKED_THROUGH 50u       /* first rows that are looked into */
#define PASSED_ON 0.9            /* a function that hands so much to one callee, once a call, is a wrapper */
#define INHERITED 0.75           /* so much of the cost in a callee that is as steep: the callee's fault */

const char *slope_group_name(enum slope_group group)
{
	static const char *const name[] = {
#define X(id, text, title) text,
		SLOPE_GROUP_LIST(X)
#undef X
	};

	return name[group];
}

const char *slope_group_title(enum slope_group group)
{
	static const char *const text[] = {
#define X(id, name, title) title,
		SLOPE_GROUP_LIST(X)
#undef X
	};

	return text[group];
}

static void add_thread(struct slope_rank_row *to, const struct slope_profile_row *from, uint32_t unit)
{
	to->calls += from->calls;
	to->total += from->total[unit];
	to->self += from->self[unit];
	to->rms += from->rms;
	to->trms += from->trms;
	to->thread += from->thread_input;
	to->external += from->external;
	to->threads++;
}

/* How many times the cost of now the same calls take with inputs `times` as large. */
static double predict(const struct slope_growth *g, const struct slope_curve *curve, double times)
{
	double now = 0, later = 0;

	for (size_t i = 0; i < curve->count; i++) {
		const struct slope_curve_point *point = &curve->point[i];
		double cost = point->cost[SLOPE_COST_MEAN] * point->calls, at = slope_model_at(&g->model, point->n);
		double then = slope_model_at(&g->model, point->n * times);

		now += cost;
		/* Below the sizes that the model describes, it only says how much more there will be. */
		later += at > 0.2 * point->cost[SLOPE_COST_MEAN] ? cost * fmax(then / at, 0) : fmax(then, 0) * point->calls;
	}
	return now > 0 ? fmin(later / now, FACTOR_MOST) : NAN;
}

/* Larger inputs may also mean more calls of the same size: whichever costs more. */
static double foretell_factor(const struct slope_growth *g, const struct slope_curve *curve, double times)
{
	if (g->reason == SLOPE_REASON_FIXED)
		return times;
	return g->verdict == SLOPE_VERDICT_INCONCLUSIVE ? NAN : fmax(predict(g, curve, times), times);
}

/*
 * Of several runs with inputs of different sizes: is the function's largest n
 * the same in all of them? Then it has nothing to do with the program's input.
 */
static bool same_in_all_runs(const struct slope_profile *p, uint32_t function, uint32_t metric)
{
	double least = INFINITY, most = 0, here = 0;
	size_t count, runs = 0;
	const struct slope_profile_row *row = slope_curve_rows(p, function, &count);

	if (p->runs < RUNS_LEAST)
		return false;
	/* Rows are sorted by thread, and the threads of a process stand together. */
	for (size_t i = 0; i < count; i++) {
		const struct slope_profile_points *points = &row[i].points[metric];

		if (points->count)
			here = fmax(here, (double)slope_profile_point(p, points, points->count - 1)->n);
		if (i + 1 < count && p->thread[row[i].thread].process == p->thread[row[i + 1].thread].process)
			continue;
		least = fmin(least, here);
		most = fmax(most, here);
		here = 0;
		runs++;
	}
	return runs == p->runs && most <= RUNS_APART * fmax(least, 1);
}

static bool measure(struct slope_rank_row *row, const struct slope_profile *p, struct slope_curve *curve,
		    const struct slope_rank_options *o)
{
	if (!slope_curve_load(curve, p, row->function, SLOPE_CURVE_ALL_THREADS, o->metric, o->unit))
		return false;
	row->points = curve->count;
	row->bits = curve->bits;
	if (curve->count) {
		row->n_min = (uint64_t)curve->point[0].n;
		row->n_max = (uint64_t)curve->point[curve->count - 1].n;
	}
	slope_growth_of(&row->growth, curve, o->of, false);
	if (slope_growth_is_steep(&row->growth) && same_in_all_runs(p, row->function, o->metric)) {
		row->growth.verdict = SLOPE_VERDICT_INCONCLUSIVE;
		row->growth.reason = SLOPE_REASON_FIXED;
		row->growth.grade = '-';
	}
	row->ramp = row->growth.verdict != SLOPE_VERDICT_INCONCLUSIVE && row->growth.exponent >= RAMP_LEAST &&
		    slope_curve_ramps(curve);
	row->factor = foretell_factor(&row->growth, curve, o->times);
	return true;
}

/* Everything else is taken to grow in step with the input. */
static void foretell(struct slope_rank_row *row, uint64_t program, double times)
{
	double own = (double)row->total, others = program > row->total ? (double)(program - row->total) : 0;

	row->share = slope_share_of(row->total, program);
	row->via = SLOPE_FN_NONE;
	if (isnan(row->factor))
		row->later = NAN;
	else
		row->later = own > 0 ? row->factor * own / (row->factor * own + times * others) : 0;
}

struct ends {
	uint32_t callee;
	uint64_t cost, calls;
};

/* For each function the callee that takes most of its cost; of the steep ones only, or of all. */
struct callees {
	struct ends *most;
	size_t *row;                 /* of each function; count where it has none */
};

static void keep_most(struct ends *most, const struct ends *one)
{
	if (one->cost > most->cost)
		*most = *one;
}

/*
 * A caller that is no steeper than a callee in which most of its cost lies: the
 * callee is the one to look at. Of two that call each other, the larger total
 * gives way.
 */
static void find_inherited(struct slope_rank *r, const struct slope_profile *p, const struct callees *c)
{
	for (size_t i = 0; i < p->function_count; i++) {
		struct slope_rank_row *row = c->row[i] < r->count ? &r->row[c->row[i]] : NULL;
		const struct ends *most = &c->most[i];

		if (!row || !most->cost || !slope_growth_is_steep(&row->growth) || slope_share_of(most->cost, row->total) < INHERITED)
			continue;
		const struct slope_rank_row *callee = &r->row[c->row[most->callee]];

		if (callee->growth.exponent >= row->growth.exponent - 0.25 &&
		    (callee->total < row->total || (callee->total == row->total && callee->self > row->self)))
			row->via = most->callee;
	}
}

static void find_wrappers(struct slope_rank *r, const struct slope_profile *p, const struct callees *c)
{
	for (size_t i = 0; i < p->function_count; i++) {
		struct slope_rank_row *row = c->row[i] < r->count ? &r->row[c->row[i]] : NULL;

		if (row && row->group == SLOPE_GROUP_UNCLEAR && c->most[i].calls == row->calls &&
		    slope_share_of(c->most[i].cost, row->total) >= PASSED_ON)
			row->group = SLOPE_GROUP_REST;
	}
}

/* The dynamic loader starts the program once, whatever its input is. */
static bool is_loader(const struct slope_profile *p, uint32_t function)
{
	const char *module = slope_profile_module_of(p, &p->function[function]);

	return !strncmp(module, "ld-", 3) && strstr(module, ".so");
}

static void put_into_group(struct slope_rank_row *row, const struct slope_profile *p, uint64_t program)
{
	double self = slope_share_of(row->self, program);

	row->group = SLOPE_GROUP_REST;
	if (row->growth.verdict == SLOPE_VERDICT_INCONCLUSIVE && row->growth.reason != SLOPE_REASON_FIXED) {
		if ((self >= WORTH_NOW || row->share >= WORTH_ASKING) && !is_loader(p, row->function))
			row->group = SLOPE_GROUP_UNCLEAR;
	} else if (slope_growth_is_steep(&row->growth) && row->later >= WORTH_LATER &&
		   (row->share >= SMALL || row->growth.evidence >= EVIDENCE_GOOD)) {
		row->group = SLOPE_GROUP_HURTS;
	} else if (self >= WORTH_NOW) {
		row->group = SLOPE_GROUP_HOT;
	}
}

/* Predicted share, discounted by evidence; what is somebody else's growth comes after it. */
static void score(struct slope_rank_row *row)
{
	if (row->group == SLOPE_GROUP_HURTS)
		row->score = row->later * row->growth.evidence * (row->via == SLOPE_FN_NONE ? 1 : 0.1);
	else
		row->score = row->share;
}

/* Edges are sorted by caller, then callee: threads of one pair stand together. */
static void gather_callees(struct callees *c, const struct slope_rank *r, const struct slope_profile *p, uint32_t unit,
			   bool steep_only)
{
	memset(c->most, 0, p->function_count * sizeof(*c->most));
	for (size_t i = 0, next; i < p->edge_count; i = next) {
		const struct slope_profile_edge *e = &p->edge[i];
		struct ends one = { .callee = e->callee };

		for (next = i; next < p->edge_count && p->edge[next].caller == e->caller && p->edge[next].callee == e->callee;
		     next++) {
			one.cost += p->edge[next].cost[unit];
			one.calls += p->edge[next].calls;
		}
		if (e->caller == e->callee || c->row[e->callee] >= r->count)
			continue;
		if (!steep_only || slope_growth_is_steep(&r->row[c->row[e->callee]].growth))
			keep_most(&c->most[e->caller], &one);
	}
}

static bool sort_into_groups(struct slope_rank *r, const struct slope_profile *p, uint32_t unit)
{
	struct callees c = { calloc(p->function_count + 1, sizeof(*c.most)), malloc((p->function_count + 1) * sizeof(*c.row)) };
	bool ok = c.most && c.row;

	if (ok) {
		for (size_t i = 0; i < p->function_count; i++)
			c.row[i] = r->count;
		for (size_t i = 0; i < r->count; i++) {
			c.row[r->row[i].function] = i;
			put_into_group(&r->row[i], p, r->program);
		}
		gather_callees(&c, r, p, unit, true);
		find_inherited(r, p, &c);
		gather_callees(&c, r, p, unit, false);
		find_wrappers(r, p, &c);
		for (size_t i = 0; i < r->count; i++)
			score(&r->row[i]);
	}
	free(c.most);
	free(c.row);
	return ok;
}

static int by_rank(const void *a, const void *b)
{
	const struct slope_rank_row *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->function > y->function) - (x->function < y->function);
}

/*
 * The first rows once more: one that only hands on what its callee does,
 * whether that has a verdict or not, comes after those that grow themselves.
 */
static bool look_through(struct slope_rank *r, const struct slope_profile *p, const struct slope_rank_options *o)
{
	for (size_t i = 0; i < r->count && i < LOOKED_THROUGH && r->row[i].group == SLOPE_GROUP_HURTS; i++) {
		struct slope_rank_row *row = &r->row[i];

		if (row->via != SLOPE_FN_NONE)
			continue;
		if (!slope_explain_hands_on(p, row->function, o->metric, o->unit, &row->via))
			return false;
		for (size_t k = 0; k < r->count && k < LOOKED_THROUGH; k++)
			if (r->row[k].function == row->via && r->row[k].via == row->function)
				row->via = SLOPE_FN_NONE;    /* two that hand it to each other */
		score(row);
	}
	qsort(r->row, r->count, sizeof(*r->row), by_rank);
	return true;
}

/* All rows have their growth and their factor: shares, groups, order. */
static bool settle(struct slope_rank *r, const struct slope_profile *p, const struct slope_rank_options *o)
{
	for (size_t i = 0; i < r->count; i++)
		foretell(&r->row[i], r->program, o->times);
	if (!sort_into_groups(r, p, o->unit))
		return false;
	qsort(r->row, r->count, sizeof(*r->row), by_rank);
	return look_through(r, p, o);
}

static size_t count_functions(const struct slope_profile *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->row_count; i++)
		count += !i || p->row[i].function != p->row[i - 1].function;
	return count;
}

/* The profile's rows are sorted by function: one run of them makes one row here. */
bool slope_rank_init(struct slope_rank *r, const struct slope_profile *p, const struct slope_rank_options *o)
{
	struct slope_curve curve = slope_curve_none();
	bool ok = true;

	*r = (struct slope_rank){ .row = calloc(count_functions(p) + 1, sizeof(*r->row)) };
	if (!r->row)
		return false;
	r->program = slope_program_cost(p, o->unit, &r->root_self);
	for (size_t i = 0, next; ok && i < p->row_count; i = next) {
		uint32_t function = p->row[i].function;
		struct slope_rank_row *to = &r->row[r->count];

		for (next = i; next < p->row_count && p->row[next].function == function; next++)
			if (function != SLOPE_FN_ROOT)
				add_thread(to, &p->row[next], o->unit);
		if (function == SLOPE_FN_ROOT)
			continue;
		to->function = function;
		to->name = slope_profile_name(&p->function[function]);
		ok = measure(to, p, &curve, o);
		r->count++;
	}
	slope_curve_fini(&curve);
	if (!ok || !settle(r, p, o)) {
		slope_rank_fini(r);
		return false;
	}
	return true;
}

bool slope_rank_again(struct slope_rank *r, const struct slope_profile *p, const struct slope_rank_options *o)
{
	struct slope_curve curve = slope_curve_none();
	bool ok = true;

	for (size_t i = 0; ok && i < r->count; i++) {
		ok = slope_curve_load(&curve, p, r->row[i].function, SLOPE_CURVE_ALL_THREADS, o->metric, o->unit);
		if (ok)
			r->row[i].factor = foretell_factor(&r->row[i].growth, &curve, o->times);
	}
	slope_curve_fini(&curve);
	return ok && settle(r, p, o);
}

void slope_rank_fini(struct slope_rank *r)
{
	free(r->row);
	*r = (struct slope_rank){ 0 };
}
