/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/messages.h"

bool slope_scratch_make(char *folder, size_t bytes, const char *name)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, bytes, "%s/%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", name);
	if (mkdtemp(folder))
		return true;
	slope_say("cannot make a folder for the runs: %s; let TMPDIR name one where you may write", strerror(errno));
	folder[0] = '\0';
	return false;
}

void slope_scratch_remove(const char *path)
{
	DIR *folder = *path ? opendir(path) : NULL;
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	if (*path)
		rmdir(path);
}
