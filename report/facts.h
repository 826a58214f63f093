/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every JSON of ours says about a profile in the same words: the run, its
 * losses, its threads and modules.
 */
#ifndef SLOPE_REPORT_FACTS_H
#define SLOPE_REPORT_FACTS_H

#include "analysis/statistics.h"
#include "profile/profile.h"
#include "report/json.h"

/* Keys source, program, directory, created_by, runs, process, exit, cell_bytes, complete, problems, lost. */
void slope_facts_run(struct slope_json *j, const struct slope_profile *p);

/* Key threads: an array of what slope_facts_thread says about each. */
void slope_facts_threads(struct slope_json *j, const struct slope_profile *p);

/* Of one thread, by position: id, parent, process, os_id, name, coroutine, calls, max_depth, cost by unit, input. */
void slope_facts_thread(struct slope_json *j, const struct slope_profile *p, size_t at);

/* What tells a function from others: name, module, file, line, module_index, offset, symbol. */
void slope_facts_function(struct slope_json *j, const struct slope_profile *p, const struct slope_profile_function *f);

/* Key input: an object of these. */
void slope_facts_input(struct slope_json *j, uint64_t rms, uint64_t trms, uint64_t thread, uint64_t external);

/* Key statistics: the run's input, its volume, and a curve over all functions for each measure; null where not measured. */
void slope_facts_statistics(struct slope_json *j, const struct slope_statistics *s);

/* Key modules: path, build_id (hex or null), start, bytes. Position is the module's number. */
void slope_facts_modules(struct slope_json *j, const struct slope_profile *p);

/* An object of costs: "ir": 12, "bb": 3. */
void slope_facts_costs(struct slope_json *j, const char *key, const struct slope_profile *p, const uint64_t *cost);

#endif
