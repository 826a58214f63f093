/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedup --folder=DIR [--build=DIR] [--most=N] [--rounds=N] [--batches=N] [--runs=N] [--cores]
 *
 * Runs DIR/parallel with 1, 2, 4, ... up to --most threads (the number of
 * processors, 2 to 16): natively, under the translator alone, and recording
 * trms. Printed are wall seconds (the least of the rounds, the tools
 * interleaved), speed-up over one thread, and the speed-up as a part of the
 * native one's.
 *
 * --runs=N then records both programs N times with the most threads: every
 * run must print what the native one prints and, where BUILD/slope runs, show
 * that each stage took over as many items as there are.
 *
 * --cores runs all of it on one processor of each core, and --most is the
 * number of cores then. Which processors share one is measured (cores.h).
 *
 * Exit status 1 when an output, a status or a count was wrong. A program that
 * the translator refuses is said to be refused, and nothing else.
 */
#include "cores.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REFUSED 70           /* the translator's status for what it cannot do */
#define TOOLS 3
#define OUTPUT_BYTES 256
#define PATH_BYTES 1024
#define ARGUMENTS_MAX 16
#define ITEMS 1000           /* as in parallel.c */

static const char *const tool_name[TOOLS] = { "native", "null", "trms" };
static const char *const mode_name[] = { "data", "pipeline" };

struct bench {
	const char *build, *folder;
	long most, rounds, batches, runs;
	char program[PATH_BYTES], translator[PATH_BYTES], slope[PATH_BYTES], profile[PATH_BYTES];
	char expected[2][OUTPUT_BYTES];
	bool wrong, refused, cores;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Runs a command; its output goes to `visit`. The exit status, 128 + signal, or 125. */
static int run(char *const *argv, void (*visit)(void *arg, FILE *in), void *arg)
{
	int ends[2], status = 0;
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		return 125;
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execv(argv[0], argv);
		_exit(127);
	}
	close(ends[1]);
	FILE *in = fdopen(ends[0], "r");

	visit(arg, in);
	fclose(in);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void keep_output(void *arg, FILE *in)
{
	char *to = arg;

	to[fread(to, 1, OUTPUT_BYTES - 1, in)] = '\0';
}

/* Wall seconds of one run; negative: refused (-REFUSED) or wrong, which is said. */
static double run_tool(struct bench *b, int tool, int mode, long threads)
{
	char out[PATH_BYTES + 16], count[24], batches[24], output[OUTPUT_BYTES];
	char *argv[ARGUMENTS_MAX];
	int n = 0, status;

	if (tool && b->refused)
		return -REFUSED;
	snprintf(out, sizeof out, "--slope-out=%s", b->profile);
	snprintf(count, sizeof count, "%ld", threads);
	snprintf(batches, sizeof batches, "%ld", b->batches);
	if (tool)
		argv[n++] = b->translator;
	if (tool == 2)
		argv[n++] = out;
	if (tool)
		argv[n++] = "--";
	argv[n++] = b->program;
	argv[n++] = (char *)mode_name[mode];
	argv[n++] = count;
	argv[n++] = batches;
	argv[n] = NULL;
	double start = now_s();

	status = run(argv, keep_output, output);
	double taken = now_s() - start;

	if (tool && status == REFUSED) {
		b->refused = true;
		return -REFUSED;
	}
	if (!b->expected[mode][0])
		memcpy(b->expected[mode], output, OUTPUT_BYTES);
	if (status == 0 && !strcmp(output, b->expected[mode]))
		return taken;
	printf("WRONG: %s with %ld threads, %s: status %d, output '%.*s'\n", mode_name[mode], threads, tool_name[tool], status,
	       (int)strcspn(output, "\n"), output);
	b->wrong = true;
	return -1;
}

/* ---- the table ---- */

static void print_row(long threads, const double *one, const double *best)
{
	printf("%7ld", threads);
	for (int tool = 0; tool < TOOLS; tool++) {
		if (best[tool] < 0) {
			printf("  %10s %8s %6s", best[tool] == -REFUSED ? "refused" : "wrong", "-", "");
			continue;
		}
		double speedup = one[tool] > 0 ? one[tool] / best[tool] : 0, native = one[0] / best[0];

		printf("  %8.3f s %7.2fx", best[tool], speedup);
		if (tool)
			printf(" %6.2f", speedup / native);
		else
			printf(" %6s", "");
	}
	printf("\n");
}

static void measure(struct bench *b, int mode, long threads, double *best)
{
	for (int tool = 0; tool < TOOLS; tool++)
		best[tool] = 1e9;
	for (long round = 0; round < b->rounds; round++) {
		for (int tool = 0; tool < TOOLS; tool++) {
			double taken = best[tool] < 0 ? best[tool] : run_tool(b, tool, mode, threads);

			if (taken < best[tool])
				best[tool] = taken;
		}
	}
}

static void print_table(struct bench *b, int mode)
{
	double one[TOOLS], best[TOOLS];

	printf("%s: %ld batches of %d items; wall time, speed-up, and speed-up as a part of native's\n", mode_name[mode],
	       b->batches, ITEMS);
	printf("%7s", "threads");
	for (int tool = 0; tool < TOOLS; tool++)
		printf("  %-26s", tool_name[tool]);
	printf("\n");
	for (long threads = 1; threads <= b->most; threads = threads < b->most && threads * 2 > b->most ? b->most : threads * 2) {
		measure(b, mode, threads, best);
		if (threads == 1)
			memcpy(one, best, sizeof one);
		print_row(threads, one, best);
		fflush(stdout);
	}
	printf("\n");
}

/* ---- many runs ---- */

struct taken {
	long stages, calls, wrong;
};

/* Lines of `slope export --format=csv`: function,module,file,thread,context,metric,unit,n,calls,...,rms,thread,external. */
static void count_stages(void *arg, FILE *in)
{
	struct taken *t = arg;
	char line[1024];

	while (fgets(line, sizeof line, in)) {
		char *field[16], *at = line;
		int n = 0;

		line[strcspn(line, "\n")] = '\0';
		while (n < 16 && at)
			field[n++] = strsep(&at, ",");
		if (n < 16 || strcmp(field[0], "take_batch") != 0)
			continue;
		long size = atol(field[7]), calls = atol(field[8]);

		t->stages++;
		t->calls += calls;
		t->wrong += size != ITEMS || atol(field[14]) != calls * ITEMS;
	}
}

static void check_counts(struct bench *b, long threads)
{
	char *argv[] = { b->slope, "export", "--format=csv", b->profile, NULL };
	struct taken taken = { 0 };
	int status = run(argv, count_stages, &taken);

	if (status == 0 && taken.stages == threads - 1 && taken.calls == (threads - 1) * b->batches && !taken.wrong)
		return;
	printf("WRONG: pipeline of %ld: status %d, %ld stages took %ld batches over, %ld of them another size than %d\n", threads,
	       status, taken.stages, taken.calls, taken.wrong, ITEMS);
	b->wrong = true;
}

static void many_runs(struct bench *b)
{
	char *version[] = { b->slope, "--version", NULL };
	char output[OUTPUT_BYTES];
	bool can_count = run(version, keep_output, output) == 0;

	for (int mode = 0; mode < 2 && !b->refused; mode++) {
		long good = 0;

		for (long i = 0; i < b->runs; i++) {
			good += run_tool(b, 2, mode, b->most) >= 0;
			if (mode && can_count)
				check_counts(b, b->most);
		}
		printf("%s with %ld threads: %ld of %ld runs printed the right result%s\n", mode_name[mode], b->most, good, b->runs,
		       mode ? can_count ? ", what the stages took over was counted" : "; no slope here to count with" : "");
	}
}

static bool take_option(struct bench *b, const char *option)
{
	const struct { const char *name; long *to; } number[] = {
		{ "--most=", &b->most }, { "--rounds=", &b->rounds }, { "--batches=", &b->batches }, { "--runs=", &b->runs },
	};

	for (size_t i = 0; i < sizeof number / sizeof *number; i++)
		if (!strncmp(option, number[i].name, strlen(number[i].name)))
			return (*number[i].to = atol(option + strlen(number[i].name))) > 0;
	if (!strncmp(option, "--build=", 8))
		b->build = option + 8;
	else if (!strncmp(option, "--folder=", 9))
		b->folder = option + 9;
	else if (!strcmp(option, "--cores"))
		b->cores = true;
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct bench b = { .build = "build", .folder = ".", .rounds = 3, .batches = 24000 };

	for (int i = 1; i < argc; i++) {
		if (!take_option(&b, argv[i])) {
			fprintf(stderr, "usage: bench/threads [--build=DIR] [--most=N] [--rounds=N] [--batches=N] [--runs=N] [--cores]\n");
			return 2;
		}
	}
	snprintf(b.program, sizeof b.program, "%s/parallel", b.folder);
	snprintf(b.profile, sizeof b.profile, "%s/slope.data", b.folder);
	snprintf(b.slope, sizeof b.slope, "%s/slope", b.build);
	snprintf(b.translator, sizeof b.translator, "%s/sources/translator/slope-translator", b.build);
	if (access(b.translator, X_OK) != 0) {
		fprintf(stderr, "bench/threads: no %s; build it first, or name the build folder: --build=DIR\n", b.translator);
		return 2;
	}
	if (b.cores) {
		long cores = cores_keep_one_each();

		if (cores < 1) {
			fprintf(stderr, "bench/threads: cannot choose processors: %s\n", strerror(errno));
			return 2;
		}
		printf("%ld processors, %ld cores; one processor of each\n\n", processors, cores);
		processors = cores;
	}
	if (!b.most)
		b.most = processors < 2 ? 2 : processors > 16 ? 16 : processors;
	for (int mode = 0; mode < 2; mode++)
		print_table(&b, mode);
	if (b.runs)
		many_runs(&b);
	return b.wrong;
}
