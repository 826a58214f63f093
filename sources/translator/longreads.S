/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads of more than two cells that checks have not let pass, up to sixteen at
 * once with AVX-512: what taking.h does, without a way into C. Words that are
 * stale go into the log (core/log.h) and become the top's. Where there is no
 * AVX-512 or no room, and for words that are no ordinary stamps, misses.S calls
 * C, with nothing done.
 *
 * On our stack; rax: the address, ecx: the bytes, and both are in the context.
 * All other registers are kept but those vectors that are ours (vectors.h), flags are not.
 */
#include "sources/translator/context.h"
#include "sources/translator/plan.h"
#include "sources/translator/sums.h"

	.section slope_gate_code, "ax", @progbits
	.globl slope_gate_read_any, slope_gate_read_any_kept, slope_gate_masked_read, slope_gate_masked_read_kept

/*
 * Of the sixteen cells from that at rax on, those that edx has bits for. Where there is no room, and for words that are no ordinary
 * stamps, to `rare`, with nothing done and only rdx and rsi overwritten; else rax and rcx are, too.
 */
	.macro take_lanes whose, rare
	log_end IN_VECTORS, rsi, esi
	log_full IN_VECTORS, esi, \rare
	kmovd %edx, %k6
	mov %rax, %rdx
	and $-4, %rdx
	vmovdqu32 %gs:GS_BIAS(%rdx), %zmm31{%k6}{z}
	vpcmpltd least(%rip){1to16}, %zmm31, %k7{%k6}
	kortestw %k7, %k7
	jne \rare
	vpcmpltd %gs:CTX_TOP{1to16}, %zmm31, %k6{%k6}
	kmovd %k6, %ecx
	popcnt %ecx, %ecx
	je 9f
	.if \whose != GATE_RMS
	mov %gs:CTX_CORE, %rax
	vptestmd CORE_OWN_KEPT(%rax){1to16}, %zmm31, %k7{%k6}
	.endif
	vpcompressd %zmm31, %zmm31{%k6}{z}
	vmovdqu32 %zmm31, %gs:(%rsi)
	lea (%rsi,%rcx,4), %rsi
	log_set IN_VECTORS, rsi, esi
	.if \whose != GATE_RMS
	mov %gs:CTX_TOP, %eax
	inc %eax
	or $STAMP_MARKS, %eax
	vpbroadcastd %eax, %zmm31
	vmovdqu32 %zmm31, %gs:GS_BIAS(%rdx){%k6}
	vpbroadcastd %gs:CTX_TOP, %zmm31
	vmovdqu32 %zmm31, %gs:GS_BIAS(%rdx){%k7}
	.else
	vpbroadcastd %gs:CTX_TOP, %zmm31
	vmovdqu32 %zmm31, %gs:GS_BIAS(%rdx){%k6}
	.endif
9:
	.endm

	.macro take_many whose
	cmpb $0, %gs:CTX_BY_16
	je slope_gate_read_any_by_c
	vmovq %rdx, %xmm26
	vmovq %rsi, %xmm27
	lea -1(%rax,%rcx), %rdx
	lea -PLAN_LOWEST(%rdx), %rsi
	cmp %gs:CTX_SPAN, %rsi
	jae 2f
	mov %rax, %rsi
	shr $2, %rsi
	cmp $PLAN_LOWEST/4, %rsi
	jb 2f
	shr $2, %rdx
	sub %esi, %edx
	cmp $15, %edx
	ja 2f
	mov $2, %esi
	shlx %edx, %esi, %edx
	dec %edx
	take_lanes \whose, 2f
	vmovq %xmm26, %rdx
	vmovq %xmm27, %rsi
	ret
2:	vmovq %xmm26, %rdx
	vmovq %xmm27, %rsi
	jmp slope_gate_read_any_by_c
	.endm

slope_gate_read_any:
	take_many GATE_RMS
slope_gate_read_any_kept:
	take_many GATE_ALONE

/*
 * Those elements of a vector that a mask has bits for; what compares texts ends so. rax: the address, rcx: the mask, edx: as reports_masked
 * has it. The program's values of these three are in the context; all else is kept, flags too.
 */
	.macro take_masked whose, many
	push %rax
	lahf
	seto %al
	push %rax
	push %rsi
	push %rcx
	push %rdx
	mov 32(%rsp), %rax
	mov %edx, %esi
	shr $16, %esi
	bzhi %rsi, %rcx, %rcx
	test %rcx, %rcx
	je 8f
	test $MASKED_PACKED, %edx
	jne 5f
	cmpb $0, %gs:CTX_BY_16
	je 3f
	cmp $PLAN_LOWEST, %rax
	jb 3f
	cmp $4, %dl
	je 4f
	cmp $1, %dl
	jne 3f
	/* Bytes: so many bits to the cell in which the first one lies, and one for each four of them. */
	mov %eax, %edx
	and $3, %edx
	add %edx, %esi
	cmp $64, %esi
	ja 3f
	shlx %rdx, %rcx, %rcx
	mov %rcx, %rdx
	shr %rdx
	or %rdx, %rcx
	mov %rcx, %rdx
	shr $2, %rdx
	or %rdx, %rcx
	pext fourths(%rip), %rcx, %rdx
	jmp 6f
	/* Words. */
4:	test $3, %al
	jne 3f
	mov %ecx, %edx
6:	lea 64-PLAN_LOWEST(%rax), %rsi
	cmp %gs:CTX_SPAN, %rsi
	jae 3f
	take_lanes \whose, 3f
8:	pop %rdx
	pop %rcx
	pop %rsi
	pop %rax
	add $8, %rsp
	add $0x7f, %al
	sahf
	ret
	/* As many elements as there are bits, side by side. */
5:	popcnt %rcx, %rcx
	movzbl %dl, %esi
	imul %esi, %ecx
	call \many
	jmp 8b
3:	keep_registers
	mov 96(%rsp), %rdi
	mov 64(%rsp), %esi
	mov 72(%rsp), %rdx
	sums_leave
	call reports_masked
	sums_come
	bring_registers
	cmpq $0, %gs:CTX_WAITING
	je 8b
	call slope_gate_step
	jmp 8b
	.endm

slope_gate_masked_read:
	take_masked GATE_RMS, slope_gate_read_any
slope_gate_masked_read_kept:
	take_masked GATE_ALONE, slope_gate_read_any_kept

	.section .rodata
	.balign 8
fourths:
	.quad 0x1111111111111111
least:
	.long STAMP_LEAST
	.section .note.GNU-stack, "", @progbits
