/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Separate debug files, as libdwfl looks for them, but for one thing: it loads
 * the client of debuginfod, with all that fetches files from the net, as soon
 * as a file has none here, whether a server is set or not. That takes longer
 * than the symbols of most programs.
 */
#ifndef SLOPE_PROFILE_DEBUGFILES_H
#define SLOPE_PROFILE_DEBUGFILES_H

#include <elfutils/libdwfl.h>

/* A callback of libdwfl (find_debuginfo), for its usual places. */
int slope_debugfiles_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file, const char *link,
			  GElf_Word crc, char **found);

#endif
