/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `slope record --perturbation` prints: how much a program does natively
 * and while it is recorded, by one metric after the other, as medians of some
 * rounds. False means that memory ran out; whether `out` took everything is
 * the caller's to ask (ferror).
 */
#ifndef SLOPE_REPORT_DISTURBANCE_H
#define SLOPE_REPORT_DISTURBANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct slope_disturbance_row {
	const char *name;
	bool nanoseconds;            /* else numbers */
	double native, recorded;     /* medians; NaN: not known */
	double ratio, least, most;   /* recorded over native, round by round: median and range; NaN: not known */
	double paths, paths_ratio;   /* what the profile's own paths add up to, and over native; NaN: not measured along them */
	double running;              /* for which part of the time it was really counted; 1: all, else it is scaled */
};

struct slope_disturbance {
	char *const *program;        /* ended by NULL */
	const char *source;
	uint64_t rounds;
	const struct slope_disturbance_row *row;
	size_t count;
	uint64_t path_period;        /* one activation in so many was measured; 0: none */
	double unmeasured;           /* which part of all executions was of paths that were never measured */
	bool color;
	unsigned width;              /* columns of the terminal; 0: as wide as it gets */
};

bool slope_disturbance_text(const struct slope_disturbance *d, FILE *out);

/* Schema "slope-perturbation/1". */
bool slope_disturbance_json(const struct slope_disturbance *d, FILE *out);

#endif
