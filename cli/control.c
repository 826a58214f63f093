/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slope ctl: programs that are being sampled, told to start or stop measuring,
 * asked how it stands, or for the profile so far. All processes of a recording
 * are meant, whichever of them is named.
 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/datafile.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/runfiles.h"
#include "cli/verbs.h"
#include "profile/live.h"
#include "report/json.h"

#define WAIT_MS 3000u
#define DUMP_WAIT_MS 30000u
#define DUMP_FILE "slope.dump"

enum order { ORDER_START, ORDER_STOP, ORDER_STATUS, ORDER_DUMP, ORDERS };

static const char *const order_name[] = { "start", "stop", "status", "dump" };

struct settings {
	const char *output;
	bool all, json, quiet;
	enum order order;
	pid_t pid;                   /* 0: none was named */
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "all", 'a', SLOPE_OPTION_FLAG, &s->all, NULL, "all programs of yours that are being sampled", 0, 0 },
		{ "output", 'o', SLOPE_OPTION_TEXT, &s->output, "FILE",
		  "dump: the profile to write (" DUMP_FILE "); %p in it is the process id", 0, 0 },
		{ "json", 'j', SLOPE_OPTION_FLAG, &s->json, NULL, "status: print JSON (schema slope-ctl/1)", 0, 0 },
		{ "quiet", 'q', SLOPE_OPTION_FLAG, &s->quiet, NULL, "say nothing when all went well", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope ctl", .operands = "start|stop|status|dump [options] [PID]", .option = option,
		.summary = "Starts, stops, looks at or saves what 'slope record --source=sampler' measures, while the program runs.",
	};

	return slope_options_parse(&usage, argc, argv);
}

/* What the words say; one line when they make no sense. */
static bool sensible(struct settings *s, int argc, char **argv)
{
	char *end = NULL;

	for (s->order = 0; argc > 1 && s->order < ORDERS && strcmp(argv[1], order_name[s->order]); s->order++)
		;
	if (argc < 2 || s->order == ORDERS) {
		slope_say(argc < 2 ? "what is to be done? Type 'slope ctl start', 'stop', 'status' or 'dump', and a process id%s" :
			  "ctl %s: there are start, stop, status and dump", argc < 2 ? "" : argv[1]);
		return false;
	}
	if (argc > 3 || (argc > 2 && s->all)) {
		slope_say("give one process id, or --all");
		return false;
	}
	if (argc > 2) {
		errno = 0;
		long pid = isdigit((unsigned char)*argv[2]) ? strtol(argv[2], &end, 10) : 0;

		if (pid <= 0 || *end || errno || pid != (pid_t)pid) {
			slope_say("'%s' is no process id", argv[2]);
			return false;
		}
		s->pid = (pid_t)pid;
	}
	if (s->output && s->order != ORDER_DUMP)
		slope_say("-o goes with dump");
	else if (s->json && s->order != ORDER_STATUS)
		slope_say("--json goes with status");
	else
		return true;
	return false;
}

/* ---- which recordings ---- */

struct chosen {
	struct slope_live *live;
	size_t count;
};

static void forget(struct chosen *c)
{
	for (size_t i = 0; i < c->count; i++)
		slope_live_close(&c->live[i]);
	free(c->live);
}

/* Keeps the one at `at` alone. */
static void keep_one(struct chosen *c, size_t at)
{
	struct slope_live kept = c->live[at];

	for (size_t i = 0; i < c->count; i++)
		if (i != at)
			slope_live_close(&c->live[i]);
	c->live[0] = kept;
	c->count = 1;
}

static void say_not_sampled(pid_t pid, int error)
{
	if (kill(pid, 0) != 0 && errno == ESRCH)
		slope_say("there is no process %ld", (long)pid);
	else if (error == EACCES || error == EPERM)
		slope_say("process %ld is not yours: only its user, or root, can control it", (long)pid);
	else
		slope_say("process %ld is not being sampled; only what 'slope record --source=sampler' has started can be controlled",
			  (long)pid);
}

/* The recording of the named process. */
static bool choose_by_pid(struct chosen *c, pid_t pid)
{
	for (size_t i = 0; i < c->count; i++) {
		if (slope_live_has(&c->live[i], pid)) {
			keep_one(c, i);
			return true;
		}
	}
	struct slope_live other;

	if (!slope_live_of_process(&other, pid)) {
		say_not_sampled(pid, errno);
		return false;
	}
	forget(c);
	c->live = calloc(1, sizeof *c->live);
	c->count = c->live != NULL;
	if (c->live)
		c->live[0] = other;
	return c->live;
}

/* `status` without a name shows all; else one has to be meant. */
static bool choose(struct chosen *c, const struct settings *s)
{
	c->live = slope_live_list(&c->count);
	if (!c->live) {
		slope_say("memory ran out");
		return false;
	}
	if (s->pid)
		return choose_by_pid(c, s->pid);
	if (s->order == ORDER_STATUS || (c->count && s->all) || c->count == 1)
		return true;
	if (!c->count)
		slope_say("no program of yours is being sampled; 'slope record --source=sampler PROGRAM' starts one");
	else
		slope_say("%zu programs are being sampled; name a process, or use --all ('slope ctl status' lists them)", c->count);
	return false;
}

/* ---- what is done ---- */

static const char *state_of(const struct slope_live *live)
{
	return live->channel->stopped ? "stopped" : "sampling";
}

/* Asks, and says what went wrong; what went right, unless it is nothing to talk about. */
static bool ask(struct slope_live *live, const struct settings *s, enum slope_channel_action action, bool stopped, const char *snapshot)
{
	struct slope_live_answer answer;
	long main_pid = (long)live->channel->main_pid;

	if (!slope_live_ask(live, action, stopped, snapshot, snapshot ? DUMP_WAIT_MS : WAIT_MS, &answer)) {
		slope_say("process %ld cannot be told: %s", main_pid, strerror(errno));
		return false;
	}
	if (answer.silent)
		slope_say("process %ld does not answer (it is stopped, or blocks all signals); it will follow when it goes on",
			  (long)answer.silent);
	if (answer.waiting && (snapshot || !s->quiet) && s->order != ORDER_STATUS)
		slope_say("%zu process%s in a call that is not interrupted, and follow%s when it ends", answer.waiting,
			  answer.waiting == 1 ? " waits" : "es wait", answer.waiting == 1 ? "s" : "");
	if (answer.failed)
		slope_say("%zu of %zu processes could not write their profile", answer.failed, answer.answered);
	if (!answer.asked && snapshot)
		slope_say("process %ld has ended meanwhile, or is not ready yet", main_pid);
	if (answer.silent || answer.failed || (answer.waiting && snapshot))
		return false;
	if (s->order <= ORDER_STOP && !s->quiet && !answer.waiting)
		slope_say("%s: %s, %zu process%s", live->channel->program, state_of(live), answer.answered,
			  answer.answered == 1 ? "" : "es");
	return answer.asked || !snapshot;
}

static void print_status(const struct slope_live *live)
{
	const struct slope_channel *c = live->channel;

	printf("%-8s %-8s %-8s %-8s %s\n", "pid", "state", "threads", "samples", "program");
	for (size_t i = 0; i < SLOPE_CHANNEL_SLOTS; i++) {
		const struct slope_channel_slot *p = &c->slot[i];

		if (!slope_live_process(p))
			continue;
		printf("%-8lu %-8s %-8lu %-8llu %.*s%s%s%s\n", (unsigned long)p->pid, p->stopped ? "stopped" : "sampling",
		       (unsigned long)p->threads, (unsigned long long)p->samples, (int)sizeof p->name, p->name,
		       p->pid == c->main_pid ? " (" : "", p->pid == c->main_pid ? c->program : "", p->pid == c->main_pid ? ")" : "");
	}
	printf("%-8s into %s\n", "", c->output);
}

static void json_status(struct slope_json *j, const struct slope_live *live)
{
	const struct slope_channel *c = live->channel;

	slope_json_object(j, NULL, false);
	slope_json_uint(j, "recorder", c->recorder);
	slope_json_uint(j, "process", c->main_pid);
	slope_json_string(j, "program", c->program);
	slope_json_string(j, "output", c->output);
	slope_json_string(j, "state", state_of(live));
	slope_json_array(j, "processes", false);
	for (size_t i = 0; i < SLOPE_CHANNEL_SLOTS; i++) {
		const struct slope_channel_slot *p = &c->slot[i];
		char name[sizeof p->name + 1] = "";

		if (!slope_live_process(p))
			continue;
		memcpy(name, p->name, sizeof p->name);
		slope_json_object(j, NULL, true);
		slope_json_uint(j, "process", p->pid);
		slope_json_string(j, "name", name);
		slope_json_string(j, "state", p->stopped ? "stopped" : "sampling");
		slope_json_uint(j, "threads", p->threads);
		slope_json_uint(j, "samples", p->samples);
		slope_json_end(j);
	}
	slope_json_end(j);
	slope_json_end(j);
}

static bool show_status(struct chosen *c, const struct settings *s)
{
	struct slope_json j;
	bool good = true;

	for (size_t i = 0; i < c->count; i++)
		good &= ask(&c->live[i], s, SLOPE_CHANNEL_SETTLE, c->live[i].channel->stopped, NULL);
	if (!s->json) {
		for (size_t i = 0; i < c->count; i++)
			print_status(&c->live[i]);
		if (!c->count)
			slope_say("no program of yours is being sampled");
		return good && slope_flush_output();
	}
	slope_json_init(&j, stdout);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-ctl/1");
	slope_json_array(&j, "recordings", false);
	for (size_t i = 0; i < c->count; i++)
		json_status(&j, &c->live[i]);
	slope_json_end(&j);
	slope_json_end(&j);
	return good && slope_flush_output();
}

/* Gives a profile its names, and says what is in it. */
static bool finish(const char *path, bool quiet)
{
	char error[512];
	struct slope_profile *profile = slope_datafile_open(path);

	if (!profile)
		return false;
	bool good = slope_profile_save(profile, path, error, sizeof error);

	if (!good)
		slope_say("the profile is whole, but names could not be added to it: %s", error);
	else if (!quiet)
		slope_say("%llu functions, %llu samples in %s", (unsigned long long)slope_datafile_functions(profile),
			  (unsigned long long)slope_datafile_samples(profile), path);
	slope_profile_free(profile);
	return good;
}

static bool dump(struct slope_live *live, const struct settings *s)
{
	struct slope_runfiles files;
	bool good = slope_runfiles_prepare(&files, s->output ? s->output : DUMP_FILE);

	if (good && strlen(files.path) + 32 >= sizeof live->channel->snapshot) {
		slope_say("%s: the name is too long", files.path);
		slope_runfiles_cancel(&files);
		good = false;
	} else if (good) {
		good = ask(live, s, SLOPE_CHANNEL_SNAPSHOT, live->channel->stopped, files.path);
		slope_runfiles_collect(&files, (pid_t)live->channel->main_pid);
	}
	for (size_t i = 0; i < files.found.count; i++)
		good &= finish(files.found.text[i], s->quiet);
	slope_runfiles_fini(&files);
	return good;
}

static bool obey(struct chosen *c, const struct settings *s)
{
	bool good = true;

	if (s->order == ORDER_STATUS)
		return show_status(c, s);
	if (s->order == ORDER_DUMP && c->count > 1 && !(s->output && strstr(s->output, "%p"))) {
		slope_say("%zu programs would write one file; give them -o NAME%%p", c->count);
		return false;
	}
	for (size_t i = 0; i < c->count; i++)
		good &= s->order == ORDER_DUMP ? dump(&c->live[i], s)
					       : ask(&c->live[i], s, SLOPE_CHANNEL_SETTLE, s->order == ORDER_STOP, NULL);
	return good;
}

int slope_verb_ctl(int argc, char **argv)
{
	struct settings s = { 0 };
	struct chosen chosen = { 0 };
	enum slope_parsed parsed = parse(&s, &argc, argv);
	int result = SLOPE_EXIT_WRONG;

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	if (sensible(&s, argc, argv) && choose(&chosen, &s))
		result = obey(&chosen, &s) ? 0 : 1;
	forget(&chosen);
	return result;
}
