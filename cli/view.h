/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What verbs that show a profile share: which unit, which input size, which
 * function is meant, and what the terminal can show. What cannot be answered
 * is said on stderr.
 */
#ifndef SLOPE_CLI_VIEW_H
#define SLOPE_CLI_VIEW_H

#include "profile/profile.h"

/* Choices of --input, in the order of SLOPE_METRIC_*; and "not given". */
#define SLOPE_VIEW_INPUTS "trms|rms"
#define SLOPE_VIEW_INPUT_NOT_GIVEN SLOPE_METRICS

/* The position of a cost unit; NULL stands for the first. False after a line was said: the profile has none such. */
bool slope_view_unit(const struct slope_profile *profile, const char *name, uint32_t *unit);

/* Leaves `*metric` as it is when `input` is not given. False after a line was said: it was not recorded. */
bool slope_view_metric(const struct slope_profile *profile, unsigned input, uint32_t *metric);

/*
 * The one function that is meant (analysis/lookup.h). False after it was said
 * that none fits, with names like it, or which ones do, the most costly first.
 */
bool slope_view_function(const struct slope_profile *profile, const char *typed, uint32_t unit, uint32_t *function);

/* Columns of the terminal on stdout; 0: none. */
unsigned slope_view_width(void);

/* Does the locale leave us only ASCII? */
bool slope_view_ascii(void);

#endif
