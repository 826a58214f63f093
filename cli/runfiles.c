/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/runfiles.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/messages.h"
#include "profile/profile.h"

bool slope_runfiles_match(const char *pattern, const char *name)
{
	while (*pattern) {
		if (pattern[0] == '%' && pattern[1] == 'p') {
			if (!isdigit((unsigned char)*name))
				return false;
			while (isdigit((unsigned char)*name))
				name++;
			pattern += 2;
		} else if (*pattern++ != *name++) {
			return false;
		}
	}
	return *name == '\0';
}

static bool has_pid(const struct slope_runfiles *files)
{
	return strstr(files->name, "%p") != NULL;
}

/* `text` with each %p replaced by the process id. */
static char *with_pid(const char *text, pid_t pid)
{
	char *done = slope_text("%s", "");

	while (*text) {
		const char *mark = strstr(text, "%p");
		size_t length = mark ? (size_t)(mark - text) : strlen(text);
		char *longer = mark ? slope_text("%s%.*s%ld", done, (int)length, text, (long)pid)
				    : slope_text("%s%s", done, text);

		free(done);
		done = longer;
		text += length + (mark ? 2 : 0);
	}
	return done;
}

static bool split(struct slope_runfiles *files, const char *file)
{
	const char *slash = strrchr(file, '/');
	char *folder = slash ? slope_text("%.*s", (int)(slash - file + 1), file) : slope_text(".");

	files->folder = realpath(folder, NULL);
	files->name = slope_text("%s", slash ? slash + 1 : file);
	if (!files->folder)
		slope_say("cannot write %s: %s: %s; make the folder or choose another with -o", file, folder, strerror(errno));
	else if (!*files->name)
		slope_say("cannot write %s: it is a folder; give a file name with -o", file);
	free(folder);
	if (!files->folder || !*files->name)
		return false;
	files->path = slope_text("%s/%s", strcmp(files->folder, "/") ? files->folder : "", files->name);
	if (!strstr(files->folder, "%p"))
		return true;
	slope_say("cannot write %s: %%p may stand in the file's name, not in a folder's", file);
	return false;
}

/* A file of our own in the folder says whether we may write there, and what time it is there. */
static bool probe(struct slope_runfiles *files, const char *file)
{
	char *name = slope_text("%s.tmp.%ld", files->path, (long)getpid());
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	struct stat st;
	bool good = fd >= 0 && write(fd, "?", 1) == 1 && fstat(fd, &st) == 0;

	if (good)
		files->start = st.st_mtim;
	else
		slope_say("cannot write %s: %s; choose another place with -o", file, strerror(errno));
	if (fd >= 0) {
		close(fd);
		unlink(name);
	}
	free(name);
	return good;
}

static bool hold_old(struct slope_runfiles *files, const char *file)
{
	struct stat st;

	if (has_pid(files) || stat(files->path, &st) != 0)
		return true;
	if (!S_ISREG(st.st_mode)) {
		slope_say("cannot write %s: it is %s; choose another name with -o", file,
			  S_ISDIR(st.st_mode) ? "a folder" : "not a regular file");
		return false;
	}
	files->old_inode = st.st_ino;
	files->held = slope_text("%s.held.%ld", files->path, (long)getpid());
	if (link(files->path, files->held) == 0 || rename(files->path, files->held) == 0)
		return true;
	slope_say("cannot keep the earlier %s: %s; choose another name with -o", file, strerror(errno));
	free(files->held);
	files->held = NULL;
	return false;
}

bool slope_runfiles_prepare(struct slope_runfiles *files, const char *file)
{
	*files = (struct slope_runfiles){ 0 };
	return split(files, file) && probe(files, file) && hold_old(files, file);
}

static bool since_start(const struct slope_runfiles *files, const struct stat *st)
{
	const struct timespec *a = &st->st_mtim, *b = &files->start;

	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec >= b->tv_nsec);
}

static bool is_profile_name(const struct slope_runfiles *files, const char *name)
{
	static const char *const tails[] = { "", ".exec%p", ".%p", ".%p.exec%p" };
	size_t count = has_pid(files) ? 2 : 4;
	bool fits = false;

	for (size_t i = 0; i < count && !fits; i++) {
		char *pattern = slope_text("%s%s", files->name, tails[i]);

		fits = slope_runfiles_match(pattern, name);
		free(pattern);
	}
	return fits;
}

/* Is NAME.tmp.PID a leftover of a process that is gone? */
static bool leftover(const struct slope_runfiles *files, const char *name)
{
	const char *mark = strstr(name, ".tmp.");

	if (!mark || !slope_runfiles_match(".tmp.%p", mark))
		return false;
	char *final_name = slope_text("%.*s", (int)(mark - name), name);
	bool ours = is_profile_name(files, final_name);

	free(final_name);
	return ours && kill((pid_t)atol(mark + strlen(".tmp.")), 0) != 0 && errno == ESRCH;
}

/* A profile whose process is gone, and had no right to rename it any more. */
static bool adopt(const char *part, const char *path, bool *partial)
{
	char error[256];
	struct slope_profile *profile = slope_profile_load(part, error, sizeof error);
	bool good = profile && (profile->complete || profile->row_count) && rename(part, path) == 0;

	*partial = good && !profile->complete;
	slope_profile_free(profile);
	unlink(part);
	return good;
}

/* NAME.tmp.PID of another process than the main one. */
static void settle_leftover(struct slope_runfiles *files, const char *part)
{
	char *path = slope_text("%.*s", (int)(strstr(part + strlen(files->folder), ".tmp.") - part), part);
	bool partial;

	if (access(path, F_OK) == 0)
		unlink(part);
	else if (adopt(part, path, &partial) && !partial)
		slope_list_add(&files->found, "%s", path);
	else
		unlink(path);
	free(path);
}

/* Adds what lies in the folder to `found`, leftovers that are whole too, and removes the others. */
static void scan(struct slope_runfiles *files, const char *main_path)
{
	struct slope_list leftovers = { 0 };
	DIR *dir = opendir(files->folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *path = slope_text("%s/%s", files->folder, entry->d_name);
		struct stat st;

		if (strncmp(entry->d_name, files->name, strcspn(files->name, "%")) || !strcmp(path, main_path) ||
		    lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || !since_start(files, &st)) {
			free(path);
		} else if (is_profile_name(files, entry->d_name)) {
			slope_list_take(&files->found, path);
		} else {
			if (leftover(files, entry->d_name))
				slope_list_add(&leftovers, "%s", path);
			free(path);
		}
	}
	if (dir)
		closedir(dir);
	for (size_t i = 0; i < leftovers.count; i++)
		settle_leftover(files, leftovers.text[i]);
	slope_list_fini(&leftovers);
}

/* A profile cut off by a full disk: what is whole in it is worth its name. Or a whole one. */
static bool rescue(const char *main_path, pid_t main_process, bool *partial)
{
	char *part = slope_text("%s.tmp.%ld", main_path, (long)main_process);
	bool good = adopt(part, main_path, partial);

	free(part);
	return good;
}

static bool is_new(const struct slope_runfiles *files, const char *main_path)
{
	struct stat st;

	return stat(main_path, &st) == 0 && st.st_ino != files->old_inode;
}

static void settle_old(struct slope_runfiles *files, bool have_new)
{
	if (!files->held)
		return;
	char *old = slope_text("%s.old", files->path);

	if (have_new) {
		if (rename(files->held, old) != 0)
			slope_say("the earlier profile stays in %s: %s", files->held, strerror(errno));
	} else if (access(files->path, F_OK) == 0) {
		unlink(files->held);
	} else {
		rename(files->held, files->path);
	}
	free(old);
	free(files->held);
	files->held = NULL;
}

bool slope_runfiles_collect(struct slope_runfiles *files, pid_t main_process)
{
	char *main_path = with_pid(files->path, main_process);
	bool have_new = is_new(files, main_path);

	if (!have_new)
		have_new = rescue(main_path, main_process, &files->partial);
	settle_old(files, have_new);
	if (have_new)
		slope_list_add(&files->found, "%s", main_path);
	scan(files, main_path);
	free(main_path);
	return have_new;
}

void slope_runfiles_cancel(struct slope_runfiles *files)
{
	settle_old(files, false);
}

void slope_runfiles_fini(struct slope_runfiles *files)
{
	slope_list_fini(&files->found);
	free(files->path);
	free(files->folder);
	free(files->name);
	free(files->held);
}
