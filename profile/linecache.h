/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files and lines of a module's functions, kept from one run to the next. They
 * are in a separate debug file, whose sections must be inflated as a whole
 * before the first question can be answered; that takes longer than all the
 * rest of symbolizing, and the answers never change.
 *
 * One text file per build id in a folder of the user's:
 *
 *   slope-lines 1 SIZE SECONDS NANOSECONDS     of the debug file
 *   OFFSET LINE FILE                           one per function, OFFSET in hexadecimal; no FILE: there is none
 *   end COUNT
 *
 * A file of another version, of another debug file, of another user or with
 * anything wrong in it is not used, and replaced. It is written under a
 * temporary name first: who reads sees a whole one, and of two who write, one
 * wins. The oldest go when there are more than SLOPE_LINECACHE_FILES.
 *
 * Nothing here fails: what cannot be kept is looked up again next time.
 */
#ifndef SLOPE_PROFILE_LINECACHE_H
#define SLOPE_PROFILE_LINECACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOPE_LINECACHE_FILES 256u
#define SLOPE_LINECACHE_BYTES (4u << 20)   /* a larger file is neither read nor written */

struct slope_linecache_entry;

struct slope_linecache {
	char *path;                  /* of the file; NULL: nothing is kept */
	char head[128];              /* what its first line must be */
	char *text;                  /* what was read; entries point into it */
	struct slope_linecache_entry *entry;   /* those that were read, sorted by offset; new ones behind them */
	size_t known, count, capacity;
};

/*
 * What is kept for the build id. `folder` NULL or empty, no build id, or a
 * debug file that is not there: nothing, and nothing will be.
 */
void slope_linecache_open(struct slope_linecache *c, const char *folder, const uint8_t *id, uint32_t id_bytes,
			  const char *debug_file);

/* Is the function's place known? Then *file (NULL: it has none) and *line, until _close. O(log functions). */
bool slope_linecache_find(const struct slope_linecache *c, uint64_t offset, const char **file, uint32_t *line);

/* To be kept. `file` may be NULL; it is copied. */
void slope_linecache_add(struct slope_linecache *c, uint64_t offset, const char *file, uint32_t line);

/* Writes the file if there is something new. */
void slope_linecache_close(struct slope_linecache *c);

#endif
