/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * web NODES FROM TO
 *
 * Adds a calling context tree of so many nodes to a profile, as bench/analysis.c
 * writes it, and saves it elsewhere. The same arguments give the same file.
 */
#include <stdio.h>
#include <stdlib.h>

#include "profile/build.h"
#include "tests/growth/random.h"

#define TAKEN 4u                     /* of five calls that a function can make, so many are made in one context */

static void add_node(struct slope_profile *p, uint32_t function, uint32_t parent, struct random *r)
{
	struct slope_profile_context *c = slope_build_context(p);

	if (!c) {
		fprintf(stderr, "web: out of memory\n");
		exit(1);
	}
	*c = (struct slope_profile_context){ .function = function, .parent = parent, .site = SLOPE_CONTEXT_NONE,
					     .calls = (uint64_t)random_magnitude(r, 1, 5000) };
	c->self[0] = c->calls * (uint64_t)random_magnitude(r, 4, 400);
}

/* A path of contexts is a path of the call graph. */
static void make_contexts(struct slope_profile *p, size_t nodes, struct random *r)
{
	size_t *first = calloc(p->function_count + 2, sizeof(*first));

	for (size_t i = 0; first && i < p->edge_count; i++)
		first[p->edge[i].caller + 1] = i + 1;
	for (size_t i = 1; first && i <= p->function_count; i++)
		if (first[i] < first[i - 1])
			first[i] = first[i - 1];
	add_node(p, SLOPE_FN_ROOT, SLOPE_CONTEXT_NONE, r);
	for (size_t i = 0; first && i < p->context_count; i++) {
		uint32_t caller = p->context[i].function;

		for (size_t e = first[caller]; e < first[caller + 1] && p->context_count < nodes; e++)
			if (!i || random_below(r, 5) < TAKEN)
				add_node(p, p->edge[e].callee, (uint32_t)i, r);
	}
	free(first);
	nodes = p->context_count;
	for (size_t i = nodes; i-- > 0;) {
		struct slope_profile_context *c = &p->context[i];

		c->total[0] += c->self[0];
		if (c->parent != SLOPE_CONTEXT_NONE)
			p->context[c->parent].total[0] += c->total[0];
	}
}

int main(int argc, char **argv)
{
	struct random r = { 3 };
	char error[512];

	if (argc != 4)
		return fprintf(stderr, "usage: web NODES FROM TO\n"), 2;
	struct slope_profile *p = slope_profile_load(argv[2], error, sizeof(error));

	if (!p)
		return fprintf(stderr, "web: %s\n", error), 1;
	make_contexts(p, strtoull(argv[1], NULL, 10), &r);
	if (!slope_profile_save(p, argv[3], error, sizeof(error)))
		return fprintf(stderr, "web: %s\n", error), 1;
	slope_profile_free(p);
	return 0;
}
