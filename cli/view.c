/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/view.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/messages.h"

unsigned slope_view_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
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
