/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of the page that report/show_text.c puts together. All of them are false when memory runs out.
 */
#ifndef SLOPE_REPORT_SHOW_PAGE_H
#define SLOPE_REPORT_SHOW_PAGE_H

#include "report/plot.h"
#include "report/show.h"
#include "report/table.h"

/* Columns of the page: the terminal's, between 72 and 120; 80 without one. */
unsigned slope_page_width(const struct slope_show *s);

/* Cost over n, calls over n. Nothing for a function with fewer than two sizes. */
bool slope_page_plots(const struct slope_show *s, FILE *out);

/* The first of these with a mark for each context instead, and a table of contexts; nothing where there are none. */
bool slope_page_split(const struct slope_show *s, struct slope_plot *plot, FILE *out);
bool slope_page_contexts(const struct slope_show *s, FILE *out);

/* Guess ratios, threads, callers, callees. */
bool slope_page_tables(const struct slope_show *s, FILE *out);

bool slope_page_source(const struct slope_show *s, FILE *out);

#endif
