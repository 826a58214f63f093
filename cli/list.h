/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growing list of texts that it owns, always ended by NULL so that it can be
 * handed to exec. Start with {0}. Out of memory ends slope with one line.
 */
#ifndef SLOPE_CLI_LIST_H
#define SLOPE_CLI_LIST_H

#include <stddef.h>

struct slope_list {
	char **text;                 /* NULL while the list is empty */
	size_t count, capacity;
};

/* Appends a text made as by slope_text; the list frees it. */
void slope_list_add(struct slope_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a text that the list takes over. */
void slope_list_take(struct slope_list *list, char *text);

void slope_list_fini(struct slope_list *list);

#endif
