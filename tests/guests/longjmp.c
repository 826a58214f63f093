/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * longjmp over several frames, ten times to main() and ten times to a frame in
 * the middle. Every function below was called as often as the loops say, and
 * what is called after a jump is called by the function that was jumped to.
 */
#include <setjmp.h>

#include "guest.h"

static jmp_buf to_main, to_middle;
static volatile int trips;

ALONE void after_main(void)
{
	trips++;
}

ALONE void after_middle(void)
{
	trips++;
}

ALONE void three(int far)
{
	trips++;
	longjmp(far ? to_main : to_middle, 1);
}

ALONE void two(int far)
{
	three(far);
	trips--;
}

ALONE void one(int far)
{
	two(far);
	trips--;
}

ALONE void middle(void)
{
	if (setjmp(to_middle) == 0)
		one(0);
	after_middle();
}

int main(void)
{
	for (volatile int i = 0; i < 10; i++) {
		if (setjmp(to_main) == 0)
			one(1);
		after_main();
		middle();
	}
	printf("%d\n", trips);
	return 0;
}
