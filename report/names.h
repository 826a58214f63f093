/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How exports name threads and functions, where the other tool leaves that to us. */
#ifndef SLOPE_REPORT_NAMES_H
#define SLOPE_REPORT_NAMES_H

#include <stdio.h>

#include "profile/profile.h"

#define SLOPE_NAMES_THREAD_BYTES 32u

/* Thread numbers begin anew in each process; with several of them the process tells them apart. */
bool slope_names_many_processes(const struct slope_profile *p);

/* "2", or with `process` "700.2". Returns `text`, which has SLOPE_NAMES_THREAD_BYTES. */
const char *slope_names_thread(const struct slope_profile_thread *t, bool process, char *text);

/*
 * A name that must stay on its line: control characters become blanks, bytes
 * that are no UTF-8 U+FFFD, and `from` becomes `to`. An empty one becomes "???".
 */
void slope_names_put(const char *name, char from, char to, FILE *out);

#endif
