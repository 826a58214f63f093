/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "profile/build.h"

bool slope_build_room(void **array, size_t count, size_t size)
{
	bool full = count == 0 || (count >= 4 && (count & (count - 1)) == 0);
	size_t capacity = count ? count * 2 : 4;
	void *more;

	if (!full)
		return true;
	if (capacity > SIZE_MAX / size)
		return false;
	more = realloc(*array, capacity * size);
	if (more)
		*array = more;
	return more;
}

#define DEFINE_BUILD(kind)                                                     \
	struct slope_profile_##kind *slope_build_##kind(struct slope_profile *p)   \
	{                                                                      \
		void *array = p->kind;                                         \
									       \
		if (!slope_build_room(&array, p->kind##_count, sizeof *p->kind)) \
			return NULL;                                           \
		p->kind = array;                                               \
		return memset(&p->kind[p->kind##_count++], 0, sizeof *p->kind); \
	}

DEFINE_BUILD(module)
DEFINE_BUILD(function)
DEFINE_BUILD(thread)
DEFINE_BUILD(row)
DEFINE_BUILD(edge)
DEFINE_BUILD(site)
DEFINE_BUILD(context)
DEFINE_BUILD(place)
DEFINE_BUILD(variant)
DEFINE_BUILD(graph)
DEFINE_BUILD(path)
DEFINE_BUILD(repeat)
DEFINE_BUILD(path_size)
DEFINE_BUILD(lost)

bool slope_build_text(char **to, struct slope_text text)
{
	*to = NULL;
	if (!text.bytes)
		return true;
	*to = malloc(text.count + 1);
	if (!*to)
		return false;
	memcpy(*to, text.bytes, text.count);
	(*to)[text.count] = '\0';
	return true;
}

struct slope_profile *slope_build_profile(void)
{
	struct slope_profile *p = calloc(1, sizeof *p);
	struct slope_profile_module *none;

	if (!p)
		return NULL;
	none = slope_build_module(p);
	if (none && slope_build_text(&none->path, slope_text_of("")) && slope_build_function(p))
		return p;
	slope_profile_free(p);
	return NULL;
}

bool slope_build_problem(struct slope_profile *p, const char *format, ...)
{
	char **more = realloc(p->problem, (p->problem_count + 1) * sizeof *more);
	char sentence[512];
	va_list args;

	if (!more)
		return false;
	p->problem = more;
	va_start(args, format);
	vsnprintf(sentence, sizeof sentence, format, args);
	va_end(args);
	if (!slope_build_text(&more[p->problem_count], slope_text_of(sentence)))
		return false;
	p->problem_count++;
	return true;
}

char *slope_build_default_name(const struct slope_profile *p, size_t i)
{
	const struct slope_profile_function *f = &p->function[i];
	const char *path = p->module[f->module].path;
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *base = slash && slash[1] ? slash + 1 : path;
	char *name;
	int bytes;

	if (i == SLOPE_FN_ROOT)
		base = "(thread)";
	else if (f->raw_name && f->raw_name[0])
		base = f->raw_name;
	else {
		base = f->module && base && base[0] ? base : "(no file)";
		bytes = snprintf(NULL, 0, "%s+0x%" PRIx64, base, f->offset);
		name = malloc((size_t)bytes + 1);
		if (name)
			snprintf(name, (size_t)bytes + 1, "%s+0x%" PRIx64, base, f->offset);
		return name;
	}
	slope_build_text(&name, slope_text_of(base));
	return name;
}

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

int slope_build_compare_rows(const void *a, const void *b)
{
	const struct slope_profile_row *x = a, *y = b;

	return x->function != y->function ? compare(x->function, y->function) : compare(x->thread, y->thread);
}

int slope_build_compare_edges(const void *a, const void *b)
{
	const struct slope_profile_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return compare(x->caller, y->caller);
	return x->callee != y->callee ? compare(x->callee, y->callee) : compare(x->thread, y->thread);
}

int slope_build_compare_points(const void *a, const void *b)
{
	uint64_t x = ((const struct slope_point *)a)->n, y = ((const struct slope_point *)b)->n;

	return (x > y) - (x < y);
}

int slope_build_compare_sizes(const void *a, const void *b)
{
	uint64_t x = ((const struct slope_profile_size *)a)->n, y = ((const struct slope_profile_size *)b)->n;

	return (x > y) - (x < y);
}

/* By function, thread and callers; what has fewer of the same callers comes first, and a rest behind its like. */
int slope_build_compare_variants(const void *a, const void *b)
{
	const struct slope_profile_variant *x = a, *y = b;
	int order = slope_build_compare_rows(&x->row, &y->row);

	for (uint32_t i = 0; !order && i < x->callers && i < y->callers; i++)
		order = compare(x->caller[i], y->caller[i]);
	if (!order)
		order = compare(x->callers, y->callers);
	return order ? order : x->rest - y->rest;
}

int slope_build_compare_paths(const void *a, const void *b)
{
	const struct slope_profile_path *x = a, *y = b;

#define BY(field) if (x->field != y->field) return x->field < y->field ? -1 : 1;
	BY(graph) BY(thread) BY(context) BY(number) BY(stop) BY(stop_instructions)
	return 0;
}

int slope_build_compare_repeats(const void *a, const void *b)
{
	const struct slope_profile_repeat *x = a, *y = b;

	BY(graph) BY(thread) BY(block)
	return 0;
}

int slope_build_compare_path_sizes(const void *a, const void *b)
{
	const struct slope_profile_path_size *x = a, *y = b;

	BY(graph) BY(number) BY(thread) BY(n)
#undef BY
	return 0;
}

struct slope_profile_row *slope_build_find_row(const struct slope_profile *p, uint32_t function, uint32_t thread)
{
	struct slope_profile_row key = { .function = function, .thread = thread };

	return p->row_count ? bsearch(&key, p->row, p->row_count, sizeof key, slope_build_compare_rows) : NULL;
}

struct slope_profile_edge *slope_build_find_edge(const struct slope_profile *p, uint32_t caller, uint32_t callee,
						  uint32_t thread)
{
	struct slope_profile_edge key = { .caller = caller, .callee = callee, .thread = thread };

	return p->edge_count ? bsearch(&key, p->edge, p->edge_count, sizeof key, slope_build_compare_edges) : NULL;
}

int slope_profile_unit(const struct slope_profile *p, const char *name)
{
	for (uint32_t u = 0; u < p->units; u++)
		if (p->unit_name[u] && !strcmp(p->unit_name[u], name))
			return (int)u;
	return -1;
}

int slope_profile_path_metric(const struct slope_profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->path_metrics; i++)
		if (!strcmp(p->path_metric_name[i], name))
			return (int)i;
	return -1;
}

static void free_texts(char **text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(text[i]);
	free(text);
}

static void free_contexts(struct slope_profile *p)
{
	for (size_t i = 0; i < p->site_count; i++)
		free(p->site[i].file);
	for (size_t i = 0; i < p->variant_count; i++) {
		for (unsigned m = 0; m < SLOPE_METRICS; m++)
			free(p->variant[i].row.points[m].rows);
		free(p->variant[i].caller);
	}
	free(p->context);
	free(p->site);
	free(p->place);
	free(p->variant);
}

void slope_build_free_graph(struct slope_profile_graph *g)
{
	free(g->block);
	free(g->way);
	free(g->paths.edge);
	free(g->paths.first);
	free(g->paths.paths);
	free(g->paths.start);
	*g = (struct slope_profile_graph){ 0 };
}

static void free_paths(struct slope_profile *p)
{
	for (size_t i = 0; i < p->graph_count; i++)
		slope_build_free_graph(&p->graph[i]);
	for (unsigned i = 0; i < SLOPE_PATH_METRICS; i++)
		free(p->path_metric_name[i]);
	free(p->graph);
	free(p->path);
	free(p->repeat);
	free(p->path_size);
}

static void free_tables(struct slope_profile *p)
{
	for (size_t i = 0; i < p->module_count; i++)
		free(p->module[i].path);
	for (size_t i = 0; i < p->function_count; i++) {
		free(p->function[i].raw_name);
		free(p->function[i].name);
		free(p->function[i].file);
	}
	for (size_t i = 0; i < p->thread_count; i++)
		free(p->thread[i].name);
	for (size_t i = 0; i < p->row_count; i++)
		for (unsigned m = 0; m < SLOPE_METRICS; m++)
			free(p->row[i].points[m].rows);
	for (size_t i = 0; i < p->edge_count; i++)
		free(p->edge[i].sizes.row);
	for (size_t i = 0; i < p->lost_count; i++) {
		free(p->lost[i].name);
		free(p->lost[i].text);
	}
	free_contexts(p);
	free_paths(p);
	free(p->module);
	free(p->function);
	free(p->thread);
	free(p->row);
	free(p->edge);
	free(p->lost);
}

void slope_profile_free(struct slope_profile *p)
{
	if (!p)
		return;
	free_tables(p);
	for (char **argument = p->program; argument && *argument; argument++)
		free(*argument);
	free(p->program);
	for (unsigned u = 0; u < SLOPE_UNITS_MAX; u++)
		free(p->unit_name[u]);
	free(p->source);
	free(p->directory);
	free(p->created_by);
	free(p->ended);
	free_texts(p->problem, p->problem_count);
	free(p);
}

const char *slope_profile_module_of(const struct slope_profile *p, const struct slope_profile_function *f)
{
	const char *path = f->module < p->module_count ? p->module[f->module].path : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (f->module == SLOPE_MODULE_NONE || !path)
		return "";
	return slash && slash[1] ? slash + 1 : path;
}
