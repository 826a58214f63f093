/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "analysis/census.h"

/* ---- how few make up most ---- */

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Sorts the weights. How many of them it takes, and in `limit` the lightest of these. */
static uint64_t count_hot(uint64_t *weight, size_t count, uint64_t *limit)
{
	uint64_t sum = 0, hot = 0, of_hot = 0;

	qsort(weight, count, sizeof(*weight), by_size);
	for (size_t i = 0; i < count; i++)
		sum += weight[i];
	while (hot < count && weight[hot] && (double)of_hot < SLOPE_CENSUS_HOT * (double)sum)
		of_hot += weight[hot++];
	if (limit)
		*limit = hot ? weight[hot - 1] : UINT64_MAX;
	return hot;
}

/* ---- sizes for every k ---- */

/*
 * Nodes are noted at the k from which on they exist, and added up at the end. A
 * node is in the pruned forest when something branches below its parent: the
 * children of a node that branches, from the next k on, and with them the run
 * of only children that leads to it.
 */
struct sizes {
	const struct slope_callers *c;
	uint64_t *forest, *pruned;   /* by k: how many more than with k - 1 */
	uint64_t *begin, *end;       /* by k: paths that do not branch any more, from where to where they go */
	uint32_t k;
	uint64_t *run;               /* by depth of the path: only children from there up to where it last branched */
};

static bool measure(void *to, const struct slope_callers_node *node)
{
	struct sizes *s = to;
	uint32_t q = node->depth;

	if (!q || node->siblings > 1)
		s->pruned[q]++;
	if (q && node->siblings > 1 && !node->nth)
		s->pruned[q] += s->run[q - 1];
	s->run[q] = q && node->siblings == 1 ? s->run[q - 1] + 1 : 0;
	s->forest[q]++;
	if (node->members > 1)
		return true;
	/* One node of the profile is left: its callers follow, one each, and nothing branches any more. */
	uint32_t last = s->c->place[node->member[0]].depth;

	last = last < s->k ? last : s->k;
	s->begin[q]++;
	s->end[last]++;
	return false;
}

static bool measure_all(struct slope_census *s, const struct slope_callers *c)
{
	size_t levels = (size_t)s->levels + 1;
	uint64_t *memory = calloc(3 * levels, sizeof(*memory)), straight = 0;
	struct sizes sizes = {
		.c = c, .forest = s->forest, .pruned = s->pruned, .k = s->levels ? s->levels - 1 : 0,
		.run = memory, .begin = memory + levels, .end = memory + 2 * levels,
	};
	struct slope_callers_walk walk = { .function = SLOPE_CALLERS_ALL, .k = sizes.k, .visit = measure, .to = &sizes };
	bool ok = memory && slope_callers_walk(c, &walk);

	for (uint32_t k = 1; ok && k < s->levels; k++) {
		straight += sizes.begin[k - 1] - sizes.end[k - 1];
		s->forest[k] += straight;
	}
	free(memory);
	if (ok && s->levels > 1)
		s->edges = s->forest[1];
	for (uint32_t k = 1; ok && k < s->levels; k++) {
		s->forest[k] += s->forest[k - 1];
		s->pruned[k] += s->pruned[k - 1];
	}
	return ok;
}

/* ---- the run ---- */

static uint64_t place_weight(const struct slope_callers_place *at, enum slope_callers_weight by)
{
	return slope_callers_weight(by, at->calls, at->self, at->total);
}

struct weights {
	uint64_t *weight;
	size_t count;
	enum slope_callers_weight by;
};

static bool note_function(void *to, const struct slope_callers_node *node)
{
	struct weights *w = to;

	w->weight[w->count++] = slope_callers_weight(w->by, node->calls, node->self, node->total);
	return false;
}

/* The functions' weights. NULL when memory runs out. */
static uint64_t *weigh_functions(const struct slope_callers *c, enum slope_callers_weight by, size_t *count)
{
	struct weights w = { .weight = calloc(c->p->function_count + 1, sizeof(*w.weight)), .by = by };
	struct slope_callers_walk walk = { .function = SLOPE_CALLERS_ALL, .k = 0, .visit = note_function, .to = &w };

	if (w.weight && !slope_callers_walk(c, &walk)) {
		free(w.weight);
		w.weight = NULL;
	}
	*count = w.count;
	return w.weight;
}

static void survey_nodes(struct slope_census *s, const struct slope_callers *c)
{
	double levels = 0;

	for (uint32_t i = 0; i < c->count; i++) {
		s->roots += c->place[i].parent == SLOPE_CONTEXT_NONE;
		levels += (double)c->place[i].calls * c->place[i].depth;
	}
	s->mean_depth = c->calls && c->k == SLOPE_CALLERS_ALL ? levels / (double)c->calls : NAN;
}

static bool count_hot_ones(struct slope_census *s, const struct slope_callers *c, enum slope_callers_weight by)
{
	size_t functions;
	uint64_t *of_function = weigh_functions(c, by, &functions), *of_node = calloc((size_t)c->count + 1, sizeof(*of_node));
	bool ok = of_function && of_node;

	if (ok) {
		for (uint32_t i = 0; i < c->count; i++)
			of_node[i] = place_weight(&c->place[i], by);
		s->functions = functions;
		s->hot_functions = count_hot(of_function, functions, NULL);
		s->hot_nodes = count_hot(of_node, c->count, NULL);
	}
	free(of_function);
	free(of_node);
	return ok;
}

bool slope_census_init(struct slope_census *s, const struct slope_callers *c, enum slope_callers_weight by, uint32_t k)
{
	uint32_t deepest = c->k < c->depth ? c->k : c->depth;

	if (deepest > (k ? k : 1))
		deepest = k ? k : 1;
	*s = (struct slope_census){ .nodes = c->count, .calls = c->calls, .depth = c->depth, .levels = c->count ? deepest + 1 : 0 };
	s->forest = calloc((size_t)s->levels + 1, sizeof(*s->forest));
	s->pruned = calloc((size_t)s->levels + 1, sizeof(*s->pruned));
	survey_nodes(s, c);
	if (s->forest && s->pruned && count_hot_ones(s, c, by) && measure_all(s, c))
		return true;
	slope_census_fini(s);
	return false;
}

void slope_census_fini(struct slope_census *s)
{
	free(s->forest);
	free(s->pruned);
	*s = (struct slope_census){ 0 };
}

/* ---- k-contexts ---- */

struct leaves {
	const struct slope_callers *c;
	uint32_t k;
	struct weights w;
};

/* At k callers a node is a context; before that, its members are that have no more callers: one in each thread at most. */
static bool note_leaf(void *to, const struct slope_callers_node *node)
{
	struct leaves *l = to;
	struct weights *w = &l->w;

	if (node->depth == l->k || node->members == 1) {
		w->weight[w->count++] = slope_callers_weight(w->by, node->calls, node->self, node->total);
		return false;
	}
	uint64_t weight = 0;
	bool any = false;

	for (uint32_t i = 0; i < node->members; i++) {
		const struct slope_callers_place *at = &l->c->place[node->member[i]];

		if (at->depth != node->depth)
			continue;
		weight += place_weight(at, w->by);
		any = true;
	}
	if (any)
		w->weight[w->count++] = weight;
	return true;
}

bool slope_census_contexts(const struct slope_callers *c, uint32_t k, enum slope_callers_weight by,
			   struct slope_census_contexts *answer)
{
	struct leaves l = { .c = c, .k = k < c->k ? k : c->k, .w.by = by };
	struct slope_callers_walk walk = { .function = SLOPE_CALLERS_ALL, .k = k, .visit = note_leaf, .to = &l };

	/* Every context has a node of the profile of its own, if not several. */
	l.w.weight = calloc((size_t)c->count + 1, sizeof(*l.w.weight));
	bool ok = l.w.weight && slope_callers_walk(c, &walk);

	if (ok) {
		answer->contexts = l.w.count;
		answer->hot = count_hot(l.w.weight, l.w.count, NULL);
	}
	free(l.w.weight);
	return ok;
}

/* ---- similar contexts ---- */

struct similar {
	struct slope_census_similar *answer;
	double part, least;
	enum slope_callers_weight by;
	uint64_t hot;                /* weight from which on a function is hot */
	uint64_t hot_trees;
	uint32_t depth;              /* of this tree so far */
	bool in_hot, in_any;
	double depths, hot_depths;   /* sums over the trees before */
};

static void end_tree(struct similar *s)
{
	if (s->in_any)
		s->depths += s->depth;
	if (s->in_hot)
		s->hot_depths += s->depth;
	s->depth = 0;
	s->in_any = s->in_hot = false;
}

static bool note_similar(void *to, const struct slope_callers_node *node)
{
	struct similar *s = to;
	uint64_t weight = slope_callers_weight(s->by, node->calls, node->self, node->total);

	if (!node->depth) {
		end_tree(s);
		s->least = s->part * (double)weight;
		if (!weight)
			return false;
		s->in_any = true;
		s->in_hot = weight >= s->hot;
		s->answer->trees++;
		s->hot_trees += s->in_hot;
	}
	if ((double)weight < s->least)
		return false;
	s->answer->nodes++;
	if (node->depth > s->depth)
		s->depth = node->depth;
	return true;
}

bool slope_census_similar(const struct slope_callers *c, double part, uint32_t k, enum slope_callers_weight by,
			  struct slope_census_similar *answer)
{
	struct similar s = { .answer = answer, .part = part, .by = by };
	struct slope_callers_walk walk = { .function = SLOPE_CALLERS_ALL, .k = k, .visit = note_similar, .to = &s };
	size_t functions;
	uint64_t *weight = weigh_functions(c, by, &functions);

	*answer = (struct slope_census_similar){ 0 };
	if (!weight)
		return false;
	count_hot(weight, functions, &s.hot);
	free(weight);
	if (!slope_callers_walk(c, &walk))
		return false;
	end_tree(&s);
	answer->mean_depth = answer->trees ? s.depths / (double)answer->trees : NAN;
	answer->hot_depth = s.hot_trees ? s.hot_depths / (double)s.hot_trees : NAN;
	return true;
}

/* ---- slabs ---- */

/*
 * Nodes of the tree that are one node of a slab: those of the same function
 * (and call site, where sites were kept) below the same node. A tree of the
 * forest has a top, k levels that begin where k divides the depth, and a bottom,
 * the k levels below. So each place has a node in a top and one in a bottom,
 * except that the first k levels have no bottom.
 */
struct twin {
	uint32_t owner, function, site, at;
};

static int by_twin(const void *a, const void *b)
{
	const struct twin *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner > y->owner ? 1 : -1;
	if (x->function != y->function)
		return x->function > y->function ? 1 : -1;
	return (x->site > y->site) - (x->site < y->site);
}

struct slabs {
	const struct slope_callers *c;
	uint32_t k;
	uint32_t *node;              /* by place: its node in a top, and once these are done, in a bottom */
	uint32_t *order, *begin;     /* places by depth; by depth, where it begins */
	struct twin *twin;
	uint32_t nodes;
};

static void sort_by_depth(struct slabs *s)
{
	const struct slope_callers *c = s->c;

	for (uint32_t i = 0; i < c->count; i++)
		s->begin[c->place[i].depth + 2]++;
	for (size_t d = 2; d < (size_t)c->depth + 3; d++)
		s->begin[d] += s->begin[d - 1];
	for (uint32_t i = 0; i < c->count; i++)
		s->order[s->begin[c->place[i].depth + 1]++] = i;
}

/* All places at depths `from`, from + k, from + 2k ...: slabs of all depths share their trees, but threads do not. */
static void unite(struct slabs *s, uint64_t from, bool roots)
{
	const struct slope_callers *c = s->c;
	size_t count = 0;

	for (uint64_t d = from; d <= c->depth; d += s->k)
		for (uint32_t i = s->begin[d]; i < s->begin[d + 1]; i++) {
			const struct slope_callers_place *place = &c->place[s->order[i]];

			s->twin[count++] = roots ? (struct twin){ place->root, place->function, 0, s->order[i] } :
				(struct twin){ s->node[place->parent], place->function, place->site, s->order[i] };
		}
	qsort(s->twin, count, sizeof(*s->twin), by_twin);
	for (size_t i = 0; i < count; i++) {
		s->nodes += !i || by_twin(&s->twin[i - 1], &s->twin[i]);
		s->node[s->twin[i].at] = s->nodes;
	}
}

/* The tops, level after level, then the bottoms: the first level of these has its parents in tops. */
static void count_slabs(struct slabs *s)
{
	sort_by_depth(s);
	for (uint64_t level = 0; level < 2 * (uint64_t)s->k && level <= s->c->depth; level++)
		unite(s, level, !level);
}

bool slope_census_slabs(const struct slope_callers *c, uint32_t k, uint64_t *nodes)
{
	struct slabs s = {
		.c = c, .k = k,
		.node = calloc((size_t)c->count + 1, sizeof(*s.node)),
		.order = calloc((size_t)c->count + 1, sizeof(*s.order)),
		.begin = calloc((size_t)c->depth + 3, sizeof(*s.begin)),
		.twin = calloc((size_t)c->count + 1, sizeof(*s.twin)),
	};
	bool ok = s.node && s.order && s.begin && s.twin;

	if (ok && c->count && k && c->k == SLOPE_CALLERS_ALL)
		count_slabs(&s);
	*nodes = s.nodes;
	free(s.node);
	free(s.order);
	free(s.begin);
	free(s.twin);
	return ok;
}
