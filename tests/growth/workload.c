/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/growth/workload.h"

#include <stdio.h>
#include <stdlib.h>

static double nth_size(const struct workload *w, size_t i, struct random *r)
{
	double part = (double)i / (double)(w->sizes - 1);

	switch (w->layout) {
	case LAYOUT_RATIO:
		return w->from * pow(w->to / w->from, part);
	case LAYOUT_DRAWN:
		return random_between(r, w->from, w->to);
	case LAYOUT_DRAWN_RATIO:
		return random_magnitude(r, w->from, w->to);
	default:
		return w->from + (w->to - w->from) * part;
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Whole sizes, sorted, each once; the smallest and the largest are among them. Returns how many. */
static size_t lay_out(const struct workload *w, double n[WORKLOAD_SIZES_MAX], struct random *r)
{
	size_t count = 0;

	for (size_t i = 0; i < w->sizes; i++)
		n[i] = round(nth_size(w, i, r));
	n[0] = round(w->from);
	n[w->sizes - 1] = round(w->to);
	qsort(n, w->sizes, sizeof(*n), by_size);
	for (size_t i = 0; i < w->sizes; i++)
		if (!count || n[i] != n[count - 1])
			n[count++] = n[i];
	return count;
}

static size_t calls_of(const struct workload *w, size_t i, size_t count, struct random *r)
{
	double rank = (double)i + 1, many = 1;

	switch (w->calls) {
	case CALLS_SEVERAL:
		return 1 + random_below(r, 20);
	case CALLS_ZIPF:
		many = 3000 / pow(rank, 1.3);
		break;
	case CALLS_FADING:
		many = 3000 * pow(0.5, 14 * rank / (double)count);
		break;
	case CALLS_TAIL:
		many = (double)i >= 0.9 * (double)count ? 100 : 1;
		break;
	default:
		break;
	}
	return many < 1 ? 1 : (size_t)many;
}

static double cost_of_call(const struct workload *w, double expected, struct random *r)
{
	double cost = expected;

	if (w->noise && w->lognormal)
		cost *= exp(w->noise * random_normal(r) - w->noise * w->noise / 2);
	else if (w->noise)
		cost *= 1 + w->noise * random_between(r, -1.7320508, 1.7320508);
	if (w->slow_share && random_between(r, 0, 1) < w->slow_share)
		cost *= w->slow_times;
	return fmax(round(cost), 1);
}

/* What the law says, and what is peculiar to this size. */
static double expected_at(const struct workload *w, const struct law *law, double n, struct random *r)
{
	double cost = law_at(law, n);

	if (w->spike_share && random_between(r, 0, 1) < w->spike_share)
		cost *= random_magnitude(r, 3, w->spike_times);
	if (w->wave)
		cost *= 1 + w->wave * sin(log2(n) * 6.283185307179586 / w->wave_octaves);
	return cost;
}

static void play_size(struct slope_curve_point *p, const struct workload *w, double expected, size_t calls,
		      struct random *r)
{
	double squares = 0;

	for (size_t i = 0; i < calls; i++) {
		double cost = cost_of_call(w, expected, r), before = cost - p->cost[SLOPE_COST_MEAN];

		p->cost[SLOPE_COST_MEAN] += before / (double)(i + 1);
		squares += before * (cost - p->cost[SLOPE_COST_MEAN]);
		if (!i || cost > p->cost[SLOPE_COST_MAX])
			p->cost[SLOPE_COST_MAX] = cost;
		if (!i || cost < p->cost[SLOPE_COST_MIN])
			p->cost[SLOPE_COST_MIN] = cost;
	}
	p->calls = (double)calls;
	p->variance = calls > 1 ? squares / (double)(calls - 1) : 0;
}

void workload_play(struct slope_curve *curve, const struct workload *w, const struct law *law, struct random *r)
{
	double n[WORKLOAD_SIZES_MAX];

	curve->count = lay_out(w, n, r);
	for (size_t i = 0; i < curve->count; i++) {
		curve->point[i] = (struct slope_curve_point){ .n = n[i] };
		play_size(&curve->point[i], w, expected_at(w, law, n[i], r), calls_of(w, i, curve->count, r), r);
	}
}

char *workload_text(const struct workload *w, char text[WORKLOAD_TEXT])
{
	static const char *const layout[] = {
#define X(id, name) name,
		LAYOUT_LIST(X)
	}, *const calls[] = {
		CALLS_LIST(X)
#undef X
	};
	int length = snprintf(text, WORKLOAD_TEXT, "%s, %s, noise %g%% %s", layout[w->layout], calls[w->calls],
			      100 * w->noise, w->lognormal ? "lognormal" : "uniform");

	if (w->slow_share && length > 0)
		length += snprintf(text + length, WORKLOAD_TEXT - (size_t)length, ", %.0f%% of calls %.1f times slower",
				   100 * w->slow_share, w->slow_times);
	if (w->spike_share && length > 0)
		length += snprintf(text + length, WORKLOAD_TEXT - (size_t)length, ", %.0f%% of sizes up to %.1f times off",
				   100 * w->spike_share, w->spike_times);
	if (w->wave && length > 0)
		snprintf(text + length, WORKLOAD_TEXT - (size_t)length, ", waves of %.0f%%, %.1f octaves long", 100 * w->wave,
			 w->wave_octaves);
	return text;
}
