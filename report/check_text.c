/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope check` for people: a line for everything that did not pass, with the
 * reason; what passed takes one line for each rule.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"
#include "report/diff.h"

#define WORD_COLUMNS 12          /* INCONCLUSIVE */

static enum slope_table_style style_of(enum slope_outcome outcome)
{
	if (outcome == SLOPE_OUTCOME_PASS)
		return SLOPE_STYLE_BOLD;
	return outcome == SLOPE_OUTCOME_INCONCLUSIVE ? SLOPE_STYLE_WARM : SLOPE_STYLE_HOT;
}

/* The outcome and the rule, made harmless. */
static bool put_rule(const struct slope_check_view *v, const struct slope_check *check, FILE *out)
{
	enum slope_table_style style = style_of(check->outcome);
	char *text = slope_clip_middle(check->rule ? check->rule->text : v->baseline, SIZE_MAX);

	if (!text)
		return false;
	fprintf(out, "%s%-*s%s  %s%s: ", slope_style_on(style, v->color), WORD_COLUMNS,
		slope_outcome_word(check->outcome), slope_style_off(style, v->color),
		check->rule ? "" : "no worse than ", text);
	free(text);
	return true;
}

static bool put_check(const struct slope_check_view *v, const struct slope_check *check, bool alone, FILE *out)
{
	bool missing = check->outcome == SLOPE_OUTCOME_MISSING;

	if (!put_rule(v, check, out))
		return false;
	if (!missing && !alone) {    /* the rule does not say which function it is */
		if (!slope_diff_put_function(v->profile, check->function, SLOPE_STYLE_PLAIN, v->color, out))
			return false;
		fputc(' ', out);
	}
	fprintf(out, "%s\n", check->why);
	if (check->advice[0])
		fprintf(out, "%*s  %s\n", WORD_COLUMNS, "", check->advice);
	return true;
}

/* All checks of one rule, `count` from `check` on. Many that passed become one line. */
static bool put_group(const struct slope_check_view *v, const struct slope_check *check, size_t count, FILE *out)
{
	const struct slope_check *passed = NULL;
	size_t passes = 0;
	bool alone = count == 1 && check->rule && !strpbrk(check->rule->function, "*?["), good = true;

	for (size_t i = 0; good && i < count; i++) {
		if (check[i].outcome == SLOPE_OUTCOME_PASS) {
			passed = &check[i];
			passes++;
		} else {
			good = put_check(v, &check[i], alone, out);
		}
	}
	if (!good || !passes || v->quiet)
		return good;
	if (passes == 1)
		return put_check(v, passed, alone, out);
	if (!put_rule(v, passed, out))
		return false;
	fprintf(out, "%zu functions\n", passes);
	return true;
}

bool slope_check_text(const struct slope_check_view *v, FILE *out)
{
	const struct slope_checks *c = v->checks;
	bool good = true;

	for (size_t i = 0, next; good && i < c->count; i = next) {
		for (next = i + 1; next < c->count && c->check[next].rule == c->check[i].rule; next++)
			;
		good = put_group(v, &c->check[i], next - i, out);
	}
	if (v->baseline && c->unjudged)
		fprintf(out, "%zu function%s not judged: no growth is known in %s.\n", c->unjudged,
			c->unjudged == 1 ? "" : "s", v->baseline);
	fprintf(out, "%zu passed, %zu failed, %zu inconclusive", c->of[SLOPE_OUTCOME_PASS], c->of[SLOPE_OUTCOME_FAIL],
		c->of[SLOPE_OUTCOME_INCONCLUSIVE]);
	if (c->of[SLOPE_OUTCOME_MISSING])
		fprintf(out, ", %zu without a function", c->of[SLOPE_OUTCOME_MISSING]);
	fputc('\n', out);
	return good;
}
