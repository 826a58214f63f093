/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder for what a command needs only while it runs. */
#ifndef SLOPE_CLI_SCRATCH_H
#define SLOPE_CLI_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* A new one, NAME-XXXXXX in TMPDIR or /tmp; `folder` becomes its path. False, with one line said and `folder` empty: there is none. */
bool slope_scratch_make(char *folder, size_t bytes, const char *name);

/* With the files in it. Nothing happens where `folder` is empty. */
void slope_scratch_remove(const char *folder);

#endif
