/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the options of verbs that show functions have in common. */
#ifndef SLOPE_CLI_VIEW_H
#define SLOPE_CLI_VIEW_H

#include "profile/profile.h"

/* Columns of the terminal that stdout is; 0: it is none. */
unsigned slope_view_width(void);

/* --input of such a verb: the words, in the order of SLOPE_METRIC_*, and the number that stands for "not given". */
#define SLOPE_VIEW_INPUTS "trms|rms"
#define SLOPE_VIEW_INPUT_NOT_GIVEN SLOPE_METRICS

/* The position of the unit that --unit names; the first one for NULL. False after one line was said. */
bool slope_view_unit(const struct slope_profile *profile, const char *name, uint32_t *unit);

/* The metric that --input names; `*metric` stays for "not given". False after one line was said. */
bool slope_view_metric(const struct slope_profile *profile, unsigned input, uint32_t *metric);

#endif
