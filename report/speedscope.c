/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope export --format=speedscope`. Each function that cost something itself
 * is one sample, weighted with that cost: a profile has no calling contexts, so
 * a stack is the function alone. Speedscope keeps a list of profiles: one for
 * each unit over all threads, and where there are several threads one more for
 * each of them.
 */
#include <stdlib.h>
#include <string.h>

#include "report/functions.h"
#include "report/json.h"
#include "report/names.h"
#include "report/parts.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

/* Rows of a profile: those of all threads, or of one. */
struct sheet {
	const struct slope_profile_row *const *row;
	size_t count;
};

struct speedscope {
	const struct slope_profile *p;
	struct slope_json j;
	uint32_t *frame;                         /* by function */
	const struct slope_profile_row **row;    /* sorted by thread, then function */
	size_t *first;                           /* by thread: position of its first row; and the end */
};

static void put_frames(struct speedscope *s)
{
	uint32_t frames = 0;

	slope_json_object(&s->j, "shared", false);
	slope_json_array(&s->j, "frames", false);
	for (size_t i = 0; i < s->p->row_count; i++) {
		uint32_t function = s->p->row[i].function;
		const struct slope_profile_function *f = &s->p->function[function];
		const char *file = slope_report_file(s->p, f);

		if (i && s->p->row[i - 1].function == function)
			continue;
		s->frame[function] = frames++;
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

static uint64_t sum_of(const struct sheet *sheet, uint32_t unit)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sheet->count; i++)
		sum += sheet->row[i]->self[unit];
	return sum;
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
	bool time = s->p->unit_name[unit] && !strcmp(s->p->unit_name[unit], "time");

	slope_json_object(&s->j, NULL, false);
	slope_json_string(&s->j, "type", "sampled");
	put_name(s, unit, which, process);
	slope_json_string(&s->j, "unit", time ? "nanoseconds" : "none");
	slope_json_uint(&s->j, "startValue", 0);
	slope_json_uint(&s->j, "endValue", sum_of(sheet, unit));
	put_samples(s, sheet, unit);
	slope_json_end(&s->j);
}

static void put_profiles(struct speedscope *s)
{
	const struct slope_profile *p = s->p;
	bool process = slope_names_many_processes(p);
	struct sheet all = { s->row, p->row_count };

	slope_json_array(&s->j, "profiles", false);
	for (uint32_t u = 0; u < p->units; u++)
		put_profile(s, &all, u, NULL, process);
	for (size_t t = 0; t < p->thread_count && p->thread_count > 1; t++) {
		struct sheet one = { s->row + s->first[t], s->first[t + 1] - s->first[t] };

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
	};
	bool ok = s.frame && s.row && s.first;

	(void)o;
	if (ok) {
		sort_by_thread(&s);
		put_file(&s, out);
	}
	free(s.frame);
	free(s.row);
	free(s.first);
	return ok;
}
