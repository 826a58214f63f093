/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "analysis/lookup.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/curve.h"
#include "analysis/match.h"
#include "analysis/pathcosts.h"
#include "analysis/words.h"

#define NAME_MOST 512u           /* bytes of a name that are looked at where it is taken apart */

/* What was typed, as a whole or taken apart. */
struct query {
	const char *name, *module, *file;    /* NULL: any */
	uint32_t line;               /* 0: any */
};

enum way { SHOWN, SYMBOL, OFFSET, BARE, LAST, GLOB, PART, PART_ANY_CASE, WAYS };

/* Copies the name without its parameters. False: it is too long. */
static bool copy_bare(const char *name, char bare[NAME_MOST])
{
	size_t bytes = slope_match_bare(name);

	if (bytes >= NAME_MOST)
		return false;
	memcpy(bare, name, bytes);
	bare[bytes] = '\0';
	return true;
}

/* The name behind the last "::" that is not within brackets, without template arguments. */
static const char *last_part(char *bare)
{
	char *operator = strstr(bare, "operator");
	int depth = 0;

	if (operator && (operator == bare || operator[-1] == ':') && !isalnum((unsigned char)operator[8]))
		return operator;
	size_t length = strlen(bare);
	char *c = bare + length;

	if (length && bare[length - 1] == '>') {
		for (c--; c > bare; c--) {
			depth += *c == '>';
			depth -= *c == '<';
			if (!depth)
				break;
		}
		*c = '\0';
	}
	for (depth = 0; c > bare; c--) {
		depth += c[-1] == '>' || c[-1] == ')';
		depth -= c[-1] == '<' || c[-1] == '(';
		if (!depth && c[-1] == ':')
			break;
	}
	return c;
}

static bool fits_bare(const char *name, const char *typed, bool last)
{
	char bare[NAME_MOST];

	return copy_bare(name, bare) && !strcmp(last ? last_part(bare) : bare, typed);
}

static bool fits_offset(const struct slope_profile *p, const struct slope_profile_function *f, const char *typed)
{
	const char *module = slope_profile_module_of(p, f), *plus = strrchr(typed, '+');
	char *end;

	return plus && plus[1] == '0' && plus[2] == 'x' && strlen(module) == (size_t)(plus - typed) &&
	       !strncmp(module, typed, (size_t)(plus - typed)) && strtoull(plus + 1, &end, 16) == f->offset && !*end;
}

static bool fits_name(const struct slope_profile *p, const struct slope_profile_function *f, enum way way,
		      const char *typed)
{
	const char *name = slope_profile_name(f);

	switch (way) {
	case SHOWN:
		return !strcmp(name, typed);
	case SYMBOL:
		return f->raw_name && !strcmp(f->raw_name, typed);
	case OFFSET:
		return fits_offset(p, f, typed);
	case BARE:
		return fits_bare(name, typed, false);
	case LAST:
		return fits_bare(name, typed, true);
	case GLOB:
		return slope_match_is_glob(typed) && !fnmatch(typed, name, 0);
	case PART:
		return strstr(name, typed) != NULL;
	default:
		return strcasestr(name, typed) != NULL;
	}
}

/* "libc" stands for libc.so.6 and libc-2.36.so. */
static bool fits_module(const char *module, const char *typed)
{
	size_t length = strlen(typed);

	if (slope_match_is_glob(typed))
		return !fnmatch(typed, module, 0);
	return !strncmp(module, typed, length) && (!module[length] || module[length] == '.' || module[length] == '-');
}

static bool fits_file(const char *file, const char *typed)
{
	size_t bytes = file ? strlen(file) : 0, end = strlen(typed);

	return end && bytes >= end && !strcmp(file + bytes - end, typed) &&
	       (bytes == end || file[bytes - end - 1] == '/');
}

static bool fits(const struct slope_profile *p, const struct slope_profile_function *f, enum way way,
		 const struct query *q)
{
	return q->name && (!q->module || fits_module(slope_profile_module_of(p, f), q->module)) &&
	       (!q->file || fits_file(f->file, q->file)) && (!q->line || q->line == f->line) &&
	       fits_name(p, f, way, q->name);
}

/* The colon after a module: alone, and before anything that a C++ name has. */
static char *module_colon(char *text)
{
	for (char *c = text; *c && !strchr("<(@", *c); c++) {
		if (*c != ':')
			continue;
		if (c[1] == ':')
			return NULL;
		return c > text ? c : NULL;
	}
	return NULL;
}

/* Takes `text` apart in place. Without a module or file in it the query finds nothing. */
static struct query take_apart(char *text)
{
	struct query q = { 0 };
	char *at = strrchr(text, '@'), *colon;

	if (at) {
		*at = '\0';
		q.file = at + 1;
		colon = strrchr(at + 1, ':');
		if (colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")]) {
			*colon = '\0';
			q.line = (uint32_t)strtoul(colon + 1, NULL, 10);
		}
	}
	colon = module_colon(text);
	if (colon) {
		*colon = '\0';
		q.module = text;
	}
	if (q.module || q.file)
		q.name = colon ? colon + 1 : text;
	return q;
}

static uint64_t cost_of(const struct slope_profile *p, uint32_t function, uint32_t unit)
{
	uint64_t cost = 0;
	size_t rows;
	const struct slope_profile_row *row = slope_curve_rows(p, function, &rows);

	for (size_t i = 0; i < rows; i++)
		cost += row[i].total[unit];
	return cost;
}

static int by_cost(const void *a, const void *b)
{
	const struct slope_lookup_match *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

/* Functions that ran, ascending: those with a row, or with a graph of their paths. */
struct ran {
	uint32_t *function;
	size_t count;
};

static bool list_ran(struct ran *ran, const struct slope_profile *p)
{
	uint8_t *is = calloc(p->function_count + 1, 1);

	*ran = (struct ran){ .function = malloc((p->function_count + 1) * sizeof(*ran->function)) };
	for (size_t i = 0; is && i < p->row_count; i++)
		is[p->row[i].function] = 1;
	for (size_t i = 0; is && i < p->graph_count; i++)
		is[p->graph[i].function] = 1;
	for (uint32_t i = SLOPE_FN_ROOT + 1; is && ran->function && i < p->function_count; i++)
		if (is[i])
			ran->function[ran->count++] = i;
	bool good = is && ran->function;

	free(is);
	if (!good)
		free(ran->function);
	return good;
}

static void find(struct slope_lookup *l, const struct slope_profile *p, const struct ran *ran, enum way way,
		 const struct query *q, uint32_t unit)
{
	for (size_t i = 0; i < ran->count; i++) {
		uint32_t function = ran->function[i];

		if (fits(p, &p->function[function], way, q))
			l->match[l->count++] = (struct slope_lookup_match){ function, cost_of(p, function, unit) };
	}
	qsort(l->match, l->count, sizeof(*l->match), by_cost);
}

static unsigned name_distance(const struct slope_profile_function *f, const char *typed)
{
	char bare[NAME_MOST];

	if (!f->name || !copy_bare(f->name, bare))
		return SLOPE_WORD_MOST;
	unsigned whole = slope_word_distance(bare, typed), last = slope_word_distance(last_part(bare), typed);

	return whole < last ? whole : last;
}

static void find_near(struct slope_lookup *l, const struct slope_profile *p, const struct ran *ran, const char *typed)
{
	unsigned apart[SLOPE_LOOKUP_NEAR];

	for (size_t i = 0; i < ran->count; i++) {
		uint32_t function = ran->function[i];
		unsigned d = name_distance(&p->function[function], typed);
		size_t at = l->nears;

		if (!slope_word_near(typed, d) || (at == SLOPE_LOOKUP_NEAR && d >= apart[at - 1]))
			continue;
		at -= at == SLOPE_LOOKUP_NEAR;
		for (; at > 0 && apart[at - 1] > d; at--) {
			apart[at] = apart[at - 1];
			l->near[at] = l->near[at - 1];
		}
		apart[at] = d;
		l->near[at] = function;
		l->nears += l->nears < SLOPE_LOOKUP_NEAR;
	}
	while (l->nears && apart[l->nears - 1] > apart[0] + 1)   /* next to a near one, a far one is no help */
		l->nears--;
}

/* Where functions have paths only, what they cost is the instructions of these. */
static bool weigh_paths(struct slope_lookup *l, const struct slope_profile *p)
{
	const struct slope_pathcosts_options o = { .function = SLOPE_PATHS_ALL, .thread = SLOPE_PATHS_ALL, .metric = SLOPE_PATHS_IR };
	struct slope_pathcosts c;

	if (!slope_pathcosts_init(&c, p, &o))
		return false;
	for (size_t i = 0; i < l->count; i++) {
		const struct slope_pathcosts_function *f = slope_pathcosts_find(&c, l->match[i].function);

		l->match[i].cost = f ? f->instructions : 0;
	}
	qsort(l->match, l->count, sizeof(*l->match), by_cost);
	slope_pathcosts_fini(&c);
	return true;
}

bool slope_lookup_init(struct slope_lookup *l, const struct slope_profile *p, const char *typed, uint32_t unit)
{
	char *text = strdup(typed);
	struct ran ran;

	*l = (struct slope_lookup){ 0 };
	if (!text || !list_ran(&ran, p)) {
		free(text);
		return false;
	}
	l->match = malloc((ran.count + 1) * sizeof(*l->match));
	if (!l->match) {
		free(ran.function);
		free(text);
		return false;
	}
	const struct query whole = { .name = typed }, parts = take_apart(text);

	for (enum way way = 0; way < WAYS && !l->count && *typed; way++) {
		find(l, p, &ran, way, &whole, unit);
		if (!l->count)
			find(l, p, &ran, way, &parts, unit);
	}
	if (!l->count)
		find_near(l, p, &ran, parts.name && *parts.name ? parts.name : typed);
	free(ran.function);
	free(text);
	if (l->count > 1 && slope_profile_paths_only(p) && !weigh_paths(l, p)) {
		slope_lookup_fini(l);
		return false;
	}
	return true;
}

void slope_lookup_fini(struct slope_lookup *l)
{
	free(l->match);
	*l = (struct slope_lookup){ 0 };
}

/* Takes the text over; gives it back if it finds exactly this function. */
static char *if_alone(const struct slope_profile *p, uint32_t function, char *text)
{
	struct slope_lookup l;
	bool alone = text && slope_lookup_init(&l, p, text, 0);

	if (alone) {
		alone = l.count == 1 && l.match[0].function == function;
		slope_lookup_fini(&l);
	}
	if (alone)
		return text;
	free(text);
	return NULL;
}

static char *printed(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *printed(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	int bytes = vasprintf(&text, format, args);
	va_end(args);
	return bytes < 0 ? NULL : text;
}

char *slope_lookup_handle(const struct slope_profile *p, uint32_t function)
{
	const struct slope_profile_function *f = &p->function[function];
	const char *name = slope_profile_name(f), *module = slope_profile_module_of(p, f);
	const char *slash = f->file ? strrchr(f->file, '/') : NULL;
	char *text = if_alone(p, function, strdup(name));

	if (!text && *module)
		text = if_alone(p, function, printed("%s:%s", module, name));
	if (!text && f->file && f->line)
		text = if_alone(p, function, printed("%s@%s:%u", name, slash ? slash + 1 : f->file, (unsigned)f->line));
	return text ? text : printed("%s+0x%llx", module, (unsigned long long)f->offset);
}
