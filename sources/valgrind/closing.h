/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log of first reads (core/log.h), many entries at a time: sixteen with
 * AVX-512 (sources/logvectors.h), or eight with AVX2. At the end of an
 * activation that has called others, and for the scans of the core.
 *
 * Neither compilers nor VEX use the registers of AVX-512, and VEX not the upper
 * halves of AVX's.
 */
#ifndef SLOPE_SOURCES_VALGRIND_CLOSING_H
#define SLOPE_SOURCES_VALGRIND_CLOSING_H

#include "sources/logvectors.h"
#include "sources/valgrind/tool.h"

/* How many at once, with what the processor has and the system keeps: 16, 8, or 0 for none of this. Not more than `most`. */
UInt closing_lanes(UInt most);
/* For as many at once; NULL for 0. */
const struct slope_log_scans *closing_scans(UInt lanes);

/* As logvectors_keep, by eight. */
size_t closing_keep_8(uint32_t *entry, size_t count, const uint32_t *stamp, const uint32_t *top, size_t *counted);

#endif
