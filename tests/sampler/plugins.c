/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads and unloads two libraries in turn, which the system may put at one
 * place; and calls functions of theirs that call back.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "work.h"

static long back(int n)
{
	return fib(n);
}

int main(int argc, char **argv)
{
	char path[2][4096];
	long sum = 0;

	(void)argc;
	for (int i = 0; i < 2; i++)
		snprintf(path[i], sizeof path[i], "%s-%s.so", argv[0], i ? "two" : "one");
	for (int round = 0; round < 200; round++) {
		void *handle = dlopen(path[round % 2], round % 4 < 2 ? RTLD_NOW : RTLD_LAZY);
		long (*plugin)(int, long (*)(int)) = handle ? (long (*)(int, long (*)(int)))dlsym(handle, "plugin") : NULL;

		if (!plugin) {
			puts(dlerror());
			return 1;
		}
		sum += plugin(16, back);
		dlclose(handle);
	}
	printf("%ld\n", sum);
	return 0;
}
