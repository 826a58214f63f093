/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/messages.h"
#include "cli/program.h"

#define NS_PER_S UINT64_C(1000000000)
#define TOOL_NAME "slope-amd64-linux"
#define TRANSLATOR_NAME "slope-translator"
#define SAMPLER_NAME "slope-sampler.so"
#define SAMPLER_CALLS_NAME "slope-sampler-calls.so"
#define PRELOAD_NAME "vgpreload_core-amd64-linux.so"     /* Valgrind puts it into every program */

static char *find_valgrind(void)
{
	char *wrapper = slope_program_find("valgrind");

	if (!wrapper)
		return NULL;
	char *binary = slope_text("%s.bin", wrapper);

	if (access(binary, X_OK) == 0) {
		free(wrapper);
		return binary;
	}
	free(binary);
	return wrapper;
}

/* The folder if it holds the tool, made absolute; NULL otherwise. */
static char *tool_folder(const char *base, const char *tail)
{
	char *folder = slope_text("%s%s", base, tail), *tool = slope_text("%s/%s", folder, TOOL_NAME);
	char *absolute = access(tool, X_OK) == 0 ? realpath(folder, NULL) : NULL;

	free(folder);
	free(tool);
	return absolute;
}

/* The file of this name in this folder, or NULL. */
static char *file_in(const char *base, const char *tail, const char *name)
{
	char *file = slope_text("%s%s/%s", base, tail, name);

	if (access(file, R_OK | X_OK) == 0)
		return file;
	free(file);
	return NULL;
}

/* A source by its file, which `place` in the build folder has, or libexec. */
static char *find_source(const char *place, const char *name)
{
	const char *forced = getenv("SLOPE_LIBEXEC");
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	if (forced && *forced)
		return file_in(forced, "", name);
	if (length <= 0)
		return NULL;
	self[length] = '\0';
	char *here = dirname(self), *found = file_in(here, place, name);

	return found ? found : file_in(here, "/../libexec/slope", name);
}

static char *find_folder(void)
{
	const char *forced = getenv("SLOPE_LIBEXEC");
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	char *folder;

	if (forced && *forced)
		return tool_folder(forced, "");
	if (length <= 0)
		return NULL;
	self[length] = '\0';
	char *here = dirname(self);

	folder = tool_folder(here, "/valgrind");
	return folder ? folder : tool_folder(here, "/../libexec/slope/valgrind");
}

void slope_launcher_find(struct slope_launcher *launcher)
{
	launcher->valgrind = find_valgrind();
	launcher->folder = find_folder();
	launcher->tool = launcher->folder ? slope_text("%s/%s", launcher->folder, TOOL_NAME) : NULL;
	launcher->translator = find_source("/sources/translator", TRANSLATOR_NAME);
	launcher->sampler = find_source("/sources/sampler", SAMPLER_NAME);
	launcher->sampler_calls = find_source("/sources/sampler", SAMPLER_CALLS_NAME);
	launcher->meters = NULL;
	launcher->calls = false;
	launcher->translated = launcher->sampled = launcher->native = launcher->alike = false;
	launcher->signal = 0;
	launcher->started = NULL;
	launcher->expired = NULL;
	launcher->duration_ns = 0;
	for (int fd = 0; fd < 3; fd++)
		launcher->stdio[fd] = -1;
}

void slope_launcher_fini(struct slope_launcher *launcher)
{
	free(launcher->sampler);
	free(launcher->sampler_calls);
	free(launcher->meters);
	free(launcher->valgrind);
	free(launcher->folder);
	free(launcher->tool);
	free(launcher->translator);
}

bool slope_launcher_check(const struct slope_launcher *launcher)
{
	if ((launcher->translated && launcher->translator) || launcher->sampled)
		return true;
	if (!launcher->valgrind)
		slope_say("valgrind is not on PATH; install it (on Debian: apt install valgrind)");
	else if (!launcher->tool)
		slope_say("slope's Valgrind tool (%s) is missing%s; build it with 'make'", TOOL_NAME,
			  getenv("SLOPE_LIBEXEC") ? " in SLOPE_LIBEXEC" : " beside the slope command");
	return launcher->valgrind && launcher->tool;
}

/* Adds NAME=VALUE settings to GLIBC_TUNABLES; what the user has set stays. */
static void tune_libc(const char *const (*tunable)[2], size_t count)
{
	const char *given = getenv("GLIBC_TUNABLES");
	char *all = slope_text("%s", given ? given : "");

	for (size_t i = 0; i < count; i++) {
		if (strstr(all, tunable[i][0]))
			continue;
		char *more = slope_text("%s%s%s=%s", all, *all ? ":" : "", tunable[i][0], tunable[i][1]);

		free(all);
		all = more;
	}
	setenv("GLIBC_TUNABLES", all, 1);
	free(all);
}

/*
 * Above some size the C library copies and fills memory with one repeated
 * instruction, which counts once for every byte: ten times as many as the loop
 * below that size, at the same speed. A curve would have a step there that the
 * program does not have.
 */
static void keep_copies_steady(void)
{
	static const char *const thresholds[][2] = {
		{ "glibc.cpu.x86_rep_movsb_threshold", "0x7fffffffffff" },
		{ "glibc.cpu.x86_rep_stosb_threshold", "0x7fffffffffff" },
	};

	tune_libc(thresholds, sizeof thresholds / sizeof *thresholds);
}

/*
 * Valgrind shows programs a processor of its own making, and puts a library of
 * its own before theirs. Under both sources the C library is to choose the
 * same functions and the same sizes from which it copies otherwise, and the
 * dynamic linker to have the same to do.
 */
static void make_alike(const struct slope_launcher *launcher)
{
	static const char *const processor[][2] = {
		{ "glibc.cpu.hwcaps",
		  "-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD,-FMA,-FMA4,-LZCNT,-MOVBE,-ERMS,-FSRM,-RTM,-XSAVEC,-Slow_BSF,"
		  "-Slow_SSE4_2,-Fast_Unaligned_Load,-Fast_Unaligned_Copy,-Fast_Copy_Backward,-Fast_Rep_String,"
		  "-Prefer_PMINUB_for_stringop,-Prefer_No_AVX512_Probing,-Prefer_No_VZEROUPPER" },
		{ "glibc.cpu.x86_data_cache_size", "0x8000" },
		{ "glibc.cpu.x86_shared_cache_size", "0x100000" },
		{ "glibc.cpu.x86_non_temporal_threshold", "0xc0000" },
	};
	const char *before = getenv("LD_PRELOAD");
	char *preload = slope_text("%s/%s%s%s", launcher->folder, PRELOAD_NAME, before ? ":" : "", before ? before : "");

	tune_libc(processor, sizeof processor / sizeof *processor);
	if (launcher->translated)
		setenv("LD_PRELOAD", preload, 1);
	free(preload);
}

/* What the source is started with: its options, and the program behind them. */
static void source_arguments(const struct slope_launcher *launcher, const struct slope_list *options, char *const *program,
			     struct slope_list *argv)
{
	slope_list_add(argv, "%s", launcher->translated ? TRANSLATOR_NAME : "valgrind");
	for (size_t i = 0; i < options->count; i++)
		slope_list_add(argv, "%s", options->text[i]);
	slope_list_add(argv, "--main-pid=%ld", (long)getpid());
	if (launcher->translated) {
		char *file = slope_program_find(program[0]);

		slope_list_add(argv, "--argv0=%s", program[0]);
		slope_list_add(argv, "--");
		slope_list_add(argv, "%s", file ? file : program[0]);
		free(file);
		program++;
	}
	for (; *program; program++)
		slope_list_add(argv, "%s", *program);
}

/* The program itself, with the sampler loaded before its own libraries. Returns only when it fails. */
static void execute_sampled(const struct slope_launcher *launcher, const struct slope_list *settings, char *const *program)
{
	const char *before = getenv("LD_PRELOAD");
	char *preload = slope_text("%s%s%s", launcher->calls ? launcher->sampler_calls : launcher->sampler, before ? ":" : "",
				   before ? before : "");
	char *file = slope_program_find(program[0]);

	for (size_t i = 0; i < settings->count; i++)
		putenv(settings->text[i]);
	const char *words = getenv("SLOPE_SAMPLER");
	char *all = slope_text("%s%s%s%smain=%ld", words ? words : "", launcher->meters ? " meters=" : "",
			       launcher->meters ? launcher->meters : "", words || launcher->meters ? " " : "", (long)getpid());

	setenv("SLOPE_SAMPLER", all, 1);
	setenv("LD_PRELOAD", preload, 1);
	execv(file ? file : program[0], program);
}

/* Returns only when it fails. */
static void execute(const struct slope_launcher *launcher, const struct slope_list *options, char *const *program)
{
	struct slope_list argv = { 0 };

	if (launcher->sampled) {
		execute_sampled(launcher, options, program);
		return;
	}
	if (launcher->native) {
		char *file = slope_program_find(program[0]);

		execvp(file ? file : program[0], program);
		return;
	}
	source_arguments(launcher, options, program, &argv);
	execv(launcher->translated ? launcher->translator : launcher->valgrind, argv.text);
}

/* Never returns. The parent learns from `pipe` when exec fails. */
static void become_source(const struct slope_launcher *launcher, const struct slope_list *options,
			  char *const *program, int pipe)
{
	int error;

	if ((!launcher->translated && !launcher->sampled && !launcher->native) || launcher->alike)
		setenv("VALGRIND_LIB", launcher->folder, 1);
	setenv("LD_BIND_NOW", "1", 1);
	if (!launcher->sampled)
		keep_copies_steady();
	if (launcher->alike)
		make_alike(launcher);
	for (int fd = 0; fd < 3; fd++)
		if (launcher->stdio[fd] >= 0)
			dup2(launcher->stdio[fd], fd);
	execute(launcher, options, program);
	error = errno;
	if (write(pipe, &error, sizeof error) < 0)
		_exit(SLOPE_EXIT_NOT_EXECUTABLE);
	_exit(SLOPE_EXIT_FAILED);
}

/* The signals we take ourselves while the program runs; one that is ignored already stays so. */
static void watched_signals(sigset_t *set)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		struct sigaction now;

		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(set, signals[i]);
	}
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Waits for a signal, or until it is `until`. False: neither is worth a word, or the time is over. */
static bool await_signal(const sigset_t *watched, siginfo_t *info, uint64_t until)
{
	uint64_t now = until ? now_ns() : 0, left = now < until ? until - now : 0;
	const struct timespec wait = { (time_t)(left / NS_PER_S), (long)(left % NS_PER_S) };

	return (until ? sigtimedwait(watched, info, &wait) : sigwaitinfo(watched, info)) > 0 && info->si_signo != SIGCHLD;
}

static int wait_and_pass_on(struct slope_launcher *launcher, pid_t pid, const sigset_t *watched)
{
	int status;
	siginfo_t info;
	uint64_t until = launcher->duration_ns ? now_ns() + launcher->duration_ns : 0;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (until && now_ns() >= until) {
			launcher->expired(launcher->ctx);
			until = 0;
			continue;
		}
		if (!await_signal(watched, &info, until))
			continue;
		launcher->signal = info.si_signo;
		/* The terminal signals the whole foreground group: the program has it already. */
		if (info.si_code != SI_KERNEL)
			kill(pid, info.si_signo);
	}
	/* What ended the program may still wait for us; the profile comes first. */
	while (sigtimedwait(watched, &info, &(struct timespec){ 0 }) > 0)
		;
	return status;
}

static bool start_failed(const struct slope_launcher *launcher, const char *program, int pipe)
{
	int error;

	if (read(pipe, &error, sizeof error) != sizeof error)
		return false;
	slope_say("cannot start %s: %s", launcher->native || launcher->sampled ? program : launcher->translated ? launcher->translator :
		  launcher->valgrind, strerror(error));
	return true;
}

bool slope_launcher_run(struct slope_launcher *launcher, const struct slope_list *options,
			char *const *program, pid_t *pid, int *status)
{
	struct sigaction children, plain = { .sa_handler = SIG_DFL };
	sigset_t watched, before;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		slope_say("cannot start a process: %s", strerror(errno));
		return false;
	}
	watched_signals(&watched);
	sigprocmask(SIG_BLOCK, &watched, &before);
	sigaction(SIGCHLD, &plain, &children);  /* ignored, it would take the exit status from us */
	*pid = fork();
	if (*pid == 0) {
		sigaction(SIGCHLD, &children, NULL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		become_source(launcher, options, program, ends[1]);
	}
	close(ends[1]);
	bool failed = *pid < 0;

	if (failed) {
		slope_say("cannot start a process: %s", strerror(errno));
	} else {
		if (launcher->started)
			launcher->started(launcher->ctx, *pid);
		failed = start_failed(launcher, program[0], ends[0]);
		*status = wait_and_pass_on(launcher, *pid, &watched);
	}
	close(ends[0]);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return !failed;
}
