/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope export: a profile in the formats of other tools. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/datafile.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "report/functions.h"

/* Options that only some formats have a use for. */
enum { TAKES_UNIT = 1, TAKES_INPUT = 2, TAKES_FUNCTION = 4, TAKES_THREADS = 8, TAKES_CALLERS = 16 };

typedef bool print_fn(const struct slope_profile *profile, const struct slope_export_options *o, FILE *out);

struct format {
	bool (*whole)(const struct slope_profile *profile, FILE *out);
	print_fn *chosen;            /* instead, for a format that holds what its options choose */
	unsigned takes;
	uint32_t callers;            /* of contexts, where there are any and nobody asks for another number */
	bool binary;
};

static print_fn print_extrap;

/* In the order of FORMATS. */
static const struct format formats[] = {
	{ .whole = slope_export_csv },
	{ .whole = slope_export_json },
	{ .chosen = slope_export_callgrind, .takes = TAKES_CALLERS, .callers = 1 },
	{ .chosen = slope_export_pprof, .takes = TAKES_INPUT | TAKES_CALLERS, .callers = UINT32_MAX, .binary = true },
	{ .chosen = slope_export_folded, .takes = TAKES_UNIT | TAKES_THREADS | TAKES_CALLERS, .callers = UINT32_MAX },
	{ .chosen = slope_export_speedscope, .takes = TAKES_CALLERS, .callers = UINT32_MAX },
	{ .chosen = print_extrap, .takes = TAKES_INPUT | TAKES_FUNCTION },
};
#define FORMATS "csv|json|callgrind|pprof|folded|speedscope|extrap"
#define FORMAT_NOT_GIVEN UINT_MAX
#define K_NOT_GIVEN UINT64_MAX

struct settings {
	unsigned format, input;
	bool threads, no_inline;
	uint64_t k;
	const char *output, *unit, *function;
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "format", 'f', SLOPE_OPTION_CHOICE, &s->format, FORMATS,
		  "csv: every point; json: the whole profile; folded: for flame graphs; others: for that tool", 0, 0 },
		{ "output", 'o', SLOPE_OPTION_TEXT, &s->output, "FILE", "write to a file, not to standard output (-)", 0, 0 },
		{ "unit", 'u', SLOPE_OPTION_TEXT, &s->unit, "NAME", "folded: the cost unit (the first that was recorded)", 0, 0 },
		{ "threads", 0, SLOPE_OPTION_FLAG, &s->threads, NULL, "folded: each thread apart", 0, 0 },
		{ "k", 'k', SLOPE_OPTION_NUMBER, &s->k, "K",
		  "callgrind, pprof, folded, speedscope: callers at most, where contexts were recorded (all; callgrind: 1)", 0,
		  UINT32_MAX },
		{ "input", 'i', SLOPE_OPTION_CHOICE, &s->input, SLOPE_VIEW_INPUTS,
		  "pprof, extrap: by which input size points count (trms where it was recorded)", 0, 0 },
		{ "no-inline", 0, SLOPE_OPTION_FLAG, &s->no_inline, NULL,
		  "let inlined functions of a sampled profile count as part of those that they are in", 0, 0 },
		{ "function", 0, SLOPE_OPTION_TEXT, &s->function, "NAME", "extrap: only the function of this name", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope export", .operands = "--format=FORMAT [options] [FILE]", .option = option,
		.summary = "Prints a profile (slope.data) in another format.",
	};

	return slope_options_parse(&usage, argc, argv);
}

/* An option that the format has no use for is a misunderstanding. */
static bool options_fit(const struct settings *s)
{
	unsigned takes = formats[s->format].takes;
	const char *lost = NULL;

	if (s->unit && !(takes & TAKES_UNIT))
		lost = "--unit is for --format=folded";
	else if (s->threads && !(takes & TAKES_THREADS))
		lost = "--threads is for --format=folded";
	else if (s->input != SLOPE_VIEW_INPUT_NOT_GIVEN && !(takes & TAKES_INPUT))
		lost = "--input is for --format=pprof and --format=extrap";
	else if (s->k != K_NOT_GIVEN && !(takes & TAKES_CALLERS))
		lost = "--k is for --format=callgrind, pprof, folded and speedscope";
	else if (s->function && !(takes & TAKES_FUNCTION))
		lost = "--function is for --format=extrap";
	if (lost)
		slope_say("%s", lost);
	else if (formats[s->format].binary && !s->output && isatty(STDOUT_FILENO))
		slope_say("this format is binary and nothing for a terminal; give -o FILE");
	else
		return true;
	return false;
}

/* Says what Extra-P would say less clearly. */
static bool print_extrap(const struct slope_profile *profile, const struct slope_export_options *o, FILE *out)
{
	struct slope_extrap_notes notes;

	if (!slope_export_extrap(profile, o, out, &notes))
		return false;
	if (!notes.functions)
		slope_say("the %s has no points, so there is nothing for Extra-P", o->function ? "function" : "profile");
	else if (notes.sizes_differ)
		slope_say("Extra-P wants the same sizes for all functions of a file, and these differ: "
			  "choose one with --function=NAME");
	return true;
}

static bool print(const struct slope_profile *profile, const struct format *format,
		  const struct slope_export_options *o, FILE *out)
{
	return format->whole ? format->whole(profile, out) : format->chosen(profile, o, out);
}

static int to_stdout(const struct slope_profile *profile, const struct format *format,
		     const struct slope_export_options *o)
{
	bool good = print(profile, format, o, stdout);

	if (!good)
		slope_say("out of memory");
	return slope_flush_output() && good ? 0 : SLOPE_EXIT_WRONG;
}

/* Into a neighbour first: a failure leaves the file as it was. A device or a pipe is written directly. */
static int to_file(const struct slope_profile *profile, const struct format *format,
		   const struct slope_export_options *o, const char *path)
{
	struct stat st;
	bool direct = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
	char *target = direct ? slope_text("%s", path) : slope_text("%s.tmp.%ld", path, (long)getpid());
	FILE *out = fopen(target, "w");
	bool good = out && print(profile, format, o, out);

	if (out && ferror(out))
		good = false;
	if (out && fclose(out) != 0)
		good = false;
	if (good && !direct && rename(target, path) != 0)
		good = false;
	if (!good) {
		slope_say("cannot write %s: %s", path, strerror(errno ? errno : ENOMEM));
		if (out && !direct)
			unlink(target);
	}
	free(target);
	return good ? 0 : SLOPE_EXIT_WRONG;
}

static bool has_function(const struct slope_profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->function_count; i++)
		if (slope_report_is_named(&profile->function[i], name))
			return true;
	slope_say("--function=%s: the profile has no function of this name; 'slope report --filter' finds names", name);
	return false;
}

/* How many callers: what was asked for must be known, and functions as callgrind has them need the whole tree. */
static bool choose_callers(const struct slope_profile *p, const struct settings *s, uint32_t *k)
{
	if (s->k == K_NOT_GIVEN) {
		*k = *k ? formats[s->format].callers : 0;
		return true;
	}
	*k = (uint32_t)s->k;
	if (s->k && !p->context_count)
		slope_say("--k=%llu: the profile has no calling contexts; 'slope record --contexts' records them",
			  (unsigned long long)s->k);
	else if (s->k && p->context_k && formats[s->format].callers == 1)
		slope_say("--k=%llu: callgrind's format takes a calling context tree, and the profile has slabs",
			  (unsigned long long)s->k);
	else if (p->context_k && s->k > p->context_k)
		slope_say("--k=%llu: the profile knows at most %u callers", (unsigned long long)s->k, p->context_k);
	else
		return true;
	return false;
}

static int export_profile(const struct slope_profile *profile, const struct settings *s)
{
	struct slope_export_options o = slope_export_defaults(profile);
	const struct format *format = &formats[s->format];

	o.threads = s->threads;
	o.function = s->function;
	if (!slope_view_unit(profile, s->unit, &o.unit) || !slope_view_metric(profile, s->input, &o.metric) ||
	    !choose_callers(profile, s, &o.k))
		return SLOPE_EXIT_WRONG;
	if (s->function && !has_function(profile, s->function))
		return SLOPE_EXIT_WRONG;
	return s->output ? to_file(profile, format, &o, s->output) : to_stdout(profile, format, &o);
}

static int export_file(const char *path, const struct settings *s)
{
	struct slope_profile *profile = NULL;
	int result;

	if (path && !slope_datafile_overwrites(s->output, path))
		profile = formats[s->format].whole == slope_export_json ? slope_datafile_open(path) : slope_datafile_open_costs(path);
	if (s->no_inline)
		profile = slope_datafile_fold(profile);
	if (!profile)
		return SLOPE_EXIT_WRONG;
	slope_datafile_say_problems(profile, path);
	result = export_profile(profile, s);
	slope_profile_free(profile);
	return result;
}

int slope_verb_export(int argc, char **argv)
{
	struct settings s = { .format = FORMAT_NOT_GIVEN, .k = K_NOT_GIVEN, .input = SLOPE_VIEW_INPUT_NOT_GIVEN };
	enum slope_parsed parsed = parse(&s, &argc, argv);

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	if (s.format == FORMAT_NOT_GIVEN) {
		slope_say("in which format? Give --format=%s", FORMATS);
		return SLOPE_EXIT_WRONG;
	}
	if (s.output && !strcmp(s.output, "-"))
		s.output = NULL;
	if (!options_fit(&s))
		return SLOPE_EXIT_WRONG;
	return export_file(slope_datafile_operand(argc, argv), &s);
}
