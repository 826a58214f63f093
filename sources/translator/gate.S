/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ways between C and translated code; context.h says what each is for. */
#include "sources/translator/context.h"
#include "sources/translator/plan.h"
#include "sources/translator/rates.h"
#include "sources/translator/sums.h"

#define DIRECTION_FLAG 0x400
#define ALIGNMENT_FLAG 0x40000

	.section slope_gate_code, "ax", @progbits
	.globl _start, slope_gate_start, slope_gate_leave, slope_gate_report, slope_gate_syscall, slope_gate_sigreturn
	.globl slope_gate_apart, slope_gate_apart_in_c
	.globl slope_gate_return_missed, slope_gate_counted
	.globl slope_gate_quick_jump_from_stub, slope_gate_quick_call, slope_gate_quick_call_lent, slope_gate_quick_call_address
	.globl slope_gate_quick_jump, slope_gate_return_event, slope_gate_returned
	.globl slope_gate_plain_return, slope_gate_plain_return_event
	.globl slope_gate_path_return_saved, slope_gate_path_return_event_saved
	.globl slope_gate_path_return, slope_gate_path_return_event, slope_gate_context_return, slope_gate_context_return_event
	.globl slope_gate_clone, slope_gate_exit
	.globl slope_gate_syscall_begin, slope_gate_syscall_instruction, slope_gate_syscall_aborted, slope_gate_astray

_start:
	xor %ebp, %ebp
	mov %rsp, %rdi
	and $-16, %rsp
	call slope_translator_main
	ud2

slope_gate_start:
	add $GS_PLACE, %rdi
	wrgsbase %rdi
	and $-16, %rsp
	mov %rsp, %gs:CTX_HOST_RSP
	jmp enter

/* C does not keep to alignments: it may not be asked to where the program is (flags: what it has). */
	.macro keep_no_alignment flags:vararg
	testl $ALIGNMENT_FLAG, \flags
	jne 8f
9:
	.endm
	.macro keep_no_alignment_then
8:	pushfq
	andl $~ALIGNMENT_FLAG, (%rsp)
	popfq
	jmp 9b
	.endm

/* C is told, on our stack, from the program's; rdi is its argument. */
	.macro report_to function
	mov $\function, %eax
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
	call slope_gate_report
	mov %gs:CTX_REG(4), %rsp
	.endm

/* A block has run so often. */
slope_gate_counted:
	mov %rdi, %gs:CTX_REG(7)
	mov %rsi, %gs:CTX_REG(6)
	mov %rdx, %gs:CTX_REG(2)
	mov %eax, %edi
	mov RATES_BACK(%rdi), %eax
	mov %rax, %gs:CTX_KEPT
	report_to rates_reached
	mov %gs:CTX_REG(2), %rdx
	mov %gs:CTX_REG(6), %rsi
	mov %gs:CTX_REG(7), %rdi
	mov %gs:CTX_REG(0), %rax
	jmp *%gs:CTX_KEPT

/* Called on our stack; the return address is that of the site's record. */
slope_gate_leave:
	mov %rax, %gs:CTX_REG(0)
	mov %rcx, %gs:CTX_REG(1)
	mov %rdx, %gs:CTX_REG(2)
	mov %rbx, %gs:CTX_REG(3)
	mov %rbp, %gs:CTX_REG(5)
	mov %rsi, %gs:CTX_REG(6)
	mov %rdi, %gs:CTX_REG(7)
	mov %r8, %gs:CTX_REG(8)
	mov %r9, %gs:CTX_REG(9)
	mov %r10, %gs:CTX_REG(10)
	mov %r11, %gs:CTX_REG(11)
	mov %r12, %gs:CTX_REG(12)
	mov %r13, %gs:CTX_REG(13)
	mov %r14, %gs:CTX_REG(14)
	mov %r15, %gs:CTX_REG(15)
	pop %rdi
	pushfq
	popq %gs:CTX_FLAGS
	keep_no_alignment %gs:CTX_FLAGS
	movq $1, %gs:CTX_INSIDE
	sums_leave
	cld
	mov %gs:CTX_SELF, %rsi
	call slope_dispatch
enter:
	sums_come
	movq $0, %gs:CTX_INSIDE
	pushq %gs:CTX_FLAGS
	popfq
	mov %gs:CTX_REG(0), %rax
	mov %gs:CTX_REG(1), %rcx
	mov %gs:CTX_REG(2), %rdx
	mov %gs:CTX_REG(3), %rbx
	mov %gs:CTX_REG(5), %rbp
	mov %gs:CTX_REG(6), %rsi
	mov %gs:CTX_REG(7), %rdi
	mov %gs:CTX_REG(8), %r8
	mov %gs:CTX_REG(9), %r9
	mov %gs:CTX_REG(10), %r10
	mov %gs:CTX_REG(11), %r11
	mov %gs:CTX_REG(12), %r12
	mov %gs:CTX_REG(13), %r13
	mov %gs:CTX_REG(14), %r14
	mov %gs:CTX_REG(15), %r15
	mov %gs:CTX_REG(4), %rsp
	jmp *%gs:CTX_TARGET
	keep_no_alignment_then

/*
 * rax: the C function; rdi, rsi, rdx: its arguments; those three and rax were
 * saved by the caller. On our stack, which is 16-byte aligned before the call.
 */
slope_gate_report:
	pushfq
	push %rcx
	push %r8
	push %r9
	push %r10
	push %r11
	sub $8, %rsp
	keep_no_alignment 48(%rsp)
	sums_leave
	cld
	call *%rax
	sums_come
	add $8, %rsp
	/* A signal came meanwhile: step from here on. */
	cmpq $0, %gs:CTX_WAITING
	jne 1f
	testl $DIRECTION_FLAG+ALIGNMENT_FLAG, 40(%rsp)
	jne 2f
	/* popfq costs as much as all the rest: the arithmetic flags alone, overflow by an addition. */
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rcx
	pop %rdx
	mov %dl, %ah
	shr $11, %edx
	and $1, %edx
	add $0x7f, %dl
	sahf
	ret
1:
	orq $0x100, 40(%rsp)
2:
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rcx
	popfq
	ret
	keep_no_alignment_then

/* ---- calls and returns that usual.S leaves ---- */

/*
 * Out of code that keeps all registers: the C function in rax with up to four
 * arguments (rdi, rsi, rdx, rcx), on our stack. These five are not kept.
 */
slope_gate_apart:
	sums_leave
	call slope_gate_apart_in_c
	sums_come
	ret
/* The same out of quick.c. */
slope_gate_apart_in_c:
	push %rbp
	push %r8
	push %r9
	push %r10
	push %r11
	mov %rsp, %rbp
	and $-16, %rsp
	cld
	call *%rax
	mov %rbp, %rsp
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rbp
	/* A signal came meanwhile: step from here on. */
	cmpq $0, %gs:CTX_WAITING
	jne slope_gate_step
	ret

/* From the program's stack, whose pointer the context keeps, to ours. */
	.macro to_our_stack
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
	push %rdi
	push %rsi
	.endm
	.macro to_its_stack
	pop %rsi
	pop %rdi
	mov %gs:CTX_REG(4), %rsp
	.endm

/* The program's own return address is the second word of its stack. eax: the function. */
	.macro quick_call_of_known
	to_our_stack
	mov %gs:CTX_REG(4), %rsi
	mov %eax, %edi
	add $8, %rsi
	sums_leave
	call quick_call
	sums_come
	to_its_stack
	mov %gs:CTX_REG(0), %rax
	.endm
slope_gate_quick_call:
	quick_call_of_known
	ret
slope_gate_quick_call_lent:
	quick_call_of_known
	mov %gs:CTX_TOP, %r11
	ret
slope_gate_quick_call_address:
	to_our_stack
	mov %gs:CTX_REG(4), %rsi
	mov %rcx, %rdi
	add $8, %rsi
	sums_leave
	call quick_call_address
	sums_come
	to_its_stack
	mov %gs:CTX_REG(0), %rax
	ret
slope_gate_quick_jump_from_stub:
	to_our_stack
	mov %gs:CTX_REG(4), %rsi
	mov %rcx, %rdi
	add $8, %rsi
	sums_leave
	call quick_jump_from_stub
	sums_come
	to_its_stack
	mov %gs:CTX_REG(0), %rax
	ret

slope_gate_quick_jump:
	to_our_stack
	push %rdx
	push %rcx
	mov %gs:CTX_REG(4), %rsi
	mov %eax, %edi
	mov $activations_jump, %eax
	add $8, %rsi
	call slope_gate_apart
	pop %rcx
	pop %rdx
	to_its_stack
	mov %gs:CTX_REG(0), %rax
	ret

/*
 * The address on the program's stack becomes that of its translation, so that
 * a real return goes there, as the processor expects after a real call.
 */
	.macro find_return place
	mov \place, %rcx
	movzwl %cx, %eax
	mov codecache_table(,%rax,4), %eax
	cmp PLAN_TARGETS(%rax), %rcx
	jne 2f
4:	mov PLAN_TARGETS+TARGET_CODE(%rax), %eax
3:	mov %rax, \place
	.endm
	.macro find_return_missed
2:	movzwl %cx, %eax
	mov codecache_table+0x40000(,%rax,4), %eax
	cmp PLAN_TARGETS(%rax), %rcx
	je 4b
	mov %rcx, %gs:CTX_GUEST_TARGET
	mov $slope_gate_return_missed, %eax
	jmp 3b
	.endm

slope_gate_return_event:
	to_our_stack
	mov %gs:CTX_REG(4), %rdi
	add $8, %rdi
	sums_leave
	call quick_return
	sums_come
	to_its_stack
/* Behind the call that a frame knows, r11 is borrowed. */
slope_gate_returned:
	cmpq $0, %gs:CTX_GUEST_TARGET
	jne 1f
	mov %r11, %gs:CTX_STAMP_HOME
	mov %gs:CTX_TOP, %r11
1:	ret

slope_gate_plain_return:
	mov %rax, %gs:CTX_REG(0)
	mov %rcx, %gs:CTX_REG(1)
	find_return (%rsp)
	mov %gs:CTX_REG(0), %rax
	mov %gs:CTX_REG(1), %rcx
	ret
	find_return_missed

/* The path that the caller was on comes back. If none was kept, C begins one where this return goes to. */
	.macro take_path place
	mov %gs:-GS_PLACE+\place, %rcx
	movq $0, %gs:-GS_PLACE+\place
	mov %rcx, %gs:CTX_PATH
	test %rcx, %rcx
	jle 5f
6:
	.endm
	.macro take_path_missed place
5:	mov %rdi, %gs:CTX_REG(7)
	mov %rsi, %gs:CTX_REG(6)
	mov %rdx, %gs:CTX_REG(2)
	lea \place, %rdi
	report_to pathevents_landed
	mov %gs:CTX_REG(7), %rdi
	mov %gs:CTX_REG(6), %rsi
	rdtsc
	mov %eax, %gs:CTX_TICKS_OUT
	mov %edx, %gs:CTX_TICKS_OUT+4
	mov %gs:CTX_REG(2), %rdx
	cmpq $0, %gs:CTX_LANDED
	je 6b
	mov \place, %rcx
	mov %rcx, %gs:CTX_GUEST_TARGET
	mov $slope_gate_return_missed, %eax
	jmp 3b
	.endm

	.macro take_context place
	mov %gs:-GS_PLACE+\place, %rcx
	movq $0, %gs:-GS_PLACE+\place
	test %rcx, %rcx
	jle 7f
	mov %ecx, %eax
	sub %rax, %rcx
	mov %rax, %gs:CTX_PATH
	mov %rcx, %gs:CTX_PATH_CONTEXT
6:
	.endm
	.macro take_context_missed
7:	mov %rcx, %gs:CTX_PATH
	.endm

slope_gate_context_return:
	mov %rax, %gs:CTX_REG(0)
	mov %rcx, %gs:CTX_REG(1)
	take_context 0(%rsp)
	find_return (%rsp)
	mov %gs:CTX_REG(0), %rax
	mov %gs:CTX_REG(1), %rcx
	ret
	find_return_missed
	take_context_missed
	take_path_missed (%rsp)

slope_gate_context_return_event:
	mov %rax, %gs:CTX_REG(0)
	mov %rcx, %gs:CTX_REG(1)
	take_context 8(%rsp)
	find_return 8(%rsp)
	mov %gs:CTX_REG(0), %rax
	mov %gs:CTX_REG(1), %rcx
	ret
	find_return_missed
	take_context_missed
	take_path_missed 8(%rsp)

slope_gate_path_return:
	mov %rcx, %gs:CTX_REG(1)
slope_gate_path_return_saved:
	mov %rax, %gs:CTX_REG(0)
	take_path 0(%rsp)
	find_return (%rsp)
	mov %gs:CTX_REG(0), %rax
	mov %gs:CTX_REG(1), %rcx
	ret
	find_return_missed
	take_path_missed (%rsp)

slope_gate_path_return_event:
	mov %rcx, %gs:CTX_REG(1)
slope_gate_path_return_event_saved:
	mov %rax, %gs:CTX_REG(0)
	take_path 8(%rsp)
	find_return 8(%rsp)
	mov %gs:CTX_REG(0), %rax
	mov %gs:CTX_REG(1), %rcx
	ret
	find_return_missed
	take_path_missed 8(%rsp)

slope_gate_plain_return_event:
	mov %rax, %gs:CTX_REG(0)
	mov %rcx, %gs:CTX_REG(1)
	find_return 8(%rsp)
	mov %gs:CTX_REG(0), %rax
	mov %gs:CTX_REG(1), %rcx
	ret
	find_return_missed

/* Here comes a return whose target is not in the table. */
slope_gate_return_missed:
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
	call slope_gate_leave
	.quad 0
	.long SITE_RETURN, 0, 0, 0, 0

slope_gate_syscall:
	push %rbx
	mov %rsi, %rbx
	mov %rdi, %rax
	mov 0(%rbx), %rdi
	mov 8(%rbx), %rsi
	mov 16(%rbx), %rdx
	mov 24(%rbx), %r10
	mov 32(%rbx), %r8
	mov 40(%rbx), %r9
slope_gate_syscall_begin:
	cmpq $0, %gs:CTX_WAITING
	jne slope_gate_syscall_aborted
slope_gate_syscall_instruction:
	syscall
	pop %rbx
	ret
/* A signal came first: the call has not been made. */
slope_gate_syscall_aborted:
	mov $-512, %rax
	pop %rbx
	ret

/* The program has jumped to where no code can be: astray.c. */
slope_gate_astray:
	hlt

slope_gate_clone:
	push %rbx
	push %r12
	mov %rdi, %rbx
	mov %rdx, %r12
	mov 0(%rbx), %rdi
	mov 16(%rbx), %rdx
	mov 24(%rbx), %r10
	mov 32(%rbx), %r8
	mov $56, %eax
	syscall
	test %rax, %rax
	je 1f
	pop %r12
	pop %rbx
	ret
1:
	add $GS_PLACE, %r12
	wrgsbase %r12
	xor %ebp, %ebp
	mov %gs:CTX_SELF, %rdi
	call slope_thread_begins
	jmp enter

slope_gate_exit:
	movl $0, (%rsi)
	mov $60, %eax
	syscall
	ud2

slope_gate_sigreturn:
	mov $15, %eax
	syscall
	ud2
	.section .note.GNU-stack, "", @progbits
