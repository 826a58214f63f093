/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/lookup.h"
#include "cli/messages.h"
#include "report/functions.h"
#include "report/table.h"

#define MATCHES_SAID 10u
#define LIST_COLUMNS 80u

unsigned slope_view_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* As setlocale would choose it, without the change of decimal points that it brings along. */
bool slope_view_ascii(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return !strcasestr(value, "UTF-8") && !strcasestr(value, "UTF8");
	}
	return true;
}

bool slope_view_unit(const struct slope_profile *profile, const char *name, uint32_t *unit)
{
	int position = name ? slope_profile_unit(profile, name) : 0;
	char have[128] = "";

	if (position >= 0) {
		*unit = (uint32_t)position;
		return true;
	}
	for (uint32_t u = 0; u < profile->units; u++)
		snprintf(have + strlen(have), sizeof have - strlen(have), "%s%s", u ? ", " : "", profile->unit_name[u]);
	for (uint32_t m = 0; m < profile->path_metrics; m++)
		snprintf(have + strlen(have), sizeof have - strlen(have), ", %s of paths", profile->path_metric_name[m]);
	slope_say("--unit=%s: the profile has no such cost unit; it has %s", name, have);
	return false;
}

bool slope_view_metric(const struct slope_profile *profile, unsigned input, uint32_t *metric)
{
	if (input == SLOPE_VIEW_INPUT_NOT_GIVEN)
		return true;
	if (profile->metrics & 1u << input) {
		*metric = input;
		return true;
	}
	slope_say("--input=%s: the profile was recorded without; record again with --input=both",
		  input == SLOPE_METRIC_RMS ? "rms" : "trms");
	return false;
}

/* ---- functions ---- */

static void say_none(const struct slope_profile *p, const char *typed, const struct slope_lookup *l)
{
	char near[512] = "";

	for (size_t i = 0; i < l->nears; i++) {
		char *handle = slope_lookup_handle(p, l->near[i]);

		if (handle && strlen(near) + strlen(handle) + 3 < sizeof near)
			sprintf(near + strlen(near), "%s%s", *near ? ", " : "", handle);
		free(handle);
	}
	if (*near)
		slope_say("no function fits '%s'; names like it: %s", typed, near);
	else
		slope_say("no function fits '%s'; 'slope report --top=0' lists them all (what is inlined is in its callers)",
			  typed);
}

static void list_matches(const struct slope_profile *p, const struct slope_lookup *l, size_t shown, uint32_t unit)
{
	const struct slope_table_column column[] = {
		{ p->unit_name[unit] ? p->unit_name[unit] : "cost", true, 0 }, { "to type", false, 20 },
			{ "module", false, 12 },
	};
	struct slope_table t;
	char cost[8];

	slope_table_init(&t, column, 3);
	for (size_t i = 0; i < shown; i++) {
		char *handle = slope_lookup_handle(p, l->match[i].function);

		slope_table_add(&t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(l->match[i].cost, cost));
		slope_table_add(&t, SLOPE_STYLE_PLAIN, "%s", handle ? handle : "?");
		slope_table_add(&t, SLOPE_STYLE_PLAIN, "%s",
				slope_profile_module_of(p, &p->function[l->match[i].function]));
		free(handle);
	}
	slope_table_print(&t, isatty(STDERR_FILENO) ? LIST_COLUMNS : 0, false, stderr);
	slope_table_fini(&t);
}

static void say_several(const struct slope_profile *p, const char *typed, const struct slope_lookup *l, uint32_t unit)
{
	size_t shown = l->count < MATCHES_SAID ? l->count : MATCHES_SAID;

	slope_say("'%s' fits %zu functions; name one of them%s:", typed, l->count,
		  shown < l->count ? ", here are the most costly" : "");
	list_matches(p, l, shown, unit);
}

bool slope_view_function(const struct slope_profile *profile, const char *typed, uint32_t unit, uint32_t *function)
{
	struct slope_lookup l;

	if (!slope_lookup_init(&l, profile, typed, unit)) {
		slope_say("out of memory");
		return false;
	}
	bool one = l.count == 1;

	if (one)
		*function = l.match[0].function;
	else if (l.count)
		say_several(profile, typed, &l, unit);
	else
		say_none(profile, typed, &l);
	slope_lookup_fini(&l);
	return one;
}
