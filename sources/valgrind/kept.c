/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What inserted checks call for a stale word. This file is compiled so that
 * its functions keep rdi, rsi and r8 to r10 too (-fcall-saved in meson.build),
 * and use no vector registers: to the code around the check nothing has
 * happened. What it calls in turn does not know of that, and must be called
 * through functions which save all of them.
 */
#include "sources/valgrind/inserted.h"
#include "libvex_guest_amd64.h"

#include "core/access.h"

void kept_rare_read(struct slope_thread *t, Addr a, UWord bytes);
void kept_rare_stale(struct slope_thread *t, UWord cell, UInt *word);

/* A function that passes its arguments on and keeps the registers that VEX allocates. */
#define KEEPING(name, callee)                                                                          \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                        \
		"push %rdi\npush %rsi\npush %r8\npush %r9\npush %r10\nsub $160, %rsp\n"                            \
		"movaps %xmm3, (%rsp)\nmovaps %xmm4, 16(%rsp)\nmovaps %xmm5, 32(%rsp)\nmovaps %xmm6, 48(%rsp)\n"   \
		"movaps %xmm7, 64(%rsp)\nmovaps %xmm8, 80(%rsp)\nmovaps %xmm9, 96(%rsp)\nmovaps %xmm10, 112(%rsp)\n" \
		"movaps %xmm11, 128(%rsp)\nmovaps %xmm12, 144(%rsp)\n"                                         \
		"call " #callee "\n"                                                                           \
		"movaps (%rsp), %xmm3\nmovaps 16(%rsp), %xmm4\nmovaps 32(%rsp), %xmm5\nmovaps 48(%rsp), %xmm6\n"   \
		"movaps 64(%rsp), %xmm7\nmovaps 80(%rsp), %xmm8\nmovaps 96(%rsp), %xmm9\nmovaps 112(%rsp), %xmm10\n" \
		"movaps 128(%rsp), %xmm11\nmovaps 144(%rsp), %xmm12\n"                                         \
		"add $160, %rsp\npop %r10\npop %r9\npop %r8\npop %rsi\npop %rdi\nret\n"                            \
		".size " #name ", . - " #name "\n")

KEEPING(kept_rare_read, slope_thread_read);
KEEPING(kept_rare_stale, slope_thread_read_stale);

/* What the functions below leave: any words, of which some are stale. The first two arguments are what was in their registers. */
__attribute__((used)) void kept_read_any(UWord unused, UWord unused_too, Addr a, UWord bytes)
{
	struct slope_thread *t = tool.core;
	UWord cell = a >> 2, end = ((a + bytes - 1) >> 2) + 1;
	UInt *word = t->shadow.window + cell;

	if (UNLIKELY(!t->shadow.window)) {
		kept_rare_read(t, a, bytes);
		return;
	}
	for (; cell < end; cell++, word++) {
		UInt w = *word;

		if (slope_stamp_fresh(w, t->top_stamp))
			continue;
		if (LIKELY(slope_thread_moved(t, w, 1)))
			*word = w & t->own_kept ? t->top_stamp : slope_stamp_seen(t->top_stamp, t->marks);
		else
			kept_rare_stale(t, cell, word);
	}
}

/*
 * slope_thread_moved for the word in eax, in four registers: with the address
 * of a word of the window in rdx, it counts the cells and leaves the word's new
 * stamp in eax, or jumps to 9. Compilers would need two more.
 */
#define MOVED(cells)                                                                                \
	"mov %c[core](%%rip), %%r11\n"                                                                     \
	"mov %%eax, %%ecx\n"                                                                               \
	"sub %c[hint_stamp](%%r11), %%ecx\n"                                                               \
	"cmp %c[hint_span](%%r11), %%ecx\n"                                                                \
	"mov %c[top](%%r11), %%rcx\n"                                                                      \
	"lea -%c[frame](%%rcx), %%rcx\n"                                                                   \
	"cmovb %c[hint](%%r11), %%rcx\n"                                                                   \
	"cmp %%eax, %c[stamp](%%rcx)\n"                                                                    \
	"jg 9f\n"                                                                                          \
	"subq $" cells ", %c[rms](%%rcx)\n"                                                                \
	"mov %c[top](%%r11), %%rcx\n"                                                                      \
	"addq $" cells ", %c[rms](%%rcx)\n"                                                                \
	"test %%eax, %c[own_kept](%%r11)\n"                                                                \
	"mov %c[top_stamp](%%r11), %%eax\n"                                                                \
	"jnz 1f\n"                                                                                         \
	"inc %%eax\n"                                                                                      \
	"or %c[marks](%%r11), %%eax\n"                                                                     \
	"1:\n"

#define OF_THREAD(field) [field] "i"(offsetof(struct slope_thread, field))
#define OPERANDS                                                                                    \
	[core] "i"(&tool.core), OF_THREAD(hint_stamp), OF_THREAD(hint_span), OF_THREAD(top), OF_THREAD(hint), OF_THREAD(own_kept), \
	OF_THREAD(top_stamp), OF_THREAD(marks), [frame] "i"(sizeof(struct slope_frame)),                  \
	[stamp] "i"(offsetof(struct slope_frame, stamp)), [rms] "i"(offsetof(struct slope_frame, rms))

#define SLOT_AT(field) [field] "i"(sizeof(VexGuestAMD64State) + offsetof(struct slots, field))
#define ANY(bytes) "9: mov $" bytes ", %%ecx\njmp kept_read_any\n"

/*
 * A misaligned access looks stale to its check, and mostly is not: a look at
 * all its words, in pairs from that of its first byte on (one more may be
 * looked at than it has).
 */
#define PAIR(at) "mov %%gs:" at "(%%rcx), %%r11\nsub %c[top_stamps](%%rbp), %%r11\nor %%r11, %%rax\n"
#define MISALIGNED(pairs)                                                                           \
	"8: mov %%rdx, %%rcx\nand $-4, %%rcx\nxor %%eax, %%eax\n" pairs                                   \
	"test %%rax, %c[stale_masks](%%rbp)\njnz 9f\nret\n"

#define KEPT(bytes, code)                                                                           \
	__attribute__((naked)) void kept_read_##bytes(void)                                                 \
	{                                                                                                   \
		__asm__ volatile(code ANY(#bytes) : : OPERANDS, SLOT_AT(top_stamps), SLOT_AT(stale_masks));         \
	}

#define ONE_WORD "mov %%gs:(%%rdx), %%eax\n" MOVED("1") "mov %%eax, %%gs:(%%rdx)\nret\n"

KEPT(1, "and $-4, %%rdx\n" ONE_WORD)
KEPT(2, "mov %%edx, %%ecx\nand $3, %%ecx\ncmp $3, %%ecx\nje 8f\nand $-4, %%rdx\n" ONE_WORD MISALIGNED(PAIR("0")))
KEPT(4, "test $3, %%dl\njnz 8f\n" ONE_WORD MISALIGNED(PAIR("0")))

/* The two halves one after the other, each with a check first. */
#define HALVES(half, bytes) "push %%rdx\ncall " half "\npop %%rdx\nadd $" bytes ", %%rdx\njmp " half "\n"

/* Two words, most often touched together before: then they are one. */
KEPT(8, "test $3, %%dl\njnz 8f\n"
	"mov %%gs:(%%rdx), %%eax\ncmp %%eax, %%gs:4(%%rdx)\njne 7f\n"
	MOVED("2") "mov %%eax, %%ecx\nshl $32, %%rcx\nor %%rcx, %%rax\nmov %%rax, %%gs:(%%rdx)\nret\n"
	"7: " HALVES("6f", "4")
	"6: mov %%gs:(%%rdx), %%eax\ncmp %c[top_stamps](%%rbp), %%eax\njl kept_read_4\nret\n"
	MISALIGNED(PAIR("0") PAIR("4")))

KEPT(16, "test $3, %%dl\njnz 8f\n" HALVES("6f", "8")
	"6: mov %%gs:(%%rdx), %%rax\nsub %c[top_stamps](%%rbp), %%rax\ntest %%rax, %c[stale_masks](%%rbp)\njnz kept_read_8\nret\n"
	MISALIGNED(PAIR("0") PAIR("8") PAIR("12")))

KEPT(32, "test $3, %%dl\njnz 8f\n" HALVES("kept_read_16", "16") MISALIGNED(PAIR("0") PAIR("8") PAIR("16") PAIR("24") PAIR("28")))
