/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The address plan. The program lives in a window [0, W); every thread has a
 * shadow window beside it, in which the word of the 4-byte cell at address A
 * lies at shadow base + A. %gs holds that base, so that one prefix on the
 * program's own operand reaches the shadow word. The first megabyte of a
 * shadow window stands for addresses that no program gets here: the thread's
 * context (context.h) lies there.
 *
 *   PLAN_LOWEST  the program, where it has fixed addresses (non-PIE)
 *   PLAN_NEAR    the program (PIE), its interpreter, files that it maps, and
 *                whatever else may be code
 *   PLAN_CACHE   translated code
 *   PLAN_SELF    the translator; its link address is in meson.build
 *   PLAN_TARGETS what indirect branches look up (codecache.h)
 *   2^31         nothing, up to
 *   PLAN_BREAK   the program's brk area
 *   PLAN_FAR     all other mappings, up to the stack
 *   W            end of the window; the stack lies just below
 *
 * Nearly all code lies in the first 2 GB, so that a copied instruction reaches its
 * rip-relative operand with another displacement, and addresses of code fit
 * into signed 32-bit immediates; above, both take a longer way. With W = 2^36 a thousand shadow windows take
 * half of the 2^47 bytes that a process has. What the kernel places by itself
 * (our own pages, shadow windows) comes from the top of these.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_PLAN_H
#define SLOPE_SOURCES_TRANSLATOR_PLAN_H

#define PLAN_LOWEST 0x100000             /* no program gets memory below */
#define PLAN_NEAR 0x10000000ul
#define PLAN_CACHE 0x60000000ul
#define PLAN_CACHE_END 0x70000000ul
#define PLAN_SELF 0x70000000ul
#define PLAN_TARGETS 0x78000000          /* the code cache's targets of indirect branches, up to */
#define PLAN_LANDINGS 0x7f000000ul       /* where entries of the program's jump tables land, up to PLAN_SELF_END */
#define PLAN_SELF_END 0x80000000ul
#define PLAN_BREAK 0x100000000ul
#define PLAN_BREAK_END 0x400000000ul
#define PLAN_FAR PLAN_BREAK_END

#define PLAN_WINDOW_LOG2 36u             /* the default; --window-log2 (--window of record) chooses another */
#define PLAN_WINDOW_LOG2_MIN 35u
#define PLAN_WINDOW_LOG2_MAX 44u

#define PLAN_STACK_DEFAULT_BYTES (8ul << 20)
#define PLAN_STACK_MAX_BYTES (4ul << 30)

#endif
