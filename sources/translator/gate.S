/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ways between C and translated code; context.h says what each is for. */
#include "sources/translator/context.h"
#include "sources/translator/plan.h"

	.text
	.globl _start, slope_gate_start, slope_gate_leave, slope_gate_report, slope_gate_syscall, slope_gate_sigreturn
	.globl slope_gate_read_byte, slope_gate_read_half, slope_gate_read_1, slope_gate_read_2, slope_gate_read_any, slope_gate_write_any
	.globl slope_gate_jump_from_stub, slope_gate_call, slope_gate_call_address, slope_gate_return, slope_gate_return_event
	.globl slope_gate_plain_return, slope_gate_plain_return_event
	.globl slope_gate_clone, slope_gate_exit
	.globl slope_gate_first, slope_gate_last, slope_gate_syscall_begin, slope_gate_syscall_instruction, slope_gate_syscall_aborted

slope_gate_first:
_start:
	xor %ebp, %ebp
	mov %rsp, %rdi
	and $-16, %rsp
	call slope_translator_main
	ud2

slope_gate_start:
	wrgsbase %rdi
	and $-16, %rsp
	mov %rsp, %gs:CTX_HOST_RSP
	jmp enter

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
	movq $1, %gs:CTX_INSIDE
	cld
	mov %gs:CTX_SELF, %rsi
	call slope_dispatch
enter:
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
	cld
	call *%rax
	add $8, %rsp
	/* A signal came meanwhile: step from here on. */
	cmpq $0, %gs:CTX_WAITING
	jne 1f
	testl $0x400, 40(%rsp)
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

	.macro keep_more_registers
	push %rdx
	push %rsi
	push %rdi
	push %r8
	push %r9
	push %r10
	push %r11
	.endm
	.macro keep_registers
	push %rcx
	keep_more_registers
	.endm
	.macro bring_registers
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rdi
	pop %rsi
	pop %rdx
	pop %rcx
	.endm

/* ---- accesses that checks have not let pass ---- */

slope_gate_read_half:
	test $1, %al
	je slope_gate_read_byte
	push %rcx
	mov $2, %ecx
	jmp read_some
slope_gate_read_byte:
	and $-4, %rax
/* The word is of the caller, or of the activation that lost cells last: one cell moves to the top (core/access.h). */
slope_gate_read_1:
	test $3, %al
	jne read_one
	push %rcx
	push %rdx
	push %rsi
	lea -PLAN_LOWEST(%rax), %rcx
	cmp %gs:CTX_SPAN, %rcx
	jae 4f
	mov %gs:CTX_CORE, %rdx
	mov %gs:(%rax), %ecx
	mov CORE_TOP_STAMP(%rdx), %esi
	sub CORE_BELOW_STAMP(%rdx), %ecx
	sub CORE_BELOW_STAMP(%rdx), %esi
	cmp %esi, %ecx
	jae 2f
	incl CORE_FROM_CALLER(%rdx)
	/* Stamps of activations are odd: an even difference is an own word, which stays one. */
1:	not %ecx
	test %ecx, CORE_OWN_KEPT(%rdx)
	mov CORE_TOP_STAMP(%rdx), %ecx
	jne 3f
	inc %ecx
	or $0x808080, %ecx
3:	mov %ecx, %gs:(%rax)
	pop %rsi
	pop %rdx
	pop %rcx
	ret
2:	mov %gs:(%rax), %ecx
	sub CORE_HINT_STAMP(%rdx), %ecx
	cmp CORE_HINT_SPAN(%rdx), %ecx
	jae 4f
	incl CORE_FROM_HINT(%rdx)
	jmp 1b
4:	pop %rsi
	pop %rdx
	pop %rcx
read_one:
	push %rcx
	mov $4, %ecx
	jmp read_some

/* Two words, most often touched together before. */
slope_gate_read_2:
	test $3, %al
	jne read_two
	push %rcx
	push %rdx
	push %rsi
	lea -PLAN_LOWEST(%rax), %rcx
	cmp %gs:CTX_SPAN, %rcx
	jae 4f
	mov %gs:CTX_CORE, %rdx
	mov %gs:(%rax), %ecx
	cmp %gs:4(%rax), %ecx
	jne 4f
	mov CORE_TOP_STAMP(%rdx), %esi
	sub CORE_BELOW_STAMP(%rdx), %ecx
	sub CORE_BELOW_STAMP(%rdx), %esi
	cmp %esi, %ecx
	jae 2f
	addl $2, CORE_FROM_CALLER(%rdx)
1:	not %ecx
	test %ecx, CORE_OWN_KEPT(%rdx)
	mov CORE_TOP_STAMP(%rdx), %ecx
	jne 3f
	inc %ecx
	or $0x808080, %ecx
3:	mov %ecx, %gs:(%rax)
	mov %ecx, %gs:4(%rax)
	pop %rsi
	pop %rdx
	pop %rcx
	ret
2:	mov %gs:(%rax), %ecx
	sub CORE_HINT_STAMP(%rdx), %ecx
	cmp CORE_HINT_SPAN(%rdx), %ecx
	jae 4f
	addl $2, CORE_FROM_HINT(%rdx)
	jmp 1b
4:	pop %rsi
	pop %rdx
	pop %rcx
read_two:
	push %rcx
	mov $8, %ecx
	jmp read_some

slope_gate_read_any:
	push %rcx
read_some:
	keep_more_registers
	sub $8, %rsp
	mov %rax, %rdi
	mov %ecx, %esi
	call reports_read
	jmp 1f
slope_gate_write_any:
	keep_registers
	sub $8, %rsp
	mov %rax, %rdi
	mov %ecx, %esi
	call reports_write
1:	add $8, %rsp
	bring_registers
	/* A signal came meanwhile: step from here on. */
	cmpq $0, %gs:CTX_WAITING
	jne step
	ret
step:
	pushfq
	orq $0x100, (%rsp)
	popfq
	ret

/* ---- calls and returns ---- */

/* From the program's stack, whose pointer the context keeps, to ours; rax is in the context. */
	.macro to_our_stack
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
	keep_registers
	.endm
/* And back, to whoever called. A signal came meanwhile: step from there on. */
	.macro back_to_program
	bring_registers
	mov %gs:CTX_REG(0), %rax
	mov %gs:CTX_REG(4), %rsp
	cmpq $0, %gs:CTX_WAITING
	jne step
	ret
	.endm

/* The return will find its place here, without a look into the table. */
	.macro note_return
	mov (%rsi), %ecx
	mov %esi, %edx
	shr $3, %edx
	and $CTX_RETURNS_MASK, %edx
	shr $32, %rax
	mov %ecx, %gs:CTX_RETURNS(,%rdx,8)
	mov %eax, %gs:CTX_RETURNS+4(,%rdx,8)
	.endm

slope_gate_call:
	to_our_stack
	mov %eax, %edi
	mov %gs:CTX_REG(4), %rsi
	add $8, %rsi
	note_return
	call activations_call
	jmp 1f
slope_gate_jump_from_stub:
	to_our_stack
	mov %rcx, %rdi
	mov %gs:CTX_REG(4), %rsi
	add $8, %rsi
	call activations_jump_from_stub
	jmp 1f
slope_gate_call_address:
	to_our_stack
	mov %rcx, %rdi
	mov %gs:CTX_REG(4), %rsi
	add $8, %rsi
	note_return
	call activations_call_address
1:	back_to_program

/*
 * The address on the program's stack becomes that of its translation, so that
 * a real return goes there, as the processor expects after a real call.
 */
	.macro find_return_noted
	mov (%rsi), %rcx
	mov %esi, %edx
	shr $3, %edx
	and $CTX_RETURNS_MASK, %edx
	mov %gs:CTX_RETURNS(,%rdx,8), %rax
	mov %eax, %edx
	shr $32, %rax
	cmp %rdx, %rcx
	je 3f
	.endm
	.macro find_return place
	mov \place, %rcx
	movzwl %cx, %eax
	mov codecache_table(,%rax,4), %eax
	cmp PLAN_TARGETS(%rax), %rcx
	jne 2f
4:	mov PLAN_TARGETS+8(%rax), %rax
3:	mov %rax, \place
	.endm
	.macro find_return_missed
2:	movzwl %cx, %eax
	mov codecache_table+0x40000(,%rax,4), %eax
	cmp PLAN_TARGETS(%rax), %rcx
	je 4b
	mov %rcx, %gs:CTX_GUEST_TARGET
	mov $return_missed, %eax
	jmp 3b
	.endm

slope_gate_return:
	mov %rax, %gs:CTX_REG(0)
	to_our_stack
	mov %gs:CTX_REG(4), %rdi
	call activations_return
	mov %gs:CTX_REG(4), %rsi
	find_return_noted
	find_return (%rsi)
	back_to_program
	find_return_missed

slope_gate_return_event:
	mov %rax, %gs:CTX_REG(0)
	to_our_stack
	mov %gs:CTX_REG(4), %rdi
	add $8, %rdi
	call activations_return
	mov %gs:CTX_REG(4), %rsi
	add $8, %rsi
	find_return (%rsi)
	back_to_program
	find_return_missed

slope_gate_plain_return:
	mov %rax, %gs:CTX_REG(0)
	mov %rcx, %gs:CTX_REG(1)
	find_return (%rsp)
	mov %gs:CTX_REG(0), %rax
	mov %gs:CTX_REG(1), %rcx
	ret
	find_return_missed

slope_gate_plain_return_event:
	mov %rax, %gs:CTX_REG(0)
	mov %rcx, %gs:CTX_REG(1)
	find_return 8(%rsp)
	mov %gs:CTX_REG(0), %rax
	mov %gs:CTX_REG(1), %rcx
	ret
	find_return_missed

/* Here comes a return whose target is not in the table. */
return_missed:
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
	call slope_gate_leave
	.quad 0
	.long SITE_INDIRECT, 0

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
slope_gate_last:

	.section .note.GNU-stack, "", @progbits
