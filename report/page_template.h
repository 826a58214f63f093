/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report page without its data, as report/web/ makes it when slope is built:
 * script and style are inside. One of two files defines it: the one that the
 * build generates, or page_absent.c where the page could not be built.
 */
#ifndef SLOPE_REPORT_PAGE_TEMPLATE_H
#define SLOPE_REPORT_PAGE_TEMPLATE_H

#include <stddef.h>

extern const unsigned char slope_page_template[];
extern const size_t slope_page_template_bytes;   /* 0: slope was built without the page */
extern const char slope_page_absence[];          /* then: why */

#endif
