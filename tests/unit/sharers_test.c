/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/scarce.h"

static void open_sharers(struct slope_sharers *sharers, struct scarce *scarce, size_t pages)
{
	scarce_init(scarce, pages);
	slope_sharers_init(sharers, &scarce->host);
}

static void close_sharers(struct slope_sharers *sharers, const struct scarce *scarce)
{
	slope_sharers_fini(sharers);
	assert_int_equal(scarce->held_bytes, 0);
}

/* A word that has been joined by threads first, first + 1, ... */
static uint32_t joined_by(struct slope_sharers *sharers, uint32_t word, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		word = slope_sharers_join(sharers, word, first + i);
	return word;
}

static void assert_says(const struct slope_sharers *sharers, uint32_t word, uint32_t writer, uint32_t first, uint32_t count)
{
	struct slope_sharer_set set = slope_sharers_of(sharers, word);

	assert_int_equal(slope_sharers_writer(sharers, word), writer);
	assert_int_equal(set.writer, writer);
	assert_int_equal(set.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_true(slope_sharers_name(&set, first + i));
	assert_false(slope_sharers_name(&set, first + count));
}

static void words_say_who_wrote_and_who_has_seen_it(void **state)
{
	struct slope_sharers sharers;
	struct scarce scarce;
	uint32_t owned = slope_sharers_word(SLOPE_SHARERS_OWNER, 7), kernel = slope_sharers_word(SLOPE_SHARERS_KERNEL, 0);

	(void)state;
	open_sharers(&sharers, &scarce, ENDLESS);
	assert_says(&sharers, 0, SLOPE_WRITER_NONE, 2, 0);
	assert_says(&sharers, owned, 7, 7, 1);
	assert_says(&sharers, kernel, SLOPE_WRITER_KERNEL, 2, 0);
	assert_says(&sharers, joined_by(&sharers, 0, 2, 1), SLOPE_WRITER_NONE, 2, 1);
	assert_says(&sharers, joined_by(&sharers, 0, 2, 3), SLOPE_WRITER_NONE, 2, 3);
	assert_says(&sharers, joined_by(&sharers, kernel, 2, 3), SLOPE_WRITER_KERNEL, 2, 3);
	assert_says(&sharers, joined_by(&sharers, owned, 8, 3), 7, 7, 4);
	close_sharers(&sharers, &scarce);
}

static void the_same_steps_lead_to_the_same_word(void **state)
{
	struct slope_sharers sharers;
	struct scarce scarce;
	uint32_t owned = slope_sharers_word(SLOPE_SHARERS_OWNER, 7), word;

	(void)state;
	open_sharers(&sharers, &scarce, ENDLESS);
	word = joined_by(&sharers, owned, 8, 3);
	assert_int_equal(slope_sharers_join(&sharers, word, 9), word);
	assert_int_equal(joined_by(&sharers, owned, 8, 3), word);
	assert_int_equal(slope_sharers_pass(&sharers, word, 9), slope_sharers_pass(&sharers, word, 9));
	assert_int_equal(slope_sharers_flags(word), 0);
	close_sharers(&sharers, &scarce);
}

static void who_writes_what_others_keep_is_one_of_them(void **state)
{
	struct slope_sharers sharers;
	struct scarce scarce;
	uint32_t word;

	(void)state;
	open_sharers(&sharers, &scarce, ENDLESS);
	word = joined_by(&sharers, slope_sharers_word(SLOPE_SHARERS_OWNER, 7), 8, 2);
	assert_says(&sharers, slope_sharers_pass(&sharers, word, 8), 8, 7, 3);
	assert_says(&sharers, slope_sharers_pass(&sharers, word, 10), 10, 7, 4);
	assert_says(&sharers, slope_sharers_pass(&sharers, word, SLOPE_WRITER_KERNEL), SLOPE_WRITER_KERNEL, 7, 3);
	close_sharers(&sharers, &scarce);
}

static void flags_change_nothing_else(void **state)
{
	struct slope_sharers sharers;
	struct scarce scarce;
	uint32_t word;

	(void)state;
	open_sharers(&sharers, &scarce, ENDLESS);
	word = joined_by(&sharers, slope_sharers_word(SLOPE_SHARERS_OWNER, 7), 8, 2);
	for (uint32_t unread = 0; unread < 4; unread++) {
		uint32_t flagged = word + SLOPE_SHARERS_KEPT + unread * SLOPE_SHARERS_UNREAD;

		assert_int_equal(slope_sharers_flags(flagged), SLOPE_SHARERS_KEPT + unread * SLOPE_SHARERS_UNREAD);
		assert_says(&sharers, flagged, 7, 7, 3);
	}
	/* A thread's number may have those digits, but no flags. */
	assert_int_equal(slope_sharers_flags(slope_sharers_word(SLOPE_SHARERS_OWNER, SLOPE_SHARERS_KEPT)), 0);
	close_sharers(&sharers, &scarce);
}

static void a_full_set_becomes_all_threads(void **state)
{
	struct slope_sharers sharers;
	struct scarce scarce;
	uint32_t full, all;

	(void)state;
	open_sharers(&sharers, &scarce, ENDLESS);
	full = joined_by(&sharers, slope_sharers_word(SLOPE_SHARERS_OWNER, 1), 2, SLOPE_SHARERS_MAX - 1);
	assert_says(&sharers, full, 1, 1, SLOPE_SHARERS_MAX);
	all = slope_sharers_join(&sharers, full, 100);
	assert_int_equal(slope_sharers_set(&sharers, all)->count, SLOPE_SHARERS_ALL);
	assert_int_equal(slope_sharers_set(&sharers, slope_sharers_pass(&sharers, full, 100))->count, SLOPE_SHARERS_ALL);
	assert_int_equal(slope_sharers_writer(&sharers, slope_sharers_pass(&sharers, all, 5)), 5);
	assert_true(slope_sharers_name(slope_sharers_set(&sharers, all), 12345));
	close_sharers(&sharers, &scarce);
}

static void without_memory_there_is_no_word(void **state)
{
	bool ended = false;

	(void)state;
	for (size_t pages = 0; !ended; pages++) {
		struct slope_sharers sharers;
		struct scarce scarce;
		uint32_t word = slope_sharers_word(SLOPE_SHARERS_OWNER, 1);

		open_sharers(&sharers, &scarce, pages);
		for (uint32_t id = 2; id < 200 && word; id++) {
			word = slope_sharers_join(&sharers, word, id);
			word = word ? slope_sharers_pass(&sharers, word, id) : 0;
		}
		ended = word;
		assert_true(ended || pages < 100);
		close_sharers(&sharers, &scarce);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_say_who_wrote_and_who_has_seen_it),
		cmocka_unit_test(the_same_steps_lead_to_the_same_word),
		cmocka_unit_test(who_writes_what_others_keep_is_one_of_them),
		cmocka_unit_test(flags_change_nothing_else),
		cmocka_unit_test(a_full_set_becomes_all_threads),
		cmocka_unit_test(without_memory_there_is_no_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
