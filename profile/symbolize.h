/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names, files and lines for the functions of a profile, from the ELF files
 * and debug files of this machine. Done once, right after the run: then they
 * travel with the profile.
 */
#ifndef SLOPE_PROFILE_SYMBOLIZE_H
#define SLOPE_PROFILE_SYMBOLIZE_H

#include "profile/elfshelf.h"
#include "profile/profile.h"

struct slope_symbolize_options {
	const char *debug_path;      /* where separate debug files are looked for (elfutils' words); NULL: the default */
	const char *cache_folder;    /* where lines of separate debug files are kept (linecache.h); NULL: nowhere */
	struct slope_elfshelf *shelf;    /* where files stay open for the next profile; NULL: each is closed */
	/* Told before each module with functions; NULL: nobody. */
	void (*progress)(void *ctx, size_t done, size_t modules, const char *path);
	void *progress_ctx;
};

/*
 * Sets name, raw_name, file and line of every function. A file that is gone,
 * or is not the build that ran, is not used: a sentence in `problem` says so,
 * and its functions show the source's own name or "module+0xoffset". An
 * address inside a symbol, not at its start, shows as "symbol+0xdistance". A
 * profile that is symbolized already is left alone.
 *
 * `o` may be NULL. False only when memory runs out; the profile is whole then,
 * but some functions keep the names they had. Each module is read once;
 * debuginfod is asked only when DEBUGINFOD_URLS is set.
 */
bool slope_profile_symbolize(struct slope_profile *p, const struct slope_symbolize_options *o);

#endif
