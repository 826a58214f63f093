/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/duration.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DURATION_MAX_NS 1e18

static uint64_t rounded(double ns)
{
	return ns >= 1 && ns <= DURATION_MAX_NS ? (uint64_t)(ns + 0.5) : 0;
}

uint64_t slope_duration_read(const char **text)
{
	static const struct { const char *name; double ns; } unit[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 },
	};
	char *end = NULL;
	double time = isdigit((unsigned char)**text) ? strtod(*text, &end) : 0;

	for (size_t i = 0; time > 0 && i < sizeof unit / sizeof *unit; i++) {
		size_t length = strlen(unit[i].name);

		if (!strncmp(end, unit[i].name, length)) {
			*text = end + length;
			return rounded(time * unit[i].ns);
		}
	}
	return 0;
}

uint64_t slope_duration_of(const char *text)
{
	const char *behind = text;
	uint64_t ns = slope_duration_read(&behind);
	char *end = NULL;

	if (ns)
		return *behind ? 0 : ns;
	double seconds = isdigit((unsigned char)*text) ? strtod(text, &end) : 0;

	return seconds > 0 && !*end ? rounded(seconds * 1e9) : 0;
}
