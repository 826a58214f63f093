/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls that a timer interrupts at random: with SA_RESTART they go on,
 * without they end with EINTR; those that never restart; those that wait for a signal.
 */
#include "torture.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#define BYTES 30

static uint64_t seed;
static volatile sig_atomic_t caught;

static void on_alarm(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	caught++;
	errno = 4711;                    /* a careless handler */
	torture_alarm(1 + (unsigned)(torture_random(&seed) % 1500));
}

static void on_user(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	caught++;
}

/* A child that writes byte after byte, slowly. */
static int feeder(pid_t *child)
{
	int ends[2];

	EXPECT(pipe(ends) == 0);
	*child = fork();
	if (!*child) {
		struct timespec nap = { 0, 1000000 };

		for (char i = 0; i < BYTES; i++) {
			nanosleep(&nap, NULL);
			if (write(ends[1], &i, 1) != 1)
				_exit(1);
		}
		_exit(17);
	}
	close(ends[1]);
	return ends[0];
}

static void feed(int flags)
{
	pid_t child;
	int fd = feeder(&child), status, got = 0, interrupted = 0, ended;

	torture_handle(SIGALRM, on_alarm, flags);
	torture_alarm(200);
	for (;;) {
		char c = 99;
		ssize_t n = read(fd, &c, 1);

		if (n < 0) {
			EXPECT((errno == EINTR || errno == 4711) && !(flags & SA_RESTART));
			interrupted++;
		} else if (n == 0) {
			break;
		} else {
			EXPECT(c == got);
			got++;
		}
	}
	while ((ended = waitpid(child, &status, 0)) < 0)
		EXPECT(!(flags & SA_RESTART));
	torture_alarm(0);
	close(fd);
	EXPECT(ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 17 && got == BYTES);
	printf("%s: %d bytes, %s\n", flags ? "restarted" : "interrupted", got, flags ? "never EINTR" : "EINTR");
}

static void repeated_alarm(long microseconds)
{
	struct itimerval often = { { 0, microseconds }, { 0, microseconds } };

	setitimer(ITIMER_REAL, &often, NULL);
}

static void never_restarted(void)
{
	struct timespec rest, nap = { 0, 20000000 }, begin, now;
	int ends[2];

	EXPECT(pipe(ends) == 0);
	torture_handle(SIGALRM, on_user, SA_RESTART);
	for (int i = 0; i < 20; i++) {
		struct pollfd p = { ends[0], POLLIN, 0 };
		struct timespec left = nap;

		repeated_alarm(500 + (long)(torture_random(&seed) % 1000));
		EXPECT(poll(&p, 1, 2000) == -1 && errno == EINTR);
		EXPECT(pause() == -1 && errno == EINTR);
		clock_gettime(CLOCK_MONOTONIC, &begin);
		while (torture_alarm(1 + (unsigned)(torture_random(&seed) % 4000)), nanosleep(&left, &rest)) {
			EXPECT(errno == EINTR && rest.tv_sec == 0);
			left = rest;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		EXPECT((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec >= nap.tv_nsec);
		torture_alarm(0);
	}
	puts("poll, pause and nanosleep end");
}

static void waited_for(void)
{
	sigset_t alarm_only, all_but, before;
	struct signalfd_siginfo read_info;
	siginfo_t info;

	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	sigfillset(&all_but);
	sigdelset(&all_but, SIGALRM);
	EXPECT(sigprocmask(SIG_BLOCK, &alarm_only, &before) == 0);
	int fd = signalfd(-1, &alarm_only, 0);

	EXPECT(fd >= 0);
	for (int i = 0; i < 20; i++) {
		struct timespec long_time = { 5, 0 };
		int had = caught;

		torture_alarm(1 + (unsigned)(torture_random(&seed) % 1500));
		EXPECT(sigsuspend(&all_but) == -1 && errno == EINTR && caught == had + 1);
		torture_alarm(1 + (unsigned)(torture_random(&seed) % 1500));
		EXPECT(sigwaitinfo(&alarm_only, &info) == SIGALRM && info.si_code == SI_KERNEL && caught == had + 1);
		torture_alarm(1 + (unsigned)(torture_random(&seed) % 1500));
		EXPECT(ppoll(NULL, 0, &long_time, &before) == -1 && errno == EINTR && caught == had + 2);
		torture_alarm(1 + (unsigned)(torture_random(&seed) % 1500));
		EXPECT(read(fd, &read_info, sizeof read_info) == sizeof read_info && read_info.ssi_signo == SIGALRM);
		EXPECT(caught == had + 2);
	}
	EXPECT(sigprocmask(SIG_SETMASK, &before, NULL) == 0);
	close(fd);
	puts("waited for");
}

int main(int argc, char **argv)
{
	seed = torture_seed(argc, argv);
	setvbuf(stdout, NULL, _IONBF, 0);
	feed(SA_RESTART);
	feed(0);
	never_restarted();
	waited_for();
	return 0;
}
