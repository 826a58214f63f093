/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A gzip stream, written as it comes. The same bytes in give the same bytes
 * out: no time and no file name are stored. Whether `out` took everything is
 * the caller's to ask (ferror).
 */
#ifndef SLOPE_REPORT_GZIP_H
#define SLOPE_REPORT_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <zlib.h>

struct slope_gzip {
	FILE *out;
	z_stream stream;
};

/* False when memory runs out; there is nothing to release then. Later steps need no memory. */
bool slope_gzip_init(struct slope_gzip *g, FILE *out);

void slope_gzip_put(struct slope_gzip *g, const void *bytes, size_t count);

/* Writes the rest and the checksum, and releases everything. */
void slope_gzip_fini(struct slope_gzip *g);

#endif
