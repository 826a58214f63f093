/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/elfshelf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct slope_elfshelf_file {
	struct slope_elf elf;
	uint32_t id_bytes;
	uint8_t *id;
	char path[];
};

static void close_file(struct slope_elfshelf_file *f)
{
	if (!f)
		return;
	slope_elf_close(&f->elf);
	free(f->id);
	free(f);
}

static bool is_same(const struct slope_elfshelf_file *f, const char *path, const uint8_t *id, uint32_t id_bytes)
{
	return id_bytes && f->id_bytes == id_bytes && !memcmp(f->id, id, id_bytes) && !strcmp(f->path, path);
}

/* Not opened yet. NULL without memory. */
static struct slope_elfshelf_file *new_file(const char *path, const uint8_t *id, uint32_t id_bytes)
{
	struct slope_elfshelf_file *f = calloc(1, sizeof *f + strlen(path) + 1);

	if (!f)
		return NULL;
	f->id = malloc(id_bytes + 1);
	if (!f->id) {
		free(f);
		return NULL;
	}
	memcpy(f->id, id, id_bytes);
	f->id_bytes = id_bytes;
	strcpy(f->path, path);
	return f;
}

/* The file at `n`, or the new one, which takes the place of the last one then, comes first. */
static void put_first(struct slope_elfshelf *shelf, struct slope_elfshelf_file *f, size_t n)
{
	if (shelf->file[n] != f)
		close_file(shelf->file[n]);
	memmove(&shelf->file[1], &shelf->file[0], n * sizeof *shelf->file);
	shelf->file[0] = f;
}

enum slope_elf_status slope_elfshelf_open(struct slope_elfshelf *shelf, const char *path, const uint8_t *id, uint32_t id_bytes,
					  const char *debug_path, struct slope_elf **e)
{
	struct slope_elfshelf_file *f;
	enum slope_elf_status status = SLOPE_ELF_NO_MEMORY;
	size_t n = 0;

	while (n < SLOPE_ELFSHELF_FILES - 1 && shelf->file[n] && !is_same(shelf->file[n], path, id, id_bytes))
		n++;
	f = shelf->file[n] && is_same(shelf->file[n], path, id, id_bytes) ? shelf->file[n] : NULL;
	if (!f && (f = new_file(path, id, id_bytes)))
		status = slope_elf_open(&f->elf, path, id, id_bytes, debug_path);
	else if (f)
		status = SLOPE_ELF_OK;
	if (status != SLOPE_ELF_OK) {
		int error = errno;

		if (f)
			free(f->id);
		free(f);
		errno = error;
		return status;
	}
	put_first(shelf, f, n);
	*e = &f->elf;
	return SLOPE_ELF_OK;
}

void slope_elfshelf_fini(struct slope_elfshelf *shelf)
{
	for (size_t n = 0; n < SLOPE_ELFSHELF_FILES; n++)
		close_file(shelf->file[n]);
	*shelf = (struct slope_elfshelf){ 0 };
}
