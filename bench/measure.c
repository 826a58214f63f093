/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * measure RESULT COMMAND [ARGS]
 *
 * Runs a command and writes one line to the file RESULT:
 *
 *   user_us system_us wall_us peak_kb status
 *
 * Times and peak resident memory are those of the command and of every
 * descendant it waited for (peak: of the largest one process). This is a
 * program of its own because Linux carries the peak of a process over exec: a
 * child of a large interpreter would never look smaller than that.
 *
 * The exit status is the command's, 128 + the signal that ended it, or 127.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long micros(struct timeval t)
{
	return t.tv_sec * 1000000LL + t.tv_usec;
}

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static int report(const char *path, const struct rusage *usage, long long wall_us, int status)
{
	FILE *out = fopen(path, "w");

	if (!out) {
		fprintf(stderr, "measure: %s: %s\n", path, strerror(errno));
		return 125;
	}
	fprintf(out, "%lld %lld %lld %ld %d\n", micros(usage->ru_utime), micros(usage->ru_stime), wall_us,
		usage->ru_maxrss, status);
	return fclose(out) == 0 ? status : 125;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;

	if (argc < 3) {
		fprintf(stderr, "usage: measure RESULT COMMAND [ARGS]\n");
		return 125;
	}
	long long start = now_us();
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[2], argv + 2);
		fprintf(stderr, "measure: %s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) {
		perror("measure");
		return 125;
	}
	status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return report(argv[1], &usage, now_us() - start, status);
}
