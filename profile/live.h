/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recordings that run: profiles in the making. `record` makes a file for each
 * (format/channel.h) in a folder of the user's own, $XDG_RUNTIME_DIR/slope where
 * there is one, else /tmp/slope-UID, and whoever wants to stop, start or look at one finds it
 * there. Only the owner, and root, can.
 */
#ifndef SLOPE_PROFILE_LIVE_H
#define SLOPE_PROFILE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "format/channel.h"

struct slope_live {
	char *path;
	int fd;
	struct slope_channel *channel;
};

/* Zeros, or what _make or _open has filled; in both cases this is the way back. The file stays. */
void slope_live_close(struct slope_live *live);

/*
 * A new file, for this process as the recorder. `program` is a text for people,
 * `output` the profile, `stopped`: nothing is measured until somebody asks. False,
 * with a sentence in `error`, when there is no place for it.
 */
bool slope_live_make(struct slope_live *live, const char *program, const char *output, bool stopped, char *error, size_t error_bytes);

/* Opens one that is there. False: it is not one, or not for us; errno says why. */
bool slope_live_open(struct slope_live *live, const char *path);

/* Is anybody there to talk to: a process of the recording, or the recorder? */
bool slope_live_there(const struct slope_live *live);

/* The slot's process runs, and is still the one that has claimed it. */
bool slope_live_process(const struct slope_channel_slot *slot);

/* Has the recording this process, or is it the recorder itself? */
bool slope_live_has(const struct slope_live *live, pid_t pid);

/*
 * All recordings of this user that are there, in an array from malloc, sorted by
 * age; those that are left of recorders that were killed are removed. `*count`
 * is how many. NULL when memory runs out.
 */
struct slope_live *slope_live_list(size_t *count);

/* The recording that a process is part of, from what it found in its environment. False: none, or it cannot be read (errno). */
bool slope_live_of_process(struct slope_live *live, pid_t pid);

struct slope_live_answer {
	size_t asked, answered, failed;      /* processes; failed: did not get their profile written */
	size_t waiting;                      /* wait in a call that the sampler does not interrupt: they see to it when that ends */
	pid_t silent;                        /* one that has not answered, for other reasons; 0: none */
};

/*
 * Asks all processes of a recording for `action`, stopped or not afterwards,
 * and waits for their answers, `wait_ms` at most. `snapshot`, a path, or NULL.
 * One asks at a time: others wait for it. False with errno when nobody could be asked.
 */
bool slope_live_ask(struct slope_live *live, enum slope_channel_action action, bool stopped, const char *snapshot,
		    unsigned wait_ms, struct slope_live_answer *answer);

#endif
