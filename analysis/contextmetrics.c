/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/contextmetrics.h"

#include <stdlib.h>
#include <string.h>

static int by_path(const void *a, const void *b)
{
	const struct slope_profile_path *x = *(const struct slope_profile_path *const *)a;
	const struct slope_profile_path *y = *(const struct slope_profile_path *const *)b;

#define BY(field) if (x->field != y->field) return x->field < y->field ? -1 : 1;
	BY(graph) BY(number) BY(stop) BY(stop_instructions)
#undef BY
	return 0;
}

static double mean_of(const struct slope_profile_path *path, uint32_t metric)
{
	return (double)path->metric[metric].sum / (double)path->samples;
}

/* Rows of one path, side by side. What they have in their contexts; how many executions were measured, or are like some that were. */
static double add_rows(const struct slope_profile_path **row, size_t count, uint32_t metric, double *self)
{
	double sum = 0, samples = 0, executions = 0;

	for (size_t i = 0; i < count; i++) {
		sum += (double)row[i]->metric[metric].sum;
		samples += (double)row[i]->samples;
		executions += (double)row[i]->count;
	}
	if (samples == 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (row[i]->context != SLOPE_CONTEXT_NONE)
			self[row[i]->context] += (double)row[i]->count * (row[i]->samples ? mean_of(row[i], metric) : sum / samples);
	return executions;
}

static double add_all(const struct slope_profile *p, const struct slope_profile_path **row, uint32_t metric, double *self)
{
	double measured = 0, executions = 0;
	size_t count;

	for (size_t i = 0; i < p->path_count; i++) {
		row[i] = &p->path[i];
		executions += (double)p->path[i].count;
	}
	qsort(row, p->path_count, sizeof *row, by_path);
	for (size_t i = 0; i < p->path_count; i += count) {
		for (count = 1; i + count < p->path_count && !by_path(&row[i], &row[i + count]);)
			count++;
		measured += add_rows(&row[i], count, metric, self);
	}
	return executions > 0 ? measured / executions : 0;
}

static void set_contexts(struct slope_profile *p, const double *self)
{
	for (size_t i = 0; i < p->context_count; i++) {
		memset(p->context[i].total, 0, sizeof p->context[i].total);
		memset(p->context[i].self, 0, sizeof p->context[i].self);
		p->context[i].self[0] = p->context[i].total[0] = (uint64_t)(self[i] + 0.5);
	}
	for (size_t i = p->context_count; i-- > 0;)
		if (p->context[i].parent != SLOPE_CONTEXT_NONE)
			p->context[p->context[i].parent].total[0] += p->context[i].total[0];
}

bool slope_contextmetric_show(struct slope_profile *p, uint32_t metric, double *measured)
{
	const struct slope_profile_path **row = malloc((p->path_count + 1) * sizeof *row);
	double *self = calloc(p->context_count + 1, sizeof *self);
	char *name = strdup(p->path_metric_name[metric]);
	bool good = row && self && name;

	if (good) {
		*measured = add_all(p, row, metric, self);
		set_contexts(p, self);
		for (uint32_t u = 0; u < p->units; u++) {
			free(p->unit_name[u]);
			p->unit_name[u] = NULL;
		}
		p->unit_name[0] = name;
		p->units = 1;
	} else {
		free(name);
	}
	free(row);
	free(self);
	return good;
}
