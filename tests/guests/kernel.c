/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel hands out by other ways than read(): each function below
 * reads cells that a system call has just filled, and all of them are external
 * input. What it reads that the program wrote itself is not.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

static int words[16] __attribute__((aligned(64)));
static struct stat status;

ALONE int take(const int *v, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += v[i];
	return s;
}

ALONE int take_pread(int n)
{
	return take(words, n);
}

ALONE int take_readv(int n)
{
	return take(words, n);
}

ALONE int take_recv(int n)
{
	return take(words, n);
}

ALONE int take_recvmsg(int n)
{
	return take(words, n);
}

ALONE long take_stat(void)
{
	return status.st_size;
}

ALONE int take_ioctl(void)
{
	return words[0];
}

ALONE int take_own(int n)
{
	return take(words, n);
}

static void fill(int value)
{
	for (int i = 0; i < 16; i++)
		words[i] = value;
}

int main(void)
{
	FILE *file = tmpfile();
	int fd = file ? fileno(file) : -1, pair[2];
	struct iovec parts[2] = { { words, 8 }, { words + 8, 12 } };
	struct iovec whole = { words, 24 };
	struct msghdr message = { .msg_iov = &whole, .msg_iovlen = 1 };

	fill(1);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || write(fd, words, 64) != 64)
		return 1;
	if (pread(fd, words, 40, 0) == 40)
		printf("%d\n", take_pread(12));
	lseek(fd, 0, SEEK_SET);
	fill(2);
	if (readv(fd, parts, 2) == 20)
		printf("%d\n", take_readv(16));
	fill(3);
	if (send(pair[0], words, 28, 0) == 28 && recv(pair[1], words, 28, 0) == 28)
		printf("%d\n", take_recv(10));
	if (send(pair[0], words, 24, 0) == 24 && recvmsg(pair[1], &message, 0) == 24)
		printf("%d\n", take_recvmsg(6));
	if (fstat(fd, &status) == 0)
		printf("%ld\n", take_stat());
	if (write(pair[0], words, 4) == 4 && ioctl(pair[1], FIONREAD, words) == 0)
		printf("%d\n", take_ioctl());
	fill(4);
	printf("%d\n", take_own(16));
	return 0;
}
