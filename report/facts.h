/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every JSON of ours says about a profile in the same words: the run, its
 * losses, its threads and modules.
 */
#ifndef SLOPE_REPORT_FACTS_H
#define SLOPE_REPORT_FACTS_H

#include "profile/profile.h"
#include "report/json.h"

/* Keys source, program, directory, created_by, runs, process, exit, cell_bytes, complete, problems, lost. */
void slope_facts_run(struct slope_json *j, const struct slope_profile *p);

/* Key threads: id, parent, process, os_id, name, calls, max_depth, cost by unit. */
void slope_facts_threads(struct slope_json *j, const struct slope_profile *p);

/* Key modules: path, build_id (hex or null), start, bytes. Position is the module's number. */
void slope_facts_modules(struct slope_json *j, const struct slope_profile *p);

/* An object of costs: "ir": 12, "bb": 3. */
void slope_facts_costs(struct slope_json *j, const char *key, const struct slope_profile *p, const uint64_t *cost);

#endif
