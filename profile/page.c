/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "profile/page.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "format/reader.h"
#include "format/sections.h"
#include "profile/columns.h"
#include "profile/text7.h"

#define GZIP_WINDOW (15 + 16)        /* the largest window; 16 more asks zlib for gzip's header and trailer */
#define PIECE_BYTES (1u << 16)

#define TAG_BYTES 4u

/* ---- points by columns ---- */

static uint32_t number_at(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_number(unsigned char *at, size_t number)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(number >> 8 * i);
}

/* The bytes that come, until a header or a chunk is whole. */
struct splitter {
	FILE *out;
	bool past_header;
	size_t used;
	unsigned char piece[SLOPE_CHUNK_HEADER_BYTES + SLOPE_PAYLOAD_MAX], split[SLOPE_COLUMNS_ROOM];
};

static bool holds_points(const unsigned char *chunk)
{
	return !memcmp(chunk, "PNTS", TAG_BYTES) || !memcmp(chunk, "VPNT", TAG_BYTES);
}

static bool put_chunk(struct splitter *s)
{
	size_t payload = s->used - SLOPE_CHUNK_HEADER_BYTES, split = 0;

	if (s->past_header && holds_points(s->piece))
		split = slope_columns_split(s->piece + SLOPE_CHUNK_HEADER_BYTES, payload, s->split);
	if (!split)
		return fwrite(s->piece, 1, s->used, s->out) == s->used;
	for (unsigned i = 0; i < TAG_BYTES; i++)
		s->piece[i] |= 0x20;         /* small letters */
	put_number(s->piece + TAG_BYTES, split);
	return fwrite(s->piece, 1, SLOPE_CHUNK_HEADER_BYTES, s->out) == SLOPE_CHUNK_HEADER_BYTES &&
	       fwrite(s->split, 1, split, s->out) == split;
}

static bool write_split(void *to, const void *bytes, size_t count)
{
	struct splitter *s = to;
	const unsigned char *from = bytes;

	while (count) {
		size_t whole = !s->past_header ? SLOPE_HEADER_BYTES : SLOPE_CHUNK_HEADER_BYTES;

		if (s->past_header && s->used >= whole)
			whole += number_at(s->piece + TAG_BYTES);
		size_t part = whole - s->used < count ? whole - s->used : count;

		memcpy(s->piece + s->used, from, part);
		s->used += part;
		from += part;
		count -= part;
		if (s->used < whole || (s->past_header && whole == SLOPE_CHUNK_HEADER_BYTES))
			continue;
		if (!put_chunk(s))
			return false;
		s->past_header = true;
		s->used = 0;
	}
	return true;
}

bool slope_page_put(const struct slope_profile *p, FILE *out)
{
	struct splitter *s = calloc(1, sizeof *s);
	bool good = s;

	if (s) {
		s->out = out;
		good = slope_profile_encode(p, write_split, s);
	}
	free(s);
	return good;
}

/* Bytes that grow as they come. */
struct growing {
	unsigned char *bytes;
	size_t count, capacity;
};

static unsigned char *more_room(struct growing *g, size_t count)
{
	if (g->capacity - g->count < count) {
		size_t capacity = (g->capacity + count) * 2;
		void *more = realloc(g->bytes, capacity);

		if (!more)
			return NULL;
		g->bytes = more;
		g->capacity = capacity;
	}
	return g->bytes + g->count;
}

static bool is_split(const unsigned char *chunk)
{
	return !memcmp(chunk, "pnts", TAG_BYTES) || !memcmp(chunk, "vpnt", TAG_BYTES);
}

/* Where the next chunk begins. What cannot be put together again stays as it is: the loader says that it is missing. */
static bool join_chunk(struct growing *g, const unsigned char *chunk, size_t payload)
{
	unsigned char *to = more_room(g, SLOPE_CHUNK_HEADER_BYTES + payload + SLOPE_COLUMNS_ROOM);
	size_t joined = 0;

	if (!to)
		return false;
	memcpy(to, chunk, SLOPE_CHUNK_HEADER_BYTES);
	if (is_split(chunk))
		joined = slope_columns_join(chunk + SLOPE_CHUNK_HEADER_BYTES, payload, to + SLOPE_CHUNK_HEADER_BYTES);
	if (joined) {
		for (unsigned i = 0; i < TAG_BYTES; i++)
			to[i] &= (unsigned char)~0x20u;
		put_number(to + TAG_BYTES, joined);
	} else {
		memcpy(to + SLOPE_CHUNK_HEADER_BYTES, chunk + SLOPE_CHUNK_HEADER_BYTES, payload);
		joined = payload;
	}
	g->count += SLOPE_CHUNK_HEADER_BYTES + joined;
	return true;
}

/* The file again. NULL when memory runs out. */
static unsigned char *join_chunks(const unsigned char *bytes, size_t count, size_t *file_bytes)
{
	struct growing g = { 0 };
	size_t at = count < SLOPE_HEADER_BYTES ? count : SLOPE_HEADER_BYTES;
	unsigned char *head = more_room(&g, at);
	bool good = head;

	if (good)
		memcpy(head, bytes, g.count = at);
	while (good && count - at >= SLOPE_CHUNK_HEADER_BYTES) {
		size_t payload = number_at(bytes + at + TAG_BYTES), left = count - at - SLOPE_CHUNK_HEADER_BYTES;

		payload = payload < left ? payload : left;
		good = join_chunk(&g, bytes + at, payload);
		at += SLOPE_CHUNK_HEADER_BYTES + payload;
	}
	*file_bytes = g.count;
	if (good)
		return g.bytes;
	free(g.bytes);
	return NULL;
}

/* ---- pages ---- */

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

	if (state == Z_STREAM_END) {
		unsigned char *file = join_chunks(block, *profile_bytes, profile_bytes);

		free(block);
		if (!file)
			snprintf(error, error_bytes, "not enough memory to load it");
		return file;
	}
	free(block);
	snprintf(error, error_bytes, state == Z_MEM_ERROR ? "not enough memory to load it" :
		 "the profile in this page is damaged or cut off; make the page again");
	return NULL;
}
