/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Limits that a program sets to itself are for its own memory, and not for the translator's: what is within them it gets,
 * what is beyond it does not, and they are those of the programs that it runs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MB (1ul << 20)

static const char *answer(int result)
{
	return result ? strerror(errno) : "good";
}

static const char *map(size_t bytes, int prot, int flags)
{
	return answer(mmap(NULL, bytes, prot, flags | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

static void limit(int resource, rlim_t soft, rlim_t hard)
{
	struct rlimit wanted = { soft, hard }, got;

	printf("limit %d: %s; ", resource, answer(setrlimit(resource, &wanted)));
	getrlimit(resource, &got);
	printf("%lu %lu\n", (unsigned long)got.rlim_cur, (unsigned long)got.rlim_max);
}

static void memory(void)
{
	void *grows = mmap(NULL, 10 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	limit(RLIMIT_AS, 600 * MB, 2000 * MB);
	printf("all memory: %s, ", map(200 * MB, PROT_NONE, MAP_PRIVATE));
	printf("%s, %s, ", map(500 * MB, PROT_READ, MAP_SHARED), map(1ul << 40, PROT_NONE, MAP_PRIVATE));
	printf("%s\n", answer(mremap(grows, 10 * MB, 500 * MB, MREMAP_MAYMOVE) == MAP_FAILED));
	printf("in place of other memory: %s\n",
	       answer(mmap(grows, 10 * MB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != grows));
	limit(RLIMIT_AS, 1500 * MB, 1500 * MB);
	limit(RLIMIT_AS, 9, 8);
	limit(RLIMIT_DATA, 200 * MB, 300 * MB);
	printf("data: %s, %s, %s, ", map(50 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE), map(300 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE),
	       map(300 * MB, PROT_READ | PROT_WRITE, MAP_SHARED));
	printf("%s, %s\n", answer(sbrk(100 * MB) == (void *)-1), answer(sbrk(200 * MB) == (void *)-1));
	printf("locked: %s, %s\n", answer(mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)), answer(mlockall(0)));
	munlockall();
}

/* So many frames of a good kilobyte each. */
static int descend(int frames)
{
	volatile char frame[1024];

	frame[0] = 1;
	return frames ? descend(frames - 1) + frame[0] : 0;
}

/* A stack that may grow does, on and on, and stays one piece of memory. */
static void stack(void)
{
	pthread_attr_t attributes;
	struct rlimit before;
	void *lowest;
	size_t bytes;

	getrlimit(RLIMIT_STACK, &before);
	for (unsigned long megabytes = 16; megabytes <= 64; megabytes *= 2) {
		struct rlimit wanted = { megabytes * MB, before.rlim_max };

		printf("a stack of %lu MB: %s, ", megabytes, answer(setrlimit(RLIMIT_STACK, &wanted)));
		printf("%d frames, ", descend((int)megabytes * 900));
		pthread_getattr_np(pthread_self(), &attributes);
		pthread_attr_getstack(&attributes, &lowest, &bytes);
		printf("%lu MB in all\n", (bytes + MB - 1) / MB);
		pthread_attr_destroy(&attributes);
	}
	setrlimit(RLIMIT_STACK, &before);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc == 1) {
		stack();
		memory();
		execlp("sh", "sh", "-c", "ulimit -v; ulimit -d; \"$0\" files", argv[0], NULL);
		return 2;
	}
	if (!strcmp(argv[1], "stack")) {
		printf("%d frames\n", descend(50000));
		return 0;
	}
	/* Afterwards it has no descriptor left. */
	limit(RLIMIT_NOFILE, 10, 10);
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	printf("files: %s\n", answer(1));
	return 3;
}
