/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Zydis as the decoder of the program's instructions. It comes as a shared
 * library only; we map it ourselves and give it the few functions that it
 * calls. It expects a stack guard at %fs:0x28 and uses vector registers, so
 * decoding happens between decoder_begin and decoder_end, and both are lent to it from the first question on.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_DECODER_H
#define SLOPE_SOURCES_TRANSLATOR_DECODER_H

#define ZYAN_NO_LIBC
#define ZYDIS_DISABLE_ENCODER
#define ZYDIS_DISABLE_FORMATTER
#include <Zydis/Zydis.h>

#include "core/base.h"

struct decoder {
	ZydisDecoder zydis;
	ZyanStatus (*decode)(const ZydisDecoder *decoder, ZydisDecoderContext *context, const void *code, ZyanUSize length,
			     ZydisDecodedInstruction *instruction);
	ZyanStatus (*operands)(const ZydisDecoder *decoder, const ZydisDecoderContext *context,
			       const ZydisDecodedInstruction *instruction, ZydisDecodedOperand *operands, ZyanU8 count);
	ZydisDecoderContext context;
	unsigned open;               /* how often it was begun */
	bool lent;                   /* it has been asked since, and so has been lent what it needs */
	uint64_t program_fs;
	uint64_t guard[8];           /* what it finds at %fs */
	unsigned char vectors[512] __attribute__((aligned(16)));
};

/* The general register around this one, or -1. */
static inline int decoder_register(ZydisRegister r)
{
	static const struct { ZydisRegister first, last; int number; } list[] = {
		{ ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15, 0 }, { ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D, 0 },
		{ ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W, 0 }, { ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL, 0 },
		{ ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH, 0 }, { ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B, 4 },
	};

	for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
		if (r >= list[i].first && r <= list[i].last)
			return (int)(r - list[i].first) + list[i].number;
	return -1;
}

/* General registers that the instruction changes though its operands, as Zydis has them, do not say so: a bit for each. */
static inline uint16_t decoder_unlisted(const ZydisDecodedInstruction *i)
{
	const uint16_t source = 1u << 6, target = 1u << 7;  /* rsi, rdi */

	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_SCASB:
	case ZYDIS_MNEMONIC_SCASW:
	case ZYDIS_MNEMONIC_SCASD:
	case ZYDIS_MNEMONIC_SCASQ:
	case ZYDIS_MNEMONIC_INSB:
	case ZYDIS_MNEMONIC_INSW:
	case ZYDIS_MNEMONIC_INSD:
		return target;
	case ZYDIS_MNEMONIC_OUTSB:
	case ZYDIS_MNEMONIC_OUTSW:
	case ZYDIS_MNEMONIC_OUTSD:
		return source;
	case ZYDIS_MNEMONIC_CMPSB:
	case ZYDIS_MNEMONIC_CMPSW:
	case ZYDIS_MNEMONIC_CMPSQ:
		return source | target;
	case ZYDIS_MNEMONIC_CMPSD:           /* of vectors, too */
		return i->meta.category == ZYDIS_CATEGORY_STRINGOP ? source | target : 0;
	default:
		return 0;
	}
}

/* False when the library is not there or not as expected. */
bool decoder_init(struct decoder *d, const char *library);

/* They may be nested. */
void decoder_begin(struct decoder *d);
void decoder_end(struct decoder *d);

/* One instruction of at most `length` bytes. False for bytes that are none. */
bool decoder_decode(struct decoder *d, const void *code, size_t length, ZydisDecodedInstruction *instruction);
/* All operands of the instruction decoded last, the hidden ones too: as many as its operand_count. */
bool decoder_operands(struct decoder *d, const ZydisDecodedInstruction *instruction, ZydisDecodedOperand *operand);

#endif
