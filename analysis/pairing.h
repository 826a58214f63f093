/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which function of one profile is which of another, when the program was
 * built anew in between. A function is known by its module and its name:
 *
 * - the module by the last part of its path, up to ".so"; the program's own
 *   module is the program's, whatever it is called in either run;
 * - the name as it is shown, without the hash that Rust appends and without the
 *   number of a compiler's clone;
 * - several of one name (static functions) by file, then line, then offset: the
 *   first is the first, the second the second; where one build has more of
 *   them, only those of one file are the same.
 *
 * Code without a symbol is called after its offset, which says nothing about
 * another build: it pairs only within one build id.
 */
#ifndef SLOPE_ANALYSIS_PAIRING_H
#define SLOPE_ANALYSIS_PAIRING_H

#include "profile/profile.h"

#define SLOPE_PAIRING_NONE UINT32_MAX

struct slope_pair {
	uint32_t old, now;           /* functions; SLOPE_PAIRING_NONE: only the other profile has it */
};

struct slope_pairing {
	struct slope_pair *pair;     /* functions that ran, function 0 not among them */
	size_t count;
	size_t nameless;             /* of them without a symbol and so without a partner, in both profiles */
};

/* False when memory runs out; `pairing` then holds nothing. O(functions log functions). */
bool slope_pairing_init(struct slope_pairing *pairing, const struct slope_profile *old,
			const struct slope_profile *now);
void slope_pairing_fini(struct slope_pairing *pairing);

#endif
