/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/growth/families.h"

#define COST_MOST 1e15
#define RANGE_LEAST 4.0
#define RANGE_MOST 1e5
#define SIZES_LEAST 8.0

const struct slope_order candidates[CANDIDATES] = {
	{ 0, 0, 0 }, { 0, 1, 0 }, { 0.5, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 },
	{ 1.5, 0, 0 }, { 2, 0, 0 }, { 2, 1, 0 }, { 3, 0, 0 }, { 0, 0, 2 },
};

static const double noises[] = { 0, 0.01, 0.03, 0.1, 0.3 };

const char *family_name(enum family family)
{
	static const char *const names[] = {
#define X(name, cases) #name,
		FAMILY_LIST(X)
#undef X
	};
	return names[family];
}

unsigned family_cases(enum family family)
{
	static const unsigned cases[] = {
#define X(name, cases) cases,
		FAMILY_LIST(X)
#undef X
	};
	return cases[family];
}

/* For exponentials: every size from a small one up to at most 40, some left out. */
static void draw_small_sizes(struct workload *w, double most, struct random *r)
{
	w->from = floor(random_between(r, 1, 8));
	w->to = floor(random_between(r, w->from + SIZES_LEAST + 2, most + 1));
	w->sizes = (size_t)random_between(r, SIZES_LEAST, w->to - w->from + 2);
	w->layout = w->sizes > (w->to - w->from) * 0.7 ? LAYOUT_EVEN : LAYOUT_DRAWN;
}

/* Sizes, and a range that is not too narrow, from `least` to `most`. */
static void draw_sizes(struct workload *w, double least, double most, struct random *r)
{
	double range = random_magnitude(r, RANGE_LEAST, fmin(RANGE_MOST, most / least));

	w->layout = (enum layout)random_below(r, LAYOUTS);
	w->sizes = (size_t)random_magnitude(r, SIZES_LEAST, WORKLOAD_SIZES_MAX + 1);
	w->from = fmax(random_magnitude(r, least, 200), (double)w->sizes / (range - 1));
	w->from = ceil(fmax(fmin(w->from, most / range), least));
	w->to = floor(w->from * range);
	if ((double)w->sizes > w->to - w->from + 1)
		w->sizes = (size_t)(w->to - w->from + 1);
	if (w->sizes < SIZES_LEAST) {
		w->to = w->from + 4 * SIZES_LEAST;
		w->sizes = (size_t)SIZES_LEAST;
	}
}

static void draw_workload(struct workload *w, const struct law *law, double least, struct random *r)
{
	double most = least * 8;

	if (law->truth.base) {
		draw_small_sizes(w, 40, r);
	} else {
		while (most < 2e7 && law_at(law, most * 2) < COST_MOST)
			most *= 2;
		draw_sizes(w, least, most, r);
	}
	w->calls = (enum calls)random_below(r, CALLS_LAWS);
	w->noise = noises[random_below(r, sizeof(noises) / sizeof(*noises))];
	w->lognormal = random_below(r, 2);
}

/* As large as a hundredth of the growth in the middle of the range, or all of it; the middle of n or of log n. */
static void draw_intercept(struct specimen *s, struct random *r)
{
	const struct workload *w = &s->workload;
	double middle = random_magnitude(r, sqrt(w->from * w->to), fmax(w->to / 2, sqrt(w->from * w->to) + 1));

	s->law.constant = random_magnitude(r, 0.01, 1) * s->law.factor * law_order_at(s->law.truth, middle);
}

static void draw_order(struct specimen *s, struct slope_order order, double least, struct random *r)
{
	s->law = (struct law){ .truth = order, .factor = random_magnitude(r, 2, 300) };
	draw_workload(&s->workload, &s->law, least, r);
}

static void draw_exact(struct specimen *s, unsigned number, struct random *r)
{
	const struct exact_law *exact = &exact_laws[number % exact_laws_count];
	struct workload *w = &s->workload;

	s->law = (struct law){ .exact = exact, .truth = exact->truth, .factor = 1 };
	draw_workload(w, &s->law, exact->least, r);
	if (exact->truth.base)
		draw_small_sizes(w, exact->most, r);
	else
		draw_sizes(w, exact->least, exact->most, r);
	w->noise = random_below(r, 3) ? 0 : 0.02;
}

/* The lower law meets the upper one at the break, or lies up to four times below or above it. */
static void draw_regimes(struct specimen *s, unsigned number, struct random *r)
{
	static const struct {
		struct slope_order below, above;
	} pairs[] = {
		{ { 0, 0, 0 }, { 1, 0, 0 } }, { { 0, 1, 0 }, { 1, 0, 0 } }, { { 1, 0, 0 }, { 2, 0, 0 } },
		{ { 0, 0, 0 }, { 2, 0, 0 } }, { { 1, 0, 0 }, { 3, 0, 0 } }, { { 2, 0, 0 }, { 1, 0, 0 } },
		{ { 2, 0, 0 }, { 1, 1, 0 } }, { { 1, 0, 0 }, { 0, 0, 0 } }, { { 1, 0, 0 }, { 1, 0, 0 } },
		{ { 1, 1, 0 }, { 2, 0, 0 } },
	};
	unsigned pair = number % (sizeof(pairs) / sizeof(*pairs));
	struct law *law = &s->law;
	struct workload *w = &s->workload;

	*law = (struct law){ .truth = pairs[pair].above, .below = pairs[pair].below, .factor = random_magnitude(r, 2, 100) };
	double range = random_magnitude(r, 200, law->truth.power > 1 ? 1e4 : 1e5);
	double jump = random_below(r, 2) ? 1 : random_magnitude(r, 2, 4);

	w->from = ceil(random_magnitude(r, 2, 50));
	w->to = floor(w->from * range);
	w->sizes = (size_t)random_magnitude(r, 24, fmin(w->to - w->from, WORKLOAD_SIZES_MAX));
	w->layout = random_below(r, 2) ? LAYOUT_RATIO : LAYOUT_DRAWN_RATIO;
	w->calls = (enum calls)random_below(r, CALLS_LAWS);
	w->noise = noises[random_below(r, 4)];
	w->lognormal = random_below(r, 2);
	law->broken_at = floor(w->from * pow(range, random_between(r, 0.4, 0.6)));
	law->factor_below = law->factor * law_order_at(law->truth, law->broken_at) /
		law_order_at(law->below, law->broken_at) / jump;
}

/* The upper law begins at 60 to 85 % of the range of log n, and carries most of the cost at the end. */
static void draw_late(struct specimen *s, unsigned number, struct random *r)
{
	static const struct slope_order above[] = { { 1, 0, 0 }, { 1, 1, 0 }, { 1.5, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 } };
	struct law *law = &s->law;
	struct workload *w = &s->workload;

	draw_order(s, above[number % 5], 2, r);
	w->noise = noises[random_below(r, 4)];
	law->broken_at = floor(w->from * pow(w->to / w->from, random_between(r, 0.6, 0.85)));
	law->below = candidates[law->truth.power > 1 && random_below(r, 2) ? 3 : 0];
	law->factor_below = law->factor * law_order_at(law->truth, law->broken_at) / law_order_at(law->below, law->broken_at);
}

static void draw_spikes(struct specimen *s, unsigned number, struct random *r)
{
	draw_order(s, candidates[number % (CANDIDATES - 1)], 2, r);
	if (random_below(r, 2))
		draw_intercept(s, r);
	s->workload.noise = noises[random_below(r, 4)];
	s->workload.spike_share = random_between(r, 0.02, 0.1);
	s->workload.spike_times = random_between(r, 5, 50);
}

static void draw_wavy(struct specimen *s, unsigned number, struct random *r)
{
	draw_order(s, candidates[number % (CANDIDATES - 1)], 2, r);
	if (random_below(r, 2))
		draw_intercept(s, r);
	s->workload.noise = noises[random_below(r, 3)];
	s->workload.wave = random_between(r, 0.03, 0.15);
	s->workload.wave_octaves = random_between(r, 1, 4);
}

static void draw_bimodal(struct specimen *s, unsigned number, struct random *r)
{
	draw_order(s, candidates[number % CANDIDATES], 4, r);
	draw_intercept(s, r);
	s->workload.slow_share = random_between(r, 0.05, 0.4);
	s->workload.slow_times = random_between(r, 5, 20);
}

void family_draw(struct specimen *s, enum family family, unsigned number, struct random *r)
{
	static const enum calls skewed[] = { CALLS_ZIPF, CALLS_FADING, CALLS_TAIL };
	struct slope_order order = candidates[number % CANDIDATES];

	*s = (struct specimen){ 0 };
	switch (family) {
	case FAMILY_plain:
		draw_order(s, order, 2, r);
		break;
	case FAMILY_linear:
		draw_order(s, candidates[3], 1, r);
		if (random_below(r, 4))
			draw_intercept(s, r);
		break;
	case FAMILY_intercept:
		draw_order(s, order, 1, r);
		draw_intercept(s, r);
		break;
	case FAMILY_power:
		draw_order(s, (struct slope_order){ .power = random_between(r, 0.5, 3) }, 2, r);
		if (random_below(r, 2))
			draw_intercept(s, r);
		break;
	case FAMILY_exact:
		draw_exact(s, number, r);
		break;
	case FAMILY_skewed:
		draw_order(s, order, 2, r);
		if (random_below(r, 2))
			draw_intercept(s, r);
		s->workload.calls = skewed[random_below(r, 3)];
		break;
	case FAMILY_regimes:
		draw_regimes(s, number, r);
		break;
	case FAMILY_late:
		draw_late(s, number, r);
		break;
	case FAMILY_spikes:
		draw_spikes(s, number, r);
		break;
	case FAMILY_wavy:
		draw_wavy(s, number, r);
		break;
	default:
		draw_bimodal(s, number, r);
		break;
	}
}
