/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/curve.h"

/* ---- parts of a profile ---- */

double slope_share_of(uint64_t part, uint64_t whole)
{
	return part >= whole ? (part ? 1.0 : 0.0) : (double)part / (double)whole;
}

uint64_t slope_program_cost(const struct slope_profile *p, uint32_t unit, uint64_t *outside)
{
	uint64_t root = 0, self = 0, outermost = 0;

	for (size_t i = 0; i < p->row_count; i++) {
		self += p->row[i].self[unit];
		if (p->row[i].function == SLOPE_FN_ROOT) {
			root += p->row[i].total[unit];
			outermost += p->row[i].self[unit];
		}
	}
	if (outside)
		*outside = outermost;
	return root > self ? root : self;
}

/* Rows are sorted by function, then thread: it mostly has the thread's position. */
const struct slope_profile_row *slope_thread_row(const struct slope_profile *p, size_t thread)
{
	if (thread < p->row_count && p->row[thread].function == SLOPE_FN_ROOT && p->row[thread].thread == thread)
		return &p->row[thread];
	for (size_t i = 0; i < p->row_count && p->row[i].function == SLOPE_FN_ROOT; i++)
		if (p->row[i].thread == thread)
			return &p->row[i];
	return NULL;
}

/* ---- functions ---- */

static uint32_t main_metric(uint32_t metrics)
{
	return metrics & 1u << SLOPE_METRIC_TRMS ? SLOPE_METRIC_TRMS : SLOPE_METRIC_RMS;
}

static void add_row(struct slope_function_statistics *to, const struct slope_profile *p, const struct slope_profile_row *from,
		    uint32_t unit)
{
	const struct slope_profile_points *points = &from->points[main_metric(p->metrics)];

	to->calls += from->calls;
	to->total += from->total[unit];
	to->self += from->self[unit];
	to->rms += from->rms;
	to->trms += from->trms;
	to->thread += from->thread_input;
	to->external += from->external;
	for (size_t i = 0; i < points->count; i++) {
		uint64_t most = slope_profile_point(p, points, i)->cost[unit].max;

		to->costliest = most > to->costliest ? most : to->costliest;
	}
}

static struct slope_sizes sizes_of(const struct slope_curve *curve)
{
	return (struct slope_sizes){
		.points = curve->count, .bits = curve->bits,
		.n_min = curve->count ? (uint64_t)curve->point[0].n : 0,
		.n_max = curve->count ? (uint64_t)curve->point[curve->count - 1].n : 0,
	};
}

/* The profile's rows are sorted by function: one run of them makes one function here. */
static bool gather_functions(struct slope_statistics *s, const struct slope_profile *p, uint32_t unit,
			     struct slope_curve *curve)
{
	for (size_t i = 0, next; i < p->row_count; i = next) {
		struct slope_function_statistics *to = &s->function[s->functions];
		uint32_t function = p->row[i].function;

		for (next = i + 1; next < p->row_count && p->row[next].function == function; next++)
			;
		if (function == SLOPE_FN_ROOT)
			continue;
		*to = (struct slope_function_statistics){ .function = function };
		for (size_t k = i; k < next; k++)
			add_row(to, p, &p->row[k], unit);
		for (uint32_t m = 0; m < SLOPE_METRICS; m++) {
			if (!slope_curve_load(curve, p, function, SLOPE_CURVE_ALL_THREADS, m, unit))
				return false;
			to->sizes[m] = sizes_of(curve);
		}
		s->rms += to->rms;
		s->trms += to->trms;
		s->functions++;
	}
	return true;
}

const struct slope_function_statistics *slope_statistics_find(const struct slope_statistics *s, uint32_t function)
{
	size_t low = 0, high = s->functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->function[middle].function < function)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->functions && s->function[low].function == function ? &s->function[low] : NULL;
}

/* ---- threads ---- */

static void gather_threads(struct slope_statistics *s, const struct slope_profile *p, uint32_t unit)
{
	for (size_t i = 0; i < p->row_count; i++) {
		const struct slope_profile_row *row = &p->row[i];
		struct slope_thread_statistics *to = &s->thread[row->thread];

		if (row->function == SLOPE_FN_ROOT) {
			to->known = true;
			to->cost += row->total[unit];
			to->rms += row->rms;
			to->trms += row->trms;
			to->thread += row->thread_input;
			to->external += row->external;
			s->input += row->trms;
			s->thread_input += row->thread_input;
			s->external += row->external;
		} else if (row->self[unit] > to->busiest_self) {
			to->busiest = row->function;
			to->busiest_self = row->self[unit];
		}
	}
}

bool slope_statistics_init(struct slope_statistics *s, const struct slope_profile *p, uint32_t unit)
{
	struct slope_curve curve = slope_curve_none();
	uint64_t outside;

	*s = (struct slope_statistics){
		.function = calloc(p->row_count + 1, sizeof(*s->function)),
		.thread = calloc(p->thread_count + 1, sizeof(*s->thread)),
		.threads = p->thread_count, .metrics = p->metrics, .cost = slope_program_cost(p, unit, &outside),
	};
	bool ok = s->function && s->thread && gather_functions(s, p, unit, &curve);

	slope_curve_fini(&curve);
	if (!ok) {
		slope_statistics_fini(s);
		return false;
	}
	gather_threads(s, p, unit);
	return true;
}

void slope_statistics_fini(struct slope_statistics *s)
{
	free(s->function);
	free(s->thread);
	*s = (struct slope_statistics){ 0 };
}

/* ---- measures ---- */

const char *slope_measure_name(enum slope_measure m)
{
	static const char *const names[] = {
#define X(id, name) name,
		SLOPE_MEASURE_LIST(X)
#undef X
	};

	return names[m];
}

static double richness(const struct slope_function_statistics *f)
{
	double trms = (double)f->sizes[SLOPE_METRIC_TRMS].points, rms = (double)f->sizes[SLOPE_METRIC_RMS].points;

	return trms > 0 && rms > 0 ? (trms - rms) / rms : NAN;
}

/* What rms does not see: 1 - rms / trms. */
static double volume(uint64_t rms, uint64_t trms)
{
	return slope_share_of(trms > rms ? trms - rms : 0, trms);
}

double slope_measure_of(const struct slope_statistics *s, const struct slope_function_statistics *f, enum slope_measure m)
{
	size_t points = f->sizes[main_metric(s->metrics)].points;

	if (m == SLOPE_MEASURE_POINTS)
		return (double)points;
	if (m == SLOPE_MEASURE_POOR_COST)
		return points < SLOPE_FEW_POINTS ? (double)f->costliest : NAN;
	if (m == SLOPE_MEASURE_RICHNESS)
		return richness(f);
	if (!(s->metrics & 1u << SLOPE_METRIC_TRMS))
		return NAN;
	switch (m) {
	case SLOPE_MEASURE_VOLUME:
		return volume(f->rms, f->trms);
	case SLOPE_MEASURE_THREAD_OF_INPUT:
		return slope_share_of(f->thread, f->trms);
	case SLOPE_MEASURE_EXTERNAL_OF_INPUT:
		return slope_share_of(f->external, f->trms);
	case SLOPE_MEASURE_THREAD_OF_INDUCED:
		return slope_share_of(f->thread, f->thread + f->external);
	case SLOPE_MEASURE_EXTERNAL_OF_INDUCED:
		return slope_share_of(f->external, f->thread + f->external);
	default:
		return NAN;
	}
}

double slope_statistics_volume(const struct slope_statistics *s)
{
	return s->metrics & 1u << SLOPE_METRIC_TRMS ? volume(s->rms, s->trms) : NAN;
}

#define LIMITS(array) (*count = sizeof(array) / sizeof((array)[0]), (array))

const double *slope_measure_limits(enum slope_measure m, size_t *count)
{
	static const double points[] = { 1, 2, 5, 10, 20, 50, 100, 1e3, 1e4, 1e5 };
	static const double costs[] = { 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12 };
	static const double gains[] = { 0, 0.1, 0.5, 1, 2, 5, 10, 100, 1e3, 1e4, 1e5 };
	static const double shares[] = { 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99 };

	if (m == SLOPE_MEASURE_POINTS)
		return LIMITS(points);
	if (m == SLOPE_MEASURE_POOR_COST)
		return LIMITS(costs);
	return m == SLOPE_MEASURE_RICHNESS ? LIMITS(gains) : LIMITS(shares);
}

struct slope_at_least slope_statistics_at_least(const struct slope_statistics *s, enum slope_measure m, double limit)
{
	struct slope_at_least found = { 0 };

	for (size_t i = 0; i < s->functions; i++) {
		double value = slope_measure_of(s, &s->function[i], m);

		if (isnan(value))
			continue;
		found.of++;
		if (value >= limit) {
			found.functions++;
			found.self += s->function[i].self;
		}
	}
	return found;
}
