/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile/columns.c: a chunk of points is split into columns and put together again, to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/encode.h"
#include "profile/columns.h"
#include "tests/growth/random.h"

#define UNITS 2u

/* The payload of the last chunk of points that an encoder wrote. */
struct caught {
	unsigned char payload[SLOPE_PAYLOAD_MAX];
	size_t count;
};

static bool catch_points(void *to, const void *bytes, size_t count)
{
	struct caught *c = to;

	if (count > SLOPE_CHUNK_HEADER_BYTES && !memcmp(bytes, "PNTS", 4)) {
		c->count = count - SLOPE_CHUNK_HEADER_BYTES;
		memcpy(c->payload, (const unsigned char *)bytes + SLOPE_CHUNK_HEADER_BYTES, c->count);
	}
	return true;
}

/* Tables of rows that 1 to `calls` calls of costs up to `most` leave. */
static void make(struct caught *c, unsigned tables, unsigned rows, unsigned calls, double most)
{
	struct slope_encoder *e = malloc(sizeof *e);
	struct slope_point *row = calloc(1, slope_point_bytes(UNITS));
	struct random r = { tables + rows };

	c->count = 0;
	e->writer = (struct slope_writer){ catch_points, c };
	slope_encode_begin(e, UNITS);
	for (unsigned t = 0; t < tables; t++) {
		slope_encode_points_begin(e, &(struct slope_points_entry){ .function = 5 + t, .thread = 1, .bits = 64 });
		for (unsigned i = 0; i < rows; i++) {
			unsigned times = 1 + random_below(&r, calls);

			*row = (struct slope_point){ .n = 3 * i, .calls = times, .rms = random_below(&r, 2) ? 3 * i * times : 1 };
			for (unsigned u = 0; u < UNITS; u++) {
				row->cost[u] = (struct slope_stat){ .min = UINT64_MAX };
				for (unsigned k = 0; k < times; k++)
					slope_stat_add(&row->cost[u], (uint64_t)random_magnitude(&r, 1, most));
			}
			slope_encode_point_row(e, row);
		}
		slope_encode_points_end(e);
	}
	assert_true(slope_encode_end(e));
	assert_true(c->count > 0);
	free(row);
	free(e);
}

static size_t expect_back(const struct caught *c)
{
	unsigned char *split = malloc(SLOPE_COLUMNS_ROOM), *back = malloc(SLOPE_COLUMNS_ROOM);
	size_t bytes = slope_columns_split(c->payload, c->count, split);

	assert_true(bytes > 0);
	assert_int_equal(slope_columns_join(split, bytes, back), c->count);
	assert_memory_equal(back, c->payload, c->count);
	free(split);
	free(back);
	return bytes;
}

static void rows_come_back(void **state)
{
	struct caught *c = malloc(sizeof *c);

	(void)state;
	for (unsigned calls = 1; calls < 8; calls++)
		for (double most = 2; most < 1e18; most *= 1000) {
			make(c, 1 + calls, 12, calls, most);
			assert_true(expect_back(c) < c->count + 40);
		}
	make(c, 1, 9000, 5, 1e6);    /* goes on in another chunk */
	assert_true(expect_back(c) < c->count);
	free(c);
}

/* Sums that no calls can have: such a chunk stays as it is. */
static void what_does_not_add_up_is_left_alone(void **state)
{
	static const unsigned char wrong[] = { 1, 0, 5, 1, 64, 5, 6, 2, 10, 4, 25, 100, 0, 0 };
	static const unsigned char right[] = { 1, 0, 5, 1, 64, 5, 6, 2, 10, 4, 24, 0x80 | 40, 2, 0, 0 };
	unsigned char split[SLOPE_COLUMNS_ROOM];

	(void)state;
	assert_int_equal(slope_columns_split(wrong, sizeof wrong, split), 0);
	assert_true(slope_columns_split(right, sizeof right, split) > 0);   /* 10 and 14: 24, and 296 */
	for (size_t count = 0; count < sizeof right - 2; count++)
		if (count != 1 && count != 5)      /* no table, or a head alone: whole as far as it goes */
			assert_int_equal(slope_columns_split(right, count, split), 0);
}

/* Whatever is broken, nothing outside is touched (the sanitizers look), and what comes out fits. */
static void damage_does_no_harm(void **state)
{
	struct caught *c = malloc(sizeof *c);
	unsigned char *split = malloc(SLOPE_COLUMNS_ROOM), *back = malloc(SLOPE_COLUMNS_ROOM);
	struct random r = { 11 };

	(void)state;
	make(c, 3, 30, 5, 1e9);
	size_t bytes = slope_columns_split(c->payload, c->count, split), refused = 0;

	for (size_t cut = 0; cut < bytes; cut++) {
		unsigned char *exact = malloc(cut + 1);

		memcpy(exact, split, cut);
		assert_int_equal(slope_columns_join(exact, cut, back), 0);
		free(exact);
	}
	for (int i = 0; i < 20000; i++) {
		size_t at = random_below(&r, (unsigned)bytes);
		unsigned char was = split[at];

		split[at] = (unsigned char)random_bits(&r);
		size_t got = slope_columns_join(split, bytes, back);

		assert_true(got <= SLOPE_PAYLOAD_MAX);
		refused += !got;
		split[at] = was;
	}
	assert_true(refused > 0);
	free(c);
	free(split);
	free(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_back),
		cmocka_unit_test(what_does_not_add_up_is_left_alone),
		cmocka_unit_test(damage_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
