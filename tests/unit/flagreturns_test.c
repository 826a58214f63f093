/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls behind which code begins with a use of flags: which of them may bring flags back? */
#include "sources/translator/runtime.h"
#include "sources/translator/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct runtime runtime;

static struct outlines outlines;
static ZydisDecoder zydis;

/* Each call_... is one call. What is below `foreign` is another module's. */
__asm__(".text\n"
	"here:\n"
	"compares: cmp %rsi, %rdi; ret\n"
	"stops: call aborts; ret\n"
	"aborts: cmp $1, %rdi; je 1f; call spins; 1: call stops_too; hlt\n"
	"stops_too: ud2\n"
	"spins: test %rdi, %rdi; jne spins; jmp spins\n"
	"behind_branch: test %rdi, %rdi; js 2f; call stops_too; 2: cmp $5, %rdi; ret\n"
	"recursive: dec %rdi; jz 3f; call recursive; 3: jmp aborts\n"
	"unknown: jmp *%rdi\n"
	"call_compares: call compares\n"
	"call_stops: call stops\n"
	"call_aborts: call aborts\n"
	"call_behind_branch: call behind_branch\n"
	"call_recursive: call recursive\n"
	"call_unknown: call unknown\n"
	"call_register: call *%rax\n"
	"call_slot: call *abort_slot(%rip)\n"
	"call_compares_by_slot: call *compares_slot(%rip)\n"
	"call_empty_slot: call *empty_slot(%rip)\n"
	"call_stub: call stub\n"
	"call_own_stub: call own_stub\n"
	"call_long: call long\n"
	"stub: endbr64; bnd jmp *foreign_slot(%rip)\n"
	"own_stub: jmp *compares_slot(%rip)\n"
	"long: .rept 5000; inc %rax; .endr; ret\n"
	"foreign: cmp %rsi, %rdi; ret\n"
	"the_end:\n"
	".data\n"
	"abort_slot: .quad aborts\n"
	"compares_slot: .quad compares\n"
	"foreign_slot: .quad foreign\n"
	"empty_slot: .quad 0\n"
	".text\n");

extern char here[], foreign[], the_end[], call_compares[], call_stops[], call_aborts[], call_behind_branch[], call_recursive[],
	call_unknown[], call_register[], call_slot[], call_compares_by_slot[], call_empty_slot[], call_stub[], call_own_stub[],
	call_long[];

/* ---- what the runtime says of it ---- */

size_t effects_ahead(uint64_t pc)
{
	return pc >= (uint64_t)here && pc < (uint64_t)the_end ? TRACE_INSTRUCTION_BYTES : 0;
}

static bool decode(void *data, const void *code, size_t bytes, ZydisDecodedInstruction *i)
{
	(void)data;
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&zydis, NULL, code, bytes, i));
}

bool effects_outline(const void *code, size_t bytes, struct outline *o)
{
	return outline_find(&outlines, code, bytes, decode, NULL, o);
}

bool space_allows(struct space *s, uint64_t start, uint64_t bytes, int prot)
{
	(void)s;
	(void)bytes;
	(void)prot;
	return start != 0;
}

struct space_region *space_at(struct space *s, uint64_t address)
{
	static struct space_region own = { .path = "own" }, other = { .path = "other" };

	(void)s;
	return address < (uint64_t)foreign ? &own : &other;
}

bool system_same(const char *a, const char *b)
{
	return !strcmp(a, b);
}

/* ---- */

static bool may(const char *code)
{
	struct step call = { .pc = (uint64_t)code };

	if (!zydis.machine_mode)
		assert_true(ZYAN_SUCCESS(ZydisDecoderInit(&zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
	assert_true(decode(NULL, code, TRACE_INSTRUCTION_BYTES, &call.i));
	call.next = call.pc + call.i.length;
	return flagreturns_may(&call);
}

static void functions_that_return_may_bring_flags(void **state)
{
	(void)state;
	assert_true(may(call_compares));
	assert_true(may(call_behind_branch));
	assert_true(may(call_compares_by_slot));
	assert_true(may(call_own_stub));
}

static void functions_that_never_return_bring_none(void **state)
{
	(void)state;
	assert_false(may(call_aborts));
	assert_false(may(call_stops));
	assert_false(may(call_slot));
}

static void functions_of_other_modules_keep_to_the_abi(void **state)
{
	(void)state;
	assert_false(may(call_stub));
}

static void in_doubt_flags_may_come(void **state)
{
	(void)state;
	assert_true(may(call_unknown));
	assert_true(may(call_register));
	assert_true(may(call_empty_slot));
	assert_true(may(call_long));
}

static void a_recursion_counts_as_a_function_that_returns(void **state)
{
	(void)state;
	/* It goes on behind the call of itself, and that ends. */
	assert_false(may(call_recursive));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_that_return_may_bring_flags),
		cmocka_unit_test(functions_that_never_return_bring_none),
		cmocka_unit_test(functions_of_other_modules_keep_to_the_abi),
		cmocka_unit_test(in_doubt_flags_may_come),
		cmocka_unit_test(a_recursion_counts_as_a_function_that_returns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
