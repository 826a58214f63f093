/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlopen and dlclose: other libraries come to the same place, and what was translated there is not run any more. */
#include "torture.h"

#include <dlfcn.h>

#define LIBRARIES 3

int main(int argc, char **argv)
{
	uint64_t seed = torture_seed(argc, argv), hash = 1;
	char path[4096];

	EXPECT(argc > 2);                /* the folder of the libraries */
	for (int i = 0; i < 60; i++) {
		int which = (int)(torture_random(&seed) % LIBRARIES);

		snprintf(path, sizeof path, "%s/library%d.so", argv[2], which);
		void *library = dlopen(path, i % 2 ? RTLD_NOW : RTLD_LAZY);

		EXPECT(library != NULL);
		int (*value)(void) = (int (*)(void))dlsym(library, "value");

		for (int k = 0; k < 3; k++) {
			int got = value();

			EXPECT(got == which * 100 + which + 2 * k);
			hash = hash * 31 + (uint64_t)got;
		}
		EXPECT(dlclose(library) == 0);
	}
	printf("%lx\n", hash);
	return 0;
}
