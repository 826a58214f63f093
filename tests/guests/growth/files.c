/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * files PATH: input and output of growing files. send() hands n cells to the kernel in one
 * call, which costs the program the same whatever n is: constant. count_lines() reads a
 * file through one small buffer, again and again the same cells, which only trms sees as
 * the size of the file: linear. longest_line() reads lines with fgets(): linear.
 */
#include <fcntl.h>
#include <unistd.h>

#include "growth.h"

#define MOST 262144
#define BUFFER 1024

static char text[MOST];

ALONE long send(int to, const char *bytes, size_t n)
{
	return write(to, bytes, n);
}

ALONE long count_lines(int from)
{
	char buffer[BUFFER];
	long lines = 0, got;

	while ((got = read(from, buffer, sizeof(buffer))) > 0)
		for (long i = 0; i < got; i++)
			lines += buffer[i] == '\n';
	return lines;
}

ALONE size_t longest_line(FILE *from)
{
	char line[128];
	size_t longest = 0;

	while (fgets(line, sizeof(line), from)) {
		size_t length = strlen(line);

		if (length > longest)
			longest = length;
	}
	return longest;
}

static int look_at(const char *path, size_t n, long *sum)
{
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (file < 0 || send(file, text, n) != (long)n)
		return 0;
	lseek(file, 0, SEEK_SET);
	*sum += count_lines(file);
	lseek(file, 0, SEEK_SET);

	FILE *stream = fdopen(file, "r");

	*sum += (long)longest_line(stream);
	fclose(stream);
	return 1;
}

int main(int argc, char **argv)
{
	struct dice dice = { 23 };
	long sum = 0;

	if (argc < 2)
		return 2;
	for (size_t i = 0; i < MOST; i++)
		text[i] = roll(&dice) % 40 ? 'x' : '\n';
	EACH_SIZE(n, 64, MOST)
		if (!look_at(argv[1], n, &sum))
			return 1;
	printf("%ld\n", sum);
	return 0;
}
