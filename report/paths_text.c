/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope paths`: the hot paths of a run, each with its source lines below its
 * numbers, and a table of how many there are; or all paths of one function, and
 * how much of it was executed.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics.h"
#include "report/clip.h"
#include "report/functions.h"
#include "report/parts.h"
#include "report/path_steps.h"
#include "report/paths_view.h"

#define INDENT 8u
#define WRAP_AT 110u             /* columns where there is no terminal */
#define CALLERS_SHOWN 6u
#define FEW_HOT 0.25             /* of the metric in hot paths: a smaller threshold would show more */

/* "time" is in nanoseconds, others are counts. */
static const char *value_text(double value, char text[SLOPE_TABLE_REAL])
{
	return isnan(value) ? "?" : slope_table_real(value, text);
}

/* ---- head ---- */

static void put_metric_line(const struct slope_paths_view *v, uint32_t m, FILE *out)
{
	const struct slope_profile *p = v->p;
	char value[SLOPE_TABLE_REAL], error[SLOPE_TABLE_REAL], percent[16];

	slope_parts_label("measured", &v->o->report, out);
	fprintf(out, "%s %s%s %s %s in all", value_text(v->c.value[m].value, value), p->path_metric_name[m],
		slope_parts_unit(p->path_metric_name[m]), v->o->report.ascii ? "+-" : "±", value_text(v->c.value[m].error, error));
	if (p->path_period > 1)
		fprintf(out, "; about one time in %" PRIu64, p->path_period);
	if (v->c.measured[m] < v->c.instructions - v->c.repeats)
		fprintf(out, "; paths with %s of the instructions",
			slope_parts_part(v->c.measured[m], v->c.instructions - v->c.repeats, percent, sizeof(percent)));
	fputc('\n', out);
}

static void put_run(const struct slope_paths_view *v, FILE *out)
{
	uint64_t paths = v->c.path_kind[SLOPE_PATH_COLD].count + v->c.path_kind[SLOPE_PATH_HOT].count;
	uint64_t functions = v->c.function_kind[SLOPE_PATH_COLD].count + v->c.function_kind[SLOPE_PATH_HOT].count;
	char number[8], count[8], percent[16];

	slope_parts_label("paths", &v->o->report, out);
	fprintf(out, "%s executed%s in %s function%s, %s instructions", slope_table_number(paths, count),
		v->c.o.contexts ? " (each context counts)" : "", slope_table_number(functions, percent), functions == 1 ? "" : "s",
		slope_table_number(v->c.instructions, number));
	if (v->c.repeats)
		fprintf(out, ", %s of them repeats (rep), which no path has",
			slope_parts_part(v->c.repeats, v->c.instructions, percent, sizeof(percent)));
	fputc('\n', out);
}

static bool put_notes(const struct slope_paths_view *v, FILE *out)
{
	const struct slope_report_options *o = &v->o->report;
	uint64_t cut = 0, unresolved = 0, part = 0;
	char note[256];
	bool ok = true;

	for (size_t i = 0; i < v->c.functions; i++) {
		uint32_t flags = v->c.function[i].flags;

		if (v->o->costs.function != SLOPE_PATHS_ALL)
			break;                   /* its page says it */
		cut += (flags & SLOPE_GRAPH_CUT) != 0;
		unresolved += (flags & SLOPE_GRAPH_UNRESOLVED) != 0;
		part += (flags & SLOPE_GRAPH_SHORT) != 0;
	}
	if (cut) {
		snprintf(note, sizeof(note), "%" PRIu64 " function%s too many paths: theirs are cut in two at some edges", cut,
			 cut == 1 ? " has" : "s have");
		ok &= slope_parts_line("NOTE", note, o, out);
	}
	if (unresolved) {
		snprintf(note, sizeof(note), "%" PRIu64 " function%s a jump whose targets are not known: paths end there, and others begin",
			 unresolved, unresolved == 1 ? " has" : "s have");
		ok &= slope_parts_line("NOTE", note, o, out);
	}
	if (part) {
		snprintf(note, sizeof(note), "%" PRIu64 " function%s known in part only: too long, or the code could not be read", part,
			 part == 1 ? " is" : "s are");
		ok &= slope_parts_line("NOTE", note, o, out);
	}
	return ok;
}

static bool put_head(const struct slope_paths_view *v, FILE *out)
{
	const struct slope_report_options *o = &v->o->report;
	bool ok = slope_parts_program(v->p, o, out);

	slope_parts_run(v->p, o, out);
	put_run(v, out);
	for (uint32_t m = 0; m < v->p->path_metrics; m++)
		put_metric_line(v, m, out);
	return slope_parts_losses(v->p, o, out) && put_notes(v, out) && ok;
}

/* ---- a path ---- */

/* The bytes of the next word; an arrow and what stands on it are one. */
static size_t word_bytes(const char *text)
{
	bool arrow = !strncmp(text, "─", 3) || (text[0] == '-' && text[1] >= 'a' && text[1] <= 'z');
	const char *end = arrow ? strstr(text, "→") : NULL;

	if (end)
		return (size_t)(end - text) + strlen("→");
	end = arrow ? strstr(text, "->") : NULL;
	return end ? (size_t)(end - text) + 2 : strcspn(text, " ");
}

/* Words of a text on lines of at most `width` columns, all indented; breaks at blanks. */
static void put_wrapped(const char *text, unsigned width, FILE *out)
{
	size_t column = 0;

	while (*text) {
		size_t bytes = word_bytes(text);
		char *word = strndup(text, bytes);
		size_t columns = word ? slope_clip_columns(word) : bytes;

		free(word);
		if (column && column + 1 + columns > width)
			column = 0, fputc('\n', out);
		if (!column)
			column = (size_t)fprintf(out, "%*s", (int)INDENT, "");
		else
			column++, fputc(' ', out);
		fprintf(out, "%.*s", (int)bytes, text);
		column += columns;
		text += bytes + (text[bytes] == ' ');
	}
	fputc('\n', out);
}

static unsigned wrap_at(const struct slope_paths_view *v)
{
	return v->o->report.width > 40 ? v->o->report.width - 1 : v->o->report.width ? 40 : WRAP_AT;
}

static bool put_path(const struct slope_paths_view *v, const struct slope_pathcosts_row *row, FILE *out)
{
	const struct slope_profile_graph *g = &v->p->graph[row->graph];
	struct slope_path_steps s;

	if (!slope_path_steps_init(&s, v->p, g, row->number, row->stop, v->lines))
		return false;
	char *text = slope_path_steps_text(&s, v->p->function[g->function].file, v->o->report.ascii);
	char *safe = text ? slope_clip_middle(text, SIZE_MAX) : NULL;

	if (safe)
		put_wrapped(safe, wrap_at(v), out);
	free(text);
	free(safe);
	slope_path_steps_fini(&s);
	return safe;
}

static bool put_callers(const struct slope_paths_view *v, uint32_t context, FILE *out)
{
	uint32_t caller[CALLERS_SHOWN], count = slope_paths_callers(v->p, context, caller, CALLERS_SHOWN);
	const char *arrow = v->o->report.ascii ? " <- " : " ← ";
	bool ok = true;

	if (context == SLOPE_CONTEXT_NONE)
		return true;
	fprintf(out, "%*scalled by ", (int)INDENT, "");
	for (uint32_t i = 0; ok && i < count && i < CALLERS_SHOWN; i++) {
		char *name = slope_clip_name(caller[i] == SLOPE_FN_ROOT ? "(start)" : slope_profile_name(&v->p->function[caller[i]]), 60);

		ok = name;
		fprintf(out, "%s%s", i ? arrow : "", name ? name : "");
		free(name);
	}
	fprintf(out, "%s\n", count > CALLERS_SHOWN ? " ..." : count ? "" : "nobody");
	return ok;
}

static bool put_blocks(const struct slope_paths_view *v, const struct slope_pathcosts_row *row, FILE *out)
{
	const struct slope_profile_graph *g = &v->p->graph[row->graph];
	uint32_t *block = malloc(g->paths.vertices * sizeof(*block)), *edge = malloc(g->paths.vertices * sizeof(*edge));
	bool ok = block && edge;
	uint32_t blocks = ok ? slope_pathcosts_walk(g, row->number, row->stop, block, edge) : 0;

	for (uint32_t i = 0; i < blocks; i++) {
		const struct slope_block *b = &g->block[block[i]];
		bool left = row->stop != SLOPE_PATH_NOT_STOPPED && i + 1 == blocks;

		fprintf(out, "%*s%4" PRIu32 "  0x%" PRIx64 "-0x%" PRIx64 "  %" PRIu32 " instruction%s%s\n", (int)INDENT, "", block[i],
			b->address, b->address + b->bytes, left ? row->stop_instructions : b->instructions,
			b->instructions == 1 ? "" : "s", left ? ", left here" : "");
	}
	free(block);
	free(edge);
	return ok;
}

/* ---- rows ---- */

/* The titles of what put_numbers prints. */
static void put_titles(const struct slope_paths_view *v, FILE *out)
{
	bool metric = v->c.o.metric != SLOPE_PATHS_IR;
	const char *on = slope_style_on(SLOPE_STYLE_DIM, v->o->report.color), *off = slope_style_off(SLOPE_STYLE_DIM, v->o->report.color);

	fprintf(out, "%s%6s ", on, "share");
	if (metric)
		fprintf(out, "%s %6s %7s %6s ", v->o->report.ascii ? "    +-" : "     ±", "of ir", "each", "per ir");
	fprintf(out, "%7s %7s %6s %6s  %s%s\n", "count", "ir each", "blocks", "kind",
		v->o->costs.function == SLOPE_PATHS_ALL ? "function, and its lines" : "lines", off);
}

static void put_measured(const struct slope_paths_view *v, const struct slope_pathcosts_row *row, FILE *out)
{
	const struct slope_path_value *value = &row->value[v->c.o.metric];
	char text[SLOPE_TABLE_REAL], percent[16];

	fprintf(out, "%6s ", slope_parts_percent(v->c.whole > 0 ? value->error / v->c.whole : NAN, percent, sizeof(percent)));
	fprintf(out, "%6s ", slope_parts_part(row->instructions, v->c.instructions, percent, sizeof(percent)));
	fprintf(out, "%7s ", value_text(value->value / (double)row->count, text));
	fprintf(out, "%6s ", value_text(slope_pathcosts_ratio(&v->c, row), text));
}

static bool put_row(const struct slope_paths_view *v, const struct slope_pathcosts_row *row, FILE *out)
{
	const struct slope_report_options *o = &v->o->report;
	char percent[16], count[8], each[8];
	bool ok = true;

	fprintf(out, "%s%6s%s ", slope_style_on(SLOPE_STYLE_BOLD, o->color), slope_parts_percent(row->share, percent, sizeof(percent)),
		slope_style_off(SLOPE_STYLE_BOLD, o->color));
	if (v->c.o.metric != SLOPE_PATHS_IR)
		put_measured(v, row, out);
	fprintf(out, "%7s %7s %6" PRIu32 " %6s", slope_table_number(row->count, count), slope_table_number(row->each, each), row->blocks,
		row->kind == SLOPE_PATH_COLD ? "" : slope_path_kind_name(row->kind));
	if (v->o->costs.function == SLOPE_PATHS_ALL) {
		fputs("  ", out);
		ok = slope_parts_function(v->p, v->p->graph[row->graph].function, SLOPE_STYLE_BOLD, o->color, out);
	}
	fputc('\n', out);
	ok = ok && put_path(v, row, out) && put_callers(v, row->context, out);
	return ok && (!v->o->blocks || put_blocks(v, row, out));
}

static bool put_rows(const struct slope_paths_view *v, FILE *out)
{
	bool ok = true;
	char percent[16];

	if (!v->shown && v->c.rows)
		fprintf(out, "No path has %.3g%% of the %s or more; --threshold=PERCENT sets another limit.\n", 100 * v->c.o.threshold,
			slope_paths_metric_name(v));
	if (!v->shown) {
		fputs(v->c.rows ? "" : "No path was executed.\n", out);
		return true;
	}
	put_titles(v, out);
	for (size_t i = 0; ok && i < v->shown; i++)
		ok = put_row(v, &v->c.row[i], out);
	if (v->shown < v->of)
		fprintf(out, "%zu more, none above %s (--top=0 shows all).\n", v->of - v->shown,
			slope_parts_percent(v->c.row[v->shown].share, percent, sizeof(percent)));
	return ok;
}

/* ---- the run ---- */

static void add_group(struct slope_table *t, const struct slope_paths_view *v, const char *name,
		      const struct slope_pathcosts_group *g, bool functions)
{
	char text[16];

	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", name);
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%" PRIu64, g->count);
	slope_parts_share(t, SLOPE_STYLE_PLAIN, g->instructions, v->c.instructions);
	if (v->c.o.metric != SLOPE_PATHS_IR)
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s",
				slope_parts_percent(v->c.whole > 0 ? g->value / v->c.whole : NAN, text, sizeof(text)));
	if (functions && g->count)
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%.1f", (double)g->paths / (double)g->count);
	else
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", "");
}

static void add_groups(struct slope_table *t, const struct slope_paths_view *v, const struct slope_pathcosts_group *group,
		       bool functions)
{
	struct slope_pathcosts_group all = slope_pathcosts_all(group);

	add_group(t, v, functions ? "functions" : "paths", &all, functions);
	add_group(t, v, "  hot", &group[SLOPE_PATH_HOT], functions);
	if (!isnan(v->c.average)) {
		add_group(t, v, "    dense", &group[SLOPE_PATH_DENSE], functions);
		add_group(t, v, "    sparse", &group[SLOPE_PATH_SPARSE], functions);
	}
	add_group(t, v, "  cold", &group[SLOPE_PATH_COLD], functions);
}

static void put_meaning(const struct slope_paths_view *v, FILE *out)
{
	const char *name = slope_paths_metric_name(v);
	char text[SLOPE_TABLE_REAL];

	fprintf(out, "Hot: %.3g%% of the run's %s or more. ", 100 * v->c.o.threshold, name);
	if (!isnan(v->c.average))
		fprintf(out, "Dense: hot, with more %s for each instruction than the run's %s; sparse: hot, with as much or less.\n",
			name, value_text(v->c.average, text));
	else if (v->c.o.metric != SLOPE_PATHS_IR)
		fputs("It was not measured on any of these paths.\n", out);
	else if (v->p->path_metrics)
		fputs("Dense and sparse are about a measured metric: --metric=NAME.\n", out);
	else
		fputs("Dense and sparse compare a metric with instructions; none was recorded (record --event=NAME).\n", out);
}

/* Much of some programs is spread over many paths. */
static void put_advice(const struct slope_paths_view *v, FILE *out)
{
	const struct slope_pathcosts_group *hot = &v->c.path_kind[SLOPE_PATH_HOT];

	if (v->c.path_kind[SLOPE_PATH_COLD].count && v->c.whole > 0 && hot->value < FEW_HOT * v->c.whole)
		fprintf(out, "Most of it is in paths that are not hot; --threshold=%.3g shows more of them.\n", 10 * v->c.o.threshold);
}

static bool put_summary(const struct slope_paths_view *v, FILE *out)
{
	const char *name = slope_paths_metric_name(v);
	const struct slope_table_column with[] = {
		{ "executed", false, 0 }, { "number", true, 0 }, { "of ir", true, 0 }, { name, true, 0 }, { "paths each", true, 0 },
	}, without[] = {
		{ "executed", false, 0 }, { "number", true, 0 }, { "of ir", true, 0 }, { "paths each", true, 0 },
	};
	bool metric = v->c.o.metric != SLOPE_PATHS_IR;
	struct slope_table t;

	slope_table_init(&t, metric ? with : without, metric ? 5 : 4);
	add_groups(&t, v, v->c.path_kind, false);
	add_groups(&t, v, v->c.function_kind, true);
	fputc('\n', out);
	bool ok = slope_table_print(&t, v->o->report.width, v->o->report.color, out);

	slope_table_fini(&t);
	put_meaning(v, out);
	put_advice(v, out);
	return ok;
}

/* Which modules' lines are not known, and why. */
static bool put_without_lines(const struct slope_paths_view *v, FILE *out)
{
	bool ok = true;

	for (uint32_t m = 1; ok && m < v->p->module_count; m++) {
		const char *why = slope_blocklines_why(v->lines, m);
		char note[512];

		if (!why)
			continue;
		snprintf(note, sizeof(note), "%s %s: its paths are shown by addresses", v->p->module[m].path, why);
		ok = slope_parts_line("NOTE", note, &v->o->report, out);
	}
	return ok;
}

/* ---- a function ---- */

static void put_coverage(const struct slope_paths_view *v, const struct slope_pathcosts_function *f, FILE *out)
{
	char regular[8];

	slope_parts_label("coverage", &v->o->report, out);
	fprintf(out, "%" PRIu64 " of %s paths, %" PRIu32 " of %" PRIu32 " blocks, %" PRIu32 " of %" PRIu32 " edges", f->paths,
		slope_table_number(f->regular, regular), f->blocks_run, f->blocks, f->edges_run, f->edges);
	if (f->inside)
		fprintf(out, "; %" PRIu64 " more paths began inside, where control came in from elsewhere", f->inside);
	fputc('\n', out);
}

/* What is missing or special about its graphs, a line each. */
static bool put_graph_notes(const struct slope_paths_view *v, const struct slope_pathcosts_function *f, FILE *out)
{
	const struct slope_report_options *o = &v->o->report;
	char note[200], number[8];
	bool ok = true;

	if (f->graphs > 1) {
		snprintf(note, sizeof(note), "it has %" PRIu32 " graphs, %" PRIu32 " of them pieces that begin elsewhere; a path "
			 "from one into another is two", f->graphs, f->pieces);
		ok &= slope_parts_line("NOTE", note, o, out);
	}
	if (f->cut_edges) {
		snprintf(note, sizeof(note), "it has too many paths: they are cut in two at %" PRIu64 " edge%s", f->cut_edges,
			 f->cut_edges == 1 ? "" : "s");
		ok &= slope_parts_line("NOTE", note, o, out);
	}
	if (f->flags & SLOPE_GRAPH_UNRESOLVED)
		ok &= slope_parts_line("NOTE", "it has a jump whose targets are not known: paths end there, and others begin", o, out);
	if (f->flags & SLOPE_GRAPH_SHORT)
		ok &= slope_parts_line("NOTE", "it is known in part only: too long, or its code could not be read", o, out);
	if (f->stopped) {
		snprintf(note, sizeof(note), "%s execution%s left in the middle: by an exception, a jump out, or the program's end",
			 slope_table_number(f->stopped, number), f->stopped == 1 ? " was" : "s were");
		ok &= slope_parts_line("NOTE", note, o, out);
	}
	return ok;
}

/* Lines that no execution came along. */
static bool put_not_executed(const struct slope_paths_view *v, const struct slope_pathcosts_function *f, FILE *out)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < v->p->graph_count; i++) {
		const struct slope_profile_graph *g = &v->p->graph[i];

		if (g->function != f->function)
			continue;
		uint8_t *executed = slope_pathcosts_executed(&v->c, i);
		char *text = executed ? slope_path_blocks_text(v->p, g, executed, v->lines, v->p->function[g->function].file) : NULL;

		ok = text;
		if (ok && *text) {
			fputs("\nNever executed:\n", out);
			put_wrapped(text, wrap_at(v), out);
		}
		free(text);
		free(executed);
	}
	return ok;
}

static bool put_function(const struct slope_paths_view *v, FILE *out)
{
	const struct slope_pathcosts_function *f = slope_pathcosts_find(&v->c, v->o->costs.function);
	char number[8], percent[16];

	slope_parts_label("function", &v->o->report, out);
	bool ok = slope_parts_function(v->p, v->o->costs.function, SLOPE_STYLE_BOLD, v->o->report.color, out);

	if (!f) {
		fputs(": no path of it was recorded\n", out);
		return ok;
	}
	fprintf(out, ": %s of the run's %s, %s instructions", slope_parts_percent(f->share, percent, sizeof(percent)),
		slope_paths_metric_name(v), slope_table_number(f->instructions, number));
	if (f->repeats)
		fprintf(out, ", %s of them repeats (rep), which no path has",
			slope_parts_part(f->repeats, f->instructions, percent, sizeof(percent)));
	fprintf(out, "; entered %s times\n", slope_table_number(f->entries, number));
	put_coverage(v, f, out);
	ok = put_graph_notes(v, f, out) && ok;
	fputc('\n', out);
	return ok && put_rows(v, out) && (v->o->blocks || put_not_executed(v, f, out));
}

bool slope_paths_text(const struct slope_paths_view *v, FILE *out)
{
	bool ok = put_head(v, out);

	if (v->o->costs.function != SLOPE_PATHS_ALL) {
		ok = ok && put_function(v, out);
		put_meaning(v, out);
	} else {
		fputc('\n', out);
		ok = ok && put_rows(v, out) && put_summary(v, out);
	}
	return ok && put_without_lines(v, out);
}
