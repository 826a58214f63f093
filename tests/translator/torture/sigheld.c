/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals that are faults by name, and sent: while they are blocked they wait, can be seen and taken, and come when they are
 * unblocked. A program may be started with all of them blocked.
 */
#include "torture.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGUSR1 };

#define NUMBERS (sizeof numbers / sizeof *numbers)

static volatile int came, by_value;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	came = number;
	by_value = info->si_code == SI_QUEUE ? info->si_value.sival_int : 0;
}

static int is_pending(int number)
{
	sigset_t set;

	EXPECT(!sigpending(&set));
	return sigismember(&set, number);
}

static void mask(int how, int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	EXPECT(!sigprocmask(how, &set, NULL));
}

static void one(int number, int value)
{
	struct timespec moment = { 0, 0 };
	siginfo_t info;
	sigset_t set;
	int status;
	pid_t child;

	sigemptyset(&set);
	sigaddset(&set, number);
	mask(SIG_BLOCK, number);
	EXPECT(sigtimedwait(&set, &info, &moment) == -1 && errno == EAGAIN);
	EXPECT(!kill(getpid(), number) && is_pending(number));
	child = fork();
	if (!child)
		_exit(is_pending(number));
	EXPECT(waitpid(child, &status, 0) == child && !status);
	EXPECT(sigtimedwait(&set, &info, &moment) == number && info.si_code == SI_USER && info.si_pid == getpid() && !is_pending(number));
	/* It is gone, so that nothing comes now. */
	torture_handle(number, on_signal, 0);
	came = 0;
	mask(SIG_UNBLOCK, number);
	EXPECT(!came);
	mask(SIG_BLOCK, number);
	EXPECT(!sigqueue(getpid(), number, (union sigval){ .sival_int = value }) && !came);
	mask(SIG_UNBLOCK, number);
	EXPECT(came == number && by_value == value && !is_pending(number));
	signal(number, SIG_DFL);
	child = fork();
	if (!child) {
		mask(SIG_BLOCK, number);
		raise(number);
		mask(SIG_UNBLOCK, number);
		_exit(99);
	}
	EXPECT(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == number);
}

/* Code that changes, all signals blocked: whatever that takes must not need them. */
static void change_code(void)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0;

	EXPECT(code != MAP_FAILED);
	memcpy(code, "\xb8\0\0\0\0\xc3", 6);
	for (int i = 0; i < 20; i++) {
		code[1] = (unsigned char)i;
		sum += ((int (*)(void))code)();
	}
	EXPECT(sum == 190);
}

int main(int argc, char **argv)
{
	sigset_t all, now;

	if (argc > 2) {
		EXPECT(!sigprocmask(SIG_BLOCK, NULL, &now) && sigismember(&now, SIGSEGV) && sigismember(&now, SIGTRAP));
		change_code();
		puts("all blocked");
		return 0;
	}
	for (unsigned i = 0; i < NUMBERS; i++)
		one(numbers[i], (int)i + 5);
	puts("each of them");
	fflush(stdout);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	execl("/proc/self/exe", argv[0], argc > 1 ? argv[1] : "1", "blocked", NULL);
	return 2;
}
