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

/* So much of the stack above this place is there, up to `most`. With the lock held. */
static uint64_t stack_bytes(uint64_t sp, uint64_t most)
{
	const struct space_region *region = space_at(&runtime.space, sp);

	if (!region || (region->prot & (PROT_READ | PROT_WRITE)) != (PROT_READ | PROT_WRITE))
		return 0;
	return region->end - sp < most ? region->end - sp : most;
}

struct vfork_pages *vforks_before(uint64_t sp)
{
	long got = system_call(__NR_mmap, 0, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct vfork_pages *pages = (struct vfork_pages *)got;

	if (system_failed(got))
		return NULL;
	lock_take(&runtime.lock);
	pages->from = sp;
	pages->bytes = stack_bytes(sp, DATA_BYTES);
	lock_give(&runtime.lock);
	return pages;
}

void vforks_child(struct vfork_pages *pages)
{
	runtime.to_parent = pages;
	if (!pages)
		return;
	/* As it is in the copy: other threads may have changed it since the parent looked. */
	lock_take(&runtime.lock);
	pages->bytes = stack_bytes(pages->from, pages->bytes);
	slope_copy(pages->before, (const void *)pages->from, pages->bytes);
	lock_give(&runtime.lock);
}

void vforks_tell(void)
{
	struct vfork_pages *pages = runtime.to_parent;

	if (!pages)
		return;
	/* What lay behind the stack may have gone before the copy was made. */
	lock_take(&runtime.lock);
	pages->bytes = stack_bytes(pages->from, pages->bytes);
	slope_copy(pages->data, (const void *)pages->from, pages->bytes);
	lock_give(&runtime.lock);
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
