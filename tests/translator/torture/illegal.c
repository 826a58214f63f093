/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that raises a signal instead of running: what is no instruction, is for the kernel alone, is too long, or is cut off by
 * the end of its page; interrupts; and addresses that no code can have. What the processor says of each must be what it says natively, and
 * the handler may go on elsewhere.
 */
#include "torture.h"

#include <sys/mman.h>
#include <ucontext.h>

#define PAGE 4096u
#define START 64u
#define KEPT 0x1234567

static unsigned char *page;              /* code; the one behind it is not to be run */
static uint64_t resume_at, faults;
static const char *name;

/* Addresses in the two pages are said from their beginning on; so is our own code. */
static const char *place(uint64_t address, char *to)
{
	extern const char __executable_start[], etext[];

	if (address - (uint64_t)page <= 2 * PAGE)
		sprintf(to, "page+%lu", (unsigned long)(address - (uint64_t)page));
	else if (address - (uint64_t)__executable_start < (uint64_t)(etext - __executable_start))
		sprintf(to, "code");
	else
		sprintf(to, "%lx", (unsigned long)address);
	return to;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	char at[32], address[32];

	faults++;
	if (name)
		printf("%s: signal %d, code %d, at %s, address %s, trap %d%s%s\n", name, number, info->si_code,
		       place((uint64_t)reg[REG_RIP], at), place((uint64_t)info->si_addr, address), (int)reg[REG_TRAPNO],
		       reg[REG_RBX] == KEPT && reg[REG_R12] == KEPT ? "" : ", wrong registers",
		       reg[REG_EFL] & 0x100 ? ", in steps" : "");
	reg[REG_RIP] = (greg_t)resume_at;
}

/* Jumps there, from where all is as known. The stack pointer of what faults does not matter. */
static void jump_to(const char *what, uint64_t to)
{
	name = what;
	__asm__ volatile("push %%rbp; sub $128, %%rsp; mov %%rsp, %%rbp; lea 1f(%%rip), %%rdx; mov %%rdx, %[resume];"
			 "mov %[kept], %%ebx; mov %[kept], %%r12d;"
			 "jmp *%%rax; 1: mov %%rbp, %%rsp; add $128, %%rsp; pop %%rbp"
			 : [resume] "=m"(resume_at), "+a"(to) : [kept] "i"(KEPT)
			 : "rbx", "rcx", "rdx", "rsi", "rdi", "r12", "memory", "cc");
}

static void writable(int yes)
{
	EXPECT(mprotect(page, PAGE, yes ? PROT_READ | PROT_WRITE : PROT_READ | PROT_EXEC) == 0);
}

static void run_at(const char *what, const char *code, size_t bytes, size_t at)
{
	writable(1);
	memset(page, 0x90, PAGE);
	memcpy(page + at, code, bytes);
	writable(0);
	jump_to(what, (uint64_t)page + at);
}

struct code {
	const char *name, *bytes;
	size_t count;
};
#define CODE(name, bytes) { name, bytes, sizeof bytes - 1 }

static const struct code whole[] = {
	CODE("push %es", "\x06"), CODE("daa", "\x27"), CODE("pusha", "\x60"), CODE("aam", "\xd4\x0a"), CODE("salc", "\xd6"),
	CODE("into", "\xce"), CODE("bound", "\x62\x05"), CODE("far call", "\x9a\x11\x22\x33\x44\x55\x66"), CODE("lds", "\xc5\x00"),
	CODE("ud0", "\x0f\xff\xc0"), CODE("ud1", "\x0f\xb9\xc0"), CODE("ud2", "\x0f\x0b"), CODE("no opcode", "\x0f\x04"),
	CODE("no operand", "\xff\xf8"), CODE("mov %cs", "\x8e\xc8"), CODE("lea of a register", "\x8d\xc0"),
	CODE("lock nop", "\xf0\x90"), CODE("lock mov", "\xf0\x89\x00"), CODE("lock add to a register", "\xf0\x01\xc0"),
	CODE("lock ret", "\xf0\xc3"), CODE("lock call", "\xf0\xff\xd0"), CODE("lock syscall", "\xf0\x0f\x05"),
	CODE("vex behind 66", "\x66\xc5\xf8\x58\xc0"), CODE("no vex", "\xc5\xf8\xff\xc0"), CODE("no evex", "\x62\xf1\x7f\x48\x58\xc0"),
	CODE("xend", "\x0f\x01\xd5"), CODE("xtest", "\x0f\x01\xd6"),
	CODE("16 bytes", "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90"),
	CODE("18 bytes", "\x2e\x2e\x2e\x2e\x2e\x2e\x48\xc7\x84\x24\x88\x00\x00\x00\x01\x00\x00\x00"),
	CODE("hlt", "\xf4"), CODE("cli", "\xfa"), CODE("in", "\xec"), CODE("out", "\xe6\x10"), CODE("rdmsr", "\x0f\x32"),
	CODE("mov %cr0", "\x0f\x20\xc0"), CODE("lgdt", "\x0f\x01\x10"), CODE("swapgs", "\x0f\x01\xf8"), CODE("rep outsb", "\xf3\x6e"),
	CODE("int $0", "\xcd\x00"), CODE("int $1", "\xcd\x01"), CODE("int $3", "\xcd\x03"), CODE("int $4", "\xcd\x04"),
	CODE("int $0x20", "\xcd\x20"), CODE("int $0x2d", "\xcd\x2d"), CODE("int $0x81", "\xcd\x81"), CODE("rex int $4", "\x48\xcd\x04"),
	CODE("int1", "\xf1"), CODE("rex int1", "\x48\xf1"), CODE("rex int3", "\x48\xcc"),
	CODE("behind a nop", "\x90\x90\x06"), CODE("int1 behind a nop", "\x90\xf1\x90"),
};

static const struct code cut[] = {
	CODE("cut prefixes", "\x66\x66\x66\x66"), CODE("cut rex", "\x48"), CODE("cut mov", "\x48\x8b"),
	CODE("cut constant", "\x48\xb8\x11\x22"),
	CODE("cut jump", "\xe9\x00"), CODE("cut branch", "\x0f\x84\x10"), CODE("cut call", "\xe8\x00\x00"), CODE("cut vex", "\xc5\xf8"),
	CODE("cut evex", "\x62\xf1\x7c\x48"), CODE("cut lock", "\xf0\x89"), CODE("cut int", "\xcd"), CODE("cut ud0", "\x0f\xff"),
	CODE("last push %es", "\x06"), CODE("last int", "\xcd\x21"), CODE("last int1", "\xf1"), CODE("last nops", "\x90\x90"),
};

/* The same code again and again, with what cannot run in its middle, on a way that is taken rarely, or never. */
static __attribute__((noinline)) uint64_t rarely(uint64_t i)
{
	__asm__ volatile("test $63, %0; jnz 1f; .byte 0x06, 0xff, 0xff; add $5, %0;"
			 "1: cmp $1000000, %0; jb 2f; .byte 0x0f, 0x04, 0xd6; 2: lea 3(%0), %0"
			 : "+r"(i) : : "cc");
	return i;
}

static void on_rarely(int number, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	EXPECT(number == SIGILL && info->si_code == ILL_ILLOPN && (greg_t)info->si_addr == reg[REG_RIP]);
	reg[REG_RIP] += 3;
	faults++;
}

static void on_ways(void)
{
	uint64_t sum = 0;

	torture_handle(SIGILL, on_rarely, 0);
	faults = 0;
	for (uint64_t i = 0; i < 20000; i++)
		sum += rarely(i);
	printf("rarely: %lu times, %lu\n", (unsigned long)faults, (unsigned long)sum);
	torture_handle(SIGILL, on_fault, SA_ONSTACK);
}

/* At one place code, no code, and code again. */
static void changing(void)
{
	static const char code[] = "\x31\xc0\xff\xe2", none[] = "\x31\xc0\x06\x06";

	for (int i = 0; i < 6; i++) {
		printf("%d: ", i);
		run_at("changing", i % 2 ? none : code, 4, START);
	}
	puts("");
}

static void no_code(void)
{
	static const struct { const char *name; uint64_t address; } list[] = {
		{ "null", 0 }, { "low", 0x1000 }, { "in the translator's", 0x65000000 }, { "in the translator itself", 0x70000000 },
		{ "high", UINT64_C(0x700000000000) }, { "not canonical", UINT64_C(0x8877665544332211) },
		{ "just not canonical", UINT64_C(0x800000000000) }, { "the kernel's", UINT64_C(0xffff800000000000) },
	};

	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		jump_to(list[i].name, list[i].address);
	jump_to("data", (uint64_t)page + PAGE + 8);
	/* By a call in the page: mov $.., %rax; call *%rax. */
	run_at("call of what is not canonical", "\x48\xb8\x11\x22\x33\x44\x55\x66\x77\x88\xff\xd0", 12, START);
	run_at("call of the translator's", "\x48\xb8\x00\x00\x00\x61\x00\x00\x00\x00\xff\xd0", 12, START);
}

int main(int argc, char **argv)
{
	static char alternate[65536];
	stack_t own = { .ss_sp = alternate, .ss_size = sizeof alternate };

	(void)argc;
	(void)argv;
	page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(page != MAP_FAILED);
	sigaltstack(&own, NULL);
	torture_handle(SIGSEGV, on_fault, SA_ONSTACK);
	torture_handle(SIGILL, on_fault, SA_ONSTACK);
	torture_handle(SIGTRAP, on_fault, SA_ONSTACK);
	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		run_at(whole[i].name, whole[i].bytes, whole[i].count, START);
	for (int how = 0; how < 3; how++) {
		EXPECT(how == 2 ? munmap(page + PAGE, PAGE) == 0 : mprotect(page + PAGE, PAGE, how ? PROT_READ : PROT_NONE) == 0);
		for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
			run_at(cut[i].name, cut[i].bytes, cut[i].count, PAGE - cut[i].count);
	}
	no_code();
	changing();
	on_ways();
	return 0;
}
