/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Four words side by side, at a multiple of 16 bytes, that other threads may
 * change at any time: looked at, compared and replaced as one. Four cells
 * that were handed on together need one such step instead of four.
 */
#ifndef SLOPE_CORE_QUAD_H
#define SLOPE_CORE_QUAD_H

#include "core/base.h"

#define SLOPE_QUAD_WORDS 4u

struct slope_quad {
	uint64_t low, high;
};

/* The cell of the first word of the four that this one's is among. */
SLOPE_INLINE uint64_t slope_quad_first(uint64_t cell)
{
	return cell & ~(uint64_t)(SLOPE_QUAD_WORDS - 1);
}

/* Its halves need not be from the same moment: slope_quad_replace finds out. */
SLOPE_INLINE struct slope_quad slope_quad_at(const uint32_t *words)
{
	const uint64_t *half = __builtin_assume_aligned(words, 16);

	return (struct slope_quad){ __atomic_load_n(half, __ATOMIC_ACQUIRE), __atomic_load_n(half + 1, __ATOMIC_ACQUIRE) };
}

/* The same word four times. */
SLOPE_INLINE struct slope_quad slope_quad_of(uint32_t word)
{
	uint64_t both = (uint64_t)word << 32 | word;

	return (struct slope_quad){ both, both };
}

SLOPE_INLINE bool slope_quad_equal(struct slope_quad a, struct slope_quad b)
{
	return ((a.low ^ b.low) | (a.high ^ b.high)) == 0;
}

/* Number i of the four. */
SLOPE_INLINE uint32_t slope_quad_word(struct slope_quad q, unsigned i)
{
	return (uint32_t)((i & 2 ? q.high : q.low) >> (i & 1) * 32);
}

/* `change` of each. */
SLOPE_INLINE struct slope_quad slope_quad_each(struct slope_quad q, uint32_t (*change)(uint32_t word, uint32_t arg), uint32_t arg)
{
	uint32_t first = change(slope_quad_word(q, 0), arg);

	if (SLOPE_LIKELY(slope_quad_equal(q, slope_quad_of(slope_quad_word(q, 0)))))
		return slope_quad_of(first);
	return (struct slope_quad){
		(uint64_t)change(slope_quad_word(q, 1), arg) << 32 | first,
		(uint64_t)change(slope_quad_word(q, 3), arg) << 32 | change(slope_quad_word(q, 2), arg),
	};
}

/* The four become `next` if they still are `old`; a full barrier. */
SLOPE_INLINE bool slope_quad_replace(uint32_t *words, struct slope_quad old, struct slope_quad next)
{
	bool done;

	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(done), "+m"(*(struct slope_quad *)words), "+a"(old.low), "+d"(old.high)
			 : "b"(next.low), "c"(next.high) : "memory");
	return done;
}

/*
 * The cache line of these words is wanted, and to be changed: it comes from the processor that has it in one step, where a look
 * and a change would be two. A hint; the words need not be there.
 */
SLOPE_INLINE void slope_quad_want(const uint32_t *words)
{
	__asm__ volatile("prefetchw %0" : : "m"(*words));
}

/* Each of the four becomes what `change` makes of it, in one step for all that others do. */
SLOPE_INLINE void slope_quad_change(uint32_t *words, uint32_t (*change)(uint32_t word, uint32_t arg), uint32_t arg)
{
	struct slope_quad old, next;

	do {
		old = slope_quad_at(words);
		next = slope_quad_each(old, change, arg);
	} while (!slope_quad_equal(old, next) && !slope_quad_replace(words, old, next));
}

#endif
