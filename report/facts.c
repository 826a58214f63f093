/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/facts.h"

#include <math.h>

#include "report/functions.h"

static void put_strings(struct slope_json *j, const char *key, char *const *text, size_t count)
{
	slope_json_array(j, key, true);
	for (size_t i = 0; i < count; i++)
		slope_json_string(j, NULL, text[i]);
	slope_json_end(j);
}

static size_t words(char *const *text)
{
	size_t n = 0;

	while (text && text[n])
		n++;
	return n;
}

static void put_exit(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_object(j, "exit", true);
	slope_json_string(j, "ended", p->ended);
	if (p->exit_code >= 0)
		slope_json_int(j, "code", p->exit_code);
	else
		slope_json_null(j, "code");
	if (p->exit_signal > 0)
		slope_json_int(j, "signal", p->exit_signal);
	else
		slope_json_null(j, "signal");
	slope_json_end(j);
}

void slope_facts_run(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_string(j, "source", p->source);
	put_strings(j, "program", p->program, words(p->program));
	slope_json_string(j, "directory", p->directory);
	slope_json_string(j, "created_by", p->created_by);
	slope_json_uint(j, "runs", p->runs);
	slope_json_object(j, "process", true);
	slope_json_uint(j, "id", p->process);
	slope_json_uint(j, "parent", p->parent_process);
	slope_json_end(j);
	put_exit(j, p);
	slope_json_uint(j, "cell_bytes", p->cell_bytes);
	slope_json_bool(j, "complete", p->complete);
	put_strings(j, "problems", p->problem, p->problem_count);
	slope_json_object(j, "lost", true);
	for (size_t i = 0; i < p->lost_count; i++)
		slope_json_uint(j, p->lost[i].name, p->lost[i].count);
	slope_json_end(j);
}

void slope_facts_costs(struct slope_json *j, const char *key, const struct slope_profile *p, const uint64_t *cost)
{
	slope_json_object(j, key, true);
	for (uint32_t u = 0; u < p->units; u++)
		slope_json_uint(j, p->unit_name[u] ? p->unit_name[u] : "?", cost[u]);
	slope_json_end(j);
}

void slope_facts_input(struct slope_json *j, uint64_t rms, uint64_t trms, uint64_t thread, uint64_t external)
{
	slope_json_object(j, "input", true);
	slope_json_uint(j, "rms", rms);
	slope_json_uint(j, "trms", trms);
	slope_json_uint(j, "thread", thread);
	slope_json_uint(j, "external", external);
	slope_json_end(j);
}

void slope_facts_thread(struct slope_json *j, const struct slope_profile *p, size_t at)
{
	const struct slope_profile_thread *t = &p->thread[at];
	const struct slope_profile_row *root = slope_thread_row(p, at);

	slope_json_uint(j, "id", t->id);
	slope_json_uint(j, "parent", t->parent);
	slope_json_uint(j, "process", t->process);
	slope_json_uint(j, "os_id", t->os_id);
	slope_json_string(j, "name", t->name ? t->name : "");
	slope_json_bool(j, "coroutine", slope_report_is_coroutine(p, at));
	slope_json_uint(j, "calls", t->calls);
	slope_json_uint(j, "max_depth", t->max_depth);
	if (root) {
		slope_facts_costs(j, "cost", p, root->total);
		slope_facts_input(j, root->rms, root->trms, root->thread_input, root->external);
	} else {
		slope_json_null(j, "cost");
		slope_json_null(j, "input");
	}
}

void slope_facts_threads(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_array(j, "threads", false);
	for (size_t i = 0; i < p->thread_count; i++) {
		slope_json_object(j, NULL, true);
		slope_facts_thread(j, p, i);
		slope_json_end(j);
	}
	slope_json_end(j);
}

void slope_facts_function(struct slope_json *j, const struct slope_profile *p, const struct slope_profile_function *f)
{
	const char *file = slope_report_file(p, f);

	slope_json_string(j, "name", slope_profile_name(f));
	slope_json_string(j, "module", slope_profile_module_of(p, f));
	slope_json_string(j, "file", file);
	if (file && f->line)
		slope_json_uint(j, "line", f->line);
	else
		slope_json_null(j, "line");
	slope_json_uint(j, "module_index", f->module);
	slope_json_uint(j, "offset", f->offset);
	slope_json_string(j, "symbol", f->raw_name);
}

/* Up to the first limit that no function reaches; that one included, so that a reader sees the end. */
static void put_curve(struct slope_json *j, const struct slope_statistics *s, enum slope_measure m)
{
	size_t limits, reached = 1;
	const double *limit = slope_measure_limits(m, &limits);

	if (!slope_statistics_at_least(s, m, -INFINITY).of) {
		slope_json_null(j, slope_measure_name(m));
		return;
	}
	slope_json_array(j, slope_measure_name(m), false);
	for (size_t i = 0; i < limits && reached; i++) {
		struct slope_at_least found = slope_statistics_at_least(s, m, limit[i]);

		slope_json_object(j, NULL, true);
		slope_json_real(j, "at_least", limit[i]);
		slope_json_uint(j, "functions", found.functions);
		slope_json_real(j, "share", slope_share_of(found.functions, found.of));
		slope_json_real(j, "self_cost", slope_share_of(found.self, s->cost));
		slope_json_end(j);
		reached = found.functions;
	}
	slope_json_end(j);
}

void slope_facts_statistics(struct slope_json *j, const struct slope_statistics *s)
{
	bool trms = s->metrics & 1u << SLOPE_METRIC_TRMS;
	uint64_t induced = s->thread_input + s->external;

	slope_json_object(j, "statistics", false);
	slope_json_uint(j, "functions", s->functions);
	slope_json_object(j, "input", true);
	slope_json_uint(j, "cells", s->input);
	slope_json_uint(j, "thread", s->thread_input);
	slope_json_uint(j, "external", s->external);
	slope_json_real(j, "thread_of_input", trms ? slope_share_of(s->thread_input, s->input) : NAN);
	slope_json_real(j, "external_of_input", trms ? slope_share_of(s->external, s->input) : NAN);
	slope_json_real(j, "thread_of_induced", trms ? slope_share_of(s->thread_input, induced) : NAN);
	slope_json_real(j, "external_of_induced", trms ? slope_share_of(s->external, induced) : NAN);
	slope_json_end(j);
	slope_json_real(j, "input_volume", slope_statistics_volume(s));
	for (int m = 0; m < SLOPE_MEASURES; m++)
		put_curve(j, s, (enum slope_measure)m);
	slope_json_end(j);
}

void slope_facts_modules(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_array(j, "modules", false);
	for (size_t i = 0; i < p->module_count; i++) {
		const struct slope_profile_module *m = &p->module[i];
		char id[2 * sizeof(m->build_id) + 1] = "";

		for (uint32_t k = 0; k < m->build_id_bytes && k < sizeof(m->build_id); k++)
			snprintf(id + 2 * k, 3, "%02x", m->build_id[k]);
		slope_json_object(j, NULL, true);
		slope_json_string(j, "path", m->path ? m->path : "");
		slope_json_string(j, "build_id", m->build_id_bytes ? id : NULL);
		slope_json_uint(j, "start", m->start);
		slope_json_uint(j, "bytes", m->bytes);
		slope_json_end(j);
	}
	slope_json_end(j);
}
