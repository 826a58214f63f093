/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two shared objects, built from reload_part.c, are loaded one after the other
 * at the same address with different functions at the same offset. Each
 * function keeps its own name, module and calls: alpha 3, beta 5, and alpha 2
 * more when its object comes back.
 */
#include <dlfcn.h>
#include <stdint.h>

#include "guest.h"

static uintptr_t place[3];

ALONE int use(const char *object, const char *function, int times, uintptr_t *where)
{
	void *handle = dlopen(object, RTLD_NOW);
	int (*call)(int) = handle ? (int (*)(int))dlsym(handle, function) : NULL;
	int s = 0;

	if (!call)
		return -1;
	*where = (uintptr_t)call;
	while (times--)
		s += call(times);
	dlclose(handle);
	return s;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	printf("%d\n", use(argv[1], "alpha", 3, &place[0]));
	printf("%d\n", use(argv[2], "beta", 5, &place[1]));
	printf("%d\n", use(argv[1], "alpha", 2, &place[2]));
	say_fact("same_place", place[0] == place[1] && place[1] == place[2]);
	return 0;
}
