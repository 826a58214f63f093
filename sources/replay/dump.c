/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/replay/dump.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/tally.h"
#include "core/variants.h"
#include "sources/replay/walks.h"

static const char *const metric_name[SLOPE_METRICS] = { [SLOPE_METRIC_TRMS] = "trms", [SLOPE_METRIC_RMS] = "rms" };

static const char *const lost_name[SLOPE_LOST_COUNT] = {
#define X(id, name, text) name,
	SLOPE_LOST_LIST(X)
#undef X
};

static void print_wide(FILE *out, uint64_t lo, uint64_t hi)
{
	unsigned __int128 v = (unsigned __int128)hi << 64 | lo;
	char digits[40];
	int at = sizeof digits;

	digits[--at] = '\0';
	do
		digits[--at] = (char)('0' + (int)(v % 10));
	while (v /= 10);
	fputs(digits + at, out);
}

static void print_costs(FILE *out, const char *head, const uint64_t *cost, uint32_t units)
{
	fputs(head, out);
	for (uint32_t u = 0; u < units; u++)
		fprintf(out, "%s%" PRIu64, u ? "/" : "", cost[u]);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = (*(const struct slope_point *const *)a)->n, y = (*(const struct slope_point *const *)b)->n;

	return (x > y) - (x < y);
}

static void print_point(FILE *out, const char *metric, const struct slope_point *p, uint32_t units)
{
	fprintf(out, "  %s %" PRIu64 ": calls %" PRIu64 ", cost ", metric, p->n, p->calls);
	for (uint32_t u = 0; u < units; u++) {
		const struct slope_stat *c = &p->cost[u];

		fprintf(out, "%s%" PRIu64 "..%" PRIu64 " sum %" PRIu64 " sq ", u ? " / " : "", c->min, c->max, c->sum);
		print_wide(out, c->sq_lo, c->sq_hi);
	}
	fprintf(out, ", rms %" PRIu64 ", thread %" PRIu64 ", external %" PRIu64 "\n", p->rms, p->thread, p->external);
}

static bool print_points(FILE *out, const char *metric, const struct slope_points *points)
{
	const struct slope_point **row = malloc((points->count + 1) * sizeof *row);

	if (!row)
		return false;
	for (size_t i = 0; i < points->count; i++)
		row[i] = slope_points_row(points, i);
	qsort(row, points->count, sizeof *row, by_size);
	if (points->bits != SLOPE_POINTS_EXACT)
		fprintf(out, "  %s folded to %" PRIu32 " bits\n", metric, points->bits);
	for (size_t i = 0; i < points->count; i++)
		print_point(out, metric, row[i], points->units);
	free(row);
	return true;
}

static int by_caller(const void *a, const void *b)
{
	uint32_t x = (*(const struct slope_edge *const *)a)->caller, y = (*(const struct slope_edge *const *)b)->caller;

	return (x > y) - (x < y);
}

/* Its sums, and what it has at each size of the caller. */
static void print_edge(FILE *out, const struct slope_edge *e, const struct slope_config *config)
{
	struct slope_totals sum;

	slope_edge_totals(e, config, &sum);
	fprintf(out, "calls %" PRIu64, sum.calls);
	print_costs(out, ", cost ", sum.total, config->units);
	fputc('\n', out);
	for (uint32_t i = 0; i < e->rows; i++) {
		const struct slope_edge_row *row = slope_edge_row(e, i, config->units);

		if (!row->activations)
			continue;
		fprintf(out, "    at %" PRIu64 ": activations %" PRIu64 ", calls %" PRIu64, slope_tally_least(e->first + i),
			row->activations, row->calls);
		print_costs(out, ", cost ", row->cost, config->units);
		fputc('\n', out);
	}
}

static bool print_edges(FILE *out, const struct slope_session *s, const struct slope_record *r)
{
	size_t count = 0;

	for (const struct slope_edge *e = r->edges; e; e = e->next)
		count++;
	const struct slope_edge **edge = malloc((count + 1) * sizeof *edge);

	if (!edge)
		return false;
	count = 0;
	for (const struct slope_edge *e = r->edges; e; e = e->next)
		edge[count++] = e;
	qsort(edge, count, sizeof *edge, by_caller);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "  from %s: ", s->function[edge[i]->caller].name);
		print_edge(out, edge[i], &s->config);
	}
	free(edge);
	return true;
}

static bool print_record(FILE *out, const struct slope_session *s, const struct slope_thread *t, const struct slope_record *r)
{
	struct slope_totals sum;

	slope_record_totals(r, &s->config, &sum);
	fprintf(out, "%s @%" PRIu32 ": calls %" PRIu64, s->function[r->fn].name, t->id, sum.calls);
	print_costs(out, ", total ", sum.total, s->config.units);
	print_costs(out, ", self ", sum.self, s->config.units);
	fprintf(out, ", rms %" PRIu64 ", trms %" PRIu64 ", thread %" PRIu64 ", external %" PRIu64 "\n", sum.rms, sum.trms,
		sum.thread, sum.external);
	if (!print_edges(out, s, r))
		return false;
	for (unsigned m = 0; m < SLOPE_METRICS; m++)
		if (!print_points(out, metric_name[m], &r->points[m]))
			return false;
	return true;
}

static void print_context(FILE *out, const struct slope_session *s, const struct slope_context *node)
{
	const uint64_t *self = node->cost, *total = node->cost + s->config.units;

	fprintf(out, "  %*s%s", (int)(2 * node->level), "", s->function[node->fn].name);
	if (node->site != SLOPE_SITE_NONE)
		fprintf(out, " at %" PRIu64, s->site[node->site].offset);
	fprintf(out, ": calls %" PRIu64, node->calls);
	print_costs(out, ", total ", total, s->config.units);
	print_costs(out, ", self ", self, s->config.units);
	fputc('\n', out);
}

/* Those below `above` and what is below them, in order of first use. */
static void print_below(FILE *out, const struct slope_session *s, const struct slope_contexts *c, const struct slope_context *above)
{
	for (const struct slope_context_block *b = c->first; b; b = b->next)
		for (size_t i = 0; i < b->count; i++) {
			const struct slope_context *node = slope_context_at(c, b, i);

			if (node->above != above || slope_context_is_way_back(node))
				continue;
			print_context(out, s, node);
			print_below(out, s, c, node);
		}
}

/* The function and its callers, the nearest first. */
static void print_variant_name(FILE *out, const struct slope_session *s, const struct slope_variant *variant)
{
	if (variant->shorter) {
		print_variant_name(out, s, variant->shorter);
		fputs(" < ", out);
	}
	fputs(s->function[variant->fn].name, out);
}

static bool print_variants(FILE *out, const struct slope_session *s, const struct slope_variants *v)
{
	for (const struct slope_variant *variant = v->first; variant; variant = variant->next) {
		struct slope_totals sum;

		if (!variant->counts)
			continue;
		slope_record_totals(variant->counts, &s->config, &sum);
		fputs("variant ", out);
		print_variant_name(out, s, variant);
		fprintf(out, "%s: calls %" PRIu64, variant->rest ? " (rest)" : "", sum.calls);
		print_costs(out, ", total ", sum.total, s->config.units);
		print_costs(out, ", self ", sum.self, s->config.units);
		fputc('\n', out);
		for (unsigned m = 0; m < SLOPE_METRICS; m++)
			if (!print_points(out, metric_name[m], &variant->counts->points[m]))
				return false;
	}
	return true;
}

static void print_graph(FILE *out, const struct slope_session *s, const struct slope_graph *graph)
{
	static const char *const why[] = {
		[SLOPE_PATH_BACK] = "back", [SLOPE_PATH_ASKED] = "asked for", [SLOPE_PATH_MANY] = "too many paths",
	};
	const struct slope_path_graph *g = &graph->paths;

	fprintf(out, "graph %" PRIu32 " of %s: %" PRIu32 " blocks, %" PRIu32 " edges, paths %" PRIu64 " of %" PRIu64 ", flags %" PRIu32
		", cut %" PRIu32 "\n", graph->number, s->function[graph->function].name, g->vertices, g->edges, g->regular, g->total,
		graph->flags, g->cut_edges);
	for (uint32_t v = 0; v < g->vertices; v++) {
		const struct slope_block *b = &graph->block[v];

		fprintf(out, "  %" PRIu32 " at %" PRIu64 ": %" PRIu32 " bytes, %" PRIu32 " instructions, %s\n", v, b->address, b->bytes,
			b->instructions, slope_block_end_word[b->end]);
		for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
			const struct slope_path_edge *edge = &g->edge[e];

			fputs("    to ", out);
			fprintf(out, edge->to == SLOPE_PATH_OUT ? "out" : "%" PRIu32, edge->to);
			fprintf(out, " by %s: value %" PRIu64 ", add %" PRId64, slope_edge_way_word[graph->way[e]], edge->value, edge->add);
			if (edge->cut != SLOPE_PATH_WHOLE)
				fprintf(out, ", cut (%s)", why[edge->cut]);
			fputc('\n', out);
		}
	}
}

static int by_path(const void *a, const void *b)
{
	const struct slope_path_row *x = *(const struct slope_path_row *const *)a, *y = *(const struct slope_path_row *const *)b;
	uint64_t left[] = { x->graph, x->number, x->context, x->stop, x->stop_instructions };
	uint64_t right[] = { y->graph, y->number, y->context, y->stop, y->stop_instructions };

	for (int i = 0; i < 5; i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

/* The blocks of a path, up to where it was left. */
static bool print_blocks(FILE *out, const struct slope_path_graph *g, const struct slope_path_row *row)
{
	uint32_t begin, *edge = malloc(g->vertices * sizeof *edge);
	uint32_t count = edge ? slope_path_decode(g, row->number, &begin, edge, g->vertices) : 0;

	fputs(": blocks", out);
	for (uint32_t i = 0; i < count; i++) {
		fprintf(out, " %" PRIu32, g->edge[edge[i]].from);
		if (g->edge[edge[i]].from == row->stop)
			break;
	}
	free(edge);
	return count;
}

static bool print_path(FILE *out, const struct slope_session *s, const struct slope_thread *t, const struct slope_path_row *row)
{
	fprintf(out, "graph %" PRIu32 " path %" PRIu64 " @%" PRIu32, row->graph, row->number, t->id);
	if (row->context != SLOPE_PATH_CONTEXT_NONE)
		fprintf(out, " in context %" PRIu32, row->context);
	if (row->stop != SLOPE_PATH_NOT_STOPPED)
		fprintf(out, ", left in block %" PRIu32 " after %" PRIu32, row->stop, row->stop_instructions);
	if (!print_blocks(out, &s->graphs.graph[row->graph]->paths, row))
		return false;
	fprintf(out, ", count %" PRIu64, row->count);
	if (row->samples)
		fprintf(out, ", samples %" PRIu64, row->samples);
	for (uint32_t m = 0; row->samples && m < s->path_metrics; m++) {
		fprintf(out, ", %s %" PRIu64 " sq ", s->path_metric_name[m], row->metric[m].sum);
		print_wide(out, row->metric[m].sq_lo, row->metric[m].sq_hi);
	}
	fputc('\n', out);
	return true;
}

static bool print_paths(FILE *out, const struct slope_session *s, const struct slope_thread *t)
{
	const struct slope_path_table *table = &t->paths;
	const struct slope_path_row **row = malloc((table->rows + 1) * sizeof *row);
	bool good = row != NULL;

	for (size_t i = 0; good && i < table->rows; i++)
		row[i] = &table->row[i];
	if (good)
		qsort(row, table->rows, sizeof *row, by_path);
	for (size_t i = 0; good && i < table->rows; i++)
		good = print_path(out, s, t, row[i]);
	free(row);
	for (size_t i = 0; i < table->repeat_count; i++)
		fprintf(out, "graph %" PRIu32 " block %" PRIu32 " @%" PRIu32 ": repeats %" PRIu64 "\n", table->repeats[i].graph,
			table->repeats[i].block, t->id, table->repeats[i].count);
	if (table->lost)
		fprintf(out, "lost paths @%" PRIu32 ": %" PRIu64 "\n", t->id, table->lost);
	return good;
}

static bool print_thread(FILE *out, const struct slope_session *s, const struct slope_thread *t)
{
	slope_thread_settle(t);
	fprintf(out, "thread %" PRIu32 ": calls %" PRIu64 ", depth %" PRIu64 "\n", t->id, slope_thread_calls(t), t->max_depth);
	for (uint32_t fn = 0; fn < s->function_count; fn++) {
		const struct slope_record *r = slope_thread_record(t, fn);

		if (r && !print_record(out, s, t, r))
			return false;
	}
	if (t->contexts) {
		fprintf(out, "contexts @%" PRIu32 ":\n", t->id);
		print_below(out, s, t->contexts, NULL);
		if (t->contexts->variants && !print_variants(out, s, t->contexts->variants))
			return false;
	}
	return print_paths(out, s, t);
}

bool slope_dump(FILE *out, const struct slope_session *s)
{
	for (size_t i = 0; i < s->graphs.count; i++)
		print_graph(out, s, s->graphs.graph[i]);
	for (size_t i = 1; i < s->thread_count; i++)
		if (!print_thread(out, s, s->thread[i]))
			return false;
	if (s->variants_folded)
		fprintf(out, "folded variants: %" PRIu64 "\n", s->variants_folded);
	for (int i = 0; i < SLOPE_LOST_COUNT; i++)
		if (s->lost[i])
			fprintf(out, "lost %s: %" PRIu64 "\n", lost_name[i], s->lost[i]);
	return true;
}
