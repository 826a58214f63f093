/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds a program the way a shell would, and looks at it before it is run, so
 * that what cannot work is said in one line and not by a tool further down.
 */
#ifndef SLOPE_CLI_PROGRAM_H
#define SLOPE_CLI_PROGRAM_H

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

#endif
