/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * execve and execveat: the new image starts under a new translator with the
 * options of this one. What cannot be followed the kernel runs, or says why
 * not: programs of other machines, setuid ones (which keep their privileges
 * that way), files that are no programs, scripts whose interpreter is one of
 * these; and what a program under us traces, a debugger say, which wants to
 * see the other one and not its translator. They have no profile.
 */
#include "sources/translator/runtime.h"
#include "sources/translator/observing.h"

#include <asm/stat.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/stat.h>

#define OPTIONS_MAX 64u
#define SCRIPTS_MAX 5
#define SCRIPT_LINE_BYTES 256u
#define STATUS_BYTES 1024u               /* so far into it at most the tracer is named */
#define KEPT_DESCRIPTOR 1000             /* or above: out of the program's way */

/* ---- which file ---- */

/* The file behind a descriptor under a name that outlives the exec. */
static void name_of_descriptor(int fd, char *path)
{
	char link[RUNTIME_PATH_BYTES];
	struct system_digits digits;
	struct stat named, opened;
	long length, kept;

	system_append(link, system_append(link, 0, sizeof link, "/proc/self/fd/"), sizeof link, system_number(&digits, (uint64_t)fd, 10));
	length = system_call(__NR_readlink, (long)link, (long)path, RUNTIME_PATH_BYTES - 1, 0, 0, 0);
	path[length > 0 ? length : 0] = 0;
	if (length > 0 && !system_call(__NR_stat, (long)path, (long)&named, 0, 0, 0, 0) &&
	    !system_call(__NR_fstat, fd, (long)&opened, 0, 0, 0, 0) && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
		return;
	/* It has no name any more, or never had one: a copy of the descriptor stays open. */
	kept = fd;
	if (system_call(__NR_fcntl, fd, F_GETFD, 0, 0, 0, 0) & FD_CLOEXEC)
		kept = system_call(__NR_fcntl, fd, F_DUPFD, KEPT_DESCRIPTOR, 0, 0, 0);
	system_append(path, system_append(path, 0, RUNTIME_PATH_BYTES, "/proc/self/fd/"), RUNTIME_PATH_BYTES,
		      system_number(&digits, (uint64_t)(kept < 0 ? fd : kept), 10));
}

/* The descriptor that a path like /proc/self/fd/3 stands for; -1: none. */
static int descriptor_named(const char *name)
{
	const char *at = system_after(name, "/proc/self/fd/");
	uint64_t fd = 0;

	if (!at && !(at = system_after(name, "/dev/fd/")))
		return -1;
	if (!*at)
		return -1;
	for (; *at >= '0' && *at <= '9' && fd < INT32_MAX; at++)
		fd = fd * 10 + (uint64_t)(*at - '0');
	return *at || fd >= INT32_MAX || system_call(__NR_fcntl, (long)fd, F_GETFD, 0, 0, 0, 0) < 0 ? -1 : (int)fd;
}

/* The path as the new translator must have it; false: the kernel shall say what is wrong with it. */
static bool find_path(int at, const char *name, int flags, char *path)
{
	size_t n;

	if (!*name) {
		if (flags & AT_EMPTY_PATH && at >= 0)
			name_of_descriptor(at, path);
		return flags & AT_EMPTY_PATH && at >= 0;
	}
	/* It may be closed by the time that the translator looks. */
	if (descriptor_named(name) >= 0) {
		name_of_descriptor(descriptor_named(name), path);
		return true;
	}
	if (selfview_names((uint64_t)name, "exe"))
		name = runtime.program_path;
	if (*name == '/' || at == AT_FDCWD)
		return system_append(path, 0, RUNTIME_PATH_BYTES, name) < RUNTIME_PATH_BYTES - 1;
	name_of_descriptor(at, path);
	n = system_append(path, slope_length(path), RUNTIME_PATH_BYTES, "/");
	return system_append(path, n, RUNTIME_PATH_BYTES, name) < RUNTIME_PATH_BYTES - 1;
}

/* The interpreter that "#! interpreter [argument]" asks for, or NULL. */
static const char *script_interpreter(char *line)
{
	char *end;

	if (line[0] != '#' || line[1] != '!')
		return NULL;
	for (line += 2; *line == ' ' || *line == '\t'; line++)
		;
	for (end = line; *end && *end != ' ' && *end != '\t' && *end != '\r'; end++)
		;
	*end = 0;
	return *line ? line : NULL;
}

/* Could the translator run this? Scripts run scripts, not too many. */
static bool can_follow(const char *path)
{
	char line[2][SCRIPT_LINE_BYTES];

	for (int i = 0; i <= SCRIPTS_MAX && path; i++) {
		if (system_call(__NR_access, (long)path, 1 /* X_OK */, 0, 0, 0, 0))
			return false;
		enum loading how = loading_probe(path, line[i % 2], SCRIPT_LINE_BYTES);

		if (how == LOADING_DONE)
			return true;
		if (observer.profiles && (how == LOADING_PRIVILEGED || how == LOADING_OTHER_MACHINE || how == LOADING_NO_ROOM))
			system_say(path, " ", loading_reason(how), "; it runs without a profile", NULL);
		path = how == LOADING_NOT_ELF ? script_interpreter(line[i % 2]) : NULL;
	}
	return false;
}

/* The process that traces this one; 0: none does. */
static uint64_t tracer(void)
{
	char status[STATUS_BYTES];
	long fd = system_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0), got;
	const char *at = NULL;
	uint64_t pid = 0;

	if (fd < 0)
		return 0;
	got = system_call(__NR_read, fd, (long)status, sizeof status - 1, 0, 0, 0);
	system_close(fd);
	status[got > 0 ? got : 0] = 0;
	for (const char *line = status; *line && !at; line++)
		at = system_after(line, "\nTracerPid:\t");
	for (; at && *at >= '0' && *at <= '9'; at++)
		pid = pid * 10 + (uint64_t)(*at - '0');
	return pid;
}

/* Is that a program under a translator? Whoever traces us from outside has asked for it. */
static bool is_traced_by_us(void)
{
	char link[64], path[RUNTIME_PATH_BYTES];
	struct system_digits digits;
	uint64_t pid = tracer();
	long length;
	size_t n;

	if (!pid)
		return false;
	n = system_append(link, system_append(link, 0, sizeof link, "/proc/"), sizeof link, system_number(&digits, pid, 10));
	system_append(link, n, sizeof link, "/exe");
	length = system_call(__NR_readlink, (long)link, (long)path, sizeof path - 1, 0, 0, 0);
	path[length > 0 ? length : 0] = 0;
	return system_same(path, runtime.self);
}

/* ---- with which words ---- */

/* How many there are; -1: they are not all the program's memory. */
static long count_words(char **words)
{
	long n = 0;

	for (; words; n++) {
		if (!space_allows(&runtime.space, (uint64_t)(words + n), sizeof *words, PROT_READ))
			return -1;
		if (!words[n])
			break;
		if (!space_allows(&runtime.space, (uint64_t)words[n], 1, PROT_READ))
			return -1;
	}
	return n;
}

static long exec_followed(const char *path, char **argv, size_t argc, char **envp)
{
	const char *argv0 = argc ? argv[0] : "";
	size_t room = slope_length(argv0) + sizeof "--argv0=", n = 0;
	size_t bytes = slope_page_round((OPTIONS_MAX + 5 + argc + 1) * sizeof(char *) + room);
	char **all = system_pages(bytes, false), *name = (char *)all + bytes - room;

	if (!all)
		return -ENOMEM;
	all[n++] = (char *)runtime.self;
	for (int i = 0; i < runtime.option_count && n < OPTIONS_MAX; i++)
		all[n++] = runtime.options[i];
	if (limits_as_option())
		all[n++] = (char *)limits_as_option();
	system_append(name, system_append(name, 0, room, "--argv0="), room, argv0);
	all[n++] = name;
	all[n++] = "--";
	all[n++] = (char *)path;
	for (size_t i = 1; i < argc; i++)
		all[n++] = argv[i];
	all[n] = NULL;
	signals_tell_mask(true);
	long result = system_call(__NR_execve, (long)runtime.self, (long)all, (long)envp, 0, 0, 0);

	signals_tell_mask(false);
	system_release(all, bytes);
	return result;
}

static long exec_unfollowed(int at, const char *name, char **argv, char **envp, int flags)
{
	limits_tell_kernel();
	signals_tell_mask(true);
	long result = system_call(__NR_execveat, at, (long)name, (long)argv, (long)envp, flags, 0);

	signals_tell_mask(false);
	limits_take_back();
	return result;
}

long execing_do(int at, const char *name, char **argv, char **envp, int flags)
{
	char path[RUNTIME_PATH_BYTES];
	struct stat st;
	long result, argc = count_words(argv);

	if (!space_allows(&runtime.space, (uint64_t)name, 1, PROT_READ) || argc < 0 || count_words(envp) < 0)
		return -EFAULT;
	if (flags & AT_SYMLINK_NOFOLLOW && *name && !system_call(__NR_newfstatat, at, (long)name, (long)&st, AT_SYMLINK_NOFOLLOW, 0, 0) &&
	    S_ISLNK(st.st_mode))
		return -ELOOP;
	vforks_tell();
	profilefile_before_exec();
	if (!find_path(at, name, flags, path) || !can_follow(path)) {
		result = exec_unfollowed(at, name, argv, envp, flags);
	} else if (is_traced_by_us()) {
		if (observer.profiles)
			system_say(path, " is traced by the program that has started it; it runs without a profile", NULL);
		result = exec_unfollowed(at, name, argv, envp, flags);
	} else if ((result = exec_followed(path, argv, (size_t)argc, envp)) == -ENOENT || result == -EACCES) {
		/* The program is there; it is the translator that is not, or not for this user. */
		system_say(runtime.self, " cannot be reached any more, after chroot or the like; ", path, " runs without a profile", NULL);
		result = exec_unfollowed(at, name, argv, envp, flags);
	}
	profilefile_after_failed_exec();
	return result;
}
