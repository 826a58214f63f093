/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Faults of every kind, each with the address, the code and the registers
 * that the kernel reports, and recovery by another address in the context.
 */
#include "torture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <ucontext.h>

static volatile struct {
	int number, code;
	uint64_t address, at, rax, rbx, rsp, cf;
} seen;

static uint64_t resume_at;
static void *repair;                     /* this page is given back instead */

static void on_fault(int number, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	seen.number = number;
	seen.code = info->si_code;
	seen.address = (uint64_t)info->si_addr;
	seen.at = (uint64_t)reg[REG_RIP];
	seen.rax = (uint64_t)reg[REG_RAX];
	seen.rbx = (uint64_t)reg[REG_RBX];
	seen.rsp = (uint64_t)reg[REG_RSP];
	seen.cf = reg[REG_EFL] & 1;
	if (repair)
		EXPECT(mprotect(repair, 4096, PROT_READ | PROT_WRITE) == 0);
	else
		reg[REG_RIP] = (greg_t)resume_at;
	repair = NULL;
}

/*
 * `code` faults, and goes on behind it. rax is its operand; rbx is known, and
 * the carry, which is tested behind it. The result is the address of `code`.
 */
#define FAULTING(before, code, after, operand)                                                           \
	({                                                                                               \
		uint64_t place_;                                                                         \
		__asm__ volatile("lea 2f(%%rip), %%rcx; mov %%rcx, %[resume]; mov $0x1234567, %%ebx; " before \
				 "; lea 1f(%%rip), %%rdx; stc; jmp 3f; 3: nop; 1: " code "; nop; 2: setc %%sil; " after \
				 "; mov %%rdx, %[place]"                                                  \
				 : [place] "=m"(place_), [resume] "=m"(resume_at) : "a"(operand)          \
				 : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r12", "memory", "cc", "xmm0"); \
		place_;                                                                                  \
	})

/* Flags that nobody reads any more may be anything: before an instruction that sets them, and where no code follows. */
static int flags_dead;

static void check(const char *what, uint64_t place, uint64_t operand, uint64_t address)
{
	printf("%s: signal %d, code %d%s%s%s%s\n"
	, what, seen.number, seen.code, seen.at == place ? "" : ", wrong place",
	       seen.address == address ? "" : ", wrong address", flags_dead || seen.cf ? "" : ", wrong flags",
	       seen.rax == operand && seen.rbx == 0x1234567 ? "" : ", wrong registers");
}

#define MEMORY(what, code, operand, address)                                                             \
	check(what, FAULTING("", code, "", operand), (uint64_t)(operand), (uint64_t)(address))

static void memory_faults(char *none, char *readable)
{
	MEMORY("load", "mov (%%rax), %%r8", none, none);
	MEMORY("store", "movl $5, 8(%%rax)", readable, readable + 8);
	flags_dead = 1;
	MEMORY("add to memory", "addq $1, (%%rax)", readable, readable);
	MEMORY("compare and exchange", "lock cmpxchg %%rbx, (%%rax)", readable, readable);
	flags_dead = 0;
	MEMORY("null", "mov 16(%%rax), %%r8d", 0, 16);
	MEMORY("wide load", "movups (%%rax), %%xmm0", none - 8, none);
	MEMORY("noncanonical", "mov (%%rax), %%r8", UINT64_C(0x8000000000000000), 0);
	MEMORY("misaligned vector", "movaps 1(%%rax), %%xmm0", readable, 0);
	check("string", FAULTING("mov %%rax, %%rsi", "lodsb", "", none), (uint64_t)none, (uint64_t)none);
	MEMORY("privileged", "hlt", 1, 0);
}

#define STACK(code, operand)                                                                             \
	FAULTING("mov %%rsp, %%r12; mov %%rax, %%rsp", code, "mov %%r12, %%rsp", operand)

/* The handler runs on its alternate stack. */
static void stack_faults(char *none)
{
	uint64_t top = (uint64_t)none + 4096;

	check("push", STACK("push %%rbx", top), top, top - 8);
	EXPECT(seen.rsp == top);
	flags_dead = 1;
	check("call", STACK("call 3b", top), top, top - 8);
	EXPECT(seen.rsp == top);
	check("indirect call", STACK("call *%%rcx", top), top, top - 8);
	EXPECT(seen.rsp == top);
	flags_dead = 0;
	check("pop", STACK("pop %%rbx", none + 8), (uint64_t)none + 8, (uint64_t)none + 8);
}

static void return_fault(char *none)
{
	flags_dead = 1;
	check("return", STACK("ret", none + 8), (uint64_t)none + 8, (uint64_t)none + 8);
	EXPECT(seen.rsp == (uint64_t)none + 8);
}

/* Jumps and calls to where no code is: the fault is there, not where they come from. */
static void wild_jumps(char *none, char *readable)
{
	static const char *const how[] = { "to nowhere", "to no page", "to no code" };
	uint64_t to[3] = { 0, (uint64_t)none, (uint64_t)readable };

	flags_dead = 1;
	for (int i = 0; i < 3; i++) {
		FAULTING("", "jmp *%%rax", "", to[i]);
		check(how[i], to[i], to[i], to[i]);
		FAULTING("sub $128, %%rsp", "call *%%rax", "add $136, %%rsp", to[i]);
		check(how[i], to[i], to[i], to[i]);
	}
}

static void other_faults(void)
{
	uint64_t place = FAULTING("xor %%r8d, %%r8d", "div %%r8", "", 7);

	check("divide by zero", place, 7, place);
	flags_dead = 0;
	place = FAULTING("", "ud2", "", 8);
	check("no instruction", place, 8, place);
	place = FAULTING("", "int3", "", 9);
	check("breakpoint", place + 1, 9, 0);
}

static void behind_end_of_file(void)
{
	int fd = memfd_create("faults", 0);

	EXPECT(fd >= 0 && ftruncate(fd, 100) == 0);
	char *file = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	MEMORY("behind the end of a file", "mov (%%rax), %%r8", file + 4096, file + 4096);
	munmap(file, 8192);
	close(fd);
}

/* rep movsb stops where it faults, with what is left to do in its registers, and goes on from there. */
static void repeated(char *none)
{
	static char from[5000];
	char *to = none - 4096;
	uint64_t rdi = (uint64_t)to, rsi = (uint64_t)from, rcx = sizeof from;

	memset(from, 'r', sizeof from);
	repair = none;
	__asm__ volatile("cld; rep movsb" : "+D"(rdi), "+S"(rsi), "+c"(rcx) : : "memory", "cc");
	EXPECT(seen.address == (uint64_t)none && rcx == 0 && rdi == (uint64_t)to + sizeof from);
	EXPECT(memcmp(from, to, sizeof from) == 0);
	EXPECT(mprotect(none, 4096, PROT_NONE) == 0);
	puts("repeated");
}

int main(int argc, char **argv)
{
	static char alternate[65536];
	stack_t own = { .ss_sp = alternate, .ss_size = sizeof alternate };
	char *page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *none = page + 4096, *readable = page + 2 * 4096;

	setvbuf(stdout, NULL, _IONBF, 0);
	EXPECT(mprotect(none, 4096, PROT_NONE) == 0 && mprotect(readable, 4096, PROT_READ) == 0);
	sigaltstack(&own, NULL);
	torture_handle(SIGSEGV, on_fault, SA_ONSTACK);
	torture_handle(SIGBUS, on_fault, SA_ONSTACK);
	torture_handle(SIGFPE, on_fault, SA_ONSTACK);
	torture_handle(SIGILL, on_fault, SA_ONSTACK);
	torture_handle(SIGTRAP, on_fault, SA_ONSTACK);
	(void)argv;
	if (argc > 2)                    /* a case of its own */
		return_fault(none);
	for (int i = 0; i < 2 && argc <= 2; i++) {
		memory_faults(none, readable);
		stack_faults(none);
		wild_jumps(none, readable);
		other_faults();
		behind_end_of_file();
		repeated(none);
	}
	return 0;
}
