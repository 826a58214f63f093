/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions in outline are what the decoder says of them: code that is, code that is made up, and bytes that are anything. */
#include "sources/translator/outline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROUNDS 400000u

struct fixture {
	ZydisDecoder zydis;
	struct outlines outlines;
	unsigned asked;
	uint64_t state;
};

static bool decode(void *data, const void *code, size_t bytes, ZydisDecodedInstruction *i)
{
	struct fixture *f = data;

	f->asked++;
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&f->zydis, NULL, code, bytes, i));
}

static struct fixture *new_fixture(void)
{
	struct fixture *f = calloc(1, sizeof *f);

	assert_non_null(f);
	assert_true(ZYAN_SUCCESS(ZydisDecoderInit(&f->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
	f->state = 12345;
	return f;
}

static uint8_t any_byte(struct fixture *f)
{
	f->state = f->state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint8_t)(f->state >> 56);
}

/* True: both say the same, or that there is none. */
static bool agrees(struct fixture *f, const uint8_t *code, size_t bytes)
{
	struct outline o = { 0 }, whole = { 0 };
	ZydisDecodedInstruction i;
	bool found = outline_find(&f->outlines, code, bytes, decode, f, &o);

	if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&f->zydis, NULL, code, bytes, &i)))
		whole = outline_of(&i);
	return found == (whole.length != 0) &&
	       (!found || (o.mnemonic == whole.mnemonic && o.category == whole.category && o.length == whole.length &&
			   o.opcode == whole.opcode && o.width == whole.width && o.relative == whole.relative &&
			   o.fixed == whole.fixed && o.distance == whole.distance));
}

static void one_of_a_shape_tells_of_all(void **state)
{
	/* mov with a displacement of one byte, of four, relative to rip, with an index, and between registers */
	static const uint8_t code[][16] = {
		{ 0x48, 0x8b, 0x43, 0x08 }, { 0x48, 0x8b, 0x87, 1, 2, 3, 4 }, { 0x48, 0x8b, 0x05, 0xf0, 0xff, 0xff, 0xff },
		{ 0x48, 0x8b, 0x04, 0xca }, { 0x48, 0x8b, 0x04, 0x25, 1, 2, 3, 4 },
	};
	static const uint8_t length[] = { 4, 7, 7, 4, 8 };
	struct fixture *f = new_fixture();
	struct outline o;

	(void)state;
	for (unsigned n = 0; n < 5; n++) {
		assert_true(outline_find(&f->outlines, code[n], 15, decode, f, &o));
		assert_int_equal(o.length, length[n]);
		assert_int_equal(o.fixed, n == 2);
		assert_int_equal(o.distance, n == 2 ? -16 : 0);
		assert_int_equal(f->asked, 1);
	}
	free(f);
}

static void where_branches_go_is_their_own(void **state)
{
	static const uint8_t near[] = { 0x74, 0x10, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 };
	static const uint8_t back[] = { 0x74, 0xf0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 };
	struct fixture *f = new_fixture();
	struct outline o;

	(void)state;
	assert_true(outline_find(&f->outlines, near, 15, decode, f, &o) && o.relative && o.distance == 16);
	assert_true(outline_find(&f->outlines, back, 15, decode, f, &o) && o.relative && o.distance == -16);
	assert_int_equal(f->asked, 1);
	/* What is cut off is for the decoder. */
	assert_true(outline_find(&f->outlines, back, 2, decode, f, &o) && o.distance == -16);
	assert_false(outline_find(&f->outlines, back, 1, decode, f, &o));
	assert_int_equal(f->asked, 3);
	free(f);
}

/* Bytes that look like instructions: with prefixes and opcodes that are often there. */
static void make_up(struct fixture *f, uint8_t *code)
{
	static const uint8_t first[] = {
		0x48, 0x4c, 0x41, 0x0f, 0x66, 0xf3, 0xf2, 0xc5, 0xc4, 0x62, 0x64, 0x2e, 0x89, 0x8b, 0xff, 0xe8, 0xf0, 0x67,
	};
	unsigned at = 0;

	for (unsigned n = any_byte(f) % 4; n; n--)
		code[at++] = first[any_byte(f) % sizeof first];
	while (at < 16)
		code[at++] = any_byte(f);
}

static void made_up_code_is_what_the_decoder_says(void **state)
{
	struct fixture *f = new_fixture();
	uint8_t code[16];

	(void)state;
	for (unsigned n = 0; n < ROUNDS; n++) {
		make_up(f, code);
		size_t bytes = any_byte(f) % 8 ? 15 : any_byte(f) % 16;

		if (agrees(f, code, bytes))
			continue;
		for (unsigned k = 0; k < 15; k++)
			fprintf(stderr, "%02x ", code[k]);
		fail_msg("another instruction in outline, of %zu bytes", bytes);
	}
	free(f);
}

/* The test's own code, from every byte on: nearly all of it is known after a while. */
static void real_code_is_what_the_decoder_says(void **state)
{
	const uint8_t *code = (const uint8_t *)ZydisDecoderDecodeInstruction;
	struct fixture *f = new_fixture();
	unsigned asked;

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		asked = f->asked;
		for (unsigned n = 0; n < 4000; n++)
			assert_true(agrees(f, code + n, 15));
	}
	assert_in_range(f->asked - asked, 0, 1000);
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_a_shape_tells_of_all),
		cmocka_unit_test(where_branches_go_is_their_own),
		cmocka_unit_test(made_up_code_is_what_the_decoder_says),
		cmocka_unit_test(real_code_is_what_the_decoder_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
