/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions with known shares of the time: 50, 30, 15 and 5 percent, in threads of 2 and 1 shares. */
#include <pthread.h>
#include <stdint.h>

#include "work.h"

#define TURNS 400000L

/* A chain of dependent instructions: so long, and nothing else to it. */
#define SPIN(percent) do { long n = TURNS / 100 * (percent); __asm__ volatile( \
	"1: imul $1, %0, %0\n\timul $1, %0, %0\n\timul $1, %0, %0\n\tdec %0\n\tjnz 1b" : "+r"(n) : : "cc"); } while (0)

APART static void half(void) { SPIN(50); }
APART static void third(void) { SPIN(30); }
APART static void sixth(void) { SPIN(15); }
APART static void rest(void) { SPIN(5); }

APART static void round_of_all(void)
{
	half();
	third();
	sixth();
	rest();
}

static void *work(void *rounds)
{
	for (intptr_t i = 0; i < (intptr_t)rounds; i++)
		round_of_all();
	return NULL;
}

int main(void)
{
	pthread_t thread[2];

	pthread_create(&thread[0], NULL, work, (void *)(intptr_t)1000);
	pthread_create(&thread[1], NULL, work, (void *)(intptr_t)500);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return 0;
}
