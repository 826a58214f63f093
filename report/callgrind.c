/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope export --format=callgrind`. Costs have no lines of their own in a
 * profile: what a function costs itself stands at its first line, and so do
 * its calls. Threads are added up. A recursive call adds to the number of
 * calls, not to the cost, so no inclusive cost exceeds the total.
 *
 * Files below the program's directory are named relative to it:
 * callgrind_annotate cuts its own directory from callers' files but not from
 * callees', and would take one function for two.
 *
 * With contexts, each is a function of its own, named as callgrind itself names
 * them: f'caller'caller.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/functions.h"
#include "report/callpaths.h"

struct callgrind {
	const struct slope_profile *p;
	FILE *out;
	bool *module_named, *function_named;
	uint32_t *file_of;           /* by function: number of its file's name */
	bool *file_named;            /* by that number */
	struct slope_profile_edge *edge;  /* added up over threads, sorted by caller, callee */
	size_t edge_count;
};

static int by_edge(const void *a, const void *b)
{
	const struct slope_profile_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller > y->caller ? 1 : -1;
	return (x->callee > y->callee) - (x->callee < y->callee);
}

static bool add_up_edges(struct callgrind *c)
{
	const struct slope_profile *p = c->p;

	c->edge = calloc(p->edge_count + 1, sizeof(*c->edge));
	if (!c->edge)
		return false;
	if (p->edge_count) {
		memcpy(c->edge, p->edge, p->edge_count * sizeof(*c->edge));
		qsort(c->edge, p->edge_count, sizeof(*c->edge), by_edge);
	}
	for (size_t i = 0; i < p->edge_count; i++) {
		struct slope_profile_edge *last = c->edge_count ? &c->edge[c->edge_count - 1] : NULL;

		if (!last || by_edge(last, &c->edge[i])) {
			c->edge[c->edge_count++] = c->edge[i];
			continue;
		}
		last->calls += c->edge[i].calls;
		for (uint32_t u = 0; u < p->units; u++)
			last->cost[u] += c->edge[i].cost[u];
	}
	return true;
}

struct file_name {
	const char *name;
	uint32_t function;
};

static int by_file(const void *a, const void *b)
{
	return strcmp(((const struct file_name *)a)->name, ((const struct file_name *)b)->name);
}

/* Equal names get one number; it is the number of one of their functions. */
static bool number_files(struct callgrind *c)
{
	size_t count = c->p->function_count;
	struct file_name *names = calloc(count + 1, sizeof(*names));

	if (!names)
		return false;
	for (size_t i = 0; i < count; i++) {
		const char *file = slope_report_file(c->p, &c->p->function[i]);

		names[i] = (struct file_name){ file ? file : "???", (uint32_t)i };
	}
	qsort(names, count, sizeof(*names), by_file);
	for (size_t i = 0; i < count; i++)
		c->file_of[names[i].function] =
			i && !by_file(&names[i], &names[i - 1]) ? c->file_of[names[i - 1].function] : names[i].function;
	free(names);
	return true;
}

/* A name must stay on its line. */
static void put_text(const char *text, FILE *out)
{
	for (; *text; text++)
		fputc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
}

/* "key=(number) name" the first time, "key=(number)" from then on. */
static void put_name(struct callgrind *c, const char *key, uint32_t number, bool *named, const char *name)
{
	fprintf(c->out, "%s=(%" PRIu32 ")", key, number + 1);
	if (!named[number]) {
		fputc(' ', c->out);
		put_text(name && name[0] ? name : "???", c->out);
	}
	named[number] = true;
	fputc('\n', c->out);
}

static void put_place(struct callgrind *c, uint32_t function, const char *object, const char *file, const char *name)
{
	const struct slope_profile_function *f = &c->p->function[function];
	uint32_t module = f->module;

	put_name(c, object, module, c->module_named, module < c->p->module_count ? c->p->module[module].path : NULL);
	put_name(c, file, c->file_of[function], c->file_named, slope_report_file(c->p, f));
	put_name(c, name, function, c->function_named, f->name);
}

static void put_costs(struct callgrind *c, const uint64_t *cost)
{
	for (uint32_t u = 0; u < c->p->units; u++)
		fprintf(c->out, " %" PRIu64, cost[u]);
	fputc('\n', c->out);
}

static void put_call(struct callgrind *c, const struct slope_profile_edge *e)
{
	put_place(c, e->callee, "cob", "cfi", "cfn");
	fprintf(c->out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32, e->calls, c->p->function[e->callee].line,
		c->p->function[e->caller].line);
	put_costs(c, e->cost);
}

/* One function: its own cost, which is that of `count` rows, and its calls. */
static void put_function(struct callgrind *c, uint32_t function, const struct slope_profile_row *row, size_t count,
			 size_t *next_edge)
{
	uint64_t self[SLOPE_UNITS_MAX] = { 0 };

	for (size_t i = 0; i < count; i++)
		for (uint32_t u = 0; u < c->p->units; u++)
			self[u] += row[i].self[u];
	fputc('\n', c->out);
	put_place(c, function, "ob", "fl", "fn");
	fprintf(c->out, "%" PRIu32, c->p->function[function].line);
	put_costs(c, self);
	while (*next_edge < c->edge_count && c->edge[*next_edge].caller < function)
		++*next_edge;
	for (; *next_edge < c->edge_count && c->edge[*next_edge].caller == function; ++*next_edge)
		put_call(c, &c->edge[*next_edge]);
}

static void put_head(struct callgrind *c)
{
	const struct slope_profile *p = c->p;

	fprintf(c->out, "# callgrind format\nversion: 1\ncreator: slope");
	if (p->created_by && p->created_by[0]) {
		fputs(" (", c->out);
		put_text(p->created_by, c->out);
		fputc(')', c->out);
	}
	fprintf(c->out, "\npid: %" PRIu64 "\ncmd:", p->process);
	for (char **word = p->program; word && *word; word++) {
		fputc(' ', c->out);
		put_text(*word, c->out);
	}
	fputs("\npart: 1\n\ndesc: Trigger: Program termination\n\npositions: line\nevents:", c->out);
	/* Viewers know instructions as Ir. */
	for (uint32_t u = 0; u < p->units; u++)
		fprintf(c->out, " %s", !p->unit_name[u] ? "cost" : !strcmp(p->unit_name[u], "ir") ? "Ir" : p->unit_name[u]);
	fputc('\n', c->out);
}

static void put_totals(struct callgrind *c, const char *key)
{
	uint64_t sum[SLOPE_UNITS_MAX] = { 0 };

	for (size_t i = 0; i < c->p->row_count; i++)
		for (uint32_t u = 0; u < c->p->units; u++)
			sum[u] += c->p->row[i].self[u];
	fprintf(c->out, "%s:", key);
	put_costs(c, sum);
}

static void put_all(struct callgrind *c)
{
	const struct slope_profile *p = c->p;
	size_t next_edge = 0;

	put_head(c);
	put_totals(c, "summary");
	for (size_t i = 0, next; i < p->row_count; i = next) {
		for (next = i + 1; next < p->row_count && p->row[next].function == p->row[i].function; next++)
			;
		put_function(c, p->row[i].function, p->row + i, next - i, &next_edge);
	}
	fputc('\n', c->out);
	put_totals(c, "totals");
}

static bool put_functions(const struct slope_profile *p, FILE *out)
{
	struct callgrind c = {
		.p = p, .out = out,
		.module_named = calloc(p->module_count + 1, sizeof(bool)),
		.function_named = calloc(p->function_count + 1, sizeof(bool)),
		.file_named = calloc(p->function_count + 1, sizeof(bool)),
		.file_of = calloc(p->function_count + 1, sizeof(uint32_t)),
	};
	bool ok = c.module_named && c.function_named && c.file_named && c.file_of && number_files(&c) && add_up_edges(&c);

	if (ok)
		put_all(&c);
	free(c.module_named);
	free(c.function_named);
	free(c.file_named);
	free(c.file_of);
	free(c.edge);
	return ok;
}

bool slope_export_callgrind(const struct slope_profile *p, const struct slope_export_options *o, FILE *out)
{
	if (!slope_callpaths_wanted(p, o) || p->context_k)
		return put_functions(p, out);
	struct slope_profile *separated = slope_callpaths_separate(p, o->k);
	bool ok = separated && put_functions(separated, out);

	slope_callpaths_unite(separated);
	return ok;
}
