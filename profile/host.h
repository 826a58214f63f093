/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages from the operating system, for the core's containers in hosted code:
 *
 *	slope_arena_init(&arena, &slope_system_host);
 */
#ifndef SLOPE_PROFILE_HOST_H
#define SLOPE_PROFILE_HOST_H

#include "core/base.h"

extern const struct slope_host slope_system_host;

#endif
