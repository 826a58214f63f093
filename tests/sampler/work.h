/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What guests of the sampler do: recursions that can be seen, and whose results are known. */
#ifndef WORK_H
#define WORK_H

#define APART __attribute__((noinline, noclone))

/* Calls itself about 1.6^n times. */
APART static long fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

#endif
