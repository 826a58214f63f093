/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of slope_encode_session that is about paths: graphs, and what every thread has counted of them. */
#ifndef SLOPE_FORMAT_SNAPSHOT_PATHS_H
#define SLOPE_FORMAT_SNAPSHOT_PATHS_H

#include "format/encode.h"

void slope_encode_session_paths(struct slope_encoder *e, const struct slope_session *s);

#endif
