/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "profile/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "profile/text7.h"

#define GZIP_WINDOW (15 + 16)        /* the largest window; 16 more asks zlib for gzip's header and trailer */
#define PIECE_BYTES (1u << 16)

bool slope_page_begins(const void *bytes, size_t count)
{
	size_t mark = sizeof SLOPE_PAGE_START - 1;

	return count && !memcmp(bytes, SLOPE_PAGE_START, count < mark ? count : mark);
}

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

/* Z_STREAM_END and a block when all went well. */
static int unpack(unsigned char *from, size_t count, unsigned char **block, size_t *bytes)
{
	z_stream stream = { .zalloc = take, .zfree = release };
	size_t capacity = count * 2 + PIECE_BYTES;
	int state = inflateInit2(&stream, GZIP_WINDOW);

	*bytes = 0;
	*block = state == Z_OK ? malloc(capacity) : NULL;
	while (*block && state == Z_OK) {
		size_t left = count - (size_t)(stream.total_in);

		if (*bytes == capacity) {
			void *more = realloc(*block, capacity *= 2);

			if (!more) {
				state = Z_MEM_ERROR;
				break;
			}
			*block = more;
		}
		stream.next_in = from + stream.total_in;
		stream.avail_in = left < PIECE_BYTES ? (unsigned)left : PIECE_BYTES;
		stream.next_out = *block + *bytes;
		stream.avail_out = capacity - *bytes < PIECE_BYTES ? (unsigned)(capacity - *bytes) : PIECE_BYTES;
		state = inflate(&stream, Z_NO_FLUSH);
		*bytes = (size_t)(stream.next_out - *block);
	}
	inflateEnd(&stream);
	return *block ? state : Z_MEM_ERROR;
}

unsigned char *slope_page_profile(unsigned char *page, size_t count, size_t *profile_bytes, char *error, size_t error_bytes)
{
	unsigned char *at = memmem(page, count, SLOPE_PAGE_PROFILE, sizeof SLOPE_PAGE_PROFILE - 1), *block;
	size_t left, used, packed;

	if (!at) {
		snprintf(error, error_bytes, "a page of slope without its profile: cut off, or edited");
		return NULL;
	}
	at += sizeof SLOPE_PAGE_PROFILE - 1;
	left = count - (size_t)(at - page);
	packed = slope_text7_decode((char *)at, left, at, &used);
	int state = unpack(at, packed, &block, profile_bytes);

	if (state == Z_STREAM_END)
		return block;
	free(block);
	snprintf(error, error_bytes, state == Z_MEM_ERROR ? "not enough memory to load it" :
		 "the profile in this page is damaged or cut off; make the page again");
	return NULL;
}
