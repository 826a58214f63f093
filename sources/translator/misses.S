/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses that checks have not let pass. One set of routines for each register
 * that can be the stamp's, by its number (slope_gate_reads). An ordinary word
 * goes into the log (core/log.h), and becomes the top's; all else goes to C, but
 * for what another thread hands on again and again. Less than the least stamp
 * are words that were never touched or are pending, and what is read at an odd
 * address.
 */
#include "sources/translator/context.h"
#include "sources/translator/plan.h"
#include "sources/translator/sums.h"

	.section slope_gate_code, "ax", @progbits
	.globl slope_gate_reads, slope_gate_writes, slope_gate_read_any_by_c, slope_gate_write_any, slope_gate_step

/* What a cell becomes into bd, ad being what it was: the top's stamp, or for trms, if it is not the thread's own, the one behind it. */
	.macro new_word a, ad, b, bd, whose
	mov %gs:CTX_TOP, %\bd
	.if \whose == GATE_ALONE
	and $1, %\ad
	sub %\ad, %\bd
	.endif
	.if \whose != GATE_RMS
	inc %\bd
	or $STAMP_MARKS, %\bd
	.endif
	.endm

/* The cells are the top's, and all registers as they were; b is the stamp. */
	.macro have_cells r, a, ad, b, bd, cells, whose
	.if \whose != GATE_RMS
	new_word \a, \ad, \b, \bd, \whose
	mov %\bd, %gs:GS_BIAS(%\r)
	.if \cells == 2
	mov %\bd, %gs:4+GS_BIAS(%\r)
	.endif
	mov %gs:CTX_TOP, %\r
	.else
	mov %gs:CTX_TOP, %\b
	.if \cells == 2
	mov %\b, %gs:GS_BIAS(%\r)
	.else
	mov %\bd, %gs:GS_BIAS(%\r)
	.endif
	mov %\b, %\r
	.endif
	mov %gs:CTX_KEPT+8, %\b
	mov %gs:CTX_KEPT, %\a
	ret
	.endm

/*
 * The word at %r is not an ordinary one. Is it pending, in a cell that another thread hands on again and again (core/sharing.h)? What
 * slope_thread_read_handed does, where the hint tells who had the cell before, and frames hold such sums already.
 */
	.macro take_kept r, a, ad, b, bd, what
	test $3, %\r
	jne 4f
	mov %gs:CTX_DIRECTORY, %\a
	mov %gs:CTX_CORE, %\b
	mov (%\a,%\r), %\ad
	cmp CORE_MET_KEPT(%\b), %\ad
	jne 4f
	mov %gs:GS_BIAS(%\r), %\ad
	sub $STAMP_PENDING, %\ad
	jb 4f
	sub CORE_HINT_STAMP(%\b), %\ad
	cmp CORE_HINT_SPAN(%\b), %\ad
	jae 4f
	mov CORE_HINT_STAMP(%\b), %\ad
	mov CORE_HINT(%\b), %\b
	cmp FRAME_STAMP(%\b), %\ad
	jne 4f
	mov %gs:CTX_CORE, %\a
	mov CORE_FRAME(%\a), %\a
	cmp %\a, %\b
	jae 4f
	testb $FRAME_INDUCED, FRAME_FLAGS(%\a)
	je 4f
	testb $FRAME_SUMS, FRAME_FLAGS(%\a)
	je 4f
	testb $FRAME_INDUCED, FRAME_FLAGS(%\b)
	je 4f
	testb $FRAME_SUMS, FRAME_FLAGS(%\b)
	je 4f
	/* The next line of words comes from the processor that made them pending. */
	prefetchw %gs:64+GS_BIAS(%\r)
	decq FRAME_RMS(%\b)
	incq FRAME_EXTRA(%\b)
	incq FRAME_RMS(%\a)
	incq FRAME_THREAD(%\a)
	mov FRAME_STAMP(%\a), %\ad
	inc %\ad
	or $STAMP_MARKS, %\ad
	mov %\ad, %gs:GS_BIAS(%\r)
	/* Is the directory's word still the same? */
	mov %gs:CTX_DIRECTORY, %\a
	mov %gs:CTX_CORE, %\b
	mov (%\a,%\r), %\ad
	cmp CORE_MET_KEPT(%\b), %\ad
	mov %gs:CTX_KEPT+8, %\b
	mov %gs:CTX_KEPT, %\a
	jne \what\()_seen_\r
	mov %gs:CTX_TOP, %\r
	ret
	.endm

	.macro take_cells r, a, ad, b, bd, cells, whose, how, what
	mov %\a, %gs:CTX_KEPT
	mov %\b, %gs:CTX_KEPT+8
	lea -PLAN_LOWEST(%\r), %\a
	cmp %gs:CTX_SPAN, %\a
	jae 4f
	log_end \how, \b, \bd
	log_full \how, \bd, 4f
	.if \cells == 2
	mov %gs:GS_BIAS(%\r), %\a
	log_entry \how, \a, \b
	rorx $32, %\a, %\b
	cmp %\a, %\b
	jne 7f
	cmp $STAMP_LEAST, %\ad
	jl 4f
	.if \how == IN_MEMORY
	log_end \how, \b, \bd
	.endif
	log_more \how, \bd, 8
	.else
	mov %gs:GS_BIAS(%\r), %\ad
	cmp $STAMP_LEAST, %\ad
	.if \whose == GATE_SHARED
	jl 5f
	.else
	jl 4f
	.endif
	log_entry \how, \ad, \b
	log_more \how, \bd, 4
	.endif
	have_cells \r, \a, \ad, \b, \bd, \cells, \whose
	.if \cells == 2 && \whose == GATE_RMS
	/* Two that are not alike: those that are older than the top. The first one lies in the log already. */
7:	cmp $STAMP_LEAST, %\bd
	jl 4f
	cmp $STAMP_LEAST, %\ad
	jl 4f
	cmp %gs:CTX_TOP, %\ad
	mov %\bd, %\ad
	log_end \how, \b, \bd
	jge 8f
	add $4, %\b
8:	log_entry \how, \ad, \b
	cmp %gs:CTX_TOP, %\ad
	jge 9f
	add $4, %\b
9:	log_set \how, \b, \bd
	have_cells \r, \a, \ad, \b, \bd, 2, 0
	.elseif \cells == 2
7:
	.elseif \whose == GATE_SHARED
5:	take_kept \r, \a, \ad, \b, \bd, \what
	.endif
4:	mov %gs:CTX_KEPT+8, %\b
	mov %gs:CTX_KEPT, %\a
	.endm

/* What take_cells has not taken: one cell more where the address is odd, and two that are not alike. */
	.macro take_between r, a, ad, b, bd, cells, whose, how, what
	.if \cells == 1 || \whose == GATE_RMS
	test $3, %\r
	je 3f
	.endif
	lea -PLAN_LOWEST(%\r), %\a
	cmp %gs:CTX_SPAN, %\a
	jae 2f
	log_end \how, \a, \ad
	log_full \how, \ad, 2f
	.if \cells == 1
	take_some \r, \a, \ad, \b, \bd, 2, \whose, \how, \what
	.else
	.if \whose != GATE_RMS
	test $3, %\r
	je 1f
	.endif
	take_some \r, \a, \ad, \b, \bd, 3, \whose, \how, \what
	.if \whose != GATE_RMS
1:	take_some \r, \a, \ad, \b, \bd, 2, \whose, \how, \what
	.endif
	.endif
2:	mov %gs:CTX_KEPT+8, %\b
	mov %gs:CTX_KEPT, %\a
3:
	.endm

/* The cell at %r, if another thread has handed it on. */
	.macro take_handed r
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
	push %rax
	push %rdi
	mov %\r, %rdi
	call quick_read_handed
	test %al, %al
	pop %rdi
	pop %rax
	mov %gs:CTX_REG(4), %rsp
	je 1f
	mov %gs:CTX_TOP, %\r
	ret
1:
	.endm

/* So many bytes at %r, by C. */
	.macro by_c r, bytes, function
	mov %rsp, %gs:CTX_REG(4)
	mov %gs:CTX_HOST_RSP, %rsp
	keep_registers
	push %rax
	sub $8, %rsp
	mov %\r, %rdi
	mov $\bytes, %esi
	sums_leave
	call \function
	sums_come
	add $8, %rsp
	pop %rax
	bring_registers
	mov %gs:CTX_REG(4), %rsp
	mov %gs:CTX_TOP, %\r
	cmpq $0, %gs:CTX_WAITING
	jne slope_gate_step
	ret
	.endm

/* A cell that may be fresh, where there is room in the log. */
	.macro take_if_stale r, a, ad, b, bd, at, whose, how
	mov %gs:\at+GS_BIAS(%\r), %\ad
	cmp $STAMP_LEAST, %\ad
	jl 4f
	cmp %gs:CTX_TOP, %\ad
	jge 5f
	log_end \how, \b, \bd
	log_entry \how, \ad, \b
	log_more \how, \bd, 4
	new_word \a, \ad, \b, \bd, \whose
	mov %\bd, %gs:\at+GS_BIAS(%\r)
5:
	.endm

/* So many cells of which the first bytes, or the last, are read, any of which may be fresh; with the registers kept. */
	.macro take_some r, a, ad, b, bd, cells, whose, how, what
	and $-4, %\r
	take_if_stale \r, \a, \ad, \b, \bd, 0, \whose, \how
	.if \cells > 1
	take_if_stale \r, \a, \ad, \b, \bd, 4, \whose, \how
	.endif
	.if \cells > 2
	take_if_stale \r, \a, \ad, \b, \bd, 8, \whose, \how
	.endif
	mov %gs:CTX_TOP, %\r
	mov %gs:CTX_KEPT+8, %\b
	mov %gs:CTX_KEPT, %\a
	ret
4:	mov %gs:CTX_KEPT+8, %\b
	mov %gs:CTX_KEPT, %\a
	jmp \what\()_\cells\()_\r\()_by_c
	.endm

/* Two bytes at an odd address: in one cell or in two. */
	.macro take_odd r, a, ad, b, bd, whose, how, what
	mov %\a, %gs:CTX_KEPT
	mov %\b, %gs:CTX_KEPT+8
	lea -PLAN_LOWEST(%\r), %\a
	cmp %gs:CTX_SPAN, %\a
	jae 3f
	log_end \how, \a, \ad
	log_full \how, \ad, 3f
	test $2, %\r
	jne 2f
	take_some \r, \a, \ad, \b, \bd, 1, \whose, \how, \what
2:	take_some \r, \a, \ad, \b, \bd, 2, \whose, \how, \what
3:	mov %gs:CTX_KEPT+8, %\b
	mov %gs:CTX_KEPT, %\a
	.endm

	.macro reads r, a, ad, b, bd, whose, how, what
\what\()_half_\r:
	test $1, %\r
	je \what\()_byte_\r
	take_odd \r, \a, \ad, \b, \bd, \whose, \how, \what
	by_c \r, 2, reports_read
\what\()_byte_\r:
	and $-4, %\r
\what\()_1_\r:
	take_cells \r, \a, \ad, \b, \bd, 1, \whose, \how, \what
	take_between \r, \a, \ad, \b, \bd, 1, \whose, \how, \what
\what\()_1_\r\()_by_c:
	.if \whose == GATE_SHARED
	take_handed \r
	by_c \r, 4, reports_read
\what\()_seen_\r:
	by_c \r, 4, reports_seen
	.else
	by_c \r, 4, reports_read
	.endif
\what\()_2_\r:
	take_cells \r, \a, \ad, \b, \bd, 2, \whose, \how, \what
	take_between \r, \a, \ad, \b, \bd, 2, \whose, \how, \what
\what\()_2_\r\()_by_c:
	by_c \r, 8, reports_read
\what\()_3_\r\()_by_c:
	by_c \r, 12, reports_read
	.endm

/*
 * The same for writes where others may have seen the cells. What is the thread's own stays so: by its words, or, where it has read
 * the cells since, by the directory's.
 */
	.macro own_cells r, a, ad, b, bd, cells
	mov %\a, %gs:CTX_KEPT
	lea -PLAN_LOWEST(%\r), %\a
	cmp %gs:CTX_SPAN, %\a
	jae 4f
	/* Words that are pending are never own. */
	.if \cells == 2
	mov %gs:GS_BIAS(%\r), %\ad
	and %gs:4+GS_BIAS(%\r), %\ad
	test $1, %\ad
	.else
	testb $1, %gs:GS_BIAS(%\r)
	.endif
	je 3f
2:	mov %gs:CTX_TOP, %\a
	.if \cells == 2
	mov %\a, %gs:GS_BIAS(%\r)
	.else
	mov %\ad, %gs:GS_BIAS(%\r)
	.endif
	mov %\a, %\r
	mov %gs:CTX_KEPT, %\a
	ret
3:	mov %\b, %gs:CTX_KEPT+8
	mov %gs:CTX_DIRECTORY, %\a
	mov %gs:CTX_CORE, %\b
	mov CORE_OWNED(%\b), %\b
	.if \cells == 2
	cmp %\b, (%\a,%\r)
	.else
	cmp %\bd, (%\a,%\r)
	.endif
	jne 3f
	mov %gs:CTX_TOP, %\a
	.if \cells == 2
	mov %\a, %gs:GS_BIAS(%\r)
	.else
	mov %\ad, %gs:GS_BIAS(%\r)
	.endif
	/* Is it still so? */
	mov %gs:CTX_DIRECTORY, %\a
	.if \cells == 2
	cmp %\b, (%\a,%\r)
	.else
	cmp %\bd, (%\a,%\r)
	.endif
	mov %gs:CTX_KEPT+8, %\b
	mov %gs:CTX_KEPT, %\a
	jne had_\cells\()_\r
	mov %gs:CTX_TOP, %\r
	ret
3:	mov %gs:CTX_KEPT+8, %\b
4:	mov %gs:CTX_KEPT, %\a
	.endm

	.macro writes r, a, ad, b, bd
write_half_\r:
	test $1, %\r
	je write_byte_\r
	by_c \r, 2, reports_write
write_byte_\r:
	and $-4, %\r
	jmp 5f
write_1_\r:
	test $3, %\r
	jne 6f
5:	own_cells \r, \a, \ad, \b, \bd, 1
6:	by_c \r, 4, reports_write
had_1_\r:
	by_c \r, 4, reports_had
write_2_\r:
	test $3, %\r
	jne 6f
	own_cells \r, \a, \ad, \b, \bd, 2
6:	by_c \r, 8, reports_write
had_2_\r:
	by_c \r, 8, reports_had
	.endm

	.macro reads_and_writes r, a, ad, b, bd
	reads \r, \a, \ad, \b, \bd, GATE_RMS, IN_MEMORY, plain_read
	reads \r, \a, \ad, \b, \bd, GATE_ALONE, IN_MEMORY, own_read
	reads \r, \a, \ad, \b, \bd, GATE_SHARED, IN_MEMORY, read
	reads \r, \a, \ad, \b, \bd, GATE_RMS, IN_VECTORS, plain_vread
	reads \r, \a, \ad, \b, \bd, GATE_ALONE, IN_VECTORS, own_vread
	reads \r, \a, \ad, \b, \bd, GATE_SHARED, IN_VECTORS, vread
	writes \r, \a, \ad, \b, \bd
	.endm
	reads_and_writes r11, rax, eax, rcx, ecx
	reads_and_writes r10, rax, eax, rcx, ecx
	reads_and_writes r9, rax, eax, rcx, ecx
	reads_and_writes r8, rax, eax, rcx, ecx
	reads_and_writes r15, rax, eax, rcx, ecx
	reads_and_writes r14, rax, eax, rcx, ecx
	reads_and_writes r13, rax, eax, rcx, ecx
	reads_and_writes r12, rax, eax, rcx, ecx
	reads_and_writes rbx, rax, eax, rcx, ecx
	reads_and_writes rbp, rax, eax, rcx, ecx
	reads_and_writes rdi, rax, eax, rcx, ecx
	reads_and_writes rsi, rax, eax, rcx, ecx
	reads_and_writes rdx, rax, eax, rcx, ecx
	reads_and_writes rcx, rax, eax, rdx, edx
	reads_and_writes rax, rcx, ecx, rdx, edx

	.section .rodata
	.macro table what
	.irp r, rax, rcx, rdx, rbx
	.quad \what\()_byte_\r, \what\()_half_\r, \what\()_1_\r, \what\()_2_\r
	.endr
	.quad 0, 0, 0, 0
	.irp r, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
	.quad \what\()_byte_\r, \what\()_half_\r, \what\()_1_\r, \what\()_2_\r
	.endr
	.endm
slope_gate_reads:
	table plain_read
	table own_read
	table read
	table plain_vread
	table own_vread
	table vread
slope_gate_writes:
	table write
	.section slope_gate_code, "ax", @progbits

/* What longreads.S leaves. */
slope_gate_read_any_by_c:
	keep_registers
	sub $8, %rsp
	mov %rax, %rdi
	mov %ecx, %esi
	sums_leave
	call reports_read
	jmp 1f
slope_gate_write_any:
	keep_registers
	sub $8, %rsp
	mov %rax, %rdi
	mov %ecx, %esi
	sums_leave
	call reports_write
1:	sums_come
	add $8, %rsp
	bring_registers
	/* A signal came meanwhile: step from here on. */
	cmpq $0, %gs:CTX_WAITING
	jne slope_gate_step
	ret
slope_gate_step:
	pushfq
	orq $0x100, (%rsp)
	popfq
	ret

	.section .note.GNU-stack, "", @progbits
