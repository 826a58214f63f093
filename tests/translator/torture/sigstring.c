/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repeated string instructions that a timer interrupts: the context shows
 * how far they are, and they finish. Both directions.
 */
#include "torture.h"

#include <ucontext.h>

#define BYTES (256u << 10)
#define WANTED 12

extern const char copy_at[], fill_at[], scan_at[], compare_at[], back_at[];
static unsigned char from[BYTES + 64], to[BYTES + 64];
static uint64_t seed;
static volatile sig_atomic_t caught;

static void on_alarm(int number, siginfo_t *info, void *context)
{
	const greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	const char *at = (const char *)reg[REG_RIP];
	uint64_t left = (uint64_t)reg[REG_RCX], rdi = (uint64_t)reg[REG_RDI], rsi = (uint64_t)reg[REG_RSI];

	(void)number, (void)info;
	if (at == copy_at)
		EXPECT(rdi + left == (uint64_t)to + BYTES && rsi + left == (uint64_t)from + BYTES);
	if (at == fill_at)
		EXPECT(rdi + 8 * left == (uint64_t)to + BYTES);
	if (at == scan_at)
		EXPECT(rdi + left == (uint64_t)to + BYTES);
	if (at == compare_at)
		EXPECT(rdi + 2 * left == (uint64_t)to + BYTES && rsi + 2 * left == (uint64_t)from + BYTES);
	if (at == back_at)
		EXPECT(rdi - 4 * left == (uint64_t)to - 4 && rsi - 4 * left == (uint64_t)from - 4);
	caught++;
	torture_alarm(1 + (unsigned)(torture_random(&seed) % 1500));
}

static void round_of_all(unsigned char value)
{
	uint64_t rdi = (uint64_t)to, rsi = (uint64_t)from, rcx = BYTES;

	memset(from, value, BYTES);
	__asm__ volatile("copy_at: rep movsb" : "+D"(rdi), "+S"(rsi), "+c"(rcx) : : "memory", "cc");
	EXPECT(rcx == 0 && to[0] == value && to[BYTES - 1] == value && rdi == (uint64_t)to + BYTES);
	rdi = (uint64_t)to, rsi = (uint64_t)from, rcx = BYTES / 2;
	__asm__ volatile("compare_at: repe cmpsw" : "+D"(rdi), "+S"(rsi), "+c"(rcx) : : "memory", "cc");
	EXPECT(rcx == 0 && rdi == (uint64_t)to + BYTES);
	rdi = (uint64_t)to, rcx = BYTES;
	to[BYTES - 5] = (unsigned char)(value + 1);
	__asm__ volatile("scan_at: repne scasb" : "+D"(rdi), "+c"(rcx) : "a"(value + 1) : "memory", "cc");
	EXPECT(rcx == 4 && rdi == (uint64_t)to + BYTES - 4);
	rdi = (uint64_t)to, rcx = BYTES / 8;
	__asm__ volatile("fill_at: rep stosq"
	: "+D"(rdi), "+c"(rcx) : "a"(UINT64_C(0x0101010101010101) * value) : "memory");
	EXPECT(rcx == 0 && memcmp(from, to, BYTES) == 0);
	memset(from, value ^ 255, BYTES);
	rdi = (uint64_t)to + BYTES - 4, rsi = (uint64_t)from + BYTES - 4, rcx = BYTES / 4;
	__asm__ volatile("std; back_at: rep movsl; cld" : "+D"(rdi), "+S"(rsi), "+c"(rcx) : : "memory", "cc");
	EXPECT(rcx == 0 && memcmp(from, to, BYTES) == 0 && rdi == (uint64_t)to - 4);
}

int main(int argc, char **argv)
{
	seed = torture_seed(argc, argv);
	torture_handle(SIGALRM, on_alarm, 0);
	torture_alarm(500);
	for (unsigned i = 0; caught < WANTED; i++)
		round_of_all((unsigned char)i);
	torture_alarm(0);
	puts("finished");
	return 0;
}
