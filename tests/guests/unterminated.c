/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A path that runs into memory that is not there: the kernel says EFAULT, and the program goes on. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "guest.h"

int main(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	munmap(page + 4096, 4096);
	memset(page, 'a', 4096);
	fd = open(page + 4000, O_RDONLY);
	printf("%d %d\n", fd, errno == EFAULT);
	return 3;
}
