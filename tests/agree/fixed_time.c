/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preloaded into the programs of tests/agree/callgrind and tests/agree/sources:
 * the time of day stands still. libxml2 seeds the hash of its dictionaries
 * with it, so two runs of xmllint would do the same work only within one second.
 */
#include <time.h>

time_t time(time_t *place)
{
	if (place)
		*place = 1700000000;
	return 1700000000;
}
