/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ELF files into the program's space, as the kernel would have done it. */
#include "sources/translator/runtime.h"

#include <asm/stat.h>
#include <elf.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/stat.h>

#define SEGMENTS_MAX 64u

struct elf_file {
	long fd;
	Elf64_Ehdr head;
	Elf64_Phdr segment[SEGMENTS_MAX];
};

const char *loading_reason(enum loading how)
{
	switch (how) {
	case LOADING_NOT_FOUND:
		return "cannot be opened";
	case LOADING_NOT_ELF:
		return "is no program";
	case LOADING_OTHER_MACHINE:
		return "is no 64-bit x86 program";
	case LOADING_BROKEN:
		return "is a damaged program";
	case LOADING_NO_ROOM:
		return "does not fit where the translator has room for it; record it with --source=valgrind";
	case LOADING_PRIVILEGED:
		return "is setuid or setgid, and would run without its privileges";
	case LOADING_NO_INTERPRETER:
		return "needs an interpreter (its PT_INTERP) that cannot be opened";
	case LOADING_SANITIZED:
		return "is built with the thread or memory sanitizer, which wants memory that the translator has not got; "
		       "record it with --source=valgrind";
	case LOADING_ADDRESS_SANITIZED:
		return "is built with the address sanitizer, which wants memory that neither the translator nor Valgrind has got; "
		       "build it without -fsanitize=address, or with -static-libasan as well and sample it (--source=sampler)";
	case LOADING_LEAK_SANITIZED:
		return "is built with the leak sanitizer, which wants memory that the translator has not got, and may hang under Valgrind; "
		       "build it without -fsanitize=leak, or sample it (--source=sampler)";
	case LOADING_DONE:
		break;
	}
	return "is fine";
}

static enum loading open_file(const char *path, struct elf_file *f)
{
	f->fd = system_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (f->fd < 0)
		return LOADING_NOT_FOUND;
	if (!system_read_at(f->fd, &f->head, 0, sizeof f->head) || f->head.e_ident[0] != ELFMAG0 ||
	    f->head.e_ident[1] != ELFMAG1 || f->head.e_ident[2] != ELFMAG2 || f->head.e_ident[3] != ELFMAG3)
		return LOADING_NOT_ELF;
	if (f->head.e_ident[EI_CLASS] != ELFCLASS64 || f->head.e_machine != EM_X86_64)
		return LOADING_OTHER_MACHINE;
	if ((f->head.e_type != ET_EXEC && f->head.e_type != ET_DYN) || f->head.e_phentsize != sizeof *f->segment ||
	    !f->head.e_phnum || f->head.e_phnum > SEGMENTS_MAX ||
	    !system_read_at(f->fd, f->segment, f->head.e_phoff, f->head.e_phnum * sizeof *f->segment))
		return LOADING_BROKEN;
	return LOADING_DONE;
}

static int prot_of(const Elf64_Phdr *segment)
{
	return (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0) |
	       (segment->p_flags & PF_X ? PROT_EXEC : 0);
}

/* What lies behind the file's part of a segment reads as zero. */
static bool map_rest(const Elf64_Phdr *segment, uint64_t bias)
{
	uint64_t file_end = bias + segment->p_vaddr + segment->p_filesz, end = bias + segment->p_vaddr + segment->p_memsz;
	uint64_t page_end = slope_page_round(file_end);

	if (segment->p_flags & PF_W)
		for (uint64_t at = file_end; at < page_end && segment->p_filesz; at++)
			*(volatile char *)at = 0;
	return slope_page_round(end) <= page_end ||
	       !system_failed(space_mmap(&runtime.space, page_end, end - page_end, prot_of(segment),
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

static bool map_segment(const struct elf_file *f, const Elf64_Phdr *segment, uint64_t bias)
{
	uint64_t in_page = segment->p_vaddr % SLOPE_PAGE_BYTES;

	if (segment->p_filesz &&
	    system_failed(space_mmap(&runtime.space, bias + segment->p_vaddr - in_page, segment->p_filesz + in_page,
				     prot_of(segment), MAP_PRIVATE | MAP_FIXED, (int)f->fd, segment->p_offset - in_page)))
		return false;
	return map_rest(segment, bias);
}

/* The lowest and the highest address that its segments name, in whole pages. */
static bool extent(const struct elf_file *f, uint64_t *low, uint64_t *high)
{
	*low = UINT64_MAX;
	*high = 0;
	for (unsigned i = 0; i < f->head.e_phnum; i++) {
		const Elf64_Phdr *segment = &f->segment[i];

		if (segment->p_type != PT_LOAD)
			continue;
		if (segment->p_filesz > segment->p_memsz || segment->p_vaddr + segment->p_memsz < segment->p_vaddr)
			return false;
		if (segment->p_vaddr < *low)
			*low = segment->p_vaddr & ~(uint64_t)(SLOPE_PAGE_BYTES - 1);
		if (segment->p_vaddr + segment->p_memsz > *high)
			*high = slope_page_round(segment->p_vaddr + segment->p_memsz);
	}
	return *low < *high;
}

static enum loading map_image(const struct elf_file *f, struct image *image)
{
	uint64_t low, high;
	bool fixed = f->head.e_type == ET_EXEC;

	if (!extent(f, &low, &high))
		return LOADING_BROKEN;
	/* All of it at once first, so that nothing else is in the way; near, where large files do not come unasked. */
	long at = space_mmap(&runtime.space, fixed ? low : PLAN_NEAR, high - low, fixed ? PROT_NONE : PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (fixed ? MAP_FIXED_NOREPLACE : 0), -1, 0);

	if (system_failed(at) || (uint64_t)at + (high - low) > PLAN_CACHE)
		return LOADING_NO_ROOM;
	image->base = (uint64_t)at;
	image->bias = (uint64_t)at - low;
	space_munmap(&runtime.space, image->base, high - low);
	for (unsigned i = 0; i < f->head.e_phnum; i++)
		if (f->segment[i].p_type == PT_LOAD && !map_segment(f, &f->segment[i], image->bias))
			return LOADING_NO_ROOM;
	image->entry = image->bias + f->head.e_entry;
	image->header_count = f->head.e_phnum;
	return LOADING_DONE;
}

static void find_parts(const struct elf_file *f, struct image *image)
{
	for (unsigned i = 0; i < f->head.e_phnum; i++) {
		const Elf64_Phdr *segment = &f->segment[i];

		if (segment->p_type == PT_LOAD && f->head.e_phoff - segment->p_offset < segment->p_filesz && !image->headers)
			image->headers = image->bias + segment->p_vaddr + f->head.e_phoff - segment->p_offset;
		image->runs_stack |= segment->p_type == PT_GNU_STACK && segment->p_flags & PF_X;
		if (segment->p_type == PT_INTERP && segment->p_filesz < sizeof image->interpreter)
			system_read_at(f->fd, image->interpreter, segment->p_offset, segment->p_filesz);
	}
}

enum loading loading_image(const char *path, struct image *image)
{
	struct elf_file f;
	enum loading how = open_file(path, &f);

	memset(image, 0, sizeof *image);
	if (how == LOADING_DONE)
		how = map_image(&f, image);
	if (how == LOADING_DONE)
		find_parts(&f, image);
	if (f.fd >= 0)
		system_close(f.fd);
	return how;
}

static bool is_privileged(long fd)
{
	struct stat st;

	return !system_call(__NR_fstat, fd, (long)&st, 0, 0, 0, 0) &&
	       (st.st_mode & S_ISUID || (st.st_mode & S_ISGID && st.st_mode & S_IXGRP));
}

static bool has_interpreter(const struct elf_file *f)
{
	struct image image = { .headers = 1 };

	find_parts(f, &image);
	return !image.interpreter[0] || !system_call(__NR_access, (long)image.interpreter, 1 /* X_OK */, 0, 0, 0, 0);
}

/* Where a program with fixed addresses is to lie may be ours. */
static bool has_room(const struct elf_file *f)
{
	uint64_t low, high;

	return f->head.e_type != ET_EXEC || !extent(f, &low, &high) || (low >= PLAN_LOWEST && high <= PLAN_CACHE);
}

enum loading loading_probe(const char *path, char *script_line, size_t room)
{
	struct elf_file f;
	enum loading how = open_file(path, &f);

	script_line[0] = 0;
	if (how == LOADING_NOT_ELF) {
		long got = system_call(__NR_pread64, f.fd, (long)script_line, (long)room - 1, 0, 0, 0);
		long i = 0;

		while (i < got && script_line[i] != '\n')
			i++;
		script_line[got > 0 ? i : 0] = 0;
	}
	if (how == LOADING_DONE && is_privileged(f.fd))
		how = LOADING_PRIVILEGED;
	else if (how == LOADING_DONE && !has_interpreter(&f))
		how = LOADING_NO_INTERPRETER;
	else if (how == LOADING_DONE && !has_room(&f))
		how = LOADING_NO_ROOM;
	else if (how == LOADING_DONE)
		how = sanitizers_in(path);
	if (f.fd >= 0)
		system_close(f.fd);
	return how;
}
