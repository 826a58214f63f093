/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/rules.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/match.h"
#include "analysis/pairing.h"

#define SAME_SLOPE 0.05          /* exponents this near are one */

#define AT_MOST "\xe2\x89\xa4"   /* the sign that editors make of <= */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"   /* what some editors put before a text */
#define FORM "a rule is FUNCTION <= CLASS, such as 'str_* <= n log n'"

/* ---- rules ---- */

/* Without blanks at its ends; tabs and the like become blanks. */
static char *trimmed(const char *text, size_t bytes)
{
	while (bytes && isspace((unsigned char)*text)) {
		text++;
		bytes--;
	}
	while (bytes && isspace((unsigned char)text[bytes - 1]))
		bytes--;
	char *copy = strndup(text, bytes);

	for (char *c = copy; c && *c; c++)
		if (isspace((unsigned char)*c))
			*c = ' ';
	return copy;
}

/* Where the sign is that divides function and class, the last one: C++ names have '<' too. Sets what it says. */
static const char *find_sign(const char *text, size_t *bytes, bool *strict)
{
	const char *sign = NULL;

	for (const char *c = text; *c; c++) {
		if (*c == '<') {
			sign = c;
			*bytes = c[1] == '=' ? 2 : 1;
			*strict = c[1] != '=';
		} else if (!strncmp(c, AT_MOST, 3)) {
			sign = c;
			*bytes = 3;
			*strict = false;
		}
	}
	return sign;
}

static void rule_fini(struct slope_rule *rule)
{
	free(rule->function);
	free(rule->text);
}

static bool parse(struct slope_rule *rule, const char *text, char *error, size_t error_bytes)
{
	size_t bytes = 0;
	const char *sign = find_sign(text, &bytes, &rule->strict);

	if (!sign) {
		snprintf(error, error_bytes, "'%s' has no '<='; " FORM, text);
		return false;
	}
	rule->function = trimmed(text, (size_t)(sign - text));
	rule->text = trimmed(text, strlen(text));
	if (!rule->function || !rule->text) {
		snprintf(error, error_bytes, "out of memory");
		return false;
	}
	if (!rule->function[0]) {
		snprintf(error, error_bytes, "'%s' names no function; " FORM, rule->text);
		return false;
	}
	if (rule->strict && sign > text && sign[-1] == '=') {
		snprintf(error, error_bytes, "'%s' has '=<'; " FORM, rule->text);
		return false;
	}
	if (!slope_order_parse(sign + bytes, &rule->bound)) {
		snprintf(error, error_bytes,
			 "'%s' has no class after '%.*s'; there are 1, log n, sqrt n, n, n log n, n^1.5, n^2, n^3, 2^n",
			 rule->text, (int)bytes, sign);
		return false;
	}
	return true;
}

bool slope_rules_add(struct slope_rules *rules, const char *text, char *error, size_t error_bytes)
{
	struct slope_rule rule = { 0 }, *more;

	if (!parse(&rule, text, error, error_bytes)) {
		rule_fini(&rule);
		return false;
	}
	more = rules->rule;
	if (!(rules->count & (rules->count - 1)))    /* 0, or a power of two: full */
		more = realloc(more, (rules->count ? 2 * rules->count : 1) * sizeof(*more));
	if (!more) {
		snprintf(error, error_bytes, "out of memory");
		rule_fini(&rule);
		return false;
	}
	rules->rule = more;
	more[rules->count++] = rule;
	return true;
}

static bool add_line(struct slope_rules *rules, const char *from, size_t bytes, char *error, size_t error_bytes)
{
	size_t code = 0;

	while (code < bytes && (from[code] != '#' || (code && !isspace((unsigned char)from[code - 1]))))
		code++;
	char *line = trimmed(from, code);
	bool good = line && (!line[0] || slope_rules_add(rules, line, error, error_bytes));

	if (!line)
		snprintf(error, error_bytes, "out of memory");
	free(line);
	return good;
}

bool slope_rules_add_text(struct slope_rules *rules, const char *name, const char *text, char *error,
			  size_t error_bytes)
{
	char why[SLOPE_CHECK_TEXT + 128];
	size_t line = 1;

	if (!strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)))
		text += strlen(BYTE_ORDER_MARK);
	for (const char *at = text; *at; line++) {
		size_t bytes = strcspn(at, "\n");

		if (!add_line(rules, at, bytes, why, sizeof(why))) {
			snprintf(error, error_bytes, "%s:%zu: %s", name, line, why);
			return false;
		}
		at += bytes + (at[bytes] == '\n');
	}
	return true;
}

void slope_rules_fini(struct slope_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		rule_fini(&rules->rule[i]);
	free(rules->rule);
	*rules = (struct slope_rules){ 0 };
}

/* ---- one check ---- */

const char *slope_outcome_word(enum slope_outcome outcome)
{
	static const char *const word[] = {
#define X(id, shown, json) shown,
		SLOPE_OUTCOME_LIST(X)
#undef X
	};

	return word[outcome];
}

const char *slope_outcome_json(enum slope_outcome outcome)
{
	static const char *const word[] = {
#define X(id, shown, json) json,
		SLOPE_OUTCOME_LIST(X)
#undef X
	};

	return word[outcome];
}

/* Several models are no verdict, but a range that a bound can be held against. */
static bool has_range(const struct slope_growth *g)
{
	return g->fitted && (g->verdict != SLOPE_VERDICT_INCONCLUSIVE || g->reason == SLOPE_REASON_SEVERAL);
}

/* "n = 4 .. 300"; "" where nothing was measured. */
static void put_sizes(const struct slope_growth *g, char text[64])
{
	if (!g->sizes)
		text[0] = '\0';
	else if (g->n_min == g->n_max)
		snprintf(text, 64, "n = %.0f alone", g->n_min);
	else
		snprintf(text, 64, "n = %.0f .. %.0f", g->n_min, g->n_max);
}

char *slope_rules_evidence(const struct slope_growth *g, char text[SLOPE_EVIDENCE_TEXT])
{
	char least[SLOPE_ORDER_TEXT], growth[SLOPE_GROWTH_TEXT], exponent[64] = "", range[SLOPE_INTERVAL_TEXT], sizes[64];

	put_sizes(g, sizes);
	if (!has_range(g)) {
		snprintf(text, SLOPE_EVIDENCE_TEXT, sizes[0] ? "%s (%s)" : "%s", slope_reason_text(g->reason), sizes);
		return text;
	}
	if (isfinite(g->exponent))
		snprintf(exponent, sizeof(exponent), " (exponent %.2f, %s)", g->exponent, slope_growth_interval(g, range));
	if (g->reason)
		snprintf(text, SLOPE_EVIDENCE_TEXT, "%s .. %s%s for %s", slope_order_text(g->least, least),
			 slope_order_text(g->most, growth), exponent, sizes);
	else
		snprintf(text, SLOPE_EVIDENCE_TEXT, "%s%s for %s", slope_growth_text(g, growth), exponent, sizes);
	return text;
}

/* Is what was found above the bound, with all of it? For "<", at the bound is above. */
static bool is_above(const struct slope_growth *g, const struct slope_rule *rule, double slope)
{
	int order = slope_order_compare(g->least, rule->bound);

	return rule->strict ? order >= 0 && g->high >= slope : order > 0 && g->low > slope;
}

/*
 * "<=" asks for no certainty that nothing steeper can be: the verdict is
 * enough, as long as there is one. "<" asks that the bound be ruled out.
 */
static bool is_within(const struct slope_growth *g, const struct slope_rule *rule, double slope)
{
	if (rule->strict)
		return slope_order_compare(g->most, rule->bound) < 0 || g->high < slope;
	if (slope_order_compare(g->most, rule->bound) <= 0 || g->high <= slope + SAME_SLOPE)
		return true;
	return !g->reason && slope_order_compare(g->model.order, rule->bound) <= 0;
}

void slope_check_judge(struct slope_check *check, const struct slope_rule *rule)
{
	const struct slope_growth *g = &check->growth;
	char evidence[SLOPE_EVIDENCE_TEXT], bound[SLOPE_ORDER_TEXT];
	double slope = slope_order_slope(rule->bound, g->from, g->to);

	slope_rules_evidence(g, evidence);
	slope_order_text(rule->bound, bound);
	check->rule = rule;
	check->advice[0] = '\0';
	if (!has_range(g)) {
		check->outcome = SLOPE_OUTCOME_INCONCLUSIVE;
		snprintf(check->why, sizeof(check->why), "%s", evidence);
		slope_growth_advice(g, check->advice);
	} else if (is_above(g, rule, slope)) {
		check->outcome = SLOPE_OUTCOME_FAIL;
		snprintf(check->why, sizeof(check->why), "grows like %s; %s %s", evidence,
			 rule->strict ? "not below" : "above", bound);
	} else if (is_within(g, rule, slope)) {
		check->outcome = SLOPE_OUTCOME_PASS;
		snprintf(check->why, sizeof(check->why), "grows like %s", evidence);
	} else {
		check->outcome = SLOPE_OUTCOME_INCONCLUSIVE;
		snprintf(check->why, sizeof(check->why), "%s may be within %s or above", evidence, bound);
		snprintf(check->advice, sizeof(check->advice),
			 "run inputs of 8 times these sizes, and merge the profiles");
	}
}

/* ---- checks ---- */

static struct slope_check *next_check(struct slope_checks *checks)
{
	struct slope_check *more = checks->check;

	if (!(checks->count & (checks->count - 1)))   /* 0, or a power of two: full */
		more = realloc(more, (checks->count ? 2 * checks->count : 1) * sizeof(*more));
	if (!more)
		return NULL;
	checks->check = more;
	more[checks->count] = (struct slope_check){ 0 };
	return &more[checks->count];
}

static void keep(struct slope_checks *checks)
{
	checks->of[checks->check[checks->count++].outcome]++;
}

static bool add_missing(struct slope_checks *checks, const struct slope_rule *rule)
{
	struct slope_check *check = next_check(checks);

	if (!check)
		return false;
	check->rule = rule;
	check->outcome = SLOPE_OUTCOME_MISSING;
	snprintf(check->why, sizeof(check->why), "no function in the profile has this name");
	keep(checks);
	return true;
}

/* What is held against the rules. */
struct subject {
	const struct slope_profile *p;
	const struct slope_rules_options *o;
	struct slope_curve curve;
	size_t *checked;             /* by function: 1 + a check that has its growth; 0: none yet */
};

static bool find_growth(struct subject *s, const struct slope_checks *checks, uint32_t function, struct slope_growth *g)
{
	if (s->checked[function]) {
		*g = checks->check[s->checked[function] - 1].growth;
		return true;
	}
	if (!slope_curve_load(&s->curve, s->p, function, SLOPE_CURVE_ALL_THREADS, s->o->metric, s->o->unit))
		return false;
	slope_growth_of(g, &s->curve, s->o->of, true);
	s->checked[function] = checks->count + 1;
	return true;
}

static bool add_function(struct slope_checks *checks, const struct slope_rule *rule, uint32_t function, struct subject *s)
{
	struct slope_check *check = next_check(checks);

	if (!check || !find_growth(s, checks, function, &check->growth))
		return false;
	check->function = function;
	slope_check_judge(check, rule);
	keep(checks);
	return true;
}

/* Takes the inconclusive ones of a pattern's checks, those from `first` on, out again; unless there are no others. */
static void drop_unclear(struct slope_checks *checks, size_t first, struct subject *s)
{
	size_t kept = first, end = checks->count, judged = 0;

	for (size_t i = first; i < end; i++)
		judged += checks->check[i].outcome != SLOPE_OUTCOME_INCONCLUSIVE;
	for (size_t i = first; i < end && judged; i++) {
		struct slope_check *check = &checks->check[i];

		if (check->outcome == SLOPE_OUTCOME_INCONCLUSIVE) {
			checks->of[check->outcome]--;
			checks->unclear++;
			s->checked[check->function] = 0;
			continue;
		}
		if (s->checked[check->function] == i + 1)
			s->checked[check->function] = kept + 1;
		checks->check[kept++] = *check;
	}
	if (judged)
		checks->count = kept;
}

static bool add_rule(struct slope_checks *checks, const struct slope_rule *rule, struct subject *s)
{
	const struct slope_profile *p = s->p;
	size_t before = checks->count;

	for (size_t i = 0; i < p->row_count; i++) {
		uint32_t function = p->row[i].function;

		if (function == SLOPE_FN_ROOT || (i && p->row[i - 1].function == function) ||
		    !slope_match_function(rule->function, &p->function[function]))
			continue;
		if (!add_function(checks, rule, function, s))
			return false;
	}
	if (strpbrk(rule->function, "*?["))
		drop_unclear(checks, before, s);
	return checks->count > before || add_missing(checks, rule);
}

bool slope_checks_add_rules(struct slope_checks *checks, const struct slope_rules *rules, const struct slope_profile *p,
			    const struct slope_rules_options *o)
{
	struct subject s = {
		.p = p, .o = o, .curve = slope_curve_none(), .checked = calloc(p->function_count + 1, sizeof(*s.checked))
	};
	bool good = s.checked != NULL;

	for (size_t i = 0; good && i < rules->count; i++)
		good = add_rule(checks, &rules->rule[i], &s);
	slope_curve_fini(&s.curve);
	free(s.checked);
	return good;
}

static void judge_difference(struct slope_check *check, const struct slope_difference *d)
{
	char before[SLOPE_EVIDENCE_TEXT], after[SLOPE_EVIDENCE_TEXT];

	slope_rules_evidence(&d->old.growth, before);
	slope_rules_evidence(&d->now.growth, after);
	check->function = d->now.function;
	check->growth = d->now.growth;
	if (d->growth > 0) {
		check->outcome = SLOPE_OUTCOME_FAIL;
		snprintf(check->why, sizeof(check->why), "grows like %s; it was %s", after, before);
	} else if (d->rising) {
		check->outcome = SLOPE_OUTCOME_INCONCLUSIVE;
		snprintf(check->why, sizeof(check->why), "%s; costs %.2f times as much at n = %.0f, and that rises with n",
			 after, d->ratio.at_to, d->ratio.to);
		snprintf(check->advice, sizeof(check->advice), "run inputs of 8 times these sizes");
	} else if (d->unclear) {
		check->outcome = SLOPE_OUTCOME_INCONCLUSIVE;
		snprintf(check->why, sizeof(check->why), "%s; it was %s", after, before);
		slope_growth_advice(&d->now.growth, check->advice);
	} else {
		check->outcome = SLOPE_OUTCOME_PASS;
		snprintf(check->why, sizeof(check->why), "grows like %s", after);
	}
}

bool slope_checks_add_baseline(struct slope_checks *checks, const struct slope_comparison *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct slope_difference *d = &c->entry[i];
		bool known = d->old.function != SLOPE_PAIRING_NONE &&
			     d->old.growth.verdict != SLOPE_VERDICT_INCONCLUSIVE;

		if (!d->matters || d->now.function == SLOPE_PAIRING_NONE)
			continue;
		if (!known) {
			checks->unjudged++;
			continue;
		}
		struct slope_check *check = next_check(checks);

		if (!check)
			return false;
		judge_difference(check, d);
		keep(checks);
	}
	return true;
}

void slope_checks_fini(struct slope_checks *checks)
{
	free(checks->check);
	*checks = (struct slope_checks){ 0 };
}
