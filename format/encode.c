/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/encode_parts.h"

#define TEXT_ROOM (SLOPE_NUMBER_ROOM + SLOPE_TEXT_MAX)
#define COST_ROOM (SLOPE_UNITS_MAX * SLOPE_NUMBER_ROOM)
#define POINT_ROOM (1u + 5 * SLOPE_NUMBER_ROOM + SLOPE_UNITS_MAX * 5 * SLOPE_NUMBER_ROOM)
#define TABLE_HEAD_ROOM (4u * SLOPE_NUMBER_ROOM)
#define TABLE_END_ROOM 1u

static void put_fixed(unsigned char *to, uint32_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

void slope_put_byte(struct slope_encoder *e, unsigned value)
{
	e->chunk[e->used++] = (unsigned char)value;
}

void slope_put(struct slope_encoder *e, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		slope_put_byte(e, (unsigned)value | 0x80);
	slope_put_byte(e, (unsigned)value);
}

void slope_put_signed(struct slope_encoder *e, int64_t value)
{
	slope_put(e, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* Bytes of a text that may be stored: never the half of a UTF-8 character. */
static size_t fitting(const struct slope_text *text)
{
	size_t count = text->count;

	if (count <= SLOPE_TEXT_MAX)
		return count;
	count = SLOPE_TEXT_MAX;
	while (count > SLOPE_TEXT_MAX - 4 && ((unsigned char)text->bytes[count] & 0xc0) == 0x80)
		count--;
	return count;
}

static void put_text(struct slope_encoder *e, const struct slope_text *text)
{
	if (!text->bytes) {
		slope_put(e, 0);
		return;
	}
	size_t count = fitting(text);

	e->texts_cut += count < text->count;
	slope_put(e, count + 1);
	slope_copy(e->chunk + e->used, text->bytes, count);
	e->used += count;
}

static void put_costs(struct slope_encoder *e, const uint64_t *cost)
{
	for (uint32_t u = 0; u < e->units; u++)
		slope_put(e, cost[u]);
}

static void write_out(struct slope_encoder *e, const void *bytes, size_t count)
{
	if (!e->failed)
		e->failed = !e->writer.write(e->writer.ctx, bytes, count);
}

static void close_chunk(struct slope_encoder *e)
{
	if (e->section == SLOPE_SECTION_COUNT)
		return;
	put_fixed(e->chunk, slope_section_tag(e->section), 4);
	put_fixed(e->chunk + 4, (uint32_t)(e->used - SLOPE_CHUNK_HEADER_BYTES), 4);
	uint32_t crc = slope_crc32c(&e->crc, 0, e->chunk, 8);

	crc = slope_crc32c(&e->crc, crc, e->chunk + SLOPE_CHUNK_HEADER_BYTES, e->used - SLOPE_CHUNK_HEADER_BYTES);
	put_fixed(e->chunk + 8, crc, 4);
	write_out(e, e->chunk, e->used);
	e->chunks[e->section]++;
	e->section = SLOPE_SECTION_COUNT;
}

static void open_chunk(struct slope_encoder *e, enum slope_section section)
{
	e->section = section;
	e->used = SLOPE_CHUNK_HEADER_BYTES;
	if (slope_section_has_units(section))
		slope_put(e, e->units);
}

static bool has_room(const struct slope_encoder *e, size_t bytes)
{
	return e->used + bytes <= sizeof e->chunk;
}

void slope_put_record(struct slope_encoder *e, enum slope_section section, size_t bytes)
{
	SLOPE_ASSERT(!e->in_table);
	if (e->section != section || !has_room(e, bytes)) {
		close_chunk(e);
		open_chunk(e, section);
	}
	e->records[section]++;
}

void slope_encode_begin(struct slope_encoder *e, uint32_t units)
{
	unsigned char header[SLOPE_HEADER_BYTES];

	SLOPE_ASSERT(units >= 1 && units <= SLOPE_UNITS_MAX);
	slope_crc32c_init(&e->crc);
	e->failed = e->in_table = false;
	e->units = units;
	e->section = SLOPE_SECTION_COUNT;
	e->texts_cut = 0;
	for (unsigned i = 0; i < SLOPE_SECTION_COUNT; i++)
		e->chunks[i] = e->records[i] = 0;
	slope_copy(header, SLOPE_FORMAT_MAGIC, 8);
	put_fixed(header + 8, SLOPE_FORMAT_MAJOR, 2);
	put_fixed(header + 10, SLOPE_FORMAT_MINOR, 2);
	put_fixed(header + 12, SLOPE_FEATURES_KNOWN, 4);
	put_fixed(header + 16, SLOPE_FORMAT_ORDER, 4);
	put_fixed(header + 20, slope_crc32c(&e->crc, 0, header, 20), 4);
	write_out(e, header, sizeof header);
}

bool slope_encode_end(struct slope_encoder *e)
{
	if (e->texts_cut)
		slope_encode_lost(e, &(struct slope_lost_entry){
			.name = slope_text_of("texts"), .count = e->texts_cut,
			.text = slope_text_of("long names or arguments, stored without their ends") });
	close_chunk(e);
	for (unsigned i = 0; i < SLOPE_SECTION_END; i++)
		if (e->chunks[i]) {
			slope_put_record(e, SLOPE_SECTION_END, 3 * SLOPE_NUMBER_ROOM);
			slope_put(e, slope_section_tag(i));
			slope_put(e, e->chunks[i]);
			slope_put(e, e->records[i]);
		}
	if (e->section == SLOPE_SECTION_COUNT)
		open_chunk(e, SLOPE_SECTION_END);
	close_chunk(e);
	return !e->failed;
}

static void begin_meta(struct slope_encoder *e, const char *key, enum slope_meta_kind kind)
{
	struct slope_text k = slope_text_of(key);

	slope_put_record(e, SLOPE_SECTION_META, 2 * TEXT_ROOM + 1);
	put_text(e, &k);
	slope_put_byte(e, kind);
}

static void meta_text(struct slope_encoder *e, const char *key, const char *value)
{
	struct slope_text text = slope_text_of(value);

	if (!value)
		return;
	begin_meta(e, key, SLOPE_META_TEXT);
	put_text(e, &text);
}

static void meta_signed(struct slope_encoder *e, const char *key, int64_t value)
{
	begin_meta(e, key, SLOPE_META_SIGNED);
	slope_put_signed(e, value);
}

static void meta_number(struct slope_encoder *e, const char *key, uint64_t value)
{
	begin_meta(e, key, SLOPE_META_NUMBER);
	slope_put(e, value);
}

void slope_encode_facts(struct slope_encoder *e, const struct slope_facts *facts)
{
	for (uint32_t u = 0; u < facts->units; u++)
		meta_text(e, SLOPE_FACT_UNIT, facts->unit_name[u] ? facts->unit_name[u] : "");
#define X(field, key, greatest) meta_number(e, key, facts->field);
	SLOPE_FACT_NUMBERS(X)
#undef X
#define X(field, key, greatest)       \
	if (facts->field)             \
		meta_number(e, key, facts->field);
	SLOPE_FACT_RARE_NUMBERS(X)
#undef X
#define X(field, key) meta_signed(e, key, facts->field);
	SLOPE_FACT_SIGNED(X)
#undef X
#define X(field, key) meta_text(e, key, facts->field);
	SLOPE_FACT_TEXTS(X)
#undef X
	for (size_t i = 0; i < facts->argument_count; i++)
		meta_text(e, SLOPE_FACT_ARGUMENT, facts->argument[i]);
	for (uint32_t i = 0; i < facts->path_metrics; i++)
		meta_text(e, SLOPE_FACT_PATH_METRIC, facts->path_metric_name[i] ? facts->path_metric_name[i] : "");
	for (size_t i = 0; i < facts->problem_count; i++)
		meta_text(e, SLOPE_FACT_PROBLEM, facts->problem[i]);
}

void slope_encode_module(struct slope_encoder *e, const struct slope_module_entry *module)
{
	slope_put_record(e, SLOPE_SECTION_MODULES, TEXT_ROOM + 4 * SLOPE_NUMBER_ROOM + sizeof module->build_id);
	slope_put(e, module->number);
	put_text(e, &module->path);
	slope_put(e, module->build_id_bytes);
	for (uint32_t i = 0; i < module->build_id_bytes; i++)
		slope_put_byte(e, module->build_id[i]);
	slope_put(e, module->start);
	slope_put(e, module->bytes);
}

void slope_encode_function(struct slope_encoder *e, const struct slope_function_entry *function)
{
	slope_put_record(e, SLOPE_SECTION_FUNCTIONS, TEXT_ROOM + 4 * SLOPE_NUMBER_ROOM);
	slope_put(e, function->number);
	slope_put(e, function->module);
	slope_put(e, function->flags);
	slope_put(e, function->offset);
	put_text(e, &function->raw_name);
}

void slope_encode_file(struct slope_encoder *e, const struct slope_file_entry *file)
{
	slope_put_record(e, SLOPE_SECTION_FILES, TEXT_ROOM + SLOPE_NUMBER_ROOM);
	slope_put(e, file->number);
	put_text(e, &file->path);
}

void slope_encode_symbol(struct slope_encoder *e, const struct slope_symbol_entry *symbol)
{
	slope_put_record(e, SLOPE_SECTION_SYMBOLS, TEXT_ROOM + 3 * SLOPE_NUMBER_ROOM);
	slope_put(e, symbol->function);
	slope_put(e, symbol->file);
	slope_put(e, symbol->line);
	put_text(e, &symbol->name);
}

void slope_encode_thread(struct slope_encoder *e, const struct slope_thread_entry *thread)
{
	slope_put_record(e, SLOPE_SECTION_THREADS, TEXT_ROOM + 7 * SLOPE_NUMBER_ROOM);
	slope_put(e, thread->number);
	slope_put(e, thread->id);
	slope_put(e, thread->parent);
	slope_put(e, thread->os_id);
	slope_put(e, thread->process);
	slope_put(e, thread->calls);
	slope_put(e, thread->max_depth);
	put_text(e, &thread->name);
}

#define COST_ENTRY_ROOM (2 * COST_ROOM + 7 * SLOPE_NUMBER_ROOM)

static void put_cost_entry(struct slope_encoder *e, const struct slope_cost_entry *cost)
{
	slope_put(e, cost->function);
	slope_put(e, cost->thread);
	slope_put(e, cost->calls);
	put_costs(e, cost->total);
	put_costs(e, cost->self);
	slope_put(e, cost->rms);
	slope_put(e, cost->trms);
	slope_put(e, cost->thread_input);
	slope_put(e, cost->external);
}

void slope_encode_cost(struct slope_encoder *e, const struct slope_cost_entry *cost)
{
	slope_put_record(e, SLOPE_SECTION_RECORDS, COST_ENTRY_ROOM);
	put_cost_entry(e, cost);
}

void slope_encode_edge(struct slope_encoder *e, const struct slope_edge_entry *edge)
{
	slope_put_record(e, SLOPE_SECTION_EDGES, COST_ROOM + 4 * SLOPE_NUMBER_ROOM);
	slope_put(e, edge->thread);
	slope_put(e, edge->caller);
	slope_put(e, edge->callee);
	slope_put(e, edge->calls);
	put_costs(e, edge->cost);
}

void slope_encode_site(struct slope_encoder *e, const struct slope_site_entry *site)
{
	slope_put_record(e, SLOPE_SECTION_SITES, 5 * SLOPE_NUMBER_ROOM);
	slope_put(e, site->number);
	slope_put(e, site->module);
	slope_put(e, site->offset);
	slope_put(e, site->file);
	slope_put(e, site->line);
}

/* A parent is stored as the distance to it, 0 for none; a site as the next number, 0 for none. */
void slope_encode_context(struct slope_encoder *e, const struct slope_context_entry *context)
{
	slope_put_record(e, SLOPE_SECTION_CONTEXTS, 2 * COST_ROOM + 6 * SLOPE_NUMBER_ROOM);
	slope_put(e, context->thread);
	slope_put(e, context->number);
	slope_put(e, context->parent == SLOPE_NUMBER_NONE ? 0 : context->number - context->parent);
	slope_put(e, context->function);
	slope_put(e, context->site == SLOPE_NUMBER_NONE ? 0 : (uint64_t)context->site + 1);
	slope_put(e, context->calls);
	put_costs(e, context->total);
	put_costs(e, context->self);
}

void slope_encode_place(struct slope_encoder *e, const struct slope_place_entry *place)
{
	slope_put_record(e, SLOPE_SECTION_PLACES, COST_ROOM + 4 * SLOPE_NUMBER_ROOM);
	slope_put(e, place->thread);
	slope_put(e, place->context);
	slope_put(e, place->module);
	slope_put(e, place->offset);
	put_costs(e, place->self);
}

void slope_encode_variant(struct slope_encoder *e, const struct slope_variant_entry *variant)
{
	slope_put_record(e, SLOPE_SECTION_VARIANTS, COST_ENTRY_ROOM + (3 + SLOPE_VARIANT_CALLERS_MAX) * SLOPE_NUMBER_ROOM);
	slope_put(e, variant->number);
	slope_put(e, variant->rest);
	slope_put(e, variant->callers);
	for (uint32_t i = 0; i < variant->callers; i++)
		slope_put(e, variant->caller[i]);
	put_cost_entry(e, &variant->cost);
}

void slope_encode_lost(struct slope_encoder *e, const struct slope_lost_entry *lost)
{
	slope_put_record(e, SLOPE_SECTION_LOST, 2 * TEXT_ROOM + SLOPE_NUMBER_ROOM);
	put_text(e, &lost->name);
	put_text(e, &lost->text);
	slope_put(e, lost->count);
}

static void table_head(struct slope_encoder *e)
{
	for (unsigned i = 0; i < e->heads; i++)
		slope_put(e, e->head[i]);
	e->n = 0;
}

void slope_put_table(struct slope_encoder *e, enum slope_section section, unsigned heads)
{
	e->heads = heads;
	slope_put_record(e, section, TABLE_HEAD_ROOM + POINT_ROOM + TABLE_END_ROOM);
	e->records[section]--;           /* its rows are what counts */
	e->in_table = true;
	table_head(e);
}

void slope_put_table_row(struct slope_encoder *e)
{
	enum slope_section section = e->section;

	SLOPE_ASSERT(e->in_table);
	if (!has_room(e, POINT_ROOM + TABLE_END_ROOM)) {
		slope_put_byte(e, 0);
		close_chunk(e);
		open_chunk(e, section);
		table_head(e);
	}
	e->records[section]++;
}

void slope_put_table_end(struct slope_encoder *e)
{
	slope_put_byte(e, 0);
	e->in_table = false;
}

static void points_begin(struct slope_encoder *e, enum slope_section section, const struct slope_points_entry *points)
{
	e->head[0] = points->metric;
	e->head[1] = points->function;
	e->head[2] = points->thread;
	e->head[3] = points->bits;
	slope_put_table(e, section, 4);
}

void slope_encode_points_begin(struct slope_encoder *e, const struct slope_points_entry *points)
{
	points_begin(e, SLOPE_SECTION_POINTS, points);
}

void slope_encode_variant_points_begin(struct slope_encoder *e, const struct slope_points_entry *points)
{
	points_begin(e, SLOPE_SECTION_VARIANT_POINTS, points);
}

/* All calls of the row had the same cost, in every unit. */
static bool is_flat(const struct slope_point *row, uint32_t units)
{
	for (uint32_t u = 0; u < units; u++) {
		const struct slope_stat *c = &row->cost[u];
		unsigned __int128 sq = (unsigned __int128)c->min * c->min * row->calls;

		if (c->min != c->max || c->sum != c->min * row->calls || c->sq_lo != (uint64_t)sq ||
		    c->sq_hi != (uint64_t)(sq >> 64))
			return false;
	}
	return true;
}

/* All of the input was first reads, and the row is no bin. */
static bool is_plain(const struct slope_point *row)
{
	return row->rms == row->n * row->calls && !row->thread && !row->external;
}

void slope_encode_point_row(struct slope_encoder *e, const struct slope_point *row)
{
	slope_put_table_row(e);
	bool flat = is_flat(row, e->units), plain = is_plain(row);

	slope_put_byte(e, SLOPE_ROW_THERE | (flat ? SLOPE_ROW_FLAT : 0) | (plain ? SLOPE_ROW_PLAIN : 0));
	slope_put_signed(e, (int64_t)(row->n - e->n));
	slope_put(e, row->calls);
	if (!plain) {
		slope_put(e, row->rms);
		slope_put(e, row->thread);
		slope_put(e, row->external);
	}
	for (uint32_t u = 0; u < e->units; u++) {
		slope_put(e, row->cost[u].min);
		if (flat)
			continue;
		slope_put(e, row->cost[u].max - row->cost[u].min);
		slope_put(e, row->cost[u].sum);
		slope_put(e, row->cost[u].sq_lo);
		slope_put(e, row->cost[u].sq_hi);
	}
	e->n = row->n;
}

void slope_encode_points_end(struct slope_encoder *e)
{
	slope_put_table_end(e);
}

void slope_encode_sizes_begin(struct slope_encoder *e, const struct slope_sizes_entry *sizes)
{
	e->head[0] = sizes->thread;
	e->head[1] = sizes->caller;
	e->head[2] = sizes->callee;
	e->head[3] = sizes->bits;
	slope_put_table(e, SLOPE_SECTION_SIZES, 4);
}

void slope_encode_size_row(struct slope_encoder *e, const struct slope_size_entry *row)
{
	SLOPE_ASSERT(row->activations);
	slope_put_table_row(e);
	slope_put(e, row->activations);
	slope_put_signed(e, (int64_t)(row->n - e->n));
	slope_put(e, row->calls);
	put_costs(e, row->cost);
	e->n = row->n;
}

void slope_encode_sizes_end(struct slope_encoder *e)
{
	slope_put_table_end(e);
}
