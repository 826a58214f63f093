/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine code of checks: for reads the words are compared with the
 * topmost activation's stamp, for writes they get it. Words are reached
 * through %gs, stamps in the slots through %rbp. Only rax, rcx, rdx and r11 change.
 * At a block's first instruction and behind its last one no register is in use:
 * there calls, of calls.c, are made as they are.
 */
#ifndef SLOPE_SOURCES_VALGRIND_CHECKCODE_H
#define SLOPE_SOURCES_VALGRIND_CHECKCODE_H

#include "sources/valgrind/tool.h"

#define CHECK_BYTES 96           /* none is longer */

struct check {
	enum { CHECK_READ, CHECK_WRITE, CHECK_COST, CHECK_ENTRY, CHECK_STUB_CALL, CHECK_JUMP } what;
	Int bytes;
	Bool aligned;
	void (*kept)(void);          /* what it calls, with the register's value in rdx: see kept.c */
};

/* Writes the check of what is in a register, or needs no register: with a cost to add, a struct callee, or a range. Its bytes. */
Int check_write(UChar *to, const struct check *check, UInt reg, ULong value);

#endif
