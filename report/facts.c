/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/facts.h"

#include "analysis/statistics.h"

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

void slope_facts_threads(struct slope_json *j, const struct slope_profile *p)
{
	slope_json_array(j, "threads", false);
	for (size_t i = 0; i < p->thread_count; i++) {
		const struct slope_profile_thread *t = &p->thread[i];
		const struct slope_profile_row *root = slope_thread_row(p, i);

		slope_json_object(j, NULL, true);
		slope_json_uint(j, "id", t->id);
		slope_json_uint(j, "parent", t->parent);
		slope_json_uint(j, "process", t->process);
		slope_json_uint(j, "os_id", t->os_id);
		slope_json_string(j, "name", t->name ? t->name : "");
		slope_json_uint(j, "calls", t->calls);
		slope_json_uint(j, "max_depth", t->max_depth);
		if (root)
			slope_facts_costs(j, "cost", p, root->total);
		else
			slope_json_null(j, "cost");
		slope_json_end(j);
	}
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
