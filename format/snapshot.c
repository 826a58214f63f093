/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope_encode_session: a live session, walked table by table. */
#include "core/tally.h"
#include "core/variants.h"
#include "format/snapshot_paths.h"

static void encode_facts(struct slope_encoder *e, const struct slope_session *s, const struct slope_run_info *run)
{
	struct slope_facts facts = {
		.source = run->source, .directory = run->directory, .created_by = run->created_by, .ended = run->ended,
		.exit_code = run->exit_code, .exit_signal = run->exit_signal,
		.process = run->process, .parent_process = run->parent_process, .runs = 1,
		.cell_bytes = 1u << s->config.cell_log2, .units = s->config.units, .metrics = s->config.metrics,
		.max_points = s->config.max_points, .renumberings = s->renumberings,
		.context_k = s->config.context_k, .context_collapsed = s->config.context_collapse && !s->config.context_k,
		.burst_period_ns = s->config.burst_period, .burst_length_ns = s->config.burst_length,
		.variant_k = s->config.variant_k, .variants_folded = s->variants_folded,
		.path_metrics = s->path_metrics, .path_period = s->path_period,
		.argument = run->argv, .argument_count = run->argc,
		.problem = run->problem, .problem_count = run->problem_count,
	};

	for (uint32_t u = 0; u < s->config.units; u++)
		facts.unit_name[u] = run->unit_name[u];
	for (uint32_t i = 0; i < s->path_metrics; i++)
		facts.path_metric_name[i] = s->path_metric_name[i];
	slope_encode_facts(e, &facts);
}

static void encode_modules(struct slope_encoder *e, const struct slope_session *s)
{
	for (size_t i = 0; i < s->module_count; i++) {
		const struct slope_module *m = &s->module[i];
		struct slope_module_entry entry = {
			.number = (uint32_t)i, .path = slope_text_of(m->path), .build_id_bytes = m->build_id_bytes,
			.start = m->start, .bytes = m->bytes,
		};

		slope_copy(entry.build_id, m->build_id, sizeof entry.build_id);
		slope_encode_module(e, &entry);
	}
}

static void encode_functions(struct slope_encoder *e, const struct slope_session *s)
{
	for (size_t i = 0; i < s->function_count; i++) {
		const struct slope_function *f = &s->function[i];

		slope_encode_function(e, &(struct slope_function_entry){
			.number = (uint32_t)i, .module = f->module, .flags = f->flags, .offset = f->offset,
			.raw_name = slope_text_of(f->name) });
	}
}

static void encode_threads(struct slope_encoder *e, const struct slope_session *s, uint64_t process)
{
	for (size_t i = 1; i < s->thread_count; i++) {
		const struct slope_thread *t = s->thread[i];
		struct slope_text name = { t->name, 0 };

		while (name.count < sizeof t->name && t->name[name.count])
			name.count++;
		slope_encode_thread(e, &(struct slope_thread_entry){
			.number = (uint32_t)i, .id = t->id, .parent = t->parent, .os_id = t->os_id,
			.process = process, .calls = slope_thread_calls(t), .max_depth = t->max_depth, .name = name });
	}
}

/* A record that nothing was counted in: it waits for a first call, or for one after a restart. */
static bool is_idle(const struct slope_totals *totals, uint32_t units)
{
	uint64_t any = totals->calls;

	for (uint32_t u = 0; u < units; u++)
		any |= totals->self[u];
	return !any;
}

/* What a record has in all; false: nothing. */
static bool fill_cost(struct slope_cost_entry *entry, const struct slope_thread *t, const struct slope_record *r, uint32_t function)
{
	uint32_t units = t->session->config.units;
	struct slope_totals totals;

	slope_record_totals(r, &t->session->config, &totals);
	if (is_idle(&totals, units))
		return false;
	*entry = (struct slope_cost_entry){
		.function = function, .thread = t->id, .calls = totals.calls, .rms = totals.rms, .trms = totals.trms,
		.thread_input = totals.thread, .external = totals.external,
	};
	for (uint32_t u = 0; u < units; u++) {
		entry->total[u] = totals.total[u];
		entry->self[u] = totals.self[u];
	}
	return true;
}

static void encode_record(struct slope_encoder *e, const struct slope_thread *t, const struct slope_record *r)
{
	struct slope_cost_entry entry;

	if (fill_cost(&entry, t, r, r->fn))
		slope_encode_cost(e, &entry);
}

typedef void begin_table(struct slope_encoder *e, const struct slope_points_entry *points);

/* `number`: the function's, or the variant's. */
static void encode_tables(struct slope_encoder *e, const struct slope_thread *t, const struct slope_record *r, uint32_t number,
			  begin_table *begin)
{
	for (uint32_t m = 0; m < SLOPE_METRICS; m++) {
		const struct slope_points *points = &r->points[m];

		if (!points->count)
			continue;
		begin(e, &(struct slope_points_entry){
			.metric = m, .function = number, .thread = t->id, .bits = points->bits });
		for (size_t i = 0; i < points->count; i++)
			slope_encode_point_row(e, slope_points_row(points, i));
		slope_encode_points_end(e);
	}
}

static void encode_points(struct slope_encoder *e, const struct slope_thread *t, const struct slope_record *r)
{
	encode_tables(e, t, r, r->fn, slope_encode_points_begin);
}

/* A restart leaves rows, but nothing in them. */
static bool is_empty(const struct slope_edge *edge, uint32_t units)
{
	for (uint32_t i = 0; i < edge->rows; i++)
		if (slope_edge_row(edge, i, units)->activations)
			return false;
	return true;
}

static void encode_edges(struct slope_encoder *e, const struct slope_thread *t, const struct slope_record *r)
{
	for (const struct slope_edge *edge = r->edges; edge; edge = edge->next) {
		struct slope_edge_entry entry = {
			.thread = t->id, .caller = edge->caller, .callee = r->fn,
		};
		struct slope_totals totals;

		if (is_empty(edge, e->units))
			continue;
		slope_edge_totals(edge, &t->session->config, &totals);
		entry.calls = totals.calls;
		for (uint32_t u = 0; u < e->units; u++)
			entry.cost[u] = totals.total[u];
		slope_encode_edge(e, &entry);
	}
}

static void encode_size(struct slope_encoder *e, const struct slope_edge_row *row, uint32_t bin)
{
	struct slope_size_entry entry = { .n = slope_tally_least(bin), .activations = row->activations, .calls = row->calls };

	if (!row->activations)
		return;
	for (uint32_t u = 0; u < e->units; u++)
		entry.cost[u] = row->cost[u];
	slope_encode_size_row(e, &entry);
}

static void encode_sizes(struct slope_encoder *e, const struct slope_thread *t, const struct slope_record *r)
{
	for (const struct slope_edge *edge = r->edges; edge; edge = edge->next) {
		if (is_empty(edge, e->units))
			continue;
		slope_encode_sizes_begin(e, &(struct slope_sizes_entry){
			.thread = t->id, .caller = edge->caller, .callee = r->fn, .bits = SLOPE_EDGE_BITS });
		for (uint32_t i = 0; i < edge->rows; i++)
			encode_size(e, slope_edge_row(edge, i, e->units), edge->first + i);
		slope_encode_sizes_end(e);
	}
}

typedef void encode_one(struct slope_encoder *e, const struct slope_thread *t, const struct slope_record *r);

static void each_record_of(struct slope_encoder *e, const struct slope_thread *t, encode_one *encode)
{
	for (size_t page = 0; page < t->record_pages && !e->failed; page++)
		for (size_t i = 0; t->record[page] && i < (size_t)1 << SLOPE_RECORD_PAGE_LOG2; i++)
			if (t->record[page][i])
				encode(e, t, t->record[page][i]);
}

static void each_record(struct slope_encoder *e, const struct slope_session *s, encode_one *encode)
{
	for (size_t i = 1; i < s->thread_count; i++)
		each_record_of(e, s->thread[i], encode);
}

static void encode_sites(struct slope_encoder *e, const struct slope_session *s)
{
	for (size_t i = 0; i < s->site_count; i++)
		slope_encode_site(e, &(struct slope_site_entry){
			.number = (uint32_t)i, .module = s->site[i].module, .offset = s->site[i].offset });
}

static void encode_context(struct slope_encoder *e, const struct slope_thread *t, const struct slope_context *node)
{
	struct slope_context_entry entry = {
		.thread = t->id, .number = node->number, .parent = node->above ? node->above->number : SLOPE_NUMBER_NONE,
		.function = node->fn, .site = node->site, .calls = node->calls,
	};

	for (uint32_t u = 0; u < e->units; u++) {
		entry.self[u] = node->cost[u];
		entry.total[u] = node->cost[e->units + u];
	}
	slope_encode_context(e, &entry);
}

static void encode_contexts(struct slope_encoder *e, const struct slope_session *s)
{
	for (size_t i = 1; i < s->thread_count; i++) {
		const struct slope_contexts *c = s->thread[i]->contexts;

		for (const struct slope_context_block *b = c ? c->first : NULL; b && !e->failed; b = b->next)
			for (size_t n = 0; n < b->count; n++)
				if (!slope_context_is_way_back(slope_context_at(c, b, n)))
					encode_context(e, s->thread[i], slope_context_at(c, b, n));
	}
}

/* The function of a variant, and its callers, the nearest first. */
static uint32_t spell_out(const struct slope_variant *variant, uint32_t *caller)
{
	for (; variant->shorter; variant = variant->shorter)
		caller[variant->callers - 1] = variant->fn;
	return variant->fn;
}

static void encode_variant(struct slope_encoder *e, const struct slope_thread *t, const struct slope_variant *variant)
{
	struct slope_variant_entry entry = { .number = variant->number, .rest = variant->rest, .callers = variant->callers };
	uint32_t function = spell_out(variant, entry.caller);

	if (fill_cost(&entry.cost, t, variant->counts, function))
		slope_encode_variant(e, &entry);
}

static void encode_variant_points(struct slope_encoder *e, const struct slope_thread *t, const struct slope_variant *variant)
{
	encode_tables(e, t, variant->counts, variant->number, slope_encode_variant_points_begin);
}

static void each_variant(struct slope_encoder *e, const struct slope_session *s,
			 void (*encode)(struct slope_encoder *e, const struct slope_thread *t, const struct slope_variant *variant))
{
	for (size_t i = 1; i < s->thread_count; i++) {
		const struct slope_contexts *c = s->thread[i]->contexts;
		const struct slope_variant *variant = c && c->variants ? c->variants->first : NULL;

		for (; variant && !e->failed; variant = variant->next)
			if (variant->counts)
				encode(e, s->thread[i], variant);
	}
}

static void encode_losses(struct slope_encoder *e, const struct slope_session *s)
{
	static const char *const name[] = {
#define X(id, word, sentence) word,
		SLOPE_LOST_LIST(X)
#undef X
	};
	static const char *const text[] = {
#define X(id, word, sentence) sentence,
		SLOPE_LOST_LIST(X)
#undef X
	};

	for (unsigned i = 0; i < SLOPE_LOST_COUNT; i++)
		slope_encode_lost(e, &(struct slope_lost_entry){
			.name = slope_text_of(name[i]), .text = slope_text_of(text[i]), .count = s->lost[i] });
}

bool slope_encode_session(struct slope_encoder *e, const struct slope_session *s, const struct slope_run_info *run)
{
	for (size_t i = 1; i < s->thread_count; i++)
		slope_thread_settle(s->thread[i]);
	slope_encode_begin(e, s->config.units);
	encode_facts(e, s, run);
	encode_losses(e, s);
	encode_modules(e, s);
	encode_functions(e, s);
	encode_threads(e, s, run->process);
	each_record(e, s, encode_record);
	each_record(e, s, encode_points);
	each_record(e, s, encode_edges);
	each_record(e, s, encode_sizes);
	encode_sites(e, s);
	encode_contexts(e, s);
	each_variant(e, s, encode_variant);
	each_variant(e, s, encode_variant_points);
	slope_encode_session_paths(e, s);
	return slope_encode_end(e);
}
