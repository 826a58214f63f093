/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/map.h"
#include "format/encode.h"
#include "profile/build.h"
#include "profile/host.h"
#include "profile/save_paths.h"

/* One number per different source file, from 1 on; 0 for none. */
struct files {
	struct slope_arena arena;
	struct slope_map by_hash;        /* -> number; a second text with the same hash takes the next key */
	const char **path;
	size_t count;
	uint32_t *of_function, *of_site;
};

static uint64_t hash(const char *text)
{
	uint64_t h = 0;

	for (; *text; text++)
		h = slope_mix64(h ^ (unsigned char)*text) + 1;
	return h;
}

static bool number_file(struct files *files, const char *path, uint32_t *number)
{
	uint64_t key = hash(path);
	bool fresh;

	for (;; key++) {
		uint64_t *value = slope_map_put(&files->by_hash, key, &fresh);
		void *array = files->path;

		if (!value)
			return false;
		if (!fresh && strcmp(files->path[*value - 1], path))
			continue;
		if (fresh) {
			if (!slope_build_room(&array, files->count, sizeof *files->path))
				return false;
			files->path = array;
			files->path[files->count] = path;
			*value = ++files->count;
		}
		*number = (uint32_t)*value;
		return true;
	}
}

static bool files_init(struct files *files, const struct slope_profile *p)
{
	*files = (struct files){ .of_function = calloc(p->function_count + 1, sizeof *files->of_function),
				 .of_site = calloc(p->site_count + 1, sizeof *files->of_site) };
	slope_arena_init(&files->arena, &slope_system_host);
	slope_map_init(&files->by_hash, &files->arena);
	if (!files->of_function || !files->of_site)
		return false;
	for (size_t i = 0; i < p->function_count; i++)
		if (p->function[i].file && !number_file(files, p->function[i].file, &files->of_function[i]))
			return false;
	for (size_t i = 0; i < p->site_count; i++)
		if (p->site[i].file && !number_file(files, p->site[i].file, &files->of_site[i]))
			return false;
	return true;
}

static void files_fini(struct files *files)
{
	free(files->of_function);
	free(files->of_site);
	free(files->path);
	slope_arena_fini(&files->arena);
}

static void save_facts(struct slope_encoder *e, const struct slope_profile *p)
{
	struct slope_facts facts = {
#define X(field, key) .field = p->field,
		SLOPE_FACT_TEXTS(X)
		SLOPE_FACT_SIGNED(X)
#undef X
#define X(field, key, greatest) .field = p->field,
		SLOPE_FACT_NUMBERS(X)
		SLOPE_FACT_RARE_NUMBERS(X)
#undef X
		.units = p->units, .path_metrics = p->path_metrics,
		.argument = (const char *const *)p->program,
		.problem = (const char *const *)p->problem, .problem_count = p->problem_count,
	};

	while (p->program && p->program[facts.argument_count])
		facts.argument_count++;
	for (uint32_t u = 0; u < p->units; u++)
		facts.unit_name[u] = p->unit_name[u];
	for (uint32_t i = 0; i < p->path_metrics; i++)
		facts.path_metric_name[i] = p->path_metric_name[i];
	slope_encode_facts(e, &facts);
}

static void save_losses(struct slope_encoder *e, const struct slope_profile *p)
{
	for (size_t i = 0; i < p->lost_count; i++)
		slope_encode_lost(e, &(struct slope_lost_entry){
			.name = slope_text_of(p->lost[i].name), .text = slope_text_of(p->lost[i].text),
			.count = p->lost[i].count });
}

static void save_modules(struct slope_encoder *e, const struct slope_profile *p)
{
	for (size_t i = 0; i < p->module_count; i++) {
		const struct slope_profile_module *m = &p->module[i];
		struct slope_module_entry entry = {
			.number = (uint32_t)i, .path = slope_text_of(m->path), .build_id_bytes = m->build_id_bytes,
			.start = m->start, .bytes = m->bytes,
		};

		memcpy(entry.build_id, m->build_id, sizeof entry.build_id);
		slope_encode_module(e, &entry);
	}
}

static void save_functions(struct slope_encoder *e, const struct slope_profile *p)
{
	for (size_t i = 0; i < p->function_count; i++) {
		const struct slope_profile_function *f = &p->function[i];

		slope_encode_function(e, &(struct slope_function_entry){
			.number = (uint32_t)i, .module = f->module, .flags = f->flags, .offset = f->offset,
			.raw_name = slope_text_of(f->raw_name) });
	}
}

/* A name that loading would find by itself takes no room. */
static bool save_symbols(struct slope_encoder *e, const struct slope_profile *p, const struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		slope_encode_file(e, &(struct slope_file_entry){
			.number = (uint32_t)i + 1, .path = slope_text_of(files->path[i]) });
	for (size_t i = 0; i < p->function_count; i++) {
		const struct slope_profile_function *f = &p->function[i];
		char *usual = slope_build_default_name(p, i);
		struct slope_symbol_entry entry = { .function = (uint32_t)i, .file = files->of_function[i], .line = f->line };

		if (!usual)
			return false;
		if (f->name && strcmp(f->name, usual))
			entry.name = slope_text_of(f->name);
		if (entry.name.bytes || entry.file || entry.line)
			slope_encode_symbol(e, &entry);
		free(usual);
	}
	return true;
}

static void save_threads(struct slope_encoder *e, const struct slope_profile *p)
{
	for (size_t i = 0; i < p->thread_count; i++) {
		const struct slope_profile_thread *t = &p->thread[i];

		slope_encode_thread(e, &(struct slope_thread_entry){
			.number = (uint32_t)i, .id = t->id, .parent = t->parent, .os_id = t->os_id, .process = t->process,
			.calls = t->calls, .max_depth = t->max_depth, .name = slope_text_of(t->name) });
	}
}

static struct slope_cost_entry cost_entry(const struct slope_profile_row *row)
{
	struct slope_cost_entry entry = {
		.function = row->function, .thread = row->thread, .calls = row->calls, .rms = row->rms,
		.trms = row->trms, .thread_input = row->thread_input, .external = row->external,
	};

	memcpy(entry.total, row->total, sizeof entry.total);
	memcpy(entry.self, row->self, sizeof entry.self);
	return entry;
}

static void save_rows(struct slope_encoder *e, const struct slope_profile *p)
{
	for (size_t i = 0; i < p->row_count; i++) {
		struct slope_cost_entry entry = cost_entry(&p->row[i]);

		slope_encode_cost(e, &entry);
	}
}

typedef void begin_table(struct slope_encoder *e, const struct slope_points_entry *points);

/* `number`: the function's, or the variant's. */
static void save_tables(struct slope_encoder *e, const struct slope_profile *p, const struct slope_profile_row *row,
			uint32_t number, begin_table *begin)
{
	for (uint32_t m = 0; m < SLOPE_METRICS; m++) {
		const struct slope_profile_points *points = &row->points[m];

		if (!points->count)
			continue;
		begin(e, &(struct slope_points_entry){
			.metric = m, .function = number, .thread = row->thread, .bits = points->bits });
		for (size_t i = 0; i < points->count; i++)
			slope_encode_point_row(e, slope_profile_point(p, points, i));
		slope_encode_points_end(e);
	}
}

static void save_edges(struct slope_encoder *e, const struct slope_profile *p)
{
	for (size_t i = 0; i < p->edge_count; i++) {
		const struct slope_profile_edge *edge = &p->edge[i];
		struct slope_edge_entry entry = {
			.thread = edge->thread, .caller = edge->caller, .callee = edge->callee, .calls = edge->calls,
		};

		memcpy(entry.cost, edge->cost, sizeof entry.cost);
		slope_encode_edge(e, &entry);
	}
}

static void save_sizes(struct slope_encoder *e, const struct slope_profile_edge *edge)
{
	const struct slope_profile_sizes *sizes = &edge->sizes;

	if (!sizes->count)
		return;
	slope_encode_sizes_begin(e, &(struct slope_sizes_entry){
		.thread = edge->thread, .caller = edge->caller, .callee = edge->callee, .bits = sizes->bits });
	for (size_t i = 0; i < sizes->count; i++) {
		const struct slope_profile_size *row = &sizes->row[i];
		struct slope_size_entry entry = { .n = row->n, .activations = row->activations, .calls = row->calls };

		memcpy(entry.cost, row->cost, sizeof entry.cost);
		slope_encode_size_row(e, &entry);
	}
	slope_encode_sizes_end(e);
}

static void save_sites(struct slope_encoder *e, const struct slope_profile *p, const struct files *files)
{
	for (size_t i = 0; i < p->site_count; i++)
		slope_encode_site(e, &(struct slope_site_entry){
			.number = (uint32_t)i, .module = p->site[i].module, .offset = p->site[i].offset,
			.file = files->of_site[i], .line = p->site[i].line });
}

static void save_contexts(struct slope_encoder *e, const struct slope_profile *p)
{
	for (size_t i = 0; i < p->context_count; i++) {
		const struct slope_profile_context *context = &p->context[i];
		struct slope_context_entry entry = {
			.thread = context->thread, .number = (uint32_t)i, .parent = context->parent,
			.function = context->function, .site = context->site, .calls = context->calls,
		};

		memcpy(entry.total, context->total, sizeof entry.total);
		memcpy(entry.self, context->self, sizeof entry.self);
		slope_encode_context(e, &entry);
	}
}

static void save_places(struct slope_encoder *e, const struct slope_profile *p)
{
	for (size_t i = 0; i < p->place_count; i++) {
		const struct slope_profile_place *place = &p->place[i];
		struct slope_place_entry entry = { .thread = p->context[place->context].thread, .context = place->context,
						   .module = place->module, .offset = place->offset };

		memcpy(entry.self, place->self, sizeof entry.self);
		slope_encode_place(e, &entry);
	}
}

static void save_variants(struct slope_encoder *e, const struct slope_profile *p)
{
	for (size_t i = 0; i < p->variant_count; i++) {
		const struct slope_profile_variant *variant = &p->variant[i];
		struct slope_variant_entry entry = {
			.number = (uint32_t)i, .rest = variant->rest, .callers = variant->callers, .cost = cost_entry(&variant->row),
		};

		memcpy(entry.caller, variant->caller, variant->callers * sizeof *entry.caller);
		slope_encode_variant(e, &entry);
	}
}

/* The writer: a file descriptor and the errno of its first failure. */
struct output {
	int fd;
	int error;
};

static bool write_bytes(void *ctx, const void *bytes, size_t count)
{
	struct output *out = ctx;
	const char *at = bytes;

	while (count) {
		ssize_t put = write(out->fd, at, count);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			out->error = put < 0 ? errno : ENOSPC;
			return false;
		}
		at += put;
		count -= (size_t)put;
	}
	return true;
}

bool slope_profile_encode(const struct slope_profile *p, bool (*write)(void *ctx, const void *bytes, size_t count), void *ctx)
{
	struct slope_encoder *e = malloc(sizeof *e);
	struct files files;
	bool good = false;

	if (!files_init(&files, p) || !e)
		goto free_files;
	e->writer = (struct slope_writer){ write, ctx };
	slope_encode_begin(e, p->units);
	save_facts(e, p);
	save_losses(e, p);
	save_modules(e, p);
	save_functions(e, p);
	if (!save_symbols(e, p, &files))
		goto free_files;
	save_threads(e, p);
	save_rows(e, p);
	for (size_t i = 0; i < p->row_count; i++)
		save_tables(e, p, &p->row[i], p->row[i].function, slope_encode_points_begin);
	save_edges(e, p);
	for (size_t i = 0; i < p->edge_count; i++)
		save_sizes(e, &p->edge[i]);
	save_sites(e, p, &files);
	save_contexts(e, p);
	save_places(e, p);
	save_variants(e, p);
	for (size_t i = 0; i < p->variant_count; i++)
		save_tables(e, p, &p->variant[i].row, (uint32_t)i, slope_encode_variant_points_begin);
	slope_save_paths(e, p);
	good = slope_encode_end(e);
free_files:
	files_fini(&files);
	free(e);
	return good;
}

/* 0, or the errno of what failed. */
static int write_profile(const struct slope_profile *p, int fd)
{
	struct output out = { .fd = fd };

	return slope_profile_encode(p, write_bytes, &out) ? 0 : out.error ? out.error : ENOMEM;
}

/* Opens, writes and closes; a file that fails is removed unless it was there before. */
static int write_file(const struct slope_profile *p, const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
	int error;

	if (fd < 0)
		return errno;
	error = write_profile(p, fd);
	if (close(fd) < 0 && !error)
		error = errno;
	if (error && flags & O_EXCL)
		unlink(path);
	return error;
}

static int write_beside(const struct slope_profile *p, const char *path)
{
	size_t bytes = strlen(path) + 32;
	char *beside = malloc(bytes);
	int error;

	if (!beside)
		return ENOMEM;
	snprintf(beside, bytes, "%s.tmp.%ld", path, (long)getpid());
	unlink(beside);
	error = write_file(p, beside, O_CREAT | O_EXCL);
	if (!error && rename(beside, path) < 0) {
		error = errno;
		unlink(beside);
	}
	free(beside);
	return error;
}

/* A link is followed, so that it stays one; what is no plain file (a pipe, /dev/stdout) is written as it is. */
bool slope_profile_save(const struct slope_profile *p, const char *path, char *error, size_t error_bytes)
{
	char *real = realpath(path, NULL);
	const char *target = real ? real : path;
	struct stat st;
	int failed;

	if (stat(target, &st) == 0 && !S_ISREG(st.st_mode))
		failed = S_ISDIR(st.st_mode) ? EISDIR : write_file(p, target, 0);
	else
		failed = write_beside(p, target);
	if (failed)
		snprintf(error, error_bytes, "cannot write %s: %s", path, strerror(failed));
	free(real);
	return !failed;
}
