/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run of a program under one source, with the settings of `record`: the
 * source's options, the files it leaves, what it had to say.
 */
#ifndef SLOPE_CLI_RECORDING_H
#define SLOPE_CLI_RECORDING_H

#include <stdint.h>

#include "cli/launch.h"
#include "cli/runfiles.h"
#include "cli/toollog.h"
#include "profile/live.h"

/* What the command line says. */
struct slope_settings {
	const char *output, *cost;
	unsigned source, input, fair_sched, access;
	uint64_t cell, max_points, max_threads, stamp_limit, block_runs, window_log2;
	struct slope_list toggle, only, skip;
	bool no_symbols, quiet, verify, json;
	const char *contexts;        /* as given; NULL: not */
	uint64_t context_k;          /* what that says; 0: the tree */
	bool context_sites;
	unsigned context_recursion;  /* 0: keep, 1: collapse */
	uint64_t context;            /* callers by which points are told apart; 0: none */
	uint64_t max_contexts;
	const char *burst;           /* as given; NULL: not */
	uint64_t burst_period_ns, burst_length_ns;
	bool paths;                  /* count them; --event says so, too */
	bool input_given;            /* --input was: paths are counted together with input sizes */
	const char *event;           /* the list as given; NULL: not */
	uint64_t path_sample;        /* for so many calls and ends of paths a few paths are measured; 0: not given */
	const char *perturbation;    /* as given; NULL: not */
	uint64_t rounds;             /* what that says */
	uint64_t rate;               /* of the sampler, per second; 0: not given */
	unsigned clock;              /* 0: the processor's time, 1: what passes */
	bool no_trampoline;
	const char *duration;        /* as given; NULL: not */
	uint64_t duration_ns;        /* what that says */
	bool delayed;                /* begin stopped */
	const char *attach;          /* as given; NULL: not */
};

/* Starts as zeros. */
struct slope_recording {
	struct slope_runfiles files;
	struct slope_toollog log;
	pid_t pid;                   /* the main process */
	int status;                  /* its end, as from waitpid */
	struct slope_live live;      /* by which the sampler can be talked to */
};

/*
 * Runs `program`, which is in `file`, under the launcher's source, and waits
 * for its end; the profile is to be `output`. False, with one line said and
 * nothing changed, when it could not be started. What the program left is
 * then to be collected from `r->files`, what the source said from `r->log`.
 */
bool slope_recording_run(struct slope_recording *r, const struct slope_settings *s, struct slope_launcher *launcher,
			 const char *output, char **program, char *file);
void slope_recording_fini(struct slope_recording *r);

#endif
