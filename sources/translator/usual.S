/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls and returns that are as nearly all are: slope_frames_push_usual and
 * slope_frames_pop_usual of core/frames.h with few registers and without a
 * stack of their own. Each looks first whether all of it is usual; what is not goes, with
 * nothing done, to quick.c, which knows all of this and more.
 *
 * What counts here is how often memory is touched. So there are two of each: where vectors are ours (vectors.h),
 * these keep the program's registers, and elsewhere the context does.
 *
 * A signal that comes here is stepped through, as in all of gate.S.
 */
#include "sources/translator/context.h"
#include "sources/translator/plan.h"
#include "sources/translator/sums.h"

	.section slope_gate_code, "ax", @progbits

/* Ways into a function. */
#define CALL 0
#define STUB 1
#define JUMP 2

	.macro keep how, r, n, vector
	.if \how == IN_VECTORS
	vmovq %\r, %\vector
	.else
	mov %\r, %gs:CTX_REG(\n)
	.endif
	.endm
	.macro bring how, r, n, vector
	.if \how == IN_VECTORS
	vmovq %\vector, %\r
	.else
	mov %gs:CTX_REG(\n), %\r
	.endif
	.endm
/*
 * Registers that the routines use, and where their values are kept. A value that somebody waits for would come three cycles later for
 * each of the two moves: so a call leaves those of the first arguments alone, and a return those of results.
 */
#define RAX rax, 0, xmm24
#define RCX rcx, 1, xmm25
/* calls: */
#define BACK r10, 10, xmm24
#define FN r11, 11, xmm25
#define R8 r8, 8, xmm26
#define R9 r9, 9, xmm27
#define THIRD_RAX rax, 0, xmm28
#define THIRD_R10 r10, 10, xmm28
/* returns: */
#define R10 r10, 10, xmm24
#define RSI rsi, 6, xmm27
#define RDI rdi, 7, xmm28
#define LAST_R8 r8, 8, xmm29
/* xmm30 has the sums (sums.h), and zmm31 is what numbers are compared in. */

	/* quick.c and its like find the program's rax in the context. */
	.macro rax_to_context how, vector
	.if \how == IN_VECTORS
	vmovq %\vector, %gs:CTX_REG(0)
	.endif
	.endm

/*
 * A frame for the function whose number is c, and less than CTX_QUICKS; for calls, `a` is where it returns to. The return address lies
 * behind ours. c, a, r8, r9 and f have been kept. It goes to `unusual` with c as it was, and to `same` if a jump stays in its function.
 */
	.macro push_frame how, way, unusual, same, c, cd, a, ad, f
	mov %gs:CTX_USUAL, %r9
	mov %gs:CTX_QUICK_AT(,%\c,8), %r8
	mov CORE_FRAME(%r9), %\f
	test %r8, %r8
	je \unusual
	.if \way == JUMP
	cmp FRAME_RECORD(%\f), %r8
	je \same
	.endif
	cmp CORE_LAST(%r9), %\f
	jae \unusual
	.if \way == CALL
	mov %\a, FRAME_BYTES+FRAME_BACK(%\f)          /* the return will find its place there, without a look into the table */
	.endif
	lea 8(%rsp), %\a
	cmp %\a, FRAME_SP(%\f)
	.if \way == CALL
	jbe \unusual
	.else
	/* Out of a stub it may be a call; else it is a tail call, and so many at one stack pointer are too many. */
	.if \way == STUB
	ja 7f
	.endif
	jne \unusual
	mov %gs:CTX_FIBER, %\a
	cmpl $TAIL_RUN_MAX-1, FIBER_TAIL_RUN(%\a)
	jae \unusual
	incl FIBER_TAIL_RUN(%\a)
7:
	.endif
	mov CORE_CLOCK(%r9), %\a
	add two_steps, %\a
	or two_marks, %\a
	cmp CORE_STAMP_LIMIT(%r9), %\ad
	jae \unusual
	lea 8(%rsp), %\c
	mov %\a, CORE_CLOCK(%r9)
	mov %\a, FRAME_BYTES+FRAME_STAMP(%\f)
	mov %\a, %gs:CTX_TOP
	incl RECORD_ACTIVE(%r8)
	mov %\c, FRAME_BYTES+FRAME_SP(%\f)
	mov %\c, %gs:CTX_TOP_SP
	mov %r8, FRAME_BYTES+FRAME_RECORD(%\f)
	mov CORE_TALLIES(%r9), %\cd
	.if \how == IN_VECTORS
	vmovdqu64 %xmm30, FRAME_BYTES+FRAME_LOG(%\f)
	.else
	mov %gs:CTX_LOG, %\a
	mov %gs:CTX_COST, %r8
	mov %\a, FRAME_BYTES+FRAME_LOG(%\f)
	mov %r8, FRAME_BYTES+FRAME_ENTRY(%\f)
	.endif
	mov %\c, FRAME_BYTES+FRAME_TALLIES(%\f)       /* and no flags */
	add $FRAME_BYTES, %\f
	mov %\f, CORE_FRAME(%r9)
	.endm

	.macro keep_three how, third:vararg
	keep \how, R8
	keep \how, R9
	keep \how, \third
	.endm
	.macro bring_three how, third:vararg
	bring \how, R8
	bring \how, R9
	bring \how, \third
	.endm

/* r10: where it returns to; r11: the function. If it is lent, nobody wants it back, and it holds the stamp from then on. */
	.macro bring_two how, lent
	.if !\lent
	bring \how, FN
	.endif
	bring \how, BACK
	.endm
	.macro known_call how, lent, unusual
	keep_three \how, THIRD_RAX
	push_frame \how, CALL, 9f, 0, r11, r11d, r10, r10d, rax
	.if \lent
	mov FRAME_STAMP(%rax), %r11
	.endif
	bring_three \how, THIRD_RAX
	bring_two \how, \lent
	ret
9:	rax_to_context \how, xmm28
	mov %r11d, %eax
	bring \how, R8
	bring \how, R9
	bring_two \how, \lent
	jmp \unusual
	.endm

/* rcx: the function. */
	.macro known_jump how, unusual
	keep_three \how, THIRD_R10
	push_frame \how, JUMP, 9f, 8f, rcx, ecx, rax, eax, r10
8:	bring_three \how, THIRD_R10
	bring \how, RCX
	bring \how, RAX
	ret
9:	bring_three \how, THIRD_R10
	rax_to_context \how, xmm24
	mov %ecx, %eax
	bring \how, RCX
	jmp \unusual
	.endm

/* The target is in rcx, and looked up as the lookup that follows will do it. */
	.macro keep_target how
	.if \how == IN_VECTORS
	vmovq %rcx, %xmm25
	.else
	mov %rcx, %gs:CTX_GUEST_TARGET
	.endif
	.endm
	.macro bring_target how
	bring_three \how, THIRD_R10
	.if \how == IN_VECTORS
	vmovq %xmm25, %rcx
	.else
	mov %gs:CTX_GUEST_TARGET, %rcx
	.endif
	.endm
	.macro function_of_target how, way, unusual
	keep_target \how
	keep_three \how, THIRD_R10
	movzwl %cx, %r8d
	mov codecache_table(,%r8,4), %r8d
	cmp PLAN_TARGETS(%r8), %rcx
	jne 9f
	mov PLAN_TARGETS+TARGET_FN(%r8), %ecx
	cmp $CTX_QUICKS, %ecx
	jae 9f
	push_frame \how, \way, 9f, 0, rcx, ecx, rax, eax, r10
	bring_target \how
	bring \how, RAX
	ret
9:	bring_target \how
	rax_to_context \how, xmm24
	jmp \unusual
	.endm

/* ---- returns ---- */

/* The program's rax and rdx, and what of ours C does not keep. */
	.macro to_c
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
	push %rax
	push %rcx
	push %rdx
	push %rsi
	push %rdi
	.endm
	.macro from_c
	pop %rdi
	pop %rsi
	pop %rdx
	pop %rcx
	pop %rax
	mov %gs:CTX_REG(4), %rsp
	.endm
	.macro bring_four how
	bring \how, RSI
	bring \how, RDI
	bring \how, RCX
	bring \how, R10
	.endm

/* What is left of the thread's entries in sixteen of the log, from r8 on, closes up at r11. esi: which are older than the frame. */
	.macro close_up
	vmovdqu32 %gs:CTX_LOG_AT(%r8), %zmm31
	vpcmpltud FRAME_STAMP(%rdi){1to16}, %zmm31, %k7
	vpcmpltud FRAME_STAMP-FRAME_BYTES(%rdi){1to16}, %zmm31, %k6
	kmovd %k7, %esi
	vpcompressd %zmm31, %zmm31{%k6}{z}
	vmovdqu32 %zmm31, %gs:CTX_LOG_AT(%r11)
	.endm

/* The caller is the topmost one again. r11: its stack pointer. */
	.macro pop_frame
	add $-FRAME_BYTES, %rdi
	mov FRAME_STAMP(%rdi), %r10
	mov %rdi, CORE_FRAME(%rsi)
	mov FRAME_SP(%rdi), %r11
	mov %r10, %gs:CTX_TOP
	mov %r11, %gs:CTX_TOP_SP
	.endm

	.macro leave_function how
	keep \how, RSI
	keep \how, RDI
	keep \how, R10
	keep \how, RCX
.Lnext\how:
	mov %gs:CTX_USUAL, %rsi
	mov CORE_FRAME(%rsi), %rdi
	cmp %rsp, FRAME_SP(%rdi)
	jne .Lunusual\how
	mov CORE_TALLIES(%rsi), %r10d
	cmpb $0, CORE_PLAIN(%rsi)
	je .Lunusual\how
	.if \how == IN_VECTORS
	vpsubq FRAME_LOG(%rdi), %xmm30, %xmm31
	vpextrq $1, %xmm31, %rcx
	.else
	mov %gs:CTX_COST, %rcx
	sub FRAME_ENTRY(%rdi), %rcx
	.endif
	cmp FRAME_TALLIES(%rdi), %r10
	jne .Lhas_called\how
	/* It has no flags and has called nobody: all entries in its section of the log are its own, and the caller may look at them later. */
	.if \how == IN_VECTORS
	vpextrw $0, %xmm31, %r10d
	.else
	mov %gs:CTX_LOG, %r10d
	sub FRAME_LOG(%rdi), %r10w
	movzwl %r10w, %r10d
	.endif

/* Four times its size is r10, its cost rcx: is it as one of the last? From here on its record is r10. */
.Lcounted\how:
	lea (%r10,%rcx,4), %r11d
	shl $AGAIN_SIZE_BITS, %rcx
	and $(AGAIN_PLACES-1)*4, %r11d
	or %r10, %rcx
	mov FRAME_RECORD(%rdi), %r10
	cmp %rcx, RECORD_AGAIN+AGAIN_LIKE(%r10,%r11,AGAIN_BYTES/4)
	jne .Lother_point\how
	incq RECORD_AGAIN+AGAIN_COUNT(%r10,%r11,AGAIN_BYTES/4)
	shr $AGAIN_SIZE_BITS, %rcx
.Lpoint_counted\how:
	decl RECORD_ACTIVE(%r10)
	jne .Lnested\how
.Lnot_nested\how:
	mov RECORD_TALLY(%r10), %r11d
	cmp FRAME_TALLIES-FRAME_BYTES(%rdi), %r11d
	jbe .Lfirst_call\how
	shl $5, %r11
	add CORE_TALLY(%rsi), %r11
	incq TALLY_CALLS-TALLY_BYTES(%r11)
	add %rcx, TALLY_COST-TALLY_BYTES(%r11)
	pop_frame
	/* Is the caller's section still short? Only where it goes on calling the same functions can it become long before it ends. */
	log_end \how, r10, r10d
	sub FRAME_LOG(%rdi), %r10w
	cmp $LOG_SECTION_BYTES, %r10w
	ja .Llong_section\how
	/* After tail calls more than one activation ends. */
.Lsection_short\how:
	cmp %rsp, %r11
	jbe .Lnext\how
	/* The address becomes that of its translation, so that a real return goes there. */
	mov FRAME_BYTES+FRAME_BACK(%rdi), %ecx
	mov FRAME_BYTES+FRAME_BACK+4(%rdi), %r10d
	cmp (%rsp), %rcx
	jne 6f
	mov %r10, (%rsp)
	mov FRAME_STAMP(%rdi), %r11
	bring_four \how
	ret
6:	mov %gs:CTX_STAMP_HOME, %r11
	bring_four \how
	jmp slope_gate_plain_return

.Lnested\how:
	add %rcx, RECORD_NESTED(%r10)
	jmp .Lnot_nested\how
.Lfirst_call\how:
	mov CORE_TALLIES(%rsi), %r11d
	cmp CORE_TALLIES_MAX(%rsi), %r11d
	je .Lno_room\how
	shl $5, %r11
	add CORE_TALLY(%rsi), %r11
	mov %r10, TALLY_CALLEE(%r11)
	mov %rcx, TALLY_COST(%r11)
	mov RECORD_TALLY(%r10), %ecx
	mov %ecx, TALLY_OUTER(%r11)
	movq $1, TALLY_CALLS(%r11)
	/* The edge will be wanted when the caller returns. */
	mov FRAME_RECORD-FRAME_BYTES(%rdi), %rcx
	mov CORE_TALLIES(%rsi), %r11d
	test %rcx, %rcx
	je 5f
	mov RECORD_FN(%rcx), %ecx
	and $EDGE_PAIRS-1, %ecx
	mov RECORD_EDGE(%r10,%rcx,8), %rcx
	prefetcht0 EDGE_ROW(%rcx)
5:	inc %r11d
	mov %r11d, CORE_TALLIES(%rsi)
	mov %r11d, RECORD_TALLY(%r10)
.Lpop\how:
	pop_frame
	jmp .Lsection_short\how

	.if \how == IN_MEMORY
.Lhas_called\how:
	.else
/* Entries older than the frame are counted; of more than sixteen, those that the caller has use for close up. */
.Lhas_called\how:
	cmpl $0, FRAME_FLAGS(%rdi)
	jne .Lunusual\how
	keep \how, LAST_R8
	mov %r9, %gs:CTX_REG(9)
	vpextrw $0, %xmm31, %r9d
	movzwl FRAME_LOG(%rdi), %r8d
	shr $2, %r9d
	cmp $16, %r9d
	ja 3f
	vpbroadcastd FRAME_STAMP(%rdi), %zmm31
	vpcmpnleud %gs:CTX_LOG_AT(%r8), %zmm31, %k7
	kmovd %k7, %r10d
	bzhi %r9d, %r10d, %r10d
	popcnt %r10d, %r10d
	/* Tallies go into the edges that they belong to, at n. r8: its bin (core/tally.h), r9: the topmost one's end, r11: how many. */
1:	mov CORE_TALLIES(%rsi), %r9d
	mov %r9d, %r11d
	sub FRAME_TALLIES(%rdi), %r11d
	vmovq %rcx, %xmm31
	shl $5, %r9
	add CORE_TALLY(%rsi), %r9
	mov FRAME_RECORD(%rdi), %rcx
	kmovd %r10d, %k7
	mov %r10d, %r8d
	mov RECORD_FN(%rcx), %ecx
	cmp $1<<EDGE_BITS, %r10d
	jb 5f
	lzcnt %r10d, %esi
	xor $31, %esi
	sub $EDGE_BITS, %esi
	shrx %esi, %r10d, %r8d
	lea (%r8,%rsi,1<<EDGE_BITS), %r8d
5:	mov TALLY_CALLEE-TALLY_BYTES(%r9), %rsi
	mov %ecx, %r10d
	and $EDGE_PAIRS-1, %r10d
	mov RECORD_EDGE(%rsi,%r10,8), %rdi
	cmp %ecx, EDGE_CALLER(%rdi)
	jne 6f
7:	mov %r8d, %r10d
	sub EDGE_FIRST(%rdi), %r10w
	cmp EDGE_ROWS(%rdi), %r10w
	jae .Lother_edges\how
	lea (%r10,%r10,2), %r10d
	cmpl $0, RECORD_ACTIVE(%rsi)
	jne 8f
9:	lea EDGE_ROW(%rdi,%r10,8), %rdi
	mov TALLY_CALLS-TALLY_BYTES(%r9), %r10
	incq (%rdi)
	add %r10, 8(%rdi)
	mov TALLY_COST-TALLY_BYTES(%r9), %r10
	add %r10, 16(%rdi)
	mov TALLY_OUTER-TALLY_BYTES(%r9), %r10d
	add $-TALLY_BYTES, %r9
	mov %r10d, RECORD_TALLY(%rsi)
	dec %r11d
	jne 5b
	mov %gs:CTX_USUAL, %rsi
	mov CORE_FRAME(%rsi), %rdi
	mov FRAME_TALLIES(%rdi), %r11d
	mov %r11d, CORE_TALLIES(%rsi)
.Lflushed\how:
	kmovd %k7, %r10d
	vmovq %xmm31, %rcx
	shl $2, %r10d
	bring \how, LAST_R8
	mov %gs:CTX_REG(9), %r9
	jmp .Lcounted\how
6:	mov RECORD_EDGE+8*EDGE_PAIRS(%rsi,%r10,8), %rdi
	cmp %ecx, EDGE_CALLER(%rdi)
	je 7b
	jmp .Lother_edges\how
8:	mov TALLY_COST-TALLY_BYTES(%r9), %rsi
	add %rsi, EDGE_NESTED(%rdi)
	mov TALLY_CALLEE-TALLY_BYTES(%r9), %rsi
	jmp 9b
3:	lea (%r8,%r9,4), %r10d
	mov %r8d, %r11d
	cmp $LOG_SECTION_BYTES/4, %r9d
	ja .Lfull\how
	cmp $CTX_LOG_BYTES, %r10d
	ja .Lfull\how
	xor %r10d, %r10d
4:	close_up
	popcnt %esi, %esi
	add %esi, %r10d
	kmovd %k6, %esi
	popcnt %esi, %esi
	lea (%r11,%rsi,4), %r11d
	add $64, %r8d
	sub $16, %r9d
	cmp $16, %r9d
	ja 4b
	close_up
	bzhi %r9d, %esi, %esi
	popcnt %esi, %esi
	add %esi, %r10d
	kmovd %k6, %esi
	bzhi %r9d, %esi, %esi
	popcnt %esi, %esi
	lea (%r11,%rsi,4), %r11d
	add $CTX_LOG_AT, %r11
	log_set \how, r11, r11d
	mov %gs:CTX_USUAL, %rsi
	jmp 1b

/* What is behind its end may not be written to; and of a long section C may take what the caller would look at again. */
.Lfull\how:
	bring \how, LAST_R8
	mov %gs:CTX_REG(9), %r9
	jmp .Lunusual\how

.Lother_edges\how:
	mov %gs:CTX_USUAL, %rdi
	sub CORE_TALLY(%rdi), %r9
	shr $5, %r9
	mov %r9d, CORE_TALLIES(%rdi)
	mov CORE_FRAME(%rdi), %rsi
	to_c
	kmovd %k7, %edx
	mov $slope_tally_flush_any, %eax
	call slope_gate_apart
	from_c
	xchg %rdi, %rsi
	jmp .Lflushed\how
	.endif

.Lunusual\how:
	mov %gs:CTX_STAMP_HOME, %r11
	bring \how, RCX
	bring \how, R10
	mov %rsp, %rdi
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
	.if \how == IN_VECTORS
	sums_to_context
	.endif
	call quick_return
	.if \how == IN_VECTORS
	sums_from_context
	.endif
	bring \how, RSI
	bring \how, RDI
	mov %gs:CTX_REG(4), %rsp
	jmp slope_gate_returned

/* ---- what of a return C does ---- */

.Lother_point\how:
	movzwl %cx, %r11d
	shr $AGAIN_SIZE_BITS, %rcx
	shr $2, %r11d
	to_c
	mov %r11d, %edx
	mov %rsi, %rdi
	mov %r10, %rsi
	mov $slope_frames_point, %eax
	call slope_gate_apart
	from_c
	jmp .Lpoint_counted\how
.Lno_room\how:
	to_c
	mov %rsi, %rdi
	mov %r10, %rsi
	mov %rcx, %rdx
	mov $slope_frames_tally, %eax
	call slope_gate_apart
	from_c
	jmp .Lpop\how
.Llong_section\how:
	to_c
	mov %rsi, %rdi
	mov $slope_log_shorten, %eax
	call slope_gate_apart
	from_c
	jmp .Lsection_short\how
	.endm

/* ---- all of them, twice ---- */

	.macro routines how
call_\how:
	known_call \how, 0, slope_gate_quick_call
call_lent_\how:
	known_call \how, 1, slope_gate_quick_call_lent
call_address_\how:
	function_of_target \how, CALL, slope_gate_quick_call_address
jump_from_stub_\how:
	function_of_target \how, STUB, slope_gate_quick_jump_from_stub
jump_\how:
	known_jump \how, slope_gate_quick_jump
leave_\how:
	mov %r11, %gs:CTX_STAMP_HOME
leave_lent_\how:
	leave_function \how
	.endm

	routines IN_MEMORY
	routines IN_VECTORS

	.section .rodata
	.balign 16
	.globl slope_gate_usual, slope_gate_log_at, slope_gate_entries, slope_gate_costs, slope_gate_ones, slope_gate_marks
/* What is added to the sums: where the log is, one entry of it or two, */
slope_gate_log_at:
	.quad CTX_LOG_AT, 0
slope_gate_entries:
	.quad 4, 0, 8, 0
/* what is or-ed to stamps, and added to them before, */
slope_gate_ones:
	.long 1, 1, 0, 0
slope_gate_marks:
	.long STAMP_MARKS, STAMP_MARKS, 0, 0
/* and costs, up to so many, from as many less than nothing. */
slope_gate_costs:
	.set cost, -SUMS_COST_MAX
	.rept 2*SUMS_COST_MAX+1
	.quad 0, cost
	.set cost, cost+1
	.endr
slope_gate_usual:
	.quad call_0, call_lent_0, call_address_0, jump_from_stub_0, jump_0, leave_0, leave_lent_0
	.quad call_1, call_lent_1, call_address_1, jump_from_stub_1, jump_1, leave_1, leave_lent_1
/* For two words at once. */
two_steps:
	.long STAMP_STEP, STAMP_STEP
two_marks:
	.long STAMP_MARKS, STAMP_MARKS
	.section .note.GNU-stack, "", @progbits
