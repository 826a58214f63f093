/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ways between C and translated code; context.h says what each is for. */
#include "sources/translator/context.h"

	.text
	.globl _start, slope_gate_start, slope_gate_leave, slope_gate_report, slope_gate_syscall, slope_gate_sigreturn
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
