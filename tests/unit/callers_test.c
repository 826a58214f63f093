/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analysis/callers.c: k-calling-context forests to the number, from trees and
 * from slabs. The introduction of the paper on k-calling contexts has the first
 * example: c is called four times, thrice by b and then always with a before it,
 * in four contexts. On random traces, every suffix of every stack is counted.
 */
#include <stdio.h>

#include "tests/unit/callers_sample.h"
#include "tests/unit/failing.h"

/* ---- a forest as text ---- */

struct lines {
	char text[4096];
	char path[TRACE_DEPTH + 1];
};

static bool put_line(void *to, const struct slope_callers_node *node)
{
	struct lines *l = to;
	size_t used = strlen(l->text);

	l->path[node->depth] = node->function ? (char)('a' + node->function - 1) : 'r';
	l->path[node->depth + 1] = 0;
	snprintf(l->text + used, sizeof(l->text) - used, "%s %lu\n", l->path, (unsigned long)node->calls);
	return true;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every node as "function, its caller, the caller of that ... calls", sorted. */
static void put_forest(const struct slope_profile *p, uint32_t k, char *text, size_t bytes)
{
	struct lines l = { .text = "" };
	struct slope_callers c;
	struct slope_callers_walk walk = { .function = SLOPE_CALLERS_ALL, .k = k, .visit = put_line, .to = &l };
	char *line[256];
	size_t count = 0;

	assert_true(slope_callers_init(&c, p, 0));
	assert_true(slope_callers_walk(&c, &walk));
	for (char *at = strtok(l.text, "\n"); at; at = strtok(NULL, "\n"))
		line[count++] = at;
	qsort(line, count, sizeof(*line), by_text);
	*text = 0;
	for (size_t i = 0; i < count; i++)
		snprintf(text + strlen(text), bytes - strlen(text), "%s\n", line[i]);
	slope_callers_fini(&c);
}

/* The same forest from the tree, and from slabs of this and every larger k. */
static void expect(const char *trace, uint32_t k, const char *wanted)
{
	char text[4096];

	for (uint32_t slabs = 0; slabs < 7; slabs++) {
		struct slope_profile *p;

		if (slabs && slabs < k)
			continue;
		p = contexts_profile(slabs);
		contexts_play(p, trace, 0);
		put_forest(p, k, text, sizeof(text));
		if (strcmp(text, wanted))
			print_message("from %s %u:\n", slabs ? "slabs" : "the tree", slabs);
		assert_string_equal(text, wanted);
		slope_profile_free(p);
	}
}

#define INTRODUCTION "abc)))dabc))))eb)abc))))c)"

static void vertices(void **state)
{
	(void)state;
	expect(INTRODUCTION, 0, "a 3\nb 4\nc 4\nd 1\ne 1\nr 1\n");
}

static void edges(void **state)
{
	(void)state;
	expect(INTRODUCTION, 1, "a 3\nad 1\nae 1\nar 1\n" "b 4\nba 3\nbe 1\n" "c 4\ncb 3\ncr 1\n" "d 1\ndr 1\n" "e 1\ner 1\n" "r 1\n");
}

/* Three quarters of the calls of c come along a, b: seen here, and in no call graph. */
static void two_callers(void **state)
{
	(void)state;
	expect(INTRODUCTION, 2,
	       "a 3\nad 1\nadr 1\nae 1\naer 1\nar 1\n" "b 4\nba 3\nbad 1\nbae 1\nbar 1\nbe 1\nber 1\n"
	       "c 4\ncb 3\ncba 3\ncr 1\n" "d 1\ndr 1\n" "e 1\ner 1\n" "r 1\n");
}

static void three_callers(void **state)
{
	(void)state;
	expect(INTRODUCTION, 3,
	       "a 3\nad 1\nadr 1\nae 1\naer 1\nar 1\n" "b 4\nba 3\nbad 1\nbadr 1\nbae 1\nbaer 1\nbar 1\nbe 1\nber 1\n"
	       "c 4\ncb 3\ncba 3\ncbad 1\ncbae 1\ncbar 1\ncr 1\n" "d 1\ndr 1\n" "e 1\ner 1\n" "r 1\n");
}

/* From slabs only as far as they know. */
static void all_callers(void **state)
{
	static const char all[] =
		"a 3\nad 1\nadr 1\nae 1\naer 1\nar 1\n" "b 4\nba 3\nbad 1\nbadr 1\nbae 1\nbaer 1\nbar 1\nbe 1\nber 1\n"
		"c 4\ncb 3\ncba 3\ncbad 1\ncbadr 1\ncbae 1\ncbaer 1\ncbar 1\ncr 1\n" "d 1\ndr 1\n" "e 1\ner 1\n" "r 1\n";
	struct slope_profile *p = contexts_profile(0);
	char text[4096];

	(void)state;
	expect(INTRODUCTION, 4, all);
	contexts_play(p, INTRODUCTION, 0);
	put_forest(p, SLOPE_CALLERS_ALL, text, sizeof(text));
	assert_string_equal(text, all);
	slope_profile_free(p);
}

/* A trace of depth 3 in which functions occur in several contexts, counted on paper. */
#define RUNNING "abc)c))cb)))" "bc))"

static void running_example(void **state)
{
	(void)state;
	expect(RUNNING, 0, "a 1\nb 3\nc 4\nr 1\n");
	expect(RUNNING, 1, "a 1\nar 1\nb 3\nba 1\nbc 1\nbr 1\nc 4\nca 1\ncb 3\nr 1\n");
	expect(RUNNING, 2, "a 1\nar 1\nb 3\nba 1\nbar 1\nbc 1\nbca 1\nbr 1\nc 4\nca 1\ncar 1\ncb 3\ncba 2\ncbr 1\nr 1\n");
	expect(RUNNING, 3, "a 1\nar 1\nb 3\nba 1\nbar 1\nbc 1\nbca 1\nbcar 1\nbr 1\n"
			   "c 4\nca 1\ncar 1\ncb 3\ncba 2\ncbar 2\ncbr 1\nr 1\n");
}

static void recursion_is_a_longer_path(void **state)
{
	(void)state;
	expect("aaa)))a)", 2, "a 4\naa 2\naaa 1\naar 1\nar 2\nr 1\n");
}

/* ---- costs ---- */



struct search {
	const char *path;
	char here[TRACE_DEPTH + 1];
	struct slope_callers_node found;
	unsigned times;
};

static bool look(void *to, const struct slope_callers_node *node)
{
	struct search *s = to;

	s->here[node->depth] = node->function ? (char)('a' + node->function - 1) : 'r';
	s->here[node->depth + 1] = 0;
	if (!strcmp(s->here, s->path)) {
		s->found = *node;
		s->times++;
	}
	return true;
}

static struct slope_callers_node find(const struct slope_profile *p, const char *path)
{
	struct search s = { .path = path };
	struct slope_callers c;
	struct slope_callers_walk walk = { .function = trace_function(*path), .k = SLOPE_CALLERS_ALL, .visit = look, .to = &s };

	assert_true(slope_callers_init(&c, p, 0));
	assert_true(slope_callers_walk(&c, &walk));
	slope_callers_fini(&c);
	assert_int_equal(s.times, 1);
	return s.found;
}

/* a costs 10, 11 and 12 itself, one inside the other, and 13 alone. */
static void totals_count_a_recursion_once(void **state)
{
	struct slope_profile *tree = contexts_profile(0), *slabs = contexts_profile(2);

	(void)state;
	contexts_play(tree, "aaa)))a)", 0);
	contexts_play(slabs, "aaa)))a)", 0);
	assert_int_equal(find(tree, "a").self, 46);
	assert_int_equal(find(tree, "a").total, 46);
	assert_int_equal(find(tree, "ar").total, 46);
	assert_int_equal(find(tree, "aa").self, 23);
	assert_int_equal(find(tree, "aa").total, 23);    /* the third call is inside the second, which is along a, a too */
	assert_int_equal(find(tree, "aar").total, 23);
	assert_int_equal(find(tree, "aaa").total, 12);
	assert_int_equal(find(slabs, "a").self, 46);
	assert_int_equal(find(slabs, "a").total, 33 + 23 + 12 + 13);
	assert_int_equal(find(slabs, "aa").total, 23 + 12);
	slope_profile_free(tree);
	slope_profile_free(slabs);
}

static void threads_add_up(void **state)
{
	struct slope_profile *p = contexts_profile(0);

	(void)state;
	contexts_play(p, "ab))", 0);
	contexts_play(p, "bab)))", 1);
	assert_int_equal(find(p, "b").calls, 3);
	assert_int_equal(find(p, "ba").calls, 2);
	assert_int_equal(find(p, "bar").calls, 1);
	assert_int_equal(find(p, "bar").ended, 1);
	assert_int_equal(find(p, "ba").ended, 0);
	assert_int_equal(find(p, "r").calls, 2);
	slope_profile_free(p);
}

static void sites_are_told_apart_if_asked_for(void **state)
{
	struct slope_profile *p = contexts_profile(0);
	struct slope_callers c;
	struct lines merged = { .text = "" }, apart = { .text = "" };
	struct slope_callers_walk walk = { .function = trace_function('b'), .k = 1, .visit = put_line, .to = &merged };

	(void)state;
	contexts_play(p, "ab)b)c))", 0);
	p->site = calloc(2, sizeof(*p->site));
	p->site_count = 2;
	assert_int_equal(p->context_count, 4);           /* r a b c; c becomes a second b */
	p->context[3].function = trace_function('b');
	p->context[2].site = 0;
	p->context[3].site = 1;
	assert_true(slope_callers_init(&c, p, 0));
	assert_true(slope_callers_walk(&c, &walk));
	walk.sites = true;
	walk.to = &apart;
	assert_true(slope_callers_walk(&c, &walk));
	assert_string_equal(merged.text, "b 3\nba 3\n");
	assert_string_equal(apart.text, "b 3\nba 2\nba 1\n");
	slope_callers_fini(&c);
	slope_profile_free(p);
}

static void nothing_recorded(void **state)
{
	struct slope_profile *p = contexts_profile(0);
	char text[16];

	(void)state;
	put_forest(p, 3, text, sizeof(text));
	assert_string_equal(text, "");
	slope_profile_free(p);
}

/* ---- random traces ---- */

#define RANDOM_CALLS 1000000u
#define RANDOM_FUNCTIONS 7u      /* 3 bits each */
#define RANDOM_DEPTH 12u         /* levels, the root's among them */
#define TABLE (1u << 22)

/* What comes along one path of callers, counted one stack at a time. */
struct suffix {
	uint64_t path;               /* functions, 3 bits each, above a 1 */
	uint64_t calls, self, every, outermost;
};

struct truth {
	struct suffix *suffix;
	uint64_t count[RANDOM_DEPTH];        /* different ones of each length */
	uint64_t calls, self;
	struct grower tree, slabs[RANDOM_DEPTH + 2];
	uint32_t stack[RANDOM_DEPTH];
	uint64_t own[RANDOM_DEPTH], total[RANDOM_DEPTH];
	uint32_t depth;
};

static struct suffix *suffix_of(struct truth *t, uint64_t path, uint32_t length)
{
	uint64_t at = path * 0x9e3779b97f4a7c15u >> 42;

	while (t->suffix[at % TABLE].path && t->suffix[at % TABLE].path != path)
		at++;
	struct suffix *s = &t->suffix[at % TABLE];

	if (!s->path) {
		s->path = path;
		t->count[length]++;
	}
	return s;
}

/* How many callers of the topmost call are also those of an outer one of the same function; -1: there is none. */
static int inside(const struct truth *t)
{
	int most = -1;

	for (uint32_t outer = 0; outer + 1 < t->depth; outer++) {
		int same = -1;

		while (same + 1 <= (int)outer && t->stack[outer - (uint32_t)(same + 1)] == t->stack[t->depth - 1 - (uint32_t)(same + 1)])
			same++;
		if (same > most)
			most = same;
	}
	return most;
}

static void truth_enter(struct truth *t, uint32_t function, uint64_t self)
{
	uint64_t path = 1;

	t->stack[t->depth] = function;
	t->own[t->depth] = t->total[t->depth] = self;
	t->depth++;
	t->calls++;
	t->self += self;
	for (uint32_t q = 0; q < t->depth; q++) {
		path = path << 3 | t->stack[t->depth - 1 - q];
		struct suffix *s = suffix_of(t, path, q);

		s->calls++;
		s->self += self;
	}
	grower_enter(&t->tree, function);
	for (uint32_t k = 1; k < RANDOM_DEPTH + 2; k++)
		grower_enter(&t->slabs[k], function);
}

static void truth_leave(struct truth *t)
{
	uint64_t path = 1, total = t->total[t->depth - 1];
	int nested = inside(t);

	for (uint32_t q = 0; q < t->depth; q++) {
		path = path << 3 | t->stack[t->depth - 1 - q];
		struct suffix *s = suffix_of(t, path, q);

		s->every += total;
		if ((int)q > nested)
			s->outermost += total;
	}
	grower_leave(&t->tree, t->own[t->depth - 1], total);
	for (uint32_t k = 1; k < RANDOM_DEPTH + 2; k++)
		grower_leave(&t->slabs[k], t->own[t->depth - 1], total);
	if (--t->depth)
		t->total[t->depth - 1] += total;
}

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/* Each function calls three others; one of them may be itself, and none is the root. */
static void make_truth(struct truth *t, uint64_t seed)
{
	t->suffix = calloc(TABLE, sizeof(*t->suffix));
	assert_non_null(t->suffix);
	grower_init(&t->tree, 0, 0);
	for (uint32_t k = 1; k < RANDOM_DEPTH + 2; k++)
		grower_init(&t->slabs[k], k, 0);
	truth_enter(t, 0, 1);
	while (t->calls < RANDOM_CALLS) {
		uint32_t dice = next_random(&seed);

		if (t->depth < RANDOM_DEPTH && (t->depth == 1 || dice % 16 < 9)) {
			uint32_t caller = t->stack[t->depth - 1], nth = (dice >> 8) % 3;

			truth_enter(t, 1 + (caller * 2 + nth + nth / 2) % (RANDOM_FUNCTIONS - 1), dice >> 16 & 127);
		} else {
			truth_leave(t);
		}
	}
	while (t->depth)
		truth_leave(t);
}

struct comparison {
	struct truth *t;
	uint32_t k;                  /* the walk's */
	bool outermost;
	uint64_t path[RANDOM_DEPTH]; /* by depth: that of the node */
	uint64_t calls[RANDOM_DEPTH], below[RANDOM_DEPTH];   /* of the node, and of its children so far */
	uint32_t open;               /* depths of the above that hold */
	uint64_t count[RANDOM_DEPTH];
	uint64_t leaves;
};

/* What a node counts is what its children count, unless it has none. */
static void close_nodes(struct comparison *m, uint32_t to)
{
	while (m->open > to) {
		m->open--;
		if (m->below[m->open])
			assert_int_equal(m->below[m->open], m->calls[m->open]);
		else
			m->leaves += m->calls[m->open];
	}
}

static bool compare_node(void *to, const struct slope_callers_node *node)
{
	struct comparison *m = to;
	uint32_t q = node->depth;
	struct suffix *s;

	close_nodes(m, q);
	m->path[q] = (q ? m->path[q - 1] : 1) << 3 | node->function;
	m->calls[q] = node->calls;
	m->below[q] = 0;
	m->open = q + 1;
	if (q) {
		assert_true(node->calls <= m->calls[q - 1]);
		m->below[q - 1] += node->calls;
	}
	m->count[q]++;
	s = suffix_of(m->t, m->path[q], q);
	if (node->calls != s->calls || node->self != s->self || node->total != (m->outermost ? s->outermost : s->every))
		fail_msg("path %lo, k = %u: %lu calls, self %lu, total %lu, expected %lu, %lu, %lu", (unsigned long)m->path[q], m->k,
			 (unsigned long)node->calls, (unsigned long)node->self, (unsigned long)node->total, (unsigned long)s->calls,
			 (unsigned long)s->self, (unsigned long)(m->outermost ? s->outermost : s->every));
	return true;
}

static void compare_forest(struct truth *t, const struct slope_callers *c, uint32_t k)
{
	struct comparison m = { .t = t, .k = k, .outermost = c->outermost };
	struct slope_callers_walk walk = { .function = SLOPE_CALLERS_ALL, .k = k, .visit = compare_node, .to = &m };

	assert_int_equal(c->calls, t->calls);
	assert_int_equal(c->self, t->self);
	assert_true(slope_callers_walk(c, &walk));
	close_nodes(&m, 0);
	for (uint32_t q = 0; q < RANDOM_DEPTH; q++)
		assert_int_equal(m.count[q], q <= k ? t->count[q] : 0);
	assert_int_equal(m.leaves, t->calls);
}

static void compare_from(struct truth *t, struct grower *g, uint32_t k, uint32_t most)
{
	struct slope_profile *p = contexts_profile(k);
	struct slope_callers c;

	contexts_take(p, g);
	assert_true(slope_callers_init(&c, p, 0));
	for (uint32_t wanted = 0; wanted <= most; wanted++)
		compare_forest(t, &c, wanted);
	slope_callers_fini(&c);
	slope_profile_free(p);
}

/* Properties (a), (b) and (c) of the counters are asked on the way. */
static void random_traces(void **state)
{
	struct truth *t = calloc(1, sizeof(*t));

	(void)state;
	assert_non_null(t);
	make_truth(t, 1);
	assert_true(t->calls >= RANDOM_CALLS && t->count[RANDOM_DEPTH - 1] > 1000);
	compare_from(t, &t->tree, 0, RANDOM_DEPTH);
	for (uint32_t k = 1; k < RANDOM_DEPTH + 2; k++)
		compare_from(t, &t->slabs[k], k, k < RANDOM_DEPTH ? k : RANDOM_DEPTH - 1);
	free(t->suffix);
	free(t);
}

/* ---- memory ---- */

static bool go_on(void *to, const struct slope_callers_node *node)
{
	(void)node;
	++*(size_t *)to;
	return true;
}

static void memory_may_run_out(void **state)
{
	struct slope_profile *p = contexts_profile(0);
	size_t failures = 0, nodes = 0;
	bool good = false;

	(void)state;
	contexts_play(p, INTRODUCTION, 0);
	for (; !good; failures++) {
		struct slope_callers c;
		struct slope_callers_walk walk = { .function = SLOPE_CALLERS_ALL, .k = 9, .visit = go_on, .to = &nodes };

		nodes = 0;
		failing_after(failures);
		good = slope_callers_init(&c, p, 0);
		if (!good)
			assert_true(!c.place && !c.of && !c.first);
		if (good && !slope_callers_walk(&c, &walk)) {
			good = false;
			slope_callers_fini(&c);
		}
		failing_never();
		if (good)
			slope_callers_fini(&c);
	}
	assert_int_equal(failures, 1 + 6 + 6);   /* six tables of a profile, six of a walk */
	assert_int_equal(nodes, 29);
	slope_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vertices),
		cmocka_unit_test(edges),
		cmocka_unit_test(two_callers),
		cmocka_unit_test(three_callers),
		cmocka_unit_test(all_callers),
		cmocka_unit_test(running_example),
		cmocka_unit_test(recursion_is_a_longer_path),
		cmocka_unit_test(totals_count_a_recursion_once),
		cmocka_unit_test(threads_add_up),
		cmocka_unit_test(sites_are_told_apart_if_asked_for),
		cmocka_unit_test(nothing_recorded),
		cmocka_unit_test(random_traces),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
