/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/contrast.h"

#define APART 0.3                /* between the intervals of two exponents that differ beyond doubt */
#define MIXED 0.25               /* relative variance of calls of one size that makes a mixture worth a look: half of the cost */
#define NAMED 3u                 /* contexts that a sentence names */

/* ---- telling apart ---- */

struct entry {
	const struct slope_profile_variant *from;
	uint32_t callers;            /* of these count so many */
	bool rest;
};

static int by_callers(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	for (uint32_t i = 0; i < x->callers && i < y->callers; i++)
		if (x->from->caller[i] != y->from->caller[i])
			return x->from->caller[i] > y->from->caller[i] ? 1 : -1;
	if (x->callers != y->callers)
		return x->callers > y->callers ? 1 : -1;
	return (x->rest > y->rest) - (x->rest < y->rest);
}

/* The profile's variants of a function; they are sorted by it. */
static const struct slope_profile_variant *find(const struct slope_profile *p, uint32_t function, size_t *count)
{
	size_t low = 0, high = p->variant_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->variant[middle].row.function < function)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < p->variant_count && p->variant[high].row.function == function; high++)
		;
	*count = high - low;
	return p->variant + low;
}

static bool fill(struct slope_contrast_part *to, const struct entry *entry, size_t count, const struct slope_profile *p,
		 uint32_t metric, uint32_t unit)
{
	*to = (struct slope_contrast_part){
		.caller = entry->from->caller, .callers = entry->callers, .rest = entry->rest, .curve = slope_curve_none(),
		.row = calloc(count, sizeof(*to->row)), .rows = count,
	};
	if (!to->row)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct slope_profile_row *row = &entry[i].from->row;

		to->row[i] = row;
		to->calls += row->calls;
		to->total += row->total[unit];
		to->self += row->self[unit];
	}
	return slope_curve_load_rows(&to->curve, p, to->row, count, metric, unit);
}

static int by_cost(const void *a, const void *b)
{
	const struct slope_contrast_part *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : (x->caller > y->caller) - (x->caller < y->caller);
}

static bool tell_apart(struct slope_contrast *v, const struct slope_profile *p, uint32_t function, uint32_t metric,
		       uint32_t unit)
{
	size_t count;
	const struct slope_profile_variant *from = find(p, function, &count);
	struct entry *entry = calloc(count + 1, sizeof(*entry));
	bool ok = entry;

	v->part = calloc(count + 1, sizeof(*v->part));
	ok = ok && v->part;
	for (size_t i = 0; ok && i < count; i++) {
		uint32_t callers = from[i].callers < v->k ? from[i].callers : v->k;

		entry[i] = (struct entry){ &from[i], callers, from[i].rest && from[i].callers < v->k };
	}
	if (ok)
		qsort(entry, count, sizeof(*entry), by_callers);
	for (size_t i = 0, next; ok && i < count; i = next) {
		for (next = i + 1; next < count && !by_callers(&entry[i], &entry[next]); next++)
			;
		ok = fill(&v->part[v->count++], entry + i, next - i, p, metric, unit);
	}
	free(entry);
	if (ok)
		qsort(v->part, v->count, sizeof(*v->part), by_cost);
	return ok;
}

/* ---- differences ---- */

static bool known(const struct slope_growth *g)
{
	return g->verdict != SLOPE_VERDICT_INCONCLUSIVE;
}

static double least(const struct slope_growth *g)
{
	return isnan(g->low) || g->verdict == SLOPE_VERDICT_EXPONENTIAL ? g->exponent : g->low;
}

static bool is_flatter(const struct slope_growth *g, const struct slope_growth *than)
{
	return known(than) && known(g) && g->verdict != than->verdict &&
	       fmax(isnan(g->high) ? g->exponent : g->high, 0) + APART < least(than);
}

bool slope_contrast_is_flat(const struct slope_contrast *v, const struct slope_contrast_part *part)
{
	return is_flatter(&part->growth, &v->part[v->steepest].growth);
}

bool slope_contrast_is_steep(const struct slope_contrast *v, const struct slope_contrast_part *part)
{
	return known(&part->growth) && !slope_contrast_is_flat(v, part);
}

/* All that are flat as one curve. */
static bool join_flat(struct slope_contrast *v, const struct slope_profile *p, uint32_t metric, uint32_t unit, bool thorough)
{
	struct slope_curve curve = slope_curve_none();
	const struct slope_contrast_part *heaviest = NULL;
	const struct slope_profile_row **row;
	size_t rows = 0;

	for (size_t i = 0; i < v->count; i++)
		rows += v->part[i].rows;
	row = calloc(rows + 1, sizeof(*row));
	rows = 0;
	for (size_t i = 0; row && i < v->count; i++) {
		const struct slope_contrast_part *part = &v->part[i];

		if (!slope_contrast_is_flat(v, part))
			continue;
		heaviest = heaviest ? heaviest : part;
		memcpy(row + rows, part->row, part->rows * sizeof(*row));
		rows += part->rows;
	}
	bool ok = row && slope_curve_load_rows(&curve, p, row, rows, metric, unit);

	if (ok)
		slope_growth_of(&v->flat_growth, &curve, SLOPE_COST_MEAN, thorough);
	if (ok && heaviest && !known(&v->flat_growth))
		v->flat_growth = heaviest->growth;
	slope_curve_fini(&curve);
	free(row);
	return ok;
}

static bool find_difference(struct slope_contrast *v, const struct slope_profile *p, uint32_t metric, uint32_t unit,
			    bool thorough)
{
	v->steepest = SIZE_MAX;
	for (size_t i = 0; i < v->count; i++) {
		slope_growth_of(&v->part[i].growth, &v->part[i].curve, SLOPE_COST_MEAN, thorough);
		if (known(&v->part[i].growth) && (v->steepest == SIZE_MAX ||
		    least(&v->part[i].growth) > least(&v->part[v->steepest].growth)))
			v->steepest = i;
	}
	if (v->steepest == SIZE_MAX) {
		v->steepest = 0;
		return true;
	}
	for (size_t i = 0; i < v->count; i++) {
		v->steep += slope_contrast_is_steep(v, &v->part[i]);
		v->flat += slope_contrast_is_flat(v, &v->part[i]);
	}
	v->differ = v->flat != 0;
	return !v->differ || join_flat(v, p, metric, unit, thorough);
}

static bool init_k(struct slope_contrast *v, const struct slope_profile *p, uint32_t function, uint32_t k, uint32_t metric,
		   uint32_t unit, bool thorough)
{
	*v = (struct slope_contrast){ .k = k };
	if (tell_apart(v, p, function, metric, unit) && find_difference(v, p, metric, unit, thorough))
		return true;
	slope_contrast_fini(v);
	return false;
}

bool slope_contrast_init(struct slope_contrast *v, const struct slope_profile *p, uint32_t function, uint32_t k,
			 uint32_t metric, uint32_t unit, bool thorough)
{
	if (k)
		return init_k(v, p, function, k, metric, unit, thorough);
	for (k = 1; k <= p->variant_k; k++) {
		if (!init_k(v, p, function, k, metric, unit, thorough))
			return false;
		if (v->differ)
			return true;
		slope_contrast_fini(v);
	}
	return init_k(v, p, function, 1, metric, unit, thorough);
}

void slope_contrast_fini(struct slope_contrast *v)
{
	for (size_t i = 0; i < v->count; i++) {
		slope_curve_fini(&v->part[i].curve);
		free(v->part[i].row);
	}
	free(v->part);
	*v = (struct slope_contrast){ 0 };
}

/* ---- without contexts ---- */

bool slope_contrast_mixed(const struct slope_curve *curve, struct slope_growth *best, struct slope_growth *worst)
{
	bool twice = false;

	for (size_t i = 0; i < curve->count && !twice; i++)
		twice = curve->point[i].calls > 1;
	if (!twice || slope_curve_variation(curve) < MIXED)
		return false;
	slope_growth_of(best, curve, SLOPE_COST_MIN, false);
	slope_growth_of(worst, curve, SLOPE_COST_MAX, false);
	return is_flatter(best, worst);
}

size_t slope_contrast_callers_of(const struct slope_profile *p, uint32_t function)
{
	size_t count = 0;

	for (size_t i = 0; i < p->edge_count; i++)
		if (p->edge[i].callee == function && p->edge[i].caller != function)
			count += !i || p->edge[i - 1].callee != function || p->edge[i - 1].caller != p->edge[i].caller;
	return count;
}

/* ---- words ---- */

char *slope_contrast_callers(const struct slope_contrast_part *part, const struct slope_profile *p, const char *arrow)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < part->callers; i++) {
		uint32_t caller = part->caller[i];

		fprintf(out, "%s%s", i ? arrow : "", caller == SLOPE_FN_ROOT ? "(start)" : slope_profile_name(&p->function[caller]));
	}
	if (part->rest)
		fprintf(out, "%s(other callers)", part->callers ? arrow : "");
	else if (!part->callers)
		fputs("(start)", out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* "n^2 from a, b and 2 more" */
static bool put_side(const struct slope_contrast *v, const struct slope_profile *p, bool flat, const struct slope_growth *g,
		     FILE *out)
{
	size_t all = flat ? v->flat : v->steep, said = 0;
	char growth[SLOPE_GROWTH_TEXT];

	fprintf(out, "%s from ", slope_growth_text(g, growth));
	for (size_t i = 0; i < v->count && said < NAMED; i++) {
		if (!(flat ? slope_contrast_is_flat(v, &v->part[i]) : slope_contrast_is_steep(v, &v->part[i])))
			continue;
		char *name = slope_contrast_callers(&v->part[i], p, " <- ");

		if (!name)
			return false;
		fprintf(out, "%s%s", !said ? "" : said + 1 == all ? " and " : ", ", name);
		free(name);
		said++;
	}
	if (said < all)
		fprintf(out, " and %zu more", all - said);
	return true;
}

char *slope_contrast_text(const struct slope_contrast *v, const struct slope_profile *p)
{
	char *text = NULL, growth[SLOPE_GROWTH_TEXT];
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	bool ok = out;

	if (!out)
		return NULL;
	if (v->differ) {
		ok = put_side(v, p, false, &v->part[v->steepest].growth, out);
		fputs(", ", out);
		if (v->steep + v->flat == v->count && v->flat > 1)
			fprintf(out, "%s elsewhere", slope_growth_text(&v->flat_growth, growth));
		else
			ok &= put_side(v, p, true, &v->flat_growth, out);
	}
	ok &= fclose(out) == 0;
	if (ok)
		return text;
	free(text);
	return NULL;
}
