/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/late.h"

uint64_t slope_late_settle(struct slope_late *late)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < SLOPE_LATE; i++) {
		struct slope_late_point *p = &late->point[(late->next + i) % SLOPE_LATE];

		if (p->times && !slope_late_finish(p))
			lost += p->times;
		p->times = 0;
	}
	return lost;
}

void slope_late_drop(struct slope_late *late)
{
	*late = (struct slope_late){ .next = 0 };
}
