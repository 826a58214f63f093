/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "report/gnuplot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/clip.h"
#include "report/functions.h"
#include "report/parts.h"
#include "report/table.h"

#define POINTS_MOST 2000u        /* more are gathered: a picture has no more columns than that */
#define LINE_POINTS 200u
#define BARS 72u
#define NAME_COLUMNS 90u

extern char **environ;

bool slope_picture_by_name(const char *path, enum slope_picture *kind)
{
	static const char *const ending[] = {
		[SLOPE_PICTURE_SCRIPT] = ".gp", [SLOPE_PICTURE_SVG] = ".svg", [SLOPE_PICTURE_PNG] = ".png",
	};
	size_t length = strlen(path);

	for (enum slope_picture k = SLOPE_PICTURE_SCRIPT; k <= SLOPE_PICTURE_PNG; k++) {
		size_t bytes = strlen(ending[k]);

		if (length > bytes && !strcmp(path + length - bytes, ending[k])) {
			*kind = k;
			return true;
		}
	}
	return false;
}

static const char *unit_of(const struct slope_show *s)
{
	return s->p->unit_name[s->o.unit] ? s->p->unit_name[s->o.unit] : "?";
}

/* ---- data ---- */

/* Near sizes as one: what a column of the picture can show of them. */
static void gather(struct slope_curve_point *to, const struct slope_curve_point *from)
{
	double calls = to->calls + from->calls;

	to->n = (to->n * to->calls + from->n * from->calls) / calls;
	to->cost[SLOPE_COST_MEAN] = (to->cost[SLOPE_COST_MEAN] * to->calls +
				     from->cost[SLOPE_COST_MEAN] * from->calls) / calls;
	to->cost[SLOPE_COST_MAX] = fmax(to->cost[SLOPE_COST_MAX], from->cost[SLOPE_COST_MAX]);
	to->cost[SLOPE_COST_MIN] = fmin(to->cost[SLOPE_COST_MIN], from->cost[SLOPE_COST_MIN]);
	to->calls = calls;
}

/* Where all calls cost the same, the mean says it all. */
static void put_point(const struct slope_curve_point *p, FILE *out)
{
	if (p->cost[SLOPE_COST_MIN] == p->cost[SLOPE_COST_MAX])
		fprintf(out, "%.10g ? %.10g ?\n", p->n, p->cost[SLOPE_COST_MEAN]);
	else
		fprintf(out, "%.10g %.10g %.10g %.10g\n", p->n, p->cost[SLOPE_COST_MAX], p->cost[SLOPE_COST_MEAN],
			p->cost[SLOPE_COST_MIN]);
}

static void put_points(const struct slope_show *s, const struct slope_axis *x, FILE *out)
{
	const struct slope_curve *c = &s->curve;
	bool many = c->count > POINTS_MOST;
	struct slope_curve_point sum = c->point[0];
	long last = lround(slope_axis_place(x, sum.n) * POINTS_MOST);

	if (many)
		fprintf(out, "# near sizes share a point: there are %zu\n", c->count);
	fputs("$points << END\n", out);
	for (size_t i = 1; i < c->count; i++) {
		long at = lround(slope_axis_place(x, c->point[i].n) * POINTS_MOST);

		if (many && at == last) {
			gather(&sum, &c->point[i]);
			continue;
		}
		put_point(&sum, out);
		sum = c->point[i];
		last = at;
	}
	put_point(&sum, out);
	fputs("END\n", out);
}

/* n, the fitted curve, the order below, the order above; "?" where there is none or it leaves the picture. */
static void put_lines(const struct slope_show *s, const struct slope_axis *x, const struct slope_axis *y, FILE *out)
{
	const struct slope_growth *g = &s->growth[SLOPE_COST_MEAN];

	fputs("$lines << END\n", out);
	for (size_t i = 0; i < LINE_POINTS; i++) {
		double n = slope_axis_value(x, (double)i / (LINE_POINTS - 1));
		double value[] = {
			g->fitted ? slope_model_at(g->broken && n < g->from ? &g->below : &g->model, n) : NAN,
			s->has_below ? slope_show_reference(s, s->below, n) : NAN,
			s->has_above ? slope_show_reference(s, s->above, n) : NAN,
		};

		fprintf(out, "%.10g", n);
		for (size_t k = 0; k < 3; k++)
			if (isfinite(value[k]) && value[k] < 10 * y->high && (!y->log || value[k] > y->low / 10))
				fprintf(out, " %.10g", value[k]);
			else
				fputs(" ?", out);
		fputc('\n', out);
	}
	fputs("END\n", out);
}

/* Bars: from n, to n, calls. Gives the highest. */
static double put_calls(const struct slope_show *s, const struct slope_axis *x, FILE *out)
{
	double calls[BARS] = { 0 }, most = 1;

	for (size_t i = 0; i < s->curve.count; i++) {
		double place = fmin(fmax(slope_axis_place(x, s->curve.point[i].n), 0), 1);

		calls[lround(floor(fmin(place * BARS, BARS - 1)))] += s->curve.point[i].calls;
	}
	fputs("$calls << END\n", out);
	for (size_t i = 0; i < BARS; i++)
		if (calls[i] > 0) {
			most = fmax(most, calls[i]);
			fprintf(out, "%.10g %.10g %.10g\n", slope_axis_value(x, (double)i / BARS),
				slope_axis_value(x, (double)(i + 1) / BARS), calls[i]);
		}
	fputs("END\n", out);
	return most;
}

/* ---- script ---- */

/*
 * A text of the profile as a word of gnuplot's: within single quotes nothing has
 * a meaning but the quote itself. Doubled it would stand for one, except at the
 * beginning; so it becomes the typographic one, and no text can leave its quotes.
 */
static bool put_quoted(const char *text, size_t columns, bool name, FILE *out)
{
	char *safe = name ? slope_clip_name(text, columns) : slope_clip_middle(text, columns);

	if (!safe)
		return false;
	fputc('\'', out);
	for (const char *c = safe; *c; c++)
		fputs(*c == '\'' ? "\xe2\x80\x99" : (char[]){ *c, '\0' }, out);
	fputc('\'', out);
	free(safe);
	return true;
}

static bool put_titles(const struct slope_show *s, FILE *out)
{
	const char *file = slope_report_short_file(s->p, s->f);
	char growth[SLOPE_SHOW_TEXT], line[400], cost[16], calls[16], part[16];
	int n = snprintf(line, sizeof(line), "%s", slope_show_growth(&s->growth[SLOPE_COST_MEAN], growth));

	fputs("set label 1 at screen 0.02, 0.965 left noenhanced font ',15' ", out);
	bool ok = put_quoted(s->f->name ? s->f->name : "?", NAME_COLUMNS, true, out);

	n += snprintf(line + n, sizeof(line) - (size_t)n, "; %s calls, %s %s", slope_table_number(s->calls, calls),
		      slope_table_number(s->total, cost), unit_of(s));
	if (s->program)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " (%s of the run)",
			      slope_parts_part(s->total, s->program, part, sizeof(part)));
	if (file && s->f->line)
		snprintf(line + n, sizeof(line) - (size_t)n, ", %.100s:%" PRIu32, file, s->f->line);
	fputs("\nset label 2 at screen 0.02, 0.925 left noenhanced textcolor rgb '#444444' ", out);
	ok &= put_quoted(line, SIZE_MAX, false, out);
	fputc('\n', out);
	return ok;
}

/* The range, with room beyond it: `reach` times as far on a logarithmic axis, `more` of its length on a linear one. */
static void put_axis(char which, const struct slope_axis *a, double reach, double more, FILE *out)
{
	double low = a->log ? a->low / reach : a->low;
	double high = a->log ? a->high * reach : a->high + (a->high - a->low) * more;

	fprintf(out, "set %crange [%.10g:%.10g]\n", which, low, high);
	fprintf(out, a->log ? "set logscale %c 10\n" : "unset logscale %c\n", which);
}

/* The ticks of our own plots: gnuplot's are too few on a narrow logarithmic axis. */
static void put_tics(char which, const struct slope_axis *a, size_t wanted, bool numbers, FILE *out)
{
	double tick[SLOPE_AXIS_TICKS];
	size_t count = slope_axis_ticks(a, wanted, tick);
	char text[SLOPE_AXIS_LABEL];

	fprintf(out, "set %ctics out nomirror (", which);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s'%s' %.10g", i ? ", " : "", numbers ? slope_axis_label(tick[i], text) : "",
			tick[i]);
	fputs(")\n", out);
}

static void put_look(enum slope_picture kind, FILE *out)
{
	fputs(kind == SLOPE_PICTURE_PNG ? "set terminal pngcairo size 1200,800 font 'sans,13' background '#ffffff'\n" :
	      "set terminal svg size 900,600 dynamic font 'sans,12' background '#ffffff'\n", out);
	fputs("set encoding utf8\n"
	      "set datafile missing '?'\n"
	      "set border 3 linecolor rgb '#444444'\n"
	      "set grid xtics ytics linecolor rgb '#dddddd' linewidth 1\n"
	      "set lmargin at screen 0.085\n"
	      "set rmargin at screen 0.975\n"
	      "set key top left Left reverse vertical maxrows 3 samplen 3 opaque noenhanced\n"
	      "set key box linecolor rgb '#dddddd'\n", out);
}

/* One series of the cost plot. */
static void put_line(int column, const char *look, const char *color, const char *title, struct slope_order order,
		     FILE *out)
{
	char text[SLOPE_ORDER_TEXT];

	fprintf(out, " $lines using 1:%d with lines %s linecolor rgb '%s' title '%s%s', \\\n", column, look, color,
		title, slope_order_text(order, text));
}

static void put_marks(int column, int type, const char *color, const char *title, FILE *out)
{
	fprintf(out, " $points using 1:%d with points pointtype %d pointsize 1.1 linewidth 1.3", column, type);
	fprintf(out, " linecolor rgb '%s' title '%s', \\\n", color, title);
}

static bool put_cost_plot(const struct slope_show *s, const struct slope_axis *y, FILE *out)
{
	const struct slope_growth *g = &s->growth[SLOPE_COST_MEAN];
	char label[80];

	snprintf(label, sizeof(label), "cost of a call (%.40s%s)", unit_of(s), y->log ? ", log" : "");
	fputs("set ylabel ", out);
	bool ok = put_quoted(label, SIZE_MAX, false, out);

	fputs(" noenhanced\nplot \\\n", out);
	if (s->has_above)
		put_line(4, "linewidth 2 dashtype '-'", "#777777", "", s->above, out);
	if (g->fitted)
		put_line(2, "linewidth 2.5", "#0072b2", "fitted: ", g->model.order, out);
	if (s->has_below)
		put_line(3, "linewidth 2 dashtype (2,4)", "#777777", "", s->below, out);
	if (s->scatter > 0) {        /* otherwise there is nothing but the mean */
		put_marks(2, 8, "#d55e00", "worst", out);
		put_marks(4, 10, "#009e73", "best", out);
	}
	fputs(" $points using 1:3 with points pointtype 7 pointsize 0.8 linecolor rgb '#000000' title 'mean'\n", out);
	return ok;
}

static void put_calls_plot(const struct slope_show *s, const struct slope_axis *x, double most, FILE *out)
{
	struct slope_axis y = slope_axis_of(1, 1, most, SLOPE_AXES_AUTO, true);

	y.low = y.log ? 0.7 : 0;
	fprintf(out, "set xlabel 'input size n (%s, cells of %" PRIu32 " byte%s)%s' noenhanced\nset ylabel 'calls%s'\n",
		slope_report_metric_name(s->o.metric), s->p->cell_bytes, s->p->cell_bytes == 1 ? "" : "s",
		x->log ? ", log scale" : "", y.log ? " (log)" : "");
	put_axis('y', &y, 1, 0.05, out);
	put_tics('x', x, 10, true, out);
	put_tics('y', &y, most < 4 ? (size_t)most : 4, true, out);
	fputs("set style fill solid 0.75 noborder\n"
	      "plot $calls using (($1+$2)/2):3:1:2:(1e-9):3 with boxxyerror linecolor rgb '#56b4e9' notitle\n", out);
}

bool slope_gnuplot_script(const struct slope_show *s, enum slope_picture kind, FILE *out)
{
	struct slope_axis x = slope_show_x(s), y = slope_show_y(s);

	fputs("# A cost plot by slope show; gnuplot makes a picture of it.\n", out);
	put_points(s, &x, out);
	put_lines(s, &x, &y, out);
	double most = put_calls(s, &x, out);

	put_look(kind, out);
	fputs("set multiplot\n", out);
	bool ok = put_titles(s, out);

	put_axis('x', &x, 1.06, 0.02, out);
	put_axis('y', &y, 1.4, 0.25, out);   /* the key stands in the corner that growth leaves free, or above */
	put_tics('x', &x, 10, false, out);
	put_tics('y', &y, 8, true, out);
	fputs("set tmargin at screen 0.89\nset bmargin at screen 0.305\n", out);
	ok &= put_cost_plot(s, &y, out);
	fputs("unset label\nunset key\nset tmargin at screen 0.28\nset bmargin at screen 0.12\n", out);
	put_calls_plot(s, &x, most, out);
	fputs("unset multiplot\n", out);
	return ok;
}

/* ---- running it ---- */

static FILE *script_file(const struct slope_show *s, enum slope_picture kind)
{
	FILE *file = tmpfile();

	if (!file)
		return NULL;
	if (!slope_gnuplot_script(s, kind, file) || fflush(file) != 0 || ferror(file)) {
		fclose(file);
		return NULL;
	}
	rewind(file);
	return file;
}

/* Starts gnuplot on a script; 0, or why not as an errno. */
static int start(pid_t *child, FILE *script, int fd, FILE *words)
{
	char *const argv[] = { SLOPE_GNUPLOT_PROGRAM, "--default-settings", "-", NULL };
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	if ((error = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO)) == 0 &&
	    (error = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO)) == 0 &&
	    (error = posix_spawn_file_actions_adddup2(&actions, fileno(words), STDERR_FILENO)) == 0)
		error = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* What gnuplot complained about: its last line that has words. */
static void read_words(FILE *words, char *text, size_t bytes)
{
	char line[256];

	snprintf(text, bytes, "it says nothing");
	rewind(words);
	while (fgets(line, sizeof(line), words)) {
		char *begin = line + strspn(line, " \t^");

		begin[strcspn(begin, "\n")] = '\0';
		if (*begin)
			snprintf(text, bytes, "%s", begin);
	}
}

static bool wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool slope_gnuplot_run(const struct slope_show *s, enum slope_picture kind, int fd, char error[SLOPE_GNUPLOT_ERROR])
{
	FILE *script = script_file(s, kind), *words = script ? tmpfile() : NULL;
	bool good = false;
	char said[256];
	pid_t child;

	if (!words) {
		snprintf(error, SLOPE_GNUPLOT_ERROR, "no room for a temporary file: %s",
			 strerror(errno ? errno : ENOMEM));
		goto close_script;
	}
	int why = start(&child, script, fd, words);

	if (why == ENOENT || why == EACCES) {
		snprintf(error, SLOPE_GNUPLOT_ERROR,
			 "gnuplot is not on PATH (Debian has it in gnuplot-nox); -o NAME.gp writes its script");
	} else if (why) {
		snprintf(error, SLOPE_GNUPLOT_ERROR, "cannot start gnuplot: %s", strerror(why));
	} else if (!(good = wait_for(child))) {
		read_words(words, said, sizeof(said));
		snprintf(error, SLOPE_GNUPLOT_ERROR, "gnuplot failed: %s", said);
	}
	fclose(words);
close_script:
	if (script)
		fclose(script);
	return good;
}
