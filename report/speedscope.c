/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope export --format=speedscope`. Each function that cost something itself
 * is one sample, weighted with that cost; where the profile has calling contexts,
 * each context is one, and else a stack is the function alone. Speedscope keeps a
 * list of profiles: one for each unit over all threads, and where there are
 * several threads one more for each of them.
 */
#include <stdlib.h>
#include <string.h>

#include "report/functions.h"
#include "report/json.h"
#include "report/names.h"
#include "report/parts.h"
#include "report/callpaths.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

/* What a profile there is made of: rows, or nodes of contexts, of all threads or of one. */
struct sheet {
	const struct slope_profile_row *const *row;
	size_t count;
	size_t first, end;                       /* nodes */
	uint32_t thread;                         /* whose nodes; UINT32_MAX: of all */
};

struct speedscope {
	const struct slope_profile *p;
	struct slope_json j;
	uint32_t *frame;                         /* by function */
	const struct slope_profile_row **row;    /* sorted by thread, then function */
	size_t *first;                           /* by thread: position of its first row; and the end */
	bool contexts;
	size_t *node, *node_end;                 /* by thread: its first node, and behind its last */
	struct slope_callpaths stacks;
	bool failed;
};

static void put_frames(struct speedscope *s)
{
	uint32_t frames = 0;

	for (size_t i = 0; i < s->p->row_count; i++)
		s->frame[s->p->row[i].function] = 1;
	for (size_t i = 0; i < s->p->context_count; i++)
		s->frame[s->p->context[i].function] = 1;
	slope_json_object(&s->j, "shared", false);
	slope_json_array(&s->j, "frames", false);
	for (size_t i = 0; i < s->p->function_count; i++) {
		const struct slope_profile_function *f = &s->p->function[i];
		const char *file = slope_report_file(s->p, f);

		if (!s->frame[i])
			continue;                /* never ran */
		s->frame[i] = frames++;
		slope_json_object(&s->j, NULL, true);
		slope_json_string(&s->j, "name", slope_profile_name(f));
		if (!file && f->module < s->p->module_count)
			file = s->p->module[f->module].path;
		if (file && file[0])
			slope_json_string(&s->j, "file", file);
		if (f->line)
			slope_json_uint(&s->j, "line", f->line);
		slope_json_end(&s->j);
	}
	slope_json_end(&s->j);
	slope_json_end(&s->j);
}

/* O(rows + threads). */
static void sort_by_thread(struct speedscope *s)
{
	const struct slope_profile *p = s->p;

	for (size_t i = 0; i < p->row_count; i++)
		s->first[p->row[i].thread + 2]++;
	for (size_t t = 2; t < p->thread_count + 2; t++)
		s->first[t] += s->first[t - 1];
	/* Entry t + 1 is where thread t goes on, and ends as where it ends: the beginning of t + 1. */
	for (size_t i = 0; i < p->row_count; i++)
		s->row[s->first[p->row[i].thread + 1]++] = &p->row[i];
}

static void find_nodes(struct speedscope *s)
{
	for (size_t i = 0; i < s->p->context_count; i++) {
		uint32_t thread = s->p->context[i].thread;

		if (!s->node_end[thread])
			s->node[thread] = i;
		s->node_end[thread] = i + 1;
	}
}

/* The self cost of a node, 0 for one of another thread. */
static uint64_t weight_of(const struct speedscope *s, const struct sheet *sheet, size_t node, uint32_t unit)
{
	const struct slope_profile_context *at = &s->p->context[node];

	return sheet->thread == UINT32_MAX || sheet->thread == at->thread ? at->self[unit] : 0;
}

static uint64_t sum_of(const struct speedscope *s, const struct sheet *sheet, uint32_t unit)
{
	uint64_t sum = 0;

	for (size_t i = sheet->first; s->contexts && i < sheet->end; i++)
		sum += weight_of(s, sheet, i, unit);
	if (s->contexts)
		return sum;
	for (size_t i = 0; i < sheet->count; i++)
		sum += sheet->row[i]->self[unit];
	return sum;
}

/* The outermost caller comes first here. */
static void put_stack(struct speedscope *s, size_t node)
{
	size_t count = slope_callpaths_of(&s->stacks, node);

	s->failed |= !count;
	slope_json_array(&s->j, NULL, true);
	while (count-- > 0)
		slope_json_uint(&s->j, NULL, s->frame[s->stacks.function[count]]);
	slope_json_end(&s->j);
}

static void put_stacks(struct speedscope *s, const struct sheet *sheet, uint32_t unit)
{
	slope_json_array(&s->j, "samples", true);
	for (size_t i = sheet->first; i < sheet->end; i++)
		if (weight_of(s, sheet, i, unit))
			put_stack(s, i);
	slope_json_end(&s->j);
	slope_json_array(&s->j, "weights", true);
	for (size_t i = sheet->first; i < sheet->end; i++)
		if (weight_of(s, sheet, i, unit))
			slope_json_uint(&s->j, NULL, weight_of(s, sheet, i, unit));
	slope_json_end(&s->j);
}

static void put_samples(struct speedscope *s, const struct sheet *sheet, uint32_t unit)
{
	slope_json_array(&s->j, "samples", true);
	for (size_t i = 0; i < sheet->count; i++) {
		if (!sheet->row[i]->self[unit])
			continue;
		slope_json_array(&s->j, NULL, true);
		slope_json_uint(&s->j, NULL, s->frame[sheet->row[i]->function]);
		slope_json_end(&s->j);
	}
	slope_json_end(&s->j);
	slope_json_array(&s->j, "weights", true);
	for (size_t i = 0; i < sheet->count; i++)
		if (sheet->row[i]->self[unit])
			slope_json_uint(&s->j, NULL, sheet->row[i]->self[unit]);
	slope_json_end(&s->j);
}

/* "ir (instructions), thread 2 worker"; `which` is NULL for all threads. */
static void put_name(struct speedscope *s, uint32_t unit, const struct slope_profile_thread *which, bool process)
{
	const char *name = s->p->unit_name[unit] ? s->p->unit_name[unit] : "cost";
	const char *own = which && which->name ? which->name : "";
	char text[256], number[SLOPE_NAMES_THREAD_BYTES];

	if (which)
		snprintf(text, sizeof(text), "%s%s, thread %s%s%s", name, slope_parts_unit(name),
			 slope_names_thread(which, process, number), own[0] ? " " : "", own);
	else
		snprintf(text, sizeof(text), "%s%s%s", name, slope_parts_unit(name),
			 s->p->thread_count > 1 ? ", all threads" : "");
	slope_json_string(&s->j, "name", text);
}

static void put_profile(struct speedscope *s, const struct sheet *sheet, uint32_t unit,
			const struct slope_profile_thread *which, bool process)
{
	const char *measure = s->p->unit_name[unit] ? slope_parts_measure(s->p->unit_name[unit]) : NULL;

	slope_json_object(&s->j, NULL, false);
	slope_json_string(&s->j, "type", "sampled");
	put_name(s, unit, which, process);
	slope_json_string(&s->j, "unit", measure ? measure : "none");
	slope_json_uint(&s->j, "startValue", 0);
	slope_json_uint(&s->j, "endValue", sum_of(s, sheet, unit));
	if (s->contexts)
		put_stacks(s, sheet, unit);
	else
		put_samples(s, sheet, unit);
	slope_json_end(&s->j);
}

static void put_profiles(struct speedscope *s)
{
	const struct slope_profile *p = s->p;
	bool process = slope_names_many_processes(p);
	struct sheet all = { s->row, p->row_count, 0, p->context_count, UINT32_MAX };

	slope_json_array(&s->j, "profiles", false);
	for (uint32_t u = 0; u < p->units; u++)
		put_profile(s, &all, u, NULL, process);
	for (size_t t = 0; t < p->thread_count && p->thread_count > 1; t++) {
		struct sheet one = { s->row + s->first[t], s->first[t + 1] - s->first[t], s->node[t], s->node_end[t], (uint32_t)t };

		for (uint32_t u = 0; u < p->units && one.count; u++)
			put_profile(s, &one, u, &p->thread[t], process);
	}
	slope_json_end(&s->j);
}

static void put_file(struct speedscope *s, FILE *out)
{
	const char *program = s->p->program && s->p->program[0] ? s->p->program[0] : "slope";
	char exporter[64];

	snprintf(exporter, sizeof(exporter), "slope %s", s->p->created_by ? s->p->created_by : "");
	slope_json_init(&s->j, out);
	slope_json_object(&s->j, NULL, false);
	slope_json_string(&s->j, "$schema", SCHEMA);
	slope_json_string(&s->j, "name", program);
	slope_json_string(&s->j, "exporter", exporter);
	slope_json_uint(&s->j, "activeProfileIndex", 0);
	put_frames(s);
	put_profiles(s);
	slope_json_end(&s->j);
}

bool slope_export_speedscope(const struct slope_profile *p, const struct slope_export_options *o, FILE *out)
{
	struct speedscope s = {
		.p = p,
		.frame = calloc(p->function_count + 1, sizeof(*s.frame)),
		.row = calloc(p->row_count + 1, sizeof(*s.row)),
		.first = calloc(p->thread_count + 2, sizeof(*s.first)),
		.node = calloc(p->thread_count + 1, sizeof(*s.node)),
		.node_end = calloc(p->thread_count + 1, sizeof(*s.node_end)),
		.contexts = slope_callpaths_wanted(p, o),
	};
	bool ok = s.frame && s.row && s.first && s.node && s.node_end;

	slope_callpaths_init(&s.stacks, p, o);
	if (ok) {
		sort_by_thread(&s);
		find_nodes(&s);
		put_file(&s, out);
	}
	slope_callpaths_fini(&s.stacks);
	free(s.node);
	free(s.node_end);
	free(s.frame);
	free(s.row);
	free(s.first);
	return ok && !s.failed;
}
