/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every threshold is named here and checked by tests/growth/corpus. */
#include "analysis/contest.h"

#include <math.h>

#define CRITERION_CLEAR 6.0      /* a difference in AICc that rules a model out ... */
#define LEFT_OUT_CLEAR 1.3       /* ... if the leave-one-out error, too, is so many times the best */
#define CRITERION_PREFERS 2.0    /* a difference in AICc that counts for a model */
#define HOPELESS 0.25            /* the error of a constant that cannot be one */
#define GAIN_CLEAR 1.3           /* what a further parameter must gain in the leave-one-out error */
#define GAIN_CRITERION 8.0       /* and in AICc */
#define UPPER_RANGE 12.0         /* the sizes that can do without a logarithm: up to this ratio below the largest, */
#define UPPER_BINS 10u           /* ... if there are so many bins, */
#define UPPER_PRICE 2.0          /* ... and if it makes the leave-one-out error at most so many times as large */

static const struct slope_order plain[] = {
	{ 0, 0, 0 }, { 0, 1, 0 }, { 0.5, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 },
	{ 1.5, 0, 0 }, { 2, 0, 0 }, { 2, 1, 0 }, { 3, 0, 0 },
};
#define PLAIN (sizeof(plain) / sizeof(*plain))
#define PLAIN_LINEAR 3u
#define FIRST_ABOVE_LINEAR 4u    /* these are also tried with a linear term */

_Static_assert(2 * PLAIN - FIRST_ABOVE_LINEAR + 2 == SLOPE_CANDIDATES, "each has a place");

static void fit_all(struct slope_contest *c, const struct slope_bins *b)
{
	unsigned at = 0;

	for (unsigned i = 0; i < PLAIN; i++, at++)
		c->there[at] = slope_fit_order(&c->fit[at], b, plain[i], false, 0);
	for (unsigned i = FIRST_ABOVE_LINEAR; i < PLAIN; i++, at++)
		c->there[at] = slope_fit_order(&c->fit[at], b, plain[i], true, 0);
	c->power = at++;
	c->there[c->power] = slope_fit_power(&c->fit[c->power], b, false);
	c->exponential = at++;
	c->there[c->exponential] = (!c->there[c->power] || c->fit[c->power].model.order.power > SLOPE_POWER_CONVEX) &&
				   slope_fit_exponential(&c->fit[c->exponential], b);
}

/* The best by AICc among those with at most so many parameters (the scatter is one of them). */
static unsigned best_of(const struct slope_contest *c, unsigned parameters)
{
	unsigned best = SLOPE_CANDIDATE_CONSTANT;

	for (unsigned i = best + 1; i < SLOPE_CANDIDATES; i++)
		if (c->there[i] && c->fit[i].parameters <= parameters && c->fit[i].criterion < c->fit[best].criterion)
			best = i;
	return best;
}

static bool clearly_better(const struct slope_fit *more, const struct slope_fit *less)
{
	/* With few bins AICc takes a constant for anything: not where it is plainly wrong. */
	if (less->parameters == 2 && less->error > HOPELESS && more->left_out * 2 < less->left_out && more->certainty > 3)
		return true;
	return more->criterion < less->criterion - GAIN_CRITERION && more->left_out * GAIN_CLEAR < less->left_out &&
	       more->certainty > 3;
}

/* Of those with one term besides the constant. */
static unsigned best_rising(const struct slope_contest *c)
{
	unsigned best = SLOPE_CANDIDATE_CONSTANT;

	for (unsigned i = 1; i < SLOPE_CANDIDATES; i++)
		if (c->there[i] && c->fit[i].parameters == 3 &&
		    (best == SLOPE_CANDIDATE_CONSTANT || c->fit[i].criterion < c->fit[best].criterion))
			best = i;
	return best;
}

/* Simple models first: one with more parameters must be clearly better than the best simpler one. */
static void choose(struct slope_contest *c, size_t bins)
{
	double effective = slope_fit_effective(&c->fit[best_of(c, 4)], bins);

	for (unsigned i = 0; i < SLOPE_CANDIDATES; i++)
		if (c->there[i])
			c->fit[i].criterion = slope_fit_criterion(&c->fit[i], effective);
	c->best = best_of(c, 2);
	for (unsigned parameters = 3; parameters <= 4; parameters++) {
		unsigned next = best_of(c, parameters);

		if (next == SLOPE_CANDIDATE_CONSTANT && c->fit[next].error > HOPELESS)
			next = best_rising(c);
		if (c->fit[next].parameters > c->fit[c->best].parameters && clearly_better(&c->fit[next], &c->fit[c->best]))
			c->best = next;
	}
}

/*
 * As simple as the chosen one, a model is ruled out when both criteria say so.
 * One with more parameters was not clearly better; where AICc would have taken
 * it, it belongs to the range. (A linear term more would fit nearly everything.)
 */
static bool stands(const struct slope_fit *f, const struct slope_fit *best)
{
	if (f->certainty < 2)
		return false;
	if (f->parameters > best->parameters)
		return !f->linear && f->criterion < best->criterion - CRITERION_PREFERS;
	return f->criterion <= best->criterion + CRITERION_CLEAR || f->left_out <= best->left_out * LEFT_OUT_CLEAR + 0.001;
}

static void rule_out(struct slope_contest *c)
{
	for (unsigned i = 0; i < SLOPE_CANDIDATES; i++)
		c->stands[i] = c->there[i] && (i == c->best || stands(&c->fit[i], &c->fit[c->best]));
}

/*
 * Linear is what is expected of a function: where the points allow it, nothing
 * steeper is said. And a logarithm is not said where the power alone will do.
 */
static void prefer_plain(struct slope_contest *c)
{
	struct slope_order order = c->fit[c->best].model.order;

	if (c->stands[PLAIN_LINEAR] && slope_order_compare(order, plain[PLAIN_LINEAR]) > 0)
		c->best = PLAIN_LINEAR;
	else if (order.logs && order.power)
		for (unsigned i = 0; i < c->power; i++)
			if (c->stands[i] && !c->fit[i].model.order.logs && c->fit[i].model.order.power == order.power &&
			    c->fit[i].linear == c->fit[c->best].linear)
				c->best = i;
}

static void decide(struct slope_contest *c, const struct slope_bins *b)
{
	fit_all(c, b);
	choose(c, b->count);
	rule_out(c);
	prefer_plain(c);
}

/*
 * Small sizes with ways of their own bend a square into a square with a
 * logarithm. Where the upper sizes alone do without it, so does the answer.
 */
static void confirm_logarithm(struct slope_contest *c, const struct slope_bins *b)
{
	struct slope_order order = c->fit[c->best].model.order;
	size_t first = b->count;
	struct slope_bins upper;
	struct slope_contest above;

	while (first > 0 && b->n[first - 1] * UPPER_RANGE >= b->n[b->count - 1])
		first--;
	if (!order.logs || order.power < 2 || b->count - first < UPPER_BINS)
		return;
	slope_bins_part(&upper, b, first, b->count - first);
	decide(&above, &upper);
	for (unsigned i = 0; i < c->power; i++)
		if (c->there[i] && above.stands[i] && !c->fit[i].model.order.logs && c->fit[i].model.order.power == order.power) {
			c->stands[i] = true;
			if (c->fit[i].left_out < c->fit[c->best].left_out * UPPER_PRICE)
				c->best = i;
		}
}

void slope_contest_hold(struct slope_contest *c, const struct slope_bins *b)
{
	decide(c, b);
	confirm_logarithm(c, b);
}

/* A searched power next to a plain one does not rule that out. */
static struct slope_order near_plain(struct slope_order order)
{
	for (unsigned i = 0; i < PLAIN && !order.base && !order.logs; i++)
		if (!plain[i].logs && fabs(plain[i].power - order.power) <= SLOPE_POWER_SAME)
			return plain[i];
	return order;
}

static void widen(struct slope_order order, struct slope_order *least, struct slope_order *most)
{
	if (slope_order_compare(order, *least) < 0)
		*least = order;
	if (slope_order_compare(order, *most) > 0)
		*most = order;
}

void slope_contest_range(const struct slope_contest *c, struct slope_order *least, struct slope_order *most)
{
	*least = *most = c->fit[c->best].model.order;
	for (unsigned i = 0; i < SLOPE_CANDIDATES; i++) {
		if (!c->stands[i])
			continue;
		widen(c->fit[i].model.order, least, most);
		widen(near_plain(c->fit[i].model.order), least, most);
	}
}
