/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/toollog.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/messages.h"

#define LINES_REPEATED 12u       /* of what Valgrind says when it fails: the reason comes first */

/* Valgrind takes % in a file name for an escape of its own. */
static char *escaped(const char *path)
{
	char *text = slope_text("%s%s", path, path), *to = text;   /* room for the worst */

	for (; *path; path++) {
		if (*path == '%')
			*to++ = '%';
		*to++ = *path;
	}
	*to = '\0';
	return text;
}

bool slope_toollog_open(struct slope_toollog *log, struct slope_list *options)
{
	const char *base = getenv("TMPDIR");

	if (!base || !*base)
		base = "/tmp";
	char *folder = slope_text("%s/slope-log.XXXXXX", base);

	/* Valgrind itself does not start without a folder for temporary files. */
	if (!mkdtemp(folder)) {
		slope_say("cannot make a folder in %s: %s; let TMPDIR name one where you may write", base, strerror(errno));
		free(folder);
		return false;
	}
	log->folder = folder;
	char *path = escaped(folder);

	slope_list_add(options, "--log-file=%s/%%p", path);
	free(path);
	return true;
}

/* The text behind Valgrind's ==PID== or --PID-- mark. */
static const char *without_mark(const char *line)
{
	if ((line[0] != '=' || line[1] != '=') && (line[0] != '-' || line[1] != '-'))
		return line;
	const char *end = line + 2 + strspn(line + 2, "0123456789:");

	return end[0] == line[0] && end[1] == line[0] ? end + 2 + strspn(end + 2, " ") : line;
}

/* What Valgrind says at great length when it gives up, and what that means to a user. */
static const char *in_short(const char *text)
{
	if (strstr(text, "Max number of threads is too low"))
		return "the program has more threads at once than planned for; give --max-threads=N";
	return NULL;
}

static void repeat_file(const char *path, bool all)
{
	FILE *file = fopen(path, "r");
	const char *meaning = NULL;
	struct slope_list told = { 0 };
	size_t room = 0, left_out = 0;
	char *line = NULL;

	while (file && getline(&line, &room, file) >= 0) {
		const char *text = without_mark(line);

		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(text, "slope: ", 7))
			slope_say("%s", text + 7);
		else if (all && *text && told.count < LINES_REPEATED)
			slope_list_add(&told, "%s", text);
		else
			left_out += all && *text;
		if (all && !meaning)
			meaning = in_short(text);
	}
	if (meaning)
		slope_say("%s", meaning);
	for (size_t i = 0; i < told.count && !meaning; i++)
		slope_say("valgrind: %s", told.text[i]);
	if (left_out && !meaning)
		slope_say("valgrind: (%zu lines more)", left_out);
	slope_list_fini(&told);
	free(line);
	if (file)
		fclose(file);
}

static void each_file(const struct slope_toollog *log, void (*visit)(const char *path, const char *name, pid_t all_of), pid_t all_of)
{
	DIR *folder = log->folder ? opendir(log->folder) : NULL;
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		char *path = slope_text("%s/%s", log->folder, entry->d_name);

		visit(path, entry->d_name, all_of);
		free(path);
	}
	if (folder)
		closedir(folder);
}

static void repeat(const char *path, const char *name, pid_t all_of)
{
	repeat_file(path, all_of && strtol(name, NULL, 10) == (long)all_of);
}

static void drop(const char *path, const char *name, pid_t unused)
{
	(void)name;
	(void)unused;
	unlink(path);
}

void slope_toollog_repeat(const struct slope_toollog *log, pid_t all_of)
{
	each_file(log, repeat, all_of);
}

void slope_toollog_close(struct slope_toollog *log)
{
	each_file(log, drop, 0);
	if (log->folder)
		rmdir(log->folder);
	free(log->folder);
	log->folder = NULL;
}
