/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ways in which a process ends or becomes another one: exit, _exit, exec,
 * fork, signals. And modules that go while it goes on.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "sources/sampler/reals.h"

#define IMAGES_NAME "SLOPE_SAMPLER_IMAGES"

static struct sigaction listening;           /* to our signal, while an exec is tried */

static bool is_this_process(void)
{
	return slope_sampler.on && syscall(SYS_getpid) == slope_sampler.pid;
}

/* The end, with the profile of all that was measured. */
static void leave(int status)
{
	slope_samplefile_write("exit", status & 0xff, 0);
	if (is_this_process())
		slope_controlling_end();
}

/* Runs after everything else that exit() calls: it was there before the program. */
static void at_exit(int status, void *unused)
{
	(void)unused;
	leave(status);
}

static void in_child(void)
{
	slope_sampler.pid = getpid();
	slope_sampler.images = 0;
	slope_controlling_alone();
	slope_clocks_alone();
}

void slope_departing_begin(void)
{
	on_exit(at_exit, NULL);
	pthread_atfork(NULL, NULL, in_child);
}

/* Faults come again by themselves when the handler returns. */
static bool is_fault(int number, const siginfo_t *info)
{
	return info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE);
}

void slope_departing_signal(int number, siginfo_t *info, void *context)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t only;

	(void)context;
	slope_keep_no_alignment();
	/* The kernel sends it in place of a counter's signal when too many are waiting. */
	if (number == SIGIO && info->si_code == SI_KERNEL && slope_sampler.meters.column[SLOPE_METER_PERF] >= 0) {
		slope_overflows_resume(slope_sampled);
		return;
	}
	slope_samplefile_write("signal", -1, number);
	SLOPE_REAL(sigaction)(number, &plain, NULL);
	if (is_fault(number, info))
		return;
	sigemptyset(&only);
	sigaddset(&only, number);
	SLOPE_REAL(pthread_sigmask)(SIG_UNBLOCK, &only, NULL);
	syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), number);
}

void _exit(int status)
{
	leave(status);
	SLOPE_REAL(_exit)(status);
	__builtin_unreachable();
}

void _Exit(int status)
{
	_exit(status);
}

void quick_exit(int status)
{
	leave(status);
	SLOPE_REAL(quick_exit)(status);
	__builtin_unreachable();
}

/* ---- other users, other places: `record` gives the profile its name then ---- */

int setuid(uid_t user)
{
	slope_samplefile_keep_open();
	return SLOPE_REAL(setuid)(user);
}

int seteuid(uid_t user)
{
	slope_samplefile_keep_open();
	return SLOPE_REAL(seteuid)(user);
}

int setreuid(uid_t real, uid_t effective)
{
	slope_samplefile_keep_open();
	return SLOPE_REAL(setreuid)(real, effective);
}

int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	slope_samplefile_keep_open();
	return SLOPE_REAL(setresuid)(real, effective, saved);
}

int chroot(const char *path)
{
	slope_samplefile_keep_open();
	return SLOPE_REAL(chroot)(path);
}

/* The parent ends in there. */
int daemon(int keep_directory, int keep_files)
{
	slope_samplefile_write("exit", 0, 0);
	return SLOPE_REAL(daemon)(keep_directory, keep_files);
}

int dlclose(void *handle)
{
	int result = SLOPE_REAL(dlclose)(handle);

	slope_codemap_changed();
	return result;
}

/* ---- exec ---- */

/* What a new program must find in its environment to be sampled, too. */
static const char *const handed_on[] = { "LD_PRELOAD", "LD_BIND_NOW", "SLOPE_SAMPLER", "SLOPE_SAMPLER_OUT",
					 "SLOPE_SAMPLER_CONTROL" };

#define HANDED_ON (sizeof handed_on / sizeof *handed_on)

static bool is_set(char *const *environment, const char *name)
{
	size_t length = strlen(name);

	for (; environment && *environment; environment++)
		if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
			return true;
	return false;
}

static size_t count_of(char *const *environment)
{
	size_t count = 0;

	while (environment && environment[count])
		count++;
	return count;
}

/* NAME=VALUE of our own environment, as it stands there; NULL: not set. */
static char *own_setting(const char *name)
{
	size_t length = strlen(name);

	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, name, length) && (*e)[length] == '=')
			return *e;
	return NULL;
}

/* The environment, with what is missing, and the number of profiles that this process has left; `room` has enough for it. */
static char *const *complete(char *const *environment, char **room, char *images, size_t images_bytes)
{
	size_t count = 0;

	for (size_t i = 0; environment && environment[i]; i++)
		if (strncmp(environment[i], IMAGES_NAME "=", sizeof IMAGES_NAME))
			room[count++] = environment[i];
	for (size_t i = 0; i < HANDED_ON; i++)
		if (!is_set(environment, handed_on[i]) && own_setting(handed_on[i]))
			room[count++] = own_setting(handed_on[i]);
	snprintf(images, images_bytes, IMAGES_NAME "=%ld.%u", (long)syscall(SYS_getpid), is_this_process() ? slope_sampler.images : 0);
	room[count++] = images;
	room[count] = NULL;
	return room;
}

/*
 * Before an exec: the profile of this image. Our signal would end a program that
 * has no handler for it yet: as long as nobody listens, it is ignored.
 */
static void leave_image(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	if (!is_this_process())
		return;
	slope_sampler.images++;
	slope_overflows_pause(slope_sampled);
	slope_samplefile_write("exec", -1, 0);
	SLOPE_REAL(sigaction)(SLOPE_SIGNAL, &ignore, &listening);
	slope_controlling_end();
}

/* It has failed: the image stays. */
static int stay(int result)
{
	int error = errno;

	if (is_this_process()) {
		slope_samplefile_remove();
		slope_sampler.images--;
		SLOPE_REAL(sigaction)(SLOPE_SIGNAL, &listening, NULL);
		slope_controlling_resume();
		if (!slope_controlling_paused())
			slope_overflows_resume(slope_sampled);
	}
	errno = error;
	return result;
}

#define COMPLETED(environment) complete(environment, alloca((count_of(environment) + HANDED_ON + 2) * sizeof(char *)), \
					alloca(64), 64)

int execve(const char *path, char *const argv[], char *const environment[])
{
	if (!slope_sampler.on)
		return SLOPE_REAL(execve)(path, argv, environment);
	leave_image();
	return stay(SLOPE_REAL(execve)(path, argv, COMPLETED(environment)));
}

int execvpe(const char *file, char *const argv[], char *const environment[])
{
	if (!slope_sampler.on)
		return SLOPE_REAL(execvpe)(file, argv, environment);
	leave_image();
	return stay(SLOPE_REAL(execvpe)(file, argv, COMPLETED(environment)));
}

int fexecve(int fd, char *const argv[], char *const environment[])
{
	if (!slope_sampler.on)
		return SLOPE_REAL(fexecve)(fd, argv, environment);
	leave_image();
	return stay(SLOPE_REAL(fexecve)(fd, argv, COMPLETED(environment)));
}

int execveat(int folder, const char *path, char *const argv[], char *const environment[], int flags)
{
	if (!slope_sampler.on)
		return SLOPE_REAL(execveat)(folder, path, argv, environment, flags);
	leave_image();
	return stay(SLOPE_REAL(execveat)(folder, path, argv, COMPLETED(environment), flags));
}

int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* The arguments of a call as an array `argv`; the environment behind them, where `with` says so, as `environment`. */
#define GATHER(first, with)                                                             \
	va_list list;                                                                   \
	size_t count = 1;                                                               \
	va_start(list, first);                                                          \
	while (va_arg(list, char *))                                                    \
		count++;                                                                \
	va_end(list);                                                                   \
	char **argv = alloca((count + 1) * sizeof *argv);                               \
	va_start(list, first);                                                          \
	argv[0] = (char *)(uintptr_t)first;                                             \
	for (size_t i = 1; i <= count; i++)                                             \
		argv[i] = va_arg(list, char *);                                         \
	char *const *environment = (with) ? va_arg(list, char *const *) : environ;      \
	va_end(list)

int execl(const char *path, const char *first, ...)
{
	GATHER(first, false);
	return execve(path, argv, environment);
}

int execle(const char *path, const char *first, ...)
{
	GATHER(first, true);
	return execve(path, argv, environment);
}

int execlp(const char *file, const char *first, ...)
{
	GATHER(first, false);
	return execvpe(file, argv, environment);
}
