/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/flow_sample.h"

/* Five places to go to, behind each other; each is a block of one instruction that returns. */
#define PLACES(x) #x "0: ret; " #x "1: ret; " #x "2: ret; " #x "3: ret; " #x "4: ret"
#define DISTANCES(x) "66: .long " #x "0 - 66b, " #x "1 - 66b, " #x "2 - 66b, " #x "3 - 66b"

/* The one switch of a function, to that many different places. */
static void expect_switch(const char *name, const char *start, const char *end, uint32_t targets, const char *first)
{
	struct sample s;
	uint32_t found = 0;

	sample_init(&s, ENDLESS);
	sample_make(&s, start, end);
	if (s.flow.unresolved)
		fail_msg("%s is not resolved", name);
	assert_int_equal(s.flow.switches, 1);
	assert_int_equal(s.flow.flags, 0);
	for (uint32_t n = 0; n < s.flow.blocks; n++) {
		if (s.flow.block[n].end != SLOPE_BLOCK_SWITCHES)
			continue;
		found++;
		assert_int_equal(sample_edges(&s, n), targets);
		for (uint32_t k = 0; k < targets; k++) {
			assert_int_equal(sample_edge(&s, n, k)->way, SLOPE_WAY_TABLE);
			assert_int_equal(sample_edge(&s, n, k)->target, (uint64_t)first + k);
			assert_int_equal(sample_edge(&s, n, k)->weight, 0);
			assert_false(sample_edge(&s, n, k)->cut);
		}
	}
	assert_int_equal(found, 1);
	sample_fini(&s);
}

#define EXPECT(name, targets) \
	do { \
		extern const char name##_0[]; \
		expect_switch(#name, name, name##_end, targets, name##_0); \
	} while (0)

/* Behind each table comes another one, which would be taken for its rest. */
TABLE(pic_table, DISTANCES(pic_) "\n" DISTANCES(pic_));
FUNCTION(pic, "cmp $3, %edi; ja pic_4; mov %edi, %edi; lea pic_table(%rip), %rdx; movslq (%rdx,%rdi,4), %rax; add %rdx, %rax;"
	      "notrack jmp *%rax;" PLACES(pic_));

TABLE(absolute_table, ".quad absolute_0, absolute_1, absolute_2, absolute_0, absolute_3, absolute_4");
FUNCTION(absolute, "sub $10, %edi; cmp $3, %edi; ja absolute_4; mov %edi, %eax; jmp *absolute_table(,%rax,8);" PLACES(absolute_));

TABLE(narrow_table, DISTANCES(narrow_) "\n" DISTANCES(narrow_));
FUNCTION(narrow, "lea -0x61(%rsi), %edx; cmp $3, %dl; ja narrow_4; movzbl %dl, %edx; lea narrow_table(%rip), %rcx;"
		 "movslq (%rcx,%rdx,4), %rdx; add %rcx, %rdx; jmp *%rdx;" PLACES(narrow_));

TABLE(hoisted_table, DISTANCES(hoisted_) "\n" DISTANCES(hoisted_));
FUNCTION(hoisted, "lea hoisted_table(%rip), %rbx; 1: call other_one; cmp $3, %eax; jle 2f; jmp hoisted_4; 2: cltq;"
		  "movslq (%rbx,%rax,4), %rax; add %rbx, %rax; jmp *%rax; 3: jmp 1b; hoisted_0: nop; hoisted_1: nop; hoisted_2: nop;"
		  "hoisted_3: jmp 1b; hoisted_4: ret");
FUNCTION(other_one, "ret");

TABLE(masked_table, ".quad masked_0, masked_1, masked_2, masked_3, 1, 1, masked_4, masked_4");
FUNCTION(masked, "lea masked_table(%rip), %r15; and $3, %eax; jmp *(%r15,%rax,8);" PLACES(masked_));

/* As a compiler without optimisation has it: index and sum on their own, everything in memory. */
TABLE(slow_table, DISTANCES(slow_) "\n" DISTANCES(slow_));
FUNCTION(slow, "mov %edi, -20(%rbp); cmpl $3, -20(%rbp); ja slow_4; mov -20(%rbp), %eax; lea 0(,%rax,4), %rdx;"
	       "lea slow_table(%rip), %rax; mov (%rdx,%rax), %eax; cltq; lea slow_table(%rip), %rdx; add %rdx, %rax; jmp *%rax;"
	       PLACES(slow_));

TABLE(bytes_table, ".byte 0, 1, 2, 3, 77");
FUNCTION(bytes, "cmp $4, %edi; jae bytes_4; mov %edi, %eax; lea bytes_table(%rip), %rdx; movzbl (%rdx,%rax), %eax;"
		"lea bytes_0(%rip), %rdx; add %rdx, %rax; jmp *%rax;" PLACES(bytes_));

/* The bound is on what the index was made of. */
TABLE(alias_table, ".quad alias_0, alias_1, alias_2, alias_3, alias_4");
FUNCTION(alias, "lea -1(%rdi), %edx; cmp $3, %edx; ja alias_4; jmp *alias_table - 8(,%rdi,8);" PLACES(alias_));

TABLE(spilled_table, DISTANCES(spilled_) "\n" DISTANCES(spilled_));
FUNCTION(spilled, "lea spilled_table(%rip), %rax; mov %rax, 24(%rsp); call other_one; cmp $3, %eax; ja spilled_4;"
		  "mov 24(%rsp), %rdx; movslq (%rdx,%rax,4), %rax; add 24(%rsp), %rax; jmp *%rax;" PLACES(spilled_));

/* Two ways make the target, one jump takes it. */
TABLE(merged_table, ".quad merged_0, merged_1");
TABLE(merged_other, ".quad merged_2, merged_3, merged_4");
FUNCTION(merged, "test %esi, %esi; je 1f; cmp $1, %edi; ja merged_4; mov merged_table(,%rdi,8), %rax; jmp 2f;"
		 "1: cmp $1, %edi; ja merged_4; mov merged_other(,%rdi,8), %rax; 2: jmp *%rax;" PLACES(merged_));

static void switches_of_compilers_are_resolved(void **state)
{
	(void)state;
	EXPECT(pic, 4);
	EXPECT(absolute, 3);
	EXPECT(narrow, 4);
	EXPECT(hoisted, 4);
	EXPECT(masked, 4);
	EXPECT(slow, 4);
	EXPECT(bytes, 4);
	EXPECT(alias, 4);
	EXPECT(spilled, 4);
	EXPECT(merged, 4);
}

TABLE(open_table, ".quad open_0, open_1, open_2, open_3, other_one, open_4");
FUNCTION(open, "movzbl (%rdi), %eax; jmp *open_table(,%rax,8);" PLACES(open_));
TABLE(marked_table, DISTANCES(marked_));
TABLE(marked_next, DISTANCES(marked_));
FUNCTION(marked, "lea marked_next(%rip), %rcx; lea marked_table(%rip), %rdx; movslq (%rdx,%rdi,4), %rax; add %rdx, %rax; jmp *%rax;"
		 PLACES(marked_));
TABLE(middle_table, ".quad middle_0, middle_1, middle - 1 + 3, middle_2");
FUNCTION(middle, "jmp *middle_table(,%rax,8);" PLACES(middle_));

static void tables_without_bounds_end_where_entries_make_no_sense(void **state)
{
	(void)state;
	EXPECT(open, 4);
	EXPECT(marked, 4);
	EXPECT(middle, 2);
}

FUNCTION(anywhere, "push %rbx; test %edi, %edi; je 1f; jmp *%rax; 1: jmp *8(%rdi)");
FUNCTION(leaves, "push %rbp; mov %rsp, %rbp; push %rbx; sub $24, %rsp; and $-32, %rsp; test %edi, %edi; je 1f;"
		 "leave; jmp *%rax; 1: lea -8(%rbp), %rsp; pop %rbx; pop %rbp; jmp *8(%rdi)");
TABLE(outside_table, ".quad other_one, other_one");
FUNCTION(outside, "push %rax; and $1, %eax; jmp *outside_table(,%rax,8)");

static void what_cannot_be_told_is_said(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, anywhere, anywhere_end);
	assert_int_equal(s.flow.blocks, 3);
	assert_int_equal(s.flow.unresolved, 2);
	assert_int_equal(s.flow.flags, SLOPE_GRAPH_UNRESOLVED);
	for (uint32_t n = 1; n < 3; n++) {
		assert_int_equal(sample_block(&s, n)->end, SLOPE_BLOCK_JUMPS_ANYWHERE);
		assert_int_equal(sample_edges(&s, n), 1);
		assert_int_equal(sample_edge(&s, n, 0)->way, SLOPE_WAY_ELSEWHERE);
		assert_int_equal(sample_edge(&s, n, 0)->to, SLOPE_PATH_OUT);
		assert_int_equal(sample_edge(&s, n, 0)->target, 0);
	}
	sample_make(&s, outside, outside_end);
	assert_int_equal(s.flow.unresolved, 1);
	sample_fini(&s);
}

static void with_the_stack_of_the_entry_a_jump_is_a_tail_call(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, leaves, leaves_end);
	assert_int_equal(s.flow.blocks, 3);
	assert_int_equal(s.flow.tail_calls, 2);
	assert_int_equal(s.flow.unresolved, 0);
	assert_int_equal(s.flow.flags, 0);
	for (uint32_t n = 1; n < 3; n++) {
		assert_int_equal(sample_block(&s, n)->end, SLOPE_BLOCK_TAIL_CALLS);
		assert_int_equal(sample_edges(&s, n), 1);
		assert_int_equal(sample_edge(&s, n, 0)->way, SLOPE_WAY_TAIL);
		assert_int_equal(sample_edge(&s, n, 0)->target, 0);
	}
	sample_fini(&s);
}

/* A part that was moved away may look like another function. */
TABLE(partly_table, ".quad partly_0, other_one, other_one, partly_1");
FUNCTION(partly, "cmp $3, %edi; ja other_one; mov %edi, %eax; jmp *partly_table(,%rax,8);" PLACES(partly_));

static void a_bounded_table_may_lead_out(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, partly, partly_end);
	assert_int_equal(s.flow.switches, 1);
	assert_int_equal(sample_edges(&s, 1), 3);
	assert_int_equal(sample_edge(&s, 1, 0)->way, SLOPE_WAY_TABLE);
	assert_int_equal(sample_edge(&s, 1, 1)->way, SLOPE_WAY_TAIL);
	assert_int_equal(sample_edge(&s, 1, 1)->target, (uint64_t)other_one);
	assert_int_equal(sample_edge(&s, 1, 2)->way, SLOPE_WAY_TABLE);
	sample_fini(&s);
}

/* An interpreter: every operation goes to the next one by itself. */
TABLE(threaded_table, ".quad threaded_0, threaded_1, threaded_2, 0");
#define DISPATCH "movzbl (%rsi), %eax; inc %rsi; jmp *(%rbx,%rax,8);"
FUNCTION(threaded, "lea threaded_table(%rip), %rbx;" DISPATCH "threaded_0: inc %ecx;" DISPATCH "threaded_1: dec %ecx;" DISPATCH
		   "threaded_2: ret");

static void dispatches_of_an_interpreter_are_cut(void **state)
{
	struct sample s;
	struct slope_graphs graphs = { 0 };
	struct slope_graph made, *g;
	uint32_t cut = 0;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, threaded, threaded_end);
	assert_int_equal(s.flow.switches, 3);
	assert_int_equal(s.flow.blocks, 4);
	for (uint32_t n = 0; n < s.flow.edges; n++)
		cut += s.flow.edge[n].cut;
	/* Those of the first one are not: nothing comes back to it. */
	assert_int_equal(cut, 6);
	assert_false(sample_edge(&s, 0, 0)->cut);
	graphs.arena = &s.arena;
	assert_true(flow_graph(&s.flow, &s.arena, 0, &made));
	assert_non_null(g = slope_graphs_add(&graphs, &made, SLOPE_PATH_LIMIT));
	/* From the entry 3 + 3 + 1, and behind a cut edge 3 + 3 + 1. */
	assert_int_equal(g->paths.regular, 14);
	sample_fini(&s);
}

/* hoisted: the one switch of a loop; its paths end at the loop's own edge. */
static void a_single_switch_in_a_loop_is_not_cut(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, hoisted, hoisted_end);
	assert_int_equal(s.flow.switches, 1);
	for (uint32_t n = 0; n < s.flow.edges; n++)
		assert_false(s.flow.edge[n].cut);
	sample_fini(&s);
}

static void without_memory_nothing_is_resolved(void **state)
{
	bool made = false;

	(void)state;
	for (size_t pages = 0; !made; pages++) {
		struct sample s;

		assert_in_range(pages, 0, 100);
		sample_init(&s, pages);
		s.start = (uint64_t)threaded;
		s.end = (uint64_t)threaded_end;
		made = flow_make(&s.flow, &s.arena, &s.source, s.start);
		sample_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches_of_compilers_are_resolved),
		cmocka_unit_test(tables_without_bounds_end_where_entries_make_no_sense),
		cmocka_unit_test(what_cannot_be_told_is_said),
		cmocka_unit_test(with_the_stack_of_the_entry_a_jump_is_a_tail_call),
		cmocka_unit_test(a_bounded_table_may_lead_out),
		cmocka_unit_test(dispatches_of_an_interpreter_are_cut),
		cmocka_unit_test(a_single_switch_in_a_loop_is_not_cut),
		cmocka_unit_test(without_memory_nothing_is_resolved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
