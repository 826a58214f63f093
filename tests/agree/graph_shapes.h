/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random control flow graphs: those of structured programs, whose loops have
 * one way in, and those of random edges, where anything may be: several ways
 * into a loop, blocks that nobody comes to, loops of one block, two edges
 * between the same blocks, a way out nowhere.
 */
#ifndef SLOPE_TESTS_GRAPH_SHAPES_H
#define SLOPE_TESTS_GRAPH_SHAPES_H

#include "core/path_number.h"

struct shape {
	uint64_t random;
	bool structured;
	uint32_t vertices, edges, edge_capacity;
	struct slope_path_edge *edge;    /* sorted by `from`; malloc'd */
};

/* A number from 0 to below - 1. */
uint64_t shape_draw(struct shape *s, uint64_t below);

/* A graph of about `vertices` blocks: as a program has, or any. `cuts`: one edge in so many is cut from the outset; 0: none. */
void shape_make(struct shape *s, uint64_t seed, bool structured, uint32_t vertices, uint32_t cuts);

void shape_free(struct shape *s);

#endif
