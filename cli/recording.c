/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/recording.h"

#include <sys/resource.h>

#include "cli/mangled.h"
#include "cli/messages.h"
#include "cli/sampled.h"

#define STACK_DEFAULT_BYTES (8u << 20)
#define STACK_MAX_BYTES (UINT64_C(4) << 30)

static const char *const input_name[] = { "trms", "rms", "both" };
static const char *const access_name[] = { "inline", "call", "ir", "narrow" };

/* A main stack larger than Valgrind's own idea of it, where the user allows one. */
static void add_stack_size(struct slope_list *options)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur <= STACK_DEFAULT_BYTES)
		return;
	uint64_t bytes = limit.rlim_cur < STACK_MAX_BYTES ? limit.rlim_cur : STACK_MAX_BYTES;

	slope_list_add(options, "--main-stacksize=%llu", (unsigned long long)bytes);
}

static void add_globs(struct slope_list *options, const char *name, const struct slope_list *globs)
{
	for (size_t i = 0; i < globs->count; i++)
		slope_list_add(options, "--%s=%s", name, globs->text[i]);
}

/* Valgrind's own. */
static void valgrind_options(struct slope_list *options, const struct slope_settings *s)
{
	slope_list_add(options, "-q");
	slope_list_add(options, "--tool=slope");
	slope_list_add(options, "--fair-sched=%s", s->fair_sched ? "no" : "yes");
	slope_list_add(options, "--trace-children=yes");
	slope_list_add(options, "--vgdb=no");
	slope_list_add(options, "--max-threads=%llu", (unsigned long long)s->max_threads);
	if (s->verify)
		slope_list_add(options, "--vex-iropt-level=0");  /* else loads whose result nobody uses are left out */
	add_stack_size(options);
}

static void source_options(struct slope_list *options, const struct slope_settings *s, bool translated, const char *path)
{
	if (!translated)
		valgrind_options(options, s);
	slope_list_add(options, "--slope-out=%s", path);
	slope_list_add(options, "--cell=%llu", (unsigned long long)s->cell);
	slope_list_add(options, "--input=%s", input_name[s->input]);
	slope_list_add(options, "--cost=%s", s->cost);
	slope_list_add(options, "--max-points=%llu", (unsigned long long)s->max_points);
	if (s->stamp_limit)
		slope_list_add(options, "--stamp-limit=%llu", (unsigned long long)s->stamp_limit);
	if (s->window_log2 && translated)
		slope_list_add(options, "--window-log2=%llu", (unsigned long long)s->window_log2);
	if (s->block_runs && translated)
		slope_list_add(options, "--block-runs=%llu", (unsigned long long)s->block_runs);
	if (s->contexts)
		slope_list_add(options, "--contexts=%llu", (unsigned long long)s->context_k);
	if (s->context_sites)
		slope_list_add(options, "--context-sites=yes");
	if (s->context_recursion)
		slope_list_add(options, "--context-collapse=yes");
	if (s->burst)
		slope_list_add(options, "--burst=%llu/%llu", (unsigned long long)s->burst_period_ns,
			       (unsigned long long)s->burst_length_ns);
	if (s->context) {
		slope_list_add(options, "--context=%llu", (unsigned long long)s->context);
		slope_list_add(options, "--max-contexts=%llu", (unsigned long long)s->max_contexts);
	}
	if (s->access)
		slope_list_add(options, "--access=%s", access_name[s->access]);
}

/* Paths, and counters along them: the translator's alone. */
static void path_options(struct slope_list *options, const struct slope_settings *s)
{
	if (s->paths)
		slope_list_add(options, "--paths");
	if (s->paths && s->input_given)
		slope_list_add(options, "--path-input");
	if (s->paths && s->contexts)
		slope_list_add(options, "--path-contexts");
	if (s->event) {
		slope_list_add(options, "--events=%s", s->event);
		slope_list_add(options, "--path-sample=%llu", (unsigned long long)s->path_sample);
	}
}

/* The patterns, for the translator with the symbols that they mean. */
static void add_patterns(struct slope_list *options, const struct slope_settings *s, bool translated, const char *file)
{
	static const char *const name[] = { "toggle", "only", "skip" };
	const struct slope_list *given[] = { &s->toggle, &s->only, &s->skip };
	struct slope_list list[3] = { { 0 }, { 0 }, { 0 } };

	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < given[i]->count; k++)
			slope_list_add(&list[i], "%s", given[i]->text[k]);
	if (translated)
		slope_mangled_add((struct slope_list *[]){ &list[0], &list[1], &list[2] }, 3, file);
	for (size_t i = 0; i < 3; i++) {
		add_globs(options, name[i], &list[i]);
		slope_list_fini(&list[i]);
	}
}

bool slope_recording_run(struct slope_recording *r, const struct slope_settings *s, struct slope_launcher *launcher,
			 const char *output, char **program, char *file)
{
	struct slope_list options = { 0 };
	bool ran = false;

	if (!slope_runfiles_prepare(&r->files, output))
		return false;
	if (launcher->sampled) {
		if (!slope_sampled_channel(r, s, launcher, program)) {
			slope_runfiles_cancel(&r->files);
			return false;
		}
		slope_sampled_environment(&options, s, r->files.path, r->live.path);
	} else {
		source_options(&options, s, launcher->translated, r->files.path);
		path_options(&options, s);
		add_patterns(&options, s, launcher->translated, file);
	}
	if (program[0][0] == '-')
		program[0] = file;   /* or Valgrind would take it for an option */
	ran = (launcher->sampled || slope_toollog_open(&r->log, &options)) &&
	      slope_launcher_run(launcher, &options, program, &r->pid, &r->status);
	if (!ran)
		slope_runfiles_cancel(&r->files);
	slope_list_fini(&options);
	return ran;
}

void slope_recording_fini(struct slope_recording *r)
{
	slope_sampled_channel_close(r);
	slope_toollog_close(&r->log);
	slope_runfiles_fini(&r->files);
}
