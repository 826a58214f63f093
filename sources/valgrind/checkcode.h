/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine code of checks: for reads the words are compared with the
 * topmost activation's stamp, for writes they get it. Words are reached
 * through %gs, stamps in the slots through %rbp. Only rax, rcx, rdx and r11 change.
 */
#ifndef SLOPE_SOURCES_VALGRIND_CHECKCODE_H
#define SLOPE_SOURCES_VALGRIND_CHECKCODE_H

#include "sources/valgrind/tool.h"

#define CHECK_BYTES 96           /* none is longer */

struct check {
	enum { CHECK_READ, CHECK_WRITE, CHECK_COST } what;
	Int bytes;
	Bool aligned;
	void (*stale)(void);         /* for a read of a stale word: see kept.c */
};

/* Writes the check of the address in a register, or the addition to the counter. Its bytes. */
Int check_write(UChar *to, const struct check *check, UInt reg, UInt cost);

#endif
