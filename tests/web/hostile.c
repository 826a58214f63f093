/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hostile FROM TO
 *
 * Gives the functions, files, modules, threads and arguments of a profile names
 * that try to break out of a page, and saves it elsewhere.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

#define LONG 2000

static const char *const names[] = {
	"</script><script>window.hurt = 1</script>",
	"\"><img src=x onerror=\"window.hurt = 2\">",
	"<!--<script>window.hurt = 3",
	"std::map<std::pair<int, \"a'b\">, &&>::operator<<(const char*)",
	"'; window.hurt = 4; //",
	"\xff\xfe\x80 not UTF-8 \xc3(",
	"line\nbreak\ttab\x01\x7f",
	"\xe2\x80\xae right to left",
	"javascript:window.hurt = 5",
	"__proto__",
	"constructor",
	"${window.hurt = 6}`",
	"&lt;b&gt;&#60;script&#62;",
};

static char *long_name(void)
{
	char *text = malloc(LONG + 1);

	for (int i = 0; i < LONG; i++)
		text[i] = "vector<pair<"[i % 12];
	text[LONG] = 0;
	return text;
}

static void give(char **text, const char *name)
{
	free(*text);
	*text = strdup(name);
}

int main(int argc, char **argv)
{
	size_t count = sizeof names / sizeof *names;
	char error[512];

	if (argc != 3)
		return fprintf(stderr, "usage: hostile FROM TO\n"), 2;
	struct slope_profile *p = slope_profile_load(argv[1], error, sizeof error);

	if (!p)
		return fprintf(stderr, "hostile: %s\n", error), 1;
	for (size_t i = 1; i < p->function_count; i++) {
		struct slope_profile_function *f = &p->function[i];

		give(&f->name, names[i % count]);
		give(&f->raw_name, names[(i + 3) % count]);
		give(&f->file, names[(i + 5) % count]);
		if (i % 17 == 0) {
			free(f->name);
			f->name = long_name();
		}
	}
	for (size_t i = 1; i < p->module_count; i++)
		give(&p->module[i].path, names[i % count]);
	for (size_t i = 0; i < p->thread_count; i++)
		give(&p->thread[i].name, names[i % count]);
	for (size_t i = 0; p->program && p->program[i]; i++)
		give(&p->program[i], names[i % count]);
	give(&p->directory, names[0]);
	p->symbolized = true;
	if (!slope_profile_save(p, argv[2], error, sizeof error))
		return fprintf(stderr, "hostile: %s\n", error), 1;
	slope_profile_free(p);
	return 0;
}
