/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counters. What the machine does not offer is left out here, and asked for
 * anew each time: where there are hardware counters, their tests run.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <cmocka.h>

#include "sources/translator/counters.h"
#include "sources/translator/system.h"
#include "tests/unit/apart.h"

#define PAGES 64u
#define TURNS 100000u

static void touch_pages(void)
{
	volatile char *p = mmap(NULL, PAGES * SLOPE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	madvise((void *)p, PAGES * SLOPE_PAGE_BYTES, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < PAGES; i++)
		p[i * SLOPE_PAGE_BYTES] = 1;
	munmap((void *)p, PAGES * SLOPE_PAGE_BYTES);
}

/* Two instructions a turn, one of them a branch. */
static void turn(void)
{
	uint64_t n = TURNS;

	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
}

/* False: this event is not to be had here. */
static bool offered(const char *list)
{
	assert_true(counters_choose(list));
	if (counters_possible())
		return true;
	print_message("left out: %s\n", counters.reason);
	return false;
}

/* ---- what nobody can refuse ---- */

static void simulated(void **state)
{
	struct counters_thread t = { 0 }, other = { 0 };
	uint64_t value[COUNTERS_MAX];

	(void)state;
	assert_true(counters_choose("sim:5,sim:7"));
	assert_true(counters_open(&t));
	assert_true(counters_open(&other));
	for (uint64_t i = 1; i <= 3; i++) {
		assert_true(counters_read(&t, value));
		assert_int_equal(value[0], 5 * i);
		assert_int_equal(value[1], 7 * i);
	}
	assert_true(counters_read(&other, value));
	assert_int_equal(value[0], 5);
	counters_calibrate(&t);
	assert_int_equal(counters.own[1], 7);
	assert_true(counters.own_exact[1]);
	assert_int_equal(t.seen.reads, 3);
	assert_int_equal(t.seen.by_call, 0);
	counters_close(&t);
	counters_close(&other);
	assert_int_equal(counters.total.reads, 4);
	assert_false(counters_read(&t, value));
	counters_leave(&t);
	assert_int_equal(counters.total.reads, 0);
}

static void stamps(void **state)
{
	struct counters_thread t = { 0 };
	uint64_t before[COUNTERS_MAX], after[COUNTERS_MAX];

	(void)state;
	assert_true(counters_choose("time"));
	counters.ns_per_2_32_cycles = UINT64_C(1) << 31;         /* two ticks are a nanosecond */
	assert_true(counters_open(&t));
	assert_true(counters_read(&t, before));
	usleep(2000);
	assert_true(counters_read(&t, after));
	assert_true(after[0] > before[0] + 100000);
	t.one[0].raw = UINT64_MAX;       /* a processor whose counter is ahead: time stands still, and does not go back */
	assert_true(counters_read(&t, before));
	assert_int_equal(before[0], after[0]);
	counters_calibrate(&t);
	assert_false(counters.own_exact[0]);
	counters_close(&t);
}

static void usage(void **state)
{
	struct counters_thread t = { 0 };
	uint64_t before[COUNTERS_MAX], after[COUNTERS_MAX];

	(void)state;
	assert_true(counters_choose("page-faults,minor-faults,context-switches,task-clock"));
	assert_true(counters_open(&t));
	assert_true(counters_read(&t, before));
	assert_in_range(before[0], 0, PAGES / 2);        /* not those from before it was opened */
	touch_pages();
	usleep(1000);
	turn();
	assert_true(counters_read(&t, after));
	assert_in_range(after[0] - before[0], PAGES, 2 * PAGES);
	assert_in_range(after[1] - before[1], PAGES, 2 * PAGES);
	assert_true(after[2] > before[2]);
	assert_true(after[3] > before[3]);
	assert_int_equal(t.seen.by_call, 2);
	counters_close(&t);
}

/* ---- events of the kernel ---- */

static void own_faults(void **state)
{
	struct counters_thread t = { 0 };
	uint64_t before[COUNTERS_MAX], after[COUNTERS_MAX];

	(void)state;
	if (!offered("page-faults:u,alignment-faults"))
		skip();
	assert_true(counters_open(&t));
	assert_true(t.one[0].fd > 100 || t.one[0].page);
	assert_true(counters_read(&t, before));
	touch_pages();
	assert_true(counters_read(&t, after));
	assert_in_range(after[0] - before[0], PAGES, 2 * PAGES);
	assert_int_equal(after[1], 0);
	counters_close(&t);
	assert_true(counters.total.enabled_ns[0] > 0);
	counters_leave(&t);
}

/* A program may close whatever it finds, and open something of its own there. */
static void closed_by_the_program(void **state)
{
	struct counters_thread t = { 0 };
	uint64_t value[COUNTERS_MAX];
	char text[200], left[8];
	int file, ends[2];

	(void)state;
	if (!offered("page-faults:u"))
		skip();
	assert_true(counters_open(&t));
	assert_true(counters_read(&t, value));
	int was = (int)t.one[0].fd;

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], "precious", 8), 8);
	file = dup2(ends[0], was);       /* above the limit nothing can be put there */
	if (file < 0)
		close(was);
	assert_false(counters_read(&t, value));
	assert_true(counters_read(&t, value));
	assert_int_equal(read(ends[0], left, 8), 8);
	assert_int_not_equal(t.one[0].fd, file);
	counters_close(&t);
	if (file >= 0)
		assert_int_equal(close(file), 0);
	close(ends[0]);
	close(ends[1]);
	assert_true(counters_problem(0, text, sizeof text));
	assert_string_equal(text, "readings of counters that said nothing and are left out: 1");
	assert_true(counters_problem(1, text, sizeof text));
	assert_string_equal(text, "counters that the program had closed, and that were opened anew: 1");
	assert_false(counters_problem(2, text, sizeof text));
	counters_leave(&t);
}

/* Limits are the program's, and stay what they are. */
static void above_the_limit(void **state)
{
	struct counters_thread t = { 0 };
	struct rlimit limit, low, after;

	(void)state;
	if (!offered("page-faults:u"))
		skip();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	low.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	assert_true(counters_open(&t));
	assert_true(t.one[0].page || t.one[0].fd >= 64);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &after), 0);
	assert_int_equal(after.rlim_cur, 64);
	counters_close(&t);
	setrlimit(RLIMIT_NOFILE, &limit);
	counters_leave(&t);
}

static void *in_thread(void *arg)
{
	struct counters_thread t = { 0 };
	uint64_t value[COUNTERS_MAX];

	touch_pages();
	assert_true(counters_open(&t));
	assert_true(counters_read(&t, value));
	*(uint64_t *)arg = value[0];
	touch_pages();
	assert_true(counters_read(&t, value));
	((uint64_t *)arg)[1] = value[0];
	counters_close(&t);
	return NULL;
}

static void threads(void **state)
{
	static const char *const list[] = { "page-faults", "page-faults:u" };
	struct counters_thread t = { 0 };
	uint64_t value[4][2], own[COUNTERS_MAX];
	pthread_t thread[4];

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		if (!offered(list[k]))
			continue;
		assert_true(counters_open(&t));
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&thread[i], NULL, in_thread, value[i]), 0);
		for (unsigned i = 0; i < 4; i++) {
			pthread_join(thread[i], NULL);
			assert_in_range(value[i][0], 0, PAGES / 2);
			assert_in_range(value[i][1] - value[i][0], PAGES, 2 * PAGES);
		}
		assert_true(counters_read(&t, own));
		assert_in_range(own[0], 0, PAGES);
		counters_close(&t);
		assert_int_equal(counters.total.threads, 5);
		counters_leave(&t);
	}
}

static int after_a_fork(struct counters_thread *t)
{
	uint64_t value[COUNTERS_MAX];

	counters_leave(t);
	if (counters_read(t, value) || !counters_open(t) || !counters_read(t, value) || value[0] > PAGES / 2)
		return 1;
	touch_pages();
	return !counters_read(t, value) || value[0] < PAGES ? 2 : 0;
}

static void forks(void **state)
{
	struct counters_thread t = { 0 };
	uint64_t before[COUNTERS_MAX], value[COUNTERS_MAX];

	(void)state;
	if (!offered("page-faults:u"))
		skip();
	assert_true(counters_open(&t));
	touch_pages();
	assert_true(counters_read(&t, before));
	assert_int_equal(apart(after_a_fork, &t), 0);
	assert_true(counters_read(&t, value));
	assert_true(value[0] >= before[0]);
	counters_close(&t);
	assert_int_equal(counters.total.reads, 2);
	counters_leave(&t);
}

/* ---- hardware, where there is some ---- */

static void hardware(void **state)
{
	struct counters_thread t = { 0 };
	uint64_t before[COUNTERS_MAX], after[COUNTERS_MAX];

	(void)state;
	if (!offered("instructions,branches,cycles"))
		skip();
	assert_true(counters_open(&t));
	counters_calibrate(&t);
	assert_true(counters_read(&t, before));
	turn();
	assert_true(counters_read(&t, after));
	assert_in_range(after[0] - before[0], 2 * TURNS, 2 * TURNS + 5000);
	assert_in_range(after[1] - before[1], TURNS, TURNS + 2000);
	assert_true(after[2] > before[2]);
	if (t.one[0].page && counters.own_exact[0])
		assert_in_range(after[0] - before[0] - counters.own[0], 2 * TURNS, 2 * TURNS + 50);
	print_message("instructions by %s, %llu for a reading\n", t.one[0].page ? "rdpmc" : "read", (unsigned long long)counters.own[0]);
	counters_close(&t);
	counters_leave(&t);
}

/* ---- a page as the kernel keeps it, while the event is not on the processor ---- */

static void shared_counter(void **state)
{
	static struct perf_event_mmap_page page = { .cap_user_rdpmc = 1, .pmc_width = 48, .offset = 1000, .time_enabled = 100,
						    .time_running = 100 };
	struct counters_thread t = { .open = true };
	uint64_t value[COUNTERS_MAX];
	char text[200];

	(void)state;
	assert_true(counters_choose("r1"));
	t.one[0] = (struct counters_one){ .page = &page, .fd = -1 };
	assert_true(counters_read(&t, value));
	assert_int_equal(value[0], 1000);
	page.offset = 1600;
	page.time_enabled = UINT64_C(60) << 32;         /* from now on it has half of the time */
	page.time_running = UINT64_C(30) << 32;
	assert_true(counters_read(&t, value));
	assert_int_equal(value[0], 1000 + 2 * 600);
	page.offset = 1500;              /* never back */
	assert_true(counters_read(&t, value));
	assert_int_equal(value[0], 2200);
	page.time_running = 0;
	assert_false(counters_read(&t, value));
	page.time_running = UINT64_C(15) << 32;
	assert_true(counters_read(&t, value));
	t.one[0].page = NULL;
	counters_close(&t);
	assert_true(counters_problem(0, text, sizeof text));
	assert_string_equal(text, "the counter of r1 was shared with others and ran for 25 % of the time; its values are scaled up");
	counters_leave(&t);
}

/*
 * A processor whose counters are ours: where programs may not use rdpmc it
 * faults, and the handler does what it would have done.
 */
static struct {
	uint64_t counter[4];
	unsigned faults;
	struct perf_event_mmap_page page;
	bool move;                   /* the kernel moves the event to another counter, just then */
} processor;

static void do_rdpmc(int signal, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *code = (const unsigned char *)reg[REG_RIP];

	(void)signal;
	(void)info;
	if (code[0] != 0x0f || code[1] != 0x33)
		abort();
	uint64_t now = processor.counter[reg[REG_RCX] & 3];

	processor.faults++;
	if (processor.move) {
		processor.move = false;
		processor.page.lock += 2;
		processor.page.index = 1;
		processor.page.offset = 100;
	}
	reg[REG_RAX] = (greg_t)(now & UINT32_MAX);
	reg[REG_RDX] = (greg_t)(now >> 32);
	reg[REG_RIP] += 2;
}

static void read_with_rdpmc(void)
{
	struct counters_thread t = { .open = true };
	struct perf_event_mmap_page *page = &processor.page;
	uint64_t value[COUNTERS_MAX];

	*page = (struct perf_event_mmap_page){ .cap_user_rdpmc = 1, .pmc_width = 48, .index = 3, .offset = 5 };
	t.one[0] = (struct counters_one){ .page = page, .fd = -1 };
	processor.counter[2] = (UINT64_C(1) << 48) - 3;          /* less than 0: it is to overflow soon */
	assert_true(counters_read(&t, value));
	if (!processor.faults)
		skip();                  /* here it is the real processor's */
	assert_int_equal(value[0], 2);
	processor.counter[2] = 7;
	assert_true(counters_read(&t, value));
	assert_int_equal(value[0], 12);
	processor.counter[2] = (UINT64_C(1) << 47) - 1;
	assert_true(counters_read(&t, value));
	assert_int_equal(value[0], (UINT64_C(1) << 47) + 4);
	page->offset = INT64_C(1) << 47; /* the kernel has taken it in */
	page->lock += 2;
	processor.counter[2] = 20;
	assert_true(counters_read(&t, value));
	assert_int_equal(value[0], (UINT64_C(1) << 47) + 20);
	t.one[0].raw = t.one[0].value = 0;
	processor.counter[2] = 999999;
	processor.counter[0] = 11;
	processor.move = true;
	assert_true(counters_read(&t, value));
	assert_int_equal(value[0], 111); /* never a part of one and a part of the other */
	assert_int_equal(processor.faults, 6);
	assert_int_equal(t.seen.by_call, 0);
}

static void rdpmc_by_hand(void **state)
{
	struct sigaction ours = { .sa_sigaction = do_rdpmc, .sa_flags = SA_SIGINFO | SA_NODEFER }, before;

	(void)state;
	assert_true(counters_choose("r1"));
	sigaction(SIGSEGV, &ours, &before);
	read_with_rdpmc();
	sigaction(SIGSEGV, &before, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simulated),
		cmocka_unit_test(stamps),
		cmocka_unit_test(usage),
		cmocka_unit_test(own_faults),
		cmocka_unit_test(closed_by_the_program),
		cmocka_unit_test(above_the_limit),
		cmocka_unit_test(threads),
		cmocka_unit_test(forks),
		cmocka_unit_test(hardware),
		cmocka_unit_test(shared_counter),
		cmocka_unit_test(rdpmc_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
