/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "cli/roomystack.h"

#define STACK_BYTES (8u << 20)
#define GUARD_BYTES 65536u

struct call {
	int (*verb)(int argc, char **argv);
	int argc, result;
	char **argv;
};

/* makecontext passes no pointers, only halves of them. */
static void run(unsigned high, unsigned low)
{
	struct call *call = (struct call *)((uintptr_t)high << 32 | low);

	call->result = call->verb(call->argc, call->argv);
}

int slope_roomystack_run(int (*verb)(int argc, char **argv), int argc, char **argv)
{
	struct call call = { .verb = verb, .argc = argc, .argv = argv };
	struct rlimit limit;
	ucontext_t here, there;
	void *stack;

	if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_BYTES)
		return verb(argc, argv);
	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED || mprotect(stack, GUARD_BYTES, PROT_NONE) != 0 || getcontext(&there) != 0)
		return verb(argc, argv);
	there.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = STACK_BYTES };
	there.uc_link = &here;
	makecontext(&there, (void (*)(void))run, 2, (unsigned)((uintptr_t)&call >> 32), (unsigned)(uintptr_t)&call);
	if (swapcontext(&here, &there) != 0)
		return verb(argc, argv);
	munmap(stack, STACK_BYTES);
	return call.result;
}
