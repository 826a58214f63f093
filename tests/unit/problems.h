/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a profile says is wrong with it; after cmocka.h. */
#ifndef SLOPE_TESTS_PROBLEMS_H
#define SLOPE_TESTS_PROBLEMS_H

#include <string.h>

#include "profile/profile.h"

/* Does it say this? If not, what it says instead is printed. */
static inline bool has_problem(const struct slope_profile *p, const char *sentence)
{
	for (size_t i = 0; i < p->problem_count; i++)
		if (!strcmp(p->problem[i], sentence))
			return true;
	for (size_t i = 0; i < p->problem_count; i++)
		print_message("problem: %s\n", p->problem[i]);
	return false;
}

#endif
