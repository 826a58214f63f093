/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of `slope report`: a head that says what was measured and what is
 * missing from it, one line for each function, a foot that says what is not
 * shown and what to do next.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"
#include "report/functions.h"
#include "report/table.h"

#define HOT_SHARE 0.20           /* of the program's cost in the function itself */
#define WARM_SHARE 0.05
#define NAMELESS_SHARE 0.10      /* so much in code without symbols is worth a word */
#define ROOM_FOR_FOLDERS 100     /* columns of a terminal that can show more than a file's name */
#define ROOM_FOR_LIBRARIES 140   /* ... and lines of other people's code */
#define COLUMNS_MAX 10

static const char *percent(double share, char *text, size_t bytes)
{
	if (share <= 0)
		snprintf(text, bytes, "0");
	else if (share < 0.0005)
		snprintf(text, bytes, "<0.1%%");
	else
		snprintf(text, bytes, share > 0.9995 ? "%.0f%%" : "%.1f%%", share * 100);
	return text;
}

/* ---- head ---- */

static void put_label(const char *label, const struct slope_report_options *o, FILE *out)
{
	fprintf(out, "%s%-8s%s ", slope_style_on(SLOPE_STYLE_BOLD, o->color), label,
		slope_style_off(SLOPE_STYLE_BOLD, o->color));
}

/* One line of the head; text that came with the profile is made harmless. */
static bool put_line(const char *label, const char *text, const struct slope_report_options *o, FILE *out)
{
	char *safe = slope_clip_middle(text, SIZE_MAX);

	if (!safe)
		return false;
	put_label(label, o, out);
	fprintf(out, "%s\n", safe);
	free(safe);
	return true;
}

static void put_word(FILE *to, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";

	if (word[0] && !word[strspn(word, plain)]) {
		fputs(word, to);
		return;
	}
	fputc('\'', to);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){ *word, 0 }, to);
	fputc('\'', to);
}

/* The command as a shell would take it. It may be long: one line of it is enough. */
static bool put_program(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	char *line = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&line, &bytes);

	if (!to)
		return false;
	for (char **word = p->program; word && *word; word++) {
		if (word != p->program)
			fputc(' ', to);
		put_word(to, *word);
	}
	fclose(to);
	char *clipped = line ? slope_clip_middle(line, o->width > 20 ? o->width - 9 : SIZE_MAX) : NULL;
	bool ok = clipped && put_line("program", clipped, o, out);

	free(clipped);
	free(line);
	return ok;
}

static void put_signal(int number, FILE *out)
{
	const char *name = sigabbrev_np(number);

	fprintf(out, name ? "killed by signal %d (SIG%s), " : "killed by signal %d, ", number, name);
}

static void put_run(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	size_t coroutines = slope_report_coroutines(p), threads = p->thread_count - coroutines;

	put_label("run", o, out);
	if (p->runs > 1)
		fprintf(out, "%" PRIu64 " profiles merged, ", p->runs);
	else if (p->exit_signal)
		put_signal((int)p->exit_signal, out);
	else if (p->exit_code >= 0)
		fprintf(out, "exit status %" PRId64 ", ", p->exit_code);
	fprintf(out, "%zu thread%s, ", threads, threads == 1 ? "" : "s");
	if (coroutines)
		fprintf(out, "%zu coroutine%s, ", coroutines, coroutines == 1 ? "" : "s");
	fprintf(out, "source %s\n", p->source ? p->source : "unknown");
}

static void put_measure(const struct slope_profile *p, const struct slope_report_rows *r,
			const struct slope_report_options *o, FILE *out)
{
	const char *unit = p->unit_name[o->unit] ? p->unit_name[o->unit] : "?";
	char number[8];

	put_label("cost", o, out);
	fprintf(out, "%s %s", slope_table_number(r->program, number), unit);
	if (!strcmp(unit, "ir"))
		fputs(" (instructions)", out);
	else if (!strcmp(unit, "bb"))
		fputs(" (basic blocks)", out);
	else if (!strcmp(unit, "time"))
		fputs(" (nanoseconds)", out);
	fprintf(out, " in all; input size n by %s, cells of %" PRIu32 " byte%s\n", slope_report_metric_name(o->metric),
		p->cell_bytes, p->cell_bytes == 1 ? "" : "s");
}

static bool put_losses(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	bool ok = true;

	for (size_t i = 0; i < p->lost_count; i++) {
		const struct slope_profile_lost *lost = &p->lost[i];
		char line[256];

		if (!lost->count)
			continue;
		snprintf(line, sizeof(line), "%" PRIu64 " %s", lost->count,
			 lost->text && lost->text[0] ? lost->text : lost->name);
		ok &= put_line("LOST", line, o, out);
	}
	if (!p->complete)
		ok &= put_line("PROBLEM", "the profile has no end mark: what was written last is missing", o, out);
	for (size_t i = 0; i < p->problem_count; i++)
		ok &= put_line("PROBLEM", p->problem[i], o, out);
	return ok;
}

/* ---- rows ---- */

/* The program's own code by file and line, other code by its module; as much of both as there is room for. */
static void add_place(struct slope_table *t, const struct slope_profile *p, const struct slope_profile_function *f,
		      unsigned width)
{
	const char *module = slope_report_module(p, f), *file = slope_report_file(p, f);
	const char *first = p->program && p->program[0] ? p->program[0] : "", *slash = strrchr(first, '/');
	const char *so = strstr(module, ".so");
	bool own = !strcmp(module, slash ? slash + 1 : first);

	if (file && (width < ROOM_FOR_FOLDERS || file == f->file) && strrchr(file, '/'))
		file = strrchr(file, '/') + 1;
	if (!own && module[0] && width < ROOM_FOR_LIBRARIES)
		slope_table_add(t, SLOPE_STYLE_DIM, "[%.*s]", (int)(so ? so - module : (ptrdiff_t)strlen(module)), module);
	else if (!file)
		slope_table_add(t, SLOPE_STYLE_DIM, module[0] ? "[%s]" : "%s", module);
	else if (own || !module[0])
		slope_table_add(t, SLOPE_STYLE_DIM, "%s:%" PRIu32, file, f->line);
	else
		slope_table_add(t, SLOPE_STYLE_DIM, "[%s] %s:%" PRIu32, module, file, f->line);
}

static void add_sizes(struct slope_table *t, const struct slope_report_row *row)
{
	char least[8], most[8], points[8];

	slope_table_number(row->n_min, least);
	slope_table_number(row->n_max, most);
	if (!row->points)
		slope_table_add(t, SLOPE_STYLE_PLAIN, "-");
	else if (row->n_min == row->n_max)
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", least);
	else
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s..%s", least, most);
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s%s", row->bits < SLOPE_POINTS_EXACT ? "~" : "",
			slope_table_number(row->points, points));
}

static enum slope_table_style heat_of(double self)
{
	return self >= HOT_SHARE ? SLOPE_STYLE_HOT : self >= WARM_SHARE ? SLOPE_STYLE_WARM : SLOPE_STYLE_PLAIN;
}

static void add_share(struct slope_table *t, enum slope_table_style style, uint64_t part, uint64_t whole)
{
	char text[16];

	slope_table_add(t, style, "%s", percent(slope_report_share(part, whole), text, sizeof(text)));
}

static void add_row(struct slope_table *t, const struct slope_profile *p, const struct slope_report_rows *r,
		    const struct slope_report_row *row, unsigned width)
{
	enum slope_table_style heat = heat_of(slope_report_share(row->self, r->program));
	char text[8];

	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(row->total, text));
	add_share(t, SLOPE_STYLE_PLAIN, row->total, r->program);
	add_share(t, heat, row->self, r->program);
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(row->calls, text));
	add_sizes(t, row);
	if (r->thread)
		add_share(t, SLOPE_STYLE_PLAIN, row->thread, row->trms);
	if (r->external)
		add_share(t, SLOPE_STYLE_PLAIN, row->external, row->trms);
	slope_table_add(t, heat, "%s", row->name);
	add_place(t, p, &p->function[row->function], width);
}

static bool put_rows(const struct slope_profile *p, const struct slope_report_rows *r, const struct slope_report_options *o,
		     FILE *out)
{
	struct slope_table_column column[COLUMNS_MAX] = {
		{ "cost", true, 0 }, { "total", true, 0 }, { "self", true, 0 },
		{ "calls", true, 0 }, { "n", true, 0 }, { "points", true, 0 },
	};
	struct slope_table t;
	size_t columns = 6, shown = slope_report_rows_shown(r, o);

	if (r->thread)
		column[columns++] = (struct slope_table_column){ "thread", true, 0 };
	if (r->external)
		column[columns++] = (struct slope_table_column){ "extern", true, 0 };
	column[columns++] = (struct slope_table_column){ "function", false, 18 };
	column[columns++] = (struct slope_table_column){ "where", false, 12 };
	slope_table_init(&t, column, columns);
	for (size_t i = 0; i < shown; i++)
		add_row(&t, p, r, &r->row[i], o->width ? o->width : UINT_MAX);
	bool ok = slope_table_print(&t, o->width, o->color, out);

	slope_table_fini(&t);
	return ok;
}

/* ---- foot ---- */

/* The module that has most of the cost in code without a name, if that is much. */
static void put_nameless(const struct slope_profile *p, const struct slope_report_rows *r, FILE *out)
{
	uint64_t *cost = calloc(p->module_count + 1, sizeof(*cost)), all = 0;
	size_t most = SLOPE_MODULE_NONE;
	char text[16];

	for (size_t i = 0; cost && i < r->count; i++) {
		const struct slope_profile_function *f = &p->function[r->row[i].function];

		if (f->raw_name && f->raw_name[0])
			continue;
		all += r->row[i].self;
		cost[f->module] += r->row[i].self;
		if (cost[f->module] > cost[most])
			most = f->module;
	}
	free(cost);
	if (slope_report_share(all, r->program) < NAMELESS_SHARE)
		return;
	fprintf(out, "%s of the cost is in code without symbols",
		percent(slope_report_share(all, r->program), text, sizeof(text)));
	char *module = most == SLOPE_MODULE_NONE ? NULL : slope_clip_middle(p->module[most].path, SIZE_MAX);

	if (module)
		fprintf(out, ", most of it in %s:\nits debug symbols, or DEBUGINFOD_URLS set while recording, give names",
			module);
	fputs(".\n", out);
	free(module);
}

static void put_folded(const struct slope_profile *p, const struct slope_report_rows *r, size_t shown, FILE *out)
{
	size_t folded = 0;

	for (size_t i = 0; i < shown; i++)
		folded += r->row[i].bits < SLOPE_POINTS_EXACT;
	if (folded)
		fprintf(out, "~ above %" PRIu32 " sizes: near ones share a point (record --max-points=N for more).\n",
			p->max_points ? p->max_points : SLOPE_POINTS_MAX_DEFAULT);
}

static void put_rest(const struct slope_report_rows *r, const struct slope_report_options *o, size_t shown, FILE *out)
{
	char text[16];

	if (shown == r->count)
		return;
	fprintf(out, "%zu more function%s", r->count - shown, r->count - shown == 1 ? "" : "s");
	if (o->sort == SLOPE_SORT_TOTAL)
		fprintf(out, ", none above %s of the cost",
			percent(slope_report_share(r->row[shown].total, r->program), text, sizeof(text)));
	else if (o->sort == SLOPE_SORT_SELF)
		fprintf(out, ", none above %s of the cost itself",
			percent(slope_report_share(r->row[shown].self, r->program), text, sizeof(text)));
	fputs(" (--top=0 shows all).\n", out);
}

static void put_foot(const struct slope_profile *p, const struct slope_report_rows *r, const struct slope_report_options *o,
		     FILE *out)
{
	size_t shown = slope_report_rows_shown(r, o);

	fputc('\n', out);
	put_rest(r, o, shown, out);
	put_folded(p, r, shown, out);
	put_nameless(p, r, out);
	fputs(slope_style_on(SLOPE_STYLE_DIM, o->color), out);
	fputs("cost, total: with callees; self: without. n: input sizes; points: how many.\n", out);
	if (r->thread)
		fprintf(out, "thread: part of the input that other threads%s have written.\n",
			slope_report_coroutines(p) ? " or coroutines" : "");
	if (r->external)
		fputs("extern: part of the input that came from outside (files, network, devices).\n", out);
	fputs("One function: slope report --filter=NAME; all points: slope export --format=csv", out);
	fprintf(out, "%s\n", slope_style_off(SLOPE_STYLE_DIM, o->color));
}

bool slope_report_text(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	struct slope_report_rows r;

	if (!slope_report_rows_init(&r, p, o))
		return false;
	bool ok = put_program(p, o, out);

	put_run(p, o, out);
	put_measure(p, &r, o, out);
	ok &= put_losses(p, o, out);
	fputc('\n', out);
	if (r.count) {
		ok &= put_rows(p, &r, o, out);
		put_foot(p, &r, o, out);
	} else if (o->filter && o->filter[0]) {
		fprintf(out, "No function matches '%s'. Without * or ? a filter may stand anywhere in the name;\n"
			     "a function that the compiler inlined is part of its callers.\n", o->filter);
	} else {
		fputs("No function was recorded: the program ran none, or --toggle, --only and --skip left none.\n", out);
	}
	slope_report_rows_fini(&r);
	return ok;
}
