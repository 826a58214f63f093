/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that are sent signals at random times while they count, wait, sleep,
 * start others and children, and are cancelled. Nothing may be lost: every
 * count is known in the end, and every handler runs in the thread that it was for.
 */
#include "torture.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

#define THREADS 6
#define ROUNDS 120
#define SIGNALS 40

extern char **environ;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t counted, cleaned, finished;
static sem_t handled;
static volatile int timers;

struct worker {
	pthread_t thread;
	int index;
	volatile int ready, caught;
	uint64_t seed;
};

static struct worker workers[THREADS];
static __thread struct worker *self;
static __thread uint64_t own[4];

static void on_user(int number, siginfo_t *info, void *context)
{
	int keep = errno;

	(void)number, (void)context;
	EXPECT(self && pthread_equal(self->thread, pthread_self()) && info->si_code == SI_TKILL);
	self->caught++;
	sem_post(&handled);
	errno = keep;
}

/* For whichever thread the kernel chooses. */
static void on_alarm(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	__atomic_fetch_add(&timers, 1, __ATOMIC_RELAXED);
}

static void *little(void *argument)
{
	own[0] = (uint64_t)argument;
	return (void *)(own[0] * 3);
}

static void spawn_child(void)
{
	char *const words[] = { "true", NULL };
	pid_t pid;
	int status;

	EXPECT(posix_spawn(&pid, "/nowhere", NULL, NULL, words, environ) == ENOENT);
	EXPECT(posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ) == 0);
	while (waitpid(pid, &status, 0) < 0)
		EXPECT(errno == EINTR);
	EXPECT(status == 0);
}

static void one_round(struct worker *w, int round)
{
	pthread_t other;
	void *result;

	switch (torture_random(&w->seed) % 5) {
	case 0:
		EXPECT(pthread_create(&other, NULL, little, (void *)(uint64_t)round) == 0);
		EXPECT(pthread_join(other, &result) == 0 && result == (void *)((uint64_t)round * 3));
		break;
	case 1:
		usleep((unsigned)(torture_random(&w->seed) % 300));
		break;
	case 2:
		if (round % 16 == 0)
			spawn_child();
		break;
	default:
		for (volatile int spin = 0; spin < 2000; spin++)
			own[1] += (uint64_t)spin;
		break;
	}
	own[2]++;
	pthread_mutex_lock(&lock);
	counted++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void *work(void *argument)
{
	self = argument;
	self->thread = pthread_self();
	self->ready = 1;
	for (int i = 0; i < ROUNDS; i++)
		one_round(self, i);
	EXPECT(own[2] == ROUNDS);
	pthread_mutex_lock(&lock);
	finished++;
	pthread_cond_broadcast(&changed);
	while (finished <= THREADS)      /* nobody ends before the last signal has been handled */
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void clean(void *argument)
{
	(void)argument;
	__atomic_fetch_add(&cleaned, 1, __ATOMIC_RELAXED);
}

/* Waits, or counts, until it is cancelled. */
static void *cancelled(void *argument)
{
	pthread_cleanup_push(clean, NULL);
	for (;;) {
		if ((uint64_t)argument % 2)
			pause();
		else
			pthread_testcancel();
	}
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel_some(uint64_t *seed)
{
	pthread_t t[4];
	void *result;

	for (uint64_t i = 0; i < 4; i++)
		EXPECT(pthread_create(&t[i], NULL, cancelled, (void *)i) == 0);
	usleep((unsigned)(torture_random(seed) % 2000));
	for (int i = 0; i < 4; i++)
		EXPECT(pthread_cancel(t[i]) == 0);
	for (int i = 0; i < 4; i++)
		EXPECT(pthread_join(t[i], &result) == 0 && result == PTHREAD_CANCELED);
}

int main(int argc, char **argv)
{
	uint64_t seed = torture_seed(argc, argv);
	int sent = 0, caught = 0;
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } }, never = { { 0 }, { 0 } };

	EXPECT(sem_init(&handled, 0, 0) == 0);
	torture_handle(SIGUSR1, on_user, SA_RESTART);
	torture_handle(SIGALRM, on_alarm, SA_RESTART);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < THREADS; i++) {
		workers[i].seed = seed + (uint64_t)i * 77;
		EXPECT(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
	}
	for (int i = 0; i < SIGNALS; i++) {
		struct worker *w = &workers[torture_random(&seed) % THREADS];

		while (!w->ready)
			usleep(100);
		EXPECT(pthread_kill(w->thread, SIGUSR1) == 0);
		sent++;
		while (sem_wait(&handled))
			EXPECT(errno == EINTR);
		if (i % 10 == 0)
			cancel_some(&seed);
		usleep((unsigned)(torture_random(&seed) % 400));
	}
	pthread_mutex_lock(&lock);
	while (finished < THREADS)
		pthread_cond_wait(&changed, &lock);
	finished++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < THREADS; i++) {
		EXPECT(pthread_join(workers[i].thread, NULL) == 0);
		caught += workers[i].caught;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	EXPECT(caught == sent && timers > 0);
	printf("%lu rounds, %d signals, %lu cancelled\n", counted, caught, cleaned);
	return 0;
}
