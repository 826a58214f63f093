/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sources/sampler/trampolines.h"

#include "sources/sampler/reals.h"

#define STUBS_PER_PAGE (SLOPE_PAGE_BYTES / SLOPE_STUB_BYTES)
#define STUBS_MAX (16u * STUBS_PER_PAGE)
#define STUBS_FIRST 2u           /* of a page: its first words are none */
#define CALL_BYTES 5u

extern const uint8_t slope_capturing[], slope_capturing_end[];

/* Called by stubs.S. */
uint64_t slope_trampoline_returned(uint64_t behind_call, uint64_t *slot);
void *slope_trampoline_capturing(uint64_t *slot, uint32_t number);

static uint32_t stub_tried;          /* the last number that was looked at */
static bool stub_held[STUBS_MAX];    /* by a thread */

bool slope_trampolines_possible(void)
{
	uint64_t shadow = 0;

	/* Stays 0 on processors without a shadow stack, and where it is switched off. */
	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a"(shadow));   /* rdsspq %rax */
	return !shadow;
}

void slope_trampolines_stop(void)
{
	slope_sampler.impossible |= slope_sampler.trampolines;
	slope_sampler.trampolines = false;
}

/* The stub that nobody has used for the longest time; 0: all are held. */
static uint32_t new_stub(void)
{
	for (uint32_t tries = 0; tries < STUBS_MAX; tries++) {
		uint32_t stub = __atomic_add_fetch(&stub_tried, 1, __ATOMIC_RELAXED) % STUBS_MAX;

		if (stub % STUBS_PER_PAGE >= STUBS_FIRST && !__atomic_exchange_n(&stub_held[stub], true, __ATOMIC_ACQUIRE))
			return stub;
	}
	return 0;
}

bool slope_trampoline_there(const struct slope_sampled *t, uint64_t sp)
{
	const uint64_t *slot = t->placed ? t->kept[t->kept_count - 1].slot : NULL;

	return slot && (uint64_t)(uintptr_t)slot >= sp && *slot == slope_trampoline_address(t->stub);
}

void slope_trampoline_remove(struct slope_sampled *t)
{
	const struct slope_kept *k = &t->kept[t->kept_count - 1];

	*k->slot = k->ra;
	t->placed = false;
}

void slope_trampoline_forget(struct slope_sampled *t)
{
	t->placed = false;
	if (t->stub)
		__atomic_store_n(&stub_held[t->stub], false, __ATOMIC_RELEASE);
	t->stub = 0;
}

/* The activation gets the trampoline, if its return address is what it was. */
static bool put_at(struct slope_sampled *t, const struct slope_kept *k)
{
	if (!k->safe || !k->slot || *k->slot != k->ra)
		return false;
	if (!t->stub && !(t->stub = new_stub()))
		return false;
	slope_stub_target[t->stub] = k->ra;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*k->slot = slope_trampoline_address(t->stub);
	t->placed = true;
	return true;
}

/* The last activation of the first `count` that gets the trampoline; those behind it are cut off. */
static bool place_among(struct slope_sampled *t, size_t count)
{
	for (size_t i = count; i; i--)
		if (put_at(t, &t->kept[i - 1])) {
			t->kept_count = i;
			return true;
		}
	return false;
}

bool slope_trampoline_place(struct slope_sampled *t)
{
	size_t all = t->kept_count;

	return place_among(t, all) && t->kept_count == all;
}

/*
 * A stub whose return address nobody knows any more: somebody has kept a copy
 * of it in a way that we do not know of, and used it again.
 */
static void give_up(void)
{
	static const char text[] = "slope: the program has returned twice from one call, by a way that the sampler does not know; "
				   "record with --no-trampoline\n";

	if (write(2, text, sizeof text - 1) < 0)
		_exit(127);
	__builtin_trap();
}

/*
 * A function has returned to a stub, whose call has left its own return
 * address in `*slot`. Where it was to return to. Registers with vectors must
 * stay as they are.
 */
__attribute__((visibility("hidden"))) uint64_t slope_trampoline_returned(uint64_t behind_call, uint64_t *slot)
{
	struct slope_sampled *t = slope_sampled;
	uint32_t stub = slope_trampoline_stub(behind_call - CALL_BYTES);
	uint64_t ra = slope_stub_target[stub];

	if (!ra)
		give_up();
	if (!t || !t->placed || t->stub != stub || t->kept[t->kept_count - 1].slot != slot)
		return ra;
	t->busy = slot;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->placed = false;
	t->kept[--t->kept_count].node->calls++;
	if (t->armed && slope_sampler.trampolines && !slope_sampler.stopped)
		place_among(t, t->kept_count);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->busy = NULL;
	return ra;
}

/* ---- unwinders ---- */

/* Somebody is going to look at return addresses: let them all be true. */
static void withdraw(const uint64_t *here)
{
	struct slope_sampled *t = slope_sampled;

	if (!t || !t->placed)
		return;
	t->busy = here;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (slope_trampoline_there(t, 0))
		slope_trampoline_remove(t);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->busy = NULL;
}

int _dl_find_object(void *address, struct dl_find_object *found)
{
	withdraw(__builtin_frame_address(0));
	return SLOPE_REAL(_dl_find_object)(address, found);
}

int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *info, size_t bytes, void *data), void *data)
{
	withdraw(__builtin_frame_address(0));
	return SLOPE_REAL(dl_iterate_phdr)(visit, data);
}

/* ---- functions that note where they return to ---- */

static const char *const capturing_name[] = { "setjmp", "_setjmp", "__sigsetjmp", "getcontext", "swapcontext", "vfork", "__vfork" };

#define CAPTURING (sizeof capturing_name / sizeof *capturing_name)

static void *capturing_real[CAPTURING];

static void *real_of(size_t i)
{
	if (!capturing_real[i])
		capturing_real[i] = slope_sampler_next(capturing_name[i]);
	return capturing_real[i];
}

void slope_trampolines_begin(void)
{
	for (size_t i = 0; i < CAPTURING; i++)
		slope_codemap_keep_off(real_of(i));
}

/* A function of capturing_name is called, and will find its return address in `*slot`: let it be the true one. */
__attribute__((visibility("hidden"))) void *slope_trampoline_capturing(uint64_t *slot, uint32_t number)
{
	struct slope_sampled *t = slope_sampled;
	uint32_t stub = slope_trampoline_stub(*slot);

	if (stub) {
		if (t)
			t->busy = slot;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		*slot = slope_stub_target[stub];
		if (t && t->stub == stub)
			t->placed = false;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (t)
			t->busy = NULL;
	}
	return real_of(number);
}
