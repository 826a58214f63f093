/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What Valgrind and the tool have to say. They write it into a folder of their
 * own, one file per process, so that the program's standard error stays the
 * program's; afterwards we repeat what a user needs to know.
 */
#ifndef SLOPE_CLI_TOOLLOG_H
#define SLOPE_CLI_TOOLLOG_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/list.h"

struct slope_toollog {
	char *folder;                /* NULL while there is none */
};

/* Makes the folder and adds Valgrind's option for it. False, with one line said, when that is not possible. */
bool slope_toollog_open(struct slope_toollog *log, struct slope_list *options);

/* Repeats the tool's own messages; with `all_of` not 0, also the first lines of what this process's Valgrind said. */
void slope_toollog_repeat(const struct slope_toollog *log, pid_t all_of);

/* Removes the folder. */
void slope_toollog_close(struct slope_toollog *log);

#endif
