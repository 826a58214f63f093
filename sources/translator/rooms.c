/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rooms of threads. A thread's room is used again after its end. Addresses are
 * the limit for shadow windows: half of what a process has. Threads beyond
 * that get a room with a context alone, whose window is shared with others:
 * such windows begin one page after the other, so that the contexts lie side by side
 * before the shadow of the first address. What is behind them is
 * never written and reads as zero, for the checks of translated code, which
 * none of these words lets pass.
 */
#include "sources/translator/observing.h"

#include <linux/mman.h>

#define SHADOWS_MAX_BYTES (1ul << 46)
#define LANE_BYTES 4096u
#define LANES 200u               /* contexts from CTX_PLACE on, all before the window */

_Static_assert(CTX_PLACE + (int)(LANES * LANE_BYTES) < 0, "contexts lie below the shadow");

static struct {
	struct room *all;
	uint64_t shadow_bytes;       /* of all windows */
	char *shared;                /* the window of the lanes that come next */
	unsigned lanes;              /* of it that are used */
} rooms;

/* May there be one more? Then there is still room for one that others share. */
static bool has_place(uint64_t shadow_bytes)
{
	return rooms.shadow_bytes + 2 * shadow_bytes <= SHADOWS_MAX_BYTES;
}

/* What the shadow needs from a window's start on. */
static uint64_t window_bytes(uint64_t shadow_bytes)
{
	return slope_page_round(SHADOW_PLACE + shadow_bytes);
}

void *rooms_window(uint64_t shadow_bytes)
{
	char *pages = system_pages(WINDOW_BEFORE + window_bytes(shadow_bytes), true);

	return pages ? pages + WINDOW_BEFORE : NULL;
}

static bool set_window(struct room *room, uint64_t shadow_bytes)
{
	if (shadow_bytes && has_place(shadow_bytes) && (room->window = rooms_window(shadow_bytes))) {
		room->shadow_bytes = shadow_bytes;
		rooms.shadow_bytes += shadow_bytes;
		return true;
	}
	if (!rooms.shared || rooms.lanes == LANES) {
		char *shared = rooms_window(shadow_bytes + (LANES + 1) * LANE_BYTES);

		if (!shared)
			return false;
		rooms.shared = shared;
		rooms.lanes = 0;
	}
	room->window = rooms.shared + rooms.lanes++ * LANE_BYTES;
	return true;
}

static struct room *new_room(uint64_t shadow_bytes)
{
	struct room *room = slope_arena_alloc(&runtime.space.arena, sizeof *room);


	if (!room || !set_window(room, shadow_bytes) || !(room->stack = system_pages(ROOMS_SIGNAL_BYTES + ROOMS_STACK_BYTES, true)))
		return NULL;
	if (observing_keeps_paths_apart() && !(room->path_window = system_pages(runtime.space.window, true)))
		return NULL;
	room->next = rooms.all;
	rooms.all = room;
	return room;
}

static void give_pages_back(char *from, uint64_t bytes)
{
	system_call(__NR_madvise, (long)from, (long)bytes, MADV_DONTNEED, 0, 0, 0);
}

struct room *rooms_take(uint64_t shadow_bytes)
{
	struct room *room = rooms.all, *without = NULL;

	/* One with a shadow is the better one. */
	for (; room; room = room->next) {
		if (__atomic_load_n(&room->busy, __ATOMIC_ACQUIRE))
			continue;
		if (room->shadow_bytes == shadow_bytes)
			break;
		without = room;
	}
	if (!room && without && !has_place(shadow_bytes))
		room = without;
	if (!room && !(room = new_room(shadow_bytes)))
		return NULL;
	struct context *ctx = (struct context *)(room->window + CTX_PLACE);

	give_pages_back(room->window + CTX_PLACE, LANE_BYTES);
	ctx->self = ctx;
	ctx->path_window = room->path_window ? room->path_window : room->window;
	ctx->room = room;
	ctx->host_rsp = (uint64_t)room->stack + ROOMS_SIGNAL_BYTES + ROOMS_STACK_BYTES;
	room->busy = 1;
	return room;
}

void rooms_clear(struct room *room)
{
	int64_t behind = CTX_PLACE + (int)LANE_BYTES;

	if (room->shadow_bytes)
		give_pages_back(room->window + behind, window_bytes(room->shadow_bytes) - (uint64_t)behind);
	if (room->path_window)
		give_pages_back(room->path_window, runtime.space.window);
}

void rooms_only(struct room *only)
{
	for (struct room *room = rooms.all; room; room = room->next) {
		if (room == only || !room->busy)
			continue;
		rooms_clear(room);
		give_pages_back(room->stack, ROOMS_SIGNAL_BYTES + ROOMS_STACK_BYTES);
		room->busy = 0;
	}
}
