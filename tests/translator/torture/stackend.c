/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks near their end: code that needs no more than is left of it runs, whatever lies below, and what lies below stays
 * as it is. Stacks that end in recursion, and handlers that go on elsewhere.
 */
#include "torture.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PAGE 4096
#define MOST 480                 /* bytes that are left */

/* rsi more calls, then reads of every size from rdi on that somebody else has written, and a write. */
__asm__(".text\n"
	"chain: test %rsi, %rsi; je 1f; dec %rsi; call chain; ret\n"
	"1: mov (%rdi), %eax; movzbl 5(%rdi), %edx; add %edx, %eax; movzwl 10(%rdi), %edx; add %edx, %eax; add 16(%rdi), %rax\n"
	"movups 32(%rdi), %xmm0; movd %xmm0, %edx; add %edx, %eax; movups 49(%rdi), %xmm0; mov %rax, 72(%rdi); ret\n");

uint64_t chain(const unsigned char *data, uint64_t calls);

/* With a stack of its own that ends there. */
static uint64_t on_stack(char *end, const unsigned char *data, uint64_t calls)
{
	uint64_t result;

	__asm__ volatile("mov %%rsp, %%r12; mov %%rcx, %%rsp; call chain; mov %%r12, %%rsp"
			 : "=a"(result), "+D"(data), "+S"(calls) : "c"(end) : "rdx", "r12", "memory", "cc", "xmm0");
	return result;
}

static void fill(unsigned char *data, uint64_t *seed)
{
	for (int i = 0; i < 96; i++)
		data[i] = (unsigned char)torture_random(seed);
}

/* `left` bytes of stack above a page that is not for it. */
static void little_left(char *stack, uint64_t *seed)
{
	static unsigned char data[96], copy[96];

	for (size_t left = 8; left <= MOST; left += 8) {
		for (uint64_t calls = 0; calls < 4 && 8 * (calls + 1) <= left; calls++) {
			fill(data, seed);
			memcpy(copy, data, sizeof copy);
			EXPECT(on_stack(stack + left, data, calls) == on_stack(stack + PAGE, copy, calls));
			EXPECT(memcmp(data, copy, sizeof copy) == 0);
		}
	}
}

static void stacks(uint64_t *seed)
{
	char *page = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static char was[PAGE];

	EXPECT(page != MAP_FAILED);
	memset(page + PAGE, 'x', PAGE);
	memset(was, 'x', PAGE);
	EXPECT(mprotect(page + PAGE, PAGE, PROT_READ) == 0);
	little_left(page + 2 * PAGE, seed);
	EXPECT(memcmp(page + PAGE, was, PAGE) == 0);
	puts("above a page that can be read");
	EXPECT(mprotect(page + PAGE, PAGE, PROT_NONE) == 0);
	little_left(page + 2 * PAGE, seed);
	EXPECT(write(2, page + PAGE, 1) == -1);
	EXPECT(mprotect(page + PAGE, PAGE, PROT_READ) == 0 && memcmp(page + PAGE, was, PAGE) == 0);
	puts("above one that cannot");
	EXPECT(munmap(page + PAGE, PAGE) == 0);
	little_left(page + 2 * PAGE, seed);
	EXPECT(write(2, page + PAGE, 1) == -1);
	puts("above none");
}

/* Reads of what somebody else has written, and a write, while the stack pointer is something else. */
static uint64_t without_stack(uint64_t *data, uint64_t sp)
{
	uint64_t result;

	__asm__ volatile("mov %%rsp, %%r12; mov %2, %%rsp; mov (%1), %%rax; add 8(%1), %%eax; movzbl 17(%1), %%ecx; add %%rcx, %%rax; "
			 "movzwl 26(%1), %%ecx; add %%rcx, %%rax; mov %%rax, 32(%1); mov %%r12, %%rsp"
			 : "=&a"(result) : "r"(data), "r"(sp) : "r12", "rcx", "memory", "cc");
	return result;
}

static void no_stacks(uint64_t *seed)
{
	static const uint64_t sp[] = { 0, 16, 0x5004, 0x20000, UINT64_C(0x7000000000), UINT64_C(0x123456789abcdef0), UINT64_MAX };
	static uint64_t data[12];

	for (unsigned i = 0; i < sizeof sp / sizeof *sp; i++) {
		fill((unsigned char *)data, seed);
		uint64_t result = without_stack(data, sp[i]);

		EXPECT(data[4] == result);
		printf("%llx\n", (unsigned long long)result);
	}
	puts("no stack");
}

static sigjmp_buf back;
static char *stack_page;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)context;
	EXPECT(number == SIGSEGV && (char *)info->si_addr < stack_page && (char *)info->si_addr > stack_page - 65536);
	siglongjmp(back, 1);
}

static uint64_t deeper(uint64_t *data, uint64_t n)
{
	uint64_t sum = data[n % 12];

	data[(n + 5) % 12] = sum + n;
	return sum + deeper(data, n + 1) * 3 + data[(n + 1) % 12];
}

/* The main thread's stack has a limit and nothing below; this one has a page that may not be touched. */
static void overflows(void)
{
	static char alternate[65536];
	static uint64_t data[12];
	stack_t own = { .ss_sp = alternate, .ss_size = sizeof alternate };
	char *pages = mmap(NULL, 20 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(pages != MAP_FAILED && mprotect(pages, 4 * PAGE, PROT_NONE) == 0 && sigaltstack(&own, NULL) == 0);
	stack_page = pages + 4 * PAGE;
	torture_handle(SIGSEGV, on_fault, SA_ONSTACK);
	for (volatile int i = 0; i < 20; i++) {
		if (sigsetjmp(back, 1))
			continue;
		__asm__ volatile("mov %0, %%rsp; and $-16, %%rsp; xor %%esi, %%esi; mov %1, %%rdi; call *%2"
				 : : "r"(pages + 20 * PAGE - 8 * i), "r"(data), "r"(deeper) : "rdi", "rsi", "memory");
	}
	puts("overflows");
}

static uint64_t seen[3];                 /* rax, rcx, rip */

static void on_call(int number, siginfo_t *info, void *context)
{
	const greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	EXPECT(number == SIGSEGV && (char *)info->si_addr == stack_page - 8);
	seen[0] = (uint64_t)reg[REG_RAX];
	seen[1] = (uint64_t)reg[REG_RCX];
	seen[2] = (uint64_t)reg[REG_RIP];
	siglongjmp(back, 1);
}

/* A call that has no room for its own return address: the handler sees the registers as they were before it. */
static void calls_at_the_end(uint64_t *seed)
{
	extern const char call_at_the_end[];

	torture_handle(SIGSEGV, on_call, SA_ONSTACK);
	for (volatile int i = 0; i < 20; i++) {
		static uint64_t rcx;

		rcx = torture_random(seed);
		if (!sigsetjmp(back, 1))
			__asm__ volatile("mov %0, %%rsp; mov %1, %%rcx; mov %2, %%rax; call_at_the_end: call *%%rax"
					 : : "d"(stack_page), "m"(rcx), "S"(deeper) : "rax", "rcx", "memory");
		EXPECT(seen[0] == (uint64_t)deeper && seen[1] == rcx && seen[2] == (uint64_t)call_at_the_end);
	}
	puts("calls at the end");
}

int main(int argc, char **argv)
{
	uint64_t seed = torture_seed(argc, argv);

	setvbuf(stdout, NULL, _IONBF, 0);
	stacks(&seed);
	no_stacks(&seed);
	overflows();
	calls_at_the_end(&seed);
	return 0;
}
