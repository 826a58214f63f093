/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rules MODULE: reads places and the rules that hold there, as the script of
 * the same name has them from readelf, and says where ours are others.
 *   OFFSET END rax..: lines of "offset-hex kind base offset rbx rbp r12 r13 r14 r15"
 * kind is f (register and offset), e (the end of the stack) or x (anything else); saved registers are
 * distances from the CFA, 0: not saved.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "sources/sampler/unwind_table.h"

#define SHOWN 5

struct want {
	uint64_t offset;
	char kind;
	int base, distance, save[SLOPE_RECIPE_SAVED];
};

static int agrees(const struct want *w, const struct slope_recipe *r)
{
	if (w->kind == 'e')
		return r->kind == SLOPE_RECIPE_END;
	if (w->kind != 'f')
		return 1;                /* ours may know more, or less */
	if (r->kind == SLOPE_RECIPE_SIGNAL)
		return 1;
	if (r->kind != SLOPE_RECIPE_FRAME || r->base != w->base || r->offset != w->distance)
		return 0;
	for (unsigned i = 0; i < SLOPE_RECIPE_SAVED; i++)
		if (w->save[i] >= 0 && r->save[i] != w->save[i] / 8)
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	void *handle = argc > 1 ? dlopen(argv[1], RTLD_LAZY) : NULL;
	struct link_map *map;
	struct dl_find_object found;
	struct slope_unwind_scratch scratch;
	struct want w;
	unsigned long looked = 0, wrong = 0;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || _dl_find_object((void *)map->l_ld, &found) != 0) {
		fprintf(stderr, "rules: %s\n", argc > 1 ? dlerror() : "which module?");
		return 2;
	}
	while (scanf("%" SCNx64 " %c %d %d %d %d %d %d %d %d", &w.offset, &w.kind, &w.base, &w.distance, &w.save[0], &w.save[1],
		     &w.save[2], &w.save[3], &w.save[4], &w.save[5]) == 10) {
		struct slope_recipe r = { 0 };

		slope_unwind_recipe(found.dlfo_eh_frame, map->l_addr + w.offset, &r, &scratch);
		looked++;
		if (!agrees(&w, &r) && wrong++ < SHOWN)
			printf("at %#" PRIx64 ": %c r%d%+d, ours kind %d r%d%+d\n", w.offset, w.kind, w.base, w.distance, r.kind, r.base,
			       r.offset);
	}
	if (wrong || !looked)
		printf("%lu of %lu rules differ\n", wrong, looked);
	return wrong || !looked;
}
