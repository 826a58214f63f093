/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What inserted checks call for a stale word. This file is compiled so that
 * its functions keep rdi, rsi and r8 to r10 too (-fcall-saved in meson.build),
 * and use no vector registers: to the code around the check nothing has
 * happened. What it calls in turn does not know of that, and must be called
 * through functions which save all of them.
 */
#include "sources/valgrind/inserted.h"

#include "core/access.h"

void kept_rare_read(struct slope_thread *t, Addr a, UWord bytes);
void kept_rare_stale(struct slope_thread *t, UWord cell, UInt *word);
void kept_rare_settle(struct slope_thread *t);
void kept_rare_jump(void *guest_state, Addr target, Addr sp);

#define SAVED                                                                                       \
	"push %rdi\npush %rsi\npush %r8\npush %r9\npush %r10\nsub $160, %rsp\n"                            \
	"movaps %xmm3, (%rsp)\nmovaps %xmm4, 16(%rsp)\nmovaps %xmm5, 32(%rsp)\nmovaps %xmm6, 48(%rsp)\n"   \
	"movaps %xmm7, 64(%rsp)\nmovaps %xmm8, 80(%rsp)\nmovaps %xmm9, 96(%rsp)\nmovaps %xmm10, 112(%rsp)\n" \
	"movaps %xmm11, 128(%rsp)\nmovaps %xmm12, 144(%rsp)\n"
#define RESTORED                                                                                    \
	"movaps (%rsp), %xmm3\nmovaps 16(%rsp), %xmm4\nmovaps 32(%rsp), %xmm5\nmovaps 48(%rsp), %xmm6\n"   \
	"movaps 64(%rsp), %xmm7\nmovaps 80(%rsp), %xmm8\nmovaps 96(%rsp), %xmm9\nmovaps 112(%rsp), %xmm10\n" \
	"movaps 128(%rsp), %xmm11\nmovaps 144(%rsp), %xmm12\n"                                             \
	"add $160, %rsp\npop %r10\npop %r9\npop %r8\npop %rsi\npop %rdi\nret\n"

/* A function that passes its arguments on and keeps the registers that VEX allocates. */
#define KEEPING(name, callee)                                                                       \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" SAVED "call " #callee "\n" RESTORED \
		".size " #name ", . - " #name "\n")

KEEPING(kept_rare_read, slope_thread_read);
KEEPING(kept_rare_stale, slope_thread_read_stale);
KEEPING(kept_rare_settle, slope_log_settle);
KEEPING(kept_rare_jump, tool_jump_address);

/* slope_log_take for the running fiber. */
static inline Bool taken(struct slope_thread *t, UInt word)
{
	struct read_log *log = tool.log;

	if ((Int)word <= 0)
		return False;
	if (UNLIKELY(log->bytes >= SLOPE_LOG_BYTES)) {
		if (!t->log)
			return False;
		kept_rare_settle(t);
	}
	log->entry[log->bytes / sizeof log->entry[0]] = word;
	log->bytes += sizeof log->entry[0];
	return True;
}

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

		if (slope_stamp_fresh(w, slope_thread_stamp(t)))
			continue;
		if (LIKELY(taken(t, w)))
			*word = w & t->own_kept ? slope_thread_stamp(t) : slope_stamp_seen(slope_thread_stamp(t), t->marks);
		else
			kept_rare_stale(t, cell, word);
	}
}

/*
 * slope_log_take for the stale word in eax, and its second half in the same
 * register if it has one: they are appended to the log (or that is for 9), and
 * rax is what a read makes of them. Changes rcx and r11.
 */
#define TAKEN(bytes, ax)                                                                            \
	"test %%eax, %%eax\njle 9f\n"                                                                     \
	"mov %c[log](%%rip), %%r11\n"                                                                     \
	"mov (%%r11), %%rcx\n"                                                                            \
	"cmp %[log_bytes], %%ecx\njae 9f\n"                                                              \
	"mov %%" ax ", %c[entry](%%r11,%%rcx)\n"                                                          \
	"add $" bytes ", %%ecx\n"                                                                         \
	"mov %%rcx, (%%r11)\n"                                                                            \
	"test $1, %%al\n"                        /* is it the fiber's own? */                              \
	"mov %c[seen_stamps](%%rbp), %%" ax "\n"                                                          \
	"cmovnz %c[top_stamps](%%rbp), %%" ax "\n"

#define OPERANDS                                                                                    \
	[log] "i"(&tool.log), [log_bytes] "i"(SLOPE_LOG_BYTES), [entry] "i"(offsetof(struct read_log, entry)),  \
	SLOT_AT(top_stamps), SLOT_AT(stale_masks), SLOT_AT(seen_stamps)

#define SLOT_AT(field) [field] "i"(SLOTS_OFFSET + offsetof(struct slots, field))
#define ANY(bytes) "9: mov $" bytes ", %%ecx\njmp kept_read_any\n"

/*
 * A misaligned access looks stale to its check, and mostly is not: a look at
 * all its words, in pairs from that of its first byte on (one more may be
 * looked at than it has). If one is, they are read one pair after the other.
 */
#define PAIR(at) "mov %%gs:" at "(%%rcx), %%r11\nsub %c[top_stamps](%%rbp), %%r11\nor %%r11, %%rax\n"
#define MISALIGNED(pairs, words)                                                                    \
	"8: mov %%rdx, %%rcx\nand $-4, %%rcx\nxor %%eax, %%eax\n" pairs                                   \
	"test %%rax, %c[stale_masks](%%rbp)\njnz 5f\nret\n"                                              \
	"5: and $-4, %%rdx\n" words
#define THEN(check, bytes) "push %%rdx\ncall " check "\npop %%rdx\nadd $" bytes ", %%rdx\n"

#define KEPT(name, bytes, code)                                                                     \
	__attribute__((naked)) void kept_read_##name(void)                                                  \
	{                                                                                                   \
		__asm__ volatile(code ANY(#bytes) : : OPERANDS);                                 \
	}

#define ONE_WORD "mov %%gs:(%%rdx), %%eax\n" TAKEN("4", "eax") "mov %%eax, %%gs:(%%rdx)\nret\n"

/* One word, or two, if they are stale. */
KEPT(word, 4, "mov %%gs:(%%rdx), %%eax\ncmp %c[top_stamps](%%rbp), %%eax\njl kept_read_4\nret\n")
KEPT(pair, 8, "mov %%gs:(%%rdx), %%rax\nsub %c[top_stamps](%%rbp), %%rax\ntest %%rax, %c[stale_masks](%%rbp)\njnz kept_read_8\nret\n")

KEPT(1, 1, "and $-4, %%rdx\n" ONE_WORD)
KEPT(2, 2, "mov %%edx, %%ecx\nand $3, %%ecx\ncmp $3, %%ecx\nje 8f\nand $-4, %%rdx\n" ONE_WORD
	MISALIGNED(PAIR("0"), "jmp kept_read_8\n"))
KEPT(4, 4, "test $3, %%dl\njnz 8f\n" ONE_WORD MISALIGNED(PAIR("0"), "jmp kept_read_8\n"))

/* Two words, most often touched together before: then they are one. */
KEPT(8, 8, "test $3, %%dl\njnz 8f\n"
	"mov %%gs:(%%rdx), %%rax\nmov %%rax, %%rcx\nshr $32, %%rcx\ncmp %%eax, %%ecx\njne 7f\n"
	TAKEN("8", "rax") "mov %%rax, %%gs:(%%rdx)\nret\n"
	"7: " THEN("kept_read_word", "4") "jmp kept_read_word\n"
	MISALIGNED(PAIR("0") PAIR("4"), THEN("kept_read_pair", "8") "jmp kept_read_word\n"))

KEPT(16, 16, "test $3, %%dl\njnz 8f\n" THEN("kept_read_pair", "8") "jmp kept_read_pair\n"
	MISALIGNED(PAIR("0") PAIR("8") PAIR("12"), THEN("kept_read_pair", "8") THEN("kept_read_pair", "8") "jmp kept_read_word\n"))

KEPT(32, 32, "test $3, %%dl\njnz 8f\n" THEN("kept_read_16", "16") "jmp kept_read_16\n"
	MISALIGNED(PAIR("0") PAIR("8") PAIR("16") PAIR("24") PAIR("28"),
		   THEN("kept_read_16", "16") THEN("kept_read_16", "16") "jmp kept_read_word\n"))

/* The first two arguments are what was in their registers. */
__attribute__((used)) void kept_jump_to(UWord unused, UWord unused_too, Addr target, void *guest_state)
{
	kept_rare_jump(guest_state, target, *(const Addr *)((const HChar *)guest_state + STACK_POINTER));
}

__attribute__((naked)) void kept_jump(void)
{
	__asm__ volatile("mov %rbp, %rcx\njmp kept_jump_to\n");
}
