/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report page (`slope html`) as a file that holds a profile: the profile's
 * bytes, with points by columns, in a gzip stream, as text (profile/text7.h), in
 * an element of their own. docs/page.md says what else is in a page.
 *
 * A chunk by columns (profile/columns.h) has its tag in small letters and keeps
 * the checksum of what it was. So a reader that puts it together again sees
 * whether all of it is right.
 */
#ifndef SLOPE_PROFILE_PAGE_H
#define SLOPE_PROFILE_PAGE_H

#include <stdio.h>

#include "profile/profile.h"

/* A page begins with this, and the profile's text stands between these two. */
#define SLOPE_PAGE_START "<!doctype html>\n<!-- slope page 1: "
#define SLOPE_PAGE_PROFILE "<script type=\"text/slope7\" id=\"slope-profile\">"
#define SLOPE_PAGE_END "</script>"

/* Is this the beginning of a page? `count` bytes may be fewer than the mark: then it may still become one. */
bool slope_page_begins(const void *bytes, size_t count);

/* Writes the bytes of a profile as pages hold them, not packed yet. False when `out` or memory fails. */
bool slope_page_put(const struct slope_profile *p, FILE *out);

/*
 * The profile in a page, as its file would be: a block from malloc, with its size in `*profile_bytes`.
 * NULL and a sentence in `error` when there is none or it is damaged. The page
 * itself is overwritten on the way.
 */
unsigned char *slope_page_profile(unsigned char *page, size_t count, size_t *profile_bytes, char *error, size_t error_bytes);

#endif
