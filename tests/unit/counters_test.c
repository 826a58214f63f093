/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counters. What the machine does not offer is left out here, and asked for
 * anew each time: where there are hardware counters, their tests run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <cmocka.h>

#include "sources/translator/counters.h"
#include "sources/translator/system.h"

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

/* Runs `act` in a process of its own; its exit status. */
static int apart(int (*act)(struct counters_thread *t), struct counters_thread *t)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(act(t));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
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
		cmocka_unit_test(refusals),
		cmocka_unit_test(paranoid),
		cmocka_unit_test(unopened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
