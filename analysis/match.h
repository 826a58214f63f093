/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a pattern mean a function? A pattern is a whole name or a glob (* ? [),
 * and is held against what a person may have seen: the shown name, the shown
 * name without its parameters, and the symbol.
 */
#ifndef SLOPE_ANALYSIS_MATCH_H
#define SLOPE_ANALYSIS_MATCH_H

#include "profile/profile.h"

/* Bytes of a shown name that come before its parameter list; all of them where it has none. */
size_t slope_match_bare(const char *name);

/* A name that is a glob as well ("operator*") fits as it is written, too. */
bool slope_match_function(const char *pattern, const struct slope_profile_function *f);

#endif
