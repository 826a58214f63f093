/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the views for people have in common: the lines at their head (what ran,
 * how it ended, what is missing) and some cells of their tables. Text that came
 * with the profile is made harmless on the way.
 */
#ifndef SLOPE_REPORT_PARTS_H
#define SLOPE_REPORT_PARTS_H

#include "report/report.h"
#include "report/table.h"

/* "0", "<0.1%", "12.3%", "100%" for a share of 0 to 1. Returns `text`; 16 bytes are enough. */
const char *slope_parts_percent(double share, char *text, size_t bytes);

/* The same for part of whole. */
const char *slope_parts_part(uint64_t part, uint64_t whole, char *text, size_t bytes);

/* What the numbers of a cost unit are: "nanoseconds" or "bytes"; NULL: they count something. */
const char *slope_parts_measure(const char *unit);

/* What a cost unit counts, as " (instructions)"; "" for one that we do not know. */
const char *slope_parts_unit(const char *unit);

/* The label of a line of the head, and a whole such line. Where bool: false when memory runs out. */
void slope_parts_label(const char *label, const struct slope_report_options *o, FILE *out);
bool slope_parts_line(const char *label, const char *text, const struct slope_report_options *o, FILE *out);

/* The command as a shell would take it, to be given to free(); it may hold anything. NULL when memory runs out. */
char *slope_parts_command(const struct slope_profile *p);

/* The same in one line that fits. */
bool slope_parts_program(const struct slope_profile *p, const struct slope_report_options *o, FILE *out);

/* How it ended, with how many threads and coroutines, seen by which source. */
void slope_parts_run(const struct slope_profile *p, const struct slope_report_options *o, FILE *out);

/*
 * Calls `put` with a label and a sentence for each thing that is missing from
 * the profile, until it says false; that is then the answer.
 */
bool slope_parts_each_loss(const struct slope_profile *p, bool (*put)(void *to, const char *label, const char *text),
			   void *to);

/* A line for each of them. Every view shows these. */
bool slope_parts_losses(const struct slope_profile *p, const struct slope_report_options *o, FILE *out);

/* A function's name and, in brackets, its place: file and line, or module. False when memory runs out. */
bool slope_parts_function(const struct slope_profile *p, uint32_t function, enum slope_table_style style, bool color,
			  FILE *out);

/*
 * A cell that says where a function is: the program's own code by file and
 * line, other code by its module; as much of both as `width` columns have room
 * for.
 */
void slope_parts_place(struct slope_table *t, const struct slope_profile *p, const struct slope_profile_function *f,
		       unsigned width);

/* A cell with part of whole as a percentage. */
void slope_parts_share(struct slope_table *t, enum slope_table_style style, uint64_t part, uint64_t whole);

#endif
