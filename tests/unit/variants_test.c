/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core/variants.c: functions by their callers, against a table made without a core. */
#include "core/variants.h"
#include "tests/unit/scarce.h"

#define FUNCTIONS 5u
#define DEPTH_MAX 9u             /* with function 0 */
#define KEYS (1u << 18)          /* paths of up to 5 functions, 3 bits each and a leading 1 */
#define UNITS 2u

struct sums {
	uint64_t calls, self[UNITS], total[UNITS], n;
};

/* Sums by (function, its k nearest callers), and the whole of each function. */
struct oracle {
	uint32_t k;
	struct sums of[KEYS], whole[FUNCTIONS + 1];
	struct { uint32_t fn; uint64_t entry[UNITS], child[UNITS], n; } stack[DEPTH_MAX];
	size_t depth;
};

struct world {
	struct scarce scarce;
	struct slope_session session;
	struct slope_thread *thread;
	uint64_t cost[SLOPE_UNITS_MAX], address;
	struct oracle *oracle;
};

static void open_world(struct world *w, uint32_t k, uint32_t context_k, uint32_t max, uint32_t units)
{
	struct slope_config config = { .cell_log2 = 2, .units = units, .metrics = 1, .contexts = true, .context_k = context_k,
				       .variant_k = k, .variants_max = max };

	*w = (struct world){ .address = 0x1000, .oracle = calloc(1, sizeof *w->oracle) };
	w->oracle->k = k;
	w->oracle->depth = 1;
	scarce_init(&w->scarce, ENDLESS);
	assert_true(slope_session_init(&w->session, &config, &w->scarce.host));
	for (uint32_t i = 1; i <= FUNCTIONS; i++)
		assert_int_equal(slope_session_function(&w->session, 0, 16 * i, 0, "f"), i);
	w->thread = slope_thread_new(&w->session, 0, 1, w->cost);
	assert_non_null(w->thread);
}

static void close_world(struct world *w)
{
	slope_session_fini(&w->session);
	assert_int_equal(w->scarce.held_bytes, 0);
	assert_int_equal(w->session.variants, 0);
	free(w->oracle);
}

static void add(struct sums *to, const struct sums *more)
{
	to->calls += more->calls;
	to->n += more->n;
	for (uint32_t u = 0; u < UNITS; u++) {
		to->self[u] += more->self[u];
		to->total[u] += more->total[u];
	}
}

static uint64_t key_of(const struct oracle *o)
{
	uint64_t key = 0;
	size_t n = 0;

	for (; n <= o->k && n < o->depth; n++)
		key |= (uint64_t)o->stack[o->depth - 1 - n].fn << (3 * n);
	return key | UINT64_C(1) << (3 * n);
}

static void oracle_leave(struct world *w)
{
	struct oracle *o = w->oracle;
	uint32_t fn = o->stack[o->depth - 1].fn;
	struct sums sums = { .calls = 1, .n = o->stack[o->depth - 1].n };
	bool outermost = true;

	for (size_t i = 0; i + 1 < o->depth; i++)
		outermost &= o->stack[i].fn != fn;
	for (uint32_t u = 0; u < UNITS; u++) {
		uint64_t spent = w->cost[u] - o->stack[o->depth - 1].entry[u];

		sums.self[u] = spent - o->stack[o->depth - 1].child[u];
		sums.total[u] = outermost ? spent : 0;
		if (o->depth > 1)
			o->stack[o->depth - 2].child[u] += spent;
	}
	add(&o->of[key_of(o)], &sums);
	add(&o->whole[fn], &sums);
	if (--o->depth)
		o->stack[o->depth - 1].n += sums.n;
}

static void enter(struct world *w, uint32_t fn)
{
	struct oracle *o = w->oracle;

	slope_thread_enter(w->thread, fn, 1000000 - 16 * o->depth, 0, w->cost);
	o->stack[o->depth].fn = fn;
	o->stack[o->depth].n = 0;
	for (uint32_t u = 0; u < UNITS; u++) {
		o->stack[o->depth].entry[u] = w->cost[u];
		o->stack[o->depth].child[u] = 0;
	}
	o->depth++;
}

/* A call that found no memory has no frame. */
static void leave(struct world *w)
{
	if (w->thread->top->sp == 1000000 - 16 * (w->oracle->depth - 1))
		slope_thread_leave(w->thread, w->cost);
	oracle_leave(w);
}

/* Cells that were never read before: each is input of all that is pending. */
static void work(struct world *w, uint32_t amount)
{
	w->cost[0] += amount;
	w->cost[1] += 2 * amount + 1;
	slope_thread_read(w->thread, w->address, 4 * amount);
	w->address += 4 * amount;
	w->oracle->stack[w->oracle->depth - 1].n += amount;
}

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

static void play(struct world *w, uint64_t seed, uint32_t steps)
{
	for (uint32_t i = 0; i < steps; i++) {
		uint32_t r = next_random(&seed);

		work(w, r % 4);
		if (w->oracle->depth < DEPTH_MAX && (w->oracle->depth == 1 || r / 4 % 2))
			enter(w, 1 + (r / 64 % 4 ? r / 8 % 2 : r / 1024 % FUNCTIONS));
		else
			leave(w);
	}
	slope_thread_end(w->thread, w->cost);
	while (w->oracle->depth)
		oracle_leave(w);
}

static uint64_t key_of_variant(const struct slope_variant *variant, uint32_t *fn)
{
	uint64_t key = UINT64_C(1) << (3 * (variant->callers + 1));

	for (; variant->shorter; variant = variant->shorter)
		key |= (uint64_t)variant->fn << (3 * variant->callers);
	*fn = variant->fn;
	return key | variant->fn;
}

static struct sums sums_of(const struct world *w, const struct slope_variant *variant)
{
	struct slope_totals totals;
	struct sums sums = { 0 };

	slope_thread_settle(w->thread);
	slope_record_totals(variant->counts, &w->session.config, &totals);
	sums.calls = totals.calls;
	sums.n = totals.trms;
	for (uint32_t u = 0; u < w->session.config.units; u++) {
		sums.self[u] = totals.self[u];
		sums.total[u] = totals.total[u];
	}
	assert_int_equal(variant->calls, totals.calls);
	return sums;
}

static void assert_same(const struct sums *want, const struct sums *got, uint32_t units)
{
	assert_int_equal(got->calls, want->calls);
	assert_int_equal(got->n, want->n);
	for (uint32_t u = 0; u < units; u++) {
		assert_int_equal(got->self[u], want->self[u]);
		assert_int_equal(got->total[u], want->total[u]);
	}
}

/* Whatever is folded: each variant that is no rest is right, and all of a function add up. */
static uint64_t check(struct world *w)
{
	struct sums whole[FUNCTIONS + 1] = { 0 };
	uint64_t kept = 0, rests = 0;

	for (const struct slope_variant *variant = w->thread->contexts->variants->first; variant; variant = variant->next) {
		uint32_t fn;
		uint64_t key = key_of_variant(variant, &fn);

		if (!variant->counts)
			continue;
		struct sums got = sums_of(w, variant);

		add(&whole[fn], &got);
		kept += variant->callers != 0;
		rests += variant->rest;
		if (!variant->rest)
			assert_same(&w->oracle->of[key], &got, w->session.config.units);
	}
	for (uint32_t fn = 0; fn <= FUNCTIONS; fn++)
		assert_same(&w->oracle->whole[fn], &whole[fn], w->session.config.units);
	assert_int_equal(kept, w->session.variants);
	assert_true(kept <= w->session.config.variants_max);
	assert_int_equal(rests != 0, w->session.variants_folded != 0);
	return kept;
}

static uint64_t contexts_in(const struct oracle *o)
{
	uint64_t count = 0;

	for (size_t i = 0; i < KEYS; i++)
		count += o->of[i].calls != 0;
	return count;
}

static void every_context_has_its_own(void **state)
{
	(void)state;
	for (uint32_t k = 1; k <= 4; k++)
		for (uint32_t forest = 0; forest < 3; forest++) {
			struct world w;

			open_world(&w, k, forest ? k + forest - 1 : 0, 0, 1 + k % 2);
			play(&w, 10 * k + forest, 30000);
			assert_int_equal(check(&w), contexts_in(w.oracle) - 1);  /* the thread itself has no callers */
			assert_int_equal(w.session.variants_folded, 0);
			close_world(&w);
		}
}

static void rare_ones_fold_when_there_are_too_many(void **state)
{
	static const uint32_t max[] = { 1, 2, 7, 50, 200 };

	(void)state;
	for (uint32_t k = 1; k <= 4; k++)
		for (size_t i = 0; i < sizeof max / sizeof *max; i++) {
			struct world w;

			open_world(&w, k, i % 2 ? k : 0, max[i], 2 - k % 2);
			play(&w, 100 * k + i, 30000);
			if (contexts_in(w.oracle) - 1 > max[i])
				assert_int_not_equal(w.session.variants_folded, 0);
			check(&w);
			close_world(&w);
		}
}

/* A context with most of the calls is kept, whatever comes. */
static void hot_ones_stay(void **state)
{
	struct world w;
	bool found = false;

	(void)state;
	open_world(&w, 2, 2, 20, 1);
	enter(&w, 1);
	enter(&w, 2);
	for (int i = 0; i < 5000; i++) {
		enter(&w, 3);
		work(&w, 1);
		leave(&w);
	}
	play(&w, 7, 20000);
	check(&w);
	for (const struct slope_variant *variant = w.thread->contexts->variants->first; variant; variant = variant->next)
		if (variant->counts && variant->callers == 2 && variant->fn == 1 && variant->shorter->fn == 2 &&
		    variant->shorter->shorter->fn == 3)
			found = !variant->rest && variant->calls >= 5000;
	assert_true(found);
	close_world(&w);
}

static void a_restart_forgets_them(void **state)
{
	struct world w;
	uint64_t calls = 0;

	(void)state;
	open_world(&w, 1, 0, 0, 1);
	enter(&w, 1);
	enter(&w, 2);
	leave(&w);
	slope_session_restart(&w.session, w.thread, w.cost);
	assert_int_equal(w.session.variants, 0);
	slope_thread_end(w.thread, w.cost);
	for (const struct slope_variant *variant = w.thread->contexts->variants->first; variant; variant = variant->next)
		if (variant->counts)
			calls += variant->calls;
	assert_int_equal(calls, 2);
	close_world(&w);
}

/* Wherever memory ends, nothing breaks, and what is not there is counted as lost. */
static void want_of_memory_is_counted(void **state)
{
	(void)state;
	for (size_t left = 0; left < 40; left++) {
		struct world w;
		uint64_t calls = 0, all = 0;

		open_world(&w, 2, 2, 30, 1);
		w.scarce.left = left;
		play(&w, left, 4000);
		for (uint32_t fn = 0; fn <= FUNCTIONS; fn++)
			all += w.oracle->whole[fn].calls;
		slope_thread_settle(w.thread);
		for (const struct slope_variant *variant = w.thread->contexts->variants->first; variant; variant = variant->next)
			if (variant->counts) {
				struct slope_totals totals;

				slope_record_totals(variant->counts, &w.session.config, &totals);
				calls += totals.calls;
			}
		const uint64_t *lost = w.session.lost;

		assert_true(calls <= all);
		assert_true(calls + lost[SLOPE_LOST_CALLS] + lost[SLOPE_LOST_POINTS] + lost[SLOPE_LOST_CONTEXTS] >= all);
		close_world(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_context_has_its_own),
		cmocka_unit_test(rare_ones_fold_when_there_are_too_many),
		cmocka_unit_test(hot_ones_stay),
		cmocka_unit_test(a_restart_forgets_them),
		cmocka_unit_test(want_of_memory_is_counted),
	};

	return cmocka_run_group_tests_name("variants", tests, NULL, NULL);
}
