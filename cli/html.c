/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope html: the report as one page, with the profile in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/datafile.h"
#include "cli/judging.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "report/page_write.h"

#define DEFAULT_OUTPUT "report.html"

struct settings {
	const char *output, *baseline, *unit;
	uint64_t times;
	unsigned of, input;
	bool no_inline;
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "output", 'o', SLOPE_OPTION_TEXT, &s->output, "FILE", "where to write the page (" DEFAULT_OUTPUT "; - is stdout)", 0, 0 },
		{ "baseline", 'b', SLOPE_OPTION_TEXT, &s->baseline, "FILE", "compare with this profile, and show what changed", 0,
		  0 },
		{ "times", 'k', SLOPE_OPTION_NUMBER, &s->times, "K", "first show inputs K times as large (10)", 2, 1000000 },
		{ "of", 0, SLOPE_OPTION_CHOICE, &s->of, SLOPE_OF_CHOICES, "which cost of a size makes the curve (mean)", 0, 0 },
		{ "unit", 'u', SLOPE_OPTION_TEXT, &s->unit, "NAME", "the cost unit (the first that was recorded)", 0, 0 },
		{ "input", 'i', SLOPE_OPTION_CHOICE, &s->input, SLOPE_VIEW_INPUTS,
		  "by which input size points count (trms where it was recorded)", 0, 0 },
		{ "no-inline", 0, SLOPE_OPTION_FLAG, &s->no_inline, NULL,
		  "let inlined functions of a sampled profile count as part of those that they are in", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope html", .operands = "[options] [FILE]", .option = option,
		.summary = "Writes the report of a profile (slope.data) as one HTML file: it needs no network and\n"
			   "holds the profile, so that every verb of slope can read it.",
	};

	return slope_options_parse(&usage, argc, argv);
}

static time_t written_at(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mtime : 0;
}

/* To standard output. */
static int print_page(const struct slope_page *page)
{
	errno = 0;
	if (slope_page_write(page, stdout))
		return slope_flush_output() ? 0 : SLOPE_EXIT_WRONG;
	slope_progress("");
	slope_say("cannot write to standard output: %s", strerror(errno ? errno : ENOMEM));
	return SLOPE_EXIT_WRONG;
}

/* Into a neighbour first: a failure leaves the file as it was. A device or a pipe is written directly. */
static int write_page(const struct slope_page *page, const char *path)
{
	struct stat st;
	bool direct = stat(path, &st) == 0 && !S_ISREG(st.st_mode);

	if (!strcmp(path, "-"))
		return print_page(page);
	char *target = direct ? slope_text("%s", path) : slope_text("%s.tmp.%ld", path, (long)getpid());
	FILE *out = fopen(target, "w");
	bool good = out && slope_page_write(page, out);

	if (out && ferror(out))
		good = false;
	if (out && fclose(out) != 0)
		good = false;
	if (good && !direct && rename(target, path) != 0)
		good = false;
	if (!good) {
		slope_progress("");
		slope_say("cannot write %s: %s", path, strerror(errno ? errno : ENOMEM));
		if (out && !direct)
			unlink(target);
	} else if (!direct) {
		slope_say("%s is the page; any browser opens it, and 'slope report %s' reads it", path, path);
	}
	free(target);
	return good ? 0 : SLOPE_EXIT_WRONG;
}

/* The page with what changed since `old`. */
static int write_compared(struct slope_page *page, struct slope_diff_view *v, const struct settings *s)
{
	const struct slope_judging judging = { .unit = s->unit, .of = s->of, .input = s->input };
	struct slope_compare_options o;
	struct slope_comparison c;

	slope_datafile_say_problems(v->old, v->old_path);
	if (!slope_judging_has_points(v->old, v->old_path, SLOPE_METRICS) || !slope_judging_options(&judging, &o, v->old, v->now))
		return SLOPE_EXIT_WRONG;
	if (!slope_comparison_init(&c, v->old, v->now, &o)) {
		slope_say("out of memory");
		return SLOPE_EXIT_WRONG;
	}
	v->options = &o;
	v->comparison = &c;
	page->diff = v;
	int result = write_page(page, s->output);

	slope_comparison_fini(&c);
	return result;
}

static int make_page(const struct slope_profile *profile, const char *path, const struct settings *s)
{
	struct slope_page page = { .p = profile, .o = slope_report_defaults(profile), .recorded = written_at(path), .file = path,
				   .progress = slope_progress };
	struct slope_diff_view v = { .now = profile, .now_path = path, .old_path = s->baseline };

	page.o.times = (double)s->times;
	page.o.of = (enum slope_statistic)s->of;
	if (!slope_view_unit(profile, s->unit, &page.o.unit) || !slope_view_metric(profile, s->input, &page.o.metric))
		return SLOPE_EXIT_WRONG;
	if (!s->baseline)
		return write_page(&page, s->output);
	struct slope_profile *old = slope_datafile_open(s->baseline);

	v.old = old;
	int result = old ? write_compared(&page, &v, s) : SLOPE_EXIT_WRONG;

	slope_profile_free(old);
	return result;
}

int slope_verb_html(int argc, char **argv)
{
	struct settings s = { .output = DEFAULT_OUTPUT, .times = 10, .input = SLOPE_VIEW_INPUT_NOT_GIVEN };
	enum slope_parsed parsed = parse(&s, &argc, argv);

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	if (slope_page_missing()) {
		slope_say("this slope was built without the report page: %s. Install nodejs and npm and build again, in a "
			  "fresh folder; 'slope report' and 'slope show' have the same numbers", slope_page_missing());
		return SLOPE_EXIT_WRONG;
	}
	const char *path = slope_datafile_operand(argc, argv);
	struct slope_profile *profile = NULL;

	if (path && !slope_datafile_overwrites(s.output, path) && !slope_datafile_overwrites(s.output, s.baseline))
		profile = slope_datafile_open(path);
	if (s.no_inline)
		profile = slope_datafile_fold(profile);
	if (!profile)
		return SLOPE_EXIT_WRONG;
	slope_datafile_say_problems(profile, path);
	int result = make_page(profile, path, &s);

	slope_profile_free(profile);
	return result;
}
