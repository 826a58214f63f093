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
	.globl slope_gate_read_any, slope_gate_read_any_kept

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
	log_end IN_VECTORS, rsi, esi
	log_full IN_VECTORS, esi, 2f
	kmovd %edx, %k6
	mov %rax, %rdx
	and $-4, %rdx
	vmovdqu32 %gs:GS_BIAS(%rdx), %zmm31{%k6}{z}
	vpcmpltd least(%rip){1to16}, %zmm31, %k7{%k6}
	kortestw %k7, %k7
	jne 2f
	vpcmpltd %gs:CTX_TOP{1to16}, %zmm31, %k6{%k6}
	kmovd %k6, %ecx
	.if \whose != GATE_RMS
	mov %gs:CTX_CORE, %rax
	vptestmd CORE_OWN_KEPT(%rax){1to16}, %zmm31, %k7{%k6}
	.endif
	vpcompressd %zmm31, %zmm31{%k6}{z}
	popcnt %ecx, %ecx
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

	.section .rodata
	.balign 4
least:
	.long STAMP_LEAST
	.section .note.GNU-stack, "", @progbits
