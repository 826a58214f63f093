/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/match.h"

#include <fnmatch.h>
#include <string.h>

#define BARE_BYTES 2048u         /* a name without parameters that is longer fits as a whole only */

bool slope_match_is_glob(const char *pattern)
{
	return strpbrk(pattern, "*?[") != NULL;
}

bool slope_match_text(const char *pattern, const char *text)
{
	return !strcmp(pattern, text) || !fnmatch(pattern, text, 0);
}

bool slope_match_filter(const char *filter, const char *name)
{
	if (!filter || !filter[0])
		return true;
	return slope_match_is_glob(filter) ? !fnmatch(filter, name, 0) : strstr(name, filter) != NULL;
}

/* The end of the name without one thing that may follow its parameters: "const", "&", "[clone .cold]". */
static size_t without_ending(const char *name, size_t end)
{
	static const char *const endings[] = { " const", " volatile", " noexcept", " &", "&" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t bytes = strlen(endings[i]);

		if (end > bytes && !memcmp(name + end - bytes, endings[i], bytes))
			return end - bytes;
	}
	if (end && name[end - 1] == ']')
		for (size_t i = end; i-- > 1;)
			if (name[i] == '[')
				return name[i - 1] == ' ' ? i - 1 : end;
	return end;
}

/* Where the bracket opens that closes before `end`; `end` where there is none. */
static size_t opening(const char *name, size_t end)
{
	size_t depth = 0;

	for (size_t i = end; i-- > 0;) {
		depth += name[i] == ')';
		if (name[i] == '(' && !--depth)
			return i;
	}
	return end;
}

/* The brackets of "operator()" and "(anonymous namespace)" hold no parameters. */
size_t slope_match_bare(const char *name)
{
	size_t length = strlen(name), end = length, before;

	do {
		before = end;
		end = without_ending(name, end);
	} while (end < before);
	if (!end || name[end - 1] != ')')
		return length;
	size_t open = opening(name, end);
	bool operator_call = open >= 8 && !strncmp(name + open - 8, "operator", 8);

	return open && open < end && !operator_call && strncmp(name + open, "(anonymous", 10) ? open : length;
}

bool slope_match_function(const char *pattern, const struct slope_profile_function *f)
{
	char part[BARE_BYTES];
	size_t bare;

	if (f->raw_name && slope_match_text(pattern, f->raw_name))
		return true;
	if (!f->name)
		return false;
	if (slope_match_text(pattern, f->name))
		return true;
	bare = slope_match_bare(f->name);
	if (!f->name[bare] || bare >= sizeof(part))
		return false;
	memcpy(part, f->name, bare);
	part[bare] = '\0';
	return slope_match_text(pattern, part);
}
