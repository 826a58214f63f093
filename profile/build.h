/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What loading and merging share: growing arrays, texts, sentences and order.
 * Every pointer in a profile is a block of its own from malloc.
 */
#ifndef SLOPE_PROFILE_BUILD_H
#define SLOPE_PROFILE_BUILD_H

#include "format/records.h"
#include "profile/profile.h"

/*
 * Room for one element behind the `count` that are there. The capacity follows
 * from the count (a power of two, at least 4), so an array that was begun with
 * this function must grow by it alone. False when memory runs out.
 */
bool slope_build_room(void **array, size_t count, size_t size);

/* Zeroed room for one more, counted; NULL when memory runs out. The array moves. */
struct slope_profile_module *slope_build_module(struct slope_profile *p);
struct slope_profile_function *slope_build_function(struct slope_profile *p);
struct slope_profile_thread *slope_build_thread(struct slope_profile *p);
struct slope_profile_row *slope_build_row(struct slope_profile *p);
struct slope_profile_edge *slope_build_edge(struct slope_profile *p);
struct slope_profile_site *slope_build_site(struct slope_profile *p);
struct slope_profile_context *slope_build_context(struct slope_profile *p);
struct slope_profile_place *slope_build_place(struct slope_profile *p);
struct slope_profile_variant *slope_build_variant(struct slope_profile *p);
struct slope_profile_graph *slope_build_graph(struct slope_profile *p);
struct slope_profile_path *slope_build_path(struct slope_profile *p);
struct slope_profile_repeat *slope_build_repeat(struct slope_profile *p);
struct slope_profile_path_size *slope_build_path_size(struct slope_profile *p);
struct slope_profile_lost *slope_build_lost(struct slope_profile *p);

/* Gives back the arrays of a graph. */
void slope_build_free_graph(struct slope_profile_graph *g);

enum slope_graph_flaw { SLOPE_GRAPH_SOUND, SLOPE_GRAPH_NONE, SLOPE_GRAPH_NO_MEMORY };

/*
 * Makes what decoding needs of a graph that has its blocks, edges (from, to, cut, value) and starts: paths.first,
 * paths.paths, regular, total. NONE: values and starts are not those that numbering gives, edges do not fit, or paths do
 * not end. O(blocks + edges).
 */
enum slope_graph_flaw slope_build_check_graph(struct slope_profile_graph *g);

/* Is the vertex on the path? */
bool slope_build_on_path(const struct slope_profile_graph *g, uint64_t number, uint32_t vertex);

/* A terminated copy in `*to`, NULL for no text. False when memory runs out; `*to` is NULL then. */
bool slope_build_text(char **to, struct slope_text text);

/* A profile with module 0 and function 0, or NULL. */
struct slope_profile *slope_build_profile(void);

/* Adds a sentence to p->problem. False when memory runs out. */
bool slope_build_problem(struct slope_profile *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * What function i is called when nothing better is known: "(thread)", its raw
 * name, or module+0xoffset. From malloc; NULL when memory runs out.
 */
char *slope_build_default_name(const struct slope_profile *p, size_t i);

/*
 * The orders of p->row (function, thread), of p->edge (caller, callee, thread),
 * of points (n), of sizes (n) and of p->variant, for qsort.
 */
int slope_build_compare_rows(const void *a, const void *b);
int slope_build_compare_edges(const void *a, const void *b);
int slope_build_compare_points(const void *a, const void *b);
int slope_build_compare_sizes(const void *a, const void *b);
int slope_build_compare_variants(const void *a, const void *b);

/* And of p->path, p->repeat and p->path_size. */
int slope_build_compare_paths(const void *a, const void *b);
int slope_build_compare_repeats(const void *a, const void *b);
int slope_build_compare_path_sizes(const void *a, const void *b);

/* The row of a function in a thread; p->row must be in order. NULL if there is none. O(log rows). */
struct slope_profile_row *slope_build_find_row(const struct slope_profile *p, uint32_t function, uint32_t thread);

/* The edge between two functions in a thread; p->edge must be in order. NULL if there is none. O(log edges). */
struct slope_profile_edge *slope_build_find_edge(const struct slope_profile *p, uint32_t caller, uint32_t callee,
						  uint32_t thread);

#endif
