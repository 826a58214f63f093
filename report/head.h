/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a page of text begins with: the command, how it ended, what was measured, and what is missing from it. */
#ifndef SLOPE_REPORT_HEAD_H
#define SLOPE_REPORT_HEAD_H

#include "report/report.h"

/* `cost` is the program's, in the chosen unit. False when memory runs out. */
bool slope_report_head(const struct slope_profile *p, uint64_t cost, const struct slope_report_options *o, FILE *out);

#endif
