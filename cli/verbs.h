/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The verbs of the command, one file each. A verb gets argv with its own name
 * in argv[0] and returns the exit status.
 */
#ifndef SLOPE_CLI_VERBS_H
#define SLOPE_CLI_VERBS_H

/* X(name, what it does): the one list of verbs, in the order of --help. */
#define SLOPE_VERB_LIST(X)                                                                   \
	X(record, "profile a run of a program and write slope.data")                         \
	X(report, "show the functions of a profile")                                         \
	X(show, "show one function: its curve, growth, workload, callers and source")         \
	X(explain, "say what makes a function grow: its own code or a callee, down to the culprit") \
	X(diff, "say what grows or costs otherwise than in another profile")                 \
	X(check, "hold the growth of functions against rules or a baseline: a gate for CI")   \
	X(contexts, "show along which callers the cost of functions comes")                     \
	X(paths, "show which ways through functions were taken, and what they cost")             \
	X(threads, "show the threads of a profile, and what other threads and the outside feed") \
	X(html, "write the report as one page that any browser opens, with the profile in it") \
	X(export, "print a profile in another format: csv, json, callgrind")                 \
	X(merge, "make one profile of several")                                              \
	X(info, "print the facts of a profile: program, source, sizes, what was lost")       \
	X(ctl, "start, stop, look at or save what is sampled while the program runs")        \
	X(doctor, "say what works on this machine, what is missing and how to get it")

#define X(name, text) int slope_verb_##name(int argc, char **argv);
SLOPE_VERB_LIST(X)
#undef X

/* `slope [record's options] PROGRAM`: records, then reports. The program's exit status. */
int slope_record_and_report(int argc, char **argv);

/* The report of one file with every option at its default; for slope_record_and_report. */
int slope_report_profile_at(const char *path);

/* The same for a profile with paths only. */
int slope_paths_profile_at(const char *path);

#endif
