/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks and costs as machine code of our own. In the IR each is the call of a
 * helper. Before registers are allocated, such a call becomes one instruction
 * that reads the address's register and changes none that is allocated; when
 * code is written out, the few bytes of the check stand in its place. The
 * shadow window's address is in the host's %gs.
 *
 * That takes two functions of VEX, in whose place the linker puts ours
 * (--wrap in meson.build), and what their instructions look like. The first
 * call that is met is looked at closely: is it as it was in Valgrind 3.19?
 * Where it is not, or a function is missing, instrument.c writes its checks in
 * IR.
 */
#ifndef SLOPE_SOURCES_VALGRIND_INSERTED_H
#define SLOPE_SOURCES_VALGRIND_INSERTED_H

#include "sources/valgrind/tool.h"

/* Are checks to be inserted this way? For cells of 4 bytes alone. */
Bool inserted_possible(void);

/* The call that becomes a check of a read, of 1 to 32 bytes (a power of two). */
IRDirty *inserted_read(IRExpr *address, Int bytes);
/* The call that becomes stamps. `aligned`: it surely is. */
IRDirty *inserted_write(IRExpr *address, Int bytes, Bool aligned);
/* The call that becomes an addition to the counter; less than 2^31. */
IRDirty *inserted_cost(ULong add);
/* For a block's begin: tool_jump, unless the function is on top. */
IRDirty *inserted_entry(const struct callee *callee);
/* For a block's end: tool_call_stub, unless all frames are above the stack pointer. */
IRDirty *inserted_stub_call(void);
/* The call that becomes tool_jump_address, unless the address is in the range, which must lie below 2^31. */
IRDirty *inserted_jump(IRExpr *address, Addr start, SizeT bytes);

/* From now on the host's %gs is the running fiber's window in this thread. */
void inserted_window(struct tool_thread *t, Addr window);

/* kept.c: reads of stale words, for inserted checks alone. The address is in rdx, and only rax, rcx, rdx and r11 change. */
void kept_read_1(void);
void kept_read_2(void);
void kept_read_4(void);
void kept_read_8(void);
void kept_read_16(void);
void kept_read_32(void);
void kept_read_word(void);
void kept_read_pair(void);
/* The same for tool_jump_address. */
void kept_jump(void);

#endif
