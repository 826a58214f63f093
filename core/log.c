/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/log.h"
#include "core/access.h"

#define OWNERS 4u
#define RUN 16u                  /* entries that slope_log_scans looks at together */

/* How many entries from `i` on are the owner's cells, or count for nobody: as many as can be told at once, or none. */
static size_t pass_alike(const struct slope_thread *t, size_t i, size_t end, const struct slope_frame *f,
			 const struct slope_frame *owner, int64_t *cells)
{
	size_t counted = 0, passed = 0;

	/* It must be worth it. */
	if (t->log_scans && end - i >= RUN && t->log[i + RUN - 1] - owner->stamp < owner[1].stamp - owner->stamp)
		passed = t->log_scans->pass(&t->log[i], end - i, f->stamp, owner->stamp, owner[1].stamp - owner->stamp, &counted);
	*cells = (int64_t)counted;
	return passed;
}

/* The owners that were found last: entries of a few take turns. */
struct owners {
	struct slope_frame *frame[OWNERS];
	uint32_t stamp[OWNERS], span[OWNERS];
	unsigned next;
};

static unsigned find_owner(const struct slope_thread *t, struct owners *o, uint32_t word)
{
	unsigned i;

	for (i = 0; i < OWNERS; i++)
		if (word - o->stamp[i] < o->span[i])
			return i;
	i = o->next++ % OWNERS;
	o->frame[i] = t->frame + slope_thread_owner(t, word);
	o->stamp[i] = o->frame[i]->stamp;
	o->span[i] = o->frame[i][1].stamp - o->stamp[i];
	return i;
}

/* The entries from `first` up to `end` are those of a frame's section: one more cell for it, one less for each owner. */
static void settle_section(struct slope_thread *t, struct slope_frame *f, size_t first, size_t end, struct owners *owners)
{
	struct slope_frame *owner = f;
	uint32_t stamp = 0, span = 0, frame_stamp = f->stamp;
	int64_t cells = 0, counted;

	for (size_t i = first; i < end; i++) {
		uint32_t word = t->log[i];

		if (word >= frame_stamp)
			continue;
		/* Most have the same owner as the one before. */
		if (SLOPE_UNLIKELY(word - stamp >= span)) {
			slope_frame_add(f, cells);
			slope_frame_add(owner, -cells);
			cells = 0;
			unsigned found = find_owner(t, owners, word);

			owner = owners->frame[found];
			stamp = owners->stamp[found];
			span = owners->span[found];
			size_t passed = pass_alike(t, i, end, f, owner, &counted);

			if (passed) {
				cells += counted;
				i += passed - 1;
				continue;
			}
		}
		cells++;
	}
	if (!cells)
		return;
	slope_frame_add(f, cells);
	slope_frame_add(owner, -cells);
}

void slope_log_settle(struct slope_thread *t)
{
	size_t end = slope_log_end(t) / sizeof *t->log;
	struct owners owners = { .next = 0 };

	if (!end)
		return;
	for (struct slope_frame *f = t->top;; f--) {
		size_t first = f->log / sizeof *t->log;

		settle_section(t, f, first, end, &owners);
		if (!f->log)
			break;           /* nor has any further down one that begins elsewhere */
		f->log = 0;
		end = first;
	}
	*t->log_end = 0;
}

/* Of the top's section what is older than the stamp stays. How many entries that were, and how many older than the top. */
static size_t keep_older(struct slope_thread *t, uint32_t stamp, size_t *counted)
{
	size_t first = t->top->log / sizeof *t->log, to = first, end = slope_log_end(t) / sizeof *t->log;
	uint32_t top = t->top->stamp;

	if (t->log_scans) {
		to += t->log_scans->keep(&t->log[first], end - first, stamp, top, counted);
		*t->log_end = to * sizeof *t->log;
		return to - first;
	}
	*counted = 0;
	for (size_t from = first; from < end; from++) {
		uint32_t word = t->log[from];

		t->log[to] = word;
		to += word < stamp;
		*counted += word < top;
	}
	*t->log_end = to * sizeof *t->log;
	return to - first;
}

void slope_log_shorten(struct slope_thread *t)
{
	size_t counted;

	if (slope_log_end(t) > SLOPE_LOG_BYTES || (uint32_t)slope_log_end(t) - t->top->log > SLOPE_LOG_LONG_BYTES ||
	    keep_older(t, t->top->stamp, &counted) * sizeof *t->log > SLOPE_LOG_SETTLED_BYTES)
		slope_log_settle(t);
}

void slope_log_close(struct slope_thread *t)
{
	struct slope_frame *f = t->top, *below = f - 1;
	size_t counted;

	/* What is behind its end may not be written to. */
	if (slope_log_end(t) > SLOPE_LOG_BYTES)
		slope_log_settle(t);
	if (slope_log_end(t) == f->log)
		return;
	size_t kept = keep_older(t, below->stamp, &counted);

	/* What the caller keeps it still has in the log. */
	slope_frame_add(f, (int64_t)counted);
	slope_frame_add(below, -(int64_t)counted);
	f->log = slope_log_end(t);
	if (kept * sizeof *t->log > SLOPE_LOG_SETTLED_BYTES)
		slope_log_settle(t);
}
