/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "profile/linecache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEMPORARY ".new-"
#define TEMPORARY_SECONDS 3600   /* older ones were left by a run that died */

struct slope_linecache_entry {
	uint64_t offset;
	uint32_t line;
	bool owned;                  /* file is ours to free */
	const char *file;            /* "": it has none */
};

static int by_offset(const void *a, const void *b)
{
	const struct slope_linecache_entry *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool append(struct slope_linecache *c, struct slope_linecache_entry entry)
{
	if (c->count == c->capacity) {
		size_t more = c->capacity ? 2 * c->capacity : 256;
		void *bigger = realloc(c->entry, more * sizeof *c->entry);

		if (!bigger)
			return false;
		c->entry = bigger;
		c->capacity = more;
	}
	c->entry[c->count++] = entry;
	return true;
}

/* ---- reading ---- */

/* The whole file as text, NULL for one that we do not trust or cannot have. */
static char *read_whole(const char *path)
{
	struct stat st;
	char *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size <= SLOPE_LINECACHE_BYTES)
		text = malloc((size_t)st.st_size + 1);
	ssize_t got = text ? read(fd, text, (size_t)st.st_size) : -1;

	close(fd);
	if (got < 0 || got != st.st_size || memchr(text, 0, (size_t)got)) {
		free(text);
		return NULL;
	}
	text[got] = 0;
	return text;
}

/* Cuts the line at `at` off; what follows it, NULL when it does not end. */
static char *cut_line(char *at)
{
	char *end = strchr(at, '\n');

	if (!end)
		return NULL;
	*end = 0;
	return end + 1;
}

static bool take_line(struct slope_linecache *c, char *text)
{
	char *after_offset, *after_line;
	uint64_t offset = strtoull(text, &after_offset, 16);
	unsigned long line = strtoul(after_offset, &after_line, 10);

	if (after_offset == text || *after_offset != ' ' || after_line == after_offset || *after_line != ' ' || line > UINT32_MAX)
		return false;
	if (c->count && c->entry[c->count - 1].offset >= offset)
		return false;            /* they are sorted, each there once */
	return append(c, (struct slope_linecache_entry){ .offset = offset, .line = (uint32_t)line, .file = after_line + 1 });
}

static bool take_text(struct slope_linecache *c)
{
	char *at = c->text, *next = cut_line(at);
	size_t told;
	int length;

	if (!next || strcmp(at, c->head))
		return false;
	while (at = next, (next = cut_line(at))) {
		if (at[0] == 'e' && sscanf(at, "end %zu%n", &told, &length) == 1 && !at[length])
			return told == c->count && !*next;
		if (!take_line(c, at))
			return false;
	}
	return false;
}

static void drop_entries(struct slope_linecache *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->entry[i].owned)
			free((char *)c->entry[i].file);
	free(c->entry);
	free(c->text);
	c->entry = NULL;
	c->text = NULL;
	c->known = c->count = c->capacity = 0;
}

void slope_linecache_open(struct slope_linecache *c, const char *folder, const uint8_t *id, uint32_t id_bytes,
			  const char *debug_file)
{
	struct stat st;
	char name[2 * 64 + 1] = "";

	*c = (struct slope_linecache){ 0 };
	if (!folder || !*folder || !id_bytes || id_bytes > 64 || !debug_file || stat(debug_file, &st))
		return;
	for (uint32_t i = 0; i < id_bytes; i++)
		snprintf(name + 2 * i, 3, "%02x", id[i]);
	if (asprintf(&c->path, "%s/%s", folder, name) < 0) {
		c->path = NULL;
		return;
	}
	snprintf(c->head, sizeof c->head, "slope-lines 1 %lld %lld %ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		 st.st_mtim.tv_nsec);
	c->text = read_whole(c->path);
	if (!c->text || !take_text(c))
		drop_entries(c);
	c->known = c->count;
}

bool slope_linecache_find(const struct slope_linecache *c, uint64_t offset, const char **file, uint32_t *line)
{
	const struct slope_linecache_entry key = { .offset = offset };
	const struct slope_linecache_entry *e = c->known ? bsearch(&key, c->entry, c->known, sizeof key, by_offset) : NULL;

	if (!e)
		return false;
	*file = e->file[0] ? e->file : NULL;
	*line = e->line;
	return true;
}

void slope_linecache_add(struct slope_linecache *c, uint64_t offset, const char *file, uint32_t line)
{
	char *copy;

	if (!c->path || (file && strchr(file, '\n')))
		return;
	copy = strdup(file ? file : "");
	if (copy && !append(c, (struct slope_linecache_entry){ .offset = offset, .line = line, .owned = true, .file = copy }))
		free(copy);
}

/* ---- writing ---- */

static bool make_folder(char *path)
{
	for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		bool there = !mkdir(path, 0700) || !access(path, X_OK);

		*slash = '/';
		if (!there)
			return false;
	}
	return !access(path, F_OK) || !mkdir(path, 0700);
}

/* Room for one more: the oldest goes, and what dead runs have left. */
static void make_room(const char *folder)
{
	DIR *dir = opendir(folder);
	char oldest[256] = "";
	struct timespec age = { 0 };
	size_t files = 0;
	time_t now = time(NULL);

	if (!dir)
		return;
	for (struct dirent *d; (d = readdir(dir));) {
		struct stat st;

		if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (!strncmp(d->d_name, TEMPORARY, strlen(TEMPORARY))) {
			if (st.st_mtim.tv_sec + TEMPORARY_SECONDS < now)
				unlinkat(dirfd(dir), d->d_name, 0);
			continue;
		}
		if (!files++ || st.st_mtim.tv_sec < age.tv_sec) {
			age = st.st_mtim;
			snprintf(oldest, sizeof oldest, "%s", d->d_name);
		}
	}
	if (files >= SLOPE_LINECACHE_FILES)
		unlinkat(dirfd(dir), oldest, 0);
	closedir(dir);
}

static bool print_all(const struct slope_linecache *c, FILE *out)
{
	size_t printed = 0;

	fprintf(out, "%s\n", c->head);
	for (size_t i = 0; i < c->count; i++) {
		const struct slope_linecache_entry *e = &c->entry[i];

		if (i && e->offset == e[-1].offset)
			continue;
		fprintf(out, "%" PRIx64 " %" PRIu32 " %s\n", e->offset, e->line, e->file);
		printed++;
	}
	fprintf(out, "end %zu\n", printed);
	return ftell(out) <= (long)SLOPE_LINECACHE_BYTES && !ferror(out);
}

static void write_file(struct slope_linecache *c)
{
	char *slash = strrchr(c->path, '/'), *temporary;

	*slash = 0;
	bool ready = make_folder(c->path);

	if (ready)
		make_room(c->path);
	bool named = ready && asprintf(&temporary, "%s/" TEMPORARY "XXXXXX", c->path) >= 0;

	*slash = '/';
	if (!named)
		return;
	int fd = mkostemp(temporary, O_CLOEXEC);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (out) {
		bool whole = print_all(c, out);

		if (fclose(out) || !whole || rename(temporary, c->path))
			unlink(temporary);
	} else if (fd >= 0) {
		close(fd);
		unlink(temporary);
	}
	free(temporary);
}

void slope_linecache_close(struct slope_linecache *c)
{
	if (c->path && c->count > c->known) {
		qsort(c->entry, c->count, sizeof *c->entry, by_offset);
		write_file(c);
	}
	drop_entries(c);
	free(c->path);
	c->path = NULL;
}
