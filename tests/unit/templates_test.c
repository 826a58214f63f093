/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions by way of templates are what the decoder says of them, bit by bit: code that is, code that is made up, any bytes. */
#include "sources/translator/templates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROUNDS 1000000u

struct fixture {
	ZydisDecoder zydis;
	struct outlines outlines;
	struct templates templates;
	ZydisDecoderContext context;
	unsigned asked, kept;
	uint64_t state;
};

static bool decode_outline(void *data, const void *code, size_t bytes, ZydisDecodedInstruction *i)
{
	struct fixture *f = data;

	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&f->zydis, NULL, code, bytes, i));
}

static bool decode(void *data, const void *code, size_t bytes, ZydisDecodedInstruction *i, ZydisDecodedOperand *operand)
{
	struct fixture *f = data;

	f->asked++;
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&f->zydis, &f->context, code, bytes, i)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&f->zydis, &f->context, i, operand, i->operand_count));
}

static struct fixture *new_fixture(void)
{
	struct fixture *f = calloc(1, sizeof *f);

	assert_non_null(f);
	assert_true(ZYAN_SUCCESS(ZydisDecoderInit(&f->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
	f->state = 98765;
	return f;
}

static uint8_t any_byte(struct fixture *f)
{
	f->state = f->state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint8_t)(f->state >> 56);
}

/* The length; 0: neither knows it. */
static unsigned agreed(struct fixture *f, const uint8_t *code, size_t bytes)
{
	ZydisDecodedInstruction i;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	struct outline o;
	bool known = outline_find(&f->outlines, code, bytes, decode_outline, f, &o);

	assert_int_equal(decode(f, code, bytes, &i, operand), known);
	if (!known)
		return 0;
	unsigned asked = f->asked;
	ZydisDecodedInstruction own;
	const ZydisDecodedOperand *found = templates_find(&f->templates, code, bytes, &o, decode, f, &own);

	assert_non_null(found);
	f->kept += f->asked == asked;
	assert_memory_equal(&own, &i, sizeof i);
	for (unsigned n = 0; n < i.operand_count; n++)
		assert_memory_equal(&found[n], &operand[n], sizeof *operand);
	return i.length;
}

static void constants_are_put_in(void **state)
{
	/* mov with displacements of one byte and four, constants of one byte and four, a jump, enter with two constants */
	static const uint8_t code[][16] = {
		{ 0x48, 0x8b, 0x43, 0x08 }, { 0x48, 0x8b, 0x43, 0xf8 },
		{ 0x48, 0x8b, 0x87, 1, 2, 3, 4 }, { 0x48, 0x8b, 0x87, 1, 2, 3, 0x84 },
		{ 0x83, 0xc0, 0x7f }, { 0x83, 0xc0, 0x80 }, { 0x48, 0x81, 0x43, 1, 9, 9, 9, 9 }, { 0x48, 0x81, 0x43, 2, 9, 9, 9, 0x99 },
		{ 0x74, 2 }, { 0x74, 0xfe }, { 0xc8, 1, 2, 3 }, { 0xc8, 4, 5, 6 },
		{ 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 }, { 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 0x88 },
	};
	struct fixture *f = new_fixture();

	(void)state;
	for (unsigned n = 0; n < sizeof code / sizeof *code; n++)
		assert_int_not_equal(agreed(f, code[n], 15), 0);
	assert_int_equal(f->kept, sizeof code / sizeof *code / 2);
	free(f);
}

/* vblendvps: the last byte names a register. lss and prefixes in another order. */
static void what_is_more_than_a_constant_is_asked_for(void **state)
{
	static const uint8_t code[][16] = {
		{ 0xc4, 0xe3, 0x69, 0x4a, 0xcb, 0x40 }, { 0xc4, 0xe3, 0x69, 0x4a, 0xcb, 0x50 },
		{ 0x66, 0x2e, 0x0f, 0x1f, 0x00 }, { 0x2e, 0x66, 0x0f, 0x1f, 0x00 },
		{ 0x64, 0x65, 0x8b, 0x03 }, { 0x65, 0x64, 0x8b, 0x03 },
	};
	struct fixture *f = new_fixture();

	(void)state;
	for (unsigned times = 0; times < 2; times++)
		for (unsigned n = 0; n < sizeof code / sizeof *code; n++)
			assert_int_not_equal(agreed(f, code[n], 15), 0);
	assert_int_equal(f->kept, 0);
	free(f);
}

static void code_of_programs(void **state)
{
	static const char *const path[] = { "/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libm.so.6" };
	struct fixture *f = new_fixture();
	unsigned decoded = 0;

	(void)state;
	for (unsigned p = 0; p < sizeof path / sizeof *path; p++) {
		FILE *in = fopen(path[p], "rb");
		uint8_t *code = calloc(1, (4u << 20) + 16);
		size_t bytes = in ? fread(code, 1, 4u << 20, in) : 0;

		if (in)
			fclose(in);
		for (size_t at = 0; at < bytes;) {
			unsigned length = agreed(f, code + at, 15);

			decoded += length != 0;
			at += length ? length : 1;
		}
		free(code);
	}
	assert_true(decoded > 10000);
	assert_true(f->kept > decoded / 10 * 7);
	free(f);
}

static void any_bytes(void **state)
{
	struct fixture *f = new_fixture();

	(void)state;
	for (unsigned n = 0; n < ROUNDS; n++) {
		uint8_t code[16];

		for (unsigned b = 0; b < sizeof code; b++)
			code[b] = any_byte(f);
		agreed(f, code, 15);
	}
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_are_put_in),
		cmocka_unit_test(what_is_more_than_a_constant_is_asked_for),
		cmocka_unit_test(code_of_programs),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
