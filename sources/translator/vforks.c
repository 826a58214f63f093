/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vfork and posix_spawn: natively the child uses its parent's memory until it
 * runs another program or ends, and tells it what went wrong that way. Here it
 * is a copy of its own, and the part of the stack above the parent's stack
 * pointer, where such words are, goes through pages that both have. What it
 * writes elsewhere, its parent does not see.
 */
#include "sources/translator/runtime.h"

#include <linux/mman.h>

#define SHARED_BYTES (64u << 10)
#define PART_BYTES (SHARED_BYTES / 2 - 16)

struct vfork_pages {
	uint64_t from, bytes;        /* the part of the stack */
	uint64_t told, unused;
	uint8_t before[PART_BYTES], after[PART_BYTES];   /* as the child found it, and as it left it */
};

_Static_assert(sizeof(struct vfork_pages) == SHARED_BYTES, "whole pages");

struct vfork_pages *vforks_before(uint64_t sp)
{
	long got = system_call(__NR_mmap, 0, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct vfork_pages *pages = (struct vfork_pages *)got;
	const struct space_region *region;

	if (system_failed(got))
		return NULL;
	lock_take(&runtime.lock);
	region = space_at(&runtime.space, sp);
	pages->from = sp;
	if (region)
		pages->bytes = region->end - sp < PART_BYTES ? region->end - sp : PART_BYTES;
	lock_give(&runtime.lock);
	return pages;
}

void vforks_child(struct vfork_pages *pages)
{
	runtime.to_parent = pages;
	if (pages)
		slope_copy(pages->before, (const void *)pages->from, pages->bytes);
}

void vforks_tell(void)
{
	struct vfork_pages *pages = runtime.to_parent;

	if (!pages)
		return;
	slope_copy(pages->after, (const void *)pages->from, pages->bytes);
	pages->told = 1;
}

void vforks_after(struct vfork_pages *pages)
{
	if (!pages)
		return;
	/* Only what the child has changed: other threads may have written there meanwhile. */
	for (uint64_t i = 0; pages->told && i < pages->bytes; i++)
		if (pages->after[i] != pages->before[i])
			((uint8_t *)pages->from)[i] = pages->after[i];
	system_release(pages, SHARED_BYTES);
}
