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
	mov %gs:CTX_CORE, %rsi
	test %rdx, %rdx
	je \unusual
	mov CORE_FRAME(%rsi), %rdi
	cmpq $0, %gs:CTX_ODD
	jne \unusual
	cmpb $0, CORE_PLAIN(%rsi)
	je \unusual
	cmpl $0, RECORD_FLAGS(%rdx)
	jne \unusual
	cmp CORE_LAST(%rsi), %rdi
	jae \unusual
	lea 8(%rsp), %rcx
	cmp %rcx, FRAME_SP(%rdi)
	.if \way == JUMP
	jne \unusual
	/* So many at one stack pointer are too many. */
	mov %gs:CTX_FIBER, %rcx
	cmpl $TAIL_RUN_MAX-1, FIBER_TAIL_RUN(%rcx)
	jae \unusual
	incl FIBER_TAIL_RUN(%rcx)
	lea 8(%rsp), %rcx
	.else
	jbe \unusual
	.endif
	mov %rcx, FRAME_BYTES+FRAME_SP(%rdi)
	mov CORE_CLOCK(%rsi), %ecx
	add $STAMP_STEP, %ecx
	or $STAMP_MARKS, %ecx
	cmp CORE_STAMP_LIMIT(%rsi), %ecx
	jae \unusual
	.if \way == CALL
	/* The return will find its place here, without a look into the table. */
	shr $32, %rax
	lea 8(%rsp), %ecx
	and $CTX_RETURNS_MASK*8, %ecx
	mov %eax, %gs:CTX_RETURNS+4(%rcx)
	mov 8(%rsp), %eax
	mov %eax, %gs:CTX_RETURNS(%rcx)
	mov CORE_CLOCK(%rsi), %ecx
	add $STAMP_STEP, %ecx
	or $STAMP_MARKS, %ecx
	.endif
	mov %ecx, CORE_CLOCK(%rsi)
	mov %ecx, CORE_STAMP(%rsi)
	mov %ecx, FRAME_BYTES+FRAME_STAMP(%rdi)
	mov %ecx, %eax
	shl $32, %rcx
	or %rcx, %rax
	mov %rax, %gs:CTX_TOP
	incl RECORD_ACTIVE(%rdx)
	mov %rdx, FRAME_BYTES+FRAME_RECORD(%rdi)
	mov RECORD_FN(%rdx), %edx
	lea 8(%rsp), %rcx
	mov %rdx, %gs:CTX_TOP_FN
	mov %edx, FRAME_BYTES+FRAME_FN(%rdi)
	mov %rcx, %gs:CTX_TOP_SP
	xor %ecx, %ecx
	mov %gs:CTX_LOG, %eax
	mov %gs:CTX_COST, %rdx
	shl $16, %eax                        /* no flags */
	mov %rcx, FRAME_BYTES+FRAME_RMS(%rdi)
	mov %eax, FRAME_BYTES+FRAME_FLAGS(%rdi)
	mov CORE_TALLIES(%rsi), %eax
	mov %rcx, FRAME_BYTES+FRAME_CHILD(%rdi)
	mov %rdx, FRAME_BYTES+FRAME_ENTRY(%rdi)
	mov %eax, FRAME_BYTES+FRAME_TALLIES(%rdi)
	sub $-FRAME_BYTES, %rdi
	mov %rdi, CORE_FRAME(%rsi)
	incq CORE_DEPTH(%rsi)
	incq CORE_CALLS(%rsi)
	.endm

slope_gate_call:
	keep_four
	mov %eax, %ecx
	push_frame CALL, 9f
	bring_three
	bring rcx, 1
	bring rax, 0
	ret
9:	bring_three
	bring rcx, 1
	jmp slope_gate_quick_call

/* The target is looked up as the lookup that follows will do it. */
	.macro function_of_target unusual
	mov %rcx, %gs:CTX_GUEST_TARGET
	keep_three
	movzwl %cx, %edx
	mov codecache_table(,%rdx,4), %edx
	cmp PLAN_TARGETS(%rdx), %rcx
	jne \unusual
	mov PLAN_TARGETS+TARGET_FN(%rdx), %ecx
	.endm
	.macro bring_target
	bring_three
	mov %gs:CTX_GUEST_TARGET, %rcx
	.endm

slope_gate_call_address:
	function_of_target 9f
	push_frame CALL, 9f
	bring_target
	bring rax, 0
	ret
9:	bring_target
	jmp slope_gate_quick_call_address

slope_gate_jump_from_stub:
	function_of_target 9f
	push_frame STUB, 9f
	bring_target
	bring rax, 0
	ret
9:	bring_target
	jmp slope_gate_quick_jump_from_stub

slope_gate_jump:
	keep_four
	mov %eax, %ecx
	push_frame JUMP, 9f
	bring_three
	bring rcx, 1
	bring rax, 0
	ret
9:	bring_three
	bring rcx, 1
	jmp slope_gate_quick_jump

/*
 * An activation ends that has called nobody, and was as the one before of its function: all entries in its section of the
 * log are its own, and the caller may look at them later.
 */
slope_gate_return:
	keep rsi, 6
	keep rdi, 7
	mov %gs:CTX_CORE, %rsi
	mov CORE_FRAME(%rsi), %rdi
	mov CORE_TALLIES(%rsi), %esi
	cmp FRAME_TALLIES(%rdi), %esi
	jne calls_somebody
	keep rax, 0
	keep rcx, 1
	keep rdx, 2
	mov %esi, %eax
	mov %gs:CTX_CORE, %rsi
	cmp %rsp, FRAME_SP(%rdi)
	jne 9f
	cmp CORE_TALLIES_MAX(%rsi), %eax
	je 9f
	cmpw $0, FRAME_FLAGS(%rdi)
	jne 9f
	cmpq $0, %gs:CTX_ODD
	jne 9f
	cmpb $0, CORE_PLAIN(%rsi)
	je 9f
	/* Will the caller's section stay short? */
	movzwl FRAME_LOG-FRAME_BYTES(%rdi), %ecx
	mov %gs:CTX_LOG, %eax
	add $LOG_SECTION_BYTES, %ecx
	cmp %ecx, %eax
	ja 9f
	/* n: rax, cost: rcx */
	movzwl FRAME_LOG(%rdi), %ecx
	mov (%rdi), %rdx
	sub %ecx, %eax
	mov %gs:CTX_COST, %rcx
	shr $2, %eax
	sub FRAME_ENTRY(%rdi), %rcx
	add FRAME_RMS(%rdi), %rax
	cmp %rcx, RECORD_AGAIN_COST(%rdx)
	jne 9f
	cmp %rax, RECORD_AGAIN_N(%rdx)
	jne 9f
	mov FRAME_RMS(%rdi), %rax
	incq RECORD_AGAIN(%rdx)
	add %rcx, RECORD_SELF(%rdx)
	add %rcx, FRAME_CHILD-FRAME_BYTES(%rdi)
	add %rax, FRAME_RMS-FRAME_BYTES(%rdi)
	decl RECORD_ACTIVE(%rdx)
	jne 6f
1:	/* the caller's tally */
	mov RECORD_TALLY(%rdx), %eax
	cmp FRAME_TALLIES-FRAME_BYTES(%rdi), %eax
	jbe 7f
	shl $5, %rax
	add CORE_TALLY(%rsi), %rax
	incq TALLY_CALLS-TALLY_BYTES(%rax)
	add %rcx, TALLY_COST-TALLY_BYTES(%rax)
2:	cmp CORE_HINT(%rsi), %rdi
	jbe 8f
3:	add $-FRAME_BYTES, %rdi
	decq CORE_DEPTH(%rsi)
	mov %rdi, CORE_FRAME(%rsi)
	mov FRAME_STAMP(%rdi), %eax
	mov FRAME_FN(%rdi), %ecx
	mov FRAME_SP(%rdi), %rdx
	mov %eax, CORE_STAMP(%rsi)
	mov %rcx, %gs:CTX_TOP_FN
	mov %rdx, %gs:CTX_TOP_SP
	mov %eax, %ecx
	shl $32, %rcx
	or %rcx, %rax
	mov %rax, %gs:CTX_TOP
	/* After tail calls more than one activation ends. */
	cmp %rsp, %rdx
	jbe 9f
	/* The address becomes that of its translation, so that a real return goes there. */
	mov %esp, %ecx
	and $CTX_RETURNS_MASK*8, %ecx
	mov %gs:CTX_RETURNS(%rcx), %eax
	cmp (%rsp), %rax
	mov %gs:CTX_RETURNS+4(%rcx), %eax
	jne 5f
	mov %rax, (%rsp)
	bring_three
	bring rcx, 1
	bring rax, 0
	ret
5:	bring_three
	bring rcx, 1
	bring rax, 0
	jmp slope_gate_plain_return
6:	add %rcx, RECORD_NESTED(%rdx)
	jmp 1b
	/* The first call of this function by this activation. */
7:	mov CORE_TALLIES(%rsi), %eax
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
	mov RECORD_EDGE(%rdx), %rax
	prefetcht0 (%rax)
	jmp 2b
8:	movl $0, CORE_HINT_SPAN(%rsi)
	jmp 3b
9:	bring rdx, 2
	bring rcx, 1
	bring rax, 0
calls_somebody:
	mov %rsp, %rdi
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
	call quick_return
	bring rsi, 6
	bring rdi, 7
	mov %gs:CTX_REG(4), %rsp
	ret
	.section .note.GNU-stack, "", @progbits
