/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/debugfiles.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_server(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls;
}

/* Is there a file of this name where debug files of one in `directory` may be? */
static bool is_anywhere(const char *directory, int length, const char *name)
{
	static const char *const form[] = { "%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s" };
	char path[PATH_MAX];

	for (size_t n = 0; n < sizeof form / sizeof *form; n++)
		if (snprintf(path, sizeof path, form[n], length, directory, name) < (int)sizeof path && !access(path, R_OK))
			return true;
	return false;
}

/* By the name that the file gives, or by its own. */
static bool is_here(const char *file, const char *link)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	char name[NAME_MAX + 1];

	if (!slash)
		return true;             /* not for us to say */
	snprintf(name, sizeof name, "%s.debug", slash + 1);
	return is_anywhere(file, (int)(slash - file), link ? link : name);
}

int slope_debugfiles_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file, const char *link,
			  GElf_Word crc, char **found)
{
	int fd = -1;

	if (!has_server()) {
		fd = dwfl_build_id_find_debuginfo(module, data, name, base, file, link, crc, found);
		if (fd >= 0 || !is_here(file, link))
			return fd;
	}
	return dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc, found);
}
