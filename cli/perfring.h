/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of a process that runs, as the kernel takes them. */
#ifndef SLOPE_CLI_PERFRING_H
#define SLOPE_CLI_PERFRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SLOPE_REMOTE_REGISTERS 17u       /* in the order of DWARF: 16 of the processor, then where it is */

struct slope_remote_sample {
	pid_t tid;
	uint64_t weight_ns;
	bool in_user;                        /* registers are there */
	uint64_t reg[SLOPE_REMOTE_REGISTERS];
	const unsigned char *stack;          /* from the stack pointer on */
	size_t stack_bytes;
};

struct slope_perfring {
	pid_t pid;
	int *fd;                             /* for each processor those of all threads; the first has the ring */
	void **ring;                         /* by processor */
	size_t processors, threads, fds;
	size_t ring_bytes;
	unsigned char *record;               /* one that crosses the ring's end */
	uint32_t stack_bytes;
	bool kernel;                         /* time in the kernel counts, too */
	uint64_t lost;                       /* samples that found no room */
	bool mapped;                         /* the process has mapped code since this was last cleared */
};

/* Begins, `rate` times a second of each thread's time. False, with one line said, when that cannot be. */
bool slope_perfring_open(struct slope_perfring *r, pid_t pid, uint64_t rate);
void slope_perfring_close(struct slope_perfring *r);

/* Waits for samples, so long at most. False: all threads have ended. */
bool slope_perfring_wait(struct slope_perfring *r, int timeout_ms);

/* Calls `take` for each sample that is there; what it gets is gone afterwards. */
void slope_perfring_read(struct slope_perfring *r, void (*take)(void *ctx, const struct slope_remote_sample *sample), void *ctx);

#endif
