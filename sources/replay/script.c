/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/replay/script.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sources/replay/walks.h"

#define WORDS_MAX 10
#define LINE_MAX_BYTES 512
#define LOOPS_MAX 8
#define NAME_BYTES 32
#define REGION_LOG2 20           /* each variable has a megabyte */
#define BLANKS " \t\r"

struct loop {
	char variable[NAME_BYTES];
	uint64_t value, last;
	const char *body;            /* the line after `for` */
	unsigned body_line;
};

struct script {
	const char *name, *next;     /* next: the line to come */
	unsigned line;
	char buffer[LINE_MAX_BYTES]; /* this line, cut into words */
	char *word[WORDS_MAX];
	int words;
	char *error;
	size_t error_bytes;

	struct slope_replay *replay;
	struct slope_walks *walks;
	uint32_t cell_bytes, thread;
	struct loop loop[LOOPS_MAX];
	int loops;
	char (*variable)[NAME_BYTES]; /* names of memory */
	size_t variables;
};

static bool fail(struct script *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct script *s, const char *format, ...)
{
	int n = snprintf(s->error, s->error_bytes, "%s:%u: ", s->name, s->line);
	va_list list;

	va_start(list, format);
	if (n >= 0 && (size_t)n < s->error_bytes)
		vsnprintf(s->error + n, s->error_bytes - (size_t)n, format, list);
	va_end(list);
	return false;
}

static const char *word_at(const struct script *s, int i)
{
	return i < s->words ? s->word[i] : "the end of the line";
}

/* Takes the next line apart. False at the end of the text or on an error (then `error` is not empty). */
static bool next_line(struct script *s)
{
	if (!*s->next)
		return false;
	size_t bytes = strcspn(s->next, "\n");
	const char *line = s->next;

	s->next += bytes + (s->next[bytes] == '\n');
	s->line++;
	s->words = 0;
	bytes = strcspn(line, "#\n") < bytes ? strcspn(line, "#\n") : bytes;
	if (bytes >= sizeof s->buffer)
		return fail(s, "the line is longer than %zu characters", sizeof s->buffer - 1);
	memcpy(s->buffer, line, bytes);
	s->buffer[bytes] = '\0';
	for (char *at = s->buffer, *word; (word = strtok_r(at, BLANKS, &at));) {
		if (s->words == WORDS_MAX)
			return fail(s, "a line has at most %d words", WORDS_MAX);
		s->word[s->words++] = word;
	}
	return true;
}

static bool is_name(const char *p, size_t bytes)
{
	if (!bytes || bytes >= NAME_BYTES || !(isalpha((unsigned char)*p) || *p == '_'))
		return false;
	for (size_t i = 1; i < bytes; i++)
		if (!isalnum((unsigned char)p[i]) && p[i] != '_')
			return false;
	return true;
}

static size_t name_bytes(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return n;
}

static bool parse_term(struct script *s, const char **at, uint64_t *value)
{
	const char *p = *at;
	char *end;

	if (*p == '$') {
		size_t n = name_bytes(++p);

		*at = p + n;
		for (int i = s->loops; i-- > 0;)
			if (strlen(s->loop[i].variable) == n && !memcmp(s->loop[i].variable, p, n)) {
				*value = s->loop[i].value;
				return true;
			}
		return fail(s, "$%.*s is not the variable of a loop around this line", (int)n, p);
	}
	*value = strtoull(p, &end, 0);
	if (!isdigit((unsigned char)*p) || end == p)
		return fail(s, "expected a number, found '%s'", p);
	*at = end;
	return true;
}

static bool parse_product(struct script *s, const char **at, uint64_t *value)
{
	uint64_t factor;

	if (!parse_term(s, at, value))
		return false;
	while (**at == '*') {
		++*at;
		if (!parse_term(s, at, &factor))
			return false;
		*value *= factor;
	}
	return true;
}

static bool parse_sum(struct script *s, const char **at, uint64_t *value)
{
	uint64_t summand;

	if (!parse_product(s, at, value))
		return false;
	while (**at == '+' || **at == '-') {
		bool minus = *(*at)++ == '-';

		if (!parse_product(s, at, &summand))
			return false;
		if (minus && summand > *value)
			return fail(s, "the difference is below zero");
		*value += minus ? -summand : summand;
	}
	return true;
}

static bool parse_number(struct script *s, int i, uint64_t *value)
{
	const char *at = word_at(s, i);

	if (!parse_sum(s, &at, value))
		return false;
	return *at ? fail(s, "expected a number, found '%s'", word_at(s, i)) : true;
}

/* Where a variable lives; it gets its place on first use. */
static bool place_of(struct script *s, const char *name, size_t bytes, uint64_t *address)
{
	size_t i = 0;

	while (i < s->variables && (strlen(s->variable[i]) != bytes || memcmp(s->variable[i], name, bytes)))
		i++;
	if (i == s->variables) {
		void *more = realloc(s->variable, (i + 1) * sizeof *s->variable);

		if (!more)
			return fail(s, "there is no memory for another variable");
		s->variable = more;
		memcpy(s->variable[i], name, bytes);
		s->variable[i][bytes] = '\0';
		s->variables++;
	}
	*address = (uint64_t)(i + 1) << REGION_LOG2;
	return true;
}

/* [INDEX] or [FIRST..LAST] after a name. */
static bool parse_index(struct script *s, const char **at, uint64_t range[2])
{
	uint64_t first, last;

	++*at;
	if (!parse_sum(s, at, &first))
		return false;
	last = first;
	if (!strncmp(*at, "..", 2)) {
		*at += 2;
		if (!parse_sum(s, at, &last))
			return false;
		if (last < first)
			return fail(s, "the range of cells ends before it begins");
		range[1] = (last - first + 1) * s->cell_bytes;
	}
	if (*(*at)++ != ']')
		return fail(s, "expected ']' after an index");
	range[0] += first * s->cell_bytes;
	return true;
}

/* ADDRESS at word i; an index range also says how many bytes. */
static bool parse_place(struct script *s, int i, uint64_t range[2])
{
	const char *at = word_at(s, i);
	size_t n = name_bytes(at);
	uint64_t offset;

	range[1] = 1;
	if (i >= s->words)
		return fail(s, "expected an address after '%s'", s->word[i - 1]);
	if (is_name(at, n)) {
		if (!place_of(s, at, n, &range[0]))
			return false;
		at += n;
		if (*at == '[' && !parse_index(s, &at, range))
			return false;
		if (*at == '+') {
			at++;
			if (!parse_sum(s, &at, &offset))
				return false;
			range[0] += offset;
		}
	} else if (!parse_sum(s, &at, &range[0])) {
		return false;
	}
	if (*at)
		return fail(s, "expected an address, found '%s'", s->word[i]);
	return true;
}

/* ADDRESS [BYTES] from word i on. */
static bool parse_range(struct script *s, int i, uint64_t range[2])
{
	return parse_place(s, i, range) && (i + 1 >= s->words || parse_number(s, i + 1, &range[1]));
}

static bool parse_address(struct script *s, int i, uint64_t *address)
{
	uint64_t range[2];

	if (!parse_place(s, i, range))
		return false;
	*address = range[0];
	return true;
}

static bool expect_words(struct script *s, int least, int most)
{
	if (s->words < least)
		return fail(s, "'%s' needs more after it", s->word[s->words - 1]);
	if (s->words > most && most < WORDS_MAX)
		return fail(s, "'%s' is one word too many", s->word[most]);
	return true;
}

static bool parse_thread(struct script *s, int i, struct slope_event *e)
{
	uint64_t number;

	if (!expect_words(s, i + 1, i + 3) || !parse_number(s, i, &number))
		return false;
	e->thread = (uint32_t)number;
	if (s->words == i + 1)
		return true;
	if (strcmp(s->word[i + 1], "parent"))
		return fail(s, "expected 'parent', found '%s'", s->word[i + 1]);
	return expect_words(s, i + 3, i + 3) && parse_number(s, i + 2, &e->args[0]);
}

static bool parse_function(struct script *s, int i, struct slope_event *e)
{
	int at = i + 1;

	if (!expect_words(s, i + 1, i + 4))
		return false;
	if (at < s->words && !strcmp(s->word[at], "base")) {
		e->args[1] = SLOPE_FRAME_BASE;
		at++;
	}
	if (at + 1 < s->words && !strcmp(s->word[at], "at")) {
		if (!parse_number(s, at + 1, &e->args[2]))
			return false;
		e->args[2]++;
		at += 2;
	}
	if (at < s->words)
		return fail(s, "expected 'base' or 'at NUMBER', found '%s'", s->word[at]);
	e->args[0] = slope_replay_function(s->replay, s->word[i], 0);
	return true;
}

/* The arguments from word i on. */
static bool parse_args(struct script *s, int i, struct slope_event *e)
{
	switch (slope_event_shape[e->kind]) {
	case SLOPE_SHAPE_NONE:
		return expect_words(s, i, i);
	case SLOPE_SHAPE_THREAD:
		return parse_thread(s, i, e);
	case SLOPE_SHAPE_FUNCTION:
		return parse_function(s, i, e);
	case SLOPE_SHAPE_COUNT:
		e->args[0] = 1;
		return expect_words(s, i, i + 1) && (s->words == i || parse_number(s, i, &e->args[0]));
	case SLOPE_SHAPE_RANGE:
		return expect_words(s, i, i + 2) && parse_range(s, i, e->args);
	case SLOPE_SHAPE_MOVE:
		return expect_words(s, i + 3, i + 3) && parse_range(s, i, e->args) && parse_address(s, i + 2, &e->args[2]);
	case SLOPE_SHAPE_COSTS:
		if (!expect_words(s, i + 1, i + SLOPE_UNITS_MAX))
			return false;
		for (int u = 0; i + u < s->words; u++)
			if (!parse_number(s, i + u, &e->args[u]))
				return false;
		return true;
	case SLOPE_SHAPE_SWITCH:
		if (!expect_words(s, i + 1, i + 1))
			return false;
		e->args[0] = !strcmp(s->word[i], "on");
		return e->args[0] || !strcmp(s->word[i], "off") || fail(s, "expected on or off, found '%s'", s->word[i]);
	}
	return false;
}

static bool play_for(struct script *s)
{
	struct loop *l = &s->loop[s->loops];
	uint64_t first, last;

	if (!expect_words(s, 4, 4) || !parse_number(s, 2, &first) || !parse_number(s, 3, &last))
		return false;
	if (!is_name(s->word[1], strlen(s->word[1])))
		return fail(s, "expected a name for the loop's variable, found '%s'", s->word[1]);
	if (s->loops == LOOPS_MAX)
		return fail(s, "loops nest at most %d deep", LOOPS_MAX);
	if (first > last)
		return fail(s, "the loop ends before it begins");
	strcpy(l->variable, s->word[1]);
	l->value = first;
	l->last = last;
	l->body = s->next;
	l->body_line = s->line;
	s->loops++;
	return true;
}

static bool play_next(struct script *s)
{
	if (!s->loops)
		return fail(s, "'next' without a 'for' before it");
	struct loop *l = &s->loop[s->loops - 1];

	if (l->value == l->last) {
		s->loops--;
		return true;
	}
	l->value++;
	s->next = l->body;
	s->line = l->body_line;
	return true;
}

static bool declare_function(struct script *s)
{
	if (!expect_words(s, 2, 3))
		return false;
	if (s->words == 3 && strcmp(s->word[2], "folded"))
		return fail(s, "expected 'folded', found '%s'", s->word[2]);
	slope_replay_function(s->replay, s->word[1], s->words == 3 ? SLOPE_FN_FOLDED : 0);
	return true;
}

static bool switch_thread(struct script *s)
{
	uint64_t number;

	if (!expect_words(s, 2, 2) || !parse_number(s, 1, &number))
		return false;
	s->thread = (uint32_t)number;
	return true;
}

static bool walks_number(void *ctx, const char *text, uint64_t *value)
{
	const char *at = text;

	if (!parse_sum(ctx, &at, value))
		return false;
	return *at ? fail(ctx, "expected a number, found '%s'", text) : true;
}

/* A line about graphs and paths, from word `at` on. */
static bool play_walks(struct script *s, int at, uint32_t thread)
{
	bool graph = !strcmp(s->word[at], "graph") && s->words > at + 1;
	struct slope_walks_line line = {
		.word = s->word + at, .words = s->words - at, .number = walks_number, .ctx = s,
		.function = graph ? slope_replay_function(s->replay, s->word[at + 1], 0) : 0,
	};
	const char *problem = slope_replay_thread(s->replay, thread, &line.thread);

	if (!problem)
		problem = slope_walks_play(s->walks, &line);
	if (problem && *problem)
		fail(s, "%s: %s", s->word[at], problem);
	return !problem;
}

static bool play_event(struct script *s)
{
	struct slope_event e = { .thread = s->thread };
	size_t n = strlen(s->word[0]);
	int at = 0;

	if (s->word[0][n - 1] == ':') {
		uint64_t number;

		s->word[0][n - 1] = '\0';
		if (!parse_number(s, at++, &number) || !expect_words(s, 2, WORDS_MAX))
			return false;
		e.thread = (uint32_t)number;
	}
	if (slope_walks_is(s->word[at]))
		return play_walks(s, at, e.thread);
	for (e.kind = 0; e.kind < SLOPE_EVENT_KINDS; e.kind++)
		if (!strcmp(s->word[at], slope_event_word[e.kind]))
			break;
	if (e.kind == SLOPE_EVENT_KINDS)
		return fail(s, "expected an event, found '%s'", s->word[at]);
	if (!parse_args(s, at + 1, &e))
		return false;
	const char *problem = slope_replay_play(s->replay, &e);

	return problem ? fail(s, "%s: %s", s->word[at], problem) : true;
}

static bool play_line(struct script *s)
{
	static const struct {
		const char *word;
		bool (*play)(struct script *s);
	} statement[] = {
		{ "for", play_for }, { "next", play_next }, { "function", declare_function }, { "on", switch_thread },
	};

	if (!s->words || !strcmp(s->word[0], "options"))
		return true;
	for (size_t i = 0; i < sizeof statement / sizeof *statement; i++)
		if (!strcmp(s->word[0], statement[i].word))
			return statement[i].play(s);
	return play_event(s);
}

bool slope_script_play(const char *name, const char *text, struct slope_replay *r, uint32_t cell_bytes, char *error,
		       size_t error_bytes)
{
	struct script s = {
		.name = name, .next = text, .error = error, .error_bytes = error_bytes,
		.replay = r, .walks = slope_walks_new(slope_replay_session(r)), .cell_bytes = cell_bytes, .thread = 1,
	};
	bool good = true;

	*error = '\0';
	if (!s.walks)
		return fail(&s, "there is no memory");
	while (good && next_line(&s))
		good = play_line(&s);
	if (good && !*error && s.loops) {
		s.line = s.loop[s.loops - 1].body_line;
		fail(&s, "the loop over %s has no 'next'", s.loop[s.loops - 1].variable);
	}
	if (good && !*error && slope_walks_missing(s.walks))
		fail(&s, "%s", slope_walks_missing(s.walks));
	slope_walks_free(s.walks);
	free(s.variable);
	return !*error;
}

_Static_assert(SLOPE_PATH_METRICS == SLOPE_UNITS_MAX, "one list of names is as long as the other");

/* Names between commas, of so many `what`. */
static bool parse_names(struct script *s, char *names, char (*name)[SLOPE_SCRIPT_NAME_BYTES], uint32_t *count, const char *what)
{
	*count = 0;
	for (char *at = names, *one; (one = strtok_r(at, ",", &at));) {
		if (*count == SLOPE_UNITS_MAX)
			return fail(s, "there are at most %u %s", SLOPE_UNITS_MAX, what);
		if (strlen(one) >= SLOPE_SCRIPT_NAME_BYTES)
			return fail(s, "the name '%s' is too long", one);
		strcpy(name[(*count)++], one);
	}
	return *count ? true : fail(s, "expected the names of %s", what);
}

static bool parse_metrics(struct script *s, const char *word, struct slope_script_options *o)
{
	static const char *const known[] = { "", "trms", "rms", "both" };

	for (uint32_t m = 1; m < 4; m++)
		if (!strcmp(word, known[m])) {
			o->config.metrics = m;
			return true;
		}
	return fail(s, "expected metrics=trms, rms or both, found '%s'", word);
}

static bool parse_contexts(struct script *s, const char *word, struct slope_script_options *o)
{
	const char *at = word;
	uint64_t k = 0;
	bool named = !strcmp(word, "tree") || !strcmp(word, "collapsed");

	if (!named && (!isdigit((unsigned char)*word) || !parse_sum(s, &at, &k) || *at || !k || k > UINT32_MAX))
		return fail(s, "expected contexts=tree, collapsed or a number from 1 on, found '%s'", word);
	o->config.contexts = true;
	o->config.context_k = (uint32_t)k;
	o->config.context_collapse = *word == 'c';
	return true;
}

/* Behind contexts=, which must have as many callers. */
static bool parse_variants(struct script *s, const char *word, struct slope_script_options *o)
{
	struct slope_config *config = &o->config;
	const char *at = word;
	uint64_t k;

	if (!parse_sum(s, &at, &k) || *at || !k || k > SLOPE_VARIANT_CALLERS_MAX)
		return fail(s, "expected variants= and a number from 1 to %u, found '%s'", SLOPE_VARIANT_CALLERS_MAX, word);
	if (!config->contexts || config->context_collapse || (config->context_k && config->context_k < k))
		return fail(s, "variants=%s needs contexts= before it, with as many callers, not collapsed", word);
	config->variant_k = (uint32_t)k;
	return true;
}

static bool parse_option(struct script *s, char *word, struct slope_script_options *o)
{
	char *value = strchr(word, '=');
	uint64_t number;

	if (!value)
		return fail(s, "expected an option like cell=4, found '%s'", word);
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
		return fail(s, "unknown option '%s'; there are cell, units, metrics, max-points, stamp-limit, marked, parallel, window, "
			    "contexts, variants, max-variants, path-metrics, path-period", word);
	const char *at = value;

	if (!parse_sum(s, &at, &number) || *at)
		return fail(s, "expected a number after %s=, found '%s'", word, value);
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
		return fail(s, "cells have 1, 2, 4, 8, 16, 32 or 64 bytes, not %s", value);
	else
		o->config.cell_log2 = (uint32_t)__builtin_ctzll(number);
	return true;
}

bool slope_script_options(const char *name, const char *text, struct slope_script_options *options, char *error,
			  size_t error_bytes)
{
	struct script s = { .name = name, .next = text, .error = error, .error_bytes = error_bytes };
	bool events = false;

	*error = '\0';
	*options = (struct slope_script_options){ .config = { .cell_log2 = 2, .units = 1, .metrics = 3 }, .unit_name = { "ir" } };
	while (!*error && next_line(&s)) {
		bool here = s.words && !strcmp(s.word[0], "options");

		if (here && events)
			return fail(&s, "options come before everything else");
		for (int i = 1; here && i < s.words; i++)
			if (!parse_option(&s, s.word[i], options))
				return false;
		events |= s.words && !here;
	}
	return !*error;
}
