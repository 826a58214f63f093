/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CRC-32C (Castagnoli), four bytes at a time. The tables are the caller's, so
 * that there is no global state; filling them takes microseconds.
 */
#ifndef SLOPE_FORMAT_CRC32C_H
#define SLOPE_FORMAT_CRC32C_H

#include "core/base.h"

struct slope_crc32c {
	uint32_t table[4][256];
};

void slope_crc32c_init(struct slope_crc32c *crc);

/* The checksum of what `before` stands for, continued by `bytes`; begin with 0. */
uint32_t slope_crc32c(const struct slope_crc32c *crc, uint32_t before, const void *bytes, size_t count);

#endif
