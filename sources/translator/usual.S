/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls and returns that are as nearly all are: slope_frames_push_usual and
 * slope_frames_pop_usual of core/frames.h with few registers and without a
 * stack of their own. Each looks first whether all of it is usual; what is not goes, with
 * nothing done, to quick.c, which knows all of this and more.
 *
 * A signal that comes here is stepped through, as in all of gate.S.
 */
#include "sources/translator/context.h"
#include "sources/translator/plan.h"

	.section slope_gate_code, "ax", @progbits
	.globl slope_gate_call, slope_gate_call_address, slope_gate_jump_from_stub, slope_gate_jump, slope_gate_return

/* Ways into a function. */
#define CALL 0
#define STUB 1
#define JUMP 2

	.macro keep r, n
	mov %\r, %gs:CTX_REG(\n)
	.endm
	.macro bring r, n
	mov %gs:CTX_REG(\n), %\r
	.endm
	.macro keep_four
	keep rcx, 1
	keep_three
	.endm
	.macro keep_three
	keep rdx, 2
	keep rsi, 6
	keep rdi, 7
	.endm
	.macro bring_three
	bring rdx, 2
	bring rsi, 6
	bring rdi, 7
	.endm

/*
 * A frame for the function whose number is ecx. The return address lies behind ours. After a call rax has in its upper
 * half where in the cache that returns to. rcx, rdx, rsi and rdi have been kept. It goes to `unusual` with rax as it was.
 */
	.macro push_frame way, unusual
	cmp $CTX_QUICKS, %ecx
	jae \unusual
	mov %gs:CTX_QUICK_AT(,%rcx,8), %rdx
	.if \way == CALL
	/* The return will find its place here, without a look into the table. */
	lea 8(%rsp), %ecx
	and $CTX_RETURNS_MASK*8, %ecx
	rorx $32, %rax, %rsi
	mov 8(%rsp), %edi
	mov %esi, %gs:CTX_RETURNS+4(%rcx)
	mov %edi, %gs:CTX_RETURNS(%rcx)
	.endif
	mov %gs:CTX_CORE, %rsi
	test %rdx, %rdx
	je \unusual
	mov CORE_FRAME(%rsi), %rdi
	cmpq $0, %gs:CTX_ODD
	jne \unusual
	cmpb $0, CORE_PLAIN(%rsi)
	je \unusual
	cmp CORE_LAST(%rsi), %rdi
	jae \unusual
	lea 8(%rsp), %rcx
	cmp %rcx, FRAME_SP(%rdi)
	.if \way == CALL
	jbe \unusual
	.else
	/* Out of a stub it may be a call; else it is a tail call, and so many at one stack pointer are too many. */
	.if \way == STUB
	ja 8f
	.endif
	jne \unusual
	mov %gs:CTX_FIBER, %rcx
	cmpl $TAIL_RUN_MAX-1, FIBER_TAIL_RUN(%rcx)
	jae \unusual
	incl FIBER_TAIL_RUN(%rcx)
	lea 8(%rsp), %rcx
8:
	.endif
	mov %rcx, FRAME_BYTES+FRAME_SP(%rdi)
	mov CORE_CLOCK(%rsi), %rcx
	add two_steps, %rcx
	or two_marks, %rcx
	cmp CORE_STAMP_LIMIT(%rsi), %ecx
	jae \unusual
	mov %rcx, CORE_CLOCK(%rsi)
	mov %rcx, FRAME_BYTES+FRAME_STAMP(%rdi)
	mov %gs:CTX_LOG, %eax
	mov %rcx, %gs:CTX_TOP
	lea 8(%rsp), %rcx
	shl $48, %rax
	incl RECORD_ACTIVE(%rdx)
	mov %rcx, %gs:CTX_TOP_SP
	mov %rdx, FRAME_BYTES+FRAME_RECORD(%rdi)
	mov RECORD_FN(%rdx), %edx
	mov CORE_TALLIES(%rsi), %ecx
	mov %rdx, %gs:CTX_TOP_FN
	or %rdx, %rax
	mov %gs:CTX_COST, %rdx
	mov %rax, FRAME_BYTES+FRAME_FN(%rdi)         /* no flags, and where the log ends */
	mov %ecx, FRAME_BYTES+FRAME_TALLIES(%rdi)
	mov %rdx, FRAME_BYTES+FRAME_ENTRY(%rdi)
	add $FRAME_BYTES, %rdi
	mov %rdi, CORE_FRAME(%rsi)
	.endm

/* The function's number is in eax. */
	.macro known_function way, unusual
	keep_four
	mov %eax, %ecx
	push_frame \way, 9f
	bring_three
	bring rcx, 1
	bring rax, 0
	ret
9:	bring_three
	bring rcx, 1
	jmp \unusual
	.endm

slope_gate_call:
	known_function CALL, slope_gate_quick_call
slope_gate_jump:
	known_function JUMP, slope_gate_quick_jump

/* The target is in rcx, and looked up as the lookup that follows will do it. */
	.macro bring_target
	bring_three
	mov %gs:CTX_GUEST_TARGET, %rcx
	.endm
	.macro function_of_target way, unusual
	mov %rcx, %gs:CTX_GUEST_TARGET
	keep_three
	movzwl %cx, %edx
	mov codecache_table(,%rdx,4), %edx
	cmp PLAN_TARGETS(%rdx), %rcx
	jne 9f
	mov PLAN_TARGETS+TARGET_FN(%rdx), %ecx
	push_frame \way, 9f
	bring_target
	bring rax, 0
	ret
9:	bring_target
	jmp \unusual
	.endm

slope_gate_call_address:
	function_of_target CALL, slope_gate_quick_call_address
slope_gate_jump_from_stub:
	function_of_target STUB, slope_gate_quick_jump_from_stub

/* ---- returns ---- */

	.macro keep_more
	keep r8, 8
	keep r9, 9
	keep r10, 10
	keep r11, 11
	.endm
	.macro bring_more
	bring r8, 8
	bring r9, 9
	bring r10, 10
	bring r11, 11
	.endm

/* What is left of the thread's entries in sixteen of the log, from r8 on, closes up at r10. r11: which are older than the frame. */
	.macro close_up
	vmovdqu32 %gs:CTX_LOG_AT(%r8), %zmm16
	vpcmpltud FRAME_STAMP(%rdi){1to16}, %zmm16, %k1
	kmovd %k1, %r11d
	vpcmpltud FRAME_STAMP-FRAME_BYTES(%rdi){1to16}, %zmm16, %k1
	vpcompressd %zmm16, %zmm16{%k1}{z}
	vmovdqu32 %zmm16, %gs:CTX_LOG_AT(%r10)
	.endm

/* Other registers than the three that follow are kept. */
	.macro to_c
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
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
	mov %gs:CTX_REG(4), %rsp
	.endm

slope_gate_return:
	keep rsi, 6
	keep rdi, 7
	keep rax, 0
	keep rcx, 1
	keep rdx, 2
next_return:
	mov %gs:CTX_CORE, %rsi
	mov CORE_FRAME(%rsi), %rdi
	mov CORE_TALLIES(%rsi), %edx
	cmp %rsp, FRAME_SP(%rdi)
	jne unusual_return
	cmpw $0, FRAME_FLAGS(%rdi)
	jne unusual_return
	cmpq $0, %gs:CTX_ODD
	jne unusual_return
	cmpb $0, CORE_PLAIN(%rsi)
	je unusual_return
	mov %gs:CTX_LOG, %eax
	mov %gs:CTX_COST, %rcx
	sub FRAME_ENTRY(%rdi), %rcx
	cmp FRAME_TALLIES(%rdi), %edx
	jne has_called
	/* It has called nobody: all entries in its section of the log are its own, and the caller may look at them later. */
	sub FRAME_LOG(%rdi), %ax
	mov (%rdi), %rdx
	shr $2, %eax

/* Its size is rax, its cost rcx. */
counted:
	lea (%rax,%rcx), %esi
	and $AGAIN_PLACES-1, %esi
	lea (%rsi,%rsi,2), %esi
	cmp %rcx, RECORD_AGAIN+AGAIN_COST(%rdx,%rsi,8)
	jne other_point
	cmp %rax, RECORD_AGAIN+AGAIN_N(%rdx,%rsi,8)
	jne other_point
	incq RECORD_AGAIN+AGAIN_COUNT(%rdx,%rsi,8)
	mov %gs:CTX_CORE, %rsi
point_counted:
	decl RECORD_ACTIVE(%rdx)
	jne nested
2:	mov RECORD_TALLY(%rdx), %eax
	cmp FRAME_TALLIES-FRAME_BYTES(%rdi), %eax
	jbe first_call
	shl $5, %rax
	add CORE_TALLY(%rsi), %rax
	incq TALLY_CALLS-TALLY_BYTES(%rax)
	add %rcx, TALLY_COST-TALLY_BYTES(%rax)
3:	add $-FRAME_BYTES, %rdi
	mov %rdi, CORE_FRAME(%rsi)
	mov FRAME_STAMP(%rdi), %rax
	mov FRAME_FN(%rdi), %ecx
	mov FRAME_SP(%rdi), %rdx
	mov %rax, %gs:CTX_TOP
	mov %rcx, %gs:CTX_TOP_FN
	mov %rdx, %gs:CTX_TOP_SP
	/* Is the caller's section still short? */
	mov %gs:CTX_LOG, %eax
	sub FRAME_LOG(%rdi), %ax
	cmp $LOG_SECTION_BYTES, %eax
	ja long_section
	/* After tail calls more than one activation ends. */
section_short:
	cmp %rsp, %rdx
	jbe next_return
	/* The address becomes that of its translation, so that a real return goes there. */
	mov %esp, %ecx
	and $CTX_RETURNS_MASK*8, %ecx
	mov %gs:CTX_RETURNS(%rcx), %eax
	cmp (%rsp), %rax
	mov %gs:CTX_RETURNS+4(%rcx), %eax
	jne 6f
	mov %rax, (%rsp)
	bring_three
	bring rcx, 1
	bring rax, 0
	ret
6:	bring_three
	bring rcx, 1
	bring rax, 0
	jmp slope_gate_plain_return

nested:
	add %rcx, RECORD_NESTED(%rdx)
	jmp 2b
first_call:
	mov CORE_TALLIES(%rsi), %eax
	cmp CORE_TALLIES_MAX(%rsi), %eax
	je no_room
	shl $5, %rax
	add CORE_TALLY(%rsi), %rax
	mov %rdx, TALLY_CALLEE(%rax)
	mov %rcx, TALLY_COST(%rax)
	mov RECORD_TALLY(%rdx), %ecx
	mov %ecx, TALLY_OUTER(%rax)
	movq $1, TALLY_CALLS(%rax)
	mov CORE_TALLIES(%rsi), %eax
	inc %eax
	mov %eax, CORE_TALLIES(%rsi)
	mov %eax, RECORD_TALLY(%rdx)
	jmp 3b
no_room:
	to_c
	mov %rsi, %rdi
	mov %rdx, %rsi
	mov %rcx, %rdx
	mov $slope_frames_tally, %eax
	call slope_gate_apart
	from_c
	jmp 3b

/* Entries older than the frame are counted; of more than sixteen, those that the caller has use for close up. */
has_called:
	keep_more
	cmpb $0, %gs:CTX_BY_16
	je by_four
	movzwl FRAME_LOG(%rdi), %r8d
	kmovq %k1, %gs:CTX_KEPT
	mov %eax, %r9d
	vmovdqu64 %zmm16, %gs:CTX_VECTOR
	mov %rcx, %gs:CTX_KEPT+8
	sub %r8d, %r9d
	shr $2, %r9d
	cmp $16, %r9d
	ja 3f
	vpbroadcastd FRAME_STAMP(%rdi), %zmm16
	vpcmpnleud %gs:CTX_LOG_AT(%r8), %zmm16, %k1
	kmovd %k1, %eax
	bzhi %r9d, %eax, %eax
	popcnt %eax, %eax
1:	kmovq %gs:CTX_KEPT, %k1
	vmovdqu64 %gs:CTX_VECTOR, %zmm16
	/* Tallies go into the edges that they belong to, at n. r8: its bin (core/tally.h). */
	mov %eax, %r8d
	mov %rax, %gs:CTX_KEPT+16
	cmp $1<<EDGE_BITS, %rax
	jb 2f
	bsr %rax, %r9
	sub $EDGE_BITS, %r9d
	shrx %r9, %rax, %r8
	lea (%r8,%r9,1<<EDGE_BITS), %r8d
2:	mov FRAME_FN(%rdi), %ecx
5:	mov %edx, %r9d
	shl $5, %r9
	add CORE_TALLY(%rsi), %r9
	mov TALLY_CALLEE-TALLY_BYTES(%r9), %r10
	mov %ecx, %eax
	and $EDGE_PAIRS-1, %eax
	shl $4, %eax
	add %r10, %rax
	mov RECORD_EDGE(%rax), %r11
	test %r11, %r11
	je 6f
	cmp %ecx, EDGE_CALLER(%r11)
	jne 6f
7:	mov %r8d, %eax
	sub EDGE_FIRST(%r11), %ax
	cmp EDGE_ROWS(%r11), %ax
	jae other_edges
	lea (%rax,%rax,2), %rax
	cmpl $0, RECORD_ACTIVE(%r10)
	lea EDGE_ROW(%r11,%rax,8), %rax
	jne 8f
9:	mov TALLY_CALLS-TALLY_BYTES(%r9), %r11
	incq (%rax)
	add %r11, 8(%rax)
	mov TALLY_COST-TALLY_BYTES(%r9), %r11
	add %r11, 16(%rax)
	mov TALLY_OUTER-TALLY_BYTES(%r9), %r11d
	mov %r11d, RECORD_TALLY(%r10)
	dec %edx
	cmp FRAME_TALLIES(%rdi), %edx
	jne 5b
	mov %edx, CORE_TALLIES(%rsi)
flushed:
	mov (%rdi), %rdx
	mov %gs:CTX_KEPT+8, %rcx
	mov %gs:CTX_KEPT+16, %rax
	bring_more
	jmp counted
6:	mov RECORD_EDGE+8(%rax), %r11
	test %r11, %r11
	je other_edges
	cmp %ecx, EDGE_CALLER(%r11)
	je 7b
	jmp other_edges
8:	mov TALLY_COST-TALLY_BYTES(%r9), %r10
	add %r10, EDGE_NESTED(%r11)
	mov TALLY_CALLEE-TALLY_BYTES(%r9), %r10
	jmp 9b
3:	mov %r8d, %r10d
	xor %eax, %eax
4:	close_up
	popcnt %r11d, %r11d
	add %r11d, %eax
	kmovd %k1, %r11d
	popcnt %r11d, %r11d
	lea (%r10,%r11,4), %r10d
	add $64, %r8d
	sub $16, %r9d
	cmp $16, %r9d
	ja 4b
	close_up
	bzhi %r9d, %r11d, %r11d
	popcnt %r11d, %r11d
	add %r11d, %eax
	kmovd %k1, %r11d
	bzhi %r9d, %r11d, %r11d
	popcnt %r11d, %r11d
	lea (%r10,%r11,4), %r10d
	mov %r10d, %gs:CTX_LOG
	jmp 1b

/* ---- what of a return C does ---- */

other_point:
	mov %gs:CTX_CORE, %rsi
	to_c
	mov %rsi, %rdi
	mov %rdx, %rsi
	mov %rax, %rdx
	mov $slope_frames_point, %eax
	call slope_gate_apart
	from_c
	jmp point_counted
other_edges:
	mov %edx, CORE_TALLIES(%rsi)
	to_c
	mov %gs:CTX_KEPT+16, %rdx
	xchg %rsi, %rdi
	mov $slope_tally_flush_any, %eax
	call slope_gate_apart
	from_c
	jmp flushed
long_section:
	to_c
	mov %rsi, %rdi
	mov $slope_log_shorten, %eax
	call slope_gate_apart
	from_c
	jmp section_short

by_four:
	bring_more
unusual_return:
	bring rdx, 2
	bring rcx, 1
	bring rax, 0
	mov %rsp, %rdi
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
	call quick_return
	bring rsi, 6
	bring rdi, 7
	mov %gs:CTX_REG(4), %rsp
	ret

/* For two words at once. */
	.section .rodata
	.balign 16
two_steps:
	.long STAMP_STEP, STAMP_STEP
two_marks:
	.long STAMP_MARKS, STAMP_MARKS
	.section .note.GNU-stack, "", @progbits
