/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that has asked the processor to fault at odd addresses: it is translated, called, left and interrupted
 * meanwhile, and keeps to the rule itself. Handlers begin with that flag, too, and take it back first.
 */
#include "torture.h"


#define ALIGNMENT 0x40000u
#define ROUNDS 400

static volatile sig_atomic_t caught;
static uint64_t seed, words[64];

static void on_alarm(int number, siginfo_t *info, void *context)
{
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(unsigned long long)ALIGNMENT);
	(void)info;
	(void)context;
	EXPECT(number == SIGALRM);
	caught++;
}

/* A call and stores to words, at 64 places that are reached by computed jumps. */
__asm__(".text; .balign 16; strict_leaf: add (%rsi,%rdx,8), %rax; ror $7, %rax; mov %rax, (%rsi,%rdx,8); ret\n"
	".balign 32; strict_places: .set place, 0; .rept 64; .balign 32; add $place, %rax; mov $place, %edx; call strict_leaf;"
	"jmp strict_next; .set place, place+1; .endr\n"
	/* rdi: how often, rsi: the words, rax: what comes of it */
	"strict_work: push %rbx; pushfq; orq $0x40000, (%rsp); popfq\n"
	"1: mov %rax, %rbx; and $63, %ebx; shl $5, %rbx; lea strict_places(%rip), %rcx; add %rcx, %rbx; jmp *%rbx\n"
	"strict_next: dec %rdi; jne 1b; pushfq; andq $~0x40000, (%rsp); popfq; pop %rbx; ret\n");
extern char strict_work[];

static uint64_t translated(uint64_t value, uint64_t times)
{
	uint64_t *at = words;

	__asm__ volatile("sub $256, %%rsp; call *%3; add $256, %%rsp"
			 : "+a"(value), "+D"(times), "+S"(at) : "r"(strict_work) : "rcx", "rdx", "memory", "cc");
	return value;
}

/* The same in C. */
static uint64_t meant(uint64_t *w, uint64_t value, uint64_t times)
{
	while (times--) {
		unsigned place = value & 63;

		value += place + w[place];
		value = value >> 7 | value << 57;
		w[place] = value;
	}
	return value;
}

int main(int argc, char **argv)
{
	uint64_t copy[64];

	seed = torture_seed(argc, argv);
	torture_handle(SIGALRM, on_alarm, 0);
	for (int i = 0; i < 64; i++)
		words[i] = torture_random(&seed);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t value = torture_random(&seed), times = 1 + torture_random(&seed) % 3000;

		memcpy(copy, words, sizeof copy);
		torture_alarm(1 + (unsigned)(torture_random(&seed) % 200));
		EXPECT(translated(value, times) == meant(copy, value, times));
		EXPECT(!memcmp(copy, words, sizeof copy));
	}
	while (!caught)
		;
	puts("strict");
	return 0;
}
