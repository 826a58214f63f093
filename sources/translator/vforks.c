/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vfork and posix_spawn: natively the child uses its parent's memory until it
 * runs another program or ends, and tells it what went wrong that way. Here it
 * is a copy of its own, and the part of the stack above the parent's stack
 * pointer, where such words are, goes through pages that both have: what the
 * child has changed there, and nothing else, since other threads may change the
 * rest meanwhile. What it writes elsewhere, its parent does not see.
 */
#include "sources/translator/runtime.h"

#include <linux/mman.h>

#define SHARED_BYTES (128u << 10)
#define DATA_BYTES (SHARED_BYTES / 2 - 16)

struct vfork_pages {
	uint64_t from, bytes;        /* the part of the stack */
	uint64_t told, unused;
	uint8_t before[DATA_BYTES], data[DATA_BYTES];
};

_Static_assert(sizeof(struct vfork_pages) == SHARED_BYTES, "whole pages");

struct vfork_pages *vforks_before(uint64_t sp)
{
	const struct space_region *region;
	uint64_t bytes;

	lock_take(&runtime.lock);
	region = space_at(&runtime.space, sp);
	bytes = region && (region->prot & (PROT_READ | PROT_WRITE)) == (PROT_READ | PROT_WRITE) ? region->end - sp : 0;
	lock_give(&runtime.lock);
	long got = bytes ? system_call(__NR_mmap, 0, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) : -1;
	struct vfork_pages *pages = (struct vfork_pages *)got;

	if (system_failed(got))
		return NULL;
	pages->from = sp;
	pages->bytes = bytes < DATA_BYTES ? bytes : DATA_BYTES;
	slope_copy(pages->before, (const void *)sp, pages->bytes);
	return pages;
}

void vforks_child(struct vfork_pages *pages)
{
	runtime.to_parent = pages;
}

void vforks_tell(void)
{
	struct vfork_pages *pages = runtime.to_parent;

	if (!pages)
		return;
	slope_copy(pages->data, (const void *)pages->from, pages->bytes);
	pages->told = 1;
}

void vforks_after(struct vfork_pages *pages)
{
	if (!pages)
		return;
	for (uint64_t i = 0; pages->told && i < pages->bytes; i++)
		if (pages->data[i] != pages->before[i])
			((uint8_t *)pages->from)[i] = pages->data[i];
	system_release(pages, SHARED_BYTES);
}
