/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Merging keeps every thread of every run as a row of its own, so most rows
 * are simply taken over. Two rows become one where a run had one module twice
 * (the same build at two paths): then their points are added up, at the
 * coarser of both widths.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "profile/host.h"
#include "profile/merge.h"

static bool copy_text(struct slope_merge *m, char **to, const char *from)
{
	if (!slope_build_text(to, slope_text_of(from)))
		m->no_memory = true;
	return !m->no_memory;
}

static uint64_t hash_bytes(const void *bytes, size_t count)
{
	const unsigned char *b = bytes;
	uint64_t h = count;

	for (size_t i = 0; i < count; i++)
		h = slope_mix64(h ^ b[i]) + 1;
	return h;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_module(const struct slope_profile_module *a, const struct slope_profile_module *b)
{
	if (a->build_id_bytes != b->build_id_bytes)
		return false;
	return a->build_id_bytes ? !memcmp(a->build_id, b->build_id, a->build_id_bytes) : same_text(a->path, b->path);
}

static uint32_t add_module(struct slope_merge *m, const struct slope_profile_module *from)
{
	const char *path = from->path ? from->path : "";
	uint64_t key = from->build_id_bytes ? hash_bytes(from->build_id, from->build_id_bytes) : hash_bytes(path, strlen(path));

	for (;; key++) {
		bool fresh;
		uint64_t *at = slope_map_put(&m->module, key, &fresh);
		struct slope_profile_module *to;

		if (at && !fresh && !same_module(&m->to->module[*at], from))
			continue;
		if (at && !fresh)
			return (uint32_t)*at;
		to = at ? slope_build_module(m->to) : NULL;
		if (!to) {
			m->no_memory = true;
			return SLOPE_MODULE_NONE;
		}
		*to = *from;
		*at = m->to->module_count - 1;
		copy_text(m, &to->path, path);
		return (uint32_t)*at;
	}
}

/* Code in no file is the same only if its name is, too: addresses there mean nothing in another run. */
static bool same_function(const struct slope_profile_function *a, const struct slope_profile_function *b, uint32_t b_module)
{
	return a->module == b_module && a->offset == b->offset && (b_module || same_text(a->raw_name, b->raw_name));
}

/* What one run could name and another could not (its files were gone) is named. */
static void complete_function(struct slope_merge *m, struct slope_profile_function *to, const struct slope_profile_function *from)
{
	if (!to->raw_name && from->raw_name) {
		free(to->name);
		copy_text(m, &to->raw_name, from->raw_name);
		copy_text(m, &to->name, from->name);
	}
	if (!to->file && from->file) {
		copy_text(m, &to->file, from->file);
		to->line = from->line;
	}
}

static uint32_t add_function(struct slope_merge *m, const struct slope_profile_function *from, uint32_t module)
{
	uint64_t key = slope_mix64(from->offset) ^ slope_mix64(~(uint64_t)module);

	for (;; key++) {
		bool fresh;
		uint64_t *at = slope_map_put(&m->function, key, &fresh);
		struct slope_profile_function *to;

		if (at && !fresh && !same_function(&m->to->function[*at], from, module))
			continue;
		to = !at ? NULL : fresh ? slope_build_function(m->to) : &m->to->function[*at];
		if (!to) {
			m->no_memory = true;
			return SLOPE_FN_ROOT;
		}
		if (fresh) {
			*to = (struct slope_profile_function){ .module = module, .flags = from->flags, .offset = from->offset };
			*at = m->to->function_count - 1;
			copy_text(m, &to->name, from->name);
			copy_text(m, &to->raw_name, from->raw_name);
		}
		complete_function(m, to, from);
		return (uint32_t)*at;
	}
}

static void add_places(struct slope_merge *m, const struct slope_profile *from)
{
	m->module_at = calloc(from->module_count + 1, sizeof *m->module_at);
	m->function_at = calloc(from->function_count + 1, sizeof *m->function_at);
	if (!m->module_at || !m->function_at) {
		m->no_memory = true;
		return;
	}
	for (size_t i = 1; i < from->module_count && !m->no_memory; i++)
		m->module_at[i] = add_module(m, &from->module[i]);
	for (size_t i = 1; i < from->function_count && !m->no_memory; i++)
		m->function_at[i] = add_function(m, &from->function[i], m->module_at[from->function[i].module]);
}

static void add_thread(struct slope_merge *m, const struct slope_profile_thread *from)
{
	struct slope_profile_thread *to = slope_build_thread(m->to);

	if (!to) {
		m->no_memory = true;
		return;
	}
	*to = *from;
	copy_text(m, &to->name, from->name ? from->name : "");
}

bool slope_merge_copy_row(struct slope_merge *m, struct slope_profile_row *to, const struct slope_profile_row *from,
			  uint32_t first_thread)
{
	uint32_t stride = slope_point_bytes(m->to->units);

	*to = *from;
	to->function = m->function_at[from->function];
	to->thread = first_thread + from->thread;
	for (unsigned k = 0; k < SLOPE_METRICS; k++) {
		size_t bytes = from->points[k].count * stride;

		to->points[k].rows = bytes ? malloc(bytes) : NULL;
		if (bytes && to->points[k].rows)
			memcpy(to->points[k].rows, from->points[k].rows, bytes);
		else if (bytes) {
			m->no_memory = true;
			to->points[k].count = 0;
		}
	}
	return !m->no_memory;
}

static void add_row(struct slope_merge *m, const struct slope_profile_row *from, uint32_t first_thread)
{
	struct slope_profile_row *to = slope_build_row(m->to);

	if (to)
		slope_merge_copy_row(m, to, from, first_thread);
	else
		m->no_memory = true;
}

static void add_edge(struct slope_merge *m, const struct slope_profile_edge *from, uint32_t first_thread)
{
	struct slope_profile_edge *to = slope_build_edge(m->to);

	if (!to) {
		m->no_memory = true;
		return;
	}
	*to = *from;
	to->sizes.row = from->sizes.count ? malloc(from->sizes.count * sizeof *to->sizes.row) : NULL;
	if (to->sizes.row)
		memcpy(to->sizes.row, from->sizes.row, from->sizes.count * sizeof *to->sizes.row);
	else if (from->sizes.count) {
		m->no_memory = true;
		to->sizes.count = 0;
	}
	to->caller = m->function_at[from->caller];
	to->callee = m->function_at[from->callee];
	to->thread = first_thread + from->thread;
}

static void add_lost(struct slope_merge *m, const struct slope_profile_lost *from)
{
	struct slope_profile_lost *to;

	for (size_t i = 0; i < m->to->lost_count; i++)
		if (same_text(m->to->lost[i].name, from->name)) {
			m->to->lost[i].count += from->count;
			return;
		}
	to = slope_build_lost(m->to);
	if (!to) {
		m->no_memory = true;
		return;
	}
	to->count = from->count;
	copy_text(m, &to->name, from->name);
	copy_text(m, &to->text, from->text);
}

static void add_profile(struct slope_merge *m, const struct slope_profile *from)
{
	struct slope_profile *to = m->to;
	uint32_t first_thread = (uint32_t)to->thread_count;
	size_t first_context = to->context_count;

	add_places(m, from);
	for (size_t i = 0; i < from->thread_count && !m->no_memory; i++)
		add_thread(m, &from->thread[i]);
	for (size_t i = 0; i < from->row_count && !m->no_memory; i++)
		add_row(m, &from->row[i], first_thread);
	for (size_t i = 0; i < from->edge_count && !m->no_memory; i++)
		add_edge(m, &from->edge[i], first_thread);
	slope_merge_contexts(m, from, first_thread);
	slope_merge_paths(m, from, first_thread, first_context);
	for (size_t i = 0; i < from->lost_count && !m->no_memory; i++)
		add_lost(m, &from->lost[i]);
	for (size_t i = 0; i < from->problem_count && !m->no_memory; i++)
		m->no_memory = !slope_build_problem(to, "process %" PRIu64 ": %s", from->process, from->problem[i]);
	to->runs += from->runs;
	to->renumberings += from->renumberings;
	to->variants_folded += from->variants_folded;
	to->symbolized &= from->symbolized;
	to->complete &= from->complete;
	if (from->max_points > to->max_points)
		to->max_points = from->max_points;
	free(m->module_at);
	free(m->function_at);
	m->module_at = m->function_at = NULL;
}

static bool merge_into(struct slope_points *sum, const struct slope_profile *p, const struct slope_profile_points *from)
{
	if (!slope_points_fold(sum, from->bits))
		return false;
	for (size_t i = 0; i < from->count; i++)
		if (!slope_points_merge(sum, slope_profile_point(p, from, i)))
			return false;
	return true;
}

/* Adds `from` to `to`; from's own rows stay. */
static bool merge_points(const struct slope_profile *p, struct slope_profile_points *to, const struct slope_profile_points *from)
{
	struct slope_arena arena;
	struct slope_points sum;
	unsigned char *rows = NULL;
	bool ok;

	slope_arena_init(&arena, &slope_system_host);
	slope_points_init(&sum, &arena, p->units, p->max_points ? p->max_points : SLOPE_POINTS_MAX_DEFAULT);
	ok = merge_into(&sum, p, to) && merge_into(&sum, p, from) && (rows = malloc(sum.count * sum.stride));
	if (ok) {
		memcpy(rows, sum.rows, sum.count * sum.stride);
		qsort(rows, sum.count, sum.stride, slope_build_compare_points);
		free(to->rows);
		*to = (struct slope_profile_points){ .bits = sum.bits, .count = sum.count, .rows = rows };
	}
	slope_arena_fini(&arena);
	return ok;
}

bool slope_merge_rows(const struct slope_profile *p, struct slope_profile_row *to, const struct slope_profile_row *from)
{
	to->calls += from->calls;
	for (unsigned u = 0; u < SLOPE_UNITS_MAX; u++) {
		to->total[u] += from->total[u];
		to->self[u] += from->self[u];
	}
	to->rms += from->rms;
	to->trms += from->trms;
	to->thread_input += from->thread_input;
	to->external += from->external;
	for (unsigned k = 0; k < SLOPE_METRICS; k++)
		if (from->points[k].count && !merge_points(p, &to->points[k], &from->points[k]))
			return false;
	return true;
}

static void unite_rows(struct slope_merge *m)
{
	struct slope_profile *p = m->to;
	size_t kept = 0;

	if (p->row_count)
		qsort(p->row, p->row_count, sizeof *p->row, slope_build_compare_rows);
	for (size_t i = 0; i < p->row_count; i++)
		if (!kept || slope_build_compare_rows(&p->row[kept - 1], &p->row[i])) {
			p->row[kept++] = p->row[i];
		} else {
			m->no_memory |= !slope_merge_rows(p, &p->row[kept - 1], &p->row[i]);
			for (unsigned k = 0; k < SLOPE_METRICS; k++)
				free(p->row[i].points[k].rows);
		}
	p->row_count = kept;
}

/* Brings sizes into bins of `bits` digits, adding up those of one bin. */
static void fold_sizes(struct slope_profile_sizes *sizes, uint32_t bits)
{
	size_t kept = 0;

	sizes->bits = bits;
	for (size_t i = 0; i < sizes->count; i++) {
		struct slope_profile_size row = sizes->row[i], *last = kept ? &sizes->row[kept - 1] : NULL;

		row.n = slope_points_edge(row.n, bits);
		if (!last || last->n != row.n) {
			sizes->row[kept++] = row;
			continue;
		}
		last->activations += row.activations;
		last->calls += row.calls;
		for (unsigned u = 0; u < SLOPE_UNITS_MAX; u++)
			last->cost[u] += row.cost[u];
	}
	sizes->count = kept;
}

/* Adds `from` to `to`, at the coarser of both widths. */
static bool merge_sizes(struct slope_profile_sizes *to, const struct slope_profile_sizes *from)
{
	size_t count = to->count + from->count;
	struct slope_profile_size *row = realloc(to->row, (count + 1) * sizeof *row);

	if (!row)
		return false;
	to->row = row;
	if (from->count)
		memcpy(row + to->count, from->row, from->count * sizeof *row);
	qsort(row, count, sizeof *row, slope_build_compare_sizes);
	to->count = count;
	fold_sizes(to, to->bits < from->bits ? to->bits : from->bits);
	return true;
}

static void unite_edges(struct slope_merge *m)
{
	struct slope_profile *p = m->to;
	size_t kept = 0;

	if (p->edge_count)
		qsort(p->edge, p->edge_count, sizeof *p->edge, slope_build_compare_edges);
	for (size_t i = 0; i < p->edge_count; i++) {
		if (!kept || slope_build_compare_edges(&p->edge[kept - 1], &p->edge[i])) {
			p->edge[kept++] = p->edge[i];
			continue;
		}
		p->edge[kept - 1].calls += p->edge[i].calls;
		for (unsigned u = 0; u < SLOPE_UNITS_MAX; u++)
			p->edge[kept - 1].cost[u] += p->edge[i].cost[u];
		m->no_memory |= !merge_sizes(&p->edge[kept - 1].sizes, &p->edge[i].sizes);
		free(p->edge[i].sizes.row);
	}
	p->edge_count = kept;
}

static bool comparable(const struct slope_profile *a, const struct slope_profile *b, size_t i, char *error, size_t error_bytes)
{
	bool units = a->units == b->units;

	for (uint32_t u = 0; u < a->units && units; u++)
		units = same_text(a->unit_name[u], b->unit_name[u]);
	bool contexts = !a->context_count == !b->context_count && a->context_k == b->context_k &&
			a->context_collapsed == b->context_collapsed && a->variant_k == b->variant_k;
	bool paths = !a->graph_count || !b->graph_count || a->path_metrics == b->path_metrics;

	for (uint32_t i = 0; paths && a->graph_count && b->graph_count && i < a->path_metrics; i++)
		paths = same_text(a->path_metric_name[i], b->path_metric_name[i]);
	const char *what = !units ? "cost units" : a->metrics != b->metrics ? "input metrics" :
			   a->cell_bytes != b->cell_bytes ? "cell sizes" : !contexts ? "contexts" : !paths ? "events of paths" : NULL;

	if (what)
		snprintf(error, error_bytes, "profile %zu has other %s than the first: record them with the same options",
			 i + 1, what);
	return !what;
}

/* What describes a run is the first one's. */
static void begin(struct slope_merge *m, const struct slope_profile *first)
{
	struct slope_profile *p = m->to;
	size_t arguments = 0;

#define X(field, key) copy_text(m, &p->field, first->field);
	SLOPE_FACT_TEXTS(X)
#undef X
#define X(field, key) p->field = first->field;
	SLOPE_FACT_SIGNED(X)
#undef X
	p->process = first->process;
	p->parent_process = first->parent_process;
	p->cell_bytes = first->cell_bytes;
	p->units = first->units;
	p->metrics = first->metrics;
	p->context_k = first->context_k;
	p->context_collapsed = first->context_collapsed;
	p->burst_period_ns = first->burst_period_ns;
	p->burst_length_ns = first->burst_length_ns;
	p->variant_k = first->variant_k;
	p->symbolized = p->complete = true;
	for (uint32_t u = 0; u < p->units; u++)
		copy_text(m, &p->unit_name[u], first->unit_name[u]);
	if (first->function_count)
		copy_text(m, &p->function[SLOPE_FN_ROOT].raw_name, first->function[SLOPE_FN_ROOT].raw_name);
	while (first->program && first->program[arguments])
		arguments++;
	p->program = calloc(arguments + 1, sizeof *p->program);
	if (!p->program)
		m->no_memory = true;
	for (size_t i = 0; i < arguments && p->program; i++)
		if (!copy_text(m, &p->program[i], first->program[i]))
			break;
}

struct slope_profile *slope_profile_merge(struct slope_profile *const *profiles, size_t count, char *error, size_t error_bytes)
{
	struct slope_merge m = { 0 };

	if (!count) {
		snprintf(error, error_bytes, "no profiles to merge");
		return NULL;
	}
	for (size_t i = 1; i < count; i++)
		if (!comparable(profiles[0], profiles[i], i, error, error_bytes))
			return NULL;
	m.to = slope_build_profile();
	if (!m.to)
		goto no_memory;
	slope_arena_init(&m.arena, &slope_system_host);
	slope_map_init(&m.module, &m.arena);
	slope_map_init(&m.function, &m.arena);
	slope_map_init(&m.graph, &m.arena);
	begin(&m, profiles[0]);
	for (size_t i = 0; i < count && !m.no_memory; i++)
		add_profile(&m, profiles[i]);
	if (!m.no_memory) {
		m.to->function[SLOPE_FN_ROOT].name = slope_build_default_name(m.to, SLOPE_FN_ROOT);
		m.no_memory = !m.to->function[SLOPE_FN_ROOT].name;
		unite_rows(&m);
		unite_edges(&m);
		slope_merge_unite_variants(&m);
		slope_merge_unite_paths(&m);
	}
	slope_arena_fini(&m.arena);
	if (!m.no_memory)
		return m.to;
	slope_profile_free(m.to);
no_memory:
	snprintf(error, error_bytes, "not enough memory to merge");
	return NULL;
}
