/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions of the C library that are watched while a program calls them:
 * allocations.c, filebytes.c and lockwaits.c stand before them. They are part
 * of a second library (slope-sampler-calls.so) that has all of the first one;
 * who measures time alone does not pay for them.
 *
 * Each has a meter. So much of what it measures is a sample, on average: what
 * is at least a period long is always one, and counts as it is. Of what is
 * shorter, samples are taken at distances that vary at random around the period
 * (lest a program that repeats itself is always met at the same place), and
 * each counts as a whole period. A period of 1 is exact.
 */
#ifndef SLOPE_SAMPLER_CALLPOINTS_H
#define SLOPE_SAMPLER_CALLPOINTS_H

#include "sources/sampler/sampler.h"

#define SLOPE_VISIBLE __attribute__((visibility("default")))

/* All that we stand before. */
#define SLOPE_ALLOCATION_LIST(X) \
	X(malloc) X(calloc) X(realloc) X(reallocarray) X(free) X(posix_memalign) X(aligned_alloc) X(memalign) \
	X(valloc) X(pvalloc)
#define SLOPE_TRANSFER_LIST(X) \
	X(read) X(pread) X(pread64) X(readv) X(preadv) X(preadv64) X(recv) X(recvfrom) X(recvmsg) X(__read_chk) \
	X(__pread_chk) X(__pread64_chk) X(__recv_chk) X(__recvfrom_chk) X(write) X(pwrite) X(pwrite64) \
	X(writev) X(pwritev) X(pwritev64) X(send) X(sendto) X(sendmsg) X(fread) X(fread_unlocked) \
	X(__fread_chk) X(fgets) X(fgets_unlocked) X(__fgets_chk) X(getline) X(getdelim) X(__getdelim) X(fwrite) \
	X(fwrite_unlocked) X(fputs) X(fputs_unlocked) X(puts) X(printf) X(fprintf) X(vprintf) X(vfprintf) \
	X(__printf_chk) X(__fprintf_chk) X(__vprintf_chk) X(__vfprintf_chk)
#define SLOPE_LOCK_LIST(X) \
	X(pthread_mutex_lock) X(pthread_mutex_timedlock) X(pthread_mutex_clocklock) X(pthread_spin_lock) \
	X(mtx_lock) X(mtx_timedlock) X(pthread_rwlock_rdlock) X(pthread_rwlock_wrlock) \
	X(pthread_rwlock_timedrdlock) X(pthread_rwlock_timedwrlock) X(sem_wait)

/* The functions behind us. All are looked up at the start, or before it, when they are called first. */
struct slope_callpoints {
#define X(name) void *name;
	SLOPE_ALLOCATION_LIST(X)
	SLOPE_TRANSFER_LIST(X)
	SLOPE_LOCK_LIST(X)
#undef X
};

extern struct slope_callpoints slope_callpoints;

/*
 * Looks it up and keeps it. NULL: while ld.so does so in this thread it calls
 * one that we stand before. The process ends when there is no such function.
 */
void *slope_callpoints_find(void **kept, const char *name);

/* The real function that this one stands before. */
#define SLOPE_NEXT(name)                                                                                    \
	((__typeof__(&name))(SLOPE_LIKELY(slope_callpoints.name != NULL) ? slope_callpoints.name :            \
			     slope_callpoints_find(&slope_callpoints.name, #name)))

/* The rest of slope_callpoints_weight: what is shorter than a period. */
uint64_t slope_callpoints_short(struct slope_sampled *t, int column, uint64_t amount);

/* How much the sample of this amount counts; 0: there is none to take. */
static inline uint64_t slope_callpoints_weight(enum slope_meter_kind kind, uint64_t amount)
{
	struct slope_sampled *t = slope_sampled;
	int column = slope_sampler.meters.column[kind];

	if (!t || column < 0 || !amount)
		return 0;
	if (amount >= slope_sampler.meters.meter[column].period)
		return amount;
	t->left[column] -= (int64_t)amount;
	return SLOPE_LIKELY(t->left[column] > 0) ? 0 : slope_callpoints_short(t, column, amount);
}

/* Takes a sample, if it is due, where the program has called us. */
static inline void slope_callpoints_note(enum slope_meter_kind kind, uint64_t amount)
{
	uint64_t weight = slope_callpoints_weight(kind, amount);

	if (SLOPE_UNLIKELY(weight))
		slope_sampling_here(slope_sampler.meters.column[kind], weight);
}

#endif
