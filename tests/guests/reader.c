/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The buffered reader of the second paper: external_read(n) lets the kernel
 * fill b[0] and b[1] n times and looks at b[0] alone. rms 1, trms n, all of it
 * external; what was loaded but never looked at (b[1]) does not count.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

static volatile int b[2];

ALONE unsigned external_read(int fd, int n)
{
	unsigned s = 0;

	for (int i = 0; i < n; i++) {
		raw_call3(SYS_read, fd, (const void *)b, sizeof(b));
		s += b[0];
	}
	return s;
}

int main(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	static const int sizes[] = {1, 5, 50, 500};

	if (fd < 0)
		return 1;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		printf("%u\n", external_read(fd, sizes[i]));
	return 0;
}
