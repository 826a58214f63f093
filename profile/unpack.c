/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "profile/host.h"
#include "profile/unpack.h"

#define UNIT_NAME_MAX 32u

bool slope_unpack_init(struct slope_unpack *u)
{
	*u = (struct slope_unpack){ .profile = slope_build_profile() };
	slope_arena_init(&u->arena, &slope_system_host);
	slope_map_init(&u->module, &u->arena);
	slope_map_init(&u->function, &u->arena);
	slope_map_init(&u->file, &u->arena);
	slope_map_init(&u->thread, &u->arena);
	slope_map_init(&u->site, &u->arena);
	slope_map_init(&u->context, &u->arena);
	slope_map_init(&u->variant, &u->arena);
	slope_map_init(&u->graph, &u->arena);
	if (!u->profile)
		return false;
	u->profile->exit_code = -1;
	u->profile->runs = 1;
	return true;
}

void slope_unpack_fini(struct slope_unpack *u)
{
	for (size_t i = 0; i < u->path_count; i++)
		free(u->path[i]);
	free(u->path);
	free(u->block);
	free(u->arc);
	free(u->graph_at);
	slope_arena_fini(&u->arena);
	slope_profile_free(u->profile);
	u->profile = NULL;
}

bool slope_unpack_place(struct slope_unpack *u, enum slope_section section, struct slope_map *map, uint64_t number, size_t position)
{
	bool fresh;
	uint64_t *value = slope_map_put(map, number, &fresh);

	if (!value)
		u->no_memory = true;
	else if (!fresh)
		u->flaw[section][SLOPE_FLAW_TWICE]++;
	else
		*value = position;
	return value && fresh;
}

/* Where a number of the file is now. False: nowhere. */
static bool find(const struct slope_map *map, uint32_t number, uint32_t *position)
{
	const uint64_t *value = slope_map_get(map, number);

	*position = value ? (uint32_t)*value : 0;
	return value;
}

/* Number 0 is known even when its record is missing. */
static bool find_place(const struct slope_map *map, uint32_t number, uint32_t *position)
{
	return find(map, number, position) || number == 0;
}

bool slope_unpack_find_module(const struct slope_unpack *u, uint32_t number, uint32_t *position)
{
	return find_place(&u->module, number, position);
}

bool slope_unpack_find_function(const struct slope_unpack *u, uint32_t number, uint32_t *position)
{
	return find_place(&u->function, number, position);
}

bool slope_unpack_find_thread(const struct slope_unpack *u, uint32_t number, uint32_t *position)
{
	return find(&u->thread, number, position);
}

static void keep_text(struct slope_unpack *u, char **to, struct slope_text text)
{
	free(*to);
	if (!slope_build_text(to, text))
		u->no_memory = true;
}

static bool same(struct slope_text text, const char *word)
{
	return text.bytes && text.count == strlen(word) && !memcmp(text.bytes, word, text.count);
}

static void add_argument(struct slope_unpack *u, struct slope_text text)
{
	struct slope_profile *p = u->profile;
	size_t entries = u->program_count ? u->program_count + 1 : 0;   /* with the NULL at the end */
	void *array = p->program;
	char *argument = NULL;

	if (!slope_build_text(&argument, text) || !slope_build_room(&array, entries, sizeof *p->program)) {
		u->no_memory = true;
		free(argument);
		return;
	}
	p->program = array;
	p->program[u->program_count++] = argument;
	p->program[u->program_count] = NULL;
}

bool slope_unpack_is_name(struct slope_text text)
{
	for (size_t i = 0; i < text.count; i++)
		if (!isalnum((unsigned char)text.bytes[i]) && !memchr("-_.:/", text.bytes[i], 5))
			return false;
	return text.count && text.count <= UNIT_NAME_MAX;
}

/* A unit's name is a key in JSON and a word in tables, scripts and other formats: short, plain, and the only one. */
static bool is_unit_name(const struct slope_profile *p, struct slope_text text)
{
	for (uint32_t u = 0; u < p->units; u++)
		if (p->unit_name[u] && same(text, p->unit_name[u]))
			return false;
	return slope_unpack_is_name(text);
}

static void add_unit(struct slope_unpack *u, struct slope_text text)
{
	struct slope_profile *p = u->profile;
	bool good = p->units < SLOPE_UNITS_MAX && is_unit_name(p, text);

	if (good)
		keep_text(u, &p->unit_name[p->units], text);
	else
		u->flaw[SLOPE_SECTION_META][SLOPE_FLAW_RANGE]++;
	p->units += p->units < SLOPE_UNITS_MAX;      /* one without a name gets the usual one of its place */
}

static void add_problem(struct slope_unpack *u, struct slope_text text)
{
	if (!slope_build_problem(u->profile, "%.*s", (int)text.count, text.bytes))
		u->no_memory = true;
}

static void take_text(struct slope_unpack *u, const struct slope_meta_entry *meta)
{
	struct slope_profile *p = u->profile;

	if (!meta->text.bytes)
		u->flaw[SLOPE_SECTION_META][SLOPE_FLAW_RANGE]++;
	else if (same(meta->key, SLOPE_FACT_ARGUMENT))
		add_argument(u, meta->text);
	else if (same(meta->key, SLOPE_FACT_UNIT))
		add_unit(u, meta->text);
	else if (same(meta->key, SLOPE_FACT_PROBLEM))
		add_problem(u, meta->text);
	else if (same(meta->key, SLOPE_FACT_PATH_METRIC))
		slope_unpack_path_metric(u, meta->text);
#define X(field, word) else if (same(meta->key, word)) keep_text(u, &p->field, meta->text);
	SLOPE_FACT_TEXTS(X)
#undef X
}

static void take_number(struct slope_unpack *u, const struct slope_meta_entry *meta)
{
	struct slope_profile *p = u->profile;

#define X(field, word, greatest)                                                \
	if (same(meta->key, word)) {                                            \
		if (meta->number <= greatest)                                   \
			p->field = meta->number;                                \
		else                                                            \
			u->flaw[SLOPE_SECTION_META][SLOPE_FLAW_RANGE]++;        \
	}
	SLOPE_FACT_NUMBERS(X)
	SLOPE_FACT_RARE_NUMBERS(X)
#undef X
}

/* Facts of a later version are passed over. */
static enum slope_decode take_meta(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_meta_entry meta;
	enum slope_decode status = slope_decode_meta(c, &meta);

	if (status != SLOPE_DECODE_OK)
		return status;
	if (meta.kind == SLOPE_META_TEXT)
		take_text(u, &meta);
	else if (meta.kind == SLOPE_META_NUMBER)
		take_number(u, &meta);
#define X(field, word)                                                          \
	else if (same(meta.key, word))                                          \
		p->field = meta.value;
	SLOPE_FACT_SIGNED(X)
#undef X
	return status;
}

/* Module 0 and function 0 are there from the beginning. */
static enum slope_decode take_module(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_module_entry entry;
	enum slope_decode status = slope_decode_module(c, &entry);

	if (status != SLOPE_DECODE_OK ||
	    !slope_unpack_place(u, SLOPE_SECTION_MODULES, &u->module, entry.number, entry.number ? p->module_count : 0))
		return status;
	struct slope_profile_module *m = entry.number ? slope_build_module(p) : &p->module[SLOPE_MODULE_NONE];

	if (!m) {
		u->no_memory = true;
		return status;
	}
	keep_text(u, &m->path, entry.path.bytes ? entry.path : slope_text_of(""));
	memcpy(m->build_id, entry.build_id, sizeof m->build_id);
	m->build_id_bytes = entry.build_id_bytes;
	m->start = entry.start;
	m->bytes = entry.bytes;
	return status;
}

static enum slope_decode take_function(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_function_entry entry;
	enum slope_decode status = slope_decode_function(c, &entry);

	if (status != SLOPE_DECODE_OK ||
	    !slope_unpack_place(u, SLOPE_SECTION_FUNCTIONS, &u->function, entry.number, entry.number ? p->function_count : 0))
		return status;
	struct slope_profile_function *f = entry.number ? slope_build_function(p) : &p->function[SLOPE_FN_ROOT];

	if (!f) {
		u->no_memory = true;
		return status;
	}
	if (!find_place(&u->module, entry.module, &f->module))
		u->flaw[SLOPE_SECTION_FUNCTIONS][SLOPE_FLAW_ORPHAN]++;
	f->flags = entry.flags;
	f->offset = entry.offset;
	keep_text(u, &f->raw_name, entry.raw_name);
	return status;
}

static enum slope_decode take_file(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_file_entry entry;
	enum slope_decode status = slope_decode_file(c, &entry);
	void *array = u->path;

	if (status != SLOPE_DECODE_OK || !slope_unpack_place(u, SLOPE_SECTION_FILES, &u->file, entry.number, u->path_count))
		return status;
	if (!slope_build_room(&array, u->path_count, sizeof *u->path)) {
		u->no_memory = true;
		return status;
	}
	u->path = array;
	u->path[u->path_count] = NULL;
	keep_text(u, &u->path[u->path_count++], entry.path);
	return status;
}

static enum slope_decode take_symbol(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_symbol_entry entry;
	enum slope_decode status = slope_decode_symbol(c, &entry);

	if (status != SLOPE_DECODE_OK)
		return status;
	uint64_t *file = entry.file ? slope_map_get(&u->file, entry.file) : NULL;
	uint32_t function;

	if (!slope_unpack_find_function(u, entry.function, &function)) {
		u->flaw[SLOPE_SECTION_SYMBOLS][SLOPE_FLAW_MISSING]++;
		return status;
	}
	struct slope_profile_function *f = &u->profile->function[function];

	if (entry.file && !file)
		u->flaw[SLOPE_SECTION_SYMBOLS][SLOPE_FLAW_ORPHAN]++;
	keep_text(u, &f->name, entry.name);
	keep_text(u, &f->file, file ? slope_text_of(u->path[*file]) : (struct slope_text){ 0 });
	f->line = entry.line;
	return status;
}

static enum slope_decode take_thread(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_thread_entry entry;
	enum slope_decode status = slope_decode_thread(c, &entry);

	if (status != SLOPE_DECODE_OK || !slope_unpack_place(u, SLOPE_SECTION_THREADS, &u->thread, entry.number, p->thread_count))
		return status;
	struct slope_profile_thread *t = slope_build_thread(p);

	if (!t) {
		u->no_memory = true;
		return status;
	}
	t->id = entry.id;
	t->parent = entry.parent;
	t->os_id = entry.os_id;
	t->process = entry.process;
	t->calls = entry.calls;
	t->max_depth = entry.max_depth;
	keep_text(u, &t->name, entry.name.bytes ? entry.name : slope_text_of(""));
	return status;
}

void slope_unpack_row(struct slope_profile_row *row, const struct slope_cost_entry *entry)
{
	row->calls = entry->calls;
	memcpy(row->total, entry->total, sizeof row->total);
	memcpy(row->self, entry->self, sizeof row->self);
	row->rms = entry->rms;
	row->trms = entry->trms;
	row->thread_input = entry->thread_input;
	row->external = entry->external;
	for (unsigned m = 0; m < SLOPE_METRICS; m++)
		row->points[m].bits = SLOPE_POINTS_EXACT;
}

static enum slope_decode take_record(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_cost_entry entry;
	enum slope_decode status = slope_decode_cost(c, &entry);

	if (status != SLOPE_DECODE_OK)
		return status;
	uint32_t function, thread;

	if (!slope_unpack_find_function(u, entry.function, &function) || !slope_unpack_find_thread(u, entry.thread, &thread)) {
		u->flaw[SLOPE_SECTION_RECORDS][SLOPE_FLAW_MISSING]++;
		return status;
	}
	struct slope_profile_row *row = slope_build_row(u->profile);

	if (!row) {
		u->no_memory = true;
		return status;
	}
	row->function = function;
	row->thread = thread;
	slope_unpack_row(row, &entry);
	return status;
}

static enum slope_decode take_edge(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_edge_entry entry;
	enum slope_decode status = slope_decode_edge(c, &entry);

	if (status != SLOPE_DECODE_OK)
		return status;
	uint32_t caller, callee, thread;

	if (!slope_unpack_find_function(u, entry.caller, &caller) || !slope_unpack_find_function(u, entry.callee, &callee) ||
	    !slope_unpack_find_thread(u, entry.thread, &thread)) {
		u->flaw[SLOPE_SECTION_EDGES][SLOPE_FLAW_MISSING]++;
		return status;
	}
	struct slope_profile_edge *edge = slope_build_edge(u->profile);

	if (!edge) {
		u->no_memory = true;
		return status;
	}
	edge->caller = caller;
	edge->callee = callee;
	edge->thread = thread;
	edge->calls = entry.calls;
	memcpy(edge->cost, entry.cost, sizeof edge->cost);
	edge->sizes.bits = SLOPE_POINTS_EXACT;
	return status;
}

/* Losses of one name add up. */
static enum slope_decode take_lost(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_profile *p = u->profile;
	struct slope_lost_entry entry;
	enum slope_decode status = slope_decode_lost(c, &entry);

	if (status != SLOPE_DECODE_OK)
		return status;
	for (size_t i = 0; i < p->lost_count; i++)
		if (same(entry.name, p->lost[i].name)) {
			p->lost[i].count += entry.count;
			return status;
		}
	struct slope_profile_lost *lost = slope_build_lost(p);

	if (!lost) {
		u->no_memory = true;
		return status;
	}
	keep_text(u, &lost->name, entry.name.bytes ? entry.name : slope_text_of(""));
	keep_text(u, &lost->text, entry.text.bytes ? entry.text : slope_text_of(""));
	lost->count = entry.count;
	return status;
}

static enum slope_decode take_end(struct slope_unpack *u, struct slope_cursor *c)
{
	struct slope_end_entry entry;
	enum slope_decode status = slope_decode_end(c, &entry);
	enum slope_section section;

	if (status != SLOPE_DECODE_OK)
		return status;
	section = slope_section_of(entry.tag);
	if (section != SLOPE_SECTION_COUNT) {
		u->chunks_said[section] = entry.chunks;
		u->records_said[section] = entry.records;
	}
	return status;
}

/* The first chunk with costs says how many units there are; the facts give them names. */
static void know_units(struct slope_unpack *u, uint32_t units)
{
	u->units_known = true;
	u->flaw[SLOPE_SECTION_META][SLOPE_FLAW_RANGE] += u->profile->units && u->profile->units != units;
	u->profile->units = units;
}

/* Its records are tables, which count their rows. */
static bool is_table(enum slope_section section)
{
	return section == SLOPE_SECTION_POINTS || section == SLOPE_SECTION_SIZES || section == SLOPE_SECTION_VARIANT_POINTS ||
	       section == SLOPE_SECTION_BLOCKS || section == SLOPE_SECTION_ARCS;
}

void slope_unpack_chunk(struct slope_unpack *u, enum slope_section section, const void *payload, size_t bytes)
{
	static enum slope_decode (*const take[])(struct slope_unpack *u, struct slope_cursor *c) = {
		[SLOPE_SECTION_META] = take_meta, [SLOPE_SECTION_MODULES] = take_module,
		[SLOPE_SECTION_FUNCTIONS] = take_function, [SLOPE_SECTION_FILES] = take_file,
		[SLOPE_SECTION_SYMBOLS] = take_symbol, [SLOPE_SECTION_THREADS] = take_thread,
		[SLOPE_SECTION_RECORDS] = take_record, [SLOPE_SECTION_POINTS] = slope_unpack_points,
		[SLOPE_SECTION_EDGES] = take_edge, [SLOPE_SECTION_SIZES] = slope_unpack_sizes,
		[SLOPE_SECTION_SITES] = slope_unpack_site, [SLOPE_SECTION_CONTEXTS] = slope_unpack_context,
		[SLOPE_SECTION_PLACES] = slope_unpack_place_of_cost,
		[SLOPE_SECTION_VARIANTS] = slope_unpack_variant, [SLOPE_SECTION_VARIANT_POINTS] = slope_unpack_variant_points,
		[SLOPE_SECTION_GRAPHS] = slope_unpack_graph, [SLOPE_SECTION_BLOCKS] = slope_unpack_blocks,
		[SLOPE_SECTION_ARCS] = slope_unpack_arcs, [SLOPE_SECTION_PATHS] = slope_unpack_path,
		[SLOPE_SECTION_REPEATS] = slope_unpack_repeats, [SLOPE_SECTION_PATH_SIZES] = slope_unpack_path_size,
		[SLOPE_SECTION_LOST] = take_lost, [SLOPE_SECTION_END] = take_end,
	};
	struct slope_cursor c;
	enum slope_decode status = slope_cursor_init(&c, section, payload, bytes);

	u->chunks[section]++;
	u->saw_end |= section == SLOPE_SECTION_END;
	if (c.units && !u->units_known)
		know_units(u, c.units);
	if (c.units && c.units != u->profile->units) {
		u->flaw[section][SLOPE_FLAW_UNITS]++;
		return;
	}
	while (status == SLOPE_DECODE_OK && !u->no_memory) {
		status = take[section](u, &c);
		u->records[section] += status == SLOPE_DECODE_OK && !is_table(section);
	}
	u->flaw[section][SLOPE_FLAW_MALFORMED] += status != SLOPE_DECODE_END && !u->no_memory;
}
