/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals must leave the 128 bytes below the stack pointer alone, and
 * whatever the stack pointer is: it is odd for a while.
 */
#include "torture.h"

#define WANTED 80

static uint64_t seed;
static volatile sig_atomic_t caught;

static void on_alarm(int number, siginfo_t *info, void *context)
{
	volatile char noise[500];

	(void)number, (void)info, (void)context;
	memset((void *)noise, 0xee, sizeof noise);
	caught++;
	torture_alarm(1 + (unsigned)(torture_random(&seed) % 800));
}

/* Writes and reads the whole zone, many times over. */
static __attribute__((noinline)) uint64_t leaf(uint64_t value)
{
	uint64_t sum;

	__asm__ volatile(
		"mov $400, %%ecx\n"
		"1: mov %1, -8(%%rsp); mov %1, -16(%%rsp); mov %1, -64(%%rsp); mov %1, -120(%%rsp); "
		"mov %1, -128(%%rsp)\n"
		"jmp 2f; 2: xor %%eax, %%eax; add -8(%%rsp), %%rax; jmp 3f; 3: add -16(%%rsp), %%rax; "
		"add -64(%%rsp), %%rax\n"
		"add -120(%%rsp), %%rax; jmp 4f; 4: add -128(%%rsp), %%rax\n"
		"lea (%1, %1, 4), %%rdx; cmp %%rdx, %%rax; jnz 5f; dec %%ecx; jnz 1b; 5: "
		: "=&a"(sum) : "r"(value) : "rcx", "rdx", "memory", "cc");
	return sum;
}

static __attribute__((noinline)) uint64_t odd(uint64_t value)
{
	uint64_t sum;

	__asm__ volatile(
		"mov %%rsp, %%r8; sub $203, %%rsp; mov $200, %%ecx; xor %0, %0\n"
		"1: push %1; pushw $3; jmp 2f; 2: addw (%%rsp), %w0; add 2(%%rsp), %0; "
		"lea 10(%%rsp), %%rsp; dec %%ecx; jnz 1b\n"
		"call 3f; jmp 4f; 3: inc %0; ret; 4: mov %%r8, %%rsp"
		: "=&r"(sum) : "r"(value) : "rcx", "r8", "memory", "cc");
	return sum;
}

int main(int argc, char **argv)
{
	static char alternate[65536];
	stack_t own = { .ss_sp = alternate, .ss_size = sizeof alternate };

	seed = torture_seed(argc, argv);
	sigaltstack(&own, NULL);
	torture_handle(SIGALRM, on_alarm, 0);
	torture_alarm(500);
	for (uint64_t i = 1; caught < WANTED; i++) {
		if (caught == WANTED / 2)
			torture_handle(SIGALRM, on_alarm, SA_ONSTACK);
		EXPECT(leaf(i % 1000) == i % 1000 * 5);
		EXPECT(odd(i % 100) == i % 100 * 200 + 600 + 1);
	}
	torture_alarm(0);
	puts("red zone kept");
	return 0;
}
