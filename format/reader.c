/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/reader.h"

#define SEARCH_FACTOR 8u         /* how often every byte may be summed */

static uint32_t get_fixed(const unsigned char *from, unsigned bytes)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint32_t)from[i] << (8 * i);
	return value;
}

static bool has_magic(const unsigned char *bytes)
{
	for (unsigned i = 0; i < 8; i++)
		if (bytes[i] != (unsigned char)SLOPE_FORMAT_MAGIC[i])
			return false;
	return true;
}

enum slope_open slope_reader_init(struct slope_reader *r, const void *bytes, size_t count)
{
	r->bytes = bytes;
	r->count = count;
	r->at = SLOPE_HEADER_BYTES;
	r->search_left = (uint64_t)count * SEARCH_FACTOR;
	slope_crc32c_init(&r->crc);
	if (count >= 8 && !has_magic(bytes))
		return SLOPE_OPEN_FOREIGN;
	if (count < SLOPE_HEADER_BYTES)
		return SLOPE_OPEN_SHORT;
	r->major = get_fixed(r->bytes + 8, 2);
	r->minor = get_fixed(r->bytes + 10, 2);
	if (slope_crc32c(&r->crc, 0, bytes, 20) != get_fixed(r->bytes + 20, 4) ||
	    get_fixed(r->bytes + 16, 4) != SLOPE_FORMAT_ORDER)
		return SLOPE_OPEN_DAMAGED;
	if (r->major != SLOPE_FORMAT_MAJOR)
		return SLOPE_OPEN_VERSION;
	if (get_fixed(r->bytes + 12, 4) & SLOPE_FEATURES_NEEDED & ~SLOPE_FEATURES_KNOWN)
		return SLOPE_OPEN_FEATURES;
	return SLOPE_OPEN_OK;
}

/* Reads a chunk's header at a place. False when it does not fit into the file. */
static bool look(const struct slope_reader *r, size_t at, struct slope_chunk *chunk)
{
	if (at > r->count || r->count - at < SLOPE_CHUNK_HEADER_BYTES)
		return false;
	chunk->tag = get_fixed(r->bytes + at, 4);
	chunk->payload_bytes = get_fixed(r->bytes + at + 4, 4);
	chunk->payload = r->bytes + at + SLOPE_CHUNK_HEADER_BYTES;
	chunk->offset = at;
	if (chunk->payload_bytes > SLOPE_PAYLOAD_MAX ||
	    chunk->payload_bytes > r->count - at - SLOPE_CHUNK_HEADER_BYTES)
		return false;
	chunk->end = at + SLOPE_CHUNK_HEADER_BYTES + chunk->payload_bytes;
	return true;
}

static bool is_whole(struct slope_reader *r, const struct slope_chunk *chunk)
{
	const unsigned char *header = r->bytes + chunk->offset;
	uint32_t crc = slope_crc32c(&r->crc, 0, header, 8);

	crc = slope_crc32c(&r->crc, crc, chunk->payload, chunk->payload_bytes);
	return crc == get_fixed(header + 8, 4);
}

/* Is there a whole chunk of a known section? Costs from the budget of searching. */
static bool is_known_and_whole(struct slope_reader *r, size_t at)
{
	struct slope_chunk chunk;

	if (!look(r, at, &chunk) || slope_section_of(chunk.tag) == SLOPE_SECTION_COUNT ||
	    r->search_left < chunk.payload_bytes)
		return false;
	r->search_left -= chunk.payload_bytes;
	return is_whole(r, &chunk);
}

/* Where the damage that begins at a chunk ends: by the chunk's own size if that fits, else by search. */
static size_t end_of_gap(struct slope_reader *r, const struct slope_chunk *bad, bool sized)
{
	size_t at = bad->offset + 1;

	if (sized && (bad->end == r->count || is_known_and_whole(r, bad->end)))
		return bad->end;
	while (at < r->count && !is_known_and_whole(r, at))
		at++;
	return at;
}

enum slope_found slope_reader_next(struct slope_reader *r, struct slope_chunk *chunk)
{
	bool sized;

	if (r->at >= r->count)
		return SLOPE_FOUND_NOTHING;
	chunk->offset = r->at;
	chunk->tag = 0;
	sized = look(r, r->at, chunk);
	if (sized && is_whole(r, chunk)) {
		r->at = chunk->end;
		return SLOPE_FOUND_CHUNK;
	}
	chunk->end = r->at = end_of_gap(r, chunk, sized);
	return SLOPE_FOUND_GAP;
}
