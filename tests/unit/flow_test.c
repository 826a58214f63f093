/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/flow_sample.h"

/* One edge of a block: which way, where to. */
#define EDGE(s, block, number, its_way, its_to) \
	do { \
		assert_int_equal(sample_edge(s, block, number)->way, its_way); \
		assert_int_equal(sample_edge(s, block, number)->to, its_to); \
	} while (0)

FUNCTION(other, "ret");
FUNCTION(never, "ud2");
FUNCTION(diamond, "test %edi, %edi; je 1f; add $1, %eax; jmp 2f; 1: sub $1, %eax; 2: ret");

static void a_diamond_has_four_blocks(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, diamond, diamond_end);
	assert_int_equal(s.flow.blocks, 4);
	assert_int_equal(s.flow.edges, 5);
	assert_int_equal(s.flow.instructions, 6);
	assert_int_equal(s.flow.flags, 0);
	assert_int_equal(s.decoded, 6);
	assert_int_equal(sample_block(&s, 0)->end, SLOPE_BLOCK_BRANCHES);
	EDGE(&s, 0, 0, SLOPE_WAY_NEXT, 1);
	EDGE(&s, 0, 1, SLOPE_WAY_TAKEN, 2);
	assert_int_equal(sample_block(&s, 1)->end, SLOPE_BLOCK_JUMPS);
	EDGE(&s, 1, 0, SLOPE_WAY_TAKEN, 3);
	assert_int_equal(sample_block(&s, 2)->end, SLOPE_BLOCK_FALLS);
	EDGE(&s, 2, 0, SLOPE_WAY_NEXT, 3);
	assert_int_equal(sample_block(&s, 3)->end, SLOPE_BLOCK_RETURNS);
	EDGE(&s, 3, 0, SLOPE_WAY_RETURN, SLOPE_PATH_OUT);
	assert_int_equal(sample_block(&s, 3)->bytes, 1);
	assert_int_equal(sample_block(&s, 3)->last, (uint64_t)diamond_end - 1);
	sample_fini(&s);
}

static void addresses_find_their_blocks(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, diamond, diamond_end);
	for (uint32_t n = 0; n < s.flow.blocks; n++)
		for (uint32_t k = 0; k < s.flow.block[n].bytes; k++)
			assert_int_equal(flow_block_at(&s.flow, s.flow.block[n].start + k), n);
	assert_int_equal(flow_block_at(&s.flow, (uint64_t)diamond - 1), FLOW_NO_BLOCK);
	assert_int_equal(flow_block_at(&s.flow, (uint64_t)diamond_end), FLOW_NO_BLOCK);
	sample_fini(&s);
}

FUNCTION(jumps_back, "1: nop; 2: dec %edi; jne 2b; test %esi, %esi; jne 1b; jmp jumps_back");

static void a_jump_to_the_entry_is_a_loop(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, jumps_back, jumps_back_end);
	assert_int_equal(s.flow.blocks, 4);
	EDGE(&s, 1, 1, SLOPE_WAY_TAKEN, 1);
	EDGE(&s, 2, 1, SLOPE_WAY_TAKEN, 0);
	EDGE(&s, 3, 0, SLOPE_WAY_TAKEN, 0);
	assert_int_equal(sample_block(&s, 3)->end, SLOPE_BLOCK_JUMPS);
	/* The inner loop's edge is taken more often than the outer one's. */
	assert_true(sample_edge(&s, 1, 1)->weight > sample_edge(&s, 2, 1)->weight);
	sample_fini(&s);
}

TABLE(slot_of_never, ".quad never");
FUNCTION(calls, "call other; call *%rax; call *8(%rdi); call *slot_of_other(%rip); call never");
FUNCTION(calls_by_slot, "call *slot_of_never(%rip); ret");
TABLE(slot_of_other, ".quad other");

static void calls_end_blocks(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	s.never = (uint64_t)never;
	sample_make(&s, calls, calls_end);
	assert_int_equal(s.flow.blocks, 5);
	for (uint32_t n = 0; n < 4; n++) {
		assert_int_equal(sample_block(&s, n)->end, SLOPE_BLOCK_CALLS);
		assert_int_equal(sample_edges(&s, n), 1);
		EDGE(&s, n, 0, SLOPE_WAY_NEXT, n + 1);
	}
	assert_int_equal(sample_block(&s, 4)->end, SLOPE_BLOCK_STOPS);
	EDGE(&s, 4, 0, SLOPE_WAY_NOWHERE, SLOPE_PATH_OUT);
	sample_make(&s, calls_by_slot, calls_by_slot_end);
	assert_int_equal(s.flow.blocks, 1);
	assert_int_equal(sample_block(&s, 0)->end, SLOPE_BLOCK_STOPS);
	sample_fini(&s);
}

FUNCTION(traps, "test %edi, %edi; je 1f; jl 2f; jg 3f; ud2; 1: hlt; 2: int3; 3: ret");

static void traps_stop(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, traps, traps_end);
	assert_int_equal(s.flow.blocks, 7);
	for (uint32_t n = 3; n < 6; n++) {
		assert_int_equal(sample_block(&s, n)->end, SLOPE_BLOCK_STOPS);
		EDGE(&s, n, 0, SLOPE_WAY_NOWHERE, SLOPE_PATH_OUT);
		assert_int_equal(sample_block(&s, n)->instructions, 1);
	}
	sample_fini(&s);
}

FUNCTION(tails, "test %edi, %edi; je other; jl 1f; jmp other; 1: nop");
FUNCTION(behind_tails, "ret");

static void other_functions_are_left_for(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, tails, tails_end);
	assert_int_equal(s.flow.blocks, 4);
	EDGE(&s, 0, 1, SLOPE_WAY_TAIL, SLOPE_PATH_OUT);
	assert_int_equal(sample_edge(&s, 0, 1)->target, (uint64_t)other);
	assert_int_equal(sample_block(&s, 0)->end, SLOPE_BLOCK_BRANCHES);
	assert_int_equal(sample_block(&s, 2)->end, SLOPE_BLOCK_TAIL_CALLS);
	EDGE(&s, 2, 0, SLOPE_WAY_TAIL, SLOPE_PATH_OUT);
	/* Into the next one. */
	assert_int_equal(sample_block(&s, 3)->end, SLOPE_BLOCK_FALLS);
	EDGE(&s, 3, 0, SLOPE_WAY_TAIL, SLOPE_PATH_OUT);
	assert_int_equal(sample_edge(&s, 3, 0)->target, (uint64_t)behind_tails);
	sample_fini(&s);
}

static void another_graph_is_elsewhere(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	s.taken = (uint64_t)diamond_end - 1;
	s.taken_end = (uint64_t)diamond_end;
	sample_make(&s, diamond, diamond_end);
	assert_int_equal(s.flow.blocks, 3);
	EDGE(&s, 1, 0, SLOPE_WAY_ELSEWHERE, SLOPE_PATH_OUT);
	EDGE(&s, 2, 0, SLOPE_WAY_ELSEWHERE, SLOPE_PATH_OUT);
	assert_int_equal(sample_edge(&s, 2, 0)->target, s.taken);
	sample_fini(&s);
}

FUNCTION(broken, "test %edi, %edi; je 1f; jl 16; nop; .byte 0x06; 1: nop; .byte 0x06");

static void what_is_no_code_is_nowhere(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, broken, broken_end);
	assert_int_equal(s.flow.blocks, 4);
	EDGE(&s, 1, 1, SLOPE_WAY_NOWHERE, SLOPE_PATH_OUT);
	for (uint32_t n = 2; n < 4; n++) {
		assert_int_equal(sample_block(&s, n)->end, SLOPE_BLOCK_STOPS);
		EDGE(&s, n, 0, SLOPE_WAY_NOWHERE, SLOPE_PATH_OUT);
	}
	assert_true(s.flow.flags & SLOPE_GRAPH_SHORT);
	s.start = s.end = 0;
	assert_false(flow_make(&s.flow, &s.arena, &s.source, (uint64_t)broken_end - 1));
	sample_fini(&s);
}

FUNCTION(ordinary, "rep movsb; repne scasb; int $0x80; pause; ret");
FUNCTION(system_call, "mov $1, %eax; syscall; ret");
FUNCTION(odd_branches, "1: jrcxz 2f; loop 1b; 2: xbegin 3f; xend; 3: ret");

static void some_instructions_are_ordinary_and_some_branch(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, ordinary, ordinary_end);
	assert_int_equal(s.flow.blocks, 1);
	assert_int_equal(sample_block(&s, 0)->instructions, 5);
	/* Threads begin behind system calls. */
	sample_make(&s, system_call, system_call_end);
	assert_int_equal(s.flow.blocks, 2);
	assert_int_equal(sample_block(&s, 0)->end, SLOPE_BLOCK_FALLS);
	EDGE(&s, 0, 0, SLOPE_WAY_NEXT, 1);
	sample_make(&s, odd_branches, odd_branches_end);
	assert_int_equal(s.flow.blocks, 5);
	EDGE(&s, 0, 1, SLOPE_WAY_TAKEN, 2);
	EDGE(&s, 1, 1, SLOPE_WAY_TAKEN, 0);
	EDGE(&s, 2, 0, SLOPE_WAY_NEXT, 3);
	EDGE(&s, 2, 1, SLOPE_WAY_TAKEN, 4);
	sample_fini(&s);
}

FUNCTION(skips_prefix, "test %edi, %edi; je 1f; .byte 0xf0; 1: addl $1, (%rsi); nop; ret");

static void instructions_may_overlap(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, skips_prefix, skips_prefix_end);
	assert_int_equal(s.flow.blocks, 4);
	/* With the prefix, and without; both go on behind. */
	assert_int_equal(sample_block(&s, 1)->start + 1, sample_block(&s, 2)->start);
	EDGE(&s, 1, 0, SLOPE_WAY_NEXT, 3);
	EDGE(&s, 2, 0, SLOPE_WAY_NEXT, 3);
	for (uint32_t n = 0; n < 4; n++)
		assert_int_equal(flow_block_at(&s.flow, sample_block(&s, n)->start), n);
	assert_int_equal(sample_block(&s, 3)->instructions, 2);
	sample_fini(&s);
}

FUNCTION(cold_part, "1: inc %eax; jmp back_from_cold");
FUNCTION(has_cold_part, "test %edi, %edi; js cold_part; back_from_cold: ret");

static void parts_may_lie_before_the_entry(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	s.cold = (uint64_t)cold_part;
	s.cold_end = (uint64_t)cold_part_end;
	sample_make(&s, has_cold_part, has_cold_part_end);
	assert_int_equal(s.flow.blocks, 3);
	assert_int_equal(s.flow.before, 1);
	assert_int_equal(sample_block(&s, 0)->start, (uint64_t)has_cold_part);
	assert_int_equal(sample_block(&s, 1)->start, (uint64_t)cold_part);
	EDGE(&s, 0, 0, SLOPE_WAY_NEXT, 2);
	EDGE(&s, 0, 1, SLOPE_WAY_TAKEN, 1);
	EDGE(&s, 1, 0, SLOPE_WAY_TAKEN, 2);
	for (uint32_t n = 0; n < 3; n++)
		assert_int_equal(flow_block_at(&s.flow, sample_block(&s, n)->last), n);
	sample_fini(&s);
}

FUNCTION(endless, ".rept 70000; nop; .endr; ret");

static void what_is_too_long_is_left(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, endless, endless_end);
	assert_int_equal(s.flow.instructions, FLOW_INSTRUCTIONS_MAX);
	assert_int_equal(s.flow.flags, SLOPE_GRAPH_SHORT);
	assert_int_equal(s.flow.blocks, 1);
	EDGE(&s, 0, 0, SLOPE_WAY_ELSEWHERE, SLOPE_PATH_OUT);
	assert_int_equal(sample_edge(&s, 0, 0)->target, (uint64_t)endless + FLOW_INSTRUCTIONS_MAX);
	sample_fini(&s);
}

static void a_graph_for_the_core(void **state)
{
	struct sample s;
	struct slope_graph made, *g;
	struct slope_graphs graphs = { 0 };

	(void)state;
	sample_init(&s, ENDLESS);
	sample_make(&s, diamond, diamond_end);
	assert_true(flow_graph(&s.flow, &s.arena, (uint64_t)diamond - 0x40, &made));
	assert_int_equal(made.block[0].address, 0x40);
	assert_int_equal(made.block[3].end, SLOPE_BLOCK_RETURNS);
	assert_int_equal(made.way[4], SLOPE_WAY_RETURN);
	graphs.arena = &s.arena;
	g = slope_graphs_add(&graphs, &made, SLOPE_PATH_LIMIT);
	assert_non_null(g);
	assert_int_equal(g->paths.regular, 2);
	sample_fini(&s);
}

static void names_of_what_never_returns(void **state)
{
	(void)state;
	assert_true(flow_never_returns("exit"));
	assert_true(flow_never_returns("exit@GLIBC_2.2.5"));
	assert_true(flow_never_returns("__stack_chk_fail"));
	assert_true(flow_never_returns("_ZSt17__throw_bad_allocv"));
	assert_false(flow_never_returns("exits"));
	assert_false(flow_never_returns("atexit"));
	assert_false(flow_never_returns("exi"));
	assert_false(flow_never_returns(""));
}

static void without_memory_nothing_is_made(void **state)
{
	bool made = false;

	(void)state;
	for (size_t pages = 0; !made; pages++) {
		struct sample s;

		assert_in_range(pages, 0, 1000);
		sample_init(&s, pages);
		s.start = (uint64_t)endless;
		s.end = (uint64_t)endless_end;
		made = flow_make(&s.flow, &s.arena, &s.source, s.start);
		assert_true(made || !s.flow.block);
		sample_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_diamond_has_four_blocks),
		cmocka_unit_test(addresses_find_their_blocks),
		cmocka_unit_test(a_jump_to_the_entry_is_a_loop),
		cmocka_unit_test(calls_end_blocks),
		cmocka_unit_test(traps_stop),
		cmocka_unit_test(other_functions_are_left_for),
		cmocka_unit_test(another_graph_is_elsewhere),
		cmocka_unit_test(what_is_no_code_is_nowhere),
		cmocka_unit_test(some_instructions_are_ordinary_and_some_branch),
		cmocka_unit_test(instructions_may_overlap),
		cmocka_unit_test(parts_may_lie_before_the_entry),
		cmocka_unit_test(what_is_too_long_is_left),
		cmocka_unit_test(a_graph_for_the_core),
		cmocka_unit_test(names_of_what_never_returns),
		cmocka_unit_test(without_memory_nothing_is_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
