/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions written in assembly, never executed, and the test's own memory as
 * the source of their graphs. FUNCTION(name, text) declares `name` and
 * `name_end`; TABLE(name, text) is constant data. Every function is another
 * one to all others, but for what a case says itself.
 */
#ifndef SLOPE_TESTS_FLOW_SAMPLE_H
#define SLOPE_TESTS_FLOW_SAMPLE_H

#include "sources/translator/flow.h"
#include "tests/unit/scarce.h"

#define FUNCTION(name, text) \
	extern const char name[], name##_end[]; \
	__asm__(".pushsection flowcode, \"ax\", @progbits\n" #name ":\n" text "\n" #name "_end:\n.popsection")
#define TABLE(name, text) \
	extern const char name[]; \
	__asm__(".pushsection flowtables, \"aw\", @progbits\n.balign 8\n" #name ":\n" text "\n.popsection")

extern const char __start_flowcode[], __stop_flowcode[], __start_flowtables[], __stop_flowtables[];

struct sample {
	struct scarce scarce;
	struct slope_arena arena;
	struct flow_source source;
	ZydisDecoder zydis;
	struct outlines outlines;
	uint64_t start, end;         /* inside */
	uint64_t cold, cold_end;     /* inside, too */
	uint64_t taken, taken_end;   /* another graph's */
	uint64_t never;              /* a call of it does not come back */
	uint64_t decoded;
	struct flow flow;
};

static inline bool sample_decode(void *data, uint64_t pc, ZydisDecodedInstruction *i, ZydisDecodedOperand *operand)
{
	struct sample *s = data;
	ZydisDecoderContext context;

	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&s->zydis, &context, (const void *)pc, 15, i)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&s->zydis, &context, i, operand, i->operand_count));
}

static inline bool sample_decode_alone(void *data, const void *code, size_t bytes, ZydisDecodedInstruction *i)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&((struct sample *)data)->zydis, NULL, code, bytes, i));
}

static inline bool sample_outline(void *data, uint64_t pc, struct outline *o)
{
	struct sample *s = data;

	s->decoded++;
	return outline_find(&s->outlines, (const void *)pc, 15, sample_decode_alone, s, o);
}

static inline bool sample_read(void *data, uint64_t address, void *to, size_t bytes)
{
	(void)data;
	if (address < (uint64_t)__start_flowtables || address + bytes > (uint64_t)__stop_flowtables)
		return false;
	memcpy(to, (const void *)address, bytes);
	return true;
}

static inline enum flow_place sample_place(void *data, uint64_t entry, uint64_t pc, uint64_t *until)
{
	const struct sample *s = data;

	(void)entry;
	*until = pc + 1;
	if (pc >= s->taken && pc < s->taken_end)
		return FLOW_TAKEN;
	if ((pc >= s->start && pc < s->end) || (pc >= s->cold && pc < s->cold_end))
		return FLOW_INSIDE;
	return pc >= (uint64_t)__start_flowcode && pc < (uint64_t)__stop_flowcode ? FLOW_BORDER : FLOW_NO_CODE;
}

static inline bool sample_returns(void *data, uint64_t target)
{
	return target != ((const struct sample *)data)->never;
}

static inline void sample_init(struct sample *s, size_t pages)
{
	*s = (struct sample){ .source = { s, sample_decode, sample_outline, sample_read, sample_place, sample_returns } };
	scarce_init(&s->scarce, pages);
	slope_arena_init(&s->arena, &s->scarce.host);
	assert_true(ZYAN_SUCCESS(ZydisDecoderInit(&s->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
}

static inline void sample_fini(struct sample *s)
{
	slope_arena_fini(&s->arena);
	assert_int_equal(s->scarce.held_bytes, 0);
}

/* The graph of the code from `start` to `end`, whose entry is the first. */
static inline void sample_make(struct sample *s, const char *start, const char *end)
{
	s->start = (uint64_t)start;
	s->end = (uint64_t)end;
	assert_true(flow_make(&s->flow, &s->arena, &s->source, s->start));
}

/* The block that begins so many bytes behind the start, and the edge of it that has this number. */
static inline const struct flow_block *sample_block(const struct sample *s, uint32_t number)
{
	assert_in_range(number, 0, s->flow.blocks - 1);
	return &s->flow.block[number];
}

static inline const struct flow_edge *sample_edge(const struct sample *s, uint32_t block, uint32_t number)
{
	assert_in_range(block, 0, s->flow.blocks - 1);
	assert_in_range(number, 0, s->flow.first[block + 1] - s->flow.first[block] - 1);
	return &s->flow.edge[s->flow.first[block] + number];
}

static inline uint32_t sample_edges(const struct sample *s, uint32_t block)
{
	return s->flow.first[block + 1] - s->flow.first[block];
}

#endif
