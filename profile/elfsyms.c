/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "profile/debugfiles.h"
#include "profile/elfsyms.h"

/* Only so many bytes of a build id are kept in a profile. */
#define ID_BYTES_MAX 32u

static bool same_build(Elf *elf, const uint8_t *id, uint32_t id_bytes)
{
	const void *found;
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, &found);

	if (!id_bytes)
		return true;
	if (bytes > (ssize_t)ID_BYTES_MAX)
		bytes = ID_BYTES_MAX;
	return bytes == (ssize_t)id_bytes && !memcmp(found, id, id_bytes);
}

static enum slope_elf_status check_file(int fd, const uint8_t *id, uint32_t id_bytes)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	enum slope_elf_status status = SLOPE_ELF_OK;

	if (!elf || elf_kind(elf) != ELF_K_ELF)
		status = SLOPE_ELF_FOREIGN;
	else if (!same_build(elf, id, id_bytes))
		status = SLOPE_ELF_OTHER_BUILD;
	elf_end(elf);
	return status;
}

/* Opening a fifo or a device could hang or do something. */
static int open_plain_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

static int by_range(const void *a, const void *b)
{
	const struct slope_elf_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool read_code_ranges(struct slope_elf *e)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(e->module, &bias);
	size_t sections;

	if (!elf || elf_getshdrnum(elf, &sections))
		return true;
	e->code = calloc(sections + 1, sizeof(*e->code));
	if (!e->code)
		return false;
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		GElf_Shdr header;

		if (gelf_getshdr(scn, &header) && (header.sh_flags & SHF_EXECINSTR))
			e->code[e->code_count++] = (struct slope_elf_range){ header.sh_addr + bias,
									     header.sh_addr + bias + header.sh_size };
	}
	qsort(e->code, e->code_count, sizeof(*e->code), by_range);
	return true;
}

static const struct slope_elf_range *code_at(const struct slope_elf *e, uint64_t address)
{
	for (size_t i = 0; i < e->code_count; i++)
		if (address >= e->code[i].start && address < e->code[i].end)
			return &e->code[i];
	return NULL;
}

static unsigned leading_underscores(const char *name)
{
	unsigned n = 0;

	while (name[n] == '_')
		n++;
	/* A mangled name's own underscore says nothing. */
	return n == 1 && (name[1] == 'Z' || name[1] == 'R') ? 0 : n;
}

static uint8_t rank_of(const GElf_Sym *sym, const char *name)
{
	unsigned underscores = leading_underscores(name), bind = GELF_ST_BIND(sym->st_info);
	unsigned rank = GELF_ST_TYPE(sym->st_info) == STT_NOTYPE ? 128 : 0;

	rank += bind == STB_LOCAL ? 64 : 0;
	rank += (underscores > 15 ? 15 : underscores) * 2;
	return (uint8_t)(rank + (bind == STB_WEAK));
}

static bool is_function(const struct slope_elf *e, const GElf_Sym *sym, uint64_t address, const char *name)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	return sym->st_shndx != SHN_UNDEF && name && name[0] && name[0] != '$' && code_at(e, address);
}

/* By start; the best of those with one start first. */
static int by_start_and_rank(const void *a, const void *b)
{
	const struct slope_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? 1 : -1;
	size_t lx = strlen(x->name), ly = strlen(y->name);

	return lx != ly ? (lx > ly ? 1 : -1) : strcmp(x->name, y->name);
}

/* One symbol for each start, with the greatest size that any of its names has. */
static void drop_aliases(struct slope_elf *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->count; i++) {
		struct slope_symbol *last = kept ? &e->symbol[kept - 1] : NULL;

		if (!last || last->start != e->symbol[i].start)
			e->symbol[kept++] = e->symbol[i];
		else if (last->bytes < e->symbol[i].bytes)
			last->bytes = e->symbol[i].bytes;
	}
	e->count = kept;
}

static bool covers(const struct slope_symbol *s, uint64_t address)
{
	return address == s->start || address - s->start < s->bytes;
}

/* Who lies in whom; a symbol without a size and in no other reaches to the next. */
static void nest(struct slope_elf *e)
{
	for (size_t i = 0; i < e->count; i++) {
		struct slope_symbol *s = &e->symbol[i];
		size_t outer = i;       /* 1 + position */

		while (outer && !covers(&e->symbol[outer - 1], s->start))
			outer = e->symbol[outer - 1].around;
		s->around = (uint32_t)outer;
		if (s->bytes || outer)
			continue;
		uint64_t end = code_at(e, s->start)->end;

		if (i + 1 < e->count && e->symbol[i + 1].start < end)
			end = e->symbol[i + 1].start;
		s->bytes = end - s->start;
	}
}

static bool read_symbols(struct slope_elf *e)
{
	int total = dwfl_module_getsymtab(e->module);

	if (total <= 0)
		return true;
	e->symbol = malloc((size_t)total * sizeof(*e->symbol));
	if (!e->symbol)
		return false;
	for (int i = 0; i < total; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(e->module, i, &sym, &address, NULL, NULL, NULL);

		if (is_function(e, &sym, address, name))
			e->symbol[e->count++] = (struct slope_symbol){ .start = address, .bytes = sym.st_size,
								       .name = name, .rank = rank_of(&sym, name) };
	}
	qsort(e->symbol, e->count, sizeof(*e->symbol), by_start_and_rank);
	drop_aliases(e);
	nest(e);
	return true;
}

static bool start_dwfl(struct slope_elf *e, const char *path, int fd, const char *debug_path)
{
	e->callbacks = (Dwfl_Callbacks){ .find_elf = dwfl_build_id_find_elf,
					 .find_debuginfo = debug_path ? dwfl_standard_find_debuginfo : slope_debugfiles_find,
					 .section_address = dwfl_offline_section_address,
					 .debuginfo_path = &e->debug_path };
	e->debug_path = debug_path ? strdup(debug_path) : NULL;
	e->dwfl = dwfl_begin(&e->callbacks);
	if (!e->dwfl)
		return false;
	/* Base 0 and the file's own p_vaddr: addresses stay those of the file. */
	e->module = dwfl_report_elf(e->dwfl, path, path, fd, 0, true);
	return e->module && !dwfl_report_end(e->dwfl, NULL, NULL);
}

enum slope_elf_status slope_elf_open(struct slope_elf *e, const char *path, const uint8_t *id, uint32_t id_bytes,
				     const char *debug_path)
{
	*e = (struct slope_elf){ 0 };
	elf_version(EV_CURRENT);
	int fd = open_plain_file(path);

	if (fd < 0)
		return SLOPE_ELF_UNREADABLE;
	enum slope_elf_status status = check_file(fd, id, id_bytes);

	if (status == SLOPE_ELF_OK && !start_dwfl(e, path, fd, debug_path))
		status = SLOPE_ELF_FOREIGN;
	if (!e->module)
		close(fd);           /* a reported module owns it */
	if (status == SLOPE_ELF_OK && (!read_code_ranges(e) || !read_symbols(e)))
		status = SLOPE_ELF_NO_MEMORY;
	if (status != SLOPE_ELF_OK)
		slope_elf_close(e);
	return status;
}

void slope_elf_close(struct slope_elf *e)
{
	dwfl_end(e->dwfl);
	free(e->debug_path);
	free(e->symbol);
	free(e->code);
	*e = (struct slope_elf){ 0 };
}

const struct slope_symbol *slope_elf_symbol(const struct slope_elf *e, uint64_t address)
{
	size_t low = 0, high = e->count;

	while (low < high) {            /* the first symbol that starts after the address */
		size_t middle = low + (high - low) / 2;

		if (e->symbol[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && !covers(&e->symbol[low - 1], address))
		low = e->symbol[low - 1].around;
	return low ? &e->symbol[low - 1] : NULL;
}

const char *slope_elf_debug_file(const struct slope_elf *e)
{
	const char *file = NULL;

	dwfl_module_info(e->module, NULL, NULL, NULL, NULL, NULL, NULL, &file);
	return file;
}
