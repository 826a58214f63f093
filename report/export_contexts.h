/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of `slope export --format=json` that is about contexts. */
#ifndef SLOPE_REPORT_EXPORT_CONTEXTS_H
#define SLOPE_REPORT_EXPORT_CONTEXTS_H

#include "profile/profile.h"
#include "report/json.h"

/* What a record of functions has: function, thread, calls, total, self, input, points. */
void slope_export_row(struct slope_json *j, const struct slope_profile *p, const struct slope_profile_row *row);

/* Keys contexts and variants; null where they were not recorded. */
void slope_export_contexts(struct slope_json *j, const struct slope_profile *p);

#endif
