/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <sys/mman.h>

#include "profile/host.h"

static void *pages(void *ctx, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)ctx;
	return p == MAP_FAILED ? NULL : p;
}

static void release(void *ctx, void *p, size_t bytes)
{
	(void)ctx;
	munmap(p, bytes);
}

const struct slope_host slope_system_host = { .pages = pages, .release = release };
