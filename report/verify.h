/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `slope record --verify` prints. False means that memory ran out; whether
 * `out` took everything is the caller's to ask (ferror).
 */
#ifndef SLOPE_REPORT_VERIFY_H
#define SLOPE_REPORT_VERIFY_H

#include <stdio.h>

#include "analysis/discord.h"

struct slope_verify_view {
	const struct slope_profile *profile;     /* both runs as one */
	const struct slope_discord *discord;
	const char *source[2];
	char *const *program;        /* ended by NULL */
	int status[2];               /* how the program ended, as a shell would say it */
	size_t processes[2];         /* that left a profile, images replaced by exec included */
	bool same_output;            /* it printed the same; false only where it prints the same twice under one source */
	bool repeated;               /* a third run shows what is unsteady */
	bool agree;
	bool color;
	unsigned width;              /* columns of the terminal; 0: as wide as it gets */
};

/* One line when all agree, else a table of causes, and what follows and was left out in a line each. */
bool slope_verify_text(const struct slope_verify_view *v, FILE *out);

/* Schema "slope-verify/1". */
bool slope_verify_json(const struct slope_verify_view *v, FILE *out);

#endif
