/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/agree/graph_shapes.h"

#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MAX 40u

/* Where statements may lead besides to the next one. */
struct around {
	uint32_t loop, behind;           /* continue and break; SLOPE_PATH_OUT outside of loops */
	uint32_t depth;
};

uint64_t shape_draw(struct shape *s, uint64_t below)
{
	s->random += UINT64_C(0x9E3779B97F4A7C15);
	uint64_t x = s->random;

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return (x ^ x >> 31) % below;
}

static uint32_t new_block(struct shape *s)
{
	return s->vertices++;
}

static void join(struct shape *s, uint32_t from, uint32_t to)
{
	if (s->edges == s->edge_capacity) {
		s->edge_capacity = s->edge_capacity ? s->edge_capacity * 2 : 64;
		s->edge = realloc(s->edge, s->edge_capacity * sizeof *s->edge);
		if (!s->edge) {
			perror("random_graphs");
			exit(2);
		}
	}
	s->edge[s->edges++] = (struct slope_path_edge){ .from = from, .to = to };
}

static uint32_t statements(struct shape *s, uint32_t from, uint32_t budget, struct around in);

/* if, with or without else: the block behind it. */
static uint32_t choice(struct shape *s, uint32_t from, uint32_t budget, struct around in)
{
	bool both = shape_draw(s, 2);
	uint32_t then = new_block(s), end = new_block(s), other = both ? new_block(s) : end;

	join(s, from, then);
	join(s, from, other);
	join(s, statements(s, then, budget / 2, in), end);
	if (both)
		join(s, statements(s, other, budget / 2, in), end);
	return end;
}

/* while or do. */
static uint32_t loop(struct shape *s, uint32_t from, uint32_t budget, struct around in)
{
	uint32_t head = new_block(s), body = new_block(s), behind = new_block(s);

	join(s, from, head);
	in.loop = head;
	in.behind = behind;
	if (shape_draw(s, 2)) {
		join(s, head, body);
		join(s, head, behind);
		join(s, statements(s, body, budget, in), head);
	} else {
		uint32_t last;

		join(s, head, body);
		last = statements(s, body, budget, in);
		join(s, last, head);
		join(s, last, behind);
	}
	return behind;
}

/* Cases fall through or not. */
static uint32_t selection(struct shape *s, uint32_t from, uint32_t budget, struct around in)
{
	uint32_t cases = (uint32_t)(2 + shape_draw(s, 6)), end = new_block(s), fallen = SLOPE_PATH_OUT;

	in.behind = end;
	for (uint32_t i = 0; i < cases; i++) {
		uint32_t here = new_block(s);

		join(s, from, here);
		if (fallen != SLOPE_PATH_OUT)
			join(s, fallen, here);
		fallen = statements(s, here, budget / cases, in);
		if (shape_draw(s, 3)) {
			join(s, fallen, end);
			fallen = SLOPE_PATH_OUT;
		}
	}
	join(s, from, end);
	if (fallen != SLOPE_PATH_OUT)
		join(s, fallen, end);
	return end;
}

/* return, break or continue, under a condition. */
static uint32_t leave(struct shape *s, uint32_t from, struct around in)
{
	uint32_t next = new_block(s), to = SLOPE_PATH_OUT;

	if (shape_draw(s, 3) && in.loop != SLOPE_PATH_OUT)
		to = shape_draw(s, 2) ? in.loop : in.behind;
	join(s, from, to);
	join(s, from, next);
	return next;
}

/* A list of statements that begins in `from`: the block where it ends. */
static uint32_t statements(struct shape *s, uint32_t from, uint32_t budget, struct around in)
{
	uint32_t limit = s->vertices + budget;

	if (++in.depth > DEPTH_MAX)
		return from;
	while (s->vertices < limit) {
		uint32_t left = (limit - s->vertices) / 2;

		switch (shape_draw(s, 7)) {
		case 0:
		case 1:
		case 2:
			from = choice(s, from, left, in);
			break;
		case 3:
		case 4:
			from = loop(s, from, left, in);
			break;
		case 5:
			from = selection(s, from, left, in);
			break;
		default:
			from = leave(s, from, in);
		}
	}
	return from;
}

static void random_edges(struct shape *s, uint32_t vertices)
{
	uint32_t most = (uint32_t)(2 + shape_draw(s, 3)), out = (uint32_t)(1 + shape_draw(s, 12));
	bool near = shape_draw(s, 2);

	s->vertices = vertices;
	for (uint32_t v = 0; v < vertices; v++) {
		uint64_t count = 1 + shape_draw(s, shape_draw(s, 40) ? most : 20);

		for (uint64_t i = 0; i < count; i++) {
			uint32_t to = (uint32_t)(near ? v + shape_draw(s, 8) : shape_draw(s, vertices));

			if (near && shape_draw(s, 12) == 0)
				to = (uint32_t)shape_draw(s, v + 1);
			join(s, v, to >= vertices || shape_draw(s, 12) < out / 6 ? SLOPE_PATH_OUT : to);
		}
	}
}

static int by_place(const void *a, const void *b)
{
	const struct slope_path_edge *x = a, *y = b;

	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->value > y->value) - (x->value < y->value);
}

void shape_make(struct shape *s, uint64_t seed, bool structured, uint32_t vertices, uint32_t cuts)
{
	*s = (struct shape){ .random = seed, .structured = structured };
	if (structured) {
		uint32_t first = new_block(s);

		join(s, statements(s, first, vertices - 1, (struct around){ SLOPE_PATH_OUT, SLOPE_PATH_OUT, 0 }), SLOPE_PATH_OUT);
	} else {
		random_edges(s, vertices);
	}
	for (uint32_t i = 0; i < s->edges; i++)
		s->edge[i].value = i;            /* keeps the order of a block's edges */
	qsort(s->edge, s->edges, sizeof *s->edge, by_place);
	for (uint32_t i = 0; i < s->edges; i++) {
		s->edge[i].value = 0;
		s->edge[i].weight = (uint32_t)shape_draw(s, shape_draw(s, 2) ? 4 : UINT32_MAX);
		if (cuts && shape_draw(s, cuts) == 0)
			s->edge[i].cut = SLOPE_PATH_ASKED;
	}
}

void shape_free(struct shape *s)
{
	free(s->edge);
	s->edge = NULL;
}
