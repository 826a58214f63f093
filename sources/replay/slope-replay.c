/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slope-replay: plays a text of events (sources/replay/script.h) and writes
 * the profile, or prints the tables as text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "sources/replay/dump.h"
#include "sources/replay/script.h"

#define TEXT_FIRST_BYTES 65536u

static int usage(FILE *out, int status)
{
	fputs("usage: slope-replay FILE -o PROFILE    write a profile\n"
	      "       slope-replay --dump FILE        print the tables as text\n"
	      "FILE is a text of events, or - for standard input.\n", out);
	return status;
}

static int complain(const char *what, const char *why)
{
	fprintf(stderr, "slope-replay: %s: %s\n", what, why);
	return 1;
}

/* All of a file, terminated; NULL with errno set. */
static char *read_text(const char *path)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "r") : stdin;
	size_t capacity = TEXT_FIRST_BYTES, used = 0;
	char *text = in ? malloc(capacity) : NULL;

	while (text) {
		used += fread(text + used, 1, capacity - used - 1, in);
		if (used < capacity - 1)
			break;
		char *more = realloc(text, capacity *= 2);

		if (!more)
			free(text);
		text = more;
	}
	bool cut = text && !ferror(in) && memchr(text, '\0', used);

	if (cut || (text && ferror(in))) {
		free(text);
		text = NULL;
		errno = cut ? EILSEQ : errno;    /* a zero byte would end the text before its end */
	}
	if (text)
		text[used] = '\0';
	if (in && in != stdin)
		fclose(in);
	return text;
}

static bool write_bytes(void *ctx, const void *bytes, size_t count)
{
	return fwrite(bytes, 1, count, ctx) == count;
}

static int write_profile(const struct slope_session *s, const struct slope_script_options *options, const char *name,
			 const char *path)
{
	const char *const argv[] = { name };
	struct slope_run_info run = {
		.source = "replay", .created_by = SLOPE_VERSION, .argc = 1, .argv = argv, .ended = "exit",
	};
	struct slope_encoder *e = calloc(1, sizeof *e);
	FILE *out = e ? fopen(path, "wb") : NULL;

	if (!out) {
		free(e);
		return complain(path, strerror(errno));
	}
	for (uint32_t u = 0; u < options->config.units; u++)
		run.unit_name[u] = options->unit_name[u];
	e->writer = (struct slope_writer){ write_bytes, out };
	bool written = slope_encode_session(e, s, &run);

	written = !fclose(out) && written;
	free(e);
	return written ? 0 : complain(path, strerror(errno));
}

/* Plays the text; the profile goes to `output`, or as text to standard output. */
static int replay(const char *name, const char *text, const char *output)
{
	struct slope_script_options options;
	struct slope_session session;
	char error[512];
	int status = 1;

	if (!slope_script_options(name, text, &options, error, sizeof error)) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	if (!slope_session_init(&session, &options.config, &slope_replay_host))
		return complain(name, "out of memory");
	session.path_metrics = options.path_metrics;
	session.path_period = options.path_period;
	for (uint32_t m = 0; m < options.path_metrics; m++)
		session.path_metric_name[m] = options.path_metric_name[m];
	if (options.config.parallel)
		slope_session_parallel(&session);
	struct slope_replay *r = slope_replay_new(&session, options.window_bytes);

	if (!r) {
		complain(name, "out of memory");
		goto fini_session;
	}
	if (!slope_script_play(name, text, r, 1u << options.config.cell_log2, error, sizeof error)) {
		fprintf(stderr, "%s\n", error);
		goto free_replay;
	}
	slope_replay_finish(r);
	if (output)
		status = write_profile(&session, &options, name, output);
	else
		status = slope_dump(stdout, &session) ? 0 : complain(name, "out of memory");
free_replay:
	slope_replay_free(r);
fini_session:
	slope_session_fini(&session);
	return status;
}

int main(int argc, char **argv)
{
	const char *file = NULL, *output = NULL;
	bool dump = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help"))
			return usage(stdout, 0);
		if (!strcmp(argv[i], "--dump"))
			dump = true;
		else if (!strcmp(argv[i], "-o") && i + 1 < argc)
			output = argv[++i];
		else if (argv[i][0] == '-' && argv[i][1])
			return complain(argv[i], "unknown option; see slope-replay --help"), 2;
		else if (!file)
			file = argv[i];
		else
			return usage(stderr, 2);
	}
	if (!file || dump == (output != NULL))
		return usage(stderr, 2);
	char *text = read_text(file);

	if (!text)
		return complain(file, strerror(errno));
	int status = replay(file, text, output);

	free(text);
	return status;
}
