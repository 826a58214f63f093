/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plots of `slope show`: cost over n, and calls over the same axis. */
#include <math.h>
#include <stdlib.h>

#include "report/plot.h"
#include "report/show_page.h"

#define ROWS_PLOT 15u
#define ROWS_BARS 4u
#define LINE_POINTS 240u         /* that a fitted curve is drawn with */

struct lines {
	double x[LINE_POINTS], fit[LINE_POINTS], below[LINE_POINTS], above[LINE_POINTS];
};

static double fitted(const struct slope_growth *g, double n)
{
	return slope_model_at(g->broken && n < g->from ? &g->below : &g->model, n);
}

static void sample_lines(struct lines *l, const struct slope_show *s, const struct slope_axis *x)
{
	for (size_t i = 0; i < LINE_POINTS; i++) {
		double n = slope_axis_value(x, (double)i / (LINE_POINTS - 1));

		l->x[i] = n;
		l->fit[i] = fitted(&s->growth[SLOPE_COST_MEAN], n);
		l->below[i] = s->has_below ? slope_show_reference(s, s->below, n) : NAN;
		l->above[i] = s->has_above ? slope_show_reference(s, s->above, n) : NAN;
	}
}

/* The curve in columns: sizes, and each statistic behind them. One block of memory, or NULL. */
static double *split_curve(const struct slope_curve *curve, double *cost[SLOPE_STATISTICS])
{
	double *n = malloc((1 + SLOPE_STATISTICS) * curve->count * sizeof(*n));

	for (size_t i = 0; n && i < curve->count; i++)
		n[i] = curve->point[i].n;
	for (size_t k = 0; n && k < SLOPE_STATISTICS; k++) {
		cost[k] = n + (1 + k) * curve->count;
		for (size_t i = 0; i < curve->count; i++)
			cost[k][i] = curve->point[i].cost[k];
	}
	return n;
}

static bool put_curve(const struct slope_show *s, struct slope_plot *plot, FILE *out)
{
	double *cost[SLOPE_STATISTICS], *n = split_curve(&s->curve, cost);
	struct lines *l = malloc(sizeof(*l));
	char title[64], below[48], above[48], fit[48], order[SLOPE_ORDER_TEXT];
	struct slope_plot_series series[6];
	size_t count = 0, points = s->curve.count;

	if (!n || !l) {
		free(n);
		free(l);
		return false;
	}
	sample_lines(l, s, &plot->x);
	snprintf(below, sizeof(below), "%s", slope_order_text(s->below, order));
	snprintf(above, sizeof(above), "%s", slope_order_text(s->above, order));
	snprintf(fit, sizeof(fit), "fit %s", slope_order_text(s->growth[SLOPE_COST_MEAN].model.order, order));
	if (s->has_below)
		series[count++] = (struct slope_plot_series){
			below, SLOPE_PLOT_DOTS, "⠐⠐⠐", '.', SLOPE_STYLE_DIM, l->x, l->below, LINE_POINTS };
	if (s->has_above)
		series[count++] = (struct slope_plot_series){
			above, SLOPE_PLOT_DASHES, "⠤ ⠤", '-', SLOPE_STYLE_DIM, l->x, l->above, LINE_POINTS };
	if (s->growth[SLOPE_COST_MEAN].fitted)
		series[count++] = (struct slope_plot_series){
			fit, SLOPE_PLOT_LINE, "⠤⠤⠤", '*', SLOPE_STYLE_WARM, l->x, l->fit, LINE_POINTS };
	if (s->scatter > 0) {        /* otherwise there is nothing but the mean */
		series[count++] = (struct slope_plot_series){
			"best", SLOPE_PLOT_MARKS, "▽", 'v', SLOPE_STYLE_DIM, n, cost[SLOPE_COST_MIN], points };
		series[count++] = (struct slope_plot_series){
			"worst", SLOPE_PLOT_MARKS, "△", '^', SLOPE_STYLE_HOT, n, cost[SLOPE_COST_MAX], points };
	}
	series[count++] = (struct slope_plot_series){
		"mean", SLOPE_PLOT_MARKS, "●", 'o', SLOPE_STYLE_BOLD, n, cost[SLOPE_COST_MEAN], points };
	snprintf(title, sizeof(title), "cost (%s%s)", s->p->unit_name[s->o.unit] ? s->p->unit_name[s->o.unit] : "?",
		 plot->y.log ? ", log" : "");
	plot->y_title = title;
	plot->series = series;
	plot->count = count;
	bool ok = slope_plot_print(plot, out);

	free(n);
	free(l);
	return ok;
}

static bool put_workload(const struct slope_show *s, struct slope_plot *plot, FILE *out)
{
	double *calls = calloc(plot->columns, sizeof(*calls));

	if (!calls)
		return false;
	for (size_t i = 0; i < s->curve.count; i++) {
		double place = slope_axis_place(&plot->x, s->curve.point[i].n);

		calls[lround(fmin(fmax(place, 0), 1) * (plot->columns - 1))] += s->curve.point[i].calls;
	}
	plot->rows = ROWS_BARS;
	plot->y_title = "calls";
	plot->bare = false;
	bool ok = slope_plot_bars(plot, calls, out);

	free(calls);
	return ok;
}

bool slope_page_plots(const struct slope_show *s, FILE *out)
{
	struct slope_plot plot = {
		.columns = slope_page_width(s) - SLOPE_PLOT_MARGIN - 1, .rows = ROWS_PLOT, .bare = true,
		.ascii = s->o.ascii, .color = s->o.color,
	};

	if (s->curve.count < 2)
		return true;
	plot.x = slope_show_x(s);
	plot.y = slope_show_y(s);
	plot.x_title = plot.x.log ? "n (log)" : "n";
	fputc('\n', out);
	bool ok = s->contrast.count > 1 ? slope_page_split(s, &plot, out) : put_curve(s, &plot, out);

	return ok && put_workload(s, &plot, out);
}
