/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a function of an ELF file is written: file and line from its DWARF,
 * or from that of its separate debug file.
 */
#ifndef SLOPE_PROFILE_ELFLINES_H
#define SLOPE_PROFILE_ELFLINES_H

#include "profile/elfsyms.h"

struct slope_line_unit;              /* a compilation unit, read when first asked about */
struct slope_line_span;              /* an address range of a unit */

struct slope_lines {
	Dwarf_Addr bias;
	struct slope_line_unit *unit;
	size_t unit_count, unit_capacity;
	struct slope_line_span *span;    /* sorted by start */
	size_t span_count, span_capacity;
};

/* Finds the units. False when memory runs out; `l` then holds nothing. A file without DWARF has no units. */
bool slope_lines_open(struct slope_lines *l, struct slope_elf *e);
void slope_lines_close(struct slope_lines *l);

/*
 * The file of the function that starts at `address`, and its line: those of
 * its declaration, or of the line table where it has none. An absolute path
 * wherever the compiler's directory is known; to be given to free(). NULL when
 * unknown (or for want of memory). O(log functions) after the first question
 * about a unit.
 */
char *slope_lines_find(struct slope_lines *l, uint64_t address, uint32_t *line);

/* The same for the instruction that covers `address`: where the line table says it is from. */
char *slope_lines_of_code(struct slope_lines *l, uint64_t address, uint32_t *line);

/* A function whose code is part of another one, as it was compiled. Texts belong to the file. */
struct slope_inlined {
	const char *name;            /* as the linker would have it, where that is known */
	const char *file, *call_file; /* where it is written, and called; NULL: unknown */
	uint32_t line, call_line;    /* 0: unknown */
	uint64_t start;              /* the first address of this copy */
};

/*
 * Calls `put` for each function that was inlined at `address`, the outermost
 * first: it is part of the function that the symbol table has there. Files are
 * relative to the compiler's directory where it had them so. False when `put`
 * says so. O(entries of the function, by depth) after the first question about a unit.
 */
bool slope_lines_inlined(struct slope_lines *l, uint64_t address, bool (*put)(void *to, const struct slope_inlined *f), void *to);

/* Such a file as an absolute path where that can be known; to be given to free(). NULL: there is none, or no memory. */
char *slope_lines_absolute(struct slope_lines *l, uint64_t address, const char *file);

/*
 * Calls `put` for each row of the line table that the bytes from `address` on
 * have a part of, in order of addresses: an absolute path where that can be
 * known, valid during the call only, and a line, never 0. False when memory runs
 * out. O(log rows + rows found) after the first question about a unit.
 */
bool slope_lines_each(struct slope_lines *l, uint64_t address, uint64_t bytes,
		      bool (*put)(void *to, const char *file, uint32_t line), void *to);

#endif
