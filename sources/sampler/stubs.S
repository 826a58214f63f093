/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What stands in a return address's place: stubs, all alike, told apart by
 * their addresses. trampolines.h says what they are for. A page of them begins
 * with a mark, and the distance to its part of slope_stub_target, so that the rule for
 * unwinders below can find the true return address of any stub without being
 * relocated.
 *
 * A stub is reached by a `ret`: nothing is known about registers and flags, so
 * all are kept. What C code does in between is compiled without vectors.
 */
	.set	PAGES, 16
	.set	PAGE_BYTES, 4096
	.set	STUB_BYTES, 8

	.text
	.balign	PAGE_BYTES
	.globl	slope_stubs, slope_stubs_end
	.hidden	slope_stubs, slope_stubs_end
	.type	slope_stubs, @function
slope_stubs:
	.cfi_startproc simple
	/*
	 * Where a stub is, its caller has the stack pointer of now, and goes on
	 * where slope_stub_target says. The stub's address is what the callee
	 * found in its return address's place, 8 bytes below.
	 *
	 * Unwinders tell activations apart by their stack pointers, and a stub's
	 * is its caller's. It therefore claims to be a signal's frame: these two
	 * are known to be alike. What it says then is where the caller is, not
	 * what it returns to: the last byte of the call.
	 */
	.cfi_signal_frame
	.cfi_def_cfa	rsp, 0
	/*
	 * With a = *(rsp - 8), p = a & -4096: rip = (*p == "slopestu" ? *(a + *(p + 8)) : a) - 1. The other case is
	 * that of a stub that was taken away while an unwinder had seen it already.
	 *   breg7 -8, deref, dup, const2s -4096, and, dup, deref, const8u "slopestu", ne, bra 8,
	 *   plus_uconst 8, deref, plus, deref, skip 1, drop, lit1, minus
	 */
	.cfi_escape 0x16, 0x10, 0x22, 0x77, 0x78, 0x06, 0x12, 0x0b, 0x00, 0xf0, 0x1a, 0x12, 0x06, 0x0e, 0x73, 0x6c, 0x6f, 0x70, 0x65, 0x73, \
		0x74, 0x75, 0x2e, 0x28, 0x08, 0x00, 0x23, 0x08, 0x06, 0x22, 0x06, 0x2f, 0x01, 0x00, 0x13, 0x31, 0x1c
	.set	page, 0
	.rept	PAGES
	.ascii	"slopestu"
	.quad	slope_stub_target + page * PAGE_BYTES + 8 - .
	.rept	PAGE_BYTES / STUB_BYTES - 2
	call	slope_stub_fired
	.balign	STUB_BYTES, 0xcc
	.endr
	.set	page, page + 1
	.endr
slope_stubs_end:
	.cfi_endproc
	.size	slope_stubs, . - slope_stubs

	.globl	slope_stub_fired, slope_stub_fired_end
	.hidden	slope_stub_fired, slope_stub_fired_end
	.type	slope_stub_fired, @function
slope_stub_fired:
	.cfi_startproc
	/* The call has put the stub's number where the return address was; the true one goes there. */
	pushfq
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbx
	mov	%rsp, %rbx
	.cfi_def_cfa	rbx, 96
	mov	88(%rbx), %rdi
	lea	88(%rbx), %rsi
	and	$-16, %rsp
	cld
	call	slope_trampoline_returned
	mov	%rax, 88(%rbx)
	mov	%rbx, %rsp
	.cfi_def_cfa	rsp, 96
	pop	%rbx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	popfq
	.cfi_def_cfa	rsp, 8
	ret
	.cfi_endproc
slope_stub_fired_end:
	.size	slope_stub_fired, . - slope_stub_fired

/*
 * Functions that note their return address for later: it must be the true one.
 * The program's call comes here first, with everything as the function wants it. The numbers are those of
 * capturing_name in trampolines.c.
 */
	.macro	capturing name, number
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	endbr64
	push	%rax
	.cfi_adjust_cfa_offset 8
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%r8
	.cfi_adjust_cfa_offset 8
	push	%r9
	.cfi_adjust_cfa_offset 8
	lea	56(%rsp), %rdi
	mov	$\number, %esi
	call	slope_trampoline_capturing
	mov	%rax, %r11
	pop	%r9
	.cfi_adjust_cfa_offset -8
	pop	%r8
	.cfi_adjust_cfa_offset -8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	jmp	*%r11
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.globl	slope_capturing, slope_capturing_end
	.hidden	slope_capturing, slope_capturing_end
slope_capturing:
	capturing setjmp, 0
	capturing _setjmp, 1
	capturing __sigsetjmp, 2
	capturing getcontext, 3
	capturing swapcontext, 4
	capturing vfork, 5
	capturing __vfork, 6
slope_capturing_end:

	.section .bss
	.balign	PAGE_BYTES
	.globl	slope_stub_target
	.hidden	slope_stub_target
	.type	slope_stub_target, @object
slope_stub_target:
	.zero	PAGES * PAGE_BYTES
	.size	slope_stub_target, . - slope_stub_target
	.section .note.GNU-stack, "", @progbits
