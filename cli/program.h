/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds a program the way a shell would, and looks at it before it is run, so
 * that what cannot work is said in one line and not by a tool further down.
 */
#ifndef SLOPE_CLI_PROGRAM_H
#define SLOPE_CLI_PROGRAM_H

#include <stddef.h>

#include "cli/list.h"

/*
 * The file that `name` stands for: itself when it has a slash, else the first
 * executable one on PATH. NULL: none. The caller frees it.
 */
char *slope_program_find(const char *name);

/*
 * Can slope run `name`? 0, or the exit status a shell would give (126 not
 * executable, 127 not found) after one line has been said. `*path` is then
 * NULL, otherwise the file, which the caller frees.
 */
int slope_program_check(const char *name, char **path);

/* Runs a command; the first line of its output, of both kinds, goes to `line`. The wait status, or -1. */
int slope_program_ask(char *const *argv, char *line, size_t line_bytes);

/* The same, with all lines. */
int slope_program_lines(char *const *argv, struct slope_list *lines);

#endif
