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
#include "report/report.h"

typedef bool print_fn(const struct slope_profile *profile, FILE *out);

/* In the order of FORMATS. */
static print_fn *const print_as[] = { slope_export_csv, slope_export_json, slope_export_callgrind };
#define FORMATS "csv|json|callgrind"
#define FORMAT_NOT_GIVEN UINT_MAX

struct settings {
	unsigned format;
	const char *output;
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "format", 'f', SLOPE_OPTION_CHOICE, &s->format, FORMATS,
		  "csv: every point; json: the whole profile; callgrind: for KCachegrind", 0, 0 },
		{ "output", 'o', SLOPE_OPTION_TEXT, &s->output, "FILE", "write to a file, not to standard output", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope export", .operands = "--format=FORMAT [options] [FILE]", .option = option,
		.summary = "Prints a profile (slope.data) in another format.",
	};

	return slope_options_parse(&usage, argc, argv);
}

static int to_stdout(const struct slope_profile *profile, print_fn *print)
{
	bool good = print(profile, stdout);

	if (!good)
		slope_say("out of memory");
	return slope_flush_output() && good ? 0 : SLOPE_EXIT_WRONG;
}

/* Into a neighbour first: a failure leaves the file as it was. A device or a pipe is written directly. */
static int to_file(const struct slope_profile *profile, print_fn *print, const char *path)
{
	struct stat st;
	bool direct = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
	char *target = direct ? slope_text("%s", path) : slope_text("%s.tmp.%ld", path, (long)getpid());
	FILE *out = fopen(target, "w");
	bool good = out && print(profile, out);

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

static int export_file(const char *path, const struct settings *s)
{
	struct slope_profile *profile = path ? slope_datafile_open(path) : NULL;
	print_fn *print = print_as[s->format];
	int result;

	if (!profile)
		return SLOPE_EXIT_WRONG;
	slope_datafile_say_problems(profile, path);
	result = s->output ? to_file(profile, print, s->output) : to_stdout(profile, print);
	slope_profile_free(profile);
	return result;
}

int slope_verb_export(int argc, char **argv)
{
	struct settings s = { .format = FORMAT_NOT_GIVEN };
	enum slope_parsed parsed = parse(&s, &argc, argv);

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	if (s.format == FORMAT_NOT_GIVEN) {
		slope_say("in which format? Give --format=%s", FORMATS);
		return SLOPE_EXIT_WRONG;
	}
	return export_file(slope_datafile_operand(argc, argv), &s);
}
