/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "profile/demangle.h"
#include "profile/elflines.h"
#include "profile/inlining.h"
#include "profile/linecache.h"
#include "profile/symbolize.h"

#define KEEP_ALL_SYMBOLS 10000u

/* A module's functions are the `count` entries of `list` from `first` on. */
struct group {
	size_t first, count;
};

struct plan {
	size_t *list;                /* functions, those of one module together */
	struct group *group;         /* by module */
	size_t busy;                 /* modules with functions */
};

static bool make_plan(struct plan *plan, const struct slope_profile *p)
{
	size_t next = 0;

	plan->list = calloc(p->function_count + 1, sizeof(*plan->list));
	plan->group = calloc(p->module_count + 1, sizeof(*plan->group));
	plan->busy = 0;
	if (!plan->list || !plan->group)
		return false;
	for (size_t i = 0; i < p->function_count; i++)
		plan->group[p->function[i].module].count++;
	for (size_t m = 0; m < p->module_count; m++) {
		plan->group[m].first = next;
		next += plan->group[m].count;
		plan->busy += m != SLOPE_MODULE_NONE && plan->group[m].count;
		plan->group[m].count = 0;
	}
	for (size_t i = 0; i < p->function_count; i++) {
		struct group *g = &plan->group[p->function[i].module];

		plan->list[g->first + g->count++] = i;
	}
	return true;
}

/* Takes `fresh` over; false when it is NULL. */
static bool replace(char **text, char *fresh)
{
	if (!fresh)
		return false;
	free(*text);
	*text = fresh;
	return true;
}

/* What can be said without the file. */
static bool name_unknown(struct slope_profile *p, size_t i)
{
	struct slope_profile_function *f = &p->function[i];
	bool known = i != SLOPE_FN_ROOT && f->raw_name && f->raw_name[0];

	return replace(&f->name, known ? slope_demangle(f->raw_name) : slope_build_default_name(p, i));
}

static bool name_by_symbol(struct slope_profile_function *f, const struct slope_symbol *s)
{
	char *shown = slope_demangle(s->name), *inside;

	if (shown && f->offset != s->start) {
		int bytes = asprintf(&inside, "%s+0x%" PRIx64, shown, f->offset - s->start);

		free(shown);
		shown = bytes < 0 ? NULL : inside;
	}
	return replace(&f->name, shown) && replace(&f->raw_name, strdup(s->name));
}

/* Lines of one module: those that are kept, and the file's own once one is missing. */
struct places {
	struct slope_linecache kept;
	struct slope_lines lines;
	bool opened, ok;
};

/* The function's file, kept from now on; NULL: none is known. */
static char *look_up(struct places *at, uint64_t offset, uint32_t *line)
{
	errno = 0;
	char *file = slope_lines_find(&at->lines, offset, line);

	if (file || errno != ENOMEM)
		slope_linecache_add(&at->kept, offset, file, *line);
	return file;
}

static void find_all(struct places *at, const struct slope_elf *e)
{
	for (size_t i = 0; i < e->count; i++) {
		uint32_t line = 0;

		free(look_up(at, e->symbol[i].start, &line));
	}
}

/*
 * The debug information is about to be read. All functions that a module of
 * usual size has are kept then: the next program needs others.
 */
static void open_lines(struct places *at, struct slope_elf *e)
{
	at->opened = true;
	at->ok = slope_lines_open(&at->lines, e);
	if (at->ok && at->kept.path && e->count <= KEEP_ALL_SYMBOLS)
		find_all(at, e);
}

static void place_function(struct slope_profile_function *f, struct places *at, struct slope_elf *e)
{
	const char *kept;
	uint32_t line = 0;

	if (slope_linecache_find(&at->kept, f->offset, &kept, &line)) {
		if (kept && replace(&f->file, strdup(kept)))
			f->line = line;
		return;
	}
	if (!at->opened)
		open_lines(at, e);
	if (replace(&f->file, look_up(at, f->offset, &line)))
		f->line = line;
}

/* A call is in front of the instruction that it returns to. */
static void place_sites(struct slope_profile *p, size_t module, struct places *at, struct slope_elf *e)
{
	for (size_t i = 0; i < p->site_count; i++) {
		struct slope_profile_site *site = &p->site[i];
		uint32_t line = 0;

		if (site->module != module)
			continue;
		if (!at->opened)
			open_lines(at, e);
		if (replace(&site->file, slope_lines_of_code(&at->lines, site->offset - 1, &line)))
			site->line = line;
	}
}

static bool name_module(struct slope_profile *p, size_t module, struct slope_elf *e, const size_t *list, size_t count,
			const char *cache_folder, struct slope_inlining *inlining)
{
	const struct slope_profile_module *m = &p->module[module];
	struct places at = { .ok = true };
	bool ok = true;

	slope_linecache_open(&at.kept, cache_folder, m->build_id, m->build_id_bytes, slope_elf_debug_file(e));
	for (size_t i = 0; i < count; i++) {
		struct slope_profile_function *f = &p->function[list[i]];
		const struct slope_symbol *s = slope_elf_symbol(e, f->offset);

		ok &= s ? name_by_symbol(f, s) : name_unknown(p, list[i]);
		place_function(f, &at, e);
	}
	place_sites(p, module, &at, e);
	ok &= slope_inlining_module(inlining, module, &at.lines);
	slope_lines_close(&at.lines);
	slope_linecache_close(&at.kept);
	return ok && at.ok;
}

/* Why a module's file is not used, for people. */
static bool tell(struct slope_profile *p, size_t module, enum slope_elf_status status, int error)
{
	const char *path = p->module[module].path;

	if (status == SLOPE_ELF_UNREADABLE)
		return slope_build_problem(p, "%s cannot be read (%s): its functions have no names or lines", path,
					   strerror(error));
	if (status == SLOPE_ELF_OTHER_BUILD)
		return slope_build_problem(p, "%s is not the build that ran (its build id differs): "
					      "its functions have no names or lines", path);
	if (status == SLOPE_ELF_FOREIGN)
		return slope_build_problem(p, "%s is not an ELF file: its functions have no names or lines", path);
	return false;
}

static bool symbolize_module(struct slope_profile *p, size_t module, const size_t *list, size_t count,
			     const struct slope_symbolize_options *o, struct slope_inlining *inlining)
{
	const struct slope_profile_module *m = &p->module[module];
	struct slope_elfshelf own = { 0 }, *shelf = o->shelf ? o->shelf : &own;
	struct slope_elf *elf;
	bool ok = true;

	/* Names in brackets, like [vdso], are no files. */
	if (module != SLOPE_MODULE_NONE && m->path && m->path[0] && m->path[0] != '[') {
		enum slope_elf_status status = slope_elfshelf_open(shelf, m->path, m->build_id, m->build_id_bytes, o->debug_path, &elf);

		if (status == SLOPE_ELF_OK) {
			ok = name_module(p, module, elf, list, count, o->cache_folder, inlining);
			slope_elfshelf_fini(&own);
			return ok;
		}
		ok = tell(p, module, status, errno);
	}
	for (size_t i = 0; i < count; i++)
		ok &= name_unknown(p, list[i]);
	return ok;
}

bool slope_profile_symbolize(struct slope_profile *p, const struct slope_symbolize_options *o)
{
	static const struct slope_symbolize_options defaults = { 0 };
	struct slope_inlining inlining;
	struct plan plan;
	size_t done = 0;

	if (p->symbolized)
		return true;
	o = o ? o : &defaults;
	bool ok = make_plan(&plan, p) & slope_inlining_begin(&inlining, p);

	for (size_t m = 0; ok && m <= p->module_count; m++) {
		const struct group *g = &plan.group[m];

		if (!g->count)
			continue;
		if (o->progress && m != SLOPE_MODULE_NONE)
			o->progress(o->progress_ctx, done++, plan.busy, p->module[m].path);
		ok = symbolize_module(p, m, plan.list + g->first, g->count, o, &inlining);
	}
	ok &= slope_inlining_end(&inlining, ok);
	free(plan.list);
	free(plan.group);
	p->symbolized = ok;
	return ok;
}
