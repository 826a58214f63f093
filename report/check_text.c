/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope check` for people: a line for everything that failed, with the reason;
 * what passed takes one line for each rule, and so does what is inconclusive
 * for one reason, where it is much.
 */
#include <stdint.h>
#include <stdlib.h>

#include "analysis/match.h"
#include "report/clip.h"
#include "report/diff.h"
#include "report/parts.h"

#define WORD_COLUMNS 12          /* INCONCLUSIVE */
#define UNCLEAR_MOST 5           /* of one rule, for one reason, that are listed one by one */

enum {
	REASONS = 0
#define X(id, text) +1
	SLOPE_REASON_LIST(X)
#undef X
};

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
		if (!slope_parts_function(v->profile, check->function, SLOPE_STYLE_PLAIN, v->color, out))
			return false;
		fputc(' ', out);
	}
	fprintf(out, "%s\n", check->why);
	if (check->advice[0])
		fprintf(out, "%*s  %s\n", WORD_COLUMNS, "", check->advice);
	return true;
}

/* Which of a rule's checks are meant: an outcome, and for the inconclusive ones a reason. */
static bool is_meant(const struct slope_check *check, enum slope_outcome outcome, unsigned reason)
{
	return check->outcome == outcome && (outcome != SLOPE_OUTCOME_INCONCLUSIVE || check->growth.reason == reason);
}

static bool put_many(const struct slope_check_view *v, const struct slope_check *first, size_t count, FILE *out)
{
	bool unclear = first->outcome == SLOPE_OUTCOME_INCONCLUSIVE;

	if (!put_rule(v, first, out))
		return false;
	fprintf(out, "%zu functions", count);
	if (unclear && first->growth.reason)
		fprintf(out, ", %s", slope_reason_text(first->growth.reason));
	else if (unclear)
		fputs(", may be within or above", out);
	if (unclear) {
		fputs("; one is ", out);
		if (!slope_parts_function(v->profile, first->function, SLOPE_STYLE_PLAIN, v->color, out))
			return false;
	}
	fputc('\n', out);
	return true;
}

/* Those of `count` checks that are meant: each on a line, or all on one when there are more than `most`. */
static bool put_alike(const struct slope_check_view *v, const struct slope_check *check, size_t count,
		      enum slope_outcome outcome, unsigned reason, size_t most, FILE *out)
{
	bool alone = count == 1 && check->rule && !slope_match_is_glob(check->rule->function), good = true;
	const struct slope_check *first = NULL;
	size_t alike = 0;

	for (size_t i = count; i-- > 0;)
		if (is_meant(&check[i], outcome, reason)) {
			first = &check[i];
			alike++;
		}
	if (alike > most)
		return put_many(v, first, alike, out);
	for (size_t i = 0; good && i < count; i++)
		if (is_meant(&check[i], outcome, reason))
			good = put_check(v, &check[i], alone, out);
	return good;
}

/* All checks of one rule, `count` from `check` on. */
static bool put_group(const struct slope_check_view *v, const struct slope_check *check, size_t count, FILE *out)
{
	bool good = put_alike(v, check, count, SLOPE_OUTCOME_MISSING, 0, SIZE_MAX, out) &&
		    put_alike(v, check, count, SLOPE_OUTCOME_FAIL, 0, SIZE_MAX, out);

	for (unsigned reason = 0; good && reason < REASONS; reason++)
		good = put_alike(v, check, count, SLOPE_OUTCOME_INCONCLUSIVE, reason, UNCLEAR_MOST, out);
	return good && (v->quiet || put_alike(v, check, count, SLOPE_OUTCOME_PASS, 0, 1, out));
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
	if (c->unclear)
		fprintf(out, "%zu function%s that patterns mean not judged: their growth is not clear"
			     " (a rule for one alone says why).\n", c->unclear, c->unclear == 1 ? "" : "s");
	fprintf(out, "%zu passed, %zu failed, %zu inconclusive", c->of[SLOPE_OUTCOME_PASS], c->of[SLOPE_OUTCOME_FAIL],
		c->of[SLOPE_OUTCOME_INCONCLUSIVE]);
	if (c->of[SLOPE_OUTCOME_MISSING])
		fprintf(out, ", %zu without a function", c->of[SLOPE_OUTCOME_MISSING]);
	fputc('\n', out);
	return good;
}
