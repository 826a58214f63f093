/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls of the program. Most go to the kernel as they are; here are
 * those that change the program's memory, its code or its processes, and
 * those that would show it the translator.
 */
#include "sources/translator/runtime.h"
#include "sources/translator/observing.h"
#include "sources/translator/following.h"

#include <asm/prctl.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/shm.h>
#include <linux/uio.h>

#define SYSCALL_BYTES 2
#define VFORK_DESCRIPTOR 1000            /* or above: out of the way */
#define MAP_SHADOW_STACK_CALL 453        /* newer than some headers */

static void gather(const struct context *ctx, uint64_t *args)
{
	static const int order[6] = { REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 };

	for (unsigned i = 0; i < 6; i++)
		args[i] = ctx->reg[order[i]];
}

/* Pages that hold code cannot be written to by the kernel while they are watched. Were there any? */
static bool let_kernel_write(void)
{
	bool any;

	lock_take(&runtime.lock);
	any = runtime.space.watching;
	if (any)
		codecache_changed(&runtime.cache, 0, runtime.space.window);
	space_unwatch_all(&runtime.space, 0, runtime.space.window);
	lock_give(&runtime.lock);
	return any;
}

static long pass_on(struct context *ctx, const uint64_t *args)
{
	long result;

	do {
		ctx->disturbed = 0;
		threading_rest(ctx);
		result = slope_gate_syscall((long)ctx->reg[REG_RAX], args);
		threading_wake(ctx);
	} while ((result == -EINTR && ctx->disturbed && !ctx->waiting) || (result == -EFAULT && let_kernel_write()));
	return result;
}

/*
 * The kernel is to fill this memory, as much as it can: where a watched page begins it would end, and say so. As with a write
 * of the program the blocks of these pages die.
 */
static void let_fill(uint64_t address, uint64_t bytes)
{
	uint64_t first = address & ~(uint64_t)(SLOPE_PAGE_BYTES - 1);

	if (!runtime.space.watching || address + bytes < address)
		return;
	lock_take(&runtime.lock);
	for (uint64_t page = first; page < address + bytes && page < runtime.space.window; page += SLOPE_PAGE_BYTES) {
		if (!space_watches(&runtime.space, page))
			continue;
		codecache_changed(&runtime.cache, page, 1);
		space_unwatch(&runtime.space, page);
	}
	lock_give(&runtime.lock);
}

static long fill_and_pass(struct context *ctx, const uint64_t *args)
{
	const struct iovec *piece = (const void *)args[1];
	long number = (long)ctx->reg[REG_RAX];

	if (!runtime.space.watching)
		return pass_on(ctx, args);
	if (number == __NR_read || number == __NR_pread64)
		let_fill(args[1], args[2]);
	else if (args[2] <= UIO_MAXIOV && space_allows(&runtime.space, args[1], args[2] * sizeof *piece, PROT_READ))
		for (uint64_t i = 0; i < args[2]; i++)
			let_fill((uint64_t)piece[i].iov_base, piece[i].iov_len);
	return pass_on(ctx, args);
}

/* ---- memory ---- */

static void code_may_change(uint64_t address, uint64_t bytes)
{
	if (space_has_code(&runtime.space, address, slope_page_round(bytes)))
		codecache_changed(&runtime.cache, address, slope_page_round(bytes));
}

/* Neither a stack nor an area of which most will stay unused. */
static bool is_allotted(const uint64_t *a)
{
	return a[2] & PROT_WRITE && (a[3] & (MAP_TYPE | MAP_ANONYMOUS)) == (MAP_PRIVATE | MAP_ANONYMOUS) &&
	       !(a[3] & (MAP_FIXED | MAP_STACK | MAP_NORESERVE));
}

static long do_mmap(const uint64_t *a)
{
	bool over = a[3] & MAP_FIXED && space_any(&runtime.space, a[0], slope_page_round(a[1]));
	long got;

	if (!limits_allow(over ? a[0] : 0, slope_page_round(a[1]), a[2] & PROT_WRITE && !(a[3] & MAP_SHARED)))
		return -ENOMEM;
	if (over)
		code_may_change(a[0], a[1]);
	got = space_mmap(&runtime.space, a[0], a[1], (int)a[2], (int)a[3], (int)a[4], a[5]);
	if (!system_failed(got))
		observing_mapped((uint64_t)got, slope_page_round(a[1]), over);
	if (!system_failed(got) && is_allotted(a))
		observing_allotted((uint64_t)got, slope_page_round(a[1]));
	return got;
}

static long do_munmap(const uint64_t *a)
{
	long result;

	code_may_change(a[0], a[1]);
	result = space_munmap(&runtime.space, a[0], a[1]);
	if (!result)
		observing_unmapped(a[0], slope_page_round(a[1]));
	return result;
}

static long do_mremap(const uint64_t *a)
{
	uint64_t old_bytes = slope_page_round(a[1]), bytes = slope_page_round(a[2]);
	long got;

	if (bytes > old_bytes && !limits_allow(0, bytes - old_bytes, true))
		return -ENOMEM;
	code_may_change(a[0], a[1]);
	if (a[3] & MREMAP_FIXED)
		code_may_change(a[4], a[2]);
	got = space_mremap(&runtime.space, a[0], a[1], a[2], (int)a[3], a[4]);
	if (system_failed(got))
		return got;
	observing_moved(a[0], (uint64_t)got, old_bytes < bytes ? old_bytes : bytes);
	if ((uint64_t)got != a[0])
		observing_unmapped(a[0], old_bytes);
	else if (bytes < old_bytes)
		observing_unmapped(a[0] + bytes, old_bytes - bytes);
	return got;
}

static long do_brk(uint64_t end)
{
	uint64_t before = runtime.space.break_end, pages = slope_page_round(before);

	if (end > before && !limits_allow(0, slope_page_round(end) - pages, true))
		return (long)before;
	long now = space_brk(&runtime.space, end);

	if ((uint64_t)now < before)
		observing_unmapped((uint64_t)now, before - (uint64_t)now);
	else if (slope_page_round((uint64_t)now) > pages)
		observing_grown(pages, slope_page_round((uint64_t)now) - pages);
	return now;
}

static long do_shmat(const uint64_t *a)
{
	long got;

	if (a[2] & SHM_REMAP)
		codecache_changed(&runtime.cache, 0, runtime.space.window);      /* over as much as there will be */
	got = space_attach(&runtime.space, (int)a[0], a[1], (int)a[2]);
	if (!system_failed(got))
		observing_mapped((uint64_t)got, space_attached(&runtime.space, (uint64_t)got), a[2] & SHM_REMAP);
	return got;
}

static long do_shmdt(uint64_t address)
{
	uint64_t bytes = space_attached(&runtime.space, address);
	long result;

	code_may_change(address, bytes);
	result = space_detach(&runtime.space, address);
	if (!result)
		observing_unmapped(address, bytes);
	return result;
}

static long change_memory(long number, const uint64_t *a)
{
	if (limits_are_meant(number, a))
		return limits_call(number, a);
	switch (number) {
	case __NR_mmap:
		return do_mmap(a);
	case __NR_munmap:
		return do_munmap(a);
	case __NR_mprotect:
		code_may_change(a[0], a[1]);
		return space_mprotect(&runtime.space, a[0], a[1], (int)a[2]);
	case __NR_mremap:
		return do_mremap(a);
	case __NR_shmat:
		return do_shmat(a);
	case __NR_shmdt:
		return do_shmdt(a[0]);
	default:
		return do_brk(a[0]);
	}
}

static long memory_call(long number, const uint64_t *a)
{
	long result;

	lock_take(&runtime.lock);
	result = change_memory(number, a);
	lock_give(&runtime.lock);
	return result;
}

/* ---- processes ---- */

/* A copy of us that goes on under the translator, with the calling thread alone. */
static long fork_with(uint64_t *args)
{
	long result;

	threading_before_fork();
	result = slope_gate_syscall(__NR_clone, args);
	if (result)
		threading_after_fork();
	else
		threading_forked();
	/* A child's child is nobody to wait for. */
	if (!result && runtime.parent_waits) {
		system_close(runtime.parent_waits);
		runtime.parent_waits = 0;
	}
	/* The kernel has left the child's id in its memory. */
	if (!result && observer.on && args[0] & CLONE_CHILD_SETTID)
		slope_session_kernel_write(&observer.session, args[3], sizeof(uint32_t));
	return result;
}

/*
 * The caller of vfork waits until its child runs another program or ends. The
 * lock is held while the copy is made, so the kernel must not do the waiting
 * where others may want it: a pipe tells, whose other end nobody has then.
 */
static long vfork_with(struct context *ctx, uint64_t *args)
{
	int end[2];
	char nothing;
	long result = system_call(__NR_pipe2, (long)end, O_CLOEXEC, 0, 0, 0, 0), high;

	if (result)
		return result;
	high = system_call(__NR_fcntl, end[1], F_DUPFD_CLOEXEC, VFORK_DESCRIPTOR, 0, 0, 0);
	if (high >= 0) {
		system_close(end[1]);
		end[1] = (int)high;
	}
	result = fork_with(args);
	if (!result) {
		system_close(end[0]);
		runtime.parent_waits = end[1];
		return 0;
	}
	system_close(end[1]);
	threading_rest(ctx);
	while (result > 0 && system_call(__NR_read, end[0], (long)&nothing, 1, 0, 0, 0) == -EINTR)
		;
	threading_wake(ctx);
	system_close(end[0]);
	return result;
}

/* Programs close what they do not know, between vfork and exec above all; this descriptor they do not have. */
static long do_close(struct context *ctx, const uint64_t *args)
{
	return runtime.parent_waits && (int)args[0] == runtime.parent_waits ? -EBADF : pass_on(ctx, args);
}

static long do_close_range(struct context *ctx, const uint64_t *args)
{
	uint64_t first = (uint32_t)args[0], last = (uint32_t)args[1], kept = (uint64_t)runtime.parent_waits;
	long result = 0;

	if (!kept || kept < first || kept > last)
		return pass_on(ctx, args);
	if (kept > first)
		result = system_call(__NR_close_range, (long)first, (long)kept - 1, (long)args[2], 0, 0, 0);
	return result || kept == last ? result : system_call(__NR_close_range, (long)kept + 1, (long)last, (long)args[2], 0, 0, 0);
}

/* The program wants this number for a descriptor of its own. */
static long do_dup(struct context *ctx, const uint64_t *args)
{
	long other;

	if (runtime.parent_waits && (int)args[1] == runtime.parent_waits) {
		other = system_call(__NR_fcntl, runtime.parent_waits, F_DUPFD_CLOEXEC, runtime.parent_waits + 1, 0, 0, 0);
		if (other > 0)
			runtime.parent_waits = (int)other;
	}
	return pass_on(ctx, args);
}

/* vfork and the like share no memory with their children, but for what vforks.c brings back. */
static long do_clone(struct context *ctx, uint64_t *args, uint64_t next)
{
	uint64_t flags = args[0], stack = args[1];
	long result;

	if (flags & CLONE_THREAD)
		return threading_start(ctx, args, next);
	bool wait = flags & CLONE_VFORK && threading_many();
	struct vfork_pages *pages = flags & CLONE_VFORK ? vforks_before(ctx->reg[REG_RSP]) : NULL;

	args[0] = flags & ~(uint64_t)(CLONE_VM | CLONE_SIGHAND | (wait ? CLONE_VFORK : 0));
	args[1] = 0;
	result = wait ? vfork_with(ctx, args) : fork_with(args);
	if (result)
		vforks_after(pages);
	else
		vforks_child(pages);
	if (result == 0 && stack)
		ctx->reg[REG_RSP] = stack;
	if (result == 0)
		observing_forked();
	return result;
}

static long do_fork(struct context *ctx, uint64_t flags)
{
	uint64_t args[6] = { flags | 17 /* SIGCHLD */ };

	return do_clone(ctx, args, 0);
}

/* ---- what would show us ---- */

/* Calls that name a file: which argument; -1: another call. */
static int path_argument(long number)
{
	switch (number) {
	case __NR_open:
	case __NR_stat:
	case __NR_access:
		return 0;
	case __NR_openat:
	case __NR_openat2:
	case __NR_newfstatat:
	case __NR_statx:
	case __NR_faccessat:
	case __NR_faccessat2:
		return 1;
	default:
		return -1;
	}
}

static long named_call(struct context *ctx, uint64_t *args)
{
	long number = (long)ctx->reg[REG_RAX];
	int path = path_argument(number);

	if ((number == __NR_open || number == __NR_openat) && selfview_names(args[path], "maps"))
		return selfview_open_maps((int)args[path + 1]);
	if (selfview_names(args[path], "exe"))
		args[path] = (uint64_t)runtime.program_path;
	return pass_on(ctx, args);
}

static long do_arch_prctl(const uint64_t *args)
{
	if (args[0] == ARCH_SET_GS || args[0] == ARCH_GET_GS)
		dispatch_refuse("the program uses %gs", 0);
	if (args[0] != ARCH_SET_FS && args[0] != ARCH_GET_FS)
		return -EINVAL;          /* shadow stacks and the like: not here */
	return system_call(__NR_arch_prctl, (long)args[0], (long)args[1], 0, 0, 0, 0);
}

/* The program's filter would forbid us what we need to write the profile: it is left out. */
static long without_filter(void)
{
	static bool said;

	if (!said)
		system_say("the program forbids itself system calls (seccomp); under the translator nothing is forbidden", NULL);
	said = true;
	return 0;
}

/* All of our memory would have to be there, the shadow too; whether the program's is locked nobody can see. */
static long do_mlockall(uint64_t flags)
{
	return !flags || flags & ~(uint64_t)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) || flags == MCL_ONFAULT ? -EINVAL : 0;
}

static long do_seccomp(struct context *ctx, uint64_t *args)
{
	if (args[0] == SECCOMP_SET_MODE_FILTER && args[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER)
		return -EINVAL;
	return args[0] == SECCOMP_SET_MODE_STRICT || args[0] == SECCOMP_SET_MODE_FILTER ? without_filter() : pass_on(ctx, args);
}

static long do_prctl(struct context *ctx, uint64_t *args)
{
	switch (args[0]) {
	case PR_SET_SECCOMP:
		return without_filter();
	case PR_SET_SYSCALL_USER_DISPATCH:
	case PR_SET_MM:
		return -EINVAL;
	default:
		return pass_on(ctx, args);
	}
}

static long do_limit(struct context *ctx, long number, uint64_t *args)
{
	if (limits_are_meant(number, args))
		return memory_call(number, args);
	long result = pass_on(ctx, args);

	if (!result && number != __NR_getrlimit && args[number == __NR_prlimit64] == RLIMIT_STACK)
		startstack_follow_limit();
	return result;
}

static long do_call(struct context *ctx, uint64_t *args, uint64_t next)
{
	long number = (long)ctx->reg[REG_RAX];

	switch (number) {
	case __NR_mmap:
	case __NR_munmap:
	case __NR_mprotect:
	case __NR_mremap:
	case __NR_brk:
	case __NR_shmat:
	case __NR_shmdt:
		return memory_call(number, args);
	case __NR_arch_prctl:
		return do_arch_prctl(args);
	case __NR_prctl:
		return do_prctl(ctx, args);
	case __NR_seccomp:
		return do_seccomp(ctx, args);
	case __NR_setrlimit:
	case __NR_getrlimit:
	case __NR_prlimit64:
		return do_limit(ctx, number, args);
	case __NR_mlockall:
		return do_mlockall(args[0]);
	case __NR_munlockall:
		return 0;
	case __NR_pkey_mprotect:
		return (int)args[3] == -1 ? memory_call(__NR_mprotect, args) : -EINVAL;
	case __NR_rt_sigaction:
		return signals_action((int)args[0], (const void *)args[1], (void *)args[2], args[3]);
	case __NR_sigaltstack:
		return signals_altstack(ctx, (const void *)args[0], (void *)args[1]);
	case __NR_clone:
		return do_clone(ctx, args, next);
	case __NR_fork:
		return do_fork(ctx, 0);
	case __NR_vfork:
		return do_fork(ctx, CLONE_VFORK);
	case __NR_read:
	case __NR_pread64:
	case __NR_readv:
	case __NR_preadv:
	case __NR_preadv2:
		return fill_and_pass(ctx, args);
	case __NR_close:
		return do_close(ctx, args);
	case __NR_close_range:
		return do_close_range(ctx, args);
	case __NR_dup2:
	case __NR_dup3:
		return do_dup(ctx, args);
	case __NR_execve:
		return execing_do(AT_FDCWD, (const char *)args[0], (char **)args[1], (char **)args[2], 0);
	case __NR_execveat:
		return execing_do((int)args[0], (const char *)args[1], (char **)args[2], (char **)args[3], (int)args[4]);
	case __NR_rt_sigprocmask:
		return signals_mask(ctx, (int)args[0], (const void *)args[1], (void *)args[2], args[3]);
	case __NR_rt_sigpending:
		return held_pending(ctx, args);
	case __NR_rt_sigtimedwait:
		return held_wait(ctx, args);
	case __NR_setuid:
	case __NR_setreuid:
	case __NR_setresuid:
	case __NR_setfsuid:
	case __NR_capset:
	case __NR_chroot:
	case __NR_pivot_root:
		profilefile_keep_open();
		return pass_on(ctx, args);
	case __NR_exit:
		vforks_tell();
		return threading_exit(ctx, (int)args[0]);
	case __NR_exit_group:
		vforks_tell();
		if (args[0] & 0xff)
			space_say_refused(&runtime.space);
		profilefile_write((int64_t)(args[0] & 0xff), "exit");
		return system_call(number, (long)args[0], 0, 0, 0, 0, 0);
	case __NR_readlink:
		return selfview_names(args[0], "exe") ? selfview_link(args[1], args[2]) : pass_on(ctx, args);
	case __NR_readlinkat:
		return selfview_names(args[1], "exe") ? selfview_link(args[2], args[3]) : pass_on(ctx, args);
	/* Programs know what to do without these. */
	case __NR_clone3:
	case __NR_rseq:
	case __NR_io_uring_setup:
	case __NR_remap_file_pages:
	case __NR_modify_ldt:
	case __NR_pkey_alloc:
	case __NR_userfaultfd:
	case MAP_SHADOW_STACK_CALL:
		return -ENOSYS;
	default:
		return path_argument(number) < 0 ? pass_on(ctx, args) : named_call(ctx, args);
	}
}

uint64_t syscalls_do(struct context *ctx, uint64_t next)
{
	uint64_t args[6];
	long number, result;

	if (ctx->reg[REG_RAX] == __NR_rt_sigreturn) {
		if (observer.paths)
			pathevents_restorer(ctx, next);
		return signals_return(ctx);
	}
	gather(ctx, args);
	number = (long)ctx->reg[REG_RAX];
	ctx->path_pc = next;
	if (observer.on)
		kerneldata_before(number, args);
	result = do_call(ctx, args, next);
	if (result == SYSCALLS_NOT_MADE) {
		ctx->flags |= TRAP_FLAG;     /* the signal that waits is delivered before it is tried again */
		return next - SYSCALL_BYTES;
	}
	if (observer.on)
		kerneldata_after(number, args, result);
	if (observer.paths)
		pathevents_called(ctx, next - SYSCALL_BYTES, next);
	ctx->reg[REG_RAX] = (uint64_t)result;
	ctx->reg[REG_RCX] = next;
	ctx->reg[REG_R11] = (ctx->flags & ~(uint64_t)TRAP_FLAG) | (ctx->stepping ? TRAP_FLAG : 0);    /* if not, that one is ours */
	return next;
}
