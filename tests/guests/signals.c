/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signal handlers: raised, from a timer, on an alternate stack, and left by
 * siglongjmp. Handlers and what they call are counted; the interrupted function
 * goes on as if nothing had been, so what it calls afterwards is its own.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "guest.h"

#define ROUNDS 10

static volatile int seen, ticks, spins;
static sigjmp_buf out;

ALONE void note(void)
{
	seen++;
}

ALONE void after(void)
{
	seen++;
}

ALONE void on_plain(int signal)
{
	(void)signal;
	note();
}

ALONE void on_alternate(int signal)
{
	(void)signal;
	note();
}

ALONE void leave_deep(void)
{
	siglongjmp(out, 1);
}

ALONE void on_jump(int signal)
{
	(void)signal;
	leave_deep();
}

/* Each tick asks for the next one: none is left over however long a handler takes. */
static void ask_for_tick(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value = { 0, 2000 } }, NULL);
}

ALONE void on_tick(int signal)
{
	(void)signal;
	if (++ticks < 5)
		ask_for_tick();
}

ALONE void plain(void)
{
	raise(SIGUSR1);
	after();
}

ALONE void alternate(void)
{
	raise(SIGUSR2);
	after();
}

ALONE void jumped(void)
{
	if (sigsetjmp(out, 1) == 0)
		raise(SIGWINCH);
	after();
}

ALONE void spin(void)
{
	spins++;
}

ALONE void timed(void)
{
	ask_for_tick();
	while (ticks < 5)
		spin();
	after();
}

static void install(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

int main(void)
{
	static char memory[1 << 16];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };

	sigaltstack(&stack, NULL);
	install(SIGUSR1, on_plain, 0);
	install(SIGUSR2, on_alternate, SA_ONSTACK);
	install(SIGWINCH, on_jump, SA_ONSTACK);
	install(SIGALRM, on_tick, SA_ONSTACK);
	for (int i = 0; i < ROUNDS; i++) {
		plain();
		alternate();
		jumped();
	}
	timed();
	say_fact("spins", spins);
	printf("%d %d\n", seen, ticks);
	return 0;
}
