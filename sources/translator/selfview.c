/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the program sees of itself below /proc: its own file as `exe`, and its
 * own memory as `maps`, without the translator's. Whoever looks from outside
 * sees the translator's.
 */
#include "sources/translator/runtime.h"

#include <asm/stat.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/memfd.h>
#include <linux/mman.h>

#define LINE_BYTES (RUNTIME_PATH_BYTES + 128u)
#define PATH_COLUMN 73u

bool selfview_names(uint64_t path, const char *what)
{
	struct system_digits digits;
	const char *at = (const char *)path, *rest;
	uint64_t pid = (uint64_t)system_call(__NR_getpid, 0, 0, 0, 0, 0, 0);

	if (!space_allows(&runtime.space, path, 1, PROT_READ) || !(at = system_after(at, "/proc/")))
		return false;
	if (!(rest = system_after(at, "self/")) && !(rest = system_after(at, "thread-self/"))) {
		rest = system_after(at, system_number(&digits, pid, 10));
		if (!rest || *rest++ != '/')
			return false;
	}
	return system_same(rest, what);
}

long selfview_link(uint64_t to, uint64_t room)
{
	size_t length = slope_length(runtime.program_path);

	if (length > room)
		length = room;
	if (!space_allows(&runtime.space, to, length, PROT_READ | PROT_WRITE))
		return -EFAULT;
	slope_copy((void *)to, runtime.program_path, length);
	return (long)length;
}

/* With leading zeros. */
static size_t hex(char *line, size_t n, uint64_t value, size_t width)
{
	struct system_digits digits;
	const char *text = system_number(&digits, value, 16);

	for (size_t i = slope_length(text); i < width; i++)
		n = system_append(line, n, LINE_BYTES, "0");
	return system_append(line, n, LINE_BYTES, text);
}

static const char *name_of(const struct space_region *region)
{
	if (region->path)
		return region->path;
	if (region->start >= PLAN_BREAK && region->end <= PLAN_BREAK_END)
		return "[heap]";
	return (uint64_t)runtime.program_on_stack - region->start < region->end - region->start ? "[stack]" : "";
}

static size_t write_line(char *line, const struct space_region *region)
{
	struct system_digits digits;
	struct stat st = { 0 };
	size_t n = hex(line, 0, region->start, 8);
	const char *name = name_of(region);
	char rights[7] = { ' ', region->prot & PROT_READ ? 'r' : '-', region->prot & PROT_WRITE ? 'w' : '-',
			   region->prot & PROT_EXEC ? 'x' : '-', 'p', ' ', 0 };

	if (region->path)
		system_call(__NR_stat, (long)region->path, (long)&st, 0, 0, 0, 0);
	n = hex(line, system_append(line, n, LINE_BYTES, "-"), region->end, 8);
	n = hex(line, system_append(line, n, LINE_BYTES, rights), region->offset, 8);
	n = hex(line, system_append(line, n, LINE_BYTES, " "), st.st_dev >> 8 & 0xfff, 2);
	n = hex(line, system_append(line, n, LINE_BYTES, ":"), st.st_dev & 0xff, 2);
	n = system_append(line, system_append(line, n, LINE_BYTES, " "), LINE_BYTES, system_number(&digits, st.st_ino, 10));
	while (*name && n < PATH_COLUMN)
		n = system_append(line, n, LINE_BYTES, " ");
	return system_append(line, system_append(line, n, LINE_BYTES, name), LINE_BYTES, "\n");
}

long selfview_open_maps(int flags)
{
	char line[LINE_BYTES];
	long fd = system_call(__NR_memfd_create, (long)"maps", flags & O_CLOEXEC ? MFD_CLOEXEC : 0, 0, 0, 0, 0);

	if (fd < 0)
		return fd;
	lock_take(&runtime.lock);
	for (size_t i = 0; i < runtime.space.count; i++) {
		size_t bytes = write_line(line, &runtime.space.region[i]);

		system_call(__NR_write, fd, (long)line, (long)bytes, 0, 0, 0);
	}
	lock_give(&runtime.lock);
	system_call(__NR_lseek, fd, 0, 0, 0, 0, 0);
	return fd;
}
