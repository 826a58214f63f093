/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/match.h"

#include <fnmatch.h>
#include <string.h>

#define BARE_BYTES 2048u         /* a name without parameters that is longer fits as a whole only */

/* The last "(" at the top level with something before it, but not that of "operator()". */
size_t slope_match_bare(const char *name)
{
	size_t length = strlen(name), depth = 0;

	for (size_t i = length; i-- > 0;) {
		if (name[i] == ')') {
			depth++;
		} else if (name[i] == '(' && depth && !--depth) {
			bool operator_call = i >= 8 && !strncmp(name + i - 8, "operator()", 10);

			return i && !operator_call && strncmp(name + i, "(anonymous", 10) ? i : length;
		}
	}
	return length;
}

static bool fits(const char *pattern, const char *text)
{
	return !strcmp(pattern, text) || !fnmatch(pattern, text, 0);
}

bool slope_match_function(const char *pattern, const struct slope_profile_function *f)
{
	char part[BARE_BYTES];
	size_t bare;

	if (f->raw_name && fits(pattern, f->raw_name))
		return true;
	if (!f->name)
		return false;
	if (fits(pattern, f->name))
		return true;
	bare = slope_match_bare(f->name);
	if (!f->name[bare] || bare >= sizeof(part))
		return false;
	memcpy(part, f->name, bare);
	part[bare] = '\0';
	return fits(pattern, part);
}
