/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of protocol buffers, and the gzip stream around them; zlib's own reader takes that off again. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/protobuf.h"
#include "tests/unit/failing.h"

struct stream {
	struct slope_gzip gzip;
	FILE *out;
	char *bytes;
	size_t count;
};

static struct slope_gzip *stream_open(struct stream *s)
{
	s->out = open_memstream(&s->bytes, &s->count);
	assert_non_null(s->out);
	assert_true(slope_gzip_init(&s->gzip, s->out));
	return &s->gzip;
}

/* Ends the stream; what was put in, in `to`, and how much. */
static size_t stream_read(struct stream *s, unsigned char *to, size_t room)
{
	z_stream z = { .next_out = to, .avail_out = (unsigned)room };

	slope_gzip_fini(&s->gzip);
	fclose(s->out);
	z.next_in = (unsigned char *)s->bytes;
	z.avail_in = (unsigned)s->count;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	free(s->bytes);
	return room - z.avail_out;
}

static void expect_bytes(const unsigned char *got, size_t count, const char *wanted, size_t wanted_count)
{
	assert_int_equal(count, wanted_count);
	assert_memory_equal(got, wanted, count);
}

#define EXPECT(got, count, wanted) expect_bytes(got, count, wanted, sizeof(wanted) - 1)

static void test_numbers(void **state)
{
	(void)state;
	struct slope_protobuf m;

	slope_protobuf_init(&m);
	slope_protobuf_number(&m, 1, 0);         /* not there */
	slope_protobuf_number(&m, 1, 150);       /* the example that every description has */
	slope_protobuf_number(&m, 2, 127);
	slope_protobuf_number(&m, 16, 128);      /* a tag of two bytes */
	EXPECT(m.bytes, m.count, "\x08\x96\x01" "\x10\x7f" "\x80\x01\x80\x01");
}

static void test_numbers_are_signed_there(void **state)
{
	(void)state;
	struct slope_protobuf m;

	slope_protobuf_init(&m);
	slope_protobuf_number(&m, 1, UINT64_MAX);
	EXPECT(m.bytes, m.count, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
}

static void test_packed_and_nested(void **state)
{
	(void)state;
	static const uint64_t number[] = { 3, 0, 270 };
	struct slope_protobuf m, outer;

	slope_protobuf_init(&m);
	slope_protobuf_packed(&m, 4, number, 3);
	EXPECT(m.bytes, m.count, "\x22\x04\x03\x00\x8e\x02");
	slope_protobuf_init(&outer);
	slope_protobuf_nested(&outer, 3, &m);
	EXPECT(outer.bytes, outer.count, "\x1a\x06\x22\x04\x03\x00\x8e\x02");
}

static void test_messages_and_texts_in_a_stream(void **state)
{
	(void)state;
	unsigned char got[256];
	struct slope_protobuf m;
	struct stream s;

	slope_protobuf_init(&m);
	slope_protobuf_number(&m, 1, 150);
	stream_open(&s);
	slope_protobuf_write(&s.gzip, 5, &m);
	slope_protobuf_write_text(&s.gzip, 6, "ir", "_total");
	slope_protobuf_write_text(&s.gzip, 6, NULL, NULL);
	EXPECT(got, stream_read(&s, got, sizeof(got)), "\x2a\x03\x08\x96\x01" "\x32\x08ir_total" "\x32\x00");
}

/* A stack may be deeper than any message is long. */
static void test_lists_have_any_length(void **state)
{
	(void)state;
	static const uint32_t few[] = { 3, 0, 270 };
	static unsigned char got[8192];
	uint32_t *many = calloc(3000, sizeof(*many));
	struct slope_protobuf m;
	struct stream s;

	assert_non_null(many);
	slope_protobuf_init(&m);
	slope_protobuf_number(&m, 2, 7);
	stream_open(&s);
	slope_protobuf_write_list(&s.gzip, 5, 1, few, 3, &m);
	EXPECT(got, stream_read(&s, got, sizeof(got)), "\x2a\x08" "\x0a\x04\x03\x00\x8e\x02" "\x10\x07");
	for (size_t i = 0; i < 3000; i++)
		many[i] = 200;                   /* two bytes each */
	stream_open(&s);
	slope_protobuf_write_list(&s.gzip, 5, 1, many, 3000, &m);
	size_t count = stream_read(&s, got, sizeof(got));

	assert_int_equal(count, 3 + 3 + 6000 + 2);
	assert_memory_equal(got, "\x2a\xf5\x2e" "\x0a\xf0\x2e" "\xc8\x01", 8);
	free(many);
}

static void test_texts_become_utf8(void **state)
{
	(void)state;
	unsigned char got[256];
	struct stream s;

	stream_open(&s);
	/* A byte that is none, a letter of two, one that is cut off, and U+FFFD itself. */
	slope_protobuf_write_text(&s.gzip, 6, "a\xff\xc3\xa4\xe2\x82", "\xef\xbf\xbd");
	EXPECT(got, stream_read(&s, got, sizeof(got)),
	       "\x32\x0f" "a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

static void test_a_long_stream(void **state)
{
	(void)state;
	size_t count = 3000000, got_count;
	unsigned char *bytes = malloc(count), *got = malloc(count + 1);
	uint32_t noise = 1;
	struct stream s;

	for (size_t i = 0; i < count; i++) {
		noise = noise * 1664525 + 1013904223;
		bytes[i] = (unsigned char)(noise >> 24);
	}
	stream_open(&s);
	for (size_t at = 0, part = 1; at < count; at += part, part = part * 3 % 50021)
		slope_gzip_put(&s.gzip, bytes + at, part < count - at ? part : count - at);
	got_count = stream_read(&s, got, count + 1);
	assert_int_equal(got_count, count);
	assert_memory_equal(got, bytes, count);
	free(bytes);
	free(got);
}

static void test_memory_runs_out(void **state)
{
	(void)state;
	FILE *out = fopen("/dev/null", "w");
	struct slope_gzip g;
	bool good = false;
	size_t k = 0;

	for (; !good && k < 100; k++) {
		failing_after(k);
		good = slope_gzip_init(&g, out);
		failing_never();
	}
	assert_true(good && k > 1);
	slope_gzip_fini(&g);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_numbers_are_signed_there),
		cmocka_unit_test(test_packed_and_nested),
		cmocka_unit_test(test_lists_have_any_length),
		cmocka_unit_test(test_messages_and_texts_in_a_stream),
		cmocka_unit_test(test_texts_become_utf8),
		cmocka_unit_test(test_a_long_stream),
		cmocka_unit_test(test_memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
