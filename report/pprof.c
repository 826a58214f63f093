/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope export --format=pprof`: the messages of pprof's profile.proto in a
 * gzip stream. Without calling contexts a sample's stack is one function. There
 * are two kinds of samples, and no value is in both:
 *
 *   - one for each function and thread: its calls, its cost with callees
 *     (ir_total) and without (ir);
 *   - one for each point of that, with the input size as its label n: the
 *     calls and the cost with callees of that size (calls_by_n, ir_by_n).
 *
 * With contexts there is a third kind, one for each of them with its stack: it
 * has the calls and the cost without callees, and the first kind has not.
 *
 * So every value adds up by itself; ir adds up to the program's cost. The
 * values of the first unit stand last, and its own cost is the very last:
 * viewers that do not read the default take that one.
 *
 * Locations have addresses of their module's own address space, as nm prints
 * them, and mappings begin at 0 accordingly.
 *
 * Strings are numbered in the order of enum text, then units,
 * threads, modules and functions; put_texts writes them in the same order.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/functions.h"
#include "report/names.h"
#include "report/parts.h"
#include "report/protobuf.h"
#include "report/callpaths.h"

/* Numbers of fields in profile.proto. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, PERIOD_TYPE = 11, PERIOD, COMMENT, DEFAULT_TYPE };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER, LABEL_UNIT };
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILE, MAPPING_BUILD_ID, MAPPING_FUNCTIONS,
       MAPPING_FILES, MAPPING_LINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYMBOL, FUNCTION_FILE, FUNCTION_LINE };

enum text {
	TEXT_EMPTY, TEXT_COUNT, TEXT_NANOSECONDS, TEXT_BYTES, TEXT_CALLS, TEXT_CALLS_BY_N, TEXT_N, TEXT_CELLS, TEXT_THREAD, TEXT_COMMENT,
	TEXTS
};

enum { UNIT_SELF, UNIT_TOTAL, UNIT_BY_N, UNIT_TEXTS };
enum { MODULE_PATH, MODULE_BUILD_ID, MODULE_TEXTS };
enum { FN_NAME, FN_SYMBOL, FN_FILE, FN_TEXTS };

/* Values of a sample: calls, calls_by_n, and three for each unit. */
enum { VALUE_CALLS, VALUE_CALLS_BY_N, VALUE_UNITS };
enum { OF_BY_N, OF_TOTAL, OF_SELF, OF_UNIT };
#define VALUES_MAX (VALUE_UNITS + OF_UNIT * SLOPE_UNITS_MAX)

/* What is known of the functions of a module. */
struct about {
	uint64_t limit;
	bool files, lines;
};

struct pprof {
	const struct slope_profile *p;
	struct slope_gzip to;
	struct about *module;
	uint32_t metric;
	bool process;                /* threads are of several */
	bool contexts;
	struct slope_callpaths stacks;
};

static uint64_t unit_text(uint32_t unit, unsigned which)
{
	return TEXTS + (uint64_t)unit * UNIT_TEXTS + which;
}

static uint64_t thread_text(const struct pprof *pp, size_t thread)
{
	return unit_text(pp->p->units, 0) + thread;
}

static uint64_t module_text(const struct pprof *pp, size_t module, unsigned which)
{
	return thread_text(pp, pp->p->thread_count) + module * MODULE_TEXTS + which;
}

static uint64_t function_text(const struct pprof *pp, size_t function, unsigned which)
{
	return module_text(pp, pp->p->module_count, 0) + function * FN_TEXTS + which;
}

/* Where a unit's values stand. */
static size_t value_at(const struct pprof *pp, uint32_t unit, unsigned which)
{
	return VALUE_UNITS + OF_UNIT * (size_t)(pp->p->units - 1 - unit) + which;
}

/* ---- types ---- */

static uint64_t measure_of(const struct pprof *pp, uint32_t unit)
{
	const char *name = pp->p->unit_name[unit];
	const char *measure = name ? slope_parts_measure(name) : NULL;

	return !measure ? TEXT_COUNT : !strcmp(measure, "bytes") ? TEXT_BYTES : TEXT_NANOSECONDS;
}

static void put_type(struct pprof *pp, uint32_t field, uint64_t type, uint64_t unit)
{
	struct slope_protobuf m;

	slope_protobuf_init(&m);
	slope_protobuf_number(&m, TYPE_TYPE, type);
	slope_protobuf_number(&m, TYPE_UNIT, unit);
	slope_protobuf_write(&pp->to, field, &m);
}

/* In the order of the values of a sample. */
static void put_types(struct pprof *pp)
{
	put_type(pp, SAMPLE_TYPE, TEXT_CALLS, TEXT_COUNT);
	put_type(pp, SAMPLE_TYPE, TEXT_CALLS_BY_N, TEXT_COUNT);
	for (uint32_t u = pp->p->units; u-- > 0;) {
		put_type(pp, SAMPLE_TYPE, unit_text(u, UNIT_BY_N), measure_of(pp, u));
		put_type(pp, SAMPLE_TYPE, unit_text(u, UNIT_TOTAL), measure_of(pp, u));
		put_type(pp, SAMPLE_TYPE, unit_text(u, UNIT_SELF), measure_of(pp, u));
	}
}

/* ---- samples ---- */

/* A stack, the function itself first, and what it has in a thread. `n` is NULL for all sizes. */
static void put_sample(struct pprof *pp, uint32_t *function, size_t count, uint32_t thread, const uint64_t *value,
		       const uint64_t *n)
{
	struct slope_protobuf m, label;

	slope_protobuf_init(&m);
	slope_protobuf_packed(&m, SAMPLE_VALUE, value, value_at(pp, 0, OF_UNIT));
	if (pp->p->thread_count > 1) {
		slope_protobuf_init(&label);
		slope_protobuf_number(&label, LABEL_KEY, TEXT_THREAD);
		slope_protobuf_number(&label, LABEL_TEXT, thread_text(pp, thread));
		slope_protobuf_nested(&m, SAMPLE_LABEL, &label);
	}
	if (n) {
		slope_protobuf_init(&label);
		slope_protobuf_number(&label, LABEL_KEY, TEXT_N);
		slope_protobuf_number(&label, LABEL_NUMBER, *n);
		slope_protobuf_number(&label, LABEL_UNIT, TEXT_CELLS);
		slope_protobuf_nested(&m, SAMPLE_LABEL, &label);
	}
	for (size_t i = 0; i < count; i++)
		function[i]++;           /* locations begin with 1 */
	slope_protobuf_write_list(&pp->to, SAMPLE, SAMPLE_LOCATION, function, count, &m);
}

static void put_row(struct pprof *pp, const struct slope_profile_row *row)
{
	uint64_t value[VALUES_MAX] = { [VALUE_CALLS] = pp->contexts ? 0 : row->calls };
	uint32_t function = row->function;

	for (uint32_t u = 0; u < pp->p->units; u++) {
		value[value_at(pp, u, OF_TOTAL)] = row->total[u];
		value[value_at(pp, u, OF_SELF)] = pp->contexts ? 0 : row->self[u];
	}
	put_sample(pp, &function, 1, row->thread, value, NULL);
}

static bool put_context(struct pprof *pp, size_t at)
{
	const struct slope_profile_context *node = &pp->p->context[at];
	uint64_t value[VALUES_MAX] = { [VALUE_CALLS] = node->calls };
	size_t count = slope_callpaths_of(&pp->stacks, at);

	for (uint32_t u = 0; u < pp->p->units; u++)
		value[value_at(pp, u, OF_SELF)] = node->self[u];
	if (count)
		put_sample(pp, pp->stacks.function, count, node->thread, value, NULL);
	return count != 0;
}

static bool counts(const struct slope_profile *p, const struct slope_profile_context *node)
{
	bool any = node->calls != 0;

	for (uint32_t u = 0; u < p->units; u++)
		any |= node->self[u] != 0;
	return any;
}

static void put_point(struct pprof *pp, const struct slope_profile_row *row, const struct slope_point *point)
{
	uint64_t value[VALUES_MAX] = { [VALUE_CALLS_BY_N] = point->calls };
	uint32_t function = row->function;

	for (uint32_t u = 0; u < pp->p->units; u++)
		value[value_at(pp, u, OF_BY_N)] = point->cost[u].sum;
	put_sample(pp, &function, 1, row->thread, value, &point->n);
}

static bool put_samples(struct pprof *pp)
{
	for (size_t i = 0; pp->contexts && i < pp->p->context_count; i++)
		if (counts(pp->p, &pp->p->context[i]) && !put_context(pp, i))
			return false;
	for (size_t i = 0; i < pp->p->row_count; i++) {
		const struct slope_profile_row *row = &pp->p->row[i];
		const struct slope_profile_points *points = &row->points[pp->metric];

		put_row(pp, row);
		for (size_t k = 0; k < points->count; k++)
			put_point(pp, row, slope_profile_point(pp->p, points, k));
	}
	return true;
}

/* ---- places ---- */

static void survey_modules(struct pprof *pp)
{
	for (size_t i = 0; i < pp->p->function_count; i++) {
		const struct slope_profile_function *f = &pp->p->function[i];

		if (f->module >= pp->p->module_count)
			continue;
		struct about *about = &pp->module[f->module];

		if (f->offset >= about->limit)
			about->limit = f->offset + 1;
		about->files |= f->file != NULL;
		about->lines |= f->line != 0;
	}
}

static void put_mapping(struct pprof *pp, size_t module)
{
	const struct about *about = &pp->module[module];
	struct slope_protobuf m;

	slope_protobuf_init(&m);
	slope_protobuf_number(&m, MAPPING_ID, module);
	slope_protobuf_number(&m, MAPPING_LIMIT, about->limit);
	slope_protobuf_number(&m, MAPPING_FILE, module_text(pp, module, MODULE_PATH));
	slope_protobuf_number(&m, MAPPING_BUILD_ID, module_text(pp, module, MODULE_BUILD_ID));
	slope_protobuf_number(&m, MAPPING_FUNCTIONS, true);
	slope_protobuf_number(&m, MAPPING_FILES, about->files);
	slope_protobuf_number(&m, MAPPING_LINES, about->lines);
	slope_protobuf_write(&pp->to, MAPPING, &m);
}

/* The module with main: the first mapping is taken for the program. SLOPE_MODULE_NONE: there is none. */
static size_t program_module(const struct slope_profile *p)
{
	for (size_t i = 0; i < p->function_count; i++) {
		const struct slope_profile_function *f = &p->function[i];

		if (f->raw_name && !strcmp(f->raw_name, "main") && f->module < p->module_count)
			return f->module;
	}
	return SLOPE_MODULE_NONE;
}

static void put_mappings(struct pprof *pp)
{
	size_t program = program_module(pp->p);

	if (program != SLOPE_MODULE_NONE)
		put_mapping(pp, program);
	for (size_t i = SLOPE_MODULE_NONE + 1; i < pp->p->module_count; i++)
		if (i != program)
			put_mapping(pp, i);
}

static void put_place(struct pprof *pp, size_t i)
{
	const struct slope_profile_function *f = &pp->p->function[i];
	struct slope_protobuf m, line;

	slope_protobuf_init(&line);
	slope_protobuf_number(&line, LINE_FUNCTION, i + 1);
	slope_protobuf_number(&line, LINE_LINE, f->line);
	slope_protobuf_init(&m);
	slope_protobuf_number(&m, LOCATION_ID, i + 1);
	slope_protobuf_number(&m, LOCATION_MAPPING, f->module < pp->p->module_count ? f->module : SLOPE_MODULE_NONE);
	slope_protobuf_number(&m, LOCATION_ADDRESS, f->offset);
	slope_protobuf_nested(&m, LOCATION_LINE, &line);
	slope_protobuf_write(&pp->to, LOCATION, &m);
	slope_protobuf_init(&m);
	slope_protobuf_number(&m, FUNCTION_ID, i + 1);
	slope_protobuf_number(&m, FUNCTION_NAME, function_text(pp, i, FN_NAME));
	slope_protobuf_number(&m, FUNCTION_SYMBOL, function_text(pp, i, FN_SYMBOL));
	slope_protobuf_number(&m, FUNCTION_FILE, function_text(pp, i, FN_FILE));
	slope_protobuf_number(&m, FUNCTION_LINE, f->line);
	slope_protobuf_write(&pp->to, FUNCTION, &m);
}

/* ---- strings ---- */

static void put_text(struct pprof *pp, const char *text)
{
	slope_protobuf_write_text(&pp->to, STRING, text, NULL);
}

/* The command, what measured it, what n is, what is missing. */
static bool put_comment(struct pprof *pp)
{
	const struct slope_profile *p = pp->p;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return false;
	fputs("command:", out);
	for (char **word = p->program; word && *word; word++)
		fprintf(out, " %s", *word);
	fprintf(out, "\nslope %s, source %s, n: %s, cells of %" PRIu32 " bytes", p->created_by ? p->created_by : "",
		p->source ? p->source : "unknown", slope_report_metric_name(pp->metric), p->cell_bytes);
	for (size_t i = 0; i < p->lost_count; i++)
		if (p->lost[i].count)
			fprintf(out, "\nlost: %" PRIu64 " %s", p->lost[i].count,
				p->lost[i].text ? p->lost[i].text : p->lost[i].name);
	for (size_t i = 0; i < p->problem_count; i++)
		fprintf(out, "\nproblem: %s", p->problem[i]);
	bool good = !ferror(out);

	good &= fclose(out) == 0;
	if (good)
		put_text(pp, text);
	free(text);
	return good;
}

static void put_module_texts(struct pprof *pp, const struct slope_profile_module *m)
{
	char hex[2 * sizeof(m->build_id) + 1] = "";

	for (uint32_t i = 0; i < m->build_id_bytes && i < sizeof(m->build_id); i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", m->build_id[i]);
	put_text(pp, m->path);
	put_text(pp, hex);
}

static bool put_texts(struct pprof *pp)
{
	static const char *const fixed[TEXT_COMMENT] = {
		"", "count", "nanoseconds", "bytes", "calls", "calls_by_n", "n", "cells", "thread",
	};
	static const char *const ending[UNIT_TEXTS] = { "", "_total", "_by_n" };
	const struct slope_profile *p = pp->p;
	char number[SLOPE_NAMES_THREAD_BYTES];

	for (size_t i = 0; i < TEXT_COMMENT; i++)
		put_text(pp, fixed[i]);
	if (!put_comment(pp))
		return false;
	for (uint32_t u = 0; u < p->units; u++)
		for (unsigned k = 0; k < UNIT_TEXTS; k++)
			slope_protobuf_write_text(&pp->to, STRING, p->unit_name[u] ? p->unit_name[u] : "cost", ending[k]);
	for (size_t i = 0; i < p->thread_count; i++)
		put_text(pp, slope_names_thread(&p->thread[i], pp->process, number));
	for (size_t i = 0; i < p->module_count; i++)
		put_module_texts(pp, &p->module[i]);
	for (size_t i = 0; i < p->function_count; i++) {
		put_text(pp, p->function[i].name);
		put_text(pp, p->function[i].raw_name);
		put_text(pp, slope_report_file(p, &p->function[i]));
	}
	return true;
}

/* ---- the file ---- */

static bool put_profile(struct pprof *pp)
{
	struct slope_protobuf last;

	put_types(pp);
	if (!put_samples(pp))
		return false;
	survey_modules(pp);
	put_mappings(pp);
	for (size_t i = 0; i < pp->p->function_count; i++)
		put_place(pp, i);
	if (!put_texts(pp))
		return false;
	put_type(pp, PERIOD_TYPE, unit_text(0, UNIT_SELF), measure_of(pp, 0));
	slope_protobuf_init(&last);
	slope_protobuf_number(&last, PERIOD, 1);
	slope_protobuf_number(&last, COMMENT, TEXT_COMMENT);
	slope_protobuf_number(&last, DEFAULT_TYPE, unit_text(0, UNIT_SELF));
	slope_gzip_put(&pp->to, last.bytes, last.count);
	return true;
}

bool slope_export_pprof(const struct slope_profile *p, const struct slope_export_options *o, FILE *out)
{
	struct pprof pp = { .p = p, .metric = o->metric,
		.process = slope_names_many_processes(p), .contexts = slope_callpaths_wanted(p, o),
	};
	bool ok;

	slope_callpaths_init(&pp.stacks, p, o);
	pp.module = calloc(p->module_count + 1, sizeof(*pp.module));
	ok = pp.module && slope_gzip_init(&pp.to, out);
	if (ok) {
		ok = put_profile(&pp);
		slope_gzip_fini(&pp.to);
	}
	slope_callpaths_fini(&pp.stacks);
	free(pp.module);
	return ok;
}
