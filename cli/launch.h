/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a program under a source: the Valgrind tool, the translator or the sampler. Finds what
 * is needed, starts it, stands between the terminal and the program for signals, and waits.
 */
#ifndef SLOPE_CLI_LAUNCH_H
#define SLOPE_CLI_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/list.h"

/* Where things are. A NULL is something that is not there. */
struct slope_launcher {
	char *valgrind;              /* the launcher program */
	char *folder;                /* absolute; holds the tool and what Valgrind itself needs */
	char *tool;                  /* folder/slope-amd64-linux */
	char *translator;            /* slope's own */
	bool translated;             /* the translator is to be used */
	char *sampler;               /* slope-sampler.so */
	bool sampled;                /* the sampler is to be used; options are then settings for the environment */
	char *meters;                /* what it measures, in its words; NULL: time */
	char *sampler_calls;         /* slope-sampler-calls.so, which stands before functions of the C library, too */
	bool calls;                  /* that one is to be used */
	bool native;                 /* no source at all: the program by itself, with the environment that it has under one */
	int stdio[3];                /* what the program gets for 0, 1 and 2; -1: ours */
	int signal;                  /* the last that was passed on to the program, or that the terminal sent to both; 0: none */
	void (*started)(void *ctx, pid_t pid);   /* told once it runs; NULL: nobody */
	uint64_t duration_ns;        /* after which, while it goes on, `expired` is told; 0: never */
	void (*expired)(void *ctx);
	void *ctx;
	bool alike;                  /* for a comparison: the program sees the same environment and processor under both sources */
};

/*
 * Valgrind from PATH (Debian's wrapper script is passed by: it changes the
 * program's environment), the tool from SLOPE_LIBEXEC, or from beside slope's
 * own executable.
 */
void slope_launcher_find(struct slope_launcher *launcher);
void slope_launcher_fini(struct slope_launcher *launcher);

/* Is all there? If not, one line says what is missing and how to get it. */
bool slope_launcher_check(const struct slope_launcher *launcher);

/*
 * Starts the source with `options`, --main-pid and `program` behind them, and
 * waits for its end. Meanwhile a signal from the terminal is the program's
 * alone, and SIGINT, SIGQUIT, SIGTERM or SIGHUP that a process sends to slope
 * is passed on. False, with one line said, when it could not be started.
 * `*status` is as from waitpid, `*pid` the process.
 */
bool slope_launcher_run(struct slope_launcher *launcher, const struct slope_list *options,
			char *const *program, pid_t *pid, int *status);

#endif
