/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/frames.h"
#include "core/placing.h"
#include "core/variants.h"

#define RECORD_PAGE (1u << SLOPE_RECORD_PAGE_LOG2)
#define FRAMES_FIRST 1024u

/* Below the root's there is one more frame, whose words nobody takes: its stamp is the root's. */
static size_t stack_bytes(size_t capacity)
{
	return slope_page_round((capacity + 1) * sizeof(struct slope_frame));
}

bool slope_frames_grow(struct slope_thread *t)
{
	const struct slope_host *host = t->session->host;
	size_t capacity = t->capacity ? t->capacity * 2 : FRAMES_FIRST, depth = slope_thread_depth(t);
	struct slope_frame *frame = host->pages(host->ctx, stack_bytes(capacity));

	if (!frame)
		return false;
	frame++->stamp = slope_stamp_number(0, t->marks);
	for (size_t i = 0; i < depth; i++)
		frame[i] = t->frame[i];
	if (t->capacity)
		host->release(host->ctx, t->frame - 1, stack_bytes(t->capacity));
	t->frame = frame;
	t->top = frame + depth - 1;
	t->hint_span = 0;
	t->capacity = capacity;
	return true;
}

static void release_stack(struct slope_thread *t)
{
	const struct slope_host *host = t->session->host;

	if (t->capacity)
		host->release(host->ctx, t->frame - 1, stack_bytes(t->capacity));
	t->frame = t->top = t->last = NULL;
	t->capacity = 0;
	t->log = NULL;
	t->log_end = NULL;
	slope_tally_release(t);
}

/* The function's record, made on first use; NULL when memory runs out. */
static struct slope_record *record_for(struct slope_thread *t, uint32_t fn)
{
	struct slope_record *r = slope_thread_record(t, fn);
	struct slope_arena *arena = &t->arena;
	size_t page = fn >> SLOPE_RECORD_PAGE_LOG2;
	void *pages = t->record;

	if (SLOPE_LIKELY(r != NULL))
		return r;
	if (!slope_arena_grow(arena, &pages, &t->record_pages, page + 1, sizeof *t->record))
		return NULL;
	t->record = pages;
	if (!t->record[page])
		t->record[page] = slope_arena_alloc(arena, RECORD_PAGE * sizeof *t->record[page]);
	if (!t->record[page])
		return NULL;
	r = slope_arena_alloc(arena, sizeof *r);
	if (!r)
		return NULL;
	r->fn = fn;
	r->flags = t->session->function[fn].flags | (t->contexts && !t->session->config.burst_period ? SLOPE_RECORD_CONTEXTS : 0);
	r->metric = slope_config_metric(&t->session->config);
	slope_record_forget(r);
	for (unsigned m = 0; m < SLOPE_METRICS; m++)
		slope_points_init(&r->points[m], arena, t->session->config.units, t->session->config.max_points);
	t->record[page][fn & (RECORD_PAGE - 1)] = r;
	return r;
}

bool slope_thread_is_plain(const struct slope_thread *t)
{
	const struct slope_config *config = &t->session->config;

	return t->collecting && !config->toggled && !(t->contexts && t->contexts->bursts && t->contexts->recording);
}

struct slope_thread *slope_thread_new(struct slope_session *s, uint32_t parent, uint64_t os_id, const uint64_t *cost)
{
	void *threads = s->thread;
	void *block = slope_arena_alloc(&s->arena, sizeof(struct slope_thread) + SLOPE_APART_BYTES);
	struct slope_thread *t = (struct slope_thread *)(((uintptr_t)block + SLOPE_APART_BYTES - 1) & -(uintptr_t)SLOPE_APART_BYTES);

	if (!block || !slope_arena_grow_read(&s->arena, &threads, &s->thread_capacity, s->thread_count + 1, sizeof t)) {
		slope_session_lose(s, SLOPE_LOST_THREADS, 1);
		slope_arena_free(&s->arena, block, sizeof *t + SLOPE_APART_BYTES);
		return NULL;
	}
	__atomic_store_n(&s->thread, threads, __ATOMIC_RELEASE);
	t->session = s;
	t->metrics = s->config.metrics;
	t->stamp_limit = s->config.stamp_limit;
	t->marks = slope_session_marks(s);
	t->id = (uint32_t)s->thread_count;
	t->parent = parent;
	t->os_id = os_id;
	t->collecting = !s->stopped;
	t->own_kept = s->parallel ? 0 : SLOPE_STAMP_OWN;
	t->owned = UINT64_C(0x100000001) * slope_sharing_owned(t->id);
	t->steps.kept = SLOPE_SHARING_NONE;
	slope_arena_init(&t->arena, s->host);
	slope_map_init(&t->edge_by_ends, &t->arena);
	slope_path_table_init(&t->paths, &t->arena);
	slope_shadow_init(&t->shadow, s->host);
	if (s->config.contexts)
		t->contexts = slope_contexts_new(s, &t->arena);
	slope_thread_enter(t, SLOPE_FN_ROOT, UINT64_MAX, SLOPE_FRAME_BASE, cost);
	if (!slope_thread_depth(t) || !t->top->record || !t->contexts != !s->config.contexts) {
		slope_session_lose(s, SLOPE_LOST_THREADS, 1);
		release_stack(t);
		slope_arena_fini(&t->arena);
		slope_arena_free(&s->arena, block, sizeof *t + SLOPE_APART_BYTES);
		return NULL;
	}
	slope_thread_set_plain(t);
	s->thread[s->thread_count] = t;
	__atomic_store_n(&s->thread_count, s->thread_count + 1, __ATOMIC_RELEASE);
	s->shared = s->parallel || s->thread_count > 2;
	return t;
}

void slope_thread_end(struct slope_thread *t, const uint64_t *cost)
{
	if (t->ended)
		return;
	slope_thread_cut(t, 0, cost);
	__atomic_store_n(&t->ended, true, __ATOMIC_SEQ_CST);
	release_stack(t);
	/* The first thread's words tell who wrote what before there were others. */
	if (t->id == 1)
		return;
	if (t->session->parallel && !t->shadow.root)
		return;                  /* somebody may still be looking at its window, which stays */
	slope_sharing_await(t->session);
	slope_shadow_fini(&t->shadow);
}

void slope_thread_discard(struct slope_thread *t)
{
	t->ended = true;
	release_stack(t);
	slope_shadow_fini(&t->shadow);
	slope_late_drop(&t->late);
	t->record = NULL;
	t->record_pages = 0;
	if (t->contexts)
		__atomic_fetch_sub(&t->session->variants, slope_variants_kept(t->contexts->variants), __ATOMIC_RELAXED);
	t->contexts = NULL;
	slope_arena_fini(&t->arena);
	slope_map_init(&t->edge_by_ends, &t->arena);
	slope_path_table_init(&t->paths, &t->arena);
	t->path_sizes = (struct slope_path_sizes){ 0 };
	t->max_depth = 0;
	t->other_calls = -(uint64_t)slope_stamp_index(t->clock, t->marks);
}

static void each_record(const struct slope_thread *t, void (*what)(const struct slope_thread *t, struct slope_record *r))
{
	for (size_t page = 0; page < t->record_pages; page++)
		for (size_t i = 0; t->record[page] && i < RECORD_PAGE; i++)
			if (t->record[page][i])
				what(t, t->record[page][i]);
}

static void empty_record(const struct slope_thread *t, struct slope_record *r)
{
	const struct slope_config *config = &t->session->config;
	struct slope_record fresh = { .fn = r->fn, .flags = r->flags, .active = r->active, .edges = r->edges, .metric = r->metric };

	for (struct slope_edge *e = r->edges; e; e = e->next)
		slope_edge_empty(e, config->units);
	for (unsigned m = 0; m < SLOPE_METRICS; m++) {
		slope_points_fini(&r->points[m]);
		slope_points_init(&fresh.points[m], r->points[m].arena, config->units, config->max_points);
	}
	*r = fresh;
	slope_record_forget(r);
}

void slope_thread_restart(struct slope_thread *t, const uint64_t *cost)
{
	slope_late_drop(&t->late);
	each_record(t, empty_record);
	slope_log_settle(t);
	t->tallies = 0;
	for (size_t i = 0; i < slope_thread_depth(t); i++) {
		t->frame[i].tally_base = 0;
		for (uint32_t u = 0; u < t->session->config.units; u++) {
			t->frame[i].entry[u] = cost[u];
			t->frame[i].child[u] = 0;
		}
	}
	if (t->contexts)
		slope_placing_restart(t);
	slope_path_table_empty(&t->paths);
	slope_path_sizes_empty(t);
	t->other_calls = -(uint64_t)slope_stamp_index(t->clock, t->marks);
	t->max_depth = slope_thread_depth(t);
	slope_thread_set_plain(t);
}

struct slope_record *slope_frames_record(struct slope_thread *t, uint32_t fn)
{
	struct slope_session *s = t->session;
	uint32_t flags = s->function[fn].flags;

	if (flags & SLOPE_FN_TOGGLE)
		t->toggles++;
	if ((!slope_thread_collecting(t) && slope_thread_depth(t)) || flags & SLOPE_FN_FOLDED)
		return NULL;
	struct slope_record *r = record_for(t, fn);

	if (!r)
		slope_session_lose(s, SLOPE_LOST_CALLS, 1);
	return r;
}

/* The stamp of a frame that begins. Folded ones share their caller's: nothing is new to them. */
static uint32_t take_stamp(struct slope_thread *t, uint32_t flags)
{
	size_t depth = slope_thread_depth(t);

	if (SLOPE_UNLIKELY(flags & SLOPE_FRAME_FOLDED && depth)) {
		t->other_calls++;
		return t->top->stamp;
	}
	if (SLOPE_UNLIKELY(t->clock + SLOPE_STAMP_STEP >= t->stamp_limit))
		slope_thread_make_room(t);
	slope_thread_set_clock(t, depth ? slope_stamp_next(t->clock, t->marks) : slope_stamp_number(0, t->marks));
	t->other_calls += !depth;
	return t->clock;
}

void slope_frames_push_any(struct slope_thread *t, uint32_t fn, uint64_t sp, uint32_t flags, const uint64_t *cost)
{
	struct slope_record *record = slope_thread_record(t, fn);

	if (t->contexts && slope_placing_push(t, record, sp, flags, cost))
		return;
	if (SLOPE_UNLIKELY(slope_thread_depth(t) == t->capacity) && !slope_frames_grow(t)) {
		slope_session_lose(t->session, SLOPE_LOST_CALLS, 1);
		return;
	}
	if (t->contexts && !slope_contexts_room(t->contexts, slope_thread_depth(t) + 1)) {
		slope_session_lose(t->session, SLOPE_LOST_CALLS, 1);
		return;
	}
	if (SLOPE_UNLIKELY(!record || record->flags & ~SLOPE_RECORD_CONTEXTS || !slope_thread_collecting(t)))
		record = slope_frames_record(t, fn);
	uint32_t tally_base = t->tallies;

	if (SLOPE_LIKELY(record != NULL)) {
		record->active++;
	} else {
		flags |= SLOPE_FRAME_FOLDED;
		tally_base = slope_thread_depth(t) ? t->top->tally_base : 0;
	}
	if (t->session->function[fn].flags)
		flags |= SLOPE_FRAME_FLAGGED;
	if (t->contexts && t->contexts->recording)
		flags |= SLOPE_FRAME_PLACED;
	uint32_t stamp = take_stamp(t, flags);

	slope_frames_put(t, &(struct slope_frame){
		.record = record, .fn = fn, .sp = sp, .flags = flags, .tally_base = tally_base, .stamp = stamp,
		.log = slope_log_end(t),
	}, cost, t->session->config.units);
	if (slope_thread_depth(t) > t->max_depth)
		t->max_depth = slope_thread_depth(t);
	t->last = t->plain ? t->frame + t->max_depth - 1 : NULL;
	if (t->contexts && t->contexts->recording)
		slope_placing_find(t, slope_thread_depth(t) - 1);
}

void slope_thread_enter(struct slope_thread *t, uint32_t fn, uint64_t sp, uint32_t flags, const uint64_t *cost)
{
	slope_frames_push(t, fn, sp, flags, cost, t->session->config.units, slope_log_end(t));
}

/* What is counted there goes into the points. How many activations are lost. */
static uint64_t settle(struct slope_record *r, struct slope_again *a)
{
	uint64_t times = a->count;

	a->count = 0;
	return !times || slope_points_add_alike(slope_record_counted(r), slope_again_n(a), slope_again_cost(a), times) ? 0 : times;
}

uint64_t slope_record_settle(struct slope_record *r)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < SLOPE_AGAIN; i++)
		lost += settle(r, &r->again[i]);
	return lost;
}

static void lose_points(const struct slope_thread *t, uint64_t activations)
{
	if (SLOPE_UNLIKELY(activations))
		slope_session_lose(t->session, SLOPE_LOST_POINTS, activations);
}

/* One that is too large to be counted, or there is more than one metric. */
static SLOPE_APART void add_point(struct slope_thread *t, struct slope_record *r, uint64_t n, uint64_t cost)
{
	struct slope_sample sample = { .n = n, .rms = n, .cost = &cost };

	for (unsigned m = 0; m < SLOPE_METRICS; m++)
		if (t->metrics & 1u << m && !slope_points_add(&r->points[m], &sample, 1))
			lose_points(t, 1);
}

void slope_frames_point(struct slope_thread *t, struct slope_record *r, uint64_t n, uint64_t cost)
{
	struct slope_again *a = slope_record_again(r, n, cost);
	uint64_t like = t->metrics & (t->metrics - 1) ? SLOPE_AGAIN_NONE : slope_again_like(n, cost);

	if (SLOPE_UNLIKELY(like == SLOPE_AGAIN_NONE)) {
		add_point(t, r, n, cost);
		return;
	}
	if (SLOPE_LIKELY(a->count))
		lose_points(t, slope_late_put(&t->late, slope_record_counted(r), slope_again_n(a), slope_again_cost(a), a->count));
	*a = (struct slope_again){ .like = like, .count = 1 };
}

/* The same for a variant, which may be folded at any time: nothing of it waits. */
static void point_of_variant(struct slope_thread *t, struct slope_record *r, uint64_t n, uint64_t cost)
{
	struct slope_again *a = slope_record_again(r, n, cost);

	lose_points(t, settle(r, a));
	a->like = t->metrics & (t->metrics - 1) ? SLOPE_AGAIN_NONE : slope_again_like(n, cost);
	a->count = a->like != SLOPE_AGAIN_NONE;
	if (!a->count)
		add_point(t, r, n, cost);
}

void slope_frames_tally(struct slope_thread *t, struct slope_record *r, uint64_t cost)
{
	slope_tally_add(t, t->top[-1].tally_base, r, &cost, 1);
}

void slope_frames_points(struct slope_thread *t, struct slope_record *r, const struct slope_frame *f, const uint64_t *spent,
			 uint32_t units)
{
	bool induced = f->flags & SLOPE_FRAME_INDUCED, by_trms = t->metrics & 1u << SLOPE_METRIC_TRMS;
	uint64_t rms = (uint64_t)slope_frame_rms(f), trms = rms + (uint64_t)(induced ? f->extra : 0);
	struct slope_sample sample = {
		.n = trms, .rms = rms, .thread = induced ? f->thread : 0, .external = induced ? f->external : 0, .cost = spent,
	};

	if (units == 1 && trms == rms && !(sample.thread | sample.external)) {
		struct slope_again *a = slope_record_again(r, rms, spent[0]);
		uint64_t like = slope_again_like(rms, spent[0]);

		if (like == a->like && like != SLOPE_AGAIN_NONE)
			a->count++;
		else if (r == f->record)
			slope_frames_point(t, r, rms, spent[0]);
		else
			point_of_variant(t, r, rms, spent[0]);
		return;
	}
	if (by_trms && !slope_points_add(&r->points[SLOPE_METRIC_TRMS], &sample, units))
		lose_points(t, 1);
	sample.n = rms;
	if (t->metrics & 1u << SLOPE_METRIC_RMS && !slope_points_add(&r->points[SLOPE_METRIC_RMS], &sample, units))
		lose_points(t, 1);
}

/* A finished activation goes into its function's tables. */
static void collect(struct slope_thread *t, const struct slope_frame *f, const uint64_t *spent, uint32_t units)
{
	bool trms = f->flags & SLOPE_FRAME_INDUCED && t->metrics & 1u << SLOPE_METRIC_TRMS;

	uint64_t n = (uint64_t)(slope_frame_rms(f) + (trms ? f->extra : 0));

	if (t->tallies != f->tally_base)
		slope_tally_flush(t, f, n, units);
	if (f->flags & SLOPE_FRAME_PATHS)
		slope_path_sizes_flush(t, n);
	slope_frames_spend(f->record, spent, units);
	slope_frames_points(t, f->record, f, spent, units);
}

void slope_frames_pop_any(struct slope_thread *t, const uint64_t *cost)
{
	struct slope_frame *f = t->top, *below = f - 1;
	struct slope_record *r = f->record;
	uint32_t units = t->session->config.units;
	uint64_t spent[SLOPE_UNITS_MAX];

	if (t->contexts && slope_placing_pop(t, f, cost))
		return;
	for (uint32_t u = 0; u < units; u++)
		spent[u] = cost[u] - f->entry[u];
	if (r && t->contexts && f->flags & SLOPE_FRAME_PLACED)
		slope_placing_count(t, f, spent, units);
	if (r)
		collect(t, f, spent, units);
	if (f->flags & SLOPE_FRAME_FLAGGED && t->session->function[slope_frame_fn(f)].flags & SLOPE_FN_TOGGLE)
		t->toggles--;
	if (slope_thread_depth(t) > 1) {
		if (r)
			slope_tally_add(t, below->tally_base, r, spent, units);
		for (uint32_t u = 0; u < units; u++)
			below->child[u] += r ? spent[u] : f->child[u];
		if (f->flags & SLOPE_FRAME_SUMS)
			slope_frame_add(below, f->rms);
		if (f->flags & SLOPE_FRAME_INDUCED) {
			slope_frame_induced(below);
			below->extra += f->extra;
			below->thread += f->thread;
			below->external += f->external;
		}
	}
	t->top = below;
}

void slope_record_totals(const struct slope_record *record, const struct slope_config *config, struct slope_totals *totals)
{
	bool trms = config->metrics & 1u << SLOPE_METRIC_TRMS;

	const struct slope_points *points = &record->points[trms ? SLOPE_METRIC_TRMS : SLOPE_METRIC_RMS];

	*totals = (struct slope_totals){ .trms = points->residue };
	for (size_t i = 0; i < points->count; i++) {
		const struct slope_point *row = slope_points_row(points, i);

		totals->calls += row->calls;
		totals->rms += row->rms;
		totals->trms += row->n * row->calls;
		totals->thread += row->thread;
		totals->external += row->external;
		for (uint32_t u = 0; u < config->units; u++)
			totals->total[u] += row->cost[u].sum;
	}
	for (uint32_t u = 0; u < config->units; u++) {
		totals->total[u] -= record->nested[u];
		totals->self[u] = record->self[u];
	}
}

static void settle_total(const struct slope_thread *t, struct slope_record *r)
{
	struct slope_totals totals;

	lose_points(t, slope_record_settle(r));
	slope_record_totals(r, &t->session->config, &totals);
	for (uint32_t u = 0; u < t->session->config.units; u++)
		r->self[u] = totals.total[u] + r->nested[u];
}

static void settle_callers(const struct slope_thread *t, struct slope_record *r)
{
	struct slope_totals totals;

	for (const struct slope_edge *e = r->edges; e; e = e->next) {
		struct slope_record *caller = slope_thread_record(t, e->caller);

		slope_edge_totals(e, &t->session->config, &totals);
		for (uint32_t u = 0; u < t->session->config.units; u++)
			caller->self[u] -= totals.total[u] + e->nested[u];
	}
}

void slope_thread_settle(const struct slope_thread *t)
{
	lose_points(t, slope_late_settle((struct slope_late *)(uintptr_t)&t->late));
	each_record(t, settle_total);
	each_record(t, settle_callers);
	if (t->contexts)
		slope_variants_settle(t->contexts->variants);
}

void slope_edge_totals(const struct slope_edge *edge, const struct slope_config *config, struct slope_totals *totals)
{
	*totals = (struct slope_totals){ 0 };
	for (size_t i = 0; i < edge->rows; i++) {
		const struct slope_edge_row *row = slope_edge_row(edge, i, config->units);

		totals->calls += row->calls;
		for (uint32_t u = 0; u < config->units; u++)
			totals->total[u] += row->cost[u];
	}
	for (uint32_t u = 0; u < config->units; u++)
		totals->total[u] -= edge->nested[u];
}

void slope_thread_leave(struct slope_thread *t, const uint64_t *cost)
{
	slope_log_close(t);
	slope_frames_pop(t, cost, t->session->config.units);
}

size_t slope_thread_unwind(struct slope_thread *t, uint64_t sp, const uint64_t *cost)
{
	size_t ended = 0;

	while (slope_thread_depth(t) > 1) {
		const struct slope_frame *top = t->top;
		bool base = top->flags & SLOPE_FRAME_BASE;

		if (top->sp > sp)
			break;
		slope_thread_leave(t, cost);
		ended++;
		if (base)
			break;
	}
	return ended;
}

void slope_thread_cut(struct slope_thread *t, size_t depth, const uint64_t *cost)
{
	while (slope_thread_depth(t) > depth)
		slope_thread_leave(t, cost);
}

void slope_thread_collect(struct slope_thread *t, bool on)
{
	t->collecting = on;
	slope_thread_set_plain(t);
}
