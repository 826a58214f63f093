/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <link.h>

#include "sources/translator/framerange.h"
#include "tests/unit/scarce.h"

/* Two functions, one with data of its own for the unwinder, and a piece of one. */
extern const char plain_code[], plain_code_end[], moved_code[], moved_code_end[], with_data[], with_data_end[];

__asm__(".text\n"
	"plain_code: .cfi_startproc; push %rbx; .cfi_def_cfa_offset 16; pop %rbx; .cfi_def_cfa_offset 8; ret; .cfi_endproc\n"
	"plain_code_end:\n"
	".balign 16\n"
	"moved_code: .cfi_startproc; .cfi_def_cfa_offset 32; nop; ud2; .cfi_endproc; moved_code_end:\n"
	"with_data: .cfi_startproc; .cfi_personality 0x1b, plain_code; .cfi_lsda 0x1b, lsda; nop; ret; .cfi_endproc; with_data_end:\n"
	".section .rodata; lsda: .long 0; .text\n");

/* This program's own table, and the rest of the segment that it is in. */
struct found {
	uint64_t head, low, high;
};

static int find(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct found *f = data;

	(void)bytes;
	for (unsigned n = 0; n < info->dlpi_phnum; n++)
		if (info->dlpi_phdr[n].p_type == PT_GNU_EH_FRAME)
			f->head = info->dlpi_addr + info->dlpi_phdr[n].p_vaddr;
	for (unsigned n = 0; n < info->dlpi_phnum; n++) {
		uint64_t low = info->dlpi_addr + info->dlpi_phdr[n].p_vaddr;

		if (info->dlpi_phdr[n].p_type == PT_LOAD && f->head >= low && f->head < low + info->dlpi_phdr[n].p_filesz) {
			f->low = f->head;        /* .eh_frame lies behind its head */
			f->high = low + info->dlpi_phdr[n].p_filesz;
		}
	}
	return 1;        /* the first one is the program itself */
}

static struct found own(void)
{
	struct found f = { 0 };

	dl_iterate_phdr(find, &f);
	assert_true(f.high > f.low);
	return f;
}

static void expect(const struct framerange_table *t, const char *start, const char *end, bool late)
{
	for (const char *pc = start; pc < end; pc++) {
		struct framerange r;

		assert_true(framerange_around(t, (uint64_t)pc, &r));
		assert_int_equal(r.start, (uint64_t)start);
		assert_int_equal(r.end, (uint64_t)end);
		assert_int_equal(r.late, late);
	}
}

static void functions_and_pieces_are_found(void **state)
{
	struct found f = own();
	struct framerange_table t;
	struct framerange r;

	(void)state;
	assert_true(framerange_open(&t, (const void *)f.low, f.low, f.high, f.head));
	expect(&t, plain_code, plain_code_end, false);
	expect(&t, moved_code, moved_code_end, true);
	expect(&t, with_data, with_data_end, false);
	assert_true(framerange_around(&t, (uint64_t)functions_and_pieces_are_found, &r));
	assert_int_equal(r.start, (uint64_t)functions_and_pieces_are_found);
	assert_false(framerange_around(&t, (uint64_t)plain_code_end, &r));
	assert_false(framerange_around(&t, f.head, &r));
	assert_false(framerange_around(&t, 0, &r));
	assert_false(framerange_around(&t, UINT64_MAX, &r));
	assert_false(framerange_at(&t, t.count, &r));
}

static void entries_are_in_order(void **state)
{
	struct found f = own();
	struct framerange_table t;
	struct framerange r, before = { 0 };

	(void)state;
	assert_true(framerange_open(&t, (const void *)f.low, f.low, f.high, f.head));
	for (uint32_t n = 0; n < t.count; n++) {
		assert_true(framerange_at(&t, n, &r));
		assert_true(r.start >= before.end && r.end > r.start);
		before = r;
	}
}

static void memory_that_ends_early_is_no_harm(void **state)
{
	struct found f = own();
	struct framerange_table t;
	struct framerange r;

	(void)state;
	for (uint64_t high = f.high; high > f.head; high -= (f.high - f.head) / 97 + 1) {
		uint64_t bytes = high - f.low;
		unsigned char *copy = malloc(bytes);

		assert_non_null(copy);
		memcpy(copy, (const void *)f.low, bytes);
		if (framerange_open(&t, copy, f.low, high, f.head))
			for (uint32_t n = 0; n < t.count; n++)
				framerange_at(&t, n, &r);
		free(copy);
	}
	assert_false(framerange_open(&t, (const void *)f.low, f.low, f.high, f.high));
	assert_false(framerange_open(&t, (const void *)f.low, f.low, f.high, f.low - 16));
}

/* Any byte may be any other one: nothing outside of the memory is read (sanitizers look), and it comes to an end. */
static void damage_is_no_harm(void **state)
{
	struct found f = own();
	uint64_t bytes = f.high - f.low, random = 1;
	unsigned char *copy = malloc(bytes);
	struct framerange_table t;
	struct framerange r;

	(void)state;
	assert_non_null(copy);
	for (unsigned round = 0; round < 300; round++) {
		memcpy(copy, (const void *)f.low, bytes);
		for (unsigned n = 0; n < 50; n++) {
			random = slope_mix64(random + n + 1);
			copy[f.head - f.low + random % (f.high - f.head)] = (unsigned char)(random >> 40);
		}
		if (!framerange_open(&t, copy, f.low, f.high, f.head))
			continue;
		for (uint32_t n = 0; n < t.count && n < 1000; n++)
			framerange_at(&t, n, &r);
		framerange_around(&t, (uint64_t)moved_code, &r);
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_and_pieces_are_found),
		cmocka_unit_test(entries_are_in_order),
		cmocka_unit_test(memory_that_ends_early_is_no_harm),
		cmocka_unit_test(damage_is_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
