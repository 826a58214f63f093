/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes that are read and written, known by function:
 *
 *   along      writes    reads
 *   plain       30000    30000   write, pwrite, writev; read, pread, readv: 10000 each
 *   sockets     15000    15000   send, sendto, sendmsg; recv, recvfrom, recvmsg: 5000 each
 *   streams     12345    12345   fwrite 12000, fputs 300, fprintf 45; fread 12000, fgets 300, getdelim 45
 *   nothing         0        0   calls that fail
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "work.h"

static char buffer[20000];

/* One after the other: no value of the calls is looked at but their sum. */
APART static long plain(int fd)
{
	struct iovec two[2] = { { buffer, 4000 }, { buffer, 6000 } };
	long sum = write(fd, buffer, 10000);

	sum += pwrite(fd, buffer, 10000, 10000);
	sum += lseek(fd, 20000, SEEK_SET) == 20000 ? writev(fd, two, 2) : 0;
	lseek(fd, 0, SEEK_SET);
	sum += read(fd, buffer, 10000);
	sum += readv(fd, two, 2);
	sum += pread(fd, buffer, 20000, 20000);
	return sum;
}

APART static long sockets(const int end[2])
{
	struct iovec one = { buffer, 5000 };
	struct msghdr message = { .msg_iov = &one, .msg_iovlen = 1 };
	long sum = send(end[0], buffer, 5000, 0);

	sum += sendto(end[0], buffer, 5000, 0, NULL, 0);
	sum += sendmsg(end[0], &message, 0);
	sum += recv(end[1], buffer, 5000, MSG_WAITALL);
	sum += recvfrom(end[1], buffer, 5000, MSG_WAITALL, NULL, NULL);
	sum += recvmsg(end[1], &message, MSG_WAITALL);
	return sum;
}

APART static long streams(FILE *file)
{
	char *line = NULL;
	size_t bytes = 0;

	memset(buffer, 'x', sizeof buffer);
	buffer[299] = '\n';
	buffer[300] = '\0';
	long sum = (long)fwrite(buffer + 1000, 4, 3000, file) * 4;

	sum += fputs(buffer, file) >= 0 ? 300 : 0;
	sum += fprintf(file, "%044d\n", 7);
	rewind(file);
	sum += (long)fread(buffer + 1000, 1, 12000, file);
	sum += fgets(buffer, 1000, file) ? (long)strlen(buffer) : 0;
	sum += getdelim(&line, &bytes, '\n', file);
	free(line);
	return sum;
}

APART static long nothing(void)
{
	char *volatile nowhere = NULL;
	long sum = read(-1, nowhere, 1000);

	sum += write(-1, nowhere, 1000);
	return sum + send(-1, nowhere, 1000, 0);
}

int main(void)
{
	FILE *file = tmpfile(), *stream = tmpfile();
	int end[2];

	if (!file || !stream || socketpair(AF_UNIX, SOCK_STREAM, 0, end) != 0)
		return 1;
	long sum[] = { plain(fileno(file)), sockets(end), streams(stream), nothing() };

	printf("%ld %ld %ld %ld\n", sum[0], sum[1], sum[2], sum[3]);
	return 0;
}
