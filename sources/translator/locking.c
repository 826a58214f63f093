/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/locking.h"

#include <linux/futex.h>
#include <linux/time_types.h>

#include "sources/translator/context.h"
#include "sources/translator/system.h"

#define FREE 0u
#define HELD 1u
#define WAITED_FOR 2u
#define SECOND_NS UINT64_C(1000000000)

void lock_wait(const uint32_t *word, uint32_t value, uint64_t nanoseconds)
{
	struct __kernel_timespec limit = { (long long)(nanoseconds / SECOND_NS), (long long)(nanoseconds % SECOND_NS) };

	system_call(__NR_futex, (long)word, FUTEX_WAIT_PRIVATE, value, nanoseconds ? (long)&limit : 0, 0, 0);
}

void lock_wake(const uint32_t *word, int count)
{
	system_call(__NR_futex, (long)word, FUTEX_WAKE_PRIVATE, count, 0, 0, 0);
}

void lock_take(struct lock *lock)
{
	struct context *self = context_here();
	uint32_t was = FREE;

	if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == self) {
		lock->depth++;
		return;
	}
	if (!__atomic_compare_exchange_n(&lock->word, &was, HELD, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__atomic_exchange_n(&lock->word, WAITED_FOR, __ATOMIC_ACQUIRE) != FREE)
			lock_wait(&lock->word, WAITED_FOR, 0);
	__atomic_store_n(&lock->owner, self, __ATOMIC_RELAXED);
	lock->depth = 1;
}

void lock_give(struct lock *lock)
{
	if (--lock->depth)
		return;
	__atomic_store_n(&lock->owner, NULL, __ATOMIC_RELAXED);
	if (__atomic_exchange_n(&lock->word, FREE, __ATOMIC_RELEASE) == WAITED_FOR)
		lock_wake(&lock->word, 1);
}

void lock_drop(struct lock *lock)
{
	if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != context_here())
		return;
	lock->depth = 1;
	lock_give(lock);
}
