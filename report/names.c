/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/names.h"

#include <inttypes.h>

#include "report/clip.h"

bool slope_names_many_processes(const struct slope_profile *p)
{
	for (size_t i = 1; i < p->thread_count; i++)
		if (p->thread[i].process != p->thread[0].process)
			return true;
	return false;
}

const char *slope_names_thread(const struct slope_profile_thread *t, bool process, char *text)
{
	if (process)
		snprintf(text, SLOPE_NAMES_THREAD_BYTES, "%" PRIu64 ".%" PRIu32, t->process, t->id);
	else
		snprintf(text, SLOPE_NAMES_THREAD_BYTES, "%" PRIu32, t->id);
	return text;
}

void slope_names_put(const char *name, char from, char to, FILE *out)
{
	unsigned bytes;

	if (!name || !name[0])
		name = "???";
	for (; *name; name += bytes) {
		uint32_t c = slope_utf8_next(name, &bytes);

		if (c < ' ' || c == 0x7F)
			fputc(' ', out);
		else if (c == (unsigned char)from)
			fputc(to, out);
		else if (c == 0xFFFD)
			fputs("\xEF\xBF\xBD", out);
		else
			fwrite(name, 1, bytes, out);
	}
}
