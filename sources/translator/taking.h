/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads of many words, sixteen at a time with AVX-512: those that are stale go
 * into the log as they are and become the top's, as slope_thread_read_words
 * has it. A word that was never touched, or that somebody else has written,
 * is left to that one, with all that are read with it.
 *
 * The program's vector and mask registers are kept.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_TAKING_H
#define SLOPE_SOURCES_TRANSLATOR_TAKING_H

#include "core/access.h"
#include "sources/translator/observing.h"

#define TAKING_WORDS 16u

/* What is asked of up to 16 words: masks of those that are no ordinary stamps, and of those that are stale. */
struct taking {
	uint32_t odd, stale;
};

SLOPE_INLINE struct taking taking_look(const uint32_t *word, uint32_t lanes, uint32_t top)
{
	static const uint32_t least = STAMP_LEAST;
	struct taking t;

	__asm__ volatile("kmovd %k2, %%k1\n\t"
			 "vmovdqu32 %3, %%zmm16%{%%k1%}%{z%}\n\t"
			 "vpcmpd $1, %4%{1to16%}, %%zmm16, %%k2%{%%k1%}\n\t"
			 "vpcmpd $1, %5%{1to16%}, %%zmm16, %%k1%{%%k1%}\n\t"
			 "kmovd %%k2, %k0\n\t"
			 "kmovd %%k1, %k1"
			 : "=&r"(t.odd), "=&r"(t.stale) : "r"(lanes), "m"(*(const uint32_t (*)[TAKING_WORDS])word), "m"(least), "m"(top));
	return t;
}

/* Behind taking_look: the stale ones. */
SLOPE_INLINE void taking_move(struct slope_thread *core, uint32_t *word, uint32_t stale)
{
	uint32_t top = slope_thread_stamp(core), seen = slope_stamp_seen(top, core->marks);
	uint64_t entries;

	__asm__ volatile("vptestmd %3%{1to16%}, %%zmm16, %%k2%{%%k1%}\n\t"
			 "vpcompressd %%zmm16, %%zmm16%{%%k1%}%{z%}\n\t"
			 "vmovdqu32 %%zmm16, %0\n\t"
			 "vpbroadcastd %4, %%zmm16\n\t"
			 "vmovdqu32 %%zmm16, %1%{%%k1%}\n\t"
			 "vpbroadcastd %5, %%zmm16\n\t"
			 "vmovdqu32 %%zmm16, %1%{%%k2%}\n\t"
			 "popcnt %k6, %k2"
			 : "=m"(*(uint32_t (*)[TAKING_WORDS])(core->log + *core->log_end / sizeof *core->log)),
			   "+m"(*(uint32_t (*)[TAKING_WORDS])word), "=&r"(entries)
			 : "m"(core->own_kept), "r"(seen), "r"(top), "r"(stale) : "cc");
	*core->log_end += (uint32_t)entries * sizeof *core->log;
}

/* `count` words from the one of `cell` on; the thread has a log, and there is AVX-512. */
SLOPE_INLINE void taking_read(struct slope_thread *core, uint64_t cell, uint32_t *word, uint64_t count)
{
	uint64_t k1, k2;

	__asm__ volatile("kmovq %%k1, %0; kmovq %%k2, %1; vmovdqu64 %%zmm16, %%gs:%c2" : "=r"(k1), "=r"(k2) : "i"(CTX_VECTOR) : "memory");
	for (uint64_t n = 0; n < count; n += TAKING_WORDS) {
		uint32_t left = count - n < TAKING_WORDS ? (uint32_t)(count - n) : TAKING_WORDS;
		struct taking t;

		if (SLOPE_UNLIKELY(*core->log_end >= SLOPE_LOG_BYTES))
			slope_log_settle(core);
		t = taking_look(word + n, (1u << left) - 1, slope_thread_stamp(core));
		if (SLOPE_UNLIKELY(t.odd))
			slope_thread_read_apart(core, cell + n, word + n, left);
		else if (t.stale)
			taking_move(core, word + n, t.stale);
	}
	__asm__ volatile("kmovq %0, %%k1; kmovq %1, %%k2; vmovdqu64 %%gs:%c2, %%zmm16" : : "r"(k1), "r"(k2), "i"(CTX_VECTOR) : "memory");
}

#endif
