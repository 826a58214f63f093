/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which counters there are, and what is said where they are not to be had. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <cmocka.h>

#include "tests/unit/apart.h"

static void says(const char *words)
{
	if (!strstr(counters.reason, words))
		fail_msg("'%s' is not in: %s", words, counters.reason);
}

/* ---- names ---- */

static void names(void **state)
{
	struct event e, same;
	unsigned n = 0;

	(void)state;
	for (; eventnames_nth(n, &e); n++) {
		assert_true(eventnames_find(e.name, strlen(e.name), &same));
		assert_memory_equal(&e, &same, sizeof e);
	}
	assert_in_range(n, 40, 80);
	assert_true(eventnames_find("LLC-load-misses", 15, &e));
	assert_int_equal(e.type, PERF_TYPE_HW_CACHE);
	assert_int_equal(e.config, PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
	assert_true(eventnames_find("dTLB-stores", 11, &e));
	assert_int_equal(e.config, PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_WRITE << 8);
	assert_true(eventnames_find("branch-instructions", 19, &e));
	assert_int_equal(e.config, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	assert_true(eventnames_find("r01C2:u", 7, &e));
	assert_int_equal(e.type, PERF_TYPE_RAW);
	assert_int_equal(e.config, 0x1c2);
	assert_string_equal(e.name, "r01C2:u");
	assert_true(eventnames_find("faults:u", 8, &e));
	assert_int_equal(e.way, EVENT_BY_PERF);
	assert_int_equal(e.config, PERF_COUNT_SW_PAGE_FAULTS);
}

static void no_names(void **state)
{
	static const char *const wrong[] = {
		"", ":u", "cycle", "cyclesx", "r", "rg", "r12345678901234567", "sim", "sim:", "sim:0", "sim:x", "sim:4294967296", "time:u",
		"cs:u", "cycles:k", "iTLB-stores", "L1-icache-stores", "a-name-that-is-longer-than-any-event-could-be",
	};
	struct event e;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (eventnames_find(wrong[i], strlen(wrong[i]), &e))
			fail_msg("'%s' is an event", wrong[i]);
}

static void choosing(void **state)
{
	(void)state;
	assert_true(counters_choose("sim:5,time,page-faults,r1"));
	assert_int_equal(counters_count(), 4);
	assert_string_equal(counters_name(2), "page-faults");
	assert_true(counters_need_clock());
	assert_false(counters_choose("sim:5,time,page-faults,r1,r2"));
	says("at most 4 events");
	assert_false(counters_choose("time,sim:1,time"));
	says("'time' is there twice");
	assert_false(counters_choose("time,page-fault"));
	says("there is no event 'page-fault'");
	assert_int_equal(counters_count(), 0);
	assert_false(counters_choose("time,"));
	says("there is no event ''");
	assert_false(counters_choose("a-name-that-is-longer-than-any-event-could-be-by-far"));
	says("there is no event 'a-name-that-is-longer-than-any-event-co...'");
}

/* ---- reasons ---- */

static void forbid(int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
		_exit(77);
}

/* Is this the reason under a filter that answers with `error`? */
static int reason_is(int error, const char *words)
{
	forbid(error);
	if (counters_possible() || !strstr(counters.reason, words)) {
		fprintf(stderr, "%s\n", counters.reason);
		return 1;
	}
	return !strstr(counters.reason, "what works without: time, ");
}

static int in_container(struct counters_thread *t)
{
	(void)t;
	return reason_is(EPERM, "'page-faults:u' cannot be counted: perf_event_open is forbidden here, as containers do it with a filter");
}

static int old_kernel(struct counters_thread *t)
{
	(void)t;
	return reason_is(ENOSYS, "this kernel has no performance events");
}

static int taken(struct counters_thread *t)
{
	(void)t;
	return reason_is(EBUSY, "somebody else has the counters to himself");
}

static int many_files(struct counters_thread *t)
{
	(void)t;
	return reason_is(EMFILE, "too many files are open");
}

static void refusals(void **state)
{
	static int (*const act[])(struct counters_thread *) = { in_container, old_kernel, taken, many_files };
	char setting = '0';
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");

	(void)state;
	if (file && fread(&setting, 1, 1, file) == 1 && setting > '2')
		skip();                  /* then that is the reason */
	if (file)
		fclose(file);
	assert_true(counters_choose("page-faults:u"));
	for (size_t i = 0; i < sizeof act / sizeof *act; i++) {
		int status = apart(act[i], NULL);

		if (status == 77)
			skip();          /* no filters here */
		assert_int_equal(status, 0);
	}
}

/* What the kernel does is for its administrator, unless the setting is 1 or less. */
static int as_nobody(struct counters_thread *t)
{
	(void)t;
	if (getuid() == 0 && setuid(65534) != 0)
		return 77;
	if (counters_possible())
		return 77;
	if (strstr(counters.reason, "kernel.perf_event_paranoid is ") && strstr(counters.reason, "perf_event_paranoid=1'"))
		return 0;
	fprintf(stderr, "%s\n", counters.reason);
	return 1;
}

static void paranoid(void **state)
{
	(void)state;
	assert_true(counters_choose("cpu-migrations"));
	int status = apart(as_nobody, NULL);

	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

static int no_counters_in_a_thread(struct counters_thread *t)
{
	uint64_t value[COUNTERS_MAX];
	char text[200];

	forbid(EPERM);
	if (counters_open(t) || counters_read(t, value))
		return 1;
	counters_close(t);
	return counters.total.unopened != 1 || !counters_problem(0, text, sizeof text) ||
	       strcmp(text, "threads without counters, which could not be opened for them: 1") != 0;
}

static void unopened(void **state)
{
	struct counters_thread t = { 0 };

	(void)state;
	assert_true(counters_choose("time,page-faults:u"));
	int status = apart(no_counters_in_a_thread, &t);

	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(no_names),
		cmocka_unit_test(choosing),
		cmocka_unit_test(refusals),
		cmocka_unit_test(paranoid),
		cmocka_unit_test(unopened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
