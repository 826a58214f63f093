/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks for formats that hold them: what each node of the profile's contexts
 * was called by. Without contexts, or where nobody wants callers, a function
 * stands alone there.
 */
#ifndef SLOPE_REPORT_CALLPATHS_H
#define SLOPE_REPORT_CALLPATHS_H

#include "report/report.h"

struct slope_callpaths {
	const struct slope_profile *p;
	uint32_t k;                  /* callers at most */
	uint32_t *function;          /* the stack asked for last, the function itself first */
	size_t capacity;
};

/* Are stacks known, and wanted? */
bool slope_callpaths_wanted(const struct slope_profile *p, const struct slope_export_options *o);

void slope_callpaths_init(struct slope_callpaths *s, const struct slope_profile *p, const struct slope_export_options *o);
void slope_callpaths_fini(struct slope_callpaths *s);

/*
 * The stack of a node by position. The thread itself is no caller; it is there
 * for its own node only. How many functions; 0 when memory runs out. O(depth).
 */
size_t slope_callpaths_of(struct slope_callpaths *s, size_t node);

/*
 * A profile in which every context of k callers is a function of its own, with
 * the callers in its name: f'g'h is f, called by g, called by h. Only what
 * formats of functions and calls need is in it, and threads are added up. The
 * profile must have a calling context tree. NULL when memory runs out; to be
 * given to slope_callpaths_unite.
 */
struct slope_profile *slope_callpaths_separate(const struct slope_profile *p, uint32_t k);
void slope_callpaths_unite(struct slope_profile *separated);

#endif
