/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an ELF file says about its code: where functions begin and end, where
 * the stubs of its linkage table are, its build id. Functions come from its
 * own symbol tables and from its separate debug file, where that is installed;
 * one without a size is no function, as to Valgrind. Where code has no symbols, its unwind tables still say where
 * functions begin.
 * All addresses are in the file's own space.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_SYMBOLS_H
#define SLOPE_SOURCES_TRANSLATOR_SYMBOLS_H

#include "core/arena.h"

#define SYMBOLS_STUBS_MAX 4u
#define SYMBOLS_SEGMENTS_MAX 16u

struct symbols_function {
	uint64_t start, end;
	const char *name;            /* in the mapped file, which stays */
};

struct symbols_frame {
	int32_t start, table;
};

/* Elf64_Rela and Elf64_Sym. */
struct symbols_slot {
	uint64_t address, info, addend;
};
struct symbols_name {
	uint32_t name;
	uint8_t rest[20];
};

struct symbols_range {
	uint64_t start, end;
	uint64_t offset;             /* of a segment: in the file */
	bool code;
};

struct symbols {
	struct symbols_function *function;   /* sorted, one per start */
	size_t count, capacity;
	struct symbols_range stub[SYMBOLS_STUBS_MAX], segment[SYMBOLS_SEGMENTS_MAX];
	unsigned stubs, segments;
	const struct symbols_frame *frame;   /* of its unwind tables, sorted; in the mapped file */
	size_t frames;
	uint64_t frames_at;          /* what their addresses are relative to */
	const struct symbols_slot *slot;     /* of the linkage table, as the file has them */
	size_t slots;
	const struct symbols_name *slot_symbol;
	size_t slot_symbols;
	const char *slot_text;
	size_t slot_text_bytes;
	uint8_t build_id[32];
	uint32_t build_id_bytes;
	bool elf;
};

/* Reads a file. What is damaged or missing is left out; `s->elf` is false for a file of another kind. */
void symbols_read(struct symbols *s, struct slope_arena *arena, const char *path);

/* The function around an address, or NULL. O(log functions). */
const struct symbols_function *symbols_around(const struct symbols *s, uint64_t address);

bool symbols_in_stub(const struct symbols *s, uint64_t address);

/* Does a function begin here, as far as the unwind tables know? O(log functions). */
bool symbols_begins_frame(const struct symbols *s, uint64_t address);
/* Where the next one begins behind this address, or UINT64_MAX. */
uint64_t symbols_next_frame(const struct symbols *s, uint64_t address);

/* The name of the function whose address belongs into this slot of the linkage table, or NULL. O(slots). */
const char *symbols_slot_name(const struct symbols *s, uint64_t slot);

/* The address of a place in the file; the place itself where no segment has it. */
uint64_t symbols_address(const struct symbols *s, uint64_t file_offset);

#endif
