/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's own signals. Ours is one that programs seldom use; whatever
 * they do with it is noted, and told them, but not done: it cannot be blocked,
 * waited for, or given away. The program's SIGPROF and timers are its own.
 *
 * For signals that would end the program we have handlers, as long as it has
 * none itself; it is told that there are none.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "sources/sampler/reals.h"

static const int fatal[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM,
	SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGSYS, SIGIO,
};

static struct sigaction program_own;         /* what the program has said of our signal */

static bool is_fatal(int number)
{
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		if (fatal[i] == number)
			return true;
	return false;
}

static bool is_ours(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO &&
	       (action->sa_sigaction == slope_departing_signal || action->sa_sigaction == slope_sampling_signal);
}

static void take_fatal(int number, struct sigaction *action)
{
	*action = (struct sigaction){ .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	action->sa_sigaction = slope_departing_signal;
	(void)number;
}

void slope_guarding_begin(void)
{
	struct sigaction ours = { .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART }, now, mine;

	ours.sa_sigaction = slope_sampling_signal;
	sigfillset(&ours.sa_mask);
	SLOPE_REAL(sigaction)(SLOPE_SIGNAL, &ours, &program_own);
	if (slope_sampler.images)
		program_own.sa_handler = SIG_DFL;        /* before the exec we had it ignored ourselves */
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
		if (SLOPE_REAL(sigaction)(fatal[i], NULL, &now) != 0 || now.sa_handler != SIG_DFL)
			continue;
		take_fatal(fatal[i], &mine);
		SLOPE_REAL(sigaction)(fatal[i], &mine, NULL);
	}
}

void slope_guarding_pass_on(int number, siginfo_t *info, void *context)
{
	if (program_own.sa_flags & SA_SIGINFO)
		program_own.sa_sigaction(number, info, context);
	else if (program_own.sa_handler != SIG_DFL && program_own.sa_handler != SIG_IGN)
		program_own.sa_handler(number);
	else if (program_own.sa_handler == SIG_DFL)
		slope_departing_signal(number, info, context);
}

/* ---- what the program asks for ---- */

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction changed, before;

	if (!slope_sampler.on)
		return SLOPE_REAL(sigaction)(number, action, old);
	if (number == SLOPE_SIGNAL) {
		before = program_own;
		if (action)
			program_own = *action;
		if (old)
			*old = before;
		return 0;
	}
	if (action) {
		changed = *action;
		if (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL && is_fatal(number))
			take_fatal(number, &changed);
		else
			sigdelset(&changed.sa_mask, SLOPE_SIGNAL);
	}
	int result = SLOPE_REAL(sigaction)(number, action ? &changed : NULL, &before);

	if (result != 0)
		return result;
	if (is_ours(&before))
		before = (struct sigaction){ .sa_handler = SIG_DFL };
	if (old)
		*old = before;
	return 0;
}

static __sighandler_t set_handler(int number, __sighandler_t handler, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, old;

	sigemptyset(&action.sa_mask);
	if (handler == SIG_ERR || number < 1 || number >= NSIG) {
		errno = EINVAL;
		return SIG_ERR;
	}
	if (!(flags & SA_NODEFER))
		sigaddset(&action.sa_mask, number);
	return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

__sighandler_t signal(int number, __sighandler_t handler)
{
	return set_handler(number, handler, SA_RESTART);
}

__sighandler_t __sysv_signal(int number, __sighandler_t handler)
{
	return set_handler(number, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

/* A set without our signal. */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
	if (!set || !slope_sampler.on)
		return set;
	*copy = *set;
	sigdelset(copy, SLOPE_SIGNAL);
	return copy;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;

	return SLOPE_REAL(sigprocmask)(how, how == SIG_UNBLOCK ? set : without_ours(set, &copy), old);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;

	return SLOPE_REAL(pthread_sigmask)(how, how == SIG_UNBLOCK ? set : without_ours(set, &copy), old);
}

int sigwait(const sigset_t *set, int *number)
{
	sigset_t copy;

	return SLOPE_REAL(sigwait)(without_ours(set, &copy), number);
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t copy;

	return SLOPE_REAL(sigwaitinfo)(without_ours(set, &copy), info);
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	sigset_t copy;

	return SLOPE_REAL(sigtimedwait)(without_ours(set, &copy), info, timeout);
}

int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t copy;

	return SLOPE_REAL(signalfd)(fd, without_ours(set, &copy), flags);
}
