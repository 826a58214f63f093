/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One ELF file and its symbols: which function covers an address.
 *
 * Symbols come from the first place that has them: the file's own .symtab, a
 * separate debug file (by build id, by .gnu_debuglink, from a debuginfod server
 * when DEBUGINFOD_URLS is set), .gnu_debugdata, and .dynsym at last. Addresses
 * are those of the file's own address space (st_value).
 */
#ifndef SLOPE_PROFILE_ELFSYMS_H
#define SLOPE_PROFILE_ELFSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

struct slope_symbol {
	uint64_t start, bytes;       /* bytes: 0 for a label inside another function */
	const char *name;            /* belongs to the file */
	uint8_t rank;                /* lower is better, among those with one start */
	uint32_t around;             /* 1 + position of the symbol that this one lies in; 0: none */
};

struct slope_elf_range {
	uint64_t start, end;
};

struct slope_elf {
	Dwfl_Callbacks callbacks;
	char *debug_path;
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct slope_symbol *symbol; /* sorted by start, one for each start */
	size_t count;
	struct slope_elf_range *code; /* executable sections, sorted */
	size_t code_count;
};

enum slope_elf_status {
	SLOPE_ELF_OK,
	SLOPE_ELF_UNREADABLE,        /* errno says why */
	SLOPE_ELF_FOREIGN,           /* not an ELF file */
	SLOPE_ELF_OTHER_BUILD,       /* its build id is not the one asked for */
	SLOPE_ELF_NO_MEMORY
};

/*
 * Opens `path` and reads its symbols. `id_bytes` > 0 asks for that build id.
 * `debug_path` is where separate debug files are looked for, in elfutils'
 * words; NULL for its default (beside the file, in .debug/, /usr/lib/debug).
 * On any status but OK, `e` holds nothing. O(symbols log symbols).
 */
enum slope_elf_status slope_elf_open(struct slope_elf *e, const char *path, const uint8_t *id, uint32_t id_bytes,
				     const char *debug_path);
void slope_elf_close(struct slope_elf *e);

/*
 * The innermost symbol that covers the address, or NULL. A symbol without a
 * size reaches to the next one. Of several names for one start the choice is:
 * functions before labels, exported names before local ones, then the fewest
 * leading underscores (libc's write is a weak alias of __write), global before
 * weak, the shortest, the first of the alphabet. O(log symbols).
 */
const struct slope_symbol *slope_elf_symbol(const struct slope_elf *e, uint64_t address);

/* The separate debug file that the symbols are from; NULL when they are the file's own. */
const char *slope_elf_debug_file(const struct slope_elf *e);

#endif
