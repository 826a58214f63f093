/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/path_sizes.h"

#include "core/tally.h"

#define BUCKETS_FIRST 64u

/* The bucket of the path, or the free one where it would go. */
static uint32_t *find(const struct slope_path_sizes *s, uint32_t graph, uint64_t number)
{
	size_t i = slope_mix64(slope_mix64(graph) ^ number) & (s->buckets - 1);

	while (s->bucket[i] && (s->noted[s->bucket[i] - 1].number != number || s->noted[s->bucket[i] - 1].graph != graph))
		i = (i + 1) & (s->buckets - 1);
	return &s->bucket[i];
}

static bool grow_buckets(struct slope_path_sizes *s, struct slope_arena *arena)
{
	struct slope_path_sizes old = *s;
	size_t buckets = old.buckets ? old.buckets * 2 : BUCKETS_FIRST;
	uint32_t *bucket = slope_arena_alloc(arena, buckets * sizeof *bucket);

	if (!bucket)
		return false;
	s->bucket = bucket;
	s->buckets = buckets;
	for (size_t i = 0; i < s->noted_count; i++)
		*find(s, s->noted[i].graph, s->noted[i].number) = (uint32_t)i + 1;
	slope_arena_free(arena, old.bucket, old.buckets * sizeof *bucket);
	return true;
}

/* Position + 1 of the path in `noted`, made on first use; 0 when memory runs out. */
static uint32_t path_of(struct slope_path_sizes *s, struct slope_arena *arena, uint32_t graph, uint64_t number)
{
	uint32_t there = s->buckets ? *find(s, graph, number) : 0;
	void *noted = s->noted;

	if (SLOPE_LIKELY(there))
		return there;
	if (s->noted_count == UINT32_MAX ||
	    !slope_arena_grow(arena, &noted, &s->noted_capacity, s->noted_count + 1, sizeof *s->noted))
		return 0;
	s->noted = noted;
	if (s->noted_count * 4 >= s->buckets * 3 && !grow_buckets(s, arena))
		return 0;
	s->noted[s->noted_count++] = (struct slope_path_noted){ .number = number, .graph = graph };
	return *find(s, graph, number) = (uint32_t)s->noted_count;
}

void slope_path_sizes_note(struct slope_thread *t, uint32_t fn, uint32_t graph, uint64_t number)
{
	struct slope_path_sizes *s = &t->path_sizes;
	struct slope_frame *f = t->top;
	struct slope_path_note *last = s->notes ? &s->note[s->notes - 1] : NULL;
	void *note = s->note;

	if (!f->record || f->record->fn != fn)
		return;
	/* Most often it is a loop. */
	if (last && last->depth == slope_thread_depth(t) && s->noted[last->path].number == number && s->noted[last->path].graph == graph) {
		last->count++;
		return;
	}
	uint32_t path = path_of(s, &t->arena, graph, number);

	if (path && s->noted[path - 1].note && s->note[s->noted[path - 1].note - 1].depth == slope_thread_depth(t)) {
		s->note[s->noted[path - 1].note - 1].count++;
		return;
	}
	if (!path || s->notes == UINT32_MAX || !slope_arena_grow(&t->arena, &note, &s->note_capacity, s->notes + 1, sizeof *s->note)) {
		s->lost++;
		return;
	}
	s->note = note;
	s->note[s->notes++] = (struct slope_path_note){
		.path = path - 1, .outer = s->noted[path - 1].note, .depth = slope_thread_depth(t), .count = 1,
	};
	s->noted[path - 1].note = (uint32_t)s->notes;
	f->flags |= SLOPE_FRAME_PATHS;
}

/* A new size of the path, first among its sizes. NULL when memory runs out. */
static struct slope_path_size *new_size(struct slope_path_sizes *s, struct slope_arena *arena, struct slope_path_noted *path, uint64_t n)
{
	void *size = s->size, *next = s->next;

	if (s->count == UINT32_MAX || !slope_arena_grow(arena, &size, &s->capacity, s->count + 1, sizeof *s->size))
		return NULL;
	s->size = size;
	if (!slope_arena_grow(arena, &next, &s->next_capacity, s->count + 1, sizeof *s->next))
		return NULL;
	s->next = next;
	s->next[s->count] = path->size;
	s->size[s->count] = (struct slope_path_size){ .graph = path->graph, .number = path->number, .n = n };
	path->size = (uint32_t)++s->count;
	return &s->size[s->count - 1];
}

/* The one used last comes first. */
static struct slope_path_size *size_of(struct slope_path_sizes *s, struct slope_arena *arena, struct slope_path_noted *path, uint64_t n)
{
	uint32_t *at = &path->size;

	while (*at && s->size[*at - 1].n != n)
		at = &s->next[*at - 1];
	uint32_t there = *at;

	if (!there)
		return new_size(s, arena, path, n);
	if (at != &path->size) {
		*at = s->next[there - 1];
		s->next[there - 1] = path->size;
		path->size = there;
	}
	return &s->size[there - 1];
}

void slope_path_sizes_flush(struct slope_thread *t, uint64_t n)
{
	struct slope_path_sizes *s = &t->path_sizes;
	uint64_t least = slope_tally_least(slope_tally_bin(n));

	for (; s->notes && s->note[s->notes - 1].depth >= slope_thread_depth(t); s->notes--) {
		const struct slope_path_note *note = &s->note[s->notes - 1];
		struct slope_path_noted *path = &s->noted[note->path];
		struct slope_path_size *size = size_of(s, &t->arena, path, least);

		path->note = note->outer;
		if (!size) {
			s->lost += note->count;
			continue;
		}
		size->activations++;
		size->executions += note->count;
	}
}

void slope_path_sizes_empty(struct slope_thread *t)
{
	struct slope_path_sizes *s = &t->path_sizes;

	for (size_t i = 0; i < s->noted_count; i++)
		s->noted[i].note = s->noted[i].size = 0;
	s->count = s->notes = 0;
	s->lost = 0;
	for (size_t i = 0; i < slope_thread_depth(t); i++)
		t->frame[i].flags &= ~SLOPE_FRAME_PATHS;
}
