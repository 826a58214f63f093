/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions in outline: how long they are, and whether and where control
 * goes from them. That is all a control flow graph wants to know of most, and
 * most instructions look like one that came before: prefixes, opcode and what
 * of the byte behind it belongs to the opcode are its shape. The decoder is
 * asked once for each shape; what is left is to count the bytes of the operand
 * in memory and of constants. Shapes that need more than that are asked for
 * each time.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_OUTLINE_H
#define SLOPE_SOURCES_TRANSLATOR_OUTLINE_H

#include "sources/translator/decoder.h"

#define OUTLINE_SHAPES_LOG2 11u

struct outline {
	uint16_t mnemonic;           /* ZydisMnemonic */
	uint8_t category;            /* ZydisInstructionCategory */
	uint8_t length;
	uint8_t opcode;
	uint8_t width;               /* of its operands, in bits */
	bool relative;               /* a near branch, jump or call by `distance`, from the next instruction on */
	bool fixed;                  /* an operand in memory at `distance` from the next instruction */
	int64_t distance;
	/* The same for all whose registers, prefixes and operation are the same, whatever their constants; 0: not known. */
	uint64_t form;
};

struct outline_shape {
	uint64_t key;                /* 0: none */
	uint16_t mnemonic;
	uint8_t category;
	uint8_t width;
	uint8_t constants;           /* their bytes */
	bool relative;
};

/* What is known; all 0 in the beginning. Whoever uses it at the same time as others guards it. */
struct outlines {
	struct outline_shape shape[1u << OUTLINE_SHAPES_LOG2][2];  /* the one used last comes first */
	uint8_t modrm[8][256];       /* has the opcode such a byte? By map: OUTLINE_HAS_*; 0: not known */
};

/* The decoder: one instruction of at most `bytes` bytes. */
typedef bool outline_decode(void *data, const void *code, size_t bytes, ZydisDecodedInstruction *i);

/* False when there is no instruction. O(1). */
bool outline_find(struct outlines *known, const void *code, size_t bytes, outline_decode *decode, void *data, struct outline *o);

/* The same of an instruction that is decoded. */
struct outline outline_of(const ZydisDecodedInstruction *i);

#endif
