/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions as the decoder has them, without asking it each time. All of a
 * form (outline.h) differ in their constants alone, so the first one that is
 * decoded serves as a template into which those of the others are put.
 * Where more than that may differ, the decoder is asked.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_TEMPLATES_H
#define SLOPE_SOURCES_TRANSLATOR_TEMPLATES_H

#include "sources/translator/outline.h"

#define TEMPLATES_LOG2 12u
#define TEMPLATES_BYTES (2u << 20)

struct template {
	ZydisDecodedInstruction i;
	/* Positions of the operands that have a displacement, and constants: those of i.raw, in their order; or -1. */
	int8_t displaced, constant[2];
	ZydisDecodedOperand operand[];
};

/* All 0 in the beginning. Whoever uses it at the same time as others guards it. When there is no room for more, all are forgotten. */
struct templates {
	struct template_slot {
		uint64_t form;       /* 0: none */
		uint32_t at;         /* in `room` */
	} slot[1u << TEMPLATES_LOG2];
	unsigned count;
	size_t used;                 /* of `room` */
	ZydisDecodedOperand other[ZYDIS_MAX_OPERAND_COUNT];      /* of what is not kept */
	/* Close together: each page costs more than a question to the decoder. */
	unsigned char room[TEMPLATES_BYTES] __attribute__((aligned(16)));
};

/* The decoder: one instruction of at most `bytes` bytes, with all of its operands. */
typedef bool templates_decode(void *data, const void *code, size_t bytes, ZydisDecodedInstruction *i, ZydisDecodedOperand *operand);

/*
 * The instruction at `code`, which looks like `o`: the decoder's answer to the letter. Its operands, the hidden ones too, are good
 * until the next call; NULL: the decoder knows none. O(1).
 */
const ZydisDecodedOperand *templates_find(struct templates *known, const void *code, size_t bytes, const struct outline *o,
					  templates_decode *decode, void *data, ZydisDecodedInstruction *i);

#endif
