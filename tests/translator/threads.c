/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads in odd ways: storms of them, many at once, cancelled, detached,
 * interrupted, forking, loading libraries, and left behind by the end of the
 * process. What it prints does not depend on who runs first.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MANY 4000
#define AT_ONCE 300
#define WAVE 20

static _Thread_local long own = 7;
static atomic_long total;
static pthread_barrier_t barrier;
static sem_t done, ready;

static void *one(void *arg)
{
	own += (long)arg;
	total += own;
	return (void *)own;
}

static long join(pthread_t t)
{
	void *result = NULL;

	if (pthread_join(t, &result))
		return -1;
	return (long)result;
}

/* Thousands over time, some at once. */
static void storm(void)
{
	long sum = 0;
	pthread_t t[WAVE];

	for (long i = 0; i < MANY; i += WAVE) {
		for (long k = 0; k < WAVE; k++)
			if (pthread_create(&t[k], NULL, one, (void *)(i + k)))
				exit(90);
		for (long k = 0; k < WAVE; k++)
			sum += join(t[k]);
	}
	printf("storm %ld %ld\n", sum, (long)total);
}

static void *meets(void *arg)
{
	own = (long)arg;
	pthread_barrier_wait(&barrier);
	total += own;
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void crowd(void)
{
	pthread_t t[AT_ONCE];
	pthread_attr_t small;

	total = 0;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	pthread_barrier_init(&barrier, NULL, AT_ONCE + 1);
	for (long i = 0; i < AT_ONCE; i++)
		if (pthread_create(&t[i], &small, meets, (void *)i))
			exit(91);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (long i = 0; i < AT_ONCE; i++)
		join(t[i]);
	printf("crowd %ld\n", (long)total);
}

static void cleaned(void *arg)
{
	*(int *)arg += 1;
}

static void *sleeps(void *arg)
{
	pthread_cleanup_push(cleaned, arg);
	sem_post(&ready);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return NULL;
}

static void *spins(void *arg)
{
	volatile long n = 0;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_cleanup_push(cleaned, arg);
	sem_post(&ready);
	for (;;)
		n++;
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancelled(void)
{
	int cleanups = 0, gone = 0;

	for (int i = 0; i < 20; i++) {
		pthread_t t;
		void *result;

		if (pthread_create(&t, NULL, i % 2 ? sleeps : spins, &cleanups))
			exit(92);
		sem_wait(&ready);
		pthread_cancel(t);
		pthread_join(t, &result);
		gone += result == PTHREAD_CANCELED;
	}
	printf("cancelled %d cleanups %d\n", gone, cleanups);
}

static void *detached(void *arg)
{
	total += (long)arg;
	sem_post(&done);
	return NULL;
}

static void detach(void)
{
	pthread_attr_t attr;
	pthread_t t;

	total = 0;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (long i = 0; i < 100; i++)
		if (pthread_create(&t, &attr, detached, (void *)i))
			exit(93);
	for (int i = 0; i < 100; i++)
		sem_wait(&done);
	printf("detached %ld\n", (long)total);
}

static _Thread_local volatile sig_atomic_t hits;
static atomic_int all_hits;

static void on_signal(int number)
{
	(void)number;
	hits++;
	all_hits++;
}

static void *is_hit(void *arg)
{
	volatile long n = 0;

	(void)arg;
	sem_post(&ready);
	while (hits < 10)
		n++;
	return NULL;
}

static void *is_masked(void *arg)
{
	sigset_t set;
	int number = 0;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sem_post(&ready);
	sigwait(&set, &number);
	return (void *)(long)number;
}

static void signalled(void)
{
	pthread_t t[4];
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &a, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, is_hit, NULL);
	for (int i = 0; i < 4; i++)
		sem_wait(&ready);
	for (int n = 0; n < 10; n++)
		for (int i = 0; i < 4; i++) {
			int before = all_hits;

			pthread_kill(t[i], SIGUSR1);
			while (all_hits == before)
				sched_yield();
		}
	for (int i = 0; i < 4; i++)
		join(t[i]);
	printf("signalled %d\n", all_hits);
	pthread_create(&t[0], NULL, is_masked, NULL);
	sem_wait(&ready);
	pthread_kill(t[0], SIGUSR2);
	printf("waited for %d\n", join(t[0]) == SIGUSR2);
}

/* Signals at random times, to the process and to threads, some at work, some in system calls. */
static atomic_int ticks, working;

static void on_tick(int number, siginfo_t *info, void *context)
{
	int keep = errno;

	(void)number;
	(void)context;
	if (info->si_signo)
		ticks++;
	errno = keep;
}

static void *hashes(void *arg)
{
	unsigned long h = (unsigned long)arg;
	unsigned char block[512];

	for (int round = 0; round < 400; round++) {
		for (unsigned i = 0; i < sizeof block; i++)
			block[i] = (unsigned char)(h >> i % 56);
		for (unsigned i = 0; i < sizeof block; i++)
			h = (h ^ block[i]) * 0x100000001b3ul;
	}
	working--;
	return (void *)h;
}

static void *naps(void *arg)
{
	struct timespec nap = { 0, 200000 }, left;
	long naps = 0;

	for (; working > 0; naps++)
		while (clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, &left) == EINTR)
			;
	return arg;
}

static void stormed(void)
{
	struct sigaction a = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };
	pthread_t t[6];
	unsigned long h = 0;

	sigaction(SIGALRM, &a, NULL);
	sigaction(SIGUSR2, &a, NULL);
	working = 4;
	setitimer(ITIMER_REAL, &often, NULL);
	for (long i = 0; i < 6; i++)
		pthread_create(&t[i], NULL, i < 4 ? hashes : naps, (void *)(i + 1));
	for (int i = 0; working > 0; i++) {
		pthread_kill(t[4 + i % 2], SIGUSR2);
		sched_yield();
	}
	for (int i = 0; i < 6; i++)
		h = h * 31 + (unsigned long)join(t[i]);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("stormed %lx %d\n", h, ticks > 0);
}

/* setuid of one thread is of all: signal 33 goes to the others. */
static void *idles(void *arg)
{
	sem_post(&ready);
	sem_wait(arg);
	return NULL;
}

static void identity(void)
{
	pthread_t t[3];
	sem_t end;

	sem_init(&end, 0, 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, idles, &end);
	for (int i = 0; i < 3; i++)
		sem_wait(&ready);
	printf("setgid %d\n", setgid(getgid()));
	for (int i = 0; i < 3; i++)
		sem_post(&end);
	for (int i = 0; i < 3; i++)
		join(t[i]);
}

static void *forks(void *arg)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		pthread_t t;

		/* The child may have threads of its own. */
		if (pthread_create(&t, NULL, one, (void *)4))
			_exit(1);
		_exit((int)join(t) + (int)(long)arg);
	}
	waitpid(child, &status, 0);
	return (void *)(long)WEXITSTATUS(status);
}

static void *busy(void *arg)
{
	while (!*(volatile int *)arg)
		free(malloc(100));
	return NULL;
}

static void forked(void)
{
	pthread_t t[4], other[2];
	int stop = 0;
	long sum = 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&other[i], NULL, busy, &stop);
	for (int round = 0; round < 5; round++) {
		for (long i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, forks, (void *)i);
		for (int i = 0; i < 4; i++)
			sum += join(t[i]);
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		join(other[i]);
	printf("forked %ld, system %d\n", sum, WEXITSTATUS(system("exit 5")));
}

/* Programs started by several threads while others run. */
static void *spawns(void *arg)
{
	char *argv[] = { "sh", "-c", "exit 7", NULL };
	long good = 0;

	for (int i = 0; i < 3; i++) {
		int status = 0;
		char word[8] = "";
		pid_t child;

		if (!posix_spawnp(&child, "sh", NULL, NULL, argv, environ) && waitpid(child, &status, 0) == child)
			good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
		good += posix_spawn(&child, "/does/not/exist", NULL, NULL, argv, environ) == ENOENT;
		FILE *in = popen("echo hi", "r");

		good += in && fgets(word, sizeof word, in) && !strcmp(word, "hi\n");
		if (in)
			pclose(in);
	}
	return arg ? (void *)good : NULL;
}

static void spawned(void)
{
	pthread_t t[3], other;
	int stop = 0;
	long good = 0;

	pthread_create(&other, NULL, busy, &stop);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, spawns, &good);
	for (int i = 0; i < 3; i++)
		good += join(t[i]);
	stop = 1;
	join(other);
	printf("spawned %ld\n", good);
}

#ifndef STATIC
static void *loads(void *arg)
{
	long sum = 0;

	(void)arg;
	for (int i = 0; i < 10; i++) {
		void *m = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
		void *z = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
		double (*root)(double) = m ? (double (*)(double))dlsym(m, "cbrt") : NULL;

		sum += root ? (long)(root(27.0) + 0.5) : 0;
		if (z)
			dlclose(z);
		if (m)
			dlclose(m);
	}
	return (void *)sum;
}

static void loaded(void)
{
	pthread_t t[4];
	long sum = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, loads, NULL);
	for (int i = 0; i < 4; i++)
		sum += join(t[i]);
	printf("loaded %ld\n", sum);
}
#endif

/* The first thread ends first, or the process while others run. */
static void *outlives(void *arg)
{
	(void)arg;
	join(*(pthread_t *)arg);
	printf("outlived\n");
	exit(6);
}

int main(int argc, char **argv)
{
	static int never;
	static pthread_t self;
	pthread_t t;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sem_init(&done, 0, 0);
	sem_init(&ready, 0, 0);
	if (argc > 1 && !strcmp(argv[1], "outlive")) {
		self = pthread_self();
		pthread_create(&t, NULL, outlives, &self);
		pthread_exit(NULL);
	}
	storm();
	crowd();
	cancelled();
	detach();
	signalled();
	stormed();
	identity();
	forked();
	spawned();
#ifndef STATIC
	loaded();
#endif
	/* Nobody waits for these. */
	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, busy, &never);
	if (argc > 1 && !strcmp(argv[1], "exec"))
		execlp("echo", "echo", "executed", (char *)NULL);
	if (argc > 1 && !strcmp(argv[1], "abort"))
		abort();
	return 3;
}
