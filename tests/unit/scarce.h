/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A host whose memory ends: after `left` calls for pages it has none. It
 * counts what it has given out, so that a test can see that all came back.
 * And what every test of the core includes besides.
 */
#ifndef SLOPE_TESTS_SCARCE_H
#define SLOPE_TESTS_SCARCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/thread.h"

#define ENDLESS SIZE_MAX

struct scarce {
	struct slope_host host;
	size_t left, held_bytes;
};

static inline void *scarce_pages(void *ctx, size_t bytes)
{
	struct scarce *s = ctx;
	void *p = s->left ? aligned_alloc(SLOPE_PAGE_BYTES, bytes) : NULL;

	assert_int_equal(bytes % SLOPE_PAGE_BYTES, 0);
	if (!p)
		return NULL;
	s->left -= s->left != ENDLESS;
	s->held_bytes += bytes;
	return memset(p, 0, bytes);
}

static inline void scarce_release(void *ctx, void *p, size_t bytes)
{
	struct scarce *s = ctx;

	assert_in_range(bytes, 1, s->held_bytes);
	s->held_bytes -= bytes;
	free(p);
}

/* `s` must stay where it is. */
static inline void scarce_init(struct scarce *s, size_t left)
{
	*s = (struct scarce){ .host = { scarce_pages, scarce_release, s }, .left = left };
}

#endif
