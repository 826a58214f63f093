/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ELF files that stay open from one profile to the next. A run of many
 * processes has a profile for each, nearly all with the same libraries, and
 * reading and sorting the symbols of one takes longer than naming by them.
 */
#ifndef SLOPE_PROFILE_ELFSHELF_H
#define SLOPE_PROFILE_ELFSHELF_H

#include "profile/elfsyms.h"

#define SLOPE_ELFSHELF_FILES 16u

struct slope_elfshelf_file;

/* All 0 in the beginning. */
struct slope_elfshelf {
	struct slope_elfshelf_file *file[SLOPE_ELFSHELF_FILES];   /* the one used last comes first; NULL: no more */
};

/*
 * As slope_elf_open, but for the debug path, which must always be the same. The file belongs to the shelf, and is closed when so many
 * others have been asked for since, or by _fini. What has no build id is opened anew each time, since it may have changed.
 */
enum slope_elf_status slope_elfshelf_open(struct slope_elfshelf *shelf, const char *path, const uint8_t *id, uint32_t id_bytes,
					  const char *debug_path, struct slope_elf **e);
void slope_elfshelf_fini(struct slope_elfshelf *shelf);

#endif
