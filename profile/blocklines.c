/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "profile/blocklines.h"

#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "profile/elflines.h"

struct opened {
	bool open;
	enum slope_elf_status status;
	struct slope_elf elf;
	struct slope_lines lines;
};

struct slope_blocklines {
	const struct slope_profile *p;
	const char *debug_path;
	struct opened **module;      /* by the profile's modules; NULL: not asked about */
	char **file;                 /* each once */
	size_t files;
	const char *last;            /* the one that was named last */
	struct slope_code_line *line;
	size_t lines;
};

struct slope_blocklines *slope_blocklines_new(const struct slope_profile *p, const char *debug_path)
{
	struct slope_blocklines *b = calloc(1, sizeof *b);

	if (!b)
		return NULL;
	b->p = p;
	b->debug_path = debug_path;
	b->module = calloc(p->module_count + 1, sizeof *b->module);
	if (b->module)
		return b;
	free(b);
	return NULL;
}

void slope_blocklines_free(struct slope_blocklines *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->p->module_count; i++)
		if (b->module[i]) {
			slope_lines_close(&b->module[i]->lines);
			if (b->module[i]->open)
				slope_elf_close(&b->module[i]->elf);
			free(b->module[i]);
		}
	for (size_t i = 0; i < b->files; i++)
		free(b->file[i]);
	free(b->module);
	free(b->file);
	free(b->line);
	free(b);
}

/* Names in brackets, like [vdso], are no files. */
static struct opened *open_module(struct slope_blocklines *b, uint32_t module)
{
	const struct slope_profile_module *m = &b->p->module[module];
	struct opened *o = b->module[module];

	if (o)
		return o;
	o = b->module[module] = calloc(1, sizeof *o);
	if (!o)
		return NULL;
	o->status = SLOPE_ELF_FOREIGN;
	if (module == SLOPE_MODULE_NONE || !m->path || !m->path[0] || m->path[0] == '[')
		return o;
	o->status = slope_elf_open(&o->elf, m->path, m->build_id, m->build_id_bytes, b->debug_path);
	o->open = o->status == SLOPE_ELF_OK;
	if (o->open && !slope_lines_open(&o->lines, &o->elf))
		o->status = SLOPE_ELF_NO_MEMORY;
	return o;
}

static const char *intern(struct slope_blocklines *b, const char *file)
{
	void *array = b->file;

	if (b->last && !strcmp(b->last, file))
		return b->last;
	for (size_t i = 0; i < b->files; i++)
		if (!strcmp(b->file[i], file))
			return b->last = b->file[i];
	if (!slope_build_room(&array, b->files, sizeof *b->file))
		return NULL;
	b->file = array;
	b->file[b->files] = strdup(file);
	if (!b->file[b->files])
		return NULL;
	return b->last = b->file[b->files++];
}

static bool add_line(void *to, const char *file, uint32_t line)
{
	struct slope_blocklines *b = to;
	const char *kept = intern(b, file);
	void *array = b->line;

	if (!kept || !slope_build_room(&array, b->lines, sizeof *b->line))
		return false;
	b->line = array;
	b->line[b->lines++] = (struct slope_code_line){ kept, line };
	return true;
}

/* Files in the order in which they come, lines of one file ascending, each once. Blocks are short. */
static void put_in_order(struct slope_blocklines *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->lines; i++) {
		struct slope_code_line line = b->line[i];
		size_t at = kept;

		for (size_t k = 0; k < kept; k++)
			if (b->line[k].file == line.file && (k + 1 == kept || b->line[k + 1].file != line.file)) {
				at = k + 1;
				break;
			}
		while (at && b->line[at - 1].file == line.file && b->line[at - 1].line > line.line)
			at--;
		if (at && b->line[at - 1].file == line.file && b->line[at - 1].line == line.line)
			continue;
		memmove(b->line + at + 1, b->line + at, (kept - at) * sizeof *b->line);
		b->line[at] = line;
		kept++;
	}
	b->lines = kept;
}

const struct slope_code_line *slope_blocklines_of(struct slope_blocklines *b, uint32_t module, uint64_t address, uint64_t bytes,
						  size_t *count)
{
	struct opened *o = module < b->p->module_count ? open_module(b, module) : NULL;

	free(b->line);
	b->line = NULL;
	*count = b->lines = 0;
	if (!o || !o->open || !slope_lines_each(&o->lines, address, bytes, add_line, b) || !b->lines)
		return NULL;
	put_in_order(b);
	*count = b->lines;
	return b->line;
}

const char *slope_blocklines_why(const struct slope_blocklines *b, uint32_t module)
{
	const struct opened *o = module < b->p->module_count ? b->module[module] : NULL;

	if (!o)
		return NULL;
	switch (o->status) {
	case SLOPE_ELF_UNREADABLE:
		return "cannot be read";
	case SLOPE_ELF_FOREIGN:
		return "is not an ELF file";
	case SLOPE_ELF_OTHER_BUILD:
		return "is not the build that ran";
	case SLOPE_ELF_NO_MEMORY:
		return "does not fit into memory";
	default:
		return o->lines.unit_count ? NULL : "has no debug information";
	}
}
