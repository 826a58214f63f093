/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The page of `slope show`: who it is and what it costs, how that grows and on
 * what evidence, the curve, the workload, the guess ratios, who calls it and
 * what it calls, and its source. It fits 80 columns; a wider terminal gets a
 * wider plot.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"
#include "report/functions.h"
#include "report/parts.h"
#include "report/path_link.h"
#include "report/show_page.h"

#define LABEL_COLUMNS 10u
#define NAME_LEAST 32u           /* columns for a name beside its numbers; with less room it stands above them */
#define OUTLIERS_SHOWN 4u
#define TIMES_LARGER 10.0        /* than the largest size: what the cost is foretold for */

/* A labelled paragraph, broken at blanks to the page's width. */
static void put_entry(const struct slope_show *s, FILE *out, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
static void put_entry(const struct slope_show *s, FILE *out, const char *label, const char *format, ...)
{
	char text[1024];
	unsigned column = LABEL_COLUMNS, width = slope_page_width(s);
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(out, "%s%-*s%s", slope_style_on(SLOPE_STYLE_BOLD, s->o.color), (int)LABEL_COLUMNS, label,
		slope_style_off(SLOPE_STYLE_BOLD, s->o.color));
	for (char *word = text, *next; word; word = next) {
		next = strchr(word, ' ');
		if (next)
			*next++ = '\0';
		unsigned columns = (unsigned)slope_clip_columns(word);

		if (column > LABEL_COLUMNS && column + 1 + columns > width) {
			fprintf(out, "\n%*s", (int)LABEL_COLUMNS, "");
			column = LABEL_COLUMNS;
		}
		fprintf(out, column > LABEL_COLUMNS ? " %s" : "%s", word);
		column += columns + (column > LABEL_COLUMNS);
	}
	fputc('\n', out);
}

/* Text that came with the profile, made harmless, as an entry. */
static bool put_safe_entry(const struct slope_show *s, FILE *out, const char *label, const char *text)
{
	char *safe = slope_clip_middle(text, SIZE_MAX);

	if (!safe)
		return false;
	put_entry(s, out, label, "%s", safe);
	free(safe);
	return true;
}

/* ---- head ---- */

static char *place_of(const struct slope_show *s, char *text, size_t bytes)
{
	const char *file = slope_report_short_file(s->p, s->f);
	const char *module = slope_profile_module_of(s->p, s->f);

	if (file && s->f->line)
		snprintf(text, bytes, "  %s:%" PRIu32, file, s->f->line);
	else
		snprintf(text, bytes, *module ? "  [%s]" : "%s", module);
	return text;
}

static bool put_head(const struct slope_show *s, FILE *out)
{
	char place[64], rest[160], calls[16], cost[16], part[16];
	unsigned width = slope_page_width(s);

	snprintf(rest, sizeof(rest), "%s  %s call%s  %s %s  %s of the run", place_of(s, place, sizeof(place)),
		 slope_table_number(s->calls, calls), s->calls == 1 ? "" : "s", slope_table_number(s->total, cost),
		 s->p->unit_name[s->o.unit] ? s->p->unit_name[s->o.unit] : "?",
		 slope_parts_part(s->total, s->program, part, sizeof(part)));
	const char *whole = s->f->name ? s->f->name : "?";
	char *safe = slope_clip_middle(rest, SIZE_MAX);
	size_t used = safe ? slope_clip_columns(safe) : 0, length = slope_clip_columns(whole);
	bool apart = used + (length < NAME_LEAST ? length : NAME_LEAST) > width;
	char *name = slope_clip_name(whole, apart ? width : width - used);

	if (safe && name)
		fprintf(out, "%s%s%s%s%s\n", slope_style_on(SLOPE_STYLE_BOLD, s->o.color), name,
			slope_style_off(SLOPE_STYLE_BOLD, s->o.color), apart ? "\n" : "", safe + (apart ? 2 : 0));
	bool ok = safe && name;

	free(safe);
	free(name);
	return ok;
}

struct loss_entries {
	const struct slope_show *s;
	FILE *out;
};

static bool put_loss(void *to, const char *label, const char *text)
{
	const struct loss_entries *entries = to;

	return put_safe_entry(entries->s, entries->out, label, text);
}

/* ---- growth in words ---- */

static void add_term(char *text, size_t bytes, double factor, const char *order)
{
	size_t length = strlen(text);
	char value[16];

	const char *sign = factor < 0 ? (length ? " - " : "-") : length ? " + " : "";

	if (factor != 0)
		snprintf(text + length, bytes - length, "%s%s%s%s", sign, slope_table_real(fabs(factor), value),
			 *order ? " " : "", order);
}

/* "120 + 3.1 n + 1.31 n^2" */
static char *model_text(const struct slope_model *m, char text[96])
{
	char order[SLOPE_ORDER_TEXT];
	bool constant = !m->order.power && !m->order.logs && !m->order.base;

	text[0] = '\0';
	add_term(text, 96, m->constant + (constant ? m->factor : 0), "");
	add_term(text, 96, m->linear, "n");
	add_term(text, 96, constant ? 0 : m->factor, slope_order_text(m->order, order));
	if (!*text)
		strcpy(text, "0");
	return text;
}

static void put_evidence(const struct slope_show *s, const struct slope_growth *g, FILE *out)
{
	char line[320], least[16], most[16], error[16];
	int n = snprintf(line, sizeof(line), g->sizes == 1 ? "%zu size, n = %s" : "%zu sizes over %s..%s", g->sizes,
			 slope_table_real(g->n_min, least), slope_table_real(g->n_max, most));

	if (g->bins < g->sizes)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " in %zu bins", g->bins);
	if (isfinite(g->r2))
		n += snprintf(line + n, sizeof(line) - (size_t)n, ", R2 %.3f, typical error %s", g->r2,
			      slope_parts_percent(g->error, error, sizeof(error)));
	if (isfinite(g->holdout))
		snprintf(line + n, sizeof(line) - (size_t)n, "; the lower two thirds foretell the top within %s",
			 slope_parts_percent(g->holdout, error, sizeof(error)));
	put_entry(s, out, "", "%s", line);
}

/* What the model foretells for a larger input. */
static char *forecast(const struct slope_growth *g, char text[96])
{
	double larger = TIMES_LARGER * fmax(g->to, 1), then = slope_model_at(&g->model, larger);
	char cost[SLOPE_TABLE_REAL], n[SLOPE_TABLE_REAL];

	if (!isfinite(then) || then >= 1e18)
		snprintf(text, 96, "; out of reach at %.0f times the largest n", TIMES_LARGER);
	else
		snprintf(text, 96, "; %s at n = %s, %.0f times the largest", slope_table_real(fmax(then, 0), cost),
			 slope_table_real(larger, n), TIMES_LARGER);
	return text;
}

static void put_model(const struct slope_show *s, const struct slope_growth *g, FILE *out)
{
	char model[96], below[96], then[96] = "", from[SLOPE_TABLE_REAL];
	bool settled = g->verdict != SLOPE_VERDICT_INCONCLUSIVE;

	if (!g->fitted)
		return;
	if (settled)
		forecast(g, then);
	model_text(&g->model, model);
	if (g->broken)
		put_entry(s, out, "regimes", "cost = %s below n = %s, %s from there on%s", model_text(&g->below, below),
			  slope_table_real(g->from, from), model, then);
	else
		put_entry(s, out, "", "%scost = %s%s", settled ? "" : "best so far: ", model, then);
}

static void put_growth(const struct slope_show *s, FILE *out)
{
	static const struct {
		enum slope_statistic of;
		const char *label;
	} other[] = { { SLOPE_COST_MAX, "worst" }, { SLOPE_COST_MIN, "best" } };
	const struct slope_growth *mean = &s->growth[SLOPE_COST_MEAN];
	char text[SLOPE_SHOW_TEXT], advice[SLOPE_ADVICE_TEXT];
	char short_mean[SLOPE_GROWTH_TEXT], shorter[SLOPE_GROWTH_TEXT];

	put_entry(s, out, "growth", "%s", slope_show_growth(mean, text));
	if (s->curve.count)
		put_evidence(s, mean, out);
	put_model(s, mean, out);
	if (mean->reason != SLOPE_REASON_NONE && *slope_growth_advice(mean, advice))
		put_entry(s, out, "", "to settle it: %s", advice);
	slope_growth_text(mean, short_mean);
	for (size_t i = 0; i < 2; i++) {
		const struct slope_growth *g = &s->growth[other[i].of];

		if (strcmp(slope_growth_text(g, shorter), short_mean))
			put_entry(s, out, other[i].label, "%s", slope_show_growth(g, text));
	}
}

/* The sizes that lie off the curve. */
static void put_outliers(const struct slope_show *s, FILE *out)
{
	const struct slope_growth *g = &s->growth[SLOPE_COST_MEAN];
	char line[320] = "", n[16], cost[16], expected[16];
	size_t shown = g->outliers < OUTLIERS_SHOWN ? g->outliers : OUTLIERS_SHOWN;

	for (size_t i = 0; i < shown; i++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%sn = %s cost %s, not %s", i ? "; " : "",
			 slope_table_real(g->outlier[i].n, n), slope_table_real(g->outlier[i].cost, cost),
			 slope_table_real(g->outlier[i].expected, expected));
	if (g->outliers > shown)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "; %zu more", g->outliers - shown);
	if (shown)
		put_entry(s, out, "outliers", "%s (off the curve: counted less)", line);
}

static void put_variance(const struct slope_show *s, FILE *out)
{
	const struct slope_curve_point *w = s->widest;
	char n[16], least[16], most[16], calls[16], apart[16];

	if (!isfinite(s->scatter))
		return;
	if (!(s->scatter > 0))
		put_entry(s, out, "variance", "none: calls of one size cost the same");
	else if (!w)
		put_entry(s, out, "variance", "calls of one size cost alike (%s apart)",
			  slope_parts_percent(s->scatter, apart, sizeof(apart)));
	else
		put_entry(s, out, "variance", "calls of one size are %s apart; most at n = %s: %s to %s in %s calls",
			  slope_parts_percent(s->scatter, apart, sizeof(apart)), slope_table_real(w->n, n),
			  slope_table_real(w->cost[SLOPE_COST_MIN], least),
			  slope_table_real(w->cost[SLOPE_COST_MAX], most), slope_table_real(w->calls, calls));
}

/* "n^2 from parse_list, n elsewhere": then the growth above is that of a mixture. */
static bool put_contexts(const struct slope_show *s, FILE *out)
{
	char *text = slope_contrast_text(&s->contrast, s->p), low[SLOPE_GROWTH_TEXT], high[SLOPE_GROWTH_TEXT];
	struct slope_growth best, worst;
	bool ok = text;

	if (!s->contrast.count && slope_contrast_mixed(&s->curve, &best, &worst)) {
		put_entry(s, out, "mixture", "calls of the same n grow like %s at best and like %s at worst: their data or their "
			  "callers differ%s", slope_growth_text(&best, low), slope_growth_text(&worst, high),
			  s->callers > 1 ? "; record --context=1 tells callers apart" : "");
	}

	if (ok && *text)
		ok = put_safe_entry(s, out, "contexts", text);
	free(text);
	return ok;
}

/* Where its own instructions are. */
static bool put_path(const struct slope_show *s, FILE *out)
{
	struct slope_path_link link = { s->p, s->o.function, s->o.metric, s->o.unit, NULL, s->o.ascii };

	if (!s->p->path_count)
		return true;
	link.lines = slope_blocklines_new(s->p, NULL);
	char *text = link.lines ? slope_path_link_text(&link) : NULL;
	bool ok = text && (!*text || put_safe_entry(s, out, "path", text));

	slope_blocklines_free(link.lines);
	free(text);
	return ok;
}

static void put_input(const struct slope_show *s, FILE *out)
{
	char outside[16], threads[16];

	if (s->external && s->thread_input)
		put_entry(s, out, "input",
			  "%s of it came from outside (files, network, devices), %s from other threads",
			  slope_parts_part(s->external, s->trms, outside, sizeof(outside)),
			  slope_parts_part(s->thread_input, s->trms, threads, sizeof(threads)));
	else if (s->external)
		put_entry(s, out, "input", "%s of it came from outside (files, network, devices)",
			  slope_parts_part(s->external, s->trms, outside, sizeof(outside)));
	else if (s->thread_input)
		put_entry(s, out, "input", "%s of it came from other threads",
			  slope_parts_part(s->thread_input, s->trms, threads, sizeof(threads)));
}

bool slope_show_text(const struct slope_show *s, FILE *out)
{
	bool ok = put_head(s, out);

	ok &= slope_parts_each_loss(s->p, put_loss, &(struct loss_entries){ s, out });
	fputc('\n', out);
	put_growth(s, out);
	ok &= put_contexts(s, out);
	put_outliers(s, out);
	put_variance(s, out);
	put_input(s, out);
	ok &= put_path(s, out);
	ok &= slope_page_plots(s, out);
	ok &= slope_page_tables(s, out);
	ok &= slope_page_source(s, out);
	return ok;
}
