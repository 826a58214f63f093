/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of slope_profile_save that is about paths. */
#ifndef SLOPE_PROFILE_SAVE_PATHS_H
#define SLOPE_PROFILE_SAVE_PATHS_H

#include "format/encode.h"
#include "profile/profile.h"

void slope_save_paths(struct slope_encoder *e, const struct slope_profile *p);

#endif
