/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings that run: found while they do, gone afterwards, and never somebody else's. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/live.h"
#include "tests/unit/failing.h"

static char scratch[] = "/tmp/slope-live-XXXXXX";
static struct slope_live made;
static char error[256];

static void put(const char *name, const char *bytes, size_t count)
{
	char path[128];

	snprintf(path, sizeof path, "%s/slope/%s", scratch, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, count, f), count);
	assert_int_equal(fclose(f), 0);
}

static int begin(void **state)
{
	(void)state;
	return !slope_live_make(&made, "./prog 1", "/tmp/slope.data", true, error, sizeof error);
}

static int end(void **state)
{
	char command[128];

	(void)state;
	slope_live_close(&made);
	snprintf(command, sizeof command, "rm -rf %s/slope", scratch);
	return system(command);
}

/* The slot that says: this process, from now on. */
static struct slope_channel_slot *claim(unsigned at)
{
	struct slope_channel_slot *slot = &made.channel->slot[at];
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	slot->claimed_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	slot->signal = (uint32_t)SIGRTMIN;
	slot->pid = (uint32_t)getpid();
	return slot;
}

static size_t listed(void)
{
	size_t count;
	struct slope_live *list = slope_live_list(&count);

	assert_non_null(list);
	for (size_t i = 0; i < count; i++)
		slope_live_close(&list[i]);
	free(list);
	return count;
}

static void test_a_recording_is_found(void **state)
{
	size_t count;
	struct slope_live *list = slope_live_list(&count);

	(void)state;
	assert_int_equal(count, 1);
	assert_string_equal(list[0].channel->program, "./prog 1");
	assert_string_equal(list[0].channel->output, "/tmp/slope.data");
	assert_int_equal(list[0].channel->stopped, 1);
	assert_true(slope_live_has(&list[0], getpid()));
	assert_false(slope_live_has(&list[0], getppid()));
	slope_live_close(&list[0]);
	free(list);
}

static void test_what_nobody_has_any_longer_goes(void **state)
{
	struct slope_channel_slot *slot = claim(5);

	(void)state;
	made.channel->recorder = 0x7ffffffe;
	assert_int_equal(listed(), 1);
	slot->claimed_ns = 1;            /* then another process had the number: this one began later */
	assert_false(slope_live_process(slot));
	assert_int_equal(listed(), 0);
	assert_int_equal(access(made.path, F_OK), -1);
}

static void test_other_files_are_left_alone(void **state)
{
	static const char zeros[sizeof(struct slope_channel)];
	struct slope_live other;
	char path[128];

	(void)state;
	put("1.ctl", "slopectl", 8);
	put("2.ctl", zeros, sizeof zeros);
	put("notes", "x", 1);
	assert_int_equal(listed(), 1);
	snprintf(path, sizeof path, "%s/slope/2.ctl", scratch);
	assert_false(slope_live_open(&other, path));
	assert_false(slope_live_open(&other, "/nowhere"));
	made.channel->version++;
	assert_int_equal(listed(), 0);
	assert_int_equal(access(made.path, F_OK), 0);
}

static void test_a_folder_that_others_see_is_not_used(void **state)
{
	struct slope_live other;
	char path[128];

	(void)state;
	snprintf(path, sizeof path, "%s/slope", scratch);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(listed(), 0);
	assert_false(slope_live_make(&other, "x", "y", false, error, sizeof error));
	assert_non_null(strstr(error, "not a folder of your own alone"));
	assert_int_equal(chmod(path, 0700), 0);
}

static void answer(int number, siginfo_t *info, void *context)
{
	struct slope_channel_slot *slot = &made.channel->slot[7];

	(void)number;
	(void)context;
	if (info->si_value.sival_int != SLOPE_CHANNEL_VALUE)
		return;
	slot->stopped = made.channel->stopped;
	slot->failed = made.channel->action == SLOPE_CHANNEL_SNAPSHOT;
	slot->done = made.channel->request;
}

static void test_who_is_asked_answers(void **state)
{
	struct sigaction listen = { .sa_flags = SA_SIGINFO }, before;
	struct slope_channel_slot *slot = claim(7);
	struct slope_live_answer a;

	(void)state;
	listen.sa_sigaction = answer;
	assert_true(slope_live_ask(&made, SLOPE_CHANNEL_SETTLE, false, NULL, 1000, &a));
	assert_int_equal(a.asked, 0);    /* nobody listens: a signal would end us */
	sigaction(SIGRTMIN, &listen, &before);
	assert_true(slope_live_ask(&made, SLOPE_CHANNEL_SETTLE, true, NULL, 1000, &a));
	assert_int_equal(a.asked, 1);
	assert_int_equal(a.answered, 1);
	assert_int_equal(a.silent, 0);
	assert_int_equal(slot->stopped, 1);
	assert_true(slope_live_ask(&made, SLOPE_CHANNEL_SNAPSHOT, false, "/tmp/x%p", 1000, &a));
	assert_int_equal(a.failed, 1);
	assert_string_equal(made.channel->snapshot, "/tmp/x%p");
	listen = (struct sigaction){ .sa_handler = SIG_IGN };
	sigaction(SIGRTMIN, &listen, NULL);
	assert_true(slope_live_ask(&made, SLOPE_CHANNEL_SETTLE, true, NULL, 10, &a));
	assert_int_equal(a.asked, 0);
	sigaction(SIGRTMIN, &before, NULL);
}

static void hear_nothing(int number)
{
	(void)number;
}

static void test_who_is_silent_is_named(void **state)
{
	struct sigaction listen = { .sa_handler = hear_nothing }, before;
	struct slope_live_answer a;

	(void)state;
	claim(7);
	sigaction(SIGRTMIN, &listen, &before);
	assert_true(slope_live_ask(&made, SLOPE_CHANNEL_SETTLE, true, NULL, 10, &a));
	assert_int_equal(a.asked, 1);
	assert_int_equal(a.answered, 0);
	assert_int_equal(a.silent, getpid());
	assert_int_equal(a.waiting, 0);
	sigaction(SIGRTMIN, &before, NULL);
}

static void test_who_holds_the_signal_back_is_not_waited_for(void **state)
{
	struct sigaction listen = { .sa_handler = hear_nothing };
	struct slope_channel_slot *slot = &made.channel->slot[9];
	struct slope_live_answer a;
	struct timespec now;
	sigset_t held;
	pid_t child;

	(void)state;
	made.channel->slot[9].pid = 0;
	if ((child = fork()) == 0) {
		sigaction(SIGRTMIN, &listen, NULL);
		sigemptyset(&held);
		sigaddset(&held, SIGRTMIN);
		sigprocmask(SIG_BLOCK, &held, NULL);
		clock_gettime(CLOCK_BOOTTIME, &now);
		slot->claimed_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
		slot->signal = (uint32_t)SIGRTMIN;
		__atomic_store_n(&slot->pid, (uint32_t)getpid(), __ATOMIC_SEQ_CST);
		sleep(30);
		_exit(0);
	}
	for (unsigned i = 0; i < 5000 && !__atomic_load_n(&slot->pid, __ATOMIC_SEQ_CST); i++)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	assert_true(slope_live_ask(&made, SLOPE_CHANNEL_SETTLE, true, NULL, 20000, &a));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(a.asked, 1);
	assert_int_equal(a.waiting, 1);
	assert_int_equal(a.silent, 0);
}

static void test_every_allocation_may_fail(void **state)
{
	struct slope_live other;
	bool good = false;
	size_t count;

	(void)state;
	for (size_t k = 0; !good; k++) {
		failing_after(k);
		struct slope_live *list = slope_live_list(&count);

		failing_never();
		good = list && count == 1;
		for (size_t i = 0; list && i < count; i++)
			slope_live_close(&list[i]);
		free(list);
		assert_int_equal(access(made.path, F_OK), 0);
	}
	failing_after(0);
	assert_false(slope_live_open(&other, made.path));
	failing_never();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_recording_is_found, begin, end),
		cmocka_unit_test_setup_teardown(test_what_nobody_has_any_longer_goes, begin, end),
		cmocka_unit_test_setup_teardown(test_other_files_are_left_alone, begin, end),
		cmocka_unit_test_setup_teardown(test_a_folder_that_others_see_is_not_used, begin, end),
		cmocka_unit_test_setup_teardown(test_who_is_asked_answers, begin, end),
		cmocka_unit_test_setup_teardown(test_who_is_silent_is_named, begin, end),
		cmocka_unit_test_setup_teardown(test_who_holds_the_signal_back_is_not_waited_for, begin, end),
		cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, begin, end),
	};

	if (!mkdtemp(scratch) || setenv("XDG_RUNTIME_DIR", scratch, 1) != 0)
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	rmdir(scratch);
	return failed;
}
