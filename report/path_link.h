/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a function that grows to the path of it that makes it so: one sentence for the views of growth, and their JSON. */
#ifndef SLOPE_REPORT_PATH_LINK_H
#define SLOPE_REPORT_PATH_LINK_H

#include "profile/blocklines.h"
#include "report/json.h"

struct slope_path_link {
	const struct slope_profile *p;
	uint32_t function, metric, unit;
	struct slope_blocklines *lines;
	bool ascii;
};

/*
 * "96.0% of the growth of its own instructions is on a path that is taken n times a call: (loop) 87-88 -loop back-> 87", or what
 * part of its instructions is on the path with the most; "" for a function without paths. To be given to free(); NULL when
 * memory runs out.
 */
char *slope_path_link_text(const struct slope_path_link *l);

/* The same as an object, null for a function without paths. False when memory runs out. */
bool slope_path_link_json(const struct slope_path_link *l, struct slope_json *j, const char *key);

#endif
