/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "analysis/pathkinds.h"

#include <math.h>
#include <stdlib.h>

/* ---- shares ---- */

double slope_pathcosts_value(const struct slope_pathcosts *c, uint64_t instructions, const struct slope_path_value *value)
{
	return c->o.metric == SLOPE_PATHS_IR ? (double)instructions : value[c->o.metric].value;
}

double slope_pathcosts_ratio(const struct slope_pathcosts *c, const struct slope_pathcosts_row *row)
{
	if (c->o.metric == SLOPE_PATHS_IR)
		return NAN;
	return row->instructions ? row->value[c->o.metric].value / (double)row->instructions : NAN;
}

static void sum_up(struct slope_pathcosts *c)
{
	for (size_t i = 0; i < c->functions; i++) {
		struct slope_pathcosts_function *f = &c->function[i];

		c->instructions = slope_plus(c->instructions, f->instructions);
		c->repeats = slope_plus(c->repeats, f->repeats);
		for (uint32_t m = 0; m < c->p->path_metrics; m++) {
			c->value[m].value += f->value[m].value;
			c->value[m].error += f->value[m].error;
			f->value[m].error = sqrt(f->value[m].error);
		}
	}
	for (uint32_t m = 0; m < c->p->path_metrics; m++) {
		c->value[m].error = sqrt(c->value[m].error);
		for (size_t i = 0; i < c->rows; i++)
			if (!isnan(c->row[i].value[m].value))
				c->measured[m] = slope_plus(c->measured[m], c->row[i].instructions);
	}
	c->whole = slope_pathcosts_value(c, c->instructions, c->value);
	c->average = c->o.metric == SLOPE_PATHS_IR ? NAN : c->whole / (double)c->measured[c->o.metric];
}

static enum slope_path_kind kind_of(const struct slope_pathcosts *c, double share, double value, uint64_t instructions)
{
	if (!(share >= c->o.threshold))
		return SLOPE_PATH_COLD;
	if (isnan(c->average))
		return SLOPE_PATH_HOT;
	return value > c->average * (double)instructions ? SLOPE_PATH_DENSE : SLOPE_PATH_SPARSE;
}

static void add_to_group(struct slope_pathcosts_group *groups, enum slope_path_kind kind, uint64_t instructions, double value,
			 uint64_t paths)
{
	const enum slope_path_kind also = kind == SLOPE_PATH_COLD ? SLOPE_PATH_COLD : SLOPE_PATH_HOT;

	for (unsigned k = 0; k < SLOPE_PATH_KINDS; k++) {
		if (k != kind && k != also)
			continue;
		groups[k].count++;
		groups[k].instructions = slope_plus(groups[k].instructions, instructions);
		groups[k].value += isnan(value) ? 0 : value;
		groups[k].paths += paths;
	}
}

static void classify(struct slope_pathcosts *c)
{
	for (size_t i = 0; i < c->rows; i++) {
		struct slope_pathcosts_row *row = &c->row[i];
		double value = slope_pathcosts_value(c, row->instructions, row->value);

		row->share = c->whole > 0 ? value / c->whole : NAN;
		row->kind = kind_of(c, row->share, value, row->instructions);
		add_to_group(c->path_kind, row->kind, row->instructions, value, 1);
	}
	for (size_t i = 0; i < c->functions; i++) {
		struct slope_pathcosts_function *f = &c->function[i];
		double value = slope_pathcosts_value(c, f->instructions, f->value);

		f->share = c->whole > 0 ? value / c->whole : NAN;
		f->kind = kind_of(c, f->share, value, f->measured);
		if (f->rows)
			add_to_group(c->function_kind, f->kind, f->instructions, value, f->paths + f->inside);
	}
}

struct slope_pathcosts_group slope_pathcosts_all(const struct slope_pathcosts_group kind[SLOPE_PATH_KINDS])
{
	const struct slope_pathcosts_group *cold = &kind[SLOPE_PATH_COLD], *hot = &kind[SLOPE_PATH_HOT];

	return (struct slope_pathcosts_group){
		.count = cold->count + hot->count, .instructions = slope_plus(cold->instructions, hot->instructions),
		.value = cold->value + hot->value, .paths = cold->paths + hot->paths,
	};
}

/* ---- order ---- */

/* The larger first, and what is not known last. */
static int falling(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

static int by_place(const struct slope_pathcosts_row *x, const struct slope_pathcosts_row *y)
{
#define BY(field) if (x->field != y->field) return x->field < y->field ? -1 : 1;
	BY(graph) BY(number) BY(stop) BY(stop_instructions) BY(context)
#undef BY
	return 0;
}

static int by_share(const void *a, const void *b)
{
	const struct slope_pathcosts_row *x = a, *y = b;
	int order = falling(x->share, y->share);

	order = order ? order : falling((double)x->instructions, (double)y->instructions);
	return order ? order : by_place(x, y);
}

static int by_count(const void *a, const void *b)
{
	const struct slope_pathcosts_row *x = a, *y = b;

	return x->count != y->count ? (x->count < y->count ? 1 : -1) : by_share(a, b);
}

static int by_length(const void *a, const void *b)
{
	const struct slope_pathcosts_row *x = a, *y = b;

	return x->each != y->each ? (x->each < y->each ? 1 : -1) : by_share(a, b);
}

static int by_ratio(const void *a, const void *b, void *c)
{
	int order = falling(slope_pathcosts_ratio(c, a), slope_pathcosts_ratio(c, b));

	return order ? order : by_share(a, b);
}

static int by_weight(const void *a, const void *b)
{
	const struct slope_pathcosts_function *x = a, *y = b;
	int order = falling(x->share, y->share);

	order = order ? order : falling((double)x->instructions, (double)y->instructions);
	return order ? order : (x->function > y->function) - (x->function < y->function);
}

void slope_pathcosts_sort(struct slope_pathcosts *c, enum slope_paths_sort by)
{
	static int (*const compare[])(const void *a, const void *b) = {
		[SLOPE_PATHS_BY_SHARE] = by_share, [SLOPE_PATHS_BY_COUNT] = by_count, [SLOPE_PATHS_BY_LENGTH] = by_length,
	};

	if (!c->rows)
		return;
	if (by == SLOPE_PATHS_BY_RATIO)
		qsort_r(c->row, c->rows, sizeof(*c->row), by_ratio, c);
	else
		qsort(c->row, c->rows, sizeof(*c->row), compare[by]);
}

/* ---- all of it ---- */

void slope_pathkinds_of(struct slope_pathcosts *c)
{
	sum_up(c);
	classify(c);
	if (c->functions)
		qsort(c->function, c->functions, sizeof(*c->function), by_weight);
}
