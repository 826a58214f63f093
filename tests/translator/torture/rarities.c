/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rare things that real programs do: data behind traps, which is no code (SBCL); parts of functions with symbols of their own,
 * with words below the stack pointer (what BOLT makes); processes that share handlers in vain; counts that no memory can hold.
 */
#include "torture.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

/* lret, a jump between segments, behind int3 and ud2; who handles the trap steps over it. */
__asm__(".text; behind_int3: mov $7, %eax; int3; .byte 0xcb; add $1, %eax; ret\n"
	"behind_ud2: mov $8, %eax; ud2; .byte 0xcb; add $1, %eax; ret\n"
	".irp name, parted, parted.warm, parted.__part.1; .globl \\name; .type \\name, @function; .endr\n"
	"parted: mov %rdi, -8(%rsp); mov %rdi, -16(%rsp); test %rdi, %rdi; jne parted.warm\n"
	"1: mov -8(%rsp), %rax; add -16(%rsp), %rax; ret; .size parted, .-parted\n"
	"parted.warm: nop; jmp parted.__part.1; .size parted.warm, .-parted.warm\n"
	"parted.__part.1: nop; jmp 1b; .size parted.__part.1, .-parted.__part.1\n");
extern int behind_int3(void), behind_ud2(void);
extern long parted(long);

static int traps;

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)info;
	uc->uc_mcontext.gregs[REG_RIP] += number == SIGTRAP ? 1 : 3;
	traps++;
}

static int child(void *arg)
{
	return *(int *)arg;
}

int main(int argc, char **argv)
{
	static char stack[65536] __attribute__((aligned(64)));
	uint64_t seed = torture_seed(argc, argv);
	int status, code = (int)(torture_random(&seed) % 100);
	struct pollfd none = { .fd = -1 };

	torture_handle(SIGTRAP, on_trap, 0);
	torture_handle(SIGILL, on_trap, 0);
	for (int i = 0; i < 50; i++)
		EXPECT(behind_int3() == 8 && behind_ud2() == 9 && parted(i) == 2 * i);
	EXPECT(traps == 100);
	pid_t pid = clone(child, stack + sizeof stack, CLONE_VM | CLONE_SIGHAND | CLONE_FS | CLONE_FILES | SIGCHLD, &code);

	EXPECT(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == code);
	EXPECT(syscall(SYS_poll, &none, -1L, 0) == -1 && errno == EINVAL);
	EXPECT(syscall(SYS_semop, -1, &none, -1L) == -1);
	puts("rarities");
	return 0;
}
