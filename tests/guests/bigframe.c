/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames of every size, from a few bytes to a megabyte, fixed and variable:
 * none of these moves of the stack pointer is a switch to another stack. One
 * thread, callers as written, and the callee after a large frame has gone is
 * called by main() again.
 */
#include <alloca.h>
#include <string.h>

#include "guest.h"

ALONE int inside(const char *p, size_t bytes)
{
	return p[0] + p[bytes - 1];
}

ALONE int fixed(void)
{
	char block[1 << 20];

	block[0] = 1;
	block[sizeof(block) - 1] = 2;
	BARRIER();
	return inside(block, sizeof(block));
}

ALONE int variable(size_t bytes)
{
	char *block = alloca(bytes);

	block[0] = 3;
	block[bytes - 1] = 4;
	return inside(block, bytes);
}

ALONE int nested(int depth)
{
	char block[70000];

	block[0] = (char)depth;
	block[sizeof(block) - 1] = 1;
	if (depth == 0)
		return inside(block, sizeof(block));
	return nested(depth - 1) + inside(block, sizeof(block));
}

ALONE int afterwards(int x)
{
	return x + 1;
}

int main(void)
{
	int s = 0;

	for (size_t bytes = 16; bytes <= 2 << 20; bytes *= 8) {
		s += variable(bytes);
		s = afterwards(s + fixed());
	}
	s += nested(20);
	printf("%d\n", afterwards(s));
	return 0;
}
