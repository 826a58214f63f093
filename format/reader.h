/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the whole chunks of a profile that lies in memory. Nothing is copied,
 * nothing outside `bytes` is read, whatever they are; what is damaged is
 * reported as a gap and the search goes on behind it.
 */
#ifndef SLOPE_FORMAT_READER_H
#define SLOPE_FORMAT_READER_H

#include "format/crc32c.h"
#include "format/sections.h"

enum slope_open {
	SLOPE_OPEN_OK,
	SLOPE_OPEN_DAMAGED,          /* a profile whose header fails its checksum: read on as this version */
	SLOPE_OPEN_SHORT,            /* too short for a header */
	SLOPE_OPEN_FOREIGN,          /* not a profile */
	SLOPE_OPEN_VERSION,          /* another major version, see `major` and `minor` */
	SLOPE_OPEN_FEATURES,         /* needs something that this version has not */
};

struct slope_reader {
	const unsigned char *bytes;
	size_t count, at;
	uint32_t major, minor;
	uint64_t search_left;        /* bytes that may still be summed in search of a chunk */
	struct slope_crc32c crc;
};

struct slope_chunk {
	uint32_t tag;
	const unsigned char *payload;
	size_t payload_bytes;
	size_t offset, end;          /* of the chunk in the file, header included */
};

enum slope_found {
	SLOPE_FOUND_CHUNK,
	SLOPE_FOUND_GAP,             /* bytes offset..end are damaged; `tag` is what stands there */
	SLOPE_FOUND_NOTHING,         /* the end of the bytes */
};

/* Looks at the header. The reader can be used after OK and DAMAGED. */
enum slope_open slope_reader_init(struct slope_reader *r, const void *bytes, size_t count);

/*
 * The next chunk or gap. All calls together take time in proportion to
 * `count`: a file made to look like many chunks is given up as one gap.
 */
enum slope_found slope_reader_next(struct slope_reader *r, struct slope_chunk *chunk);

#endif
