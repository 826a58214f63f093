/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 4096

static void write_all(const char *bytes, size_t count)
{
	while (count) {
		ssize_t n = write(STDERR_FILENO, bytes, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		bytes += n;
		count -= (size_t)n;
	}
}

/* Names come from files: what commands a terminal (C0, and C1 in UTF-8) becomes '?'. */
static void make_harmless(char *text)
{
	for (char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
		else if (*c == '\xc2' && (unsigned char)c[1] >= 0x80 && (unsigned char)c[1] < 0xa0)
			c[0] = c[1] = '?';
	}
}

void slope_say(const char *format, ...)
{
	char line[LINE_BYTES] = "slope: ";
	size_t start = strlen(line);
	va_list args;

	va_start(args, format);
	vsnprintf(line + start, sizeof line - start - 1, format, args);
	va_end(args);
	make_harmless(line);
	strcat(line, "\n");
	write_all(line, strlen(line));
}

void slope_progress(const char *text)
{
	char line[LINE_BYTES];

	if (!isatty(STDERR_FILENO))
		return;
	snprintf(line, sizeof line, *text ? "slope: %s" : "%s", text);
	make_harmless(line);
	write_all("\r\033[K", 4);
	write_all(line, strlen(line));
}

bool slope_color_wanted(unsigned choice, FILE *stream)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (choice != SLOPE_COLOR_AUTO)
		return choice == SLOPE_COLOR_ALWAYS;
	return isatty(fileno(stream)) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

char *slope_text(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0) {
		slope_say("out of memory");
		exit(SLOPE_EXIT_FAILED);
	}
	va_end(args);
	return text;
}

bool slope_flush_output(void)
{
	bool bad = ferror(stdout) != 0;

	errno = 0;
	if (fflush(stdout) == 0 && !bad)
		return true;
	if (errno != EPIPE)
		slope_say("cannot write the output: %s", errno ? strerror(errno) : "an earlier write failed");
	return false;
}
