/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Golden and broken files: broken_test GOLDEN 1.3 1.2 1.1 1.0. The golden file must
 * load to the sample and be written again byte by byte, and so (but for the
 * version in their headers) must the old ones of earlier versions; whatever
 * happens to the golden file, a load says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "format/encode.h"
#include "format/reader.h"
#include "tests/format/sample.h"

struct bytes {
	unsigned char *at;
	size_t count;
};

static const char *golden_path, *last_path, *recent_path, *old_path, *oldest_path;
static char error[256];

static struct bytes slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	struct bytes b = { .at = malloc(1 << 20) };

	assert_non_null(f);
	b.count = fread(b.at, 1, 1 << 20, f);
	assert_true(b.count < 1 << 20);
	fclose(f);
	return b;
}

/* An exact copy on the heap, so that a sanitizer sees every byte too far. */
static struct slope_profile *decode_copy(const unsigned char *bytes, size_t count)
{
	unsigned char *copy = malloc(count ? count : 1);

	memcpy(copy, bytes, count);
	*error = '\0';
	struct slope_profile *p = slope_profile_decode(copy, count, error, sizeof error);

	free(copy);
	return p;
}

static void assert_noticed(const unsigned char *bytes, size_t count)
{
	struct slope_profile *p = decode_copy(bytes, count);

	assert_true(p ? p->problem_count > 0 : *error);
	slope_profile_free(p);
}

static void the_golden_file_is_the_sample(void **state)
{
	struct slope_profile *want = sample_profile(), *p = slope_profile_load(golden_path, error, sizeof error);

	(void)state;
	assert_non_null(p);
	assert_int_equal(p->problem_count, 0);
	assert_null(sample_difference(p, want));
	slope_profile_free(p);
	slope_profile_free(want);
}

static void assert_old_is(const char *path, struct slope_profile *want)
{
	struct slope_profile *p = slope_profile_load(path, error, sizeof error);

	assert_non_null(p);
	assert_int_equal(p->problem_count, 0);
	assert_null(sample_difference(p, want));
	slope_profile_free(p);
	slope_profile_free(want);
}

static void the_last_file_is_the_sample_without_places(void **state)
{
	(void)state;
	assert_old_is(last_path, sample_profile_1_3());
}

static void the_recent_file_is_the_sample_without_paths(void **state)
{
	(void)state;
	assert_old_is(recent_path, sample_profile_1_2());
}

static void the_old_file_is_the_sample_without_contexts(void **state)
{
	(void)state;
	assert_old_is(old_path, sample_profile_1_1());
}

static void the_oldest_file_is_the_sample_without_sizes(void **state)
{
	(void)state;
	assert_old_is(oldest_path, sample_profile_1_0());
}

/* From byte `from` on. */
static void assert_written_again(const char *from_path, size_t from)
{
	char path[] = "/tmp/slope-golden-XXXXXX";
	struct slope_profile *p = slope_profile_load(from_path, error, sizeof error);

	close(mkstemp(path));
	assert_true(slope_profile_save(p, path, error, sizeof error));
	struct bytes old = slurp(from_path), new = slurp(path);

	assert_int_equal(old.count, new.count);
	assert_memory_equal(old.at + from, new.at + from, old.count - from);
	unlink(path);
	free(old.at);
	free(new.at);
	slope_profile_free(p);
}

static void they_are_written_again_byte_by_byte(void **state)
{
	(void)state;
	assert_written_again(golden_path, 0);
	assert_written_again(last_path, SLOPE_HEADER_BYTES);
	assert_written_again(recent_path, SLOPE_HEADER_BYTES);
	assert_written_again(old_path, SLOPE_HEADER_BYTES);
	assert_written_again(oldest_path, SLOPE_HEADER_BYTES);
}

static void every_truncation_is_noticed(void **state)
{
	struct bytes b = slurp(golden_path);

	(void)state;
	for (size_t count = 0; count < b.count; count++)
		assert_noticed(b.at, count);
	free(b.at);
}

static void every_damaged_byte_is_noticed(void **state)
{
	static const unsigned char damage[] = { 1, 2, 4, 8, 16, 32, 64, 128, 255 };
	struct bytes b = slurp(golden_path);

	(void)state;
	for (size_t i = 0; i < b.count; i++)
		for (size_t d = 0; d < sizeof damage; d++) {
			b.at[i] ^= damage[d];
			assert_noticed(b.at, b.count);
			b.at[i] ^= damage[d];
		}
	free(b.at);
}

static void inserted_and_removed_bytes_are_noticed(void **state)
{
	struct bytes b = slurp(golden_path);
	unsigned char *changed = malloc(b.count + 1);

	(void)state;
	for (size_t i = 0; i <= b.count; i++) {
		memcpy(changed, b.at, i);
		changed[i] = 'P';
		memcpy(changed + i + 1, b.at + i, b.count - i);
		assert_noticed(changed, b.count + 1);
		if (i < b.count) {
			memcpy(changed + i, b.at + i + 1, b.count - i - 1);
			assert_noticed(changed, b.count - 1);
		}
	}
	free(changed);
	free(b.at);
}

/* The chunk of a section: where it begins and ends. */
static struct slope_chunk find_chunk(const struct bytes *b, enum slope_section section, unsigned which)
{
	struct slope_reader r;
	struct slope_chunk chunk;

	slope_reader_init(&r, b->at, b->count);
	while (slope_reader_next(&r, &chunk) == SLOPE_FOUND_CHUNK)
		if (slope_section_of(chunk.tag) == section && !which--)
			return chunk;
	fail_msg("no such chunk");
	return chunk;
}

static bool has_problem(const struct slope_profile *p, const char *words)
{
	for (size_t i = 0; i < p->problem_count; i++)
		if (strstr(p->problem[i], words))
			return true;
	for (size_t i = 0; i < p->problem_count; i++)
		print_message("problem: %s\n", p->problem[i]);
	return false;
}

/* All but the one chunk is still there, wherever the damage is in it. */
static void damage_costs_one_chunk(void **state)
{
	struct bytes b = slurp(golden_path);

	(void)state;
	for (unsigned s = 0; s < SLOPE_SECTION_END; s++) {
		struct slope_chunk chunk = find_chunk(&b, s, 0);
		char want[64];

		snprintf(want, sizeof want, "%s: 1 of 1 chunks missing, 0 of", slope_section_name(s));
		for (size_t i = chunk.offset; i < chunk.end; i++) {
			b.at[i] ^= 0x55;
			struct slope_profile *p = decode_copy(b.at, b.count);

			b.at[i] ^= 0x55;
			assert_non_null(p);
			assert_true(p->complete);
			assert_true(has_problem(p, want));
			assert_int_equal(p->edge_count, s == SLOPE_SECTION_EDGES || s == SLOPE_SECTION_FUNCTIONS ||
					 s == SLOPE_SECTION_THREADS ? 0 : 2);
			bool graphs = s == SLOPE_SECTION_GRAPHS || s == SLOPE_SECTION_BLOCKS || s == SLOPE_SECTION_ARCS ||
				      s == SLOPE_SECTION_FUNCTIONS;

			assert_int_equal(p->graph_count, graphs ? 0 : 2);
			assert_int_equal(p->path_count, graphs || s == SLOPE_SECTION_PATHS || s == SLOPE_SECTION_THREADS ? 0 :
					 s == SLOPE_SECTION_CONTEXTS ? 2 : 4);
			assert_int_equal(p->function_count, s == SLOPE_SECTION_FUNCTIONS ? 1 : 5);
			slope_profile_free(p);
		}
	}
	free(b.at);
}

static void a_missing_end_mark_is_said(void **state)
{
	struct bytes b = slurp(golden_path);
	struct slope_chunk end = find_chunk(&b, SLOPE_SECTION_END, 0);
	struct slope_profile *p = decode_copy(b.at, end.offset);

	(void)state;
	assert_false(p->complete);
	assert_true(has_problem(p, "the end mark is missing"));
	assert_int_equal(p->row_count, 4);
	slope_profile_free(p);
	free(b.at);
}

static void a_section_of_a_later_version_is_skipped(void **state)
{
	struct bytes b = slurp(golden_path);
	struct slope_chunk lost = find_chunk(&b, SLOPE_SECTION_LOST, 0);
	unsigned char *more = malloc(b.count + lost.end - lost.offset);
	size_t size = lost.end - lost.offset;
	struct slope_crc32c crc;

	(void)state;
	memcpy(more, b.at, lost.offset);
	memcpy(more + lost.offset, b.at + lost.offset, size);
	memcpy(more + lost.offset, "NEWS", 4);
	slope_crc32c_init(&crc);
	uint32_t sum = slope_crc32c(&crc, 0, more + lost.offset, 8);

	sum = slope_crc32c(&crc, sum, more + lost.offset + 12, size - 12);
	for (int i = 0; i < 4; i++)
		more[lost.offset + 8 + i] = (unsigned char)(sum >> (8 * i));
	memcpy(more + lost.end, b.at + lost.offset, b.count - lost.offset);
	struct slope_profile *p = decode_copy(more, b.count + size), *want = sample_profile();

	assert_int_equal(p->problem_count, 0);
	assert_null(sample_difference(p, want));
	slope_profile_free(p);
	slope_profile_free(want);
	free(more);
	free(b.at);
}

#define LONG 30000u

static struct bytes long_file(void)
{
	char path[] = "/tmp/slope-long-XXXXXX";
	struct slope_profile *p = sample_profile();
	struct slope_profile_row *row = &p->row[3];

	sample_points(p, row, SLOPE_METRIC_RMS, LONG, SLOPE_POINTS_EXACT);
	for (size_t i = 0; i < LONG; i++)
		sample_point(p, &row->points[1], i, i, 3, i * i, i % 2);
	close(mkstemp(path));
	assert_true(slope_profile_save(p, path, error, sizeof error));
	struct bytes b = slurp(path);

	unlink(path);
	slope_profile_free(p);
	return b;
}

static void a_long_table_loses_only_the_damaged_part(void **state)
{
	struct bytes b = long_file();
	struct slope_chunk chunk = find_chunk(&b, SLOPE_SECTION_POINTS, 4);

	(void)state;
	memset(b.at + chunk.offset + 1000, 0x5a, 2000);
	struct slope_profile *p = decode_copy(b.at, b.count);

	assert_true(has_problem(p, "points: 1 of "));
	size_t left = p->row[3].points[1].count;

	assert_true(left > LONG / 2 && left < LONG - 1000);
	slope_profile_free(p);
	free(b.at);
}

/* Thousands of places that look like a chunk of 64 KB: given up in time, not in silence. */
static void a_file_of_false_chunks_is_given_up(void **state)
{
	size_t count = 1 << 20;
	unsigned char *b = malloc(count);
	struct bytes golden = slurp(golden_path);

	(void)state;
	memcpy(b, golden.at, SLOPE_HEADER_BYTES);
	for (size_t i = SLOPE_HEADER_BYTES; i + 8 <= count; i += 8)
		memcpy(b + i, "META\x00\xff\x00\x00", 8);
	assert_noticed(b, count);
	free(golden.at);
	free(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_golden_file_is_the_sample),
		cmocka_unit_test(the_last_file_is_the_sample_without_places),
		cmocka_unit_test(the_recent_file_is_the_sample_without_paths),
		cmocka_unit_test(the_old_file_is_the_sample_without_contexts),
		cmocka_unit_test(the_oldest_file_is_the_sample_without_sizes),
		cmocka_unit_test(they_are_written_again_byte_by_byte),
		cmocka_unit_test(every_truncation_is_noticed),
		cmocka_unit_test(every_damaged_byte_is_noticed),
		cmocka_unit_test(inserted_and_removed_bytes_are_noticed),
		cmocka_unit_test(damage_costs_one_chunk),
		cmocka_unit_test(a_missing_end_mark_is_said),
		cmocka_unit_test(a_section_of_a_later_version_is_skipped),
		cmocka_unit_test(a_long_table_loses_only_the_damaged_part),
		cmocka_unit_test(a_file_of_false_chunks_is_given_up),
	};

	if (argc != 6)
		return 2;
	golden_path = argv[1];
	last_path = argv[2];
	recent_path = argv[3];
	old_path = argv[4];
	oldest_path = argv[5];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
