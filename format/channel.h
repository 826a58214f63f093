/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a recording is talked to while it runs: a file that `record` makes, with
 * rights for its owner alone, and that all its processes have in memory. Each
 * has a slot there. Who wants something writes it into the head, counts
 * `request` up and sends every process its signal with SLOPE_CHANNEL_VALUE; a
 * process does what is asked and says in its slot that it has.
 *
 * Words that several processes write (pid, request, done, stopped) are read and
 * written as a whole, by atomic operations.
 */
#ifndef SLOPE_FORMAT_CHANNEL_H
#define SLOPE_FORMAT_CHANNEL_H

#include <stdint.h>

#define SLOPE_CHANNEL_MAGIC "slopectl"
#define SLOPE_CHANNEL_VERSION 1u
#define SLOPE_CHANNEL_VALUE 0x736c7065   /* what comes with the signal */
#define SLOPE_CHANNEL_SLOTS 1024u
#define SLOPE_CHANNEL_PATH_BYTES 4096u
#define SLOPE_CHANNEL_TEXT_BYTES 256u

enum slope_channel_action {
	SLOPE_CHANNEL_SETTLE,        /* be stopped, or not, as the head says; tell how it stands */
	SLOPE_CHANNEL_WRITE,         /* that, and write the profile so far, under its own name */
	SLOPE_CHANNEL_SNAPSHOT,      /* that, and write it as `snapshot` says */
};

struct slope_channel_slot {          /* a process */
	uint32_t pid;                /* 0: a free slot */
	uint32_t signal;             /* that it listens to */
	uint64_t claimed_ns;         /* by CLOCK_BOOTTIME: a process of this number that began later is another one */
	uint32_t done;               /* the last request that it has seen to */
	uint32_t stopped;            /* what it was at that time */
	uint32_t threads, failed;    /* failed: what should have been written was not */
	uint64_t samples;
	char name[16];
};

struct slope_channel {
	char magic[8];
	uint32_t version, request, action;
	uint32_t stopped;            /* nothing is to be measured now */
	uint32_t recorder, main_pid; /* the process of `record`, and of the program; 0: not known yet */
	uint64_t created_ns;         /* by CLOCK_BOOTTIME */
	char program[SLOPE_CHANNEL_TEXT_BYTES];
	char output[SLOPE_CHANNEL_PATH_BYTES];
	char snapshot[SLOPE_CHANNEL_PATH_BYTES];  /* a file; %p is the process */
	struct slope_channel_slot slot[SLOPE_CHANNEL_SLOTS];
};

#endif
