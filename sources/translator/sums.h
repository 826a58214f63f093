/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For assembly: where the log ends and what was spent, in the unit that comes
 * first. Every block adds to them, so they are what the next block waits for: in
 * memory seven cycles each time, in a vector one. Where vectors are ours
 * (vectors.h) they are the two halves of xmm30 while translated code runs, and
 * two words of the context while C does. In the vector the log's end is an
 * address relative to %gs, CTX_LOG_AT being added; its lower half stays the same.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_SUMS_H
#define SLOPE_SOURCES_TRANSLATOR_SUMS_H

#include "sources/translator/context.h"

#define IN_MEMORY 0
#define IN_VECTORS 1

	.macro sums_to_context
	vpsubq slope_gate_log_at(%rip), %xmm30, %xmm30
	vmovdqu64 %xmm30, %gs:CTX_LOG
	movb $SUMS_AWAY, %gs:CTX_SUMS
	.endm
	.macro sums_from_context
	vmovdqu64 %gs:CTX_LOG, %xmm30
	vpaddq slope_gate_log_at(%rip), %xmm30, %xmm30
	movb $SUMS_HELD, %gs:CTX_SUMS
	.endm

/* On the way to C and back, wherever they are. Flags are not kept. */
	.macro sums_leave
	cmpb $SUMS_HELD, %gs:CTX_SUMS
	jne .Lleft\@
	sums_to_context
.Lleft\@:
	.endm
	.macro sums_come
	cmpb $SUMS_AWAY, %gs:CTX_SUMS
	jne .Lcame\@
	sums_from_context
.Lcame\@:
	.endm

/* Where the next entry of the log will be into a register, b; bd is its lower half, and half of that how long the log is. */
	.macro log_end how, b, bd
	.if \how == IN_VECTORS
	vmovq %xmm30, %\b
	.else
	mov %gs:CTX_LOG, %\bd
	.endif
	.endm
/* There is no room, or the log is closed. */
	.macro log_full how, bd, label
	.if \how == IN_VECTORS
	cmp $CTX_LOG_AT+CTX_LOG_BYTES, %\bd
	jge \label
	.else
	cmp $CTX_LOG_BYTES, %\bd
	jae \label
	.endif
	.endm
/* What becomes that entry. */
	.macro log_entry how, word, b
	.if \how == IN_VECTORS
	mov %\word, %gs:(%\b)
	.else
	mov %\word, %gs:CTX_LOG_AT(%\b)
	.endif
	.endm
/* So many bytes more than it is in bd, which need not be so afterwards. */
	.macro log_more how, bd, bytes
	.if \how == IN_VECTORS
	vpaddq slope_gate_entries+16*(\bytes/4-1)(%rip), %xmm30, %xmm30
	.else
	add $\bytes, %\bd
	mov %\bd, %gs:CTX_LOG
	.endif
	.endm
/* The next one will be where b says. */
	.macro log_set how, b, bd
	.if \how == IN_VECTORS
	vpinsrq $0, %\b, %xmm30, %xmm30
	.else
	mov %\bd, %gs:CTX_LOG
	.endif
	.endm

/* What C may change of the program's registers, but for rax. */
	.macro keep_registers
	push %rcx
	push %rdx
	push %rsi
	push %rdi
	push %r8
	push %r9
	push %r10
	push %r11
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

#endif
