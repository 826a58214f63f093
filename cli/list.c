/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/messages.h"

static void out_of_memory(void)
{
	slope_say("out of memory");
	exit(SLOPE_EXIT_FAILED);
}

void slope_list_take(struct slope_list *list, char *text)
{
	if (list->count + 1 >= list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 8;
		char **bigger = realloc(list->text, capacity * sizeof *bigger);

		if (!bigger)
			out_of_memory();
		list->text = bigger;
		list->capacity = capacity;
	}
	list->text[list->count++] = text;
	list->text[list->count] = NULL;
}

void slope_list_add(struct slope_list *list, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		out_of_memory();
	va_end(args);
	slope_list_take(list, text);
}

void slope_list_fini(struct slope_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->text[i]);
	free(list->text);
	*list = (struct slope_list){ 0 };
}
