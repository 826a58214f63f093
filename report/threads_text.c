/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of `slope threads`: what each thread cost and where its input came
 * from, then the functions that took most from other threads, and from outside.
 * A profile knows that somebody else wrote what was read, not who it was: so
 * the words are "other threads", never a name.
 */
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "report/functions.h"
#include "report/parts.h"

#define COLUMNS_MAX 11
#define MUCH_MISSED 0.5          /* of the input: rms would give another curve altogether */
#define SOME_MISSED 0.1

/* What every part of the view looks at. */
struct view {
	const struct slope_profile *p;
	const struct slope_report_options *o;
	struct slope_statistics s;
	struct slope_report_rows r;  /* sorted anew for each table */
	bool trms, both;             /* recorded: where input came from; points by rms as well */
	bool coroutines;
};

static const char *others(const struct view *v)
{
	return v->coroutines ? "other threads or coroutines" : "other threads";
}

/* ---- head ---- */

static void put_input(const struct view *v, FILE *out)
{
	const struct slope_statistics *s = &v->s;
	char number[8], thread[16], external[16];

	slope_parts_label("input", v->o, out);
	fprintf(out, "%s cells of %" PRIu32 " byte%s", slope_table_number(s->input, number), v->p->cell_bytes,
		v->p->cell_bytes == 1 ? "" : "s");
	if (v->trms)
		fprintf(out, ": %s from %s, %s from outside",
			slope_parts_part(s->thread_input, s->input, thread, sizeof(thread)), others(v),
			slope_parts_part(s->external, s->input, external, sizeof(external)));
	fputc('\n', out);
}

static bool put_head(const struct view *v, FILE *out)
{
	const char *unit = v->p->unit_name[v->o->unit] ? v->p->unit_name[v->o->unit] : "?";
	bool ok = slope_parts_program(v->p, v->o, out);
	char number[8];

	slope_parts_run(v->p, v->o, out);
	slope_parts_label("cost", v->o, out);
	fprintf(out, "%s %s%s in all\n", slope_table_number(v->s.cost, number), unit, slope_parts_unit(unit));
	if (!slope_profile_is_sampled(v->p))
		put_input(v, out);
	ok &= slope_parts_losses(v->p, v->o, out);
	if (!v->trms && !slope_profile_is_sampled(v->p))
		ok &= slope_parts_line("NOTE", "recorded with --input=rms: what came from other threads and from outside "
					       "was not measured", v->o, out);
	fputc('\n', out);
	return ok;
}

/* ---- threads ---- */

struct place {
	size_t at;
	uint64_t cost;
};

static int by_cost(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->cost != y->cost ? (x->cost < y->cost ? 1 : -1) : (x->at > y->at) - (x->at < y->at);
}

static void add_number(struct slope_table *t, uint64_t number)
{
	char text[8];

	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(number, text));
}

/* Cost, share, calls, input and where that came from; dashes for what the file has lost. */
static void add_thread_numbers(struct slope_table *t, const struct view *v, size_t at)
{
	const struct slope_thread_statistics *s = &v->s.thread[at];

	if (!s->known) {
		slope_table_add(t, SLOPE_STYLE_DIM, "-");
		slope_table_add(t, SLOPE_STYLE_DIM, "-");
	} else {
		add_number(t, s->cost);
		slope_parts_share(t, SLOPE_STYLE_PLAIN, s->cost, v->s.cost);
	}
	add_number(t, v->p->thread[at].calls);
	if (s->known)
		add_number(t, s->trms);
	else
		slope_table_add(t, SLOPE_STYLE_DIM, "-");
	if (v->s.thread_input)
		slope_parts_share(t, SLOPE_STYLE_PLAIN, s->thread, s->trms);
	if (v->s.external)
		slope_parts_share(t, SLOPE_STYLE_PLAIN, s->external, s->trms);
}

static void add_thread(struct slope_table *t, const struct view *v, size_t at)
{
	const struct slope_profile_thread *thread = &v->p->thread[at];
	const struct slope_thread_statistics *s = &v->s.thread[at];
	const char *busiest = v->p->function[s->busiest].name;
	char text[16];

	slope_table_add(t, SLOPE_STYLE_PLAIN, "%" PRIu32, thread->id);
	slope_table_add(t, SLOPE_STYLE_PLAIN, thread->parent ? "%" PRIu32 : "-", thread->parent);
	if (v->p->runs > 1)
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%" PRIu64, thread->process);
	add_thread_numbers(t, v, at);
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s%s", thread->name ? thread->name : "",
			slope_report_is_coroutine(v->p, at) ? " (coroutine)" : "");
	if (s->busiest == SLOPE_FN_ROOT || !s->known)
		slope_table_add(t, SLOPE_STYLE_DIM, "-");
	else
		slope_table_add(t, SLOPE_STYLE_DIM, "%s %s",
				slope_parts_part(s->busiest_self, s->cost, text, sizeof(text)),
				busiest ? busiest : "");
}

static size_t thread_columns(const struct view *v, struct slope_table_column *column)
{
	size_t columns = 0;

	column[columns++] = (struct slope_table_column){ "id", true, 0 };
	column[columns++] = (struct slope_table_column){ "parent", true, 0 };
	if (v->p->runs > 1)
		column[columns++] = (struct slope_table_column){ "process", true, 0 };
	column[columns++] = (struct slope_table_column){ "cost", true, 0 };
	column[columns++] = (struct slope_table_column){ "share", true, 0 };
	column[columns++] = (struct slope_table_column){ "calls", true, 0 };
	column[columns++] = (struct slope_table_column){ "input", true, 0 };
	if (v->s.thread_input)
		column[columns++] = (struct slope_table_column){ "thread", true, 0 };
	if (v->s.external)
		column[columns++] = (struct slope_table_column){ "extern", true, 0 };
	column[columns++] = (struct slope_table_column){ "name", false, 6 };
	column[columns++] = (struct slope_table_column){ "most self cost in", false, 18 };
	return columns;
}

static bool put_threads(const struct view *v, FILE *out)
{
	struct slope_table_column column[COLUMNS_MAX];
	size_t count = v->p->thread_count, shown = v->o->top && v->o->top < count ? v->o->top : count;
	struct place *order = calloc(count + 1, sizeof(*order));
	struct slope_table t;

	if (!order)
		return false;
	if (!count)
		fputs("No thread is in the profile: that part of the file is missing.\n", out);
	for (size_t i = 0; i < count; i++)
		order[i] = (struct place){ i, v->s.thread[i].cost };
	qsort(order, count, sizeof(*order), by_cost);
	slope_table_init(&t, column, thread_columns(v, column));
	for (size_t i = 0; i < shown; i++)
		add_thread(&t, v, order[i].at);
	bool ok = !count || slope_table_print(&t, v->o->width, v->o->color, out);
	char text[16];

	slope_table_fini(&t);
	if (shown < count)
		fprintf(out, "%zu more, none above %s of the cost (--top=0 shows all).\n", count - shown,
			slope_parts_part(order[shown].cost, v->s.cost, text, sizeof(text)));
	free(order);
	return ok;
}

/* Has any function some of it? Threads may have lost their own numbers. */
static bool any(const struct view *v, enum slope_measure m)
{
	return slope_statistics_at_least(&v->s, m, DBL_MIN).functions;
}

/* A column that would be empty is left out; here is why. */
static void put_absent(const struct view *v, FILE *out)
{
	if (!v->trms)
		return;
	if (v->p->thread_count == 1)
		fputs("One thread: there are no others to take input from.\n", out);
	else if (!v->s.thread_input && !any(v, SLOPE_MEASURE_THREAD_OF_INPUT))
		fprintf(out, "Nothing that one of them read had been written by %s.\n", others(v));
	if (!v->s.external && !any(v, SLOPE_MEASURE_EXTERNAL_OF_INPUT))
		fputs("Nothing that was read had come from outside (files, network, devices).\n", out);
}

/* ---- functions ---- */

static enum slope_table_style missed_style(double volume)
{
	return volume >= MUCH_MISSED ? SLOPE_STYLE_HOT : volume >= SOME_MISSED ? SLOPE_STYLE_WARM : SLOPE_STYLE_PLAIN;
}

static void add_function(struct slope_table *t, const struct view *v, const struct slope_rank_row *row)
{
	const struct slope_function_statistics *f = slope_statistics_find(&v->s, row->function);
	double volume = slope_measure_of(&v->s, f, SLOPE_MEASURE_VOLUME);
	char text[16];

	add_number(t, row->calls);
	add_number(t, row->trms);
	if (v->r.thread)
		slope_parts_share(t, SLOPE_STYLE_PLAIN, row->thread, row->trms);
	if (v->r.external)
		slope_parts_share(t, SLOPE_STYLE_PLAIN, row->external, row->trms);
	slope_table_add(t, missed_style(volume), "%s", slope_parts_percent(volume, text, sizeof(text)));
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s%s", row->bits < SLOPE_POINTS_EXACT ? "~" : "",
			slope_table_number(row->points, text));
	if (v->both)
		add_number(t, f->sizes[SLOPE_METRIC_RMS].points);
	slope_table_add(t, missed_style(volume), "%s", row->name);
	slope_parts_place(t, v->p, &v->p->function[row->function], v->o->width ? v->o->width : UINT_MAX);
}

static size_t function_columns(const struct view *v, struct slope_table_column *column)
{
	size_t columns = 0;

	column[columns++] = (struct slope_table_column){ "calls", true, 0 };
	column[columns++] = (struct slope_table_column){ "input", true, 0 };
	if (v->r.thread)
		column[columns++] = (struct slope_table_column){ "thread", true, 0 };
	if (v->r.external)
		column[columns++] = (struct slope_table_column){ "extern", true, 0 };
	column[columns++] = (struct slope_table_column){ "volume", true, 0 };
	column[columns++] = (struct slope_table_column){ "points", true, 0 };
	if (v->both)
		column[columns++] = (struct slope_table_column){ "by rms", true, 0 };
	column[columns++] = (struct slope_table_column){ "function", false, 18 };
	column[columns++] = (struct slope_table_column){ "where", false, 12 };
	return columns;
}

/* Of the same amount, the one with less other input is nearer to where it is read. */
static int compare(uint64_t x, uint64_t y, const struct slope_rank_row *a, const struct slope_rank_row *b)
{
	if (x != y)
		return x < y ? 1 : -1;
	if (a->trms != b->trms)
		return a->trms > b->trms ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

static int by_thread(const void *a, const void *b)
{
	return compare(((const struct slope_rank_row *)a)->thread, ((const struct slope_rank_row *)b)->thread, a, b);
}

static int by_external(const void *a, const void *b)
{
	return compare(((const struct slope_rank_row *)a)->external, ((const struct slope_rank_row *)b)->external, a, b);
}

/* The functions that took anything from other threads, or else from outside. */
static bool put_functions(const struct view *v, bool outside, FILE *out)
{
	struct slope_table_column column[COLUMNS_MAX];
	struct slope_table t;
	size_t fed = 0, shown;

	qsort(v->r.row, v->r.count, sizeof(*v->r.row), outside ? by_external : by_thread);
	while (fed < v->r.count && (outside ? v->r.row[fed].external : v->r.row[fed].thread))
		fed++;
	if (!fed)
		return true;
	shown = v->o->top && v->o->top < fed ? v->o->top : fed;
	fprintf(out, "\nMost input from %s:\n", outside ? "outside" : others(v));
	slope_table_init(&t, column, function_columns(v, column));
	for (size_t i = 0; i < shown; i++)
		add_function(&t, v, &v->r.row[i]);
	bool ok = slope_table_print(&t, v->o->width, v->o->color, out);

	slope_table_fini(&t);
	if (shown < fed)
		fprintf(out, "%zu more (--top=0 shows all).\n", fed - shown);
	return ok;
}

/* ---- foot ---- */

/* How many functions have so much of a measure. */
static void put_many(const struct view *v, enum slope_measure m, double limit, const char *what, FILE *out)
{
	struct slope_at_least found = slope_statistics_at_least(&v->s, m, limit);
	char text[16];

	if (found.functions)
		fprintf(out, "%zu of %zu functions (%s) %s.\n", found.functions, found.of,
			slope_parts_part(found.functions, found.of, text, sizeof(text)), what);
}

static void put_foot(const struct view *v, FILE *out)
{
	fputc('\n', out);
	put_many(v, SLOPE_MEASURE_THREAD_OF_INPUT, 0.5, v->coroutines ?
		 "take half of their input or more from other threads or coroutines" :
		 "take half of their input or more from other threads", out);
	put_many(v, SLOPE_MEASURE_EXTERNAL_OF_INPUT, 0.5, "take half of their input or more from outside", out);
	put_many(v, SLOPE_MEASURE_VOLUME, SOME_MISSED, "have input of which rms would miss a tenth or more", out);
	put_many(v, SLOPE_MEASURE_RICHNESS, 1, "have at least twice as many points by trms as by rms", out);
	fputs(slope_style_on(SLOPE_STYLE_DIM, v->o->color), out);
	if (v->s.thread_input || v->r.thread)
		fprintf(out, "thread: part of the input that %s wrote (which, a profile does not say).\n", others(v));
	if (v->s.external || v->r.external)
		fputs("extern: part that came from outside (files, network, devices).\n", out);
	fputs("input: cells that all its calls read, with their callees.\n"
	      "volume: part of it that rms, input without threads and the outside, would miss.\n", out);
	fputs(v->both ? "points: different sizes; by rms: how many there would be by rms.\n" :
			"points: different sizes; to compare with rms, record with --input=both.\n", out);
	fputs(slope_style_off(SLOPE_STYLE_DIM, v->o->color), out);
}

/* Why there is no table of functions. */
static void put_none(const struct view *v, FILE *out)
{
	bool filtered = v->o->filter && v->o->filter[0];

	fputc('\n', out);
	if (!v->r.count && filtered)
		fprintf(out, "No function matches '%s'. Without * or ? a filter may stand anywhere in the name;\n"
			     "a function that the compiler inlined is part of its callers.\n", v->o->filter);
	else if (!v->r.count)
		fputs("No function was recorded: the program ran none, or --toggle, --only and --skip left none.\n", out);
	else if (slope_profile_is_sampled(v->p))
		fputs("The run was sampled: where the input of functions came from was not measured.\n", out);
	else if (!v->trms)
		fputs("Record again without --input=rms to see where the input of functions came from.\n", out);
	else
		fprintf(out, "None of the %zu function%s%s took input from %s or from outside.\n", v->r.count,
			v->r.count == 1 ? "" : "s", filtered ? " that fit" : "", others(v));
}

static bool put_all(const struct view *v, FILE *out)
{
	bool ok = put_head(v, out) && put_threads(v, out);

	put_absent(v, out);
	if (!v->r.thread && !v->r.external) {
		put_none(v, out);
		return ok;
	}
	ok = ok && put_functions(v, false, out) && put_functions(v, true, out);
	put_foot(v, out);
	return ok;
}

bool slope_threads_text(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	struct view v = {
		.p = p, .o = o, .trms = p->metrics & 1u << SLOPE_METRIC_TRMS, .coroutines = slope_report_coroutines(p),
	};

	v.both = v.trms && p->metrics & 1u << SLOPE_METRIC_RMS;
	if (!slope_statistics_init(&v.s, p, o->unit))
		return false;
	if (!slope_report_rows_init(&v.r, p, o)) {
		slope_statistics_fini(&v.s);
		return false;
	}
	bool ok = put_all(&v, out);

	slope_report_rows_fini(&v.r);
	slope_statistics_fini(&v.s);
	return ok;
}
