/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope check: holds a profile against rules and a baseline; a gate for CI. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/datafile.h"
#include "cli/judging.h"
#include "cli/list.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "report/diff.h"

/* In the order of the words. */
#define INCONCLUSIVE_CHOICES "apart|pass|fail"
enum inconclusive { INCONCLUSIVE_APART, INCONCLUSIVE_PASS, INCONCLUSIVE_FAIL };

struct settings {
	bool json, quiet, allow_missing;
	unsigned color, inconclusive;
	const char *baseline, *junit;
	struct slope_list rules;
	struct slope_judging judging;
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "rules", 'r', SLOPE_OPTION_LIST, &s->rules, "FILE",
		  "rules from a file, one on each line; may be given again", 0, 0 },
		{ "baseline", 'b', SLOPE_OPTION_TEXT, &s->baseline, "PROFILE",
		  "no function may grow faster than in this one", 0, 0 },
		{ "json", 'j', SLOPE_OPTION_FLAG, &s->json, NULL, "print JSON (schema slope-check/1)", 0, 0 },
		{ "junit", 0, SLOPE_OPTION_TEXT, &s->junit, "FILE", "write JUnit's XML as well, for CI systems", 0, 0 },
		{ "quiet", 'q', SLOPE_OPTION_FLAG, &s->quiet, NULL, "leave out what passed", 0, 0 },
		{ "inconclusive", 0, SLOPE_OPTION_CHOICE, &s->inconclusive, INCONCLUSIVE_CHOICES,
		  "what too little evidence counts as; apart: exit status 3 (apart)", 0, 0 },
		{ "allow-missing", 0, SLOPE_OPTION_FLAG, &s->allow_missing, NULL, "a rule may have no function", 0, 0 },
		{ "of", 0, SLOPE_OPTION_CHOICE, &s->judging.of, SLOPE_OF_CHOICES, "which cost of a size counts (mean)",
		  0, 0 },
		{ "unit", 'u', SLOPE_OPTION_TEXT, &s->judging.unit, "NAME",
		  "the cost unit (the first that was recorded)", 0, 0 },
		{ "input", 'i', SLOPE_OPTION_CHOICE, &s->judging.input, SLOPE_VIEW_INPUTS,
		  "by which input size points count (trms where it was recorded)", 0, 0 },
		{ "level", 0, SLOPE_OPTION_TEXT, &s->judging.level, "PERCENT", "baseline: false alarms among all (5)",
		  0, 0 },
		{ "min-exponent", 0, SLOPE_OPTION_TEXT, &s->judging.exponent, "X",
		  "baseline: a smaller change of the exponent passes (0.1)", 0, 0 },
		{ "share", 0, SLOPE_OPTION_TEXT, &s->judging.share, "PERCENT",
		  "baseline: functions of less cost are not judged (1)", 0, 0 },
		{ "color", 0, SLOPE_OPTION_CHOICE, &s->color, SLOPE_COLOR_CHOICES,
		  "colours: on a terminal unless NO_COLOR is set (auto)", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope check",
		.operands = "[options] ['FUNCTION <= CLASS' ...] [FILE]",
		.option = option,
		.summary = "Holds the growth of functions (slope.data) against rules.\n"
			   "Ends with 0: all pass, 1: some fail, 2: wrong use or data, 3: not enough evidence.",
	};

	return slope_options_parse(&usage, argc, argv);
}

/* ---- rules ---- */

static bool read_rules(struct slope_rules *rules, const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = NULL, error[640];
	size_t capacity = 0;
	bool good = false;
	ssize_t bytes = in ? getdelim(&text, &capacity, '\0', in) : -1;

	if (!in || (bytes < 0 && !feof(in)))
		slope_say("%s: cannot read the rules: %s", path, strerror(errno));
	else if (bytes > 0 && !feof(in))
		slope_say("%s: this is no text of rules", path);
	else
		good = slope_rules_add_text(rules, path, bytes > 0 ? text : "", error, sizeof error);
	if (!good && in && feof(in))
		slope_say("%s", error);
	free(text);
	if (in)
		fclose(in);
	return good;
}

/* An operand is a rule, or the one profile. */
static bool take_operand(struct slope_rules *rules, const char **path, const char *word)
{
	char error[640];

	if (!strchr(word, '<') && !strstr(word, "\xe2\x89\xa4") && access(word, F_OK) == 0) {
		if (*path) {
			slope_say("one profile at a time, and here are %s and %s; 'slope merge' makes one of several",
				  *path, word);
			return false;
		}
		*path = word;
		return true;
	}
	if (slope_rules_add(rules, word, error, sizeof error))
		return true;
	slope_say("%s%s", error, strchr(word, '<') ? "" : "; nor is there a profile of this name");
	return false;
}

static bool take_rules(const struct settings *s, struct slope_rules *rules, const char **path, int argc, char **argv)
{
	for (size_t i = 0; i < s->rules.count; i++)
		if (!read_rules(rules, s->rules.text[i]))
			return false;
	for (int i = 1; i < argc; i++)
		if (!take_operand(rules, path, argv[i]))
			return false;
	if (rules->count || s->baseline)
		return true;
	if (s->rules.count)
		slope_say("%s has no rule in it", s->rules.text[0]);
	else
		slope_say("what is to be checked? Give 'FUNCTION <= n log n', --rules=FILE or --baseline=PROFILE");
	return false;
}

static bool junit_overwrites(const struct settings *s, const char *path)
{
	bool over = slope_datafile_overwrites(s->junit, path) || slope_datafile_overwrites(s->junit, s->baseline);

	for (size_t i = 0; !over && i < s->rules.count; i++)
		over = slope_datafile_overwrites(s->junit, s->rules.text[i]);
	return over;
}

/* ---- result ---- */

static int status_of(const struct settings *s, const struct slope_checks *c)
{
	bool unclear = c->of[SLOPE_OUTCOME_INCONCLUSIVE] || (!c->count && s->baseline);

	if (c->of[SLOPE_OUTCOME_MISSING] && !s->allow_missing)
		return SLOPE_EXIT_WRONG;
	if (c->of[SLOPE_OUTCOME_FAIL] || (unclear && s->inconclusive == INCONCLUSIVE_FAIL))
		return SLOPE_EXIT_REGRESSION;
	return unclear && s->inconclusive == INCONCLUSIVE_APART ? SLOPE_EXIT_INCONCLUSIVE : 0;
}

static bool write_junit(const struct slope_check_view *v, const char *path)
{
	FILE *out = fopen(path, "w");
	bool good = out && slope_check_junit(v, out) && !ferror(out);

	if (out && fclose(out) != 0)
		good = false;
	if (!good)
		slope_say("cannot write %s: %s", path, strerror(errno));
	return good;
}

static void say_missing(const struct slope_checks *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->check[i].outcome == SLOPE_OUTCOME_MISSING)
			slope_say("'%s' fits no function of the profile; 'slope report --filter' looks for names, "
				  "--allow-missing lets it pass", c->check[i].rule->text);
}

static int print(struct slope_check_view *v, const struct settings *s)
{
	static const char *const result[] = { "pass", "fail", "error", "inconclusive" };
	int status = status_of(s, v->checks);
	bool good;

	v->result = result[status];
	v->inconclusive_fails = s->inconclusive == INCONCLUSIVE_FAIL;
	v->missing_passes = s->allow_missing;
	v->quiet = s->quiet;
	v->color = slope_color_wanted(s->color, stdout);
	good = s->json ? slope_check_json(v, stdout) : slope_check_text(v, stdout);
	if (!good)
		slope_say("out of memory");
	good &= slope_flush_output();
	if (s->junit)
		good &= write_junit(v, s->junit);
	if (!s->allow_missing)
		say_missing(v->checks);
	if (!v->checks->count && s->baseline)
		slope_say("no function has a growth in %s that could be compared; record more and larger inputs",
			  s->baseline);
	return good ? status : SLOPE_EXIT_WRONG;
}

/* ---- checking ---- */

static bool add_baseline(struct slope_checks *checks, const struct slope_profile *profile, const struct settings *s)
{
	struct slope_profile *old = slope_datafile_open_costs(s->baseline);
	struct slope_compare_options o;
	struct slope_comparison c;
	bool good = false;

	if (old && slope_judging_usable(old, s->baseline, SLOPE_METRICS) &&
	    slope_judging_options(&s->judging, &o, old, profile)) {
		good = slope_comparison_init(&c, old, profile, &o);
		if (good) {
			good = slope_checks_add_baseline(checks, &c);
			slope_comparison_fini(&c);
		}
		if (!good)
			slope_say("out of memory");
	}
	slope_profile_free(old);
	return good;
}

static int check(const struct settings *s, const struct slope_rules *rules, const struct slope_profile *profile,
		 const char *path)
{
	struct slope_rules_options o = { .of = (enum slope_statistic)s->judging.of };
	struct slope_checks checks = { 0 };
	struct slope_check_view v = {
		.profile = profile, .path = path, .baseline = s->baseline, .options = &o, .checks = &checks
	};
	int result = SLOPE_EXIT_WRONG;

	o.metric = profile->metrics == 1u << SLOPE_METRIC_RMS ? SLOPE_METRIC_RMS : SLOPE_METRIC_TRMS;
	if (slope_view_unit(profile, s->judging.unit, &o.unit) &&
	    slope_view_metric(profile, s->judging.input, &o.metric) &&
	    slope_judging_usable(profile, path, o.metric)) {
		if (!slope_checks_add_rules(&checks, rules, profile, &o))
			slope_say("out of memory");
		else if (!s->baseline || add_baseline(&checks, profile, s))
			result = print(&v, s);
	}
	slope_checks_fini(&checks);
	return result;
}

int slope_verb_check(int argc, char **argv)
{
	struct settings s = { .judging = SLOPE_JUDGING_NONE };
	enum slope_parsed parsed = parse(&s, &argc, argv);
	struct slope_rules rules = { 0 };
	struct slope_profile *profile = NULL;
	const char *path = NULL;
	int result = SLOPE_EXIT_WRONG;

	if (parsed != SLOPE_PARSED)
		result = parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	else if (slope_judging_sensible(&s.judging) && take_rules(&s, &rules, &path, argc, argv)) {
		path = path ? path : SLOPE_DEFAULT_FILE;
		profile = junit_overwrites(&s, path) ? NULL : slope_datafile_open_costs(path);
	}
	if (profile)
		result = check(&s, &rules, profile, path);
	slope_profile_free(profile);
	slope_rules_fini(&rules);
	slope_list_fini(&s.rules);
	return result;
}
