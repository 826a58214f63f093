/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/session.h"
#include "core/stamp.h"
#include "core/thread.h"
#include "core/variants.h"

static bool add_function(struct slope_session *s, const struct slope_function *f)
{
	void *array = s->function;

	if (!slope_arena_grow_read(&s->arena, &array, &s->function_capacity, s->function_count + 1, sizeof *f))
		return false;
	__atomic_store_n(&s->function, array, __ATOMIC_RELEASE);
	s->function[s->function_count++] = *f;
	return true;
}

static bool add_module(struct slope_session *s, const struct slope_module *m)
{
	void *array = s->module;

	if (!slope_arena_grow(&s->arena, &array, &s->module_capacity, s->module_count + 1, sizeof *m))
		return false;
	s->module = array;
	s->module[s->module_count++] = *m;
	return true;
}

bool slope_session_init(struct slope_session *s, const struct slope_config *config, const struct slope_host *host)
{
	*s = (struct slope_session){ .config = *config, .host = host };
	if (!s->config.max_points)
		s->config.max_points = SLOPE_POINTS_MAX_DEFAULT;
	/* Marks leave fewer numbers. */
	if (s->config.marked && s->config.stamp_limit && s->config.stamp_limit < SLOPE_STAMP_LIMIT / 16)
		s->config.stamp_limit = slope_stamp_number(s->config.stamp_limit / 2, SLOPE_STAMP_MARKS);
	if (!s->config.stamp_limit || s->config.stamp_limit > SLOPE_STAMP_LIMIT)
		s->config.stamp_limit = SLOPE_STAMP_LIMIT;
	SLOPE_ASSERT(s->config.units >= 1 && s->config.units <= SLOPE_UNITS_MAX && s->config.cell_log2 <= 6);
	SLOPE_ASSERT(!s->config.burst_period || (!s->config.context_collapse && !s->config.variant_k));
	SLOPE_ASSERT(!s->config.variant_k || (s->config.contexts && !s->config.context_collapse &&
					      s->config.variant_k <= SLOPE_VARIANT_CALLERS_MAX &&
					      (!s->config.context_k || s->config.variant_k <= s->config.context_k)));
	if (!s->config.variants_max)
		s->config.variants_max = SLOPE_VARIANTS_MAX_DEFAULT;
	slope_arena_init(&s->arena, host);
	slope_map_init(&s->function_by_place, &s->arena);
	slope_map_init(&s->site_by_place, &s->arena);
	slope_sharing_init(&s->sharing, host);
	s->graphs.arena = &s->arena;
	void *threads = NULL;

	if (!add_module(s, &(struct slope_module){ .path = "" }) ||
	    !add_function(s, &(struct slope_function){ .name = "(thread)" }) ||
	    !slope_arena_grow(&s->arena, &threads, &s->thread_capacity, 8, sizeof *s->thread)) {
		slope_session_fini(s);
		return false;
	}
	s->thread = threads;
	s->thread_count = 1;
	return true;
}

void slope_session_parallel(struct slope_session *s)
{
	SLOPE_ASSERT(s->config.parallel);
	slope_sharing_tell(s);
	s->parallel = s->shared = true;
	for (size_t i = 1; i < s->thread_count; i++)
		s->thread[i]->own_kept = 0;
}

void slope_session_fini(struct slope_session *s)
{
	for (size_t i = 1; i < s->thread_count; i++)
		slope_thread_discard(s->thread[i]);
	slope_sharing_fini(&s->sharing);
	slope_arena_fini(&s->arena);
	s->thread_count = s->function_count = s->module_count = s->range_count = s->site_count = s->graphs.count = 0;
}

static bool same_text(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static bool same_module(const struct slope_module *a, const struct slope_module *b)
{
	if (a->build_id_bytes != b->build_id_bytes || !same_text(a->path, b->path))
		return false;
	for (uint32_t i = 0; i < a->build_id_bytes; i++)
		if (a->build_id[i] != b->build_id[i])
			return false;
	return true;
}

static const char *copy_text(struct slope_session *s, const char *text)
{
	size_t bytes = slope_length(text) + 1;
	char *copy = slope_arena_alloc(&s->arena, bytes);

	if (copy)
		slope_copy(copy, text, bytes);
	return copy;
}

uint32_t slope_session_module(struct slope_session *s, const struct slope_module *module)
{
	for (size_t i = s->module_count - 1; i > 0; i--)
		if (same_module(&s->module[i], module))
			return (uint32_t)i;
	struct slope_module m = *module;

	m.path = copy_text(s, module->path);
	return m.path && add_module(s, &m) ? (uint32_t)s->module_count - 1 : SLOPE_MODULE_NONE;
}

/* The place's entry in the map, NULL when memory runs out. Two places have one key only beyond 48 bits of offset. */
static uint64_t *function_entry(struct slope_session *s, uint32_t module, uint64_t offset, bool *fresh)
{
	uint64_t key = (uint64_t)module << 48 ^ offset;

	for (;;) {
		uint64_t *id = slope_map_put(&s->function_by_place, key, fresh);

		if (!id || *fresh || (s->function[*id].module == module && s->function[*id].offset == offset))
			return id;
		key = slope_mix64(key + 1);
	}
}

uint32_t slope_session_function(struct slope_session *s, uint32_t module, uint64_t offset, uint32_t flags, const char *name)
{
	bool fresh;
	uint64_t *id = function_entry(s, module, offset, &fresh);

	if (!id)
		return SLOPE_FN_NONE;
	if (!fresh)
		return (uint32_t)*id;
	struct slope_function f = { .module = module, .flags = flags, .offset = offset };

	f.name = name ? copy_text(s, name) : NULL;
	if (!add_function(s, &f))
		return SLOPE_FN_NONE;
	*id = s->function_count - 1;
	return (uint32_t)*id;
}

/* The map's values are numbers + 1: one that had no memory stays 0. */
uint32_t slope_session_site(struct slope_session *s, uint32_t module, uint64_t offset)
{
	bool fresh;
	uint64_t key = (uint64_t)module << 48 ^ offset, *number = slope_map_put(&s->site_by_place, key, &fresh);

	while (number && *number && (s->site[*number - 1].module != module || s->site[*number - 1].offset != offset)) {
		key = slope_mix64(key + 1);
		number = slope_map_put(&s->site_by_place, key, &fresh);
	}
	void *array = s->site;

	if (!number || (!*number && !slope_arena_grow(&s->arena, &array, &s->site_capacity, s->site_count + 1, sizeof *s->site)))
		return SLOPE_SITE_NONE;
	if (!*number) {
		s->site = array;
		s->site[s->site_count] = (struct slope_site){ .module = module, .offset = offset };
		*number = ++s->site_count;
	}
	return (uint32_t)*number - 1;
}

void slope_session_collect(struct slope_session *s, bool on)
{
	s->stopped = !on;
	for (size_t i = 1; i < s->thread_count; i++)
		slope_thread_collect(s->thread[i], on);
}

void slope_session_kernel_write(struct slope_session *s, uint64_t address, uint64_t bytes)
{
	if (!bytes || !(s->config.metrics & 1u << SLOPE_METRIC_TRMS))
		return;
	uint64_t last = (address + bytes - 1) >> s->config.cell_log2;
	bool own;

	slope_sharing_kernel_enters(s);
	for (uint64_t cell = address >> s->config.cell_log2, done; cell <= last; cell += done) {
		done = slope_sharing_write_some(s, NULL, cell, last + 1, &own);
		if (s->shared || s->thread_count < 2)
			continue;
		/* A lone thread does not ask the directory: its own word must say it. */
		uint32_t *word = slope_shadow_cell(&s->thread[1]->shadow, cell);

		SLOPE_ASSERT(done == 1);
		if (word)
			*word = slope_stamp_invalidate(*word, slope_session_marks(s));
		else
			slope_session_lose(s, SLOPE_LOST_CELLS, 1);
	}
	slope_sharing_kernel_leaves(s);
}

/* Position of the first range that ends after the address. */
static size_t range_after(const struct slope_session *s, uint64_t address)
{
	size_t lo = 0, hi = __atomic_load_n(&s->range_count, __ATOMIC_ACQUIRE);
	const struct slope_range *range = __atomic_load_n(&s->file_range, __ATOMIC_ACQUIRE);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (range[mid].end <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The count is read before the ranges: an array never gets smaller. */
bool slope_session_in_file(const struct slope_session *s, uint64_t address)
{
	uint32_t version;
	bool inside;

	do {
		version = __atomic_load_n(&s->range_version, __ATOMIC_ACQUIRE);
		size_t count = __atomic_load_n(&s->range_count, __ATOMIC_ACQUIRE), i = range_after(s, address);

		inside = i < count && __atomic_load_n(&s->file_range, __ATOMIC_ACQUIRE)[i].start <= address;
	} while (version % 2 || version != __atomic_load_n(&s->range_version, __ATOMIC_ACQUIRE));
	return inside;
}

/* Around every change of the ranges. */
static void ranges_change(struct slope_session *s)
{
	__atomic_fetch_add(&s->range_version, 1, __ATOMIC_SEQ_CST);
}

static void insert_range(struct slope_session *s, size_t at, struct slope_range range)
{
	void *array = s->file_range;

	if (!slope_arena_grow_read(&s->arena, &array, &s->range_capacity, s->range_count + 1, sizeof range)) {
		slope_session_lose(s, SLOPE_LOST_CELLS, 1);
		return;
	}
	__atomic_store_n(&s->file_range, array, __ATOMIC_RELEASE);
	for (size_t i = s->range_count; i > at; i--)
		s->file_range[i] = s->file_range[i - 1];
	s->file_range[at] = range;
	__atomic_store_n(&s->range_count, s->range_count + 1, __ATOMIC_RELEASE);
}

static void remove_range(struct slope_session *s, uint64_t start, uint64_t end)
{
	size_t i = range_after(s, start);

	while (i < s->range_count && s->file_range[i].start < end) {
		struct slope_range *r = &s->file_range[i];
		struct slope_range tail = { end, r->end };
		bool keep_head = r->start < start;

		if (keep_head) {
			r->end = start;
			i++;
			if (tail.start < tail.end)
				insert_range(s, i, tail);
		} else if (tail.start < tail.end) {
			*r = tail;
			return;
		} else {
			for (size_t k = i + 1; k < s->range_count; k++)
				s->file_range[k - 1] = s->file_range[k];
			s->range_count--;
		}
	}
}

void slope_session_map_file(struct slope_session *s, uint64_t address, uint64_t bytes)
{
	if (!bytes)
		return;
	ranges_change(s);
	remove_range(s, address, address + bytes);
	insert_range(s, range_after(s, address), (struct slope_range){ address, address + bytes });
	ranges_change(s);
}

void slope_session_forget(struct slope_session *s, uint64_t address, uint64_t bytes)
{
	if (!bytes)
		return;
	uint64_t cell = address >> s->config.cell_log2;
	uint64_t count = ((address + bytes - 1) >> s->config.cell_log2) - cell + 1;

	ranges_change(s);
	remove_range(s, address, address + bytes);
	ranges_change(s);
	slope_shadow_clear(&s->sharing.directory, cell, count);
	for (size_t i = 1; i < s->thread_count; i++)
		slope_shadow_clear(&s->thread[i]->shadow, cell, count);
}

/* How many words from this cell on surely lie side by side. */
static uint64_t side_by_side(const struct slope_shadow *shadow, uint64_t cell)
{
	uint64_t leaf = SLOPE_LEAF_CELLS - (cell & (SLOPE_LEAF_CELLS - 1));
	uint64_t window = cell < shadow->window_cells ? shadow->window_cells - cell : leaf;

	return leaf < window ? leaf : window;
}

/* `count` words that lie side by side, before and after. Cells that were never touched are not given memory. */
static void move_leaf(struct slope_session *s, struct slope_shadow *shadow, uint64_t from, uint64_t to, uint64_t count)
{
	const uint32_t *old = slope_shadow_peek(shadow, from);
	uint32_t *place = slope_shadow_peek(shadow, to);

	for (uint64_t i = 0; (old || place) && i < count; i++) {
		uint32_t word = old ? old[i] : 0;

		if (word && !place && !(place = slope_shadow_cell(shadow, to)))
			slope_session_lose(s, SLOPE_LOST_CELLS, 1);
		if (place && place[i] != word)
			place[i] = word;
	}
}

static void move_words(struct slope_session *s, struct slope_shadow *shadow, uint64_t from, uint64_t to, uint64_t count)
{
	if (from + count <= shadow->window_cells && to + count <= shadow->window_cells)
		return;                  /* within a window: the source's to move */
	while (count) {
		uint64_t part = side_by_side(shadow, from), there = side_by_side(shadow, to);

		if (part > there)
			part = there;
		if (part > count)
			part = count;
		move_leaf(s, shadow, from, to, part);
		from += part;
		to += part;
		count -= part;
	}
}

static void move_ranges(struct slope_session *s, uint64_t from, uint64_t to, uint64_t bytes)
{
	uint64_t shift = to - from, end = from + bytes;

	while (from < end) {
		size_t i = range_after(s, from);

		if (i >= s->range_count || s->file_range[i].start >= end)
			return;
		struct slope_range part = s->file_range[i];

		if (part.start < from)
			part.start = from;
		if (part.end > end)
			part.end = end;
		ranges_change(s);
		remove_range(s, part.start, part.end);
		ranges_change(s);
		slope_session_map_file(s, part.start + shift, part.end - part.start);
		from = part.end;
	}
}

void slope_session_move(struct slope_session *s, uint64_t from, uint64_t to, uint64_t bytes)
{
	unsigned log2 = s->config.cell_log2;
	uint64_t count = (bytes + (UINT64_C(1) << log2) - 1) >> log2;

	move_ranges(s, from, to, bytes);
	move_words(s, &s->sharing.directory, from >> log2, to >> log2, count);
	for (size_t i = 1; i < s->thread_count; i++)
		move_words(s, &s->thread[i]->shadow, from >> log2, to >> log2, count);
}

void slope_session_restart(struct slope_session *s, struct slope_thread *only, const uint64_t *cost)
{
	for (size_t i = 1; i < s->thread_count; i++)
		if (s->thread[i] != only)
			slope_thread_discard(s->thread[i]);
	slope_thread_restart(only, cost);
	slope_sharing_restart(s);
	for (int i = 0; i < SLOPE_LOST_COUNT; i++)
		s->lost[i] = 0;
	s->renumberings = 0;
	s->variants_folded = 0;
}
