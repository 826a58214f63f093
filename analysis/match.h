/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a pattern mean a function? A pattern is a whole name or a glob (* ? [),
 * and is held against what a person may have seen: the shown name, the shown
 * name without its parameters, and the symbol. What a person types to find one
 * function is looked up more freely: analysis/lookup.h.
 */
#ifndef SLOPE_ANALYSIS_MATCH_H
#define SLOPE_ANALYSIS_MATCH_H

#include "profile/profile.h"

/* Has the pattern any of * ? [ ? */
bool slope_match_is_glob(const char *pattern);

/* The text as a whole, or a glob that fits it: "operator*" fits itself, too. */
bool slope_match_text(const char *pattern, const char *text);

/* A glob, or a part of the name. NULL and "" fit every name. */
bool slope_match_filter(const char *filter, const char *name);

/* Bytes of a shown name that come before its parameter list; all of them where it has none. */
size_t slope_match_bare(const char *name);

/* By any of its names. */
bool slope_match_function(const char *pattern, const struct slope_profile_function *f);

#endif
