/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope show: one function in full, on the terminal, as JSON or as a picture. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/datafile.h"
#include "cli/list.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "report/gnuplot.h"
#include "report/report.h"

struct settings {
	bool json, ascii, linear, log;
	unsigned input, color;
	const char *unit, *output;
	struct slope_list guess;
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "json", 'j', SLOPE_OPTION_FLAG, &s->json, NULL, "print JSON (schema slope-show/1)", 0, 0 },
		{ "output", 'o', SLOPE_OPTION_TEXT, &s->output, "FILE",
		  "draw a picture: FILE.svg or FILE.png by gnuplot, FILE.gp for its script", 0, 0 },
		{ "guess", 'g', SLOPE_OPTION_LIST, &s->guess, "ORDER",
		  "divide the cost by this order, 'n log n'; may be given again (those near the fitted one)", 0, 0 },
		{ "unit", 'u', SLOPE_OPTION_TEXT, &s->unit, "NAME", "the cost unit (the first recorded)", 0, 0 },
		{ "input", 'i', SLOPE_OPTION_CHOICE, &s->input, SLOPE_VIEW_INPUTS,
		  "by which input size (trms where it was recorded)", 0, 0 },
		{ "linear", 0, SLOPE_OPTION_FLAG, &s->linear, NULL, "linear axes (each as it helps)", 0, 0 },
		{ "log", 0, SLOPE_OPTION_FLAG, &s->log, NULL, "logarithmic axes", 0, 0 },
		{ "ascii", 0, SLOPE_OPTION_FLAG, &s->ascii, NULL,
		  "plots of ASCII only (where the locale is not UTF-8)", 0, 0 },
		{ "color", 0, SLOPE_OPTION_CHOICE, &s->color, SLOPE_COLOR_CHOICES,
		  "colours: on a terminal unless NO_COLOR is set (auto)", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope show", .operands = "[options] FUNCTION [FILE]", .option = option,
		.summary = "Shows one function of a profile (slope.data): its curve, growth, workload and callers.",
	};

	return slope_options_parse(&usage, argc, argv);
}

static bool read_guesses(const struct slope_list *text, struct slope_order order[SLOPE_SHOW_GUESSES])
{
	if (text->count > SLOPE_SHOW_GUESSES) {
		slope_say("--guess: at most %u at a time", SLOPE_SHOW_GUESSES);
		return false;
	}
	for (size_t i = 0; i < text->count; i++)
		if (!slope_order_parse(text->text[i], &order[i])) {
			slope_say("--guess=%s: not an order of growth; write it like 'n', 'n log n', 'n^1.5' or '2^n'",
				  text->text[i]);
			return false;
		}
	return true;
}

static int print(const struct slope_show *s, bool json)
{
	bool good = json ? slope_show_json(s, stdout) : slope_show_text(s, stdout);

	if (!good)
		slope_say("out of memory");
	return slope_flush_output() && good ? 0 : SLOPE_EXIT_WRONG;
}

/* ---- pictures ---- */

static bool fill_picture(const struct slope_show *s, enum slope_picture kind, int fd, char error[SLOPE_GNUPLOT_ERROR])
{
	if (kind != SLOPE_PICTURE_SCRIPT)
		return slope_gnuplot_run(s, kind, fd, error);
	int copy = dup(fd);
	FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;
	bool good = out && slope_gnuplot_script(s, kind, out) && !ferror(out);

	if (out)
		good &= fclose(out) == 0;
	else if (copy >= 0)
		close(copy);
	if (!good)
		snprintf(error, SLOPE_GNUPLOT_ERROR, "%s", strerror(errno ? errno : ENOMEM));
	return good;
}

/* Into a neighbour first: a failure leaves the file as it was. */
static int draw(const struct slope_show *s, enum slope_picture kind, const char *path)
{
	char *neighbour = slope_text("%s.tmp.%ld", path, (long)getpid()), error[SLOPE_GNUPLOT_ERROR] = "";
	int fd = open(neighbour, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	bool good = fd >= 0 && fill_picture(s, kind, fd, error);

	if (fd >= 0 && close(fd) != 0)
		good = false;
	if (good && rename(neighbour, path) != 0)
		good = false;
	if (!good) {
		slope_say("cannot write %s: %s", path, *error ? error : strerror(errno));
		if (fd >= 0)
			unlink(neighbour);
	}
	free(neighbour);
	return good ? 0 : SLOPE_EXIT_WRONG;
}

static int draw_or_refuse(const struct slope_show *s, const char *path)
{
	enum slope_picture kind;

	if (!slope_picture_by_name(path, &kind))
		return SLOPE_EXIT_WRONG;
	if (!s->curve.count) {
		slope_say("nothing to draw: %s has no points by this input size", s->f->name);
		return SLOPE_EXIT_WRONG;
	}
	return draw(s, kind, path);
}

/* ---- the verb ---- */

static time_t written_at(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mtime : 0;
}

static int show(const struct slope_profile *profile, const char *path, const char *typed, const struct settings *s)
{
	struct slope_order order[SLOPE_SHOW_GUESSES];
	struct slope_show_options o = {
		.metric = slope_report_defaults(profile).metric, .recorded = written_at(path),
		.axes = s->linear ? SLOPE_AXES_LINEAR : s->log ? SLOPE_AXES_LOG : SLOPE_AXES_AUTO,
		.color = slope_color_wanted(s->color, stdout), .ascii = s->ascii || slope_view_ascii(),
		.width = slope_view_width(), .guess = s->guess.count ? order : NULL, .guesses = s->guess.count,
	};
	struct slope_show all;

	if (!read_guesses(&s->guess, order) || !slope_view_unit(profile, s->unit, &o.unit) ||
	    !slope_view_metric(profile, s->input, &o.metric) ||
		!slope_view_function(profile, typed, o.unit, &o.function))
		return SLOPE_EXIT_WRONG;
	if (!slope_show_init(&all, profile, &o)) {
		slope_say("out of memory");
		return SLOPE_EXIT_WRONG;
	}
	int result = s->output ? draw_or_refuse(&all, s->output) : print(&all, s->json);

	slope_show_fini(&all);
	return result;
}

/* What is wrong can be seen before the profile is read. */
static bool sensible(const struct settings *s, int argc)
{
	enum slope_picture kind;

	if (argc < 2)
		slope_say("which function? 'slope show FUNCTION [FILE]'; 'slope report' lists the functions");
	else if (argc > 3)
		slope_say("one function of one profile at a time, and here are %d words", argc - 1);
	else if (s->linear && s->log)
		slope_say("--linear and --log exclude each other");
	else if (s->output && s->json)
		slope_say("-o draws a picture and --json prints to standard output: give one of them");
	else if (s->output && !slope_picture_by_name(s->output, &kind))
		slope_say("-o %s: a picture ends in .svg or .png, a gnuplot script in .gp", s->output);
	else
		return true;
	return false;
}

int slope_verb_show(int argc, char **argv)
{
	struct settings s = { .input = SLOPE_VIEW_INPUT_NOT_GIVEN };
	enum slope_parsed parsed = parse(&s, &argc, argv);
	int result = SLOPE_EXIT_WRONG;

	if (parsed == SLOPE_PARSED && sensible(&s, argc)) {
		const char *path = slope_datafile_operand(argc - 1, argv + 1);
		struct slope_profile *profile = path ? slope_datafile_open_costs(path) : NULL;

		if (profile && (s.json || s.output))
			slope_datafile_say_problems(profile, path);      /* the page shows them itself */
		if (profile)
			result = show(profile, path, argv[1], &s);
		slope_profile_free(profile);
	}
	slope_list_fini(&s.guess);
	return parsed == SLOPE_PARSED_HELP ? 0 : result;
}
