/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ball-Larus numbering of the paths through a control flow graph.
 *
 * A path begins at the entry (vertex 0), at the head of an edge that is cut,
 * or at any other vertex that control may come to from outside; it ends with
 * an edge that leaves the graph or is cut. Back edges are cut, so paths are
 * finite; so are edges without which there would be more paths than `limit`,
 * and those that the caller cuts. The number of a path is start[v], for the
 * vertex v where it begins, plus the values of its edges. Numbers are unique
 * and compact: those of paths that begin at the entry or behind a cut edge
 * are 0 to regular - 1, those of all paths 0 to total - 1.
 *
 * A program that counts keeps one register r. The number so far is always
 * r + offset[v] at vertex v; offsets are chosen by a maximum spanning forest
 * of the edges that are not cut, so that most edges leave r as it is:
 *
 *   begin at v            r = start[v] - offset[v]       (slope_path_begin)
 *   edge that goes on     r += add                       (0 for those of the forest)
 *   edge that ends        count[r + add]++
 *   edge that is cut      count[r + add]++, then begin at its head
 *
 * All this is arithmetic modulo 2^64: r, offsets and adds may be far outside of the numbers themselves.
 *
 * Freestanding, no state but the caller's. Arrays are the arena's.
 */
#ifndef SLOPE_CORE_PATH_NUMBER_H
#define SLOPE_CORE_PATH_NUMBER_H

#include "core/arena.h"

#define SLOPE_PATH_OUT UINT32_MAX
#define SLOPE_PATH_LIMIT (UINT64_C(1) << 60)

enum slope_path_cut {
	SLOPE_PATH_WHOLE,            /* paths go on across the edge */
	SLOPE_PATH_BACK,             /* a back edge */
	SLOPE_PATH_ASKED,            /* the caller has cut it */
	SLOPE_PATH_MANY,             /* there would be too many paths */
};

struct slope_path_edge {
	uint32_t from, to;           /* vertices; to: SLOPE_PATH_OUT where the graph is left */
	uint32_t weight;             /* how often it is taken, as a guess: 0 for what costs nothing to instrument */
	uint32_t cut;                /* enum slope_path_cut; in: SLOPE_PATH_WHOLE or SLOPE_PATH_ASKED */
	uint64_t value;              /* out */
	int64_t add;                 /* out */
};

struct slope_path_graph {
	/* In. Edges are sorted by `from`; several from one vertex to another are different edges. */
	uint32_t vertices, edges;
	struct slope_path_edge *edge;

	/* Out. */
	uint32_t *first;             /* vertices + 1: where a vertex's edges begin */
	uint64_t *paths;             /* from the vertex to the end */
	uint64_t *start;             /* number of the first path that begins there */
	int64_t *offset;
	uint64_t regular, total;
	uint32_t cut_edges;          /* how many are SLOPE_PATH_MANY */
};

/*
 * Numbers the paths. A vertex without edges is one where paths end: the caller gives it an edge to
 * SLOPE_PATH_OUT. False when memory runs out, or when a vertex has none or an edge leads to none; nothing has changed
 * then. `limit`: of paths from any one vertex, but for one with more edges than that, which are all cut. Usually
 * SLOPE_PATH_LIMIT; it is lowered as far as `total` needs to stay below 2^62. O(edges * log(edges)).
 */
bool slope_path_number(struct slope_path_graph *g, struct slope_arena *arena, uint64_t limit);

/*
 * Fills in `first`, for which there is room: where each vertex's edges begin. False for what is no graph: edges that are not in order, that
 * lead nowhere, or a vertex without any. slope_path_number does that itself.
 */
bool slope_path_group(struct slope_path_graph *g);

/* What r becomes where a path begins at v. */
static inline int64_t slope_path_begin(const struct slope_path_graph *g, uint32_t v)
{
	return (int64_t)(g->start[v] - (uint64_t)g->offset[v]);
}

/*
 * The edges of a path, in order, up to `max` of them; `*begin`: where it begins. The number of edges, even when that is
 * more than max; 0 for a number that no path has. Looks at first, start, total and the edges' to, cut and value only;
 * whatever numbers they hold, it comes to an end. O(vertices + length * log(edges of a vertex)).
 */
uint32_t slope_path_decode(const struct slope_path_graph *g, uint64_t number, uint32_t *begin, uint32_t *edge, uint32_t max);

/*
 * A path that was left at v, the number so far being r + offset[v]: that is the number of the one that goes on along
 * edges of value 0. Its edges up to v are the part that was executed; v itself was reached.
 */
static inline uint64_t slope_path_partial(const struct slope_path_graph *g, uint32_t v, int64_t r)
{
	return (uint64_t)r + (uint64_t)g->offset[v];
}

#endif
