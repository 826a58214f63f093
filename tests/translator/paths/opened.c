/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library that comes, is used, goes and comes again; its paths go on counting. */
#include <dlfcn.h>
#include <stdio.h>

static volatile int sink;

static __attribute__((noinline)) int use(const char *path, int n)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*part)(int) = library ? (int (*)(int))dlsym(library, "opened_part") : NULL;
	int s = 0;

	if (!part)
		return -1;
	for (int i = 0; i < n; i++)
		s += part(i);
	dlclose(library);
	return s;
}

int main(int argc, char **argv)
{
	int s = 0;

	for (int i = 0; i < 3; i++) {
		s += use(argv[1 + i % (argc - 1)], 5 + i);
		if (i == 1)
			sink = s;
	}
	printf("%d\n", s);
	return 0;
}
