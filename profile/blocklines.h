/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which source lines a piece of code is from. Asked for when paths are shown,
 * from the files of this machine: a module that is gone, or is another build
 * than the one that ran, has none.
 */
#ifndef SLOPE_PROFILE_BLOCKLINES_H
#define SLOPE_PROFILE_BLOCKLINES_H

#include "profile/profile.h"

struct slope_code_line {
	const char *file;            /* belongs to the answer's struct slope_blocklines; equal files are the same pointer */
	uint32_t line;
};

struct slope_blocklines;             /* modules that were asked about, and files that were named */

/* Nothing is opened yet. `debug_path` as for symbolizing, may be NULL. The profile must outlive it. NULL: no memory. */
struct slope_blocklines *slope_blocklines_new(const struct slope_profile *p, const char *debug_path);
void slope_blocklines_free(struct slope_blocklines *b);

/*
 * The lines that `bytes` bytes of a module from `address` on are from: by file, the one that comes first in the code
 * first, then ascending, each once; `*count` of them, until the next question. NULL when there are none, or memory ran out.
 * The first question about a module reads its debug information.
 */
const struct slope_code_line *slope_blocklines_of(struct slope_blocklines *b, uint32_t module, uint64_t address, uint64_t bytes,
						  size_t *count);

/*
 * Why a module that was asked about has no lines, as a sentence's end: "is not the build that ran"; NULL: it has lines, or
 * was not asked about.
 */
const char *slope_blocklines_why(const struct slope_blocklines *b, uint32_t module);

#endif
