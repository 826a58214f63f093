// SPDX-License-Identifier: GPL-3.0-or-later
// Exceptions where they are rare: in and out of signal handlers, on their own stack too, within one another, kept and thrown
// later, and a thread that is cancelled.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static volatile int sink, turn;
static char stack[262144] __attribute__((aligned(64)));

struct guard {
	int a;

	KEEP ~guard() { sink = a & 1 ? a : -a; }
};

KEEP static int picky(int n)
{
	if (n % 3 == 1)
		throw n;
	return n & 1 ? n : 2 * n;
}

// A destructor that throws and catches while another exception is on its way.
struct busy {
	int a;

	KEEP ~busy()
	{
		try {
			sink = picky(a);
		} catch (int e) {
			sink = -e;
		}
	}
};

KEEP static int nested(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		try {
			busy b { i + 1 };

			s += picky(i);
		} catch (int e) {
			try {
				guard g { e };

				s += picky(e + 3);
			} catch (int f) {
				s += e + f;
			}
		}
	}
	return s;
}

KEEP static int kept(int n)
{
	std::exception_ptr last;
	int s = 0;

	for (int i = 0; i < n; i++) {
		try {
			if (last && i % 4 == 3)
				std::rethrow_exception(last);
			s += picky(i);
		} catch (int e) {
			last = std::current_exception();
			s += e;
		}
	}
	return s;
}

KEEP static void wrap(int n)
{
	try {
		guard g { n };

		picky(n);
	} catch (int) {
		std::throw_with_nested(std::runtime_error("outer"));
	}
}

KEEP static int wrapped(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		try {
			wrap(i);
			s++;
		} catch (const std::runtime_error &e) {
			try {
				std::rethrow_if_nested(e);
			} catch (int inner) {
				s += 100 * inner;
			}
		}
	}
	return s;
}

// Thrown by a function that a handler calls, and caught in the handler.
static void on_usr1(int number)
{
	try {
		guard g { number };

		sink = picky(turn++);
	} catch (int e) {
		sink = e;
	}
}

// Thrown out of the handler, over the kernel's frame.
static void on_usr2(int number)
{
	guard g { number };

	sink = picky(turn++);
}

// raise, but as a function that may throw.
KEEP static long send(int number)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"((long)SYS_tgkill), "D"((long)getpid()), "S"((long)gettid()), "d"((long)number)
			 : "rcx", "r11", "memory");
	return result;
}

KEEP static int raised(int n, int number)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		try {
			guard g { i };

			send(number);
			s += i & 1 ? 3 : 5;
		} catch (int e) {
			s += e & 1 ? 7 : 11;
		}
	}
	return s;
}

KEEP static int load(const volatile int *at)
{
	sink = sink + 1;
	return *at;
}

// The frame that catches has been interrupted by its own instruction, not in a call.
KEEP static int faulty(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		try {
			s += load(i & 1 ? &sink : (const volatile int *)8);
		} catch (int e) {
			s += 2 * e;
		}
	}
	return s;
}

static void on_fault(int)
{
	throw ++turn;
}

KEEP static int waits(int n)
{
	guard g { n };

	for (int i = 0; i < n; i++)
		sink = i & 1 ? i : -i;
	pthread_testcancel();
	return n + sink;
}

KEEP static int goes_down(int n)
{
	guard g { n };

	return n > 0 ? goes_down(n - 1) + 1 : waits(4);
}

static void clean(void *a)
{
	sink = *(int *)a & 1 ? 9 : 8;
}

static void *lane(void *a)
{
	int n = *(int *)a;

	pthread_cleanup_push(clean, &n);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
	sink = goes_down(n);
	pthread_cleanup_pop(1);
	return a;
}

static int cancelled(int n)
{
	pthread_t t;
	void *result;

	if (pthread_create(&t, nullptr, lane, &n))
		return -1;
	pthread_join(t, &result);
	return result == PTHREAD_CANCELED;
}

static void install(int number, void (*handler)(int), int flags)
{
	struct sigaction action;

	std::memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	action.sa_flags = flags | SA_NODEFER;
	sigaction(number, &action, nullptr);
}

int main(int argc, char **argv)
{
	stack_t apart = {};

	apart.ss_sp = stack;
	apart.ss_size = sizeof stack;
	sigaltstack(&apart, nullptr);
	if (argc > 1 && !std::strcmp(argv[1], "cancel")) {
		std::printf("%d\n", cancelled(5));
		return 0;
	}
	int s = nested(9) + kept(13) + wrapped(8);

	install(SIGUSR1, on_usr1, 0);
	s += raised(9, SIGUSR1);
	install(SIGUSR1, on_usr1, SA_ONSTACK);
	s += raised(9, SIGUSR1);
	install(SIGUSR2, on_usr2, 0);
	s += raised(9, SIGUSR2);
	install(SIGUSR2, on_usr2, SA_ONSTACK);
	s += raised(9, SIGUSR2);
	install(SIGSEGV, on_fault, 0);
	s += faulty(6);
	install(SIGSEGV, on_fault, SA_ONSTACK);
	s += faulty(6);
	std::printf("%d %d\n", s, turn);
	return 0;
}
