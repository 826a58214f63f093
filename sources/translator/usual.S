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
#define RAX rax, 0, xmm24
#define RCX rcx, 1, xmm25
#define RDX rdx, 2, xmm26
#define RSI rsi, 6, xmm27
#define RDI rdi, 7, xmm28
#define R8 r8, 8, xmm29
/* xmm30 has the sums (sums.h), and zmm31 is what numbers are compared in. */

	.macro keep_three how
	keep \how, RDX
	keep \how, RSI
	keep \how, RDI
	.endm
	.macro bring_three how
	bring \how, RDX
	bring \how, RSI
	bring \how, RDI
	.endm
	.macro bring_five how
	bring_three \how
	bring \how, RCX
	bring \how, RAX
	.endm
	/* quick.c and its like find the program's rax in the context. */
	.macro rax_to_context how
	.if \how == IN_VECTORS
	vmovq %xmm24, %gs:CTX_REG(0)
	.endif
	.endm

/*
 * A frame for the function whose number is ecx, and less than CTX_QUICKS. The return address lies behind ours. rdx, rsi and rdi have been kept, and
 * what rax was. It goes to `unusual` with rcx as it was, and to `same` if a jump stays in its function.
 */
	.macro push_frame how, way, unusual, same
	mov %gs:CTX_USUAL, %rsi
	mov %gs:CTX_QUICK_AT(,%rcx,8), %rdx
	mov CORE_FRAME(%rsi), %rdi
	test %rdx, %rdx
	je \unusual
	.if \way == JUMP
	cmp FRAME_RECORD(%rdi), %rdx
	je \same
	.endif
	cmp CORE_LAST(%rsi), %rdi
	jae \unusual
	.if \way == CALL
	mov %rax, FRAME_BYTES+FRAME_BACK(%rdi)          /* the return will find its place there, without a look into the table */
	.endif
	lea 8(%rsp), %rax
	cmp %rax, FRAME_SP(%rdi)
	.if \way == CALL
	jbe \unusual
	.else
	/* Out of a stub it may be a call; else it is a tail call, and so many at one stack pointer are too many. */
	.if \way == STUB
	ja 7f
	.endif
	jne \unusual
	mov %gs:CTX_FIBER, %rax
	cmpl $TAIL_RUN_MAX-1, FIBER_TAIL_RUN(%rax)
	jae \unusual
	incl FIBER_TAIL_RUN(%rax)
7:
	.endif
	mov CORE_CLOCK(%rsi), %rax
	add two_steps, %rax
	or two_marks, %rax
	cmp CORE_STAMP_LIMIT(%rsi), %eax
	jae \unusual
	lea 8(%rsp), %rcx
	mov %rax, CORE_CLOCK(%rsi)
	mov %rax, FRAME_BYTES+FRAME_STAMP(%rdi)
	mov %rax, %gs:CTX_TOP
	incl RECORD_ACTIVE(%rdx)
	mov %rcx, FRAME_BYTES+FRAME_SP(%rdi)
	mov %rcx, %gs:CTX_TOP_SP
	mov %rdx, FRAME_BYTES+FRAME_RECORD(%rdi)
	mov CORE_TALLIES(%rsi), %ecx
	.if \how == IN_VECTORS
	vmovdqu64 %xmm30, FRAME_BYTES+FRAME_LOG(%rdi)
	.else
	mov %gs:CTX_LOG, %rax
	mov %gs:CTX_COST, %rdx
	mov %rax, FRAME_BYTES+FRAME_LOG(%rdi)
	mov %rdx, FRAME_BYTES+FRAME_ENTRY(%rdi)
	.endif
	mov %rcx, FRAME_BYTES+FRAME_TALLIES(%rdi)       /* and no flags */
	add $FRAME_BYTES, %rdi
	mov %rdi, CORE_FRAME(%rsi)
	.endm

	.macro known_function how, way, unusual
	keep_three \how
	push_frame \how, \way, 9f, 8f
8:	bring_five \how
	ret
9:	bring_three \how
	rax_to_context \how
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
	bring_three \how
	.if \how == IN_VECTORS
	vmovq %xmm25, %rcx
	.else
	mov %gs:CTX_GUEST_TARGET, %rcx
	.endif
	.endm
	.macro function_of_target how, way, unusual
	keep_target \how
	keep_three \how
	movzwl %cx, %edx
	mov codecache_table(,%rdx,4), %edx
	cmp PLAN_TARGETS(%rdx), %rcx
	jne 9f
	mov PLAN_TARGETS+TARGET_FN(%rdx), %ecx
	cmp $CTX_QUICKS, %ecx
	jae 9f
	push_frame \how, \way, 9f
	bring_target \how
	bring \how, RAX
	ret
9:	bring_target \how
	rax_to_context \how
	jmp \unusual
	.endm

/* ---- returns ---- */

/* Other registers than the four that follow, or that are kept, C does not touch. */
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

/* What is left of the thread's entries in sixteen of the log, from r8 on, closes up at rdx. esi: which are older than the frame. */
	.macro close_up
	vmovdqu32 %gs:CTX_LOG_AT(%r8), %zmm31
	vpcmpltud FRAME_STAMP(%rdi){1to16}, %zmm31, %k7
	vpcmpltud FRAME_STAMP-FRAME_BYTES(%rdi){1to16}, %zmm31, %k6
	kmovd %k7, %esi
	vpcompressd %zmm31, %zmm31{%k6}{z}
	vmovdqu32 %zmm31, %gs:CTX_LOG_AT(%rdx)
	.endm

/* The caller is the topmost one again. rdx: its stack pointer. */
	.macro pop_frame
	add $-FRAME_BYTES, %rdi
	mov FRAME_STAMP(%rdi), %rax
	mov %rdi, CORE_FRAME(%rsi)
	mov FRAME_SP(%rdi), %rdx
	mov %rax, %gs:CTX_TOP
	mov %rdx, %gs:CTX_TOP_SP
	.endm

	.macro leave_function how
	keep \how, RSI
	keep \how, RDI
	keep \how, RAX
	keep \how, RCX
	keep \how, RDX
.Lnext\how:
	mov %gs:CTX_USUAL, %rsi
	mov CORE_FRAME(%rsi), %rdi
	cmp %rsp, FRAME_SP(%rdi)
	jne .Lunusual\how
	mov CORE_TALLIES(%rsi), %eax
	cmpb $0, CORE_PLAIN(%rsi)
	je .Lunusual\how
	.if \how == IN_VECTORS
	vpsubq FRAME_LOG(%rdi), %xmm30, %xmm31
	vpextrq $1, %xmm31, %rcx
	.else
	mov %gs:CTX_COST, %rcx
	sub FRAME_ENTRY(%rdi), %rcx
	.endif
	cmp FRAME_TALLIES(%rdi), %rax
	jne .Lhas_called\how
	/* It has no flags and has called nobody: all entries in its section of the log are its own, and the caller may look at them later. */
	.if \how == IN_VECTORS
	vpextrw $0, %xmm31, %eax
	.else
	mov %gs:CTX_LOG, %eax
	sub FRAME_LOG(%rdi), %ax
	movzwl %ax, %eax
	.endif

/* Four times its size is rax, its cost rcx: is it as one of the last? From here on its record is rax. */
.Lcounted\how:
	lea (%rax,%rcx,4), %edx
	shl $AGAIN_SIZE_BITS, %rcx
	and $(AGAIN_PLACES-1)*4, %edx
	or %rax, %rcx
	mov FRAME_RECORD(%rdi), %rax
	cmp %rcx, RECORD_AGAIN+AGAIN_LIKE(%rax,%rdx,AGAIN_BYTES/4)
	jne .Lother_point\how
	incq RECORD_AGAIN+AGAIN_COUNT(%rax,%rdx,AGAIN_BYTES/4)
	shr $AGAIN_SIZE_BITS, %rcx
.Lpoint_counted\how:
	decl RECORD_ACTIVE(%rax)
	jne .Lnested\how
.Lnot_nested\how:
	mov RECORD_TALLY(%rax), %edx
	cmp FRAME_TALLIES-FRAME_BYTES(%rdi), %edx
	jbe .Lfirst_call\how
	shl $5, %rdx
	add CORE_TALLY(%rsi), %rdx
	incq TALLY_CALLS-TALLY_BYTES(%rdx)
	add %rcx, TALLY_COST-TALLY_BYTES(%rdx)
	pop_frame
	/* Is the caller's section still short? Only where it goes on calling the same functions can it become long before it ends. */
	log_length \how, eax
	sub FRAME_LOG(%rdi), %ax
	cmp $LOG_SECTION_BYTES, %eax
	ja .Llong_section\how
	/* After tail calls more than one activation ends. */
.Lsection_short\how:
	cmp %rsp, %rdx
	jbe .Lnext\how
	/* The address becomes that of its translation, so that a real return goes there. */
	mov FRAME_BYTES+FRAME_BACK(%rdi), %ecx
	mov FRAME_BYTES+FRAME_BACK+4(%rdi), %eax
	cmp (%rsp), %rcx
	jne 6f
	mov %rax, (%rsp)
	bring_five \how
	ret
6:	bring_five \how
	jmp slope_gate_plain_return

.Lnested\how:
	add %rcx, RECORD_NESTED(%rax)
	jmp .Lnot_nested\how
.Lfirst_call\how:
	mov CORE_TALLIES(%rsi), %edx
	cmp CORE_TALLIES_MAX(%rsi), %edx
	je .Lno_room\how
	shl $5, %rdx
	add CORE_TALLY(%rsi), %rdx
	mov %rax, TALLY_CALLEE(%rdx)
	mov %rcx, TALLY_COST(%rdx)
	mov RECORD_TALLY(%rax), %ecx
	mov %ecx, TALLY_OUTER(%rdx)
	movq $1, TALLY_CALLS(%rdx)
	mov CORE_TALLIES(%rsi), %edx
	inc %edx
	mov %edx, CORE_TALLIES(%rsi)
	mov %edx, RECORD_TALLY(%rax)
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
	keep \how, R8
	mov %r9, %gs:CTX_REG(9)
	vpextrw $0, %xmm31, %r9d
	movzwl FRAME_LOG(%rdi), %r8d
	shr $2, %r9d
	cmp $16, %r9d
	ja 3f
	vpbroadcastd FRAME_STAMP(%rdi), %zmm31
	vpcmpnleud %gs:CTX_LOG_AT(%r8), %zmm31, %k7
	kmovd %k7, %eax
	bzhi %r9d, %eax, %eax
	popcnt %eax, %eax
	/* Tallies go into the edges that they belong to, at n. r8: its bin (core/tally.h), r9: the topmost one's end, edx: how many. */
1:	mov CORE_TALLIES(%rsi), %r9d
	mov %r9d, %edx
	sub FRAME_TALLIES(%rdi), %edx
	vmovq %rcx, %xmm31
	shl $5, %r9
	add CORE_TALLY(%rsi), %r9
	mov FRAME_RECORD(%rdi), %rcx
	kmovd %eax, %k7
	mov %eax, %r8d
	mov RECORD_FN(%rcx), %ecx
	cmp $1<<EDGE_BITS, %eax
	jb 5f
	bsr %rax, %rsi
	sub $EDGE_BITS, %esi
	shrx %rsi, %rax, %r8
	lea (%r8,%rsi,1<<EDGE_BITS), %r8d
5:	mov TALLY_CALLEE-TALLY_BYTES(%r9), %rsi
	mov %ecx, %eax
	and $EDGE_PAIRS-1, %eax
	mov RECORD_EDGE(%rsi,%rax,8), %rdi
	cmp %ecx, EDGE_CALLER(%rdi)
	jne 6f
7:	mov %r8d, %eax
	sub EDGE_FIRST(%rdi), %ax
	cmp EDGE_ROWS(%rdi), %ax
	jae .Lother_edges\how
	lea (%rax,%rax,2), %eax
	cmpl $0, RECORD_ACTIVE(%rsi)
	jne 8f
9:	lea EDGE_ROW(%rdi,%rax,8), %rdi
	mov TALLY_CALLS-TALLY_BYTES(%r9), %rax
	incq (%rdi)
	add %rax, 8(%rdi)
	mov TALLY_COST-TALLY_BYTES(%r9), %rax
	add %rax, 16(%rdi)
	mov TALLY_OUTER-TALLY_BYTES(%r9), %eax
	add $-TALLY_BYTES, %r9
	mov %eax, RECORD_TALLY(%rsi)
	dec %edx
	jne 5b
	mov %gs:CTX_USUAL, %rsi
	mov CORE_FRAME(%rsi), %rdi
	mov FRAME_TALLIES(%rdi), %edx
	mov %edx, CORE_TALLIES(%rsi)
.Lflushed\how:
	kmovd %k7, %eax
	vmovq %xmm31, %rcx
	shl $2, %eax
	bring \how, R8
	mov %gs:CTX_REG(9), %r9
	jmp .Lcounted\how
6:	mov RECORD_EDGE+8*EDGE_PAIRS(%rsi,%rax,8), %rdi
	cmp %ecx, EDGE_CALLER(%rdi)
	je 7b
	jmp .Lother_edges\how
8:	mov TALLY_COST-TALLY_BYTES(%r9), %rsi
	add %rsi, EDGE_NESTED(%rdi)
	mov TALLY_CALLEE-TALLY_BYTES(%r9), %rsi
	jmp 9b
3:	lea (%r8,%r9,4), %eax
	mov %r8d, %edx
	cmp $LOG_SECTION_BYTES/4, %r9d
	ja .Lfull\how
	cmp $CTX_LOG_BYTES, %eax
	ja .Lfull\how
	xor %eax, %eax
4:	close_up
	popcnt %esi, %esi
	add %esi, %eax
	kmovd %k6, %esi
	popcnt %esi, %esi
	lea (%rdx,%rsi,4), %edx
	add $64, %r8d
	sub $16, %r9d
	cmp $16, %r9d
	ja 4b
	close_up
	bzhi %r9d, %esi, %esi
	popcnt %esi, %esi
	add %esi, %eax
	kmovd %k6, %esi
	bzhi %r9d, %esi, %esi
	popcnt %esi, %esi
	lea (%rdx,%rsi,4), %edx
	add $CTX_LOG_AT, %rdx
	log_set \how, rdx, edx
	mov %gs:CTX_USUAL, %rsi
	jmp 1b

/* What is behind its end may not be written to; and of a long section C may take what the caller would look at again. */
.Lfull\how:
	bring \how, R8
	mov %gs:CTX_REG(9), %r9
	jmp .Lunusual\how

.Lother_edges\how:
	mov %gs:CTX_USUAL, %rdi
	sub CORE_TALLY(%rdi), %r9
	shr $5, %r9
	mov %r9d, CORE_TALLIES(%rdi)
	mov CORE_FRAME(%rdi), %rsi
	kmovd %k7, %edx
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
	push %rdi
	push %rsi
	mov $slope_tally_flush_any, %eax
	call slope_gate_apart
	pop %rdi
	pop %rsi
	mov %gs:CTX_REG(4), %rsp
	jmp .Lflushed\how
	.endif

.Lunusual\how:
	bring \how, RDX
	bring \how, RCX
	bring \how, RAX
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
	ret

/* ---- what of a return C does ---- */

.Lother_point\how:
	movzwl %cx, %edx
	shr $AGAIN_SIZE_BITS, %rcx
	shr $2, %edx
	to_c
	mov %rsi, %rdi
	mov %rax, %rsi
	mov $slope_frames_point, %eax
	call slope_gate_apart
	from_c
	mov FRAME_RECORD(%rdi), %rax
	jmp .Lpoint_counted\how
.Lno_room\how:
	to_c
	mov %rsi, %rdi
	mov %rax, %rsi
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
	known_function \how, CALL, slope_gate_quick_call
call_address_\how:
	function_of_target \how, CALL, slope_gate_quick_call_address
jump_from_stub_\how:
	function_of_target \how, STUB, slope_gate_quick_jump_from_stub
jump_\how:
	known_function \how, JUMP, slope_gate_quick_jump
leave_\how:
	leave_function \how
	.endm

	routines IN_MEMORY
	routines IN_VECTORS

	.section .rodata
	.balign 16
	.globl slope_gate_usual, slope_gate_log_at, slope_gate_entries, slope_gate_costs
/* What is added to the sums: where the log is, one entry of it or two, */
slope_gate_log_at:
	.quad CTX_LOG_AT, 0
slope_gate_entries:
	.quad 4, 0, 8, 0
/* and costs, up to so many, from as many less than nothing. */
slope_gate_costs:
	.set cost, -SUMS_COST_MAX
	.rept 2*SUMS_COST_MAX+1
	.quad 0, cost
	.set cost, cost+1
	.endr
slope_gate_usual:
	.quad call_0, call_address_0, jump_from_stub_0, jump_0, leave_0
	.quad call_1, call_address_1, jump_from_stub_1, jump_1, leave_1
/* For two words at once. */
two_steps:
	.long STAMP_STEP, STAMP_STEP
two_marks:
	.long STAMP_MARKS, STAMP_MARKS
	.section .note.GNU-stack, "", @progbits
