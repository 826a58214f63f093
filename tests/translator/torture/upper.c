/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The upper vector registers, zmm16 to zmm31, and the masks live across everything that the ABI lets destroy them: calls, returns,
 * system calls, forks and the start of a thread. Handlers begin with zeros, find the program's values in their frame,
 * and may change them there. XSAVE and XRSTOR see them, and so do gathers.
 */
#include "torture.h"

#include <cpuid.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define WIDE __attribute__((target("avx512f,avx512bw")))
#define UPPER 16
#define MASKS 7

struct state {
	uint64_t vector[UPPER][8], mask[MASKS];
};

static struct state want, got, inside;
static uint64_t seed;
static volatile int handled;
static volatile int edits;               /* 1 + the register that the handler changes in its frame */
static uint64_t edit[8];
static uint32_t masks_at, upper_at, area_bytes;

#define EACH(X) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define EACH_MASK(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define LOAD(n) "vmovdqu64 (" #n "-16)*64(%[s]), %%zmm" #n "\n"
#define STORE(n) "vmovdqu64 %%zmm" #n ", (" #n "-16)*64(%[s])\n"
#define LOAD_MASK(n) "kmovq 1024+8*(" #n "-1)(%[s]), %%k" #n "\n"
#define STORE_MASK(n) "kmovq %%k" #n ", 1024+8*(" #n "-1)(%[s])\n"
#define CLEAR(n) "vpxorq %%zmm" #n ", %%zmm" #n ", %%zmm" #n "\n"
#define ALL "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",  \
	"xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"

/* Between both, nobody but the instructions given may touch them. */
#define BETWEEN(what, ...)                                                                                        \
	__asm__ volatile("sub $256, %%rsp\n" EACH(LOAD) EACH_MASK(LOAD_MASK) what "mov %[g], %[s]\n" EACH(STORE) EACH_MASK(STORE_MASK) \
			 "add $256, %%rsp\n" : [s] "+&b"(from) : [g] "r"(&got), ##__VA_ARGS__                      \
			 : "memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", ALL)

static void choose(void)
{
	for (size_t i = 0; i < sizeof want / 8; i++)
		((uint64_t *)&want)[i] = torture_random(&seed);
}

static int same(void)
{
	return !memcmp(&want, &got, sizeof want);
}

/* Its own registers as it finds them, and the program's. */
WIDE static void handle(int number, siginfo_t *info, void *context)
{
	struct state *s = &inside;

	__asm__ volatile(EACH(STORE) EACH_MASK(STORE_MASK) : : [s] "r"(s) : "memory");
	(void)number, (void)info;
	ucontext_t *uc = context;
	char *picture = (char *)uc->uc_mcontext.fpregs;
	uint64_t *features = (uint64_t *)(picture + 512);

	for (size_t i = 0; i < sizeof inside / 8; i++)
		EXPECT(((uint64_t *)&inside)[i] == 0);
	EXPECT((*features & 0xa0) == 0xa0);
	EXPECT(!memcmp(picture + upper_at, want.vector, sizeof want.vector));
	EXPECT(!memcmp(picture + masks_at + 8, want.mask, sizeof want.mask));
	if (edits) {
		memcpy(want.vector[edits - 1], edit, 64);
		memcpy(picture + upper_at + 64 * (edits - 1), edit, 64);
	}
	__asm__ volatile("vpternlogd $0xff, %%zmm24, %%zmm24, %%zmm24; vpternlogd $0xff, %%zmm31, %%zmm31, %%zmm31\n"
			 "vpternlogd $0xff, %%zmm19, %%zmm19, %%zmm19; kxnorq %%k6, %%k6, %%k7; kxnorq %%k6, %%k6, %%k6"
			 : : : "xmm19", "xmm24", "xmm31", "k6", "k7");
	handled++;
}

static __attribute__((noinline, used)) uint64_t tree(uint64_t n)
{
	return n < 2 ? n : tree(n - 1) + tree(n - 2);
}

WIDE static void calls(void)
{
	struct state *from = &want;

	choose();
	BETWEEN("mov $9, %%edi\n call *%[f]\n", [f] "r"(tree));
	EXPECT(same());
	choose();
	from = &want;
	BETWEEN("mov $39, %%eax\n syscall\n");
	EXPECT(same());
}

WIDE static void signals(void)
{
	struct state *from = &want;
	int count = handled, how = (int)(torture_random(&seed) % 3);

	choose();
	edits = (int)(torture_random(&seed) % (UPPER + 1));
	for (unsigned i = 0; i < 8; i++)
		edit[i] = torture_random(&seed);
	if (how == 0) {
		BETWEEN("int3\n");
	} else if (how == 1) {
		BETWEEN("mov $62, %%eax\n mov %[p], %%edi\n mov $10, %%esi\n syscall\n", [p] "r"(getpid()));
	} else {
		static struct itimerval once;

		once.it_value.tv_usec = 1 + (long)(torture_random(&seed) % 300);
		BETWEEN("mov $38, %%eax\n xor %%edi, %%edi\n lea %[t], %%rsi\n xor %%edx, %%edx\n syscall\n"
			"1: mov $5, %%edi\n call *%[f]\n cmp %[h], %[c]\n jz 1b\n",
			[t] "m"(once), [f] "r"(tree), [h] "m"(handled), [c] "r"(count));
	}
	EXPECT(handled == count + 1);
	EXPECT(same());
}

WIDE static void forks(void)
{
	struct state *from = &want;
	static long child;
	int status;

	choose();
	BETWEEN("mov $57, %%eax\n syscall\n mov %%rax, %[c]\n", [c] "m"(child));
	EXPECT(same());
	if (!child)
		_exit(7);
	EXPECT(waitpid((pid_t)child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* A thread begins with the registers of the one that makes it. */
WIDE static void threads(void)
{
	static struct state child;
	static volatile uint32_t ready;
	struct state *from = &want;
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(stack != MAP_FAILED);
	choose();
	ready = 0;
	BETWEEN("mov $56, %%eax\n mov %[m], %%edi\n mov %[k], %%rsi\n xor %%edx, %%edx\n xor %%r10d, %%r10d\n xor %%r8d, %%r8d\n syscall\n"
		"test %%eax, %%eax\n jne 2f\n lea %[o], %[s]\n" EACH(STORE) EACH_MASK(STORE_MASK)
		"movl $1, %[r]\n mov $60, %%eax\n xor %%edi, %%edi\n syscall\n 2:\n",
		[m] "i"(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM), [k] "r"(stack + 65536 - 256),
		[o] "m"(child), [r] "m"(ready));
	EXPECT(same());
	while (!ready)
		sched_yield();
	EXPECT(!memcmp(&child, &want, sizeof want));
}

WIDE static void saves(void)
{
	static char area[16384] __attribute__((aligned(64)));
	struct state *from = &want;

	EXPECT(area_bytes <= sizeof area);
	memset(area, 0, sizeof area);
	choose();
	BETWEEN("mov $0xe6, %%eax\n xor %%edx, %%edx\n xsave64 %[a]\n" EACH(CLEAR) "kxorq %%k6, %%k6, %%k6\n kxorq %%k7, %%k7, %%k7\n"
		"mov $0xe0, %%eax\n xrstor64 %[a]\n", [a] "m"(area));
	EXPECT(same());
	EXPECT(!memcmp(area + upper_at, want.vector, sizeof want.vector) && !memcmp(area + masks_at + 8, want.mask, sizeof want.mask));
}

WIDE static uint64_t gathers(void)
{
	static uint32_t table[256];
	static uint64_t sum[8];
	struct state *from = &want;

	for (unsigned i = 0; i < 256; i++)
		table[i] = (uint32_t)torture_random(&seed);
	choose();
	for (unsigned i = 0; i < 8; i++)
		want.vector[28 - 16][i] &= UINT64_C(0xff000000ff);
	want.mask[5] = torture_random(&seed);
	BETWEEN("kmovq %%k6, %%rdx\n vpgatherdd (%[t],%%zmm28,4), %%zmm25%{%%k6%}\n kmovq %%rdx, %%k7\n"
		"vpscatterdd %%zmm25, (%[t],%%zmm28,4)%{%%k7%}\n vmovdqu64 %%zmm25, %[o]\n", [t] "r"(table), [o] "m"(sum));
	EXPECT(!got.mask[5] && !(got.mask[6] & 0xffff));
	memcpy(want.vector[25 - 16], sum, 64);
	memcpy(want.mask + 5, got.mask + 5, 16);
	EXPECT(same());
	return torture_hash(torture_hash(1, sum, sizeof sum), table, sizeof table);
}

int main(int argc, char **argv)
{
	uint32_t a, b, c, d, more;
	uint64_t hash = 1;

	seed = torture_seed(argc, argv);
	if (!__builtin_cpu_supports("avx512bw")) {
		puts("no AVX-512");
		return 0;
	}
	__cpuid_count(0xd, 5, a, masks_at, c, d);
	__cpuid_count(0xd, 7, a, upper_at, c, d);
	__cpuid_count(0xd, 0, a, b, area_bytes, more);
	torture_handle(SIGTRAP, handle, 0);
	torture_handle(SIGUSR1, handle, 0);
	torture_handle(SIGALRM, handle, 0);
	for (unsigned i = 0; i < 20; i++) {
		calls();
		signals();
		saves();
		hash = hash * 31 + gathers();
	}
	forks();
	threads();
	printf("%lx\n", hash);
	return 0;
}
