/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How verbs open a profile: with one line when it cannot be used, and a line
 * for each part of it that is missing.
 */
#ifndef SLOPE_CLI_DATAFILE_H
#define SLOPE_CLI_DATAFILE_H

#include "profile/elfshelf.h"
#include "profile/profile.h"

#define SLOPE_DEFAULT_FILE "slope.data"

/*
 * Loads `path` as it is. NULL after one line was said. The caller frees it
 * with slope_profile_free.
 */
struct slope_profile *slope_datafile_load(const char *path);

/* The same for a verb that shows functions: names are filled in where record did not. */
struct slope_profile *slope_datafile_open(const char *path);

/* The same for a verb that needs costs and input sizes of functions: a profile with paths only is refused in one line. */
struct slope_profile *slope_datafile_open_costs(const char *path);

/* --no-inline: the profile, if any, without frames for inlined functions; NULL, with a line said and the profile freed, without memory. */
struct slope_profile *slope_datafile_fold(struct slope_profile *profile);

/*
 * The folder where source lines are kept between runs, to be given to free():
 * SLOPE_CACHE, or "slope" in the user's folder for such things. NULL: none, as
 * with an empty SLOPE_CACHE.
 */
char *slope_datafile_cache(void);

/* Symbolizes with a progress line on a terminal. `shelf`: of files that stay open for other profiles; may be NULL. */
void slope_datafile_symbolize(struct slope_profile *profile, struct slope_elfshelf *shelf);

/* Says what is missing or damaged, a few lines at most; for output that has no place for it. */
void slope_datafile_say_problems(const struct slope_profile *profile, const char *path);

/*
 * Is the file to write the one that is read? True after one line was said.
 * NULL for a file that there is not; devices may be both.
 */
bool slope_datafile_overwrites(const char *output, const char *input);

/*
 * The one file among the operands argv[1..argc), or the default one. NULL
 * after one line was said when there are more.
 */
const char *slope_datafile_operand(int argc, char **argv);

/* Rows of cost points under the profile's main input size. */
uint64_t slope_datafile_points(const struct slope_profile *profile);
/* Different paths that were taken, in all threads and contexts; the functions that have any are added to `*functions`. */
uint64_t slope_datafile_paths(const struct slope_profile *profile, uint64_t *functions);

/* Samples in all; 0 in a profile that was not sampled. */
uint64_t slope_datafile_samples(const struct slope_profile *profile);

/* Functions that ran, without the stand-in for threads. */
uint64_t slope_datafile_functions(const struct slope_profile *profile);

#endif
