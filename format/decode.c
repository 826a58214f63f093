/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/decode.h"

/* The first error stays, and nothing is read after it. */
static uint64_t fail(struct slope_cursor *c, enum slope_decode error)
{
	if (c->error == SLOPE_DECODE_OK)
		c->error = error;
	c->at = c->end;
	return 0;
}

static unsigned get_byte(struct slope_cursor *c)
{
	return c->at < c->end ? *c->at++ : (unsigned)fail(c, SLOPE_DECODE_SHORT);
}

static uint64_t get_long(struct slope_cursor *c, uint64_t value)
{
	for (unsigned shift = 7; shift < 64; shift += 7) {
		uint64_t b = get_byte(c);

		if (shift == 63 && b > 1)
			return fail(c, SLOPE_DECODE_RANGE);
		value |= (b & 0x7f) << shift;
		if (b < 0x80)
			return c->error == SLOPE_DECODE_OK ? value : 0;
	}
	return fail(c, SLOPE_DECODE_RANGE);
}

static uint64_t get(struct slope_cursor *c)
{
	unsigned b = get_byte(c);

	return SLOPE_LIKELY(b < 0x80) ? b : get_long(c, b & 0x7f);
}

static int64_t get_signed(struct slope_cursor *c)
{
	uint64_t v = get(c);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

static uint32_t get_up_to(struct slope_cursor *c, uint32_t greatest)
{
	uint64_t v = get(c);

	return v <= greatest ? (uint32_t)v : (uint32_t)fail(c, SLOPE_DECODE_RANGE);
}

static uint32_t get32(struct slope_cursor *c)
{
	return get_up_to(c, UINT32_MAX);
}

static const unsigned char *get_bytes(struct slope_cursor *c, uint64_t count)
{
	const unsigned char *bytes = c->at;

	if (count > (uint64_t)(c->end - c->at)) {
		fail(c, SLOPE_DECODE_SHORT);
		return NULL;
	}
	c->at += count;
	return bytes;
}

static struct slope_text get_text(struct slope_cursor *c)
{
	uint64_t count = get(c);
	const unsigned char *bytes = count ? get_bytes(c, count - 1) : NULL;

	return (struct slope_text){ (const char *)bytes, bytes ? (size_t)count - 1 : 0 };
}

static void get_costs(struct slope_cursor *c, uint64_t *cost)
{
	for (uint32_t u = 0; u < c->units; u++)
		cost[u] = get(c);
}

enum slope_decode slope_cursor_init(struct slope_cursor *c, enum slope_section section, const void *payload, size_t bytes)
{
	*c = (struct slope_cursor){ .at = payload, .end = (const unsigned char *)payload + bytes };
	if (slope_section_has_units(section)) {
		c->units = get_up_to(c, SLOPE_UNITS_MAX);
		if (!c->units)
			fail(c, SLOPE_DECODE_RANGE);
	}
	return c->error;
}

static bool at_end(const struct slope_cursor *c)
{
	return c->at == c->end && c->error == SLOPE_DECODE_OK;
}

enum slope_decode slope_decode_meta(struct slope_cursor *c, struct slope_meta_entry *meta)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	*meta = (struct slope_meta_entry){ .key = get_text(c) };
	meta->kind = get_byte(c);
	switch (meta->kind) {
	case SLOPE_META_NUMBER:
		meta->number = get(c);
		break;
	case SLOPE_META_SIGNED:
		meta->value = get_signed(c);
		break;
	case SLOPE_META_TEXT:
		meta->text = get_text(c);
		break;
	default:
		fail(c, SLOPE_DECODE_KIND);
	}
	return c->error;
}

enum slope_decode slope_decode_module(struct slope_cursor *c, struct slope_module_entry *module)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	*module = (struct slope_module_entry){ .number = get32(c) };
	module->path = get_text(c);
	module->build_id_bytes = get_up_to(c, sizeof module->build_id);
	const unsigned char *id = get_bytes(c, module->build_id_bytes);

	if (id)
		slope_copy(module->build_id, id, module->build_id_bytes);
	module->start = get(c);
	module->bytes = get(c);
	return c->error;
}

enum slope_decode slope_decode_function(struct slope_cursor *c, struct slope_function_entry *function)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	function->number = get32(c);
	function->module = get32(c);
	function->flags = get32(c);
	function->offset = get(c);
	function->raw_name = get_text(c);
	return c->error;
}

enum slope_decode slope_decode_file(struct slope_cursor *c, struct slope_file_entry *file)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	file->number = get32(c);
	file->path = get_text(c);
	return c->error;
}

enum slope_decode slope_decode_symbol(struct slope_cursor *c, struct slope_symbol_entry *symbol)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	symbol->function = get32(c);
	symbol->file = get32(c);
	symbol->line = get32(c);
	symbol->name = get_text(c);
	return c->error;
}

enum slope_decode slope_decode_thread(struct slope_cursor *c, struct slope_thread_entry *thread)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	thread->number = get32(c);
	thread->id = get32(c);
	thread->parent = get32(c);
	thread->os_id = get(c);
	thread->process = get(c);
	thread->calls = get(c);
	thread->max_depth = get(c);
	thread->name = get_text(c);
	return c->error;
}

static void get_cost_entry(struct slope_cursor *c, struct slope_cost_entry *cost)
{
	*cost = (struct slope_cost_entry){ .function = get32(c) };
	cost->thread = get32(c);
	cost->calls = get(c);
	get_costs(c, cost->total);
	get_costs(c, cost->self);
	cost->rms = get(c);
	cost->trms = get(c);
	cost->thread_input = get(c);
	cost->external = get(c);
}

enum slope_decode slope_decode_cost(struct slope_cursor *c, struct slope_cost_entry *cost)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	get_cost_entry(c, cost);
	return c->error;
}

enum slope_decode slope_decode_edge(struct slope_cursor *c, struct slope_edge_entry *edge)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	*edge = (struct slope_edge_entry){ .thread = get32(c) };
	edge->caller = get32(c);
	edge->callee = get32(c);
	edge->calls = get(c);
	get_costs(c, edge->cost);
	return c->error;
}

enum slope_decode slope_decode_site(struct slope_cursor *c, struct slope_site_entry *site)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	site->number = get32(c);
	site->module = get32(c);
	site->offset = get(c);
	site->file = get32(c);
	site->line = get32(c);
	return c->error;
}

enum slope_decode slope_decode_context(struct slope_cursor *c, struct slope_context_entry *context)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	*context = (struct slope_context_entry){ .thread = get32(c) };
	context->number = get32(c);
	uint32_t distance = get_up_to(c, context->number);

	context->parent = distance ? context->number - distance : SLOPE_NUMBER_NONE;
	context->function = get32(c);
	context->site = get32(c) - 1;
	context->calls = get(c);
	get_costs(c, context->total);
	get_costs(c, context->self);
	return c->error;
}

enum slope_decode slope_decode_place(struct slope_cursor *c, struct slope_place_entry *place)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	*place = (struct slope_place_entry){ .thread = get32(c) };
	place->context = get32(c);
	place->module = get32(c);
	place->offset = get(c);
	get_costs(c, place->self);
	return c->error;
}

enum slope_decode slope_decode_variant(struct slope_cursor *c, struct slope_variant_entry *variant)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	variant->number = get32(c);
	variant->rest = get_up_to(c, 1);
	variant->callers = get_up_to(c, SLOPE_VARIANT_CALLERS_MAX);
	for (uint32_t i = 0; i < variant->callers; i++)
		variant->caller[i] = get32(c);
	get_cost_entry(c, &variant->cost);
	return c->error;
}

enum slope_decode slope_decode_graph(struct slope_cursor *c, struct slope_graph_entry *graph)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	graph->number = get32(c);
	graph->function = get32(c);
	graph->flags = get32(c);
	graph->blocks = get32(c);
	graph->edges = get32(c);
	return c->error;
}

enum slope_decode slope_decode_graph_part(struct slope_cursor *c, struct slope_graph_part *part)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	part->graph = get32(c);
	part->first = get32(c);
	c->n = 0;
	return c->error;
}

enum slope_decode slope_decode_block(struct slope_cursor *c, struct slope_block_entry *block)
{
	unsigned kind = get_byte(c);

	if (!kind)
		return c->error == SLOPE_DECODE_OK ? SLOPE_DECODE_END : c->error;
	if (kind - 1 > SLOPE_BLOCK_STOPS)
		fail(c, SLOPE_DECODE_KIND);
	*block = (struct slope_block_entry){ .block.end = kind - 1 };
	block->block.address = c->n + (uint64_t)get_signed(c);
	block->block.bytes = get32(c);
	block->block.instructions = get32(c);
	block->start = get(c);
	c->n = block->block.address + block->block.bytes;
	return c->error;
}

enum slope_decode slope_decode_arc(struct slope_cursor *c, struct slope_arc_entry *arc)
{
	unsigned kind = get_byte(c);

	if (!kind)
		return c->error == SLOPE_DECODE_OK ? SLOPE_DECODE_END : c->error;
	*arc = (struct slope_arc_entry){ .way = (kind & 15) - 1, .cut = kind >> 4 };
	if (arc->way > SLOPE_WAY_NOWHERE || arc->cut > SLOPE_PATH_MANY)
		fail(c, SLOPE_DECODE_KIND);
	uint64_t from = c->n + get(c);

	if (from > UINT32_MAX)
		fail(c, SLOPE_DECODE_RANGE);
	c->n = from;
	arc->from = (uint32_t)from;
	arc->to = get32(c) - 1;
	arc->value = get(c);
	return c->error;
}

enum slope_decode slope_decode_path(struct slope_cursor *c, struct slope_path_entry *path)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	*path = (struct slope_path_entry){ .row.graph = get32(c) };
	path->thread = get32(c);
	path->row.context = get32(c) - 1;
	path->row.number = get(c);
	path->row.stop = get32(c) - 1;
	path->row.stop_instructions = path->row.stop == SLOPE_PATH_NOT_STOPPED ? 0 : get32(c);
	path->row.count = get(c);
	path->row.samples = get(c);
	path->metrics = get_up_to(c, SLOPE_PATH_METRICS);
	for (uint32_t i = 0; i < path->metrics; i++) {
		path->row.metric[i].sum = get(c);
		path->row.metric[i].sq_lo = get(c);
		path->row.metric[i].sq_hi = get(c);
	}
	return c->error;
}

enum slope_decode slope_decode_repeats(struct slope_cursor *c, struct slope_repeats_entry *repeats)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	repeats->repeats.graph = get32(c);
	repeats->thread = get32(c);
	repeats->repeats.block = get32(c);
	repeats->repeats.count = get(c);
	return c->error;
}

enum slope_decode slope_decode_path_size(struct slope_cursor *c, struct slope_path_size_entry *size)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	size->size.graph = get32(c);
	size->thread = get32(c);
	size->size.number = get(c);
	size->size.n = get(c);
	size->size.activations = get(c);
	size->size.executions = get(c);
	return c->error;
}

enum slope_decode slope_decode_lost(struct slope_cursor *c, struct slope_lost_entry *lost)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	lost->name = get_text(c);
	lost->text = get_text(c);
	lost->count = get(c);
	return c->error;
}

enum slope_decode slope_decode_end(struct slope_cursor *c, struct slope_end_entry *end)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	end->tag = get32(c);
	end->chunks = get(c);
	end->records = get(c);
	return c->error;
}

enum slope_decode slope_decode_points(struct slope_cursor *c, struct slope_points_entry *points)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	points->metric = get32(c);
	points->function = get32(c);
	points->thread = get32(c);
	points->bits = get_up_to(c, SLOPE_POINTS_EXACT);
	c->n = 0;
	return c->error;
}

static void get_flat(struct slope_cursor *c, struct slope_stat *stat, uint64_t calls)
{
	uint64_t cost = get(c);
	unsigned __int128 sq = (unsigned __int128)cost * cost * calls;

	*stat = (struct slope_stat){ cost, cost, cost * calls, (uint64_t)sq, (uint64_t)(sq >> 64) };
}

static void get_stat(struct slope_cursor *c, struct slope_stat *stat)
{
	stat->min = get(c);
	stat->max = stat->min + get(c);
	stat->sum = get(c);
	stat->sq_lo = get(c);
	stat->sq_hi = get(c);
}

enum slope_decode slope_decode_point_row(struct slope_cursor *c, struct slope_point *row)
{
	unsigned kind = get_byte(c);

	if (!kind)
		return c->error == SLOPE_DECODE_OK ? SLOPE_DECODE_END : c->error;
	if (!(kind & SLOPE_ROW_THERE) || kind > (SLOPE_ROW_THERE | SLOPE_ROW_FLAT | SLOPE_ROW_PLAIN)) {
		fail(c, SLOPE_DECODE_KIND);
		return c->error;
	}
	row->n = c->n += (uint64_t)get_signed(c);
	row->calls = get(c);
	bool plain = kind & SLOPE_ROW_PLAIN;

	row->rms = plain ? row->n * row->calls : get(c);
	row->thread = plain ? 0 : get(c);
	row->external = plain ? 0 : get(c);
	for (uint32_t u = 0; u < c->units; u++)
		if (kind & SLOPE_ROW_FLAT)
			get_flat(c, &row->cost[u], row->calls);
		else
			get_stat(c, &row->cost[u]);
	return c->error;
}

enum slope_decode slope_decode_sizes(struct slope_cursor *c, struct slope_sizes_entry *sizes)
{
	if (at_end(c))
		return SLOPE_DECODE_END;
	sizes->thread = get32(c);
	sizes->caller = get32(c);
	sizes->callee = get32(c);
	sizes->bits = get_up_to(c, SLOPE_POINTS_EXACT);
	c->n = 0;
	return c->error;
}

enum slope_decode slope_decode_size_row(struct slope_cursor *c, struct slope_size_entry *row)
{
	*row = (struct slope_size_entry){ .activations = get(c) };
	if (!row->activations)
		return c->error == SLOPE_DECODE_OK ? SLOPE_DECODE_END : c->error;
	row->n = c->n += (uint64_t)get_signed(c);
	row->calls = get(c);
	get_costs(c, row->cost);
	return c->error;
}
