/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A block of data inside the report page: whatever is printed goes through gzip
 * and then becomes text that a page may contain (profile/text7.h). A stream like
 * any other, so that everything that prints to a FILE can print into a page.
 */
#ifndef SLOPE_REPORT_BLOCK_H
#define SLOPE_REPORT_BLOCK_H

#include <stdio.h>

/*
 * A stream whose bytes arrive packed in `out`, in an element with this id. NULL
 * when memory runs out. fclose ends the element and not `out`; it fails when
 * `out` did not take everything.
 */
FILE *slope_block_open(FILE *out, const char *id);

#endif
