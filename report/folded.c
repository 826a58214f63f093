/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope export --format=folded`: a line "module;function cost" for what each
 * function costs itself, for flame graphs. Without calling contexts these are
 * no stacks: the module only groups. With them, a line for each context is
 * "unit;main;caller;function cost": the format has no place for what the numbers
 * are, so the first frame says it, and with it every picture. The lines add up
 * to the program's cost. ';' separates frames and becomes ':' in a name.
 */
#include <inttypes.h>

#include "report/functions.h"
#include "report/names.h"
#include "report/parts.h"
#include "report/callpaths.h"

static void put_frame(const char *name, char end, FILE *out)
{
	slope_names_put(name, ';', ':', out);
	fputc(end, out);
}

static void put_thread(const struct slope_profile_thread *t, bool process, FILE *out)
{
	char number[SLOPE_NAMES_THREAD_BYTES];

	fprintf(out, "thread %s", slope_names_thread(t, process, number));
	if (t->name && t->name[0]) {
		fputc(' ', out);
		slope_names_put(t->name, ';', ':', out);
	}
	fputc(';', out);
}

static void put_function(const struct slope_profile *p, uint32_t function, uint64_t self, FILE *out)
{
	const struct slope_profile_function *f = &p->function[function];
	const char *module = slope_profile_module_of(p, f);

	if (module[0])
		put_frame(module, ';', out);
	put_frame(f->name, ' ', out);
	fprintf(out, "%" PRIu64 "\n", self);
}

static void put_threads_apart(const struct slope_profile *p, uint32_t unit, FILE *out)
{
	bool process = slope_names_many_processes(p);

	for (size_t i = 0; i < p->row_count; i++) {
		const struct slope_profile_row *row = &p->row[i];

		if (!row->self[unit])
			continue;
		put_thread(&p->thread[row->thread], process, out);
		put_function(p, row->function, row->self[unit], out);
	}
}

/* The stack begins with the outermost caller here. */
static void put_stack(const struct slope_callpaths *s, size_t count, uint64_t self, FILE *out)
{
	for (size_t i = count; i-- > 0;)
		put_frame(slope_profile_name(&s->p->function[s->function[i]]), i ? ';' : ' ', out);
	fprintf(out, "%" PRIu64 "\n", self);
}

static bool put_stacks(const struct slope_profile *p, const struct slope_export_options *o, FILE *out)
{
	const char *unit = p->unit_name[o->unit] ? p->unit_name[o->unit] : "cost";
	bool process = slope_names_many_processes(p), ok = true;
	struct slope_callpaths s;

	slope_callpaths_init(&s, p, o);
	for (size_t i = 0; ok && i < p->context_count; i++) {
		if (!p->context[i].self[o->unit])
			continue;
		size_t count = slope_callpaths_of(&s, i);

		fprintf(out, "%s%s;", unit, slope_parts_unit(unit));
		if (o->threads)
			put_thread(&p->thread[p->context[i].thread], process, out);
		put_stack(&s, count, p->context[i].self[o->unit], out);
		ok = count != 0;
	}
	slope_callpaths_fini(&s);
	return ok;
}

bool slope_export_folded(const struct slope_profile *p, const struct slope_export_options *o, FILE *out)
{
	if (slope_callpaths_wanted(p, o))
		return put_stacks(p, o, out);
	if (o->threads) {
		put_threads_apart(p, o->unit, out);
		return true;
	}
	for (size_t i = 0; i < p->row_count;) {
		uint32_t function = p->row[i].function;
		uint64_t self = 0;

		for (; i < p->row_count && p->row[i].function == function; i++)
			self += p->row[i].self[o->unit];
		if (self)
			put_function(p, function, self, out);
	}
	return true;
}
