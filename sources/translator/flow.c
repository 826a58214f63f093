/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/flowwork.h"

#define ROUNDS_MAX 64u           /* of looking for targets in code that targets have led to */
#define ATTEMPTS_MAX 3u          /* to find out where tables end */
#define FIRST_INSTRUCTIONS 64u

/* ---- which places are known ---- */

/* The function's own range has its chunks side by side, all others are found by the map. */
static bool is_own(const struct flow_work *w, uint64_t pc)
{
	return (pc >> 6) - (w->entry >> 6) < w->own_chunks;
}

struct flow_chunk *flow_chunk_of(struct flow_work *w, uint64_t pc)
{
	bool fresh;

	if (SLOPE_LIKELY(is_own(w, pc)))
		return &w->chunk[(pc >> 6) - (w->entry >> 6)];
	uint64_t *number = slope_map_put(&w->place, pc >> 6, &fresh);

	w->failed = w->failed || !number;
	if (w->failed)
		return NULL;
	if (fresh) {
		if (!FLOW_GROW(w, chunk, w->chunks + 1))
			return NULL;
		w->chunk[w->chunks] = (struct flow_chunk){ 0 };
		*number = w->chunks++;
	}
	return &w->chunk[*number];
}

bool flow_is_start(const struct flow_work *w, uint64_t pc)
{
	const struct flow_chunk *c = flow_chunk_at(w, pc);

	return c && c->starts >> (pc & 63) & 1;
}

const struct flow_chunk *flow_chunk_at(const struct flow_work *w, uint64_t pc)
{
	if (SLOPE_LIKELY(is_own(w, pc)))
		return &w->chunk[(pc >> 6) - (w->entry >> 6)];
	const uint64_t *number = slope_map_get(&w->place, pc >> 6);

	return number ? &w->chunk[*number] : NULL;
}

enum flow_place flow_place_of(struct flow_work *w, uint64_t pc)
{
	uint64_t until;

	if (pc >= w->entry && pc < w->until)
		return FLOW_INSIDE;
	return w->source->place(w->source->data, w->entry, pc, &until);
}

/* Control may come to pc: a block begins there, if it is ours. */
static void want(struct flow_work *w, uint64_t pc)
{
	uint64_t bit = UINT64_C(1) << (pc & 63);
	const struct flow_chunk *known = flow_chunk_at(w, pc);
	struct flow_chunk *c;

	if (known && known->leaders & bit)
		return;
	if (!(known && known->starts & bit) && flow_place_of(w, pc) != FLOW_INSIDE)
		return;
	if (!(c = flow_chunk_of(w, pc)))
		return;
	c->leaders |= bit;
	if (!(c->starts & bit) && FLOW_GROW(w, pending, w->pendings + 1))
		w->pending[w->pendings++] = pc;
}

/* ---- instructions ---- */

static bool call_returns(struct flow_work *w, const struct outline *o, struct flow_instruction *f)
{
	uint64_t slot = f->pc + o->length + (uint64_t)o->distance;

	if (!o->relative && !(o->fixed && w->source->read(w->source->data, slot, &f->target, sizeof f->target)))
		return true;
	return w->source->returns(w->source->data, f->target);
}

static enum flow_kind kind_of(struct flow_work *w, const struct outline *o, struct flow_instruction *f)
{
	switch (o->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
		return FLOW_STOP;
	case ZYDIS_MNEMONIC_JMP:
		return o->relative ? FLOW_JUMP : FLOW_JUMP_INDIRECT;
	case ZYDIS_MNEMONIC_XBEGIN:
		return FLOW_BRANCH;
	default:
		break;
	}
	switch (o->category) {
	case ZYDIS_CATEGORY_COND_BR:
		return FLOW_BRANCH;
	case ZYDIS_CATEGORY_CALL:
		return call_returns(w, o, f) ? FLOW_CALL : FLOW_STOP;
	case ZYDIS_CATEGORY_RET:
		return FLOW_RETURN;
	default:
		return FLOW_PLAIN;
	}
}

static void add_jump(struct flow_work *w, struct flow_instruction *f)
{
	f->jump = (uint32_t)w->jumps;
	if (FLOW_GROW(w, jump, w->jumps + 1))
		w->jump[w->jumps++] = (struct flow_jump){ .pc = f->pc };
}

static void add_instruction(struct flow_work *w, uint64_t pc, const struct outline *o)
{
	struct flow_instruction f = { .pc = pc, .length = o->length };
	uint64_t next = pc + o->length, there = next + (uint64_t)o->distance;

	if (o->relative)
		f.target = there;
	f.kind = (uint8_t)kind_of(w, o, &f);
	f.condition = o->opcode & 15;
	if (f.kind == FLOW_BRANCH || f.kind == FLOW_JUMP)
		want(w, f.target);
	/* Behind a system call, because threads begin there. */
	if (f.kind == FLOW_BRANCH || f.kind == FLOW_CALL || o->mnemonic == ZYDIS_MNEMONIC_SYSCALL)
		want(w, next);
	if (f.kind == FLOW_JUMP_INDIRECT)
		add_jump(w, &f);
	f.stores = o->mnemonic == ZYDIS_MNEMONIC_MOV && o->opcode == 0x89 && o->width == 64;
	if (o->mnemonic == ZYDIS_MNEMONIC_LEA && o->fixed && FLOW_GROW(w, mark, w->marks + 1))
		w->mark[w->marks++] = there;
	if (FLOW_GROW(w, instruction, w->instructions + 1))
		w->instruction[w->instructions++] = f;
}

/* Straight on from pc, up to what is known, is none of ours, or ends. */
static void decode_from(struct flow_work *w, uint64_t pc)
{
	struct outline o;
	uint64_t until = pc >= w->entry && pc < w->until ? w->until : pc, line = ~pc >> 6;
	size_t chunk = 0;

	for (bool goes_on = true; goes_on && !w->failed; pc += o.length) {
		if (pc >= until && w->source->place(w->source->data, w->entry, pc, &until) != FLOW_INSIDE)
			return;
		if (line != pc >> 6) {
			struct flow_chunk *c = flow_chunk_of(w, pc);

			if (!c)
				return;
			line = pc >> 6;
			chunk = (size_t)(c - w->chunk);
		}
		if (w->chunk[chunk].starts >> (pc & 63) & 1)
			return;
		if (w->instructions >= FLOW_INSTRUCTIONS_MAX || !w->source->outline(w->source->data, pc, &o)) {
			w->flags |= SLOPE_GRAPH_SHORT;
			return;
		}
		w->chunk[chunk].starts |= UINT64_C(1) << (pc & 63);
		add_instruction(w, pc, &o);
		goes_on = !w->failed && w->instruction[w->instructions - 1].kind == FLOW_PLAIN;
	}
}

static void decode_pending(struct flow_work *w)
{
	while (w->pendings && !w->failed)
		decode_from(w, w->pending[--w->pendings]);
}

/* ---- targets of jumps ---- */

/* Looks for the targets of jumps that are not known yet. True when there is new code to decode, or new edges. */
static bool resolve(struct flow_work *w)
{
	bool any = false;

	for (size_t n = 0; n < w->jumps && !w->failed; n++) {
		struct flow_jump *jump = &w->jump[n];

		if (jump->resolved || !(jump->resolved = jumptables_resolve(w, jump)))
			continue;
		any = true;
		for (uint32_t k = 0; k < jump->count; k++)
			want(w, w->target[jump->first + k]);
	}
	return any;
}

/* ---- the graph ---- */

static enum slope_block_end end_of(const struct flow_work *w, uint32_t part)
{
	const struct flow_part *p = &w->part[part];
	const struct flow_instruction *last = &w->instruction[p->first + p->count - 1];
	const struct flow_link *way = &w->link[p->edges];

	switch ((enum flow_kind)last->kind) {
	case FLOW_PLAIN:
		return way->way == SLOPE_WAY_NOWHERE ? SLOPE_BLOCK_STOPS : SLOPE_BLOCK_FALLS;
	case FLOW_BRANCH:
		return SLOPE_BLOCK_BRANCHES;
	case FLOW_JUMP:
		return way->way == SLOPE_WAY_TAIL ? SLOPE_BLOCK_TAIL_CALLS : SLOPE_BLOCK_JUMPS;
	case FLOW_JUMP_INDIRECT:
		return w->jump[last->jump].resolved ? SLOPE_BLOCK_SWITCHES :
		       w->jump[last->jump].leaves ? SLOPE_BLOCK_TAIL_CALLS : SLOPE_BLOCK_JUMPS_ANYWHERE;
	case FLOW_CALL:
		return SLOPE_BLOCK_CALLS;
	case FLOW_RETURN:
		return SLOPE_BLOCK_RETURNS;
	case FLOW_STOP:
		break;
	}
	return SLOPE_BLOCK_STOPS;
}

/* Parts are numbered by address, blocks too, but for the entry, which is the first. */
static uint32_t block_number(const struct flow *f, uint32_t part)
{
	return part == SLOPE_PATH_OUT ? part : part == f->before ? 0 : part < f->before ? part + 1 : part;
}

static uint32_t part_number(const struct flow *f, uint32_t block)
{
	return block == 0 ? f->before : block <= f->before ? block - 1 : block;
}

static void copy_block(struct flow *f, const struct flow_work *w, uint32_t block)
{
	uint32_t part = part_number(f, block);
	const struct flow_part *p = &w->part[part];
	const struct flow_instruction *first = &w->instruction[p->first], *last = first + p->count - 1;

	f->block[block] = (struct flow_block){
		.start = first->pc, .last = last->pc, .bytes = (uint32_t)(last->pc + last->length - first->pc),
		.instructions = p->count, .end = end_of(w, part),
	};
	for (uint32_t n = p->edges; n < p[1].edges; n++) {
		const struct flow_link *l = &w->link[n];

		f->edge[f->edges++] = (struct flow_edge){
			.target = l->target, .to = block_number(f, l->to), .weight = l->weight, .way = l->way, .cut = l->cut,
		};
	}
	f->first[block + 1] = f->edges;
}

static bool copy_graph(struct flow *f, const struct flow_work *w)
{
	f->blocks = (uint32_t)w->parts;
	f->block = slope_arena_alloc(w->arena, w->parts * sizeof *f->block);
	f->first = slope_arena_alloc(w->arena, (w->parts + 1) * sizeof *f->first);
	f->edge = slope_arena_alloc(w->arena, w->links * sizeof *f->edge);
	if (!f->block || !f->first || !f->edge) {
		f->edges = (uint32_t)w->links;
		flow_free(f, w->arena);
		return false;
	}
	f->before = flow_part_at(w, w->entry);
	f->flags = w->flags;
	f->instructions = (uint32_t)w->instructions;
	for (uint32_t n = 0; n < f->blocks; n++)
		copy_block(f, w, n);
	for (size_t n = 0; n < w->jumps; n++)
		*(w->jump[n].resolved ? &f->switches : w->jump[n].leaves ? &f->tail_calls : &f->unresolved) += 1;
	if (f->unresolved)
		f->flags |= SLOPE_GRAPH_UNRESOLVED;
	return true;
}

static void free_work(struct flow_work *w)
{
	slope_arena_free(w->arena, w->instruction, w->instruction_capacity * sizeof *w->instruction);
	slope_arena_free(w->arena, w->place.entry, w->place.capacity * sizeof *w->place.entry);
	slope_arena_free(w->arena, w->chunk, w->chunk_capacity * sizeof *w->chunk);
	slope_arena_free(w->arena, w->pending, w->pending_capacity * sizeof *w->pending);
	slope_arena_free(w->arena, w->mark, w->mark_capacity * sizeof *w->mark);
	slope_arena_free(w->arena, w->jump, w->jump_capacity * sizeof *w->jump);
	slope_arena_free(w->arena, w->target, w->target_capacity * sizeof *w->target);
	slope_arena_free(w->arena, w->part, w->part_capacity * sizeof *w->part);
	slope_arena_free(w->arena, w->link, w->link_capacity * sizeof *w->link);
	slope_arena_free(w->arena, w->pred, w->pred_capacity * sizeof *w->pred);
	slope_arena_free(w->arena, w->effect, w->effect_capacity * sizeof *w->effect);
	slope_arena_free(w->arena, w->stack, w->stack_capacity * sizeof *w->stack);
	slope_arena_free(w->arena, w->seen, w->seen_capacity * sizeof *w->seen);
}

/* There are those of the function's own range, and nothing is in them. */
static void clear_chunks(struct flow_work *w)
{
	for (size_t n = 0; n < w->own_chunks; n++)
		w->chunk[n] = (struct flow_chunk){ 0 };
	w->chunks = w->own_chunks;
}

/* For as many instructions as the function may have, with what comes of them. */
static void make_room(struct flow_work *w)
{
	bool inside = w->source->place(w->source->data, w->entry, w->entry, &w->until) == FLOW_INSIDE && w->until > w->entry;
	uint64_t count;

	w->until = inside ? w->until : w->entry + 1;
	count = (w->until - w->entry) / 4 + FIRST_INSTRUCTIONS;
	if (count > FLOW_INSTRUCTIONS_MAX / 4)
		count = FIRST_INSTRUCTIONS;          /* nobody knows how long it is */
	FLOW_GROW(w, instruction, count);
	w->own_chunks = w->until - w->entry > FLOW_INSTRUCTIONS_MAX * 4 ? 0 : ((w->until - 1) >> 6) - (w->entry >> 6) + 1;
	if (FLOW_GROW(w, chunk, w->own_chunks + 4))
		clear_chunks(w);
	FLOW_GROW(w, pending, FIRST_INSTRUCTIONS / 2);
	FLOW_GROW(w, part, count / 3);
	FLOW_GROW(w, link, count / 2);
}

static void look_around(struct flow_work *w)
{
	want(w, w->entry);
	for (unsigned round = 0; !w->failed; round++) {
		decode_pending(w);
		if (w->failed || !flow_shape(w) || !w->jumps || round >= ROUNDS_MAX || !resolve(w))
			return;
	}
}

/* Forgets all but where tables begin. */
static void begin_anew(struct flow_work *w)
{
	slope_arena_free(w->arena, w->place.entry, w->place.capacity * sizeof *w->place.entry);
	slope_map_init(&w->place, w->arena);
	clear_chunks(w);
	w->instructions = w->pendings = w->jumps = w->targets = w->parts = w->links = w->effects = 0;
	w->slot_instructions = 0;
	w->flags = 0;
}

bool flow_make(struct flow *f, struct slope_arena *arena, const struct flow_source *s, uint64_t entry)
{
	struct flow_work w = { .source = s, .arena = arena, .entry = entry };
	bool good;

	*f = (struct flow){ .entry = entry };
	slope_map_init(&w.place, arena);
	make_room(&w);
	for (unsigned attempt = 0; attempt < ATTEMPTS_MAX && !w.failed; attempt++) {
		if (attempt)
			begin_anew(&w);
		look_around(&w);
		if (!jumptables_overrun(&w))
			break;
	}
	good = !w.failed && flow_is_start(&w, entry) && (!w.jumps || flowstack_find_tails(&w)) && flowcycles_weigh(&w) &&
	       copy_graph(f, &w);
	free_work(&w);
	return good;
}

void flow_free(struct flow *f, struct slope_arena *arena)
{
	slope_arena_free(arena, f->block, f->blocks * sizeof *f->block);
	slope_arena_free(arena, f->first, (f->blocks + 1) * sizeof *f->first);
	slope_arena_free(arena, f->edge, f->edges * sizeof *f->edge);
	*f = (struct flow){ .entry = f->entry };
}

uint32_t flow_block_at(const struct flow *f, uint64_t pc)
{
	uint32_t low = 0, high = f->blocks;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (f->block[block_number(f, middle)].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	uint32_t block = low ? block_number(f, low - 1) : FLOW_NO_BLOCK;

	return low && pc - f->block[block].start < f->block[block].bytes ? block : FLOW_NO_BLOCK;
}

bool flow_graph(const struct flow *f, struct slope_arena *arena, uint64_t bias, struct slope_graph *g)
{
	struct slope_block *block = slope_arena_alloc(arena, f->blocks * sizeof *block);
	uint8_t *way = slope_arena_alloc(arena, f->edges);
	struct slope_path_edge *edge = slope_arena_alloc(arena, f->edges * sizeof *edge);

	if (!block || !way || !edge) {
		slope_arena_free(arena, block, f->blocks * sizeof *block);
		slope_arena_free(arena, way, f->edges);
		slope_arena_free(arena, edge, f->edges * sizeof *edge);
		return false;
	}
	for (uint32_t n = 0; n < f->blocks; n++) {
		const struct flow_block *b = &f->block[n];

		block[n] = (struct slope_block){
			.address = b->start - bias, .bytes = b->bytes, .instructions = b->instructions, .end = b->end,
		};
		for (uint32_t k = f->first[n]; k < f->first[n + 1]; k++) {
			const struct flow_edge *e = &f->edge[k];

			way[k] = e->way;
			edge[k] = (struct slope_path_edge){
				.from = n, .to = e->to, .weight = e->weight, .cut = e->cut ? SLOPE_PATH_ASKED : SLOPE_PATH_WHOLE,
			};
		}
	}
	*g = (struct slope_graph){
		.flags = f->flags, .block = block, .way = way,
		.paths = { .vertices = f->blocks, .edges = f->edges, .edge = edge },
	};
	return true;
}
