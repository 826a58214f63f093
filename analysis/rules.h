/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules for growth, and what a profile says to them: "str_* <= n log n".
 *
 * A rule fails only when the evidence is against it: when every order that the
 * points do not rule out is above the bound, and the low end of the exponent's
 * interval is above the slope that the bound has over the measured sizes. It
 * passes when the model is within the bound, or the high end is ("<": only if
 * all that is not ruled out is below). All else is inconclusive, and so is a
 * curve without a verdict, but for one that several models fit: their range is
 * held against the bound.
 */
#ifndef SLOPE_ANALYSIS_RULES_H
#define SLOPE_ANALYSIS_RULES_H

#include "analysis/compare.h"
#include "analysis/growth.h"

struct slope_rule {
	char *function;              /* a name or a glob; see analysis/match.h */
	struct slope_order bound;
	bool strict;                 /* "<": the bound itself is too much */
	char *text;                  /* as it was written, without blanks at its ends and tabs */
};

struct slope_rules {
	struct slope_rule *rule;
	size_t count;
};

/*
 * Appends one rule: FUNCTION <= CLASS, or < for "less than". False and a
 * sentence in `error` when it does not parse or memory runs out; the rules are
 * then as before.
 */
bool slope_rules_add(struct slope_rules *rules, const char *text, char *error, size_t error_bytes);

/*
 * The rules of a text, one on each line. '#' begins a comment at the beginning of a
 * line and after a blank (Rust has it in names); a byte order mark is passed over.
 * The sentence in `error` begins with `name` and the line.
 */
bool slope_rules_add_text(struct slope_rules *rules, const char *name, const char *text, char *error,
			  size_t error_bytes);
void slope_rules_fini(struct slope_rules *rules);

/* X(id, word, word in JSON) */
#define SLOPE_OUTCOME_LIST(X)                            \
	X(PASS, "PASS", "pass")                          \
	X(FAIL, "FAIL", "fail")                          \
	X(INCONCLUSIVE, "INCONCLUSIVE", "inconclusive")  \
	X(MISSING, "MISSING", "missing")

enum slope_outcome {
#define X(id, word, json) SLOPE_OUTCOME_##id,
	SLOPE_OUTCOME_LIST(X)
#undef X
	SLOPE_OUTCOMES
};

#define SLOPE_CHECK_TEXT 384u

/* One rule and one function. */
struct slope_check {
	const struct slope_rule *rule;   /* NULL: the baseline is the rule */
	uint32_t function;           /* only where the outcome is not MISSING */
	enum slope_outcome outcome;
	struct slope_growth growth;
	char why[SLOPE_CHECK_TEXT];  /* one sentence without its full stop */
	char advice[SLOPE_ADVICE_TEXT];  /* what would settle it; empty unless inconclusive */
};

struct slope_checks {
	struct slope_check *check;   /* in the order of the rules; then the baseline's */
	size_t count;
	size_t of[SLOPE_OUTCOMES];   /* how many of each */
	size_t unjudged;             /* functions of substance without a growth in the baseline */
	size_t unclear;              /* functions that a pattern means besides others, and that cannot be judged */
};

struct slope_rules_options {
	uint32_t unit, metric;
	enum slope_statistic of;
};

/*
 * Holds a profile against the rules. A pattern asks about the functions that
 * have a clear growth: of those that it means, the inconclusive ones are only
 * counted, as long as one can be judged. False when memory runs out. The rules must outlive the checks.
 * O(rules * functions) names are compared; each function's growth is found once.
 */
bool slope_checks_add_rules(struct slope_checks *checks, const struct slope_rules *rules, const struct slope_profile *p,
			    const struct slope_rules_options *o);

/* One check for each function of substance that has a growth in the old profile: it must not grow faster now. */
bool slope_checks_add_baseline(struct slope_checks *checks, const struct slope_comparison *c);
void slope_checks_fini(struct slope_checks *checks);

/* Judges a growth: the rule's words on it go into `check`, its rule and function stay. */
void slope_check_judge(struct slope_check *check, const struct slope_rule *rule);

const char *slope_outcome_word(enum slope_outcome outcome);
const char *slope_outcome_json(enum slope_outcome outcome);

/* "n^2 (exponent 1.98, 1.93 .. 2.02) for n = 19 .. 911"; what is not known is left out. Returns `text`. */
#define SLOPE_EVIDENCE_TEXT 160u
char *slope_rules_evidence(const struct slope_growth *g, char text[SLOPE_EVIDENCE_TEXT]);

#endif
