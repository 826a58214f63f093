/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "profile/demangle.h"

/* "_D" alone also begins ordinary C names; a D name goes on with a length or a type. */
static bool looks_like_d(const char *symbol)
{
	return symbol[0] == '_' && symbol[1] == 'D' && (isdigit((unsigned char)symbol[2]) || !strcmp(symbol, "_Dmain"));
}

static char *without_version(const char *symbol)
{
	const char *version = strstr(symbol, "@@");

	return version && version != symbol ? strndup(symbol, (size_t)(version - symbol)) : strdup(symbol);
}

/* A Rust name loses its ".cold" on the way; the cold part is a function of its own. Takes `shown` over. */
static char *with_part(char *shown, const char *symbol)
{
	static const char part[] = ".cold", word[] = " [clone .cold]";
	size_t bytes = strlen(symbol), had = strlen(shown);

	if (bytes < sizeof(part) || strcmp(symbol + bytes - (sizeof(part) - 1), part) || strstr(shown, part))
		return shown;
	char *longer = realloc(shown, had + sizeof(word));

	if (!longer) {
		free(shown);
		return NULL;
	}
	memcpy(longer + had, word, sizeof(word));
	return longer;
}

char *slope_demangle(const char *symbol)
{
	char *plain = without_version(symbol);

	if (!plain)
		return NULL;
	/* libiberty limits its own recursion and gives NULL for what it does not know. */
	char *shown = looks_like_d(plain) ? dlang_demangle(plain, DMGL_PARAMS)
					  : cplus_demangle(plain, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);

	if (!shown)
		return plain;
	shown = with_part(shown, plain);
	free(plain);
	return shown;
}
