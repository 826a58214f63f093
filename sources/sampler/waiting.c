/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls that wait, and that any signal with a handler ends early: sleep, poll,
 * pause and their like. The kernel cannot restart them, and a program that
 * sleeps a second must not do so for a millisecond. So our signal is held back
 * while they wait. Nothing is lost by that: the timer goes on, and when the
 * signal comes at last it says how often the timer has gone off, which is what
 * the sample weighs.
 *
 * A call that takes a mask gets one with our signal in it. Others cost two
 * system calls more, which those that always wait can bear; those that often
 * find something at once (poll and its like) are held only where the timer goes
 * on while they wait, that is by the time that passes. By the processor's time
 * one can come in the midst of such a call, too, but not while it waits.
 *
 * Samples find the thread in the function here, when it lets go of the signal.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "sources/sampler/reals.h"

/* All of them together: an address tells. */
#define SHOWN __attribute__((section("slope_waiting"), noinline))

extern const uint8_t __start_slope_waiting[] __attribute__((visibility("hidden")));
extern const uint8_t __stop_slope_waiting[] __attribute__((visibility("hidden")));

bool slope_waiting_covers(uint64_t ip)
{
	uint64_t start = (uint64_t)(uintptr_t)__start_slope_waiting;

	return ip - start < (uint64_t)(uintptr_t)__stop_slope_waiting - start;
}

/* Our signal is blocked, or no longer. Inlined, and no function of the C library's, so that the place is the caller's. */
static inline __attribute__((always_inline)) void set_blocked(bool blocked)
{
	uint64_t ours = 1ull << (SLOPE_SIGNAL - 1);
	register uint64_t bytes __asm__("r10") = sizeof ours;
	long result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "0"((long)SYS_rt_sigprocmask), "D"((long)(blocked ? SIG_BLOCK : SIG_UNBLOCK)), "S"(&ours), "d"(0L), "r"(bytes)
			 : "rcx", "r11", "memory");
}

/* The call, with our signal held back if `hold` is true. */
#define WAIT(hold, type, call) do {                     \
	bool held = slope_sampler.on && (hold);         \
	if (held)                                       \
		set_blocked(true);                      \
	type result = call;                             \
	if (held)                                       \
		set_blocked(false);                     \
	return result;                                  \
} while (0)

/* A mask with our signal; NULL: what it was. */
static inline __attribute__((always_inline)) const sigset_t *with_ours(const sigset_t *mask, sigset_t *copy)
{
	if (!mask || !slope_sampler.on)
		return mask;
	*copy = *mask;
	sigaddset(copy, SLOPE_SIGNAL);
	return copy;
}

/* ---- calls that are restarted ---- */

/* Reads, waits and the like: they may return EINTR, and programs with an alarm rely on that. */
static bool may_be_interrupted(long call)
{
	switch (call) {
	case SYS_read: case SYS_readv: case SYS_recvfrom: case SYS_recvmsg: case SYS_accept: case SYS_accept4: case SYS_connect:
	case SYS_sendto: case SYS_sendmsg: case SYS_wait4: case SYS_waitid: case SYS_flock: case SYS_fcntl: case SYS_futex:
		return true;
	}
	return false;
}

/* Does the program want calls to end when this signal comes? */
static bool interrupts(int number)
{
	struct sigaction action;

	return SLOPE_REAL(sigaction)(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL &&
	       !(action.sa_flags & SA_RESTART);
}

void slope_waiting_settle(ucontext_t *context)
{
	greg_t *reg = context->uc_mcontext.gregs;
	const uint8_t *at = (const uint8_t *)(uintptr_t)reg[REG_RIP];
	uint64_t pending = 0, blocked;

	if (at[0] != 0x0f || at[1] != 0x05 || !may_be_interrupted((long)reg[REG_RAX]))
		return;
	memcpy(&blocked, &context->uc_sigmask, sizeof blocked);
	if (syscall(SYS_rt_sigpending, &pending, sizeof pending) != 0)
		return;
	pending &= ~blocked & ~(1ull << (SLOPE_SIGNAL - 1));
	for (; pending; pending &= pending - 1)
		if (interrupts(1 + __builtin_ctzll(pending))) {
			reg[REG_RAX] = -EINTR;
			reg[REG_RIP] += 2;
			return;
		}
}

/* ---- always ---- */

SHOWN int nanosleep(const struct timespec *length, struct timespec *left)
{
	WAIT(true, int, SLOPE_REAL(nanosleep)(length, left));
}

SHOWN int clock_nanosleep(clockid_t clock, int flags, const struct timespec *length, struct timespec *left)
{
	WAIT(true, int, SLOPE_REAL(clock_nanosleep)(clock, flags, length, left));
}

SHOWN int usleep(useconds_t us)
{
	WAIT(true, int, SLOPE_REAL(usleep)(us));
}

SHOWN unsigned sleep(unsigned seconds)
{
	WAIT(true, unsigned, SLOPE_REAL(sleep)(seconds));
}

SHOWN int thrd_sleep(const struct timespec *length, struct timespec *left)
{
	WAIT(true, int, SLOPE_REAL(thrd_sleep)(length, left));
}

SHOWN int pause(void)
{
	WAIT(true, int, SLOPE_REAL(pause)());
}

SHOWN int sigsuspend(const sigset_t *mask)
{
	sigset_t copy;

	WAIT(false, int, SLOPE_REAL(sigsuspend)(with_ours(mask, &copy)));
}

/* ---- where the timer goes on ---- */

#define BY_TIME slope_sampler.waking

SHOWN int poll(struct pollfd *fd, nfds_t count, int timeout_ms)
{
	WAIT(BY_TIME && timeout_ms, int, SLOPE_REAL(poll)(fd, count, timeout_ms));
}

SHOWN int __poll_chk(struct pollfd *fd, nfds_t count, int timeout_ms, size_t room)
{
	WAIT(BY_TIME && timeout_ms, int, SLOPE_REAL(__poll_chk)(fd, count, timeout_ms, room));
}

SHOWN int ppoll(struct pollfd *fd, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	sigset_t copy;

	WAIT(BY_TIME && !mask, int, SLOPE_REAL(ppoll)(fd, count, timeout, with_ours(mask, &copy)));
}

SHOWN int __ppoll_chk(struct pollfd *fd, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t room)
{
	sigset_t copy;

	WAIT(BY_TIME && !mask, int, SLOPE_REAL(__ppoll_chk)(fd, count, timeout, with_ours(mask, &copy), room));
}

SHOWN int select(int count, fd_set *in, fd_set *out, fd_set *other, struct timeval *timeout)
{
	WAIT(BY_TIME, int, SLOPE_REAL(select)(count, in, out, other, timeout));
}

SHOWN int pselect(int count, fd_set *in, fd_set *out, fd_set *other, const struct timespec *timeout, const sigset_t *mask)
{
	sigset_t copy;

	WAIT(BY_TIME && !mask, int, SLOPE_REAL(pselect)(count, in, out, other, timeout, with_ours(mask, &copy)));
}

SHOWN int epoll_wait(int queue, struct epoll_event *event, int room, int timeout_ms)
{
	WAIT(BY_TIME && timeout_ms, int, SLOPE_REAL(epoll_wait)(queue, event, room, timeout_ms));
}

SHOWN int epoll_pwait(int queue, struct epoll_event *event, int room, int timeout_ms, const sigset_t *mask)
{
	sigset_t copy;

	WAIT(BY_TIME && !mask && timeout_ms, int, SLOPE_REAL(epoll_pwait)(queue, event, room, timeout_ms, with_ours(mask, &copy)));
}

SHOWN int epoll_pwait2(int queue, struct epoll_event *event, int room, const struct timespec *timeout, const sigset_t *mask)
{
	sigset_t copy;

	WAIT(BY_TIME && !mask, int, SLOPE_REAL(epoll_pwait2)(queue, event, room, timeout, with_ours(mask, &copy)));
}

SHOWN int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	WAIT(BY_TIME, int, SLOPE_REAL(sem_timedwait)(semaphore, until));
}

SHOWN int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
	WAIT(BY_TIME, int, SLOPE_REAL(sem_clockwait)(semaphore, clock, until));
}

SHOWN int semop(int set, struct sembuf *operation, size_t count)
{
	WAIT(BY_TIME, int, SLOPE_REAL(semop)(set, operation, count));
}

SHOWN int semtimedop(int set, struct sembuf *operation, size_t count, const struct timespec *timeout)
{
	WAIT(BY_TIME, int, SLOPE_REAL(semtimedop)(set, operation, count, timeout));
}

SHOWN ssize_t msgrcv(int queue, void *message, size_t bytes, long kind, int flags)
{
	WAIT(BY_TIME, ssize_t, SLOPE_REAL(msgrcv)(queue, message, bytes, kind, flags));
}

SHOWN int msgsnd(int queue, const void *message, size_t bytes, int flags)
{
	WAIT(BY_TIME, int, SLOPE_REAL(msgsnd)(queue, message, bytes, flags));
}
