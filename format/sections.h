/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one list of what a profile file holds. Encoder, decoder, loader and the
 * sentences about damage all follow it; docs/format.md tells it in words.
 *
 * A file is a header and a stream of chunks. A chunk belongs to one section,
 * carries its own checksum and can be decoded alone. A section may have any
 * number of chunks, in any order.
 */
#ifndef SLOPE_FORMAT_SECTIONS_H
#define SLOPE_FORMAT_SECTIONS_H

#include "core/base.h"

#define SLOPE_FORMAT_MAGIC "\x89SLOPE\r\n"
#define SLOPE_FORMAT_MAJOR 1u    /* another one is refused */
#define SLOPE_FORMAT_MINOR 4u    /* a higher one has sections or facts that are skipped */
#define SLOPE_FORMAT_ORDER 0x01020304u

/* Bits that a reader must know, or refuse the file; the upper half may be ignored. */
#define SLOPE_FEATURES_NEEDED 0x0000ffffu
#define SLOPE_FEATURES_KNOWN 0u

#define SLOPE_HEADER_BYTES 24u        /* magic, major, minor, features, order, crc32c */
#define SLOPE_CHUNK_HEADER_BYTES 12u  /* tag, payload bytes, crc32c */
#define SLOPE_PAYLOAD_MAX 65536u
#define SLOPE_TEXT_MAX 16384u         /* longer strings are cut, and counted as lost */

#define SLOPE_TAG(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* X(id, four letters, name, do chunks begin with the number of cost units?) */
#define SLOPE_SECTION_LIST(X)                                        \
	X(META, SLOPE_TAG('M', 'E', 'T', 'A'), "facts", false)       \
	X(MODULES, SLOPE_TAG('M', 'O', 'D', 'S'), "modules", false)  \
	X(FUNCTIONS, SLOPE_TAG('F', 'U', 'N', 'C'), "functions", false) \
	X(FILES, SLOPE_TAG('F', 'I', 'L', 'E'), "files", false)      \
	X(SYMBOLS, SLOPE_TAG('S', 'Y', 'M', 'B'), "symbols", false)  \
	X(THREADS, SLOPE_TAG('T', 'H', 'R', 'D'), "threads", false)  \
	X(RECORDS, SLOPE_TAG('R', 'E', 'C', 'S'), "records", true)   \
	X(POINTS, SLOPE_TAG('P', 'N', 'T', 'S'), "points", true)     \
	X(EDGES, SLOPE_TAG('E', 'D', 'G', 'E'), "edges", true)       \
	X(SIZES, SLOPE_TAG('S', 'I', 'Z', 'E'), "sizes of edges", true) \
	X(SITES, SLOPE_TAG('C', 'A', 'L', 'L'), "call sites", false) \
	X(CONTEXTS, SLOPE_TAG('C', 'T', 'X', 'T'), "contexts", true) \
	X(PLACES, SLOPE_TAG('P', 'L', 'C', 'E'), "places in contexts", true) \
	X(VARIANTS, SLOPE_TAG('V', 'A', 'R', 'S'), "variants", true) \
	X(VARIANT_POINTS, SLOPE_TAG('V', 'P', 'N', 'T'), "points of variants", true) \
	X(GRAPHS, SLOPE_TAG('G', 'R', 'P', 'H'), "graphs", false)    \
	X(BLOCKS, SLOPE_TAG('B', 'L', 'C', 'K'), "blocks", false)    \
	X(ARCS, SLOPE_TAG('A', 'R', 'C', 'S'), "edges of graphs", false) \
	X(PATHS, SLOPE_TAG('P', 'A', 'T', 'H'), "paths", false)      \
	X(REPEATS, SLOPE_TAG('R', 'E', 'P', 'S'), "repeats", false)  \
	X(PATH_SIZES, SLOPE_TAG('P', 'S', 'I', 'Z'), "sizes of paths", false) \
	X(LOST, SLOPE_TAG('L', 'O', 'S', 'T'), "losses", false)      \
	X(END, SLOPE_TAG('E', 'N', 'D', ' '), "end mark", false)

enum slope_section {
#define X(id, tag, name, units) SLOPE_SECTION_##id,
	SLOPE_SECTION_LIST(X)
#undef X
	SLOPE_SECTION_COUNT
};

/* The section of a tag; SLOPE_SECTION_COUNT for one that this version does not know. */
static inline enum slope_section slope_section_of(uint32_t tag)
{
	switch (tag) {
#define X(id, four, name, units) case four: return SLOPE_SECTION_##id;
	SLOPE_SECTION_LIST(X)
#undef X
	default: return SLOPE_SECTION_COUNT;
	}
}

static inline uint32_t slope_section_tag(enum slope_section section)
{
	static const uint32_t tag[] = {
#define X(id, four, name, units) four,
		SLOPE_SECTION_LIST(X)
#undef X
	};

	return tag[section];
}

/* The name in sentences: "points", "functions". */
static inline const char *slope_section_name(enum slope_section section)
{
	static const char *const name[] = {
#define X(id, four, text, units) text,
		SLOPE_SECTION_LIST(X)
#undef X
	};

	return name[section];
}

static inline bool slope_section_has_units(enum slope_section section)
{
	static const bool has[] = {
#define X(id, four, name, units) units,
		SLOPE_SECTION_LIST(X)
#undef X
	};

	return has[section];
}

#endif
