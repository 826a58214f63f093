/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "report/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_LINES 12u           /* an opening brace comes within so many lines, or not at all */
#define SOURCE_BYTES (64 << 20)  /* what is larger is no source */
#define FUNCTION_LINES 5000u     /* where braces do not balance, somebody has to stop */

/* What the scan is in the middle of, from line to line. */
struct scan {
	int depth;
	bool opened, comment, ended;
};

/* The end of a string or character that begins at `c`; the end of the line if it has none. */
static const char *skip_quoted(const char *c)
{
	char quote = *c++;

	for (; *c && *c != quote; c++)
		if (*c == '\\' && c[1])
			c++;
	return *c ? c : c - 1;
}

static void scan_line(struct scan *s, const char *line)
{
	for (const char *c = line; *c && !s->ended; c++) {
		if (s->comment) {
			s->comment = strncmp(c, "*/", 2) != 0;
			c += !s->comment;
		} else if (!strncmp(c, "//", 2)) {
			return;
		} else if (!strncmp(c, "/*", 2)) {
			s->comment = true;
			c++;
		} else if (*c == '"' || *c == '\'') {
			c = skip_quoted(c);
		} else if (*c == '{') {
			s->depth++;
			s->opened = true;
		} else if (*c == '}') {
			s->ended = --s->depth <= 0;
		} else if (*c == ';' && !s->opened && !s->depth) {
			s->ended = true;     /* a declaration: there is no body here */
		}
	}
}

static FILE *open_source(const char *path, time_t *changed)
{
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > SOURCE_BYTES)
		return NULL;
	*changed = st.st_mtime;
	return fopen(path, "re");
}

/* The file as the profile names it; a relative name is tried below the folder where the program ran. */
static FILE *find_source(struct slope_listing *l, const struct slope_profile *p, const char *file, bool *ok)
{
	FILE *in;

	if (file[0] != '/' && p->directory) {
		if (asprintf(&l->path, "%s/%s", p->directory, file) < 0)
			l->path = NULL;
	} else {
		l->path = strdup(file);
	}
	*ok = l->path != NULL;
	in = l->path ? open_source(l->path, &l->changed) : NULL;
	if (!in) {
		free(l->path);
		l->path = NULL;
	}
	return in;
}

static void cut_end(char *line)
{
	size_t length = strlen(line);

	while (length && strchr("\r\n \t", line[length - 1]))
		line[--length] = '\0';
}

/* Takes lines until the function ends; false when memory runs out. */
static bool take_lines(struct slope_listing *l, FILE *in)
{
	struct scan s = { 0 };
	char *line = NULL;
	size_t bytes = 0;
	uint32_t number = 0, seen = 0;
	bool ok = true;

	errno = 0;
	while (ok && !s.ended && seen < FUNCTION_LINES && getline(&line, &bytes, in) >= 0) {
		if (++number < l->first)
			continue;
		scan_line(&s, line);
		if (++seen > HEAD_LINES && !s.opened)
			break;
		if (l->count < SLOPE_LISTING_LINES) {
			l->line[l->count] = strdup(line);
			ok = l->line[l->count] != NULL;
			l->count += ok;
			if (ok)
				cut_end(l->line[l->count - 1]);
		}
	}
	ok &= errno != ENOMEM;
	free(line);
	l->more = s.opened && seen > l->count ? seen - (uint32_t)l->count : 0;
	while (!s.opened && l->count > SLOPE_LISTING_BLIND)
		free(l->line[--l->count]);
	return ok;
}

bool slope_listing_init(struct slope_listing *l, const struct slope_profile *p, const struct slope_profile_function *f)
{
	bool ok = true;

	*l = (struct slope_listing){ .first = f->line };
	if (!f->file || !f->line)
		return true;
	FILE *in = find_source(l, p, f->file, &ok);

	if (!in)
		return ok;
	ok = take_lines(l, in);
	fclose(in);
	if (!ok || !l->count)
		slope_listing_fini(l);
	return ok;
}

void slope_listing_fini(struct slope_listing *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->line[i]);
	free(l->path);
	*l = (struct slope_listing){ 0 };
}
