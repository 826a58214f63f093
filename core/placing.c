/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/placing.h"
#include "core/variants.h"

#define LOOKS 16u                /* at the time, in the length of a burst, while there is none: about so many */
#define CALLS_BETWEEN_LOOKS 64u  /* at most */

void slope_placing_find(struct slope_thread *t, size_t i)
{
	struct slope_contexts *c = t->contexts;
	const struct slope_frame *f = &t->frame[i];
	struct slope_context *below = i ? c->place[i - 1] : NULL;

	if (!f->record)
		c->place[i] = below;
	else if (!i || f->flags & SLOPE_FRAME_BASE)
		c->place[i] = slope_context_root(c, slope_frame_fn(f));
	else
		c->place[i] = below ? slope_context_call(c, below, slope_frame_fn(f)) : NULL;
	if (f->record && !c->place[i])
		slope_session_lose(t->session, SLOPE_LOST_CONTEXTS, 1);
}

/* ---- counting ---- */

/* What the function has in this context. */
static void count_variant(struct slope_thread *t, struct slope_context *node, const struct slope_frame *f, const uint64_t *spent,
			  const uint64_t *self, uint32_t units)
{
	struct slope_variant *variant = slope_variants_at(t->contexts->variants, node);

	if (!variant) {
		slope_session_lose(t->session, SLOPE_LOST_POINTS, 1);
		return;
	}
	struct slope_record *r = variant->counts;

	variant->calls++;
	for (uint32_t u = 0; u < units; u++) {
		r->self[u] += self[u];
		if (f->record->active > 1)
			r->nested[u] += spent[u];
	}
	slope_frames_points(t, r, f, spent, units);
}

/* The activation at position i has spent so much; of one that is older than the burst, what it has spent in it counts. */
SLOPE_INLINE void count(struct slope_thread *t, size_t i, const uint64_t *spent, const uint64_t *self, uint32_t units)
{
	struct slope_contexts *c = t->contexts;
	const struct slope_frame *f = &t->frame[i];
	struct slope_context *node = c->place[i];
	uint64_t total[SLOPE_UNITS_MAX], own[SLOPE_UNITS_MAX];
	bool earlier = f->flags & SLOPE_FRAME_EARLIER;

	if (SLOPE_UNLIKELY(!node))
		return;
	for (uint32_t u = 0; u < units; u++) {
		total[u] = earlier ? spent[u] - (c->burst_start[u] - f->entry[u]) : spent[u];
		own[u] = earlier ? self[u] - c->before[i * units + u] : self[u];
	}
	node->calls += !earlier;
	slope_context_count(c, node, total, own, units);
	if (c->variants)
		count_variant(t, node, f, spent, self, units);
}

/* ---- bursts ---- */

/* The self cost of an activation, when that of what it has called and is not finished is `open`. */
static void self_cost(const struct slope_frame *f, const uint64_t *spent, const uint64_t *open, uint32_t units, uint64_t *self)
{
	for (uint32_t u = 0; u < units; u++)
		self[u] = spent[u] - f->child[u] - open[u];
}

/* Does `what` with every pending activation that is not folded, from the top down, and what it has spent so far. */
static void each_pending(struct slope_thread *t, const uint64_t *cost,
			 void (*what)(struct slope_thread *t, size_t i, const uint64_t *spent, const uint64_t *self))
{
	uint32_t units = t->session->config.units;
	uint64_t open[SLOPE_UNITS_MAX] = { 0 }, spent[SLOPE_UNITS_MAX], self[SLOPE_UNITS_MAX];

	for (size_t i = slope_thread_depth(t); i-- > 0;) {
		const struct slope_frame *f = &t->frame[i];

		if (!f->record) {
			for (uint32_t u = 0; u < units; u++)
				open[u] += f->child[u];
			continue;
		}
		for (uint32_t u = 0; u < units; u++)
			spent[u] = cost[u] - f->entry[u];
		self_cost(f, spent, open, units, self);
		what(t, i, spent, self);
		for (uint32_t u = 0; u < units; u++)
			open[u] = spent[u];
	}
}

static void note_before(struct slope_thread *t, size_t i, const uint64_t *spent, const uint64_t *self)
{
	uint32_t units = t->session->config.units;

	(void)spent;
	for (uint32_t u = 0; u < units; u++)
		t->contexts->before[i * units + u] = self[u];
}

static bool room_for_before(struct slope_contexts *c, size_t depth)
{
	void *before = c->before;
	bool good = slope_arena_grow(c->arena, &before, &c->befores, depth * c->units, sizeof *c->before);

	c->before = before;
	return good;
}

static void begin_burst(struct slope_thread *t, const uint64_t *cost)
{
	struct slope_contexts *c = t->contexts;
	const struct slope_config *config = &t->session->config;

	if (!slope_contexts_room(c, slope_thread_depth(t) + 1) || !room_for_before(c, slope_thread_depth(t) + 1))
		return;
	c->recording = true;
	c->burst_end = cost[0] - cost[0] % config->burst_period + config->burst_length;
	for (uint32_t u = 0; u < config->units; u++)
		c->burst_start[u] = cost[u];
	for (size_t i = 0; i < slope_thread_depth(t); i++) {
		slope_placing_find(t, i);
		t->frame[i].flags |= SLOPE_FRAME_PLACED | SLOPE_FRAME_EARLIER;
	}
	each_pending(t, cost, note_before);
}

/* What an activation that is not finished has left in the burst. */
static void count_part(struct slope_thread *t, size_t i, const uint64_t *spent, const uint64_t *self)
{
	count(t, i, spent, self, t->session->config.units);
}

static void forget_places(struct slope_thread *t)
{
	for (size_t i = 0; i < slope_thread_depth(t); i++)
		t->frame[i].flags &= ~(SLOPE_FRAME_PLACED | SLOPE_FRAME_EARLIER);
}

/* The burst may have ended before this call or return; since the one before it only the topmost activation has run. */
static void end_burst(struct slope_thread *t, const uint64_t *cost)
{
	uint64_t end[SLOPE_UNITS_MAX];

	slope_log_settle(t);
	for (uint32_t u = 0; u < t->session->config.units; u++)
		end[u] = u || cost[u] < t->contexts->burst_end ? cost[u] : t->contexts->burst_end;
	each_pending(t, end, count_part);
	forget_places(t);
	t->contexts->recording = false;
}

/* How many calls may go by before the next look, if they come as they did since the last one. */
static uint32_t calls_until_look(struct slope_thread *t, uint64_t now)
{
	struct slope_contexts *c = t->contexts;
	uint64_t calls = slope_thread_calls(t) - c->looked_calls + 1, time = now - c->looked_at + 1;
	uint64_t until = calls * (t->session->config.burst_length / LOOKS + 1) / time;

	c->looked_at = now;
	c->looked_calls = slope_thread_calls(t);
	return until < 1 ? 1 : until > CALLS_BETWEEN_LOOKS ? CALLS_BETWEEN_LOOKS : (uint32_t)until;
}

static void look_at_time(struct slope_thread *t, const uint64_t *cost)
{
	struct slope_contexts *c = t->contexts;
	const struct slope_config *config = &t->session->config;

	if (c->recording && cost[0] >= c->burst_end)
		end_burst(t, cost);
	if (!c->recording && cost[0] % config->burst_period < config->burst_length)
		begin_burst(t, cost);
	slope_thread_set_plain(t);
	/* Clocks tick at calls: what is the end of stamps to others is the next look to us. */
	t->stamp_limit = config->stamp_limit;
	if (c->recording)
		return;
	uint32_t until = calls_until_look(t, cost[0]) * SLOPE_STAMP_STEP;

	if (t->stamp_limit > t->clock && t->stamp_limit - t->clock > until)
		t->stamp_limit = t->clock + until;
}

void slope_placing_restart(struct slope_thread *t)
{
	struct slope_contexts *old = t->contexts, *c = slope_contexts_new(t->session, &t->arena);

	t->contexts = c && slope_contexts_room(c, slope_thread_depth(t)) ? c : NULL;
	if (!t->contexts)
		slope_session_lose(t->session, SLOPE_LOST_CONTEXTS, slope_thread_depth(t));
	for (size_t i = 0; i < slope_thread_depth(t) && t->contexts && c->recording; i++) {
		c->site = old->place[i] ? old->place[i]->site : SLOPE_SITE_NONE;
		slope_placing_find(t, i);
	}
	if (!t->contexts || !c->recording)
		forget_places(t);        /* the next call may begin a burst */
	slope_contexts_free(t->contexts ? old : c);
	if (!t->contexts)
		slope_contexts_free(old);
}

/* ---- calls and returns ---- */

bool slope_placing_push(struct slope_thread *t, struct slope_record *record, uint64_t sp, uint32_t flags, const uint64_t *cost)
{
	struct slope_contexts *c = t->contexts;

	if (c->bursts)
		look_at_time(t, cost);
	if (SLOPE_UNLIKELY(!c->quick || !c->recording || !t->collecting || !record || record->flags & ~SLOPE_RECORD_CONTEXTS || flags ||
			   slope_thread_depth(t) >= c->places || !slope_frames_push_usual(t, record, sp, cost, 1, slope_log_end(t))))
		return false;
	struct slope_context **place = c->place + slope_thread_depth(t) - 1;

	t->top->flags |= SLOPE_FRAME_PLACED;
	*place = SLOPE_LIKELY(place[-1] != NULL) ? slope_context_call(c, place[-1], record->fn) : NULL;
	if (SLOPE_UNLIKELY(!*place))
		slope_session_lose(t->session, SLOPE_LOST_CONTEXTS, 1);
	return true;
}

void slope_placing_count(struct slope_thread *t, const struct slope_frame *f, const uint64_t *spent, uint32_t units)
{
	static const uint64_t none[SLOPE_UNITS_MAX];
	uint64_t self[SLOPE_UNITS_MAX];

	self_cost(f, spent, none, units, self);
	count(t, slope_thread_depth(t) - 1, spent, self, units);
}

bool slope_placing_pop(struct slope_thread *t, struct slope_frame *f, const uint64_t *cost)
{
	if (t->contexts->bursts && t->contexts->recording)
		look_at_time(t, cost);
	if (SLOPE_UNLIKELY((f->flags & ~SLOPE_FRAME_SUMS) != SLOPE_FRAME_PLACED || !t->contexts->quick || t->tallies == t->tally_capacity))
		return false;
	uint64_t spent = cost[0] - f->entry[0], self = spent - f->child[0], n = (uint64_t)slope_frame_rms(f);

	count(t, slope_thread_depth(t) - 1, &spent, &self, 1);
	if (t->tallies != f->tally_base)
		slope_tally_flush(t, f, n, 1);
	if (!slope_frames_pop_usual(t, f, n, spent))
		slope_frames_point(t, f->record, n, spent);
	return true;
}
