/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/replay/script.h"

#include <ctype.h>
#include <string.h>

#include "sources/replay/reading.h"
#include "sources/replay/walks.h"

struct script {
	struct slope_reading line;
	struct slope_replay *replay;
	struct slope_walks *walks;
	uint32_t thread;
};

static bool parse_thread(struct script *s, int i, struct slope_event *e)
{
	struct slope_reading *l = &s->line;
	uint64_t number;

	if (!slope_read_expect(l, i + 1, i + 3) || !slope_read_number(l, i, &number))
		return false;
	e->thread = (uint32_t)number;
	if (l->words == i + 1)
		return true;
	if (strcmp(l->word[i + 1], "parent"))
		return slope_read_fail(l, "expected 'parent', found '%s'", l->word[i + 1]);
	return slope_read_expect(l, i + 3, i + 3) && slope_read_number(l, i + 2, &e->args[0]);
}

static bool parse_function(struct script *s, int i, struct slope_event *e)
{
	struct slope_reading *l = &s->line;
	int at = i + 1;

	if (!slope_read_expect(l, i + 1, i + 4))
		return false;
	if (at < l->words && !strcmp(l->word[at], "base")) {
		e->args[1] = SLOPE_FRAME_BASE;
		at++;
	}
	if (at + 1 < l->words && !strcmp(l->word[at], "at")) {
		if (!slope_read_number(l, at + 1, &e->args[2]))
			return false;
		e->args[2]++;
		at += 2;
	}
	if (at < l->words)
		return slope_read_fail(l, "expected 'base' or 'at NUMBER', found '%s'", l->word[at]);
	e->args[0] = slope_replay_function(s->replay, l->word[i], 0);
	return true;
}

/* The arguments from word i on. */
static bool parse_args(struct script *s, int i, struct slope_event *e)
{
	struct slope_reading *l = &s->line;

	switch (slope_event_shape[e->kind]) {
	case SLOPE_SHAPE_NONE:
		return slope_read_expect(l, i, i);
	case SLOPE_SHAPE_THREAD:
		return parse_thread(s, i, e);
	case SLOPE_SHAPE_FUNCTION:
		return parse_function(s, i, e);
	case SLOPE_SHAPE_COUNT:
		e->args[0] = 1;
		return slope_read_expect(l, i, i + 1) && (l->words == i || slope_read_number(l, i, &e->args[0]));
	case SLOPE_SHAPE_RANGE:
		return slope_read_expect(l, i, i + 2) && slope_read_range(l, i, e->args);
	case SLOPE_SHAPE_MOVE:
		return slope_read_expect(l, i + 3, i + 3) && slope_read_range(l, i, e->args) && slope_read_address(l, i + 2, &e->args[2]);
	case SLOPE_SHAPE_COSTS:
		if (!slope_read_expect(l, i + 1, i + SLOPE_UNITS_MAX))
			return false;
		for (int u = 0; i + u < l->words; u++)
			if (!slope_read_number(l, i + u, &e->args[u]))
				return false;
		return true;
	case SLOPE_SHAPE_SWITCH:
		if (!slope_read_expect(l, i + 1, i + 1))
			return false;
		e->args[0] = !strcmp(l->word[i], "on");
		return e->args[0] || !strcmp(l->word[i], "off") || slope_read_fail(l, "expected on or off, found '%s'", l->word[i]);
	}
	return false;
}

static bool declare_function(struct script *s)
{
	struct slope_reading *l = &s->line;

	if (!slope_read_expect(l, 2, 3))
		return false;
	if (l->words == 3 && strcmp(l->word[2], "folded"))
		return slope_read_fail(l, "expected 'folded', found '%s'", l->word[2]);
	slope_replay_function(s->replay, l->word[1], l->words == 3 ? SLOPE_FN_FOLDED : 0);
	return true;
}

static bool switch_thread(struct script *s)
{
	uint64_t number;

	if (!slope_read_expect(&s->line, 2, 2) || !slope_read_number(&s->line, 1, &number))
		return false;
	s->thread = (uint32_t)number;
	return true;
}

static bool walks_number(void *ctx, const char *text, uint64_t *value)
{
	const char *at = text;

	if (!slope_read_sum(ctx, &at, value))
		return false;
	return *at ? slope_read_fail(ctx, "expected a number, found '%s'", text) : true;
}

/* A line about graphs and paths, from word `at` on. */
static bool play_walks(struct script *s, int at, uint32_t thread)
{
	struct slope_reading *l = &s->line;
	bool graph = !strcmp(l->word[at], "graph") && l->words > at + 1;
	struct slope_walks_line line = {
		.word = l->word + at, .words = l->words - at, .number = walks_number, .ctx = l,
		.function = graph ? slope_replay_function(s->replay, l->word[at + 1], 0) : 0,
	};
	const char *problem = slope_replay_thread(s->replay, thread, &line.thread);

	if (!problem)
		problem = slope_walks_play(s->walks, &line);
	if (problem && *problem)
		slope_read_fail(l, "%s: %s", l->word[at], problem);
	return !problem;
}

static bool play_event(struct script *s)
{
	struct slope_reading *l = &s->line;
	struct slope_event e = { .thread = s->thread };
	size_t n = strlen(l->word[0]);
	int at = 0;

	if (l->word[0][n - 1] == ':') {
		uint64_t number;

		l->word[0][n - 1] = '\0';
		if (!slope_read_number(l, at++, &number) || !slope_read_expect(l, 2, SLOPE_READ_WORDS))
			return false;
		e.thread = (uint32_t)number;
	}
	if (slope_walks_is(l->word[at]))
		return play_walks(s, at, e.thread);
	for (e.kind = 0; e.kind < SLOPE_EVENT_KINDS; e.kind++)
		if (!strcmp(l->word[at], slope_event_word[e.kind]))
			break;
	if (e.kind == SLOPE_EVENT_KINDS)
		return slope_read_fail(l, "expected an event, found '%s'", l->word[at]);
	if (!parse_args(s, at + 1, &e))
		return false;
	const char *problem = slope_replay_play(s->replay, &e);

	return problem ? slope_read_fail(l, "%s: %s", l->word[at], problem) : true;
}

static bool play_line(struct script *s)
{
	const char *word = s->line.words ? s->line.word[0] : "options";

	if (!strcmp(word, "options"))
		return true;
	if (!strcmp(word, "for"))
		return slope_read_for(&s->line);
	if (!strcmp(word, "next"))
		return slope_read_again(&s->line);
	if (!strcmp(word, "function"))
		return declare_function(s);
	return !strcmp(word, "on") ? switch_thread(s) : play_event(s);
}

bool slope_script_play(const char *name, const char *text, struct slope_replay *r, uint32_t cell_bytes, char *error,
		       size_t error_bytes)
{
	struct script s = {
		.line = { .name = name, .next = text, .cell_bytes = cell_bytes, .error = error, .error_bytes = error_bytes },
		.replay = r, .walks = slope_walks_new(slope_replay_session(r)), .thread = 1,
	};
	struct slope_reading *line = &s.line;
	bool good = true;

	*error = '\0';
	if (!s.walks)
		return slope_read_fail(line, "there is no memory");
	while (good && slope_read_next(line))
		good = play_line(&s);
	if (good && !*error && line->loops) {
		line->line = line->loop[line->loops - 1].body_line;
		slope_read_fail(line, "the loop over %s has no 'next'", line->loop[line->loops - 1].variable);
	}
	if (good && !*error && slope_walks_missing(s.walks))
		slope_read_fail(line, "%s", slope_walks_missing(s.walks));
	slope_walks_free(s.walks);
	slope_reading_fini(line);
	return !*error;
}

_Static_assert(SLOPE_PATH_METRICS == SLOPE_UNITS_MAX, "one list of names is as long as the other");

/* Names between commas, of so many `what`. */
static bool parse_names(struct slope_reading *s, char *names, char (*name)[SLOPE_SCRIPT_NAME_BYTES], uint32_t *count, const char *what)
{
	*count = 0;
	for (char *at = names, *one; (one = strtok_r(at, ",", &at));) {
		if (*count == SLOPE_UNITS_MAX)
			return slope_read_fail(s, "there are at most %u %s", SLOPE_UNITS_MAX, what);
		if (strlen(one) >= SLOPE_SCRIPT_NAME_BYTES)
			return slope_read_fail(s, "the name '%s' is too long", one);
		strcpy(name[(*count)++], one);
	}
	return *count ? true : slope_read_fail(s, "expected the names of %s", what);
}

static bool parse_metrics(struct slope_reading *s, const char *word, struct slope_script_options *o)
{
	static const char *const known[] = { "", "trms", "rms", "both" };

	for (uint32_t m = 1; m < 4; m++)
		if (!strcmp(word, known[m])) {
			o->config.metrics = m;
			return true;
		}
	return slope_read_fail(s, "expected metrics=trms, rms or both, found '%s'", word);
}

static bool parse_contexts(struct slope_reading *s, const char *word, struct slope_script_options *o)
{
	const char *at = word;
	uint64_t k = 0;
	bool named = !strcmp(word, "tree") || !strcmp(word, "collapsed");

	if (!named && (!isdigit((unsigned char)*word) || !slope_read_sum(s, &at, &k) || *at || !k || k > UINT32_MAX))
		return slope_read_fail(s, "expected contexts=tree, collapsed or a number from 1 on, found '%s'", word);
	o->config.contexts = true;
	o->config.context_k = (uint32_t)k;
	o->config.context_collapse = *word == 'c';
	return true;
}

/* Behind contexts=, which must have as many callers. */
static bool parse_variants(struct slope_reading *s, const char *word, struct slope_script_options *o)
{
	struct slope_config *config = &o->config;
	const char *at = word;
	uint64_t k;

	if (!slope_read_sum(s, &at, &k) || *at || !k || k > SLOPE_VARIANT_CALLERS_MAX)
		return slope_read_fail(s, "expected variants= and a number from 1 to %u, found '%s'", SLOPE_VARIANT_CALLERS_MAX, word);
	if (!config->contexts || config->context_collapse || (config->context_k && config->context_k < k))
		return slope_read_fail(s, "variants=%s needs contexts= before it, with as many callers, not collapsed", word);
	config->variant_k = (uint32_t)k;
	return true;
}

static bool parse_option(struct slope_reading *s, char *word, struct slope_script_options *o)
{
	char *value = strchr(word, '=');
	uint64_t number;

	if (!value)
		return slope_read_fail(s, "expected an option like cell=4, found '%s'", word);
	*value++ = '\0';
	if (!strcmp(word, "units"))
		return parse_names(s, value, o->unit_name, &o->config.units, "cost units");
	if (!strcmp(word, "path-metrics"))
		return parse_names(s, value, o->path_metric_name, &o->path_metrics, "metrics of paths");
	if (!strcmp(word, "metrics"))
		return parse_metrics(s, value, o);
	if (!strcmp(word, "contexts"))
		return parse_contexts(s, value, o);
	if (!strcmp(word, "variants"))
		return parse_variants(s, value, o);
	if (strcmp(word, "cell") && strcmp(word, "max-points") && strcmp(word, "stamp-limit") && strcmp(word, "marked") &&
	    strcmp(word, "parallel") && strcmp(word, "window") && strcmp(word, "max-variants") && strcmp(word, "path-period"))
		return slope_read_fail(s, "unknown option '%s'; there are cell, units, metrics, max-points, stamp-limit, marked, parallel, "
				       "window, contexts, variants, max-variants, path-metrics, path-period", word);
	const char *at = value;

	if (!slope_read_sum(s, &at, &number) || *at)
		return slope_read_fail(s, "expected a number after %s=, found '%s'", word, value);
	if (!strcmp(word, "max-points"))
		o->config.max_points = (uint32_t)number;
	else if (!strcmp(word, "stamp-limit"))
		o->config.stamp_limit = (uint32_t)number;
	else if (!strcmp(word, "marked"))
		o->config.marked = number != 0;
	else if (!strcmp(word, "parallel"))
		o->config.parallel = number != 0;
	else if (!strcmp(word, "max-variants"))
		o->config.variants_max = (uint32_t)number;
	else if (!strcmp(word, "path-period"))
		o->path_period = number;
	else if (!strcmp(word, "window"))
		o->window_bytes = number;
	else if (number < 1 || number > 64 || number & (number - 1))
		return slope_read_fail(s, "cells have 1, 2, 4, 8, 16, 32 or 64 bytes, not %s", value);
	else
		o->config.cell_log2 = (uint32_t)__builtin_ctzll(number);
	return true;
}

bool slope_script_options(const char *name, const char *text, struct slope_script_options *options, char *error,
			  size_t error_bytes)
{
	struct slope_reading s = { .name = name, .next = text, .error = error, .error_bytes = error_bytes };
	bool events = false;

	*error = '\0';
	*options = (struct slope_script_options){ .config = { .cell_log2 = 2, .units = 1, .metrics = 3 }, .unit_name = { "ir" } };
	while (!*error && slope_read_next(&s)) {
		bool here = s.words && !strcmp(s.word[0], "options");

		if (here && events)
			return slope_read_fail(&s, "options come before everything else");
		for (int i = 1; here && i < s.words; i++)
			if (!parse_option(&s, s.word[i], options))
				return false;
		events |= s.words && !here;
	}
	return !*error;
}
