/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/messages.h"

#define HEAD_BYTES 256
#define SCRIPTS_MAX 4u           /* as the kernel follows */

static bool runnable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *slope_program_find(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return slope_text("%s", name);
	if (!*name)
		return NULL;
	for (const char *p = path ? path : "/usr/bin:/bin";; p++) {
		size_t length = strcspn(p, ":");
		char *file = slope_text("%.*s%s%s", (int)length, p, length ? "/" : "./", name);

		if (runnable(file))
			return file;
		free(file);
		p += length;
		if (!*p)
			return NULL;
	}
}

static int not_found(const char *name)
{
	char *here = slope_text("./%s", name);

	if (!*name)
		slope_say("the program's name is empty");
	else if (!strchr(name, '/') && runnable(here))
		slope_say("there is no program '%s' on PATH; for the one in this folder type %s", name, here);
	else if (strchr(name, '/'))
		slope_say("there is no program '%s'; check the path", name);
	else
		slope_say("there is no program '%s' on PATH; give a path such as ./%s", name, name);
	free(here);
	return SLOPE_EXIT_NOT_FOUND;
}

static int refuse(const char *path, const char *why)
{
	slope_say("cannot run %s: %s", path, why);
	return SLOPE_EXIT_NOT_EXECUTABLE;
}

static int check_elf(const char *path, const unsigned char *head, size_t bytes, uint64_t file_bytes)
{
	Elf64_Ehdr elf;

	if (bytes < sizeof elf)
		return refuse(path, "the file is cut off; build it again");
	memcpy(&elf, head, sizeof elf);
	if (head[EI_CLASS] != ELFCLASS64 || head[EI_DATA] != ELFDATA2LSB || elf.e_machine != EM_X86_64)
		return refuse(path, "it is not an x86-64 program, and this build of slope profiles only those");
	if (elf.e_type != ET_EXEC && elf.e_type != ET_DYN)
		return refuse(path, "it is an object file or a core dump, not a linked program");
	if (elf.e_phoff > file_bytes || (uint64_t)elf.e_phnum * elf.e_phentsize > file_bytes - elf.e_phoff)
		return refuse(path, "the file is cut off; build it again");
	return 0;
}

static int check_contents(const char *path, uint64_t file_bytes, unsigned scripts);

static int check_interpreter(const char *path, unsigned scripts)
{
	struct stat st;

	return scripts && stat(path, &st) == 0 ? check_contents(path, (uint64_t)st.st_size, scripts - 1) : 0;
}

static int check_script(const char *path, const unsigned char *head, size_t bytes, unsigned scripts)
{
	char line[HEAD_BYTES] = "";

	memcpy(line, head + 2, bytes - 2);
	char *interpreter = line + strspn(line, " \t");

	interpreter[strcspn(interpreter, " \t\r\n")] = '\0';
	if (runnable(interpreter))
		return check_interpreter(interpreter, scripts);
	slope_say("cannot run %s: its first line asks for '%s', which is %s; correct that line or install it", path,
		  interpreter, access(interpreter, F_OK) ? "not there" : "not executable");
	return SLOPE_EXIT_NOT_EXECUTABLE;
}

/* Scripts may run scripts, `scripts` of them. */
static int check_contents(const char *path, uint64_t file_bytes, unsigned scripts)
{
	unsigned char head[HEAD_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes;

	if (fd < 0)
		return refuse(path, "slope must be able to read it (chmod +r)");
	bytes = read(fd, head, sizeof head - 1);
	close(fd);
	if (bytes <= 0)
		return refuse(path, bytes ? strerror(errno) : "the file is empty");
	if (bytes >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG))
		return check_elf(path, head, (size_t)bytes, file_bytes);
	if (bytes >= 2 && head[0] == '#' && head[1] == '!')
		return check_script(path, head, (size_t)bytes, scripts);
	/* Without a first line of its own a text is a shell script. */
	return memchr(head, '\0', (size_t)bytes) ? refuse(path, "it is neither a program nor a script") : 0;
}

static int check_file(const char *name, const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return not_found(name);
		return refuse(path, strerror(errno));
	}
	if (S_ISDIR(st.st_mode))
		return refuse(path, "it is a directory");
	if (!S_ISREG(st.st_mode))
		return refuse(path, "it is not a regular file");
	if (access(path, X_OK) != 0)
		return refuse(path, "it is not executable (chmod +x)");
	if (st.st_mode & (S_ISUID | S_ISGID))
		return refuse(path, "it is setuid or setgid; profile a copy of it without that bit");
	return check_contents(path, (uint64_t)st.st_size, SCRIPTS_MAX);
}

int slope_program_check(const char *name, char **path)
{
	char *file = slope_program_find(name);
	int status = file ? check_file(name, file) : not_found(name);

	if (status) {
		free(file);
		file = NULL;
	}
	*path = file;
	return status;
}

int slope_program_lines(char *const *argv, struct slope_list *lines)
{
	int ends[2], status = -1;
	size_t room = 0;
	char *line = NULL;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		execv(argv[0], argv);
		_exit(SLOPE_EXIT_NOT_FOUND);
	}
	close(ends[1]);
	FILE *in = fdopen(ends[0], "r");

	while (in && getline(&line, &room, in) > 0)
		slope_list_add(lines, "%.*s", (int)strcspn(line, "\n"), line);
	free(line);
	if (in)
		fclose(in);
	if (pid > 0)
		waitpid(pid, &status, 0);
	return status;
}

int slope_program_ask(char *const *argv, char *line, size_t line_bytes)
{
	struct slope_list lines = { 0 };
	int status = slope_program_lines(argv, &lines);

	snprintf(line, line_bytes, "%s", lines.count ? lines.text[0] : "");
	slope_list_fini(&lines);
	return status;
}
