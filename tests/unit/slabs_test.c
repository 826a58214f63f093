/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core/slabs.c: calling context trees and forests of slabs, against a count of all suffixes of all paths. */
#include "core/slabs.h"
#include "tests/unit/scarce.h"

#define FUNCTIONS 6u             /* with function 0 they take 3 bits */
#define DEPTH_MAX 14u            /* of the stack, with function 0 */
#define CALLS 1000000u
#define UNITS 2u

/* ---- traces ---- */

/* `cost` is spent, then `pops` activations end, then `fn` is called (0: nothing is). */
struct step {
	uint8_t cost, pops, fn;
};

struct trace {
	struct step *step;
	size_t count;
};

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

/* All is below one call of function 1. Ways that were gone are often gone again; now and then many activations end at once. */
static struct trace random_trace(uint64_t seed, size_t calls)
{
	struct trace trace = { .step = calloc(calls, sizeof *trace.step) };
	uint8_t stack[DEPTH_MAX] = { 0 };
	size_t depth = 1;

	assert_non_null(trace.step);
	for (; trace.count < calls; trace.count++) {
		struct step *step = &trace.step[trace.count];
		uint32_t r = next_random(&seed), way = next_random(&seed);

		step->cost = r % 7;
		while (depth - step->pops > 2 && (depth - step->pops == DEPTH_MAX || r / 8 % 64 < 31)) {
			step->pops++;
			r = next_random(&seed);
		}
		depth -= step->pops;
		step->fn = depth == 1 ? 1 : 1 + (way % 8 ? stack[depth - 1] + way / 8 % 2 : way / 8) % FUNCTIONS;
		stack[depth++] = step->fn;
	}
	return trace;
}

struct world {
	struct scarce scarce;
	struct slope_session session;
	struct slope_thread *thread;
	uint64_t cost[SLOPE_UNITS_MAX];
};

static void open_world(struct world *w, const struct slope_config *config, uint32_t functions)
{
	*w = (struct world){ 0 };
	scarce_init(&w->scarce, ENDLESS);
	assert_true(slope_session_init(&w->session, config, &w->scarce.host));
	for (uint32_t i = 1; i <= functions; i++)
		assert_int_equal(slope_session_function(&w->session, 0, 16 * i, 0, "f"), i);
	w->thread = slope_thread_new(&w->session, 0, 1, w->cost);
	assert_non_null(w->thread);
}

static struct slope_config with_contexts(uint32_t k)
{
	return (struct slope_config){ .cell_log2 = 2, .units = UNITS, .metrics = 1, .contexts = true, .context_k = k };
}

static void close_world(struct world *w)
{
	slope_session_fini(&w->session);
	assert_int_equal(w->scarce.held_bytes, 0);
}

static void spend(struct world *w, uint64_t cost)
{
	w->cost[0] += cost;
	w->cost[1] += 3 * cost + 1;
}

static void enter(struct world *w, uint32_t fn, uint32_t flags)
{
	slope_thread_enter(w->thread, fn, 1000000 - 16 * slope_thread_depth(w->thread), flags, w->cost);
}

/* A call that found no memory has no frame: what returns is told by the stack pointer. */
static void play(struct world *w, const struct trace *trace)
{
	uint64_t sp = 1000000;

	for (size_t i = 0; i < trace->count; i++) {
		const struct step *step = &trace->step[i];

		spend(w, step->cost);
		sp += 16 * step->pops;
		slope_thread_unwind(w->thread, sp - 16, w->cost);
		sp -= 16;
		slope_thread_enter(w->thread, step->fn, sp, 0, w->cost);
	}
	slope_thread_end(w->thread, w->cost);
}

/* ---- sums by path ---- */

struct sums {
	uint64_t calls, self[UNITS], total[UNITS];
};

/* A path is a number: three bits per function, the last called lowest, and a leading 1. */
struct paths {
	struct slope_arena arena;
	struct slope_map map;
	struct sums *sums;
	size_t count, capacity;
};

static void paths_init(struct paths *p, const struct slope_host *host)
{
	*p = (struct paths){ 0 };
	slope_arena_init(&p->arena, host);
	slope_map_init(&p->map, &p->arena);
}

static void add(struct paths *p, uint64_t path, const struct sums *more)
{
	bool fresh;
	uint64_t *at = slope_map_put(&p->map, path, &fresh);
	void *array = p->sums;

	if (fresh) {
		assert_true(slope_arena_grow(&p->arena, &array, &p->capacity, p->count + 1, sizeof *p->sums));
		p->sums = array;
		*at = p->count++;
		p->sums[*at] = (struct sums){ 0 };
	}
	struct sums *s = &p->sums[*at];

	s->calls += more->calls;
	for (uint32_t u = 0; u < UNITS; u++) {
		s->self[u] += more->self[u];
		s->total[u] += more->total[u];
	}
}

static unsigned callers_in(uint64_t path)
{
	return (63u - (unsigned)__builtin_clzll(path)) / 3 - 1;
}

/* What one pending activation of the oracle knows. */
struct pending {
	uint8_t fn;
	uint64_t entry[UNITS], below[UNITS];
};

/* The topmost activation ends: it counts at every suffix of its path. */
static void end_pending(struct paths *p, struct pending *stack, size_t depth, const uint64_t *cost)
{
	struct sums sums = { .calls = 1 };
	uint64_t functions = 0;

	for (uint32_t u = 0; u < UNITS; u++) {
		sums.total[u] = cost[u] - stack[depth - 1].entry[u];
		sums.self[u] = sums.total[u] - stack[depth - 1].below[u];
		if (depth > 1)
			stack[depth - 2].below[u] += sums.total[u];
	}
	for (size_t n = 1; n <= depth; n++) {
		functions |= (uint64_t)stack[depth - n].fn << (3 * (n - 1));
		add(p, functions | UINT64_C(1) << (3 * n), &sums);
	}
}

/* Every suffix of every path, without a core. */
static void count_suffixes(struct paths *p, const struct trace *trace)
{
	struct pending stack[DEPTH_MAX] = { 0 };
	uint64_t cost[UNITS] = { 0 };
	size_t depth = 1;

	for (size_t i = 0; i < trace->count; i++) {
		const struct step *step = &trace->step[i];

		cost[0] += step->cost;
		cost[1] += 3 * step->cost + 1u;
		for (uint8_t n = 0; n < step->pops; n++)
			end_pending(p, stack, depth--, cost);
		stack[depth++] = (struct pending){ .fn = step->fn, .entry = { cost[0], cost[1] } };
	}
	while (depth)
		end_pending(p, stack, depth--, cost);
}

/* The same out of recorded nodes: each counts at the suffixes of its own path with up to k callers. */
static void count_nodes(struct paths *p, const struct slope_contexts *c, uint32_t k)
{
	for (const struct slope_context_block *b = c->first; b; b = b->next)
		for (size_t i = 0; i < b->count; i++) {
			const struct slope_context *node = slope_context_at(c, b, i), *up = node;
			struct sums sums = { .calls = node->calls };
			uint64_t functions = 0;

			for (uint32_t u = 0; u < c->units; u++) {
				sums.self[u] = node->cost[u];
				sums.total[u] = node->cost[c->units + u];
			}
			for (uint32_t n = 1; up && n <= k + 1 && node->calls; n++, up = up->above) {
				functions |= (uint64_t)up->fn << (3 * (n - 1));
				add(p, functions | UINT64_C(1) << (3 * n), &sums);
			}
		}
}

static void assert_same_sums(const struct sums *want, const struct sums *got, uint32_t units)
{
	assert_int_equal(got->calls, want->calls);
	for (uint32_t u = 0; u < units; u++) {
		assert_int_equal(got->self[u], want->self[u]);
		assert_int_equal(got->total[u], want->total[u]);
	}
}

/* Both have the same sums for all paths with up to k callers. */
static void assert_same_paths(const struct paths *want, const struct paths *got, uint32_t k, uint32_t units)
{
	size_t wanted = 0;

	for (size_t i = 0; i < want->map.capacity; i++) {
		const struct slope_map_entry *e = &want->map.entry[i];

		if (!e->used || callers_in(e->key) > k)
			continue;
		const uint64_t *at = slope_map_get(&got->map, e->key);

		assert_non_null(at);
		assert_same_sums(&want->sums[e->value], &got->sums[*at], units);
		wanted++;
	}
	assert_int_equal(got->count, wanted);
}

static void check_against(const struct paths *want, const struct trace *trace, uint32_t k, uint32_t units, uint32_t *nodes)
{
	struct slope_config config = with_contexts(k);
	struct world w;
	struct paths got;
	uint64_t calls = 0;

	config.units = units;
	open_world(&w, &config, FUNCTIONS);
	play(&w, trace);
	const struct slope_contexts *c = w.thread->contexts;

	paths_init(&got, &w.scarce.host);
	count_nodes(&got, c, k ? k : DEPTH_MAX);
	assert_same_paths(want, &got, k ? k : DEPTH_MAX, units);
	*nodes = c->nodes;
	for (const struct slope_context_block *b = c->first; b; b = b->next)
		for (size_t i = 0; i < b->count; i++)
			calls += slope_context_at(c, b, i)->calls;
	assert_int_equal(calls, trace->count + 1);
	slope_arena_fini(&got.arena);
	close_world(&w);
}

/* One unit has a faster way than several. */
static void check_trace(uint64_t seed, size_t calls, uint32_t units)
{
	struct trace trace = random_trace(seed, calls);
	struct scarce scarce;
	struct paths want;
	uint32_t tree, nodes;

	scarce_init(&scarce, ENDLESS);
	paths_init(&want, &scarce.host);
	count_suffixes(&want, &trace);
	check_against(&want, &trace, 0, units, &tree);
	for (uint32_t k = 1; k <= DEPTH_MAX; k++) {
		check_against(&want, &trace, k, units, &nodes);
		assert_in_range(nodes, 1, 2 * tree);
		if (k >= DEPTH_MAX)
			assert_int_equal(nodes, tree);
	}
	slope_arena_fini(&want.arena);
	free(trace.step);
}

static void all_k_agree_with_all_suffixes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		check_trace(seed, 40 * seed, 1 + seed % 2);
	check_trace(1000, CALLS, 1);
}

/*
 * In bursts every path is one that there was, with no more calls; those that
 * have at least a hundredth of all calls have their share, for calls and costs.
 */
static void check_bursts(const struct paths *want, const struct trace *trace, uint32_t k, uint32_t units)
{
	struct slope_config config = with_contexts(k);
	struct world w;
	struct paths got;
	uint64_t calls = 0;
	size_t hot = 0;

	config.units = units;
	config.burst_period = 5000;
	config.burst_length = 500;
	open_world(&w, &config, FUNCTIONS);
	play(&w, trace);
	paths_init(&got, &w.scarce.host);
	count_nodes(&got, w.thread->contexts, k ? k : DEPTH_MAX);
	for (const struct slope_context_block *b = w.thread->contexts->first; b; b = b->next)
		for (size_t i = 0; i < b->count; i++)
			calls += slope_context_at(w.thread->contexts, b, i)->calls;
	double times = (double)(trace->count + 1) / (double)calls;

	assert_true(times > 9 && times < 12);
	for (size_t i = 0; i < got.map.capacity; i++) {
		const struct slope_map_entry *e = &got.map.entry[i];
		const uint64_t *at = e->used ? slope_map_get(&want->map, e->key) : NULL;

		if (!e->used)
			continue;
		assert_non_null(at);
		const struct sums *all = &want->sums[*at], *some = &got.sums[e->value];

		assert_in_range(some->calls, 1, all->calls);
		assert_in_range(some->self[0], 0, all->self[0]);
		if (all->calls < trace->count / 100)
			continue;
		hot++;
		assert_true(times * (double)some->calls > 0.85 * (double)all->calls);
		assert_true(times * (double)some->calls < 1.15 * (double)all->calls);
		assert_true(times * (double)some->self[0] > 0.85 * (double)all->self[0]);
		assert_true(times * (double)some->self[0] < 1.15 * (double)all->self[0]);
	}
	assert_true(hot > 10);
	slope_arena_fini(&got.arena);
	close_world(&w);
}

static void bursts_are_a_fair_sample(void **state)
{
	struct trace trace = random_trace(77, CALLS);
	struct scarce scarce;
	struct paths want;

	(void)state;
	scarce_init(&scarce, ENDLESS);
	paths_init(&want, &scarce.host);
	count_suffixes(&want, &trace);
	check_bursts(&want, &trace, 0, 1);
	check_bursts(&want, &trace, 2, 2);
	slope_arena_fini(&want.arena);
	free(trace.step);
}

/* ---- single cases ---- */

static const struct slope_context *find(const struct slope_contexts *c, const struct slope_context *above, uint32_t fn, uint32_t site)
{
	for (const struct slope_context_block *b = c->first; b; b = b->next)
		for (size_t i = 0; i < b->count; i++) {
			const struct slope_context *node = slope_context_at(c, b, i);

			if (node->above == above && node->fn == fn && node->site == site && !slope_context_is_way_back(node))
				return node;
		}
	return NULL;
}

/* Many callees from many sites: lists become maps, nothing is doubled. */
static void wide_nodes_keep_their_children(void **state)
{
	const uint32_t functions = 300, sites = 5, rounds = 4;
	struct slope_config config = with_contexts(0);
	struct world w;

	(void)state;
	open_world(&w, &config, functions);
	for (uint32_t round = 0; round < rounds; round++)
		for (uint32_t i = 0; i < functions * sites; i++) {
			uint32_t at = i * 7919 % (functions * sites);

			w.thread->contexts->site = slope_session_site(&w.session, 0, at / functions);
			enter(&w, 1 + at % functions, 0);
			spend(&w, 1);
			slope_thread_leave(w.thread, w.cost);
		}
	slope_thread_end(w.thread, w.cost);
	const struct slope_contexts *c = w.thread->contexts;
	const struct slope_context *root = find(c, NULL, SLOPE_FN_ROOT, SLOPE_SITE_NONE);

	assert_int_equal(w.session.site_count, sites);
	assert_int_equal(c->nodes, 1 + functions * sites);
	for (uint32_t i = 0; i < functions * sites; i++)
		assert_int_equal(find(c, root, 1 + i % functions, i / functions)->calls, rounds);
	close_world(&w);
}

/* A restart, as in the child of a fork: what is pending goes on in new nodes, at its own sites. */
static void restart_leaves_what_is_pending(void **state)
{
	struct slope_config config = with_contexts(0);
	struct world w;

	(void)state;
	for (uint32_t k = 0; k < 3; k++) {
		config.context_k = k;
		open_world(&w, &config, 3);
		enter(&w, 1, 0);
		enter(&w, 2, 0);
		spend(&w, 100);
		slope_thread_leave(w.thread, w.cost);
		w.thread->contexts->site = slope_session_site(&w.session, 0, 7);
		enter(&w, 3, 0);
		spend(&w, 5);
		slope_session_restart(&w.session, w.thread, w.cost);
		spend(&w, 2);
		slope_thread_end(w.thread, w.cost);
		const struct slope_contexts *c = w.thread->contexts;
		uint64_t calls = 0, self = 0;
		uint32_t of_site = 0;

		for (size_t i = 0; i < c->first->count; i++) {
			const struct slope_context *node = slope_context_at(c, c->first, i);

			assert_int_not_equal(node->fn, 2);
			calls += node->calls;
			self += node->cost[0];
			of_site += node->calls && node->fn == 3 && node->site == 0;
		}
		assert_int_equal(calls, 3);
		assert_int_equal(self, 2);
		assert_int_equal(of_site, 1);
		close_world(&w);
	}
}

/* f -> g -> f -> h, collapsed: the inner f is the outer one, and h is below that. */
static void recursion_collapses_into_what_is_above(void **state)
{
	struct slope_config config = with_contexts(0);
	struct world w;

	(void)state;
	config.context_collapse = true;
	open_world(&w, &config, 3);
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 3; i++) {
			enter(&w, 1 + i % 2, 0);
			spend(&w, 1);
		}
		enter(&w, 3, 0);
		spend(&w, 10);
		slope_thread_cut(w.thread, 1, w.cost);
	}
	slope_thread_end(w.thread, w.cost);
	const struct slope_contexts *c = w.thread->contexts;
	const struct slope_context *root = find(c, NULL, 0, SLOPE_SITE_NONE), *f = find(c, root, 1, SLOPE_SITE_NONE);
	const struct slope_context *g = find(c, f, 2, SLOPE_SITE_NONE), *h = find(c, f, 3, SLOPE_SITE_NONE);

	assert_int_equal(f->calls, 4);
	assert_int_equal(f->cost[0], 4);
	assert_int_equal(f->cost[UNITS], 26);
	assert_int_equal(g->cost[UNITS], 24);
	assert_int_equal(h->calls, 2);
	assert_null(find(c, g, 1, SLOPE_SITE_NONE));
	assert_int_equal(f->active, 0);
	close_world(&w);
}

/* Wherever memory ends, calls that found no node are counted, and the others are right. */
static void want_of_memory_is_counted(void **state)
{
	struct trace trace = random_trace(3, 5000);

	(void)state;
	for (size_t left = 8; left < 40; left++)
		for (uint32_t k = 0; k < 4; k++) {
			struct slope_config config = with_contexts(k);
			struct world w;
			uint64_t calls = 0;

			open_world(&w, &config, FUNCTIONS);
			w.scarce.left = left - 8;
			play(&w, &trace);
			const struct slope_contexts *c = w.thread->contexts;

			for (const struct slope_context_block *b = c->first; b; b = b->next)
				for (size_t i = 0; i < b->count; i++)
					calls += slope_context_at(c, b, i)->calls;
			assert_int_equal(calls + w.session.lost[SLOPE_LOST_CONTEXTS] + w.session.lost[SLOPE_LOST_CALLS], trace.count + 1);
			close_world(&w);
		}
	free(trace.step);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_k_agree_with_all_suffixes),
		cmocka_unit_test(bursts_are_a_fair_sample),
		cmocka_unit_test(wide_nodes_keep_their_children),
		cmocka_unit_test(restart_leaves_what_is_pending),
		cmocka_unit_test(recursion_collapses_into_what_is_above),
		cmocka_unit_test(want_of_memory_is_counted),
	};

	return cmocka_run_group_tests_name("slabs", tests, NULL, NULL);
}
