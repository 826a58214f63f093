/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files that a run of `record` leaves. The tool writes the profile under
 * its final name (by way of NAME.tmp.PID and a rename), so that it survives
 * whatever happens to slope; children write NAME.PID, and an image that exec
 * replaced NAME.exec1, NAME.PID.exec1 and so on. A %p in the name stands for
 * the process id, and nothing but .exec1 is appended then. A process that has
 * given up the right to rename its file leaves that to us.
 *
 * A profile of an earlier run becomes NAME.old, but only once there is a new
 * one: until then a second link holds it.
 */
#ifndef SLOPE_CLI_RUNFILES_H
#define SLOPE_CLI_RUNFILES_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "cli/list.h"

struct slope_runfiles {
	char *path;                  /* absolute, as given to the tool */
	char *folder, *name;         /* its two parts */
	char *held;                  /* the link that holds the earlier profile; NULL: none */
	ino_t old_inode;             /* of the earlier profile; 0: none */
	struct timespec start;       /* by the clock of the file system */
	struct slope_list found;     /* this run's profiles, the main process first */
	bool partial;                /* the first one was cut off while it was written */
};

/*
 * Makes sure that `file` can be written, by doing so. False, with one line
 * said and nothing changed, when not.
 */
bool slope_runfiles_prepare(struct slope_runfiles *files, const char *file);

/*
 * After the run: fills `found`, moves an earlier profile to NAME.old or, when
 * the main process left none, puts all back as it was. Leftovers of processes
 * that are gone are removed, or renamed where they are whole; a cut-off profile
 * of the main process is kept under its name when part of it can be read. True when the main process left
 * a profile.
 */
bool slope_runfiles_collect(struct slope_runfiles *files, pid_t main_process);

/* When nothing was run: the earlier profile stays what it was. */
void slope_runfiles_cancel(struct slope_runfiles *files);

void slope_runfiles_fini(struct slope_runfiles *files);

/* Does a file name fit a pattern in which each %p is a number? */
bool slope_runfiles_match(const char *pattern, const char *name);

#endif
