/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs in a program's place: what posix_spawn, vfork, execveat, fexecve
 * and scripts say when it goes wrong and when it goes right, and what a
 * program sees of itself in /proc.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char folder[] = "/tmp/slope-replaced-XXXXXX";

static const char *file(const char *name, const char *text, mode_t mode)
{
	static char path[200];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	chmod(path, mode);
	return path;
}

static void report(const char *what, int error, pid_t pid)
{
	int status = 0;

	if (!error)
		waitpid(pid, &status, 0);
	printf("%s: %s, status %x\n", what, strerror(error), (unsigned)status);
}

static void spawn(const char *what, const char *path)
{
	char *const words[] = { "echo", "spawned", NULL };
	pid_t pid = -1;

	report(what, posix_spawn(&pid, path, NULL, NULL, words, environ), pid);
}

/* The child tells its parent through a variable of the stack. */
static void by_vfork(const char *path)
{
	char *const words[] = { "echo", "by vfork", NULL };
	volatile int error = 0;
	pid_t pid = vfork();

	if (!pid) {
		execv(path, words);
		error = errno;
		_exit(9);
	}
	int status;

	waitpid(pid, &status, 0);
	printf("vfork: %s, status %x\n", strerror(error), (unsigned)status);
}

static void in_child(const char *what, int at, const char *path, int flags)
{
	char *const words[] = { "echo", "in a child", NULL };
	int status;
	pid_t pid = fork();

	if (!pid) {
		syscall(SYS_execveat, at, path, words, environ, flags);
		printf("%s: %s\n", what, strerror(errno));
		_exit(3);
	}
	waitpid(pid, &status, 0);
	printf("%s: status %x\n", what, (unsigned)status);
}

static int copy_in_memory(const char *path)
{
	char bytes[65536];
	int from = open(path, O_RDONLY), to = memfd_create("copy", MFD_CLOEXEC);
	ssize_t n;

	while ((n = read(from, bytes, sizeof bytes)) > 0)
		if (write(to, bytes, (size_t)n) != n)
			exit(1);
	close(from);
	return to;
}

/* The mapping that holds this address: its rights. */
static void mapping(const char *what, const void *address)
{
	char line[5000], rights[5] = "none";
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long low, high;

	while (fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx", &low, &high) == 2 && (unsigned long)address >= low && (unsigned long)address < high)
			sscanf(line, "%*x-%*x %4s", rights);
	fclose(maps);
	printf("%s %s\n", what, rights);
}

static void itself(const char *name)
{
	char link[4096] = "", again[4096], path[64];
	struct stat a, b;

	printf("%d\n", readlink("/proc/self/exe", link, sizeof link - 1) > 0 && strstr(link, strrchr(name, '/') + 1) != NULL);
	snprintf(path, sizeof path, "/proc/%d/exe", (int)getpid());
	memset(again, 0, sizeof again);
	printf("%d\n", readlinkat(AT_FDCWD, path, again, sizeof again - 1) > 0 && !strcmp(link, again));
	printf("%d\n", !stat("/proc/self/exe", &a) && !stat(link, &b) && a.st_ino == b.st_ino);
	mapping("code", (const void *)itself);
	mapping("data", folder);
	mapping("stack", link);
	mapping("nothing", (const void *)8);
}

static void command_line(void)
{
	char text[300] = "";
	int fd = open("/proc/self/cmdline", O_RDONLY);
	ssize_t n = read(fd, text, sizeof text - 1);

	close(fd);
	for (ssize_t i = 0; i + 1 < n; i++)
		text[i] = text[i] ? text[i] : ' ';
	printf("%s\n", text);
}

/* A path that is there only until the descriptor is closed, which the exec does. */
static void by_descriptor(const char *form)
{
	char path[64];
	int fd = open("/bin/echo", O_RDONLY | O_CLOEXEC);

	snprintf(path, sizeof path, form, fd);
	in_child(form, AT_FDCWD, path, 0);
	close(fd);
	in_child("closed", AT_FDCWD, path, 0);
}

int main(int argc, char **argv)
{
	char *const none[] = { NULL }, *volatile nowhere = (char *)8;
	char command[100];

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 1) {
		command_line();
		return 21;
	}
	if (!mkdtemp(folder))
		return 1;
	spawn("there", "/bin/echo");
	spawn("missing", "/nowhere");
	spawn("no program", file("text", "not a program", 0755));
	spawn("not executable", file("data", "#!/bin/sh\n", 0644));
	spawn("script", file("script", "#!/bin/sh\necho script $0 >/dev/null\nexit 4\n", 0755));
	spawn("script of nobody", file("lost", "#!/nowhere/sh\n", 0755));
	spawn("folder", folder);
	by_vfork("/bin/echo");
	by_vfork("/nowhere");
	in_child("by folder", open("/bin", O_PATH | O_DIRECTORY | O_CLOEXEC), "echo", 0);
	in_child("by descriptor", open("/bin/echo", O_RDONLY | O_CLOEXEC), "", AT_EMPTY_PATH);
	in_child("in memory", copy_in_memory("/bin/echo"), "", AT_EMPTY_PATH);
	in_child("empty", AT_FDCWD, "", 0);
	in_child("link", AT_FDCWD, "/proc/self/exe", AT_SYMLINK_NOFOLLOW);
	in_child("itself", AT_FDCWD, "/proc/self/exe", 0);
	printf("%d %d\n", execve(nowhere, none, none) ? errno : 0, execve("/bin/true", (char **)nowhere, none) ? errno : 0);
	itself(argv[0]);
	snprintf(command, sizeof command, "rm -rf %s", folder);
	if (system(command))
		return 2;
	by_descriptor("/proc/self/fd/%d");
	by_descriptor("/dev/fd/%d");
	return 0;
}
