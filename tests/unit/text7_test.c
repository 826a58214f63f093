/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile/text7.c: bytes become text that a page may hold, and come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/text7.h"
#include "tests/growth/random.h"

#define MOST 3000u

/* In pieces of `part` bytes. How many bytes of text. */
static size_t encode(const unsigned char *bytes, size_t count, size_t part, char *text)
{
	struct slope_text7 t = { 0 };
	size_t used = 0;

	for (size_t at = 0; at < count; at += part)
		used += slope_text7_put(&t, bytes + at, count - at < part ? count - at : part, text + used);
	return used + slope_text7_end(&t, text + used);
}

static void expect_back(const unsigned char *bytes, size_t count, size_t part)
{
	char text[SLOPE_TEXT7_ROOM(MOST) * 2];
	unsigned char back[sizeof text];
	size_t length = encode(bytes, count, part, text), used;

	assert_true(length <= SLOPE_TEXT7_ROOM(count));
	assert_int_equal(slope_text7_decode(text, length, back, &used), count);
	assert_int_equal(used, length);
	assert_memory_equal(back, bytes, count);
	assert_int_equal(slope_text7_decode(text, length, text, &used), count);   /* in place */
	assert_memory_equal(text, bytes, count);
}

static void every_length_comes_back(void **state)
{
	unsigned char bytes[MOST];
	struct random r = { 7 };

	(void)state;
	for (size_t i = 0; i < MOST; i++)
		bytes[i] = (unsigned char)random_bits(&r);
	for (size_t count = 0; count < 300; count++)
		for (size_t part = 1; part < 20; part += 3)
			expect_back(bytes + count, count, part);
	expect_back(bytes, MOST, 64);
}

/* All bytes alike: groups that are special, side by side and at the end. */
static void every_byte_comes_back(void **state)
{
	unsigned char bytes[64];

	(void)state;
	for (int value = 0; value < 256; value++) {
		memset(bytes, value, sizeof bytes);
		for (size_t count = 0; count < sizeof bytes; count++)
			expect_back(bytes, count, sizeof bytes);
	}
}

static void text_has_nothing_that_a_page_could_misread(void **state)
{
	unsigned char bytes[MOST];
	char text[SLOPE_TEXT7_ROOM(MOST)];
	struct random r = { 9 };

	(void)state;
	for (size_t i = 0; i < MOST; i++)
		bytes[i] = random_below(&r, 3) ? 0 : (unsigned char)random_bits(&r);
	size_t length = encode(bytes, MOST, MOST, text);

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		assert_null(memchr("\0\a\b\n\v\f\r\x1a\x1b&<>\x7f", c, 13));
		if (c >= 0x80) {         /* two bytes of UTF-8, U+0100 to U+078C */
			assert_in_range(c, 0xC4, 0xDE);
			assert_int_equal((unsigned char)text[++i] & 0xC0, 0x80);
		}
	}
}

static void decoding_stops_where_the_text_ends(void **state)
{
	static const struct {
		const char *text;
		size_t used;
	} given[] = {
		{ "abc</script>", 3 }, { "ab\xC3\xBF", 2 }, { "ab\xC4", 2 }, { "ab\xDE\xBF", 2 }, { "a\nb", 1 }, { "\xE2\x82\xAC", 0 },
	};
	unsigned char back[16];
	size_t used;

	(void)state;
	for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
		slope_text7_decode(given[i].text, strlen(given[i].text), back, &used);
		assert_int_equal(used, given[i].used);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length_comes_back),
		cmocka_unit_test(every_byte_comes_back),
		cmocka_unit_test(text_has_nothing_that_a_page_could_misread),
		cmocka_unit_test(decoding_stops_where_the_text_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
