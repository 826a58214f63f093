/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time that threads wait for locks: mutexes, locks of readers and writers,
 * spinning ones, semaphores. A lock is tried first; only where it is taken, and
 * somebody has to wait, the time is looked at. Waiting for a condition, or at a
 * semaphore until some time, is no waiting for a lock, and is not counted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "sources/sampler/callpoints.h"

#define NS_PER_S 1000000000u

#define X(name) extern __typeof__(name) name SLOPE_VISIBLE;
SLOPE_LOCK_LIST(X)
#undef X

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static bool is_watched(void)
{
	return slope_sampled && slope_sampler.meters.column[SLOPE_METER_LOCKED] >= 0;
}

/* `call` gets what `try` does not; both with their results as functions of pthreads have them. */
#define WAIT_FOR(try, busy, call)                                                \
	do {                                                                     \
		if (!is_watched())                                               \
			return call;                                             \
		int result = try;                                                \
		if (SLOPE_LIKELY(!(busy)))                                       \
			return result;                                           \
		uint64_t start = now();                                          \
		result = call;                                                   \
		waited(start);                                                   \
		return result;                                                   \
	} while (0)

/* What the waiting has left in errno stays. */
static void waited(uint64_t start)
{
	int error = errno;

	slope_callpoints_note(SLOPE_METER_LOCKED, now() - start);
	errno = error;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	WAIT_FOR(pthread_mutex_trylock(mutex), result == EBUSY, SLOPE_NEXT(pthread_mutex_lock)(mutex));
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	WAIT_FOR(pthread_mutex_trylock(mutex), result == EBUSY, SLOPE_NEXT(pthread_mutex_timedlock)(mutex, until));
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
	WAIT_FOR(pthread_mutex_trylock(mutex), result == EBUSY, SLOPE_NEXT(pthread_mutex_clocklock)(mutex, clock, until));
}

int pthread_spin_lock(pthread_spinlock_t *lock)
{
	WAIT_FOR(pthread_spin_trylock(lock), result == EBUSY, SLOPE_NEXT(pthread_spin_lock)(lock));
}

int mtx_lock(mtx_t *mutex)
{
	WAIT_FOR(mtx_trylock(mutex), result == thrd_busy, SLOPE_NEXT(mtx_lock)(mutex));
}

int mtx_timedlock(mtx_t *mutex, const struct timespec *until)
{
	WAIT_FOR(mtx_trylock(mutex), result == thrd_busy, SLOPE_NEXT(mtx_timedlock)(mutex, until));
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	WAIT_FOR(pthread_rwlock_tryrdlock(lock), result == EBUSY, SLOPE_NEXT(pthread_rwlock_rdlock)(lock));
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	WAIT_FOR(pthread_rwlock_trywrlock(lock), result == EBUSY, SLOPE_NEXT(pthread_rwlock_wrlock)(lock));
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	WAIT_FOR(pthread_rwlock_tryrdlock(lock), result == EBUSY, SLOPE_NEXT(pthread_rwlock_timedrdlock)(lock, until));
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	WAIT_FOR(pthread_rwlock_trywrlock(lock), result == EBUSY, SLOPE_NEXT(pthread_rwlock_timedwrlock)(lock, until));
}

/* A thread that is cancelled ends at a semaphore, free or not. */
static int try_semaphore(sem_t *semaphore)
{
	pthread_testcancel();
	return sem_trywait(semaphore);
}

int sem_wait(sem_t *semaphore)
{
	WAIT_FOR(try_semaphore(semaphore), result && errno == EAGAIN, SLOPE_NEXT(sem_wait)(semaphore));
}
