/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/gzip.h"

#include <stdint.h>
#include <stdlib.h>

#define GZIP_WINDOW (15 + 16)    /* the largest window; 16 more asks zlib for gzip's header and trailer */
#define MEMORY_LEVEL 8           /* zlib's own default */
#define PIECE_BYTES 16384

/* From our own calls, so that tests can let them fail. */
static void *take(void *nobody, unsigned count, unsigned bytes)
{
	(void)nobody;
	return calloc(count, bytes);
}

static void release(void *nobody, void *block)
{
	(void)nobody;
	free(block);
}

bool slope_gzip_init(struct slope_gzip *g, FILE *out)
{
	*g = (struct slope_gzip){ .out = out, .stream = { .zalloc = take, .zfree = release } };
	return deflateInit2(&g->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
			    Z_DEFAULT_STRATEGY) == Z_OK;
}

/* Until zlib leaves room in the piece: then it has nothing more to give. */
static void drain(struct slope_gzip *g, int flush)
{
	unsigned char piece[PIECE_BYTES];

	do {
		g->stream.next_out = piece;
		g->stream.avail_out = sizeof(piece);
		deflate(&g->stream, flush);
		fwrite(piece, 1, sizeof(piece) - g->stream.avail_out, g->out);
	} while (!g->stream.avail_out);
}

void slope_gzip_put(struct slope_gzip *g, const void *bytes, size_t count)
{
	while (count) {
		unsigned part = count < UINT32_MAX ? (unsigned)count : UINT32_MAX;

		g->stream.next_in = (unsigned char *)bytes;
		g->stream.avail_in = part;
		drain(g, Z_NO_FLUSH);
		bytes = (const unsigned char *)bytes + part;
		count -= part;
	}
}

void slope_gzip_fini(struct slope_gzip *g)
{
	g->stream.avail_in = 0;
	drain(g, Z_FINISH);
	deflateEnd(&g->stream);
}
