/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the sample profile: make_golden FILE. Only for a new format version;
 * the committed golden files of earlier ones stay as they are.
 */
#include "tests/format/sample.h"

int main(int argc, char **argv)
{
	struct slope_profile *p = sample_profile();
	char error[256] = "usage: make_golden FILE";
	bool ok = argc == 2 && slope_profile_save(p, argv[1], error, sizeof error);

	if (!ok)
		fprintf(stderr, "%s\n", error);
	slope_profile_free(p);
	return !ok;
}
