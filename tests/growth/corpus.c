/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * corpus [--verbose] [--family=NAME] [--seed=N] [--case=N]
 *
 * Cost functions of known growth, simulated (see families.h), and what
 * slope_growth_of says about them. Prints which class was taken for which, the
 * rates for each family and noise, and the worst failures. Fails unless
 *   - the true class is inside the range in 95 % of the conclusive answers,
 *   - no more than 1 % of the linear functions are called superlinear,
 *   - 85 % of the cases with 12 sizes or more, 64 times apart, have an answer,
 *   - no more than 1 % of what is not exponential is called so, and
 *   - 75 % of the answers name one class alone: wide ranges enclose everything.
 *
 * The true class is inside when the least and the most order of the answer
 * enclose it. A true power may also lie inside the interval of the exponent when
 * it is none of the candidates, or the answer is none of them. All exponentials
 * are one class. Growth that is less than 5 % of the cost may be called constant.
 *
 * --case=N prints the one case of a family, with its points.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/growth.h"
#include "tests/growth/families.h"

#define INSIDE_LEAST 0.95
#define SUPERLINEAR_MOST 0.01
#define CONCLUSIVE_LEAST 0.85
#define EXPONENTIAL_MOST 0.01
#define SHARP_LEAST 0.75
#define RICH_SIZES 12u
#define RICH_RANGE 64.0

#define CLASSES (CANDIDATES + 1u)    /* and powers that are none of them */
#define SHOWN 12u

struct trial {
	enum family family;
	unsigned number;
	struct specimen specimen;
	struct slope_growth growth;
	bool conclusive, inside, rich;
	double gap;                  /* between the true exponent and the nearest of the range */
};

struct tally {
	unsigned cases, conclusive, inside, sharp, rich, rich_conclusive;
};

struct corpus {
	bool verbose;
	uint64_t seed;
	struct trial *trial;
	size_t count;
	struct slope_curve curve;
};

static bool same_order(struct slope_order a, struct slope_order b)
{
	return !slope_order_compare(a, b);
}

static unsigned class_of(struct slope_order order)
{
	if (order.base)
		return CANDIDATES - 1;
	for (unsigned i = 0; i < CANDIDATES; i++)
		if (same_order(order, candidates[i]))
			return i;
	return CANDIDATES;
}

static bool encloses(const struct slope_growth *g, struct slope_order truth)
{
	if (truth.base)
		return g->most.base != 0;
	if (slope_order_compare(g->least, truth) <= 0 && slope_order_compare(g->most, truth) >= 0)
		return true;
	bool searched = class_of(truth) == CANDIDATES || class_of(g->model.order) == CANDIDATES;

	return searched && !truth.logs && g->low <= truth.power && truth.power <= g->high;
}

/* How far the true curve's mean slope lies outside the range, for sorting failures. */
static double gap_of(const struct trial *t)
{
	const struct slope_growth *g = &t->growth;
	double truth = slope_order_slope(t->specimen.law.truth, g->from, g->to);

	return fmax(slope_order_slope(g->least, g->from, g->to) - truth,
		    truth - slope_order_slope(g->most, g->from, g->to));
}

static void judge(struct trial *t, const struct slope_curve *curve)
{
	const struct law *law = &t->specimen.law;
	const struct slope_growth *g = &t->growth;
	double from = curve->point[0].n, to = curve->point[curve->count - 1].n;

	t->rich = curve->count >= RICH_SIZES && to >= RICH_RANGE * from;
	t->conclusive = g->verdict != SLOPE_VERDICT_INCONCLUSIVE;
	if (!t->conclusive)
		return;
	t->inside = encloses(g, law->truth) || (law_looks_constant(law, from, to) && encloses(g, candidates[0]));
	t->gap = t->inside ? 0 : gap_of(t);
}

/* Each case has random numbers of its own, so that it is the same when it runs alone. */
static void try_case(struct corpus *c, enum family family, unsigned number)
{
	struct trial *t = &c->trial[c->count++];
	struct random r = { c->seed * UINT64_C(0xD1342543DE82EF95) + ((uint64_t)family << 32) + number };

	r.state = random_bits(&r);
	*t = (struct trial){ .family = family, .number = number };
	family_draw(&t->specimen, family, number, &r);
	workload_play(&c->curve, &t->specimen.workload, &t->specimen.law, &r);
	slope_growth_of(&t->growth, &c->curve, SLOPE_COST_MEAN, false);
	judge(t, &c->curve);
}

static void add(struct tally *tally, const struct trial *t)
{
	tally->cases++;
	tally->conclusive += t->conclusive;
	tally->inside += t->inside;
	tally->sharp += t->conclusive && same_order(t->growth.least, t->growth.most);
	tally->rich += t->rich;
	tally->rich_conclusive += t->rich && t->conclusive;
}

static double share(unsigned part, unsigned of)
{
	return of ? (double)part / of : NAN;
}

static void put_rates(const char *name, const struct tally *t)
{
	if (t->cases)
		printf("%-16s %5u %10.1f %10.1f %10.1f %6u %10.1f\n", name, t->cases,
		       100 * share(t->conclusive, t->cases), 100 * share(t->inside, t->conclusive),
		       100 * share(t->sharp, t->conclusive), t->rich, 100 * share(t->rich_conclusive, t->rich));
}

static void put_trial(const struct trial *t)
{
	const struct slope_growth *g = &t->growth;
	char law[LAW_TEXT], workload[WORKLOAD_TEXT], text[3][SLOPE_ORDER_TEXT];

	printf("%s %u: %s; %zu sizes %.0f..%.0f; %s\n", family_name(t->family), t->number,
	       law_text(&t->specimen.law, law), g->sizes, g->n_min, g->n_max, workload_text(&t->specimen.workload, workload));
	printf("    %s%s%s, %s of %s .. %s; exponent %.3f (%.3f .. %.3f), error %.3g, grade %c", slope_verdict_name(g->verdict),
	       g->reason ? ": " : "", slope_reason_text(g->reason), slope_order_text(g->model.order, text[0]),
	       slope_order_text(g->least, text[1]), slope_order_text(g->most, text[2]), g->exponent, g->low, g->high,
	       g->error, g->grade);
	if (g->broken)
		printf("; two regimes, upper from %.0f", g->from);
	printf("%s\n", t->conclusive && !t->inside ? "; WRONG" : "");
}

static void put_matrix(const struct corpus *c)
{
	unsigned seen[CLASSES][CLASSES + 1] = { { 0 } };
	char text[SLOPE_ORDER_TEXT];

	for (size_t i = 0; i < c->count; i++) {
		const struct trial *t = &c->trial[i];

		seen[class_of(t->specimen.law.truth)][t->conclusive ? class_of(t->growth.model.order) : CLASSES]++;
	}
	printf("model (across) found for the true class (down); - is inconclusive\n%-10s", "");
	for (unsigned j = 0; j < CANDIDATES; j++)
		printf("%10s", slope_order_text(candidates[j], text));
	printf("%10s%10s\n", "n^c", "-");
	for (unsigned i = 0; i < CLASSES; i++) {
		printf("%-10s", i < CANDIDATES ? slope_order_text(candidates[i], text) : "n^c");
		for (unsigned j = 0; j <= CLASSES; j++)
			if (seen[i][j])
				printf("%10u", seen[i][j]);
			else
				printf("%10s", ".");
		printf("\n");
	}
	printf("\n");
}

static void put_tables(const struct corpus *c)
{
	static const double noise_up_to[] = { 0, 0.015, 0.05, 0.15, 1 };
	struct tally family[FAMILIES] = { { 0 } }, noise[5] = { { 0 } }, class[CLASSES] = { { 0 } }, all = { 0 };
	char text[SLOPE_ORDER_TEXT], name[32];

	for (size_t i = 0; i < c->count; i++) {
		const struct trial *t = &c->trial[i];
		unsigned level = 0;

		while (t->specimen.workload.noise > noise_up_to[level])
			level++;
		add(&family[t->family], t);
		add(&noise[level], t);
		add(&class[class_of(t->specimen.law.truth)], t);
		add(&all, t);
	}
	printf("%-16s %5s %10s %10s %10s %6s %10s   (in %%)\n", "", "cases", "answered", "inside", "one class", "rich", "answered");
	for (unsigned i = 0; i < FAMILIES; i++)
		put_rates(family_name((enum family)i), &family[i]);
	for (unsigned i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "noise <= %g%%", 100 * noise_up_to[i]);
		put_rates(name, &noise[i]);
	}
	for (unsigned i = 0; i < CLASSES; i++)
		put_rates(i < CANDIDATES ? slope_order_text(candidates[i], text) : "n^c", &class[i]);
	put_rates("all", &all);
	printf("\n");
}

static int by_gap(const void *a, const void *b)
{
	const struct trial *x = a, *y = b;

	if (x->gap != y->gap)
		return x->gap < y->gap ? 1 : -1;
	return x->family != y->family ? (int)x->family - (int)y->family : (int)x->number - (int)y->number;
}

static void put_failures(struct corpus *c)
{
	size_t wrong = 0;

	for (size_t i = 0; i < c->count; i++)
		wrong += c->trial[i].conclusive && !c->trial[i].inside;
	printf("%zu conclusive answers are wrong%s\n", wrong, wrong > SHOWN && !c->verbose ? "; the worst:" : ":");
	qsort(c->trial, c->count, sizeof(*c->trial), by_gap);
	for (size_t i = 0, shown = 0; i < c->count && (c->verbose || shown < SHOWN); i++)
		if (c->trial[i].conclusive && !c->trial[i].inside) {
			put_trial(&c->trial[i]);
			shown++;
		}
	for (size_t i = 0; i < c->count && c->verbose; i++)
		if (c->trial[i].rich && !c->trial[i].conclusive)
			put_trial(&c->trial[i]);
	printf("\n");
}

static bool expect(const char *what, double is, double limit, bool at_least)
{
	bool good = is != is || (at_least ? is >= limit : is <= limit);

	printf("%-52s %6.2f %%  (%s %.0f %%)%s\n", what, 100 * is, at_least ? "at least" : "at most", 100 * limit,
	       good ? "" : "  MISSED");
	return good;
}

static bool meets_thresholds(const struct corpus *c)
{
	struct tally all = { 0 };
	unsigned linear = 0, superlinear = 0, linearithmic = 0, polynomial = 0, exponential = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct trial *t = &c->trial[i];

		add(&all, t);
		polynomial += !t->specimen.law.truth.base;
		exponential += !t->specimen.law.truth.base && t->growth.verdict == SLOPE_VERDICT_EXPONENTIAL;
		if (!same_order(t->specimen.law.truth, candidates[3]))
			continue;
		linear++;
		linearithmic += t->growth.verdict == SLOPE_VERDICT_LINEARITHMIC;
		superlinear += t->growth.verdict == SLOPE_VERDICT_SUPERLINEAR || t->growth.verdict == SLOPE_VERDICT_EXPONENTIAL;
	}
	printf("%zu cases, seed %llu; %u are linear, of which %u are called linearithmic\n", c->count,
	       (unsigned long long)c->seed, linear, linearithmic);
	bool good = expect("true class inside the range of an answer", share(all.inside, all.conclusive), INSIDE_LEAST, true);

	good &= expect("linear functions called superlinear", share(superlinear, linear), SUPERLINEAR_MOST, false);
	good &= expect("answers where there are 12 sizes over 64x", share(all.rich_conclusive, all.rich), CONCLUSIVE_LEAST, true);
	good &= expect("polynomial functions called exponential", share(exponential, polynomial), EXPONENTIAL_MOST, false);
	good &= expect("answers that name one class alone", share(all.sharp, all.conclusive), SHARP_LEAST, true);
	return good;
}

static void put_points(const struct slope_curve *curve)
{
	for (size_t i = 0; i < curve->count; i++) {
		const struct slope_curve_point *p = &curve->point[i];

		printf("%10.0f %8.0f %18.2f %18.0f %18.0f\n", p->n, p->calls, p->cost[SLOPE_COST_MEAN],
		       p->cost[SLOPE_COST_MIN], p->cost[SLOPE_COST_MAX]);
	}
}

static bool run(struct corpus *c, int family, int number)
{
	for (int f = 0; f < FAMILIES; f++)
		for (unsigned i = 0; i < family_cases((enum family)f); i++)
			if ((family < 0 || f == family) && (number < 0 || i == (unsigned)number))
				try_case(c, (enum family)f, i);
	if (number >= 0) {
		if (c->count)
			put_trial(&c->trial[0]);
		put_points(&c->curve);
		return c->count > 0;
	}
	put_matrix(c);
	put_tables(c);
	put_failures(c);
	return meets_thresholds(c);
}

static int family_of(const char *name)
{
	for (int f = 0; f < FAMILIES; f++)
		if (!strcmp(name, family_name((enum family)f)))
			return f;
	fprintf(stderr, "corpus: there is no family '%s'\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "verbose", no_argument, NULL, 'v' }, { "family", required_argument, NULL, 'f' },
		{ "seed", required_argument, NULL, 's' }, { "case", required_argument, NULL, 'c' }, { 0 },
	};
	struct corpus c = { .seed = 1, .curve = slope_curve_none() };
	int family = -1, number = -1, option;
	size_t cases = 0;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (option) {
		case 'v': c.verbose = true; break;
		case 'f': family = family_of(optarg); break;
		case 's': c.seed = strtoull(optarg, NULL, 10); break;
		case 'c': number = atoi(optarg); break;
		default: return 2;
		}
	if (number >= 0 && family < 0)
		return fprintf(stderr, "corpus: --case=N needs --family=NAME\n"), 2;
	for (int f = 0; f < FAMILIES; f++)
		cases += family_cases((enum family)f);
	c.trial = calloc(cases, sizeof(*c.trial));
	c.curve.point = calloc(WORKLOAD_SIZES_MAX, sizeof(*c.curve.point));
	c.curve.capacity = WORKLOAD_SIZES_MAX;
	if (!c.trial || !c.curve.point)
		return 2;
	bool good = run(&c, family, number);

	free(c.curve.point);
	free(c.trial);
	return good ? 0 : 1;
}
