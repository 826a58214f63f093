/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nothing is lost, doubled or let in too early: queued real-time signals with
 * values in their order from a child, sections in which signals are blocked, and timers by timer_create.
 */
#include "torture.h"

#include <sys/wait.h>
#include <time.h>

#define QUEUED 200

static volatile sig_atomic_t next_value, out_of_order, inside, wrong, ticks;
static uint64_t seed;

static void on_value(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	out_of_order += info->si_code != SI_QUEUE || info->si_value.sival_int != next_value || info->si_pid != getpid();
	next_value++;
}

static void on_child_value(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	out_of_order += info->si_value.sival_int != next_value || info->si_pid == getpid();
	next_value++;
}

static void on_timer(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	wrong += inside || info->si_code != SI_TIMER || info->si_value.sival_int != 4242;
	ticks++;
}

static timer_t random_timer(void)
{
	struct sigevent e = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 2, .sigev_value.sival_int = 4242 };
	struct itimerspec t = { { 0, 0 }, { 0, 100000 } };
	timer_t id;

	t.it_interval.tv_nsec = 400000 + (long)(torture_random(&seed) % 700000);
	EXPECT(timer_create(CLOCK_MONOTONIC, &e, &id) == 0);
	EXPECT(timer_settime(id, 0, &t, NULL) == 0);
	return id;
}

static void from_child(void)
{
	int status;
	pid_t parent = getpid(), child;

	next_value = 0;
	child = fork();
	if (!child) {
		for (int i = 0; i < QUEUED; i++) {
			union sigval v = { .sival_int = i };

			while (sigqueue(parent, SIGRTMIN + 1, v))
				usleep(100);
			if (torture_random(&seed) % 8 == 0)
				usleep((unsigned)(torture_random(&seed) % 300));
		}
		_exit(0);
	}
	while (next_value < QUEUED)
		;
	EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv)
{
	timer_t timer;
	sigset_t timer_only, before;

	seed = torture_seed(argc, argv);
	torture_handle(SIGRTMIN, on_value, SA_RESTART);
	torture_handle(SIGRTMIN + 1, on_child_value, SA_RESTART);
	torture_handle(SIGRTMIN + 2, on_timer, SA_RESTART);
	timer = random_timer();
	sigemptyset(&timer_only);
	sigaddset(&timer_only, SIGRTMIN + 2);
	for (int i = 0; i < QUEUED; i++) {
		union sigval v = { .sival_int = i };

		EXPECT(sigprocmask(SIG_BLOCK, &timer_only, &before) == 0);
		inside = 1;
		for (volatile int spin = 0; spin < 3000; spin++)
			;
		inside = 0;
		EXPECT(sigprocmask(SIG_SETMASK, &before, NULL) == 0);
		EXPECT(sigqueue(getpid(), SIGRTMIN, v) == 0);
		EXPECT(next_value == i + 1);
	}
	from_child();
	while (ticks < 20)
		;
	EXPECT(timer_delete(timer) == 0);
	printf("%d values, %d out of order, %d wrong\n", (int)next_value, (int)out_of_order, (int)wrong);
	return 0;
}
