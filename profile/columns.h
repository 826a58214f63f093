/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points by columns. A chunk of points (section PNTS or VPNT, docs/format.md) has
 * its numbers row by row, which compresses badly, and says some things twice: two
 * calls cost min and max, so their sum and sum of squares are known; so is the
 * third of three. Split into columns, with only what is not known otherwise, it
 * packs into half the space. This is for pages (profile/page.h); a profile's own
 * file stays as it is, for who writes it has no time for this.
 *
 * Columns: heads of tables (four numbers each), kinds of rows with the 0 that
 * ends a table, differences of n, calls, input sums; then for each unit min,
 * max - min, what the sum has beyond (calls - 1) * min + max where calls > 2, and
 * what the sum of squares has beyond sum^2 / calls (rounded down) where calls > 3.
 * Numbers are LEB128, of up to 128 bits in the last one. Before the columns stand
 * the number of units and the bytes of each column.
 */
#ifndef SLOPE_PROFILE_COLUMNS_H
#define SLOPE_PROFILE_COLUMNS_H

#include <stddef.h>

/* Bytes that `to` needs for either way: as much as a chunk can have, and the columns' sizes. */
#define SLOPE_COLUMNS_ROOM (65536u + 128u)

/*
 * Splits a payload. Returns the bytes in `to`; 0 when it is not what a source
 * writes, or memory runs out: then it is to be left as it is.
 */
size_t slope_columns_split(const unsigned char *payload, size_t count, unsigned char *to);

/* The payload again, to the byte. 0 when the columns are damaged. Nothing outside them is read. */
size_t slope_columns_join(const unsigned char *columns, size_t count, unsigned char *to);

#endif
