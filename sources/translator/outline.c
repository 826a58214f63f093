/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/outline.h"

#define INSTRUCTION_BYTES 15u
#define HAS_NONE 1u
#define HAS_MODRM 2u

/* Where the parts of a form are; the prefixes come first. */
#define FORM_REX 8u
#define FORM_MAP 16u
#define FORM_OPCODE 20u
#define FORM_MODRM 28u
#define FORM_SIB 36u
#define FORM_VEX 44u
#define FORM_IN_MEMORY (UINT64_C(1) << 62)
#define FORM_KNOWN (UINT64_C(1) << 63)

/* The maps of opcodes: one byte; 0f; 0f 38; 0f 3a; those behind a VEX prefix of two bytes, and of three. */
enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_VEX2, MAP_VEX3 };

/* An instruction, as far as its shape can be seen. */
struct look {
	const uint8_t *code;
	unsigned prefixes;           /* a bit for each; */
	unsigned rex, vex;           /* those that are wider, without what says that they are there; 0: none */
	unsigned map, opcode;
	unsigned head;               /* bytes up to the opcode */
	unsigned operand;            /* bytes from there to constants */
	bool fixed;
	uint64_t form, key;          /* as struct outline has it; without what does not belong to the shape */
};

/* The bit of a prefix that leaves everything else as it is; 0: it is none of these. */
static unsigned prefix_bit(uint8_t byte)
{
	static const uint8_t bit[256] = { [0x66] = 1, [0xf2] = 2, [0xf3] = 4, [0x2e] = 8, [0x3e] = 16, [0x64] = 32, [0x65] = 64 };

	return bit[byte];
}

/* Opcodes of one byte that are something else, or whose operands are not counted here. */
static bool is_special(uint8_t byte)
{
	return prefix_bit(byte) || (byte & 0xf0) == 0x40 || (byte & 0xfc) == 0xa0 || byte == 0x26 || byte == 0x36 || byte == 0x67 ||
	       byte == 0xf0 || byte == 0x62 || byte == 0x8f || byte == 0xd5;
}

static bool see_vex(struct look *l)
{
	bool three = l->code[l->head] == 0xc4;

	if (l->prefixes & 7 || l->rex)
		return false;
	l->vex = three ? l->code[l->head + 1] | l->code[l->head + 2] << 8 : l->code[l->head + 1];
	l->map = three ? MAP_VEX3 : MAP_VEX2;
	l->head += three ? 3 : 2;
	l->opcode = l->code[l->head++];
	return true;
}

/* Up to the opcode, and with it. There are enough bytes. */
static bool see_opcode(struct look *l)
{
	unsigned bit;

	for (; (bit = prefix_bit(l->code[l->head])); l->head++) {
		if (l->prefixes & bit || l->head >= 4)
			return false;
		l->prefixes |= bit;
	}
	/* Of these two the last one counts. */
	if ((l->prefixes & 6) == 6)
		return false;
	if ((l->code[l->head] & 0xf0) == 0x40)
		l->rex = l->code[l->head++];
	l->opcode = l->code[l->head];
	if (l->opcode == 0xc4 || l->opcode == 0xc5)
		return see_vex(l);
	l->head++;
	if (l->opcode != 0x0f)
		return !is_special((uint8_t)l->opcode);
	l->opcode = l->code[l->head++];
	l->map = MAP_0F;
	if (l->opcode == 0x38 || l->opcode == 0x3a) {
		l->map = l->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
		l->opcode = l->code[l->head++];
	}
	/* Opcodes at the end, bounds that must not be relative to rip, and moves of control registers, which have no operand in memory. */
	return l->map != MAP_0F || !(l->opcode == 0x0f || (l->opcode & 0xfe) == 0x1a || (l->opcode & 0xf8) == 0x20);
}

/* The byte behind the opcode, with the operand in memory that it may stand for. Of that, the shape has the operation alone. */
static void see_operand(struct look *l)
{
	uint64_t modrm = l->code[l->head], mod = modrm >> 6, rm = modrm & 7, sib = l->code[l->head + 1];

	l->operand = 1;
	l->form |= modrm << FORM_MODRM;
	if (mod == 3) {
		l->key = l->form;
		return;
	}
	l->key = (l->form & ~(UINT64_C(0xc7) << FORM_MODRM)) | FORM_IN_MEMORY;
	if (rm == 4) {
		l->operand = mod == 0 && (sib & 7) == 5 ? 6 : 2;
		l->form |= sib << FORM_SIB;
	}
	l->fixed = mod == 0 && rm == 5;
	l->operand += l->fixed || mod == 2 ? 4 : mod == 1;
}

/* What is behind the opcode, and with it the key; `has`: what is known of that. */
static void see_rest(struct look *l, uint8_t has)
{
	l->form = FORM_KNOWN | (uint64_t)l->vex << FORM_VEX | (uint64_t)l->opcode << FORM_OPCODE | l->map << FORM_MAP |
		  l->rex << FORM_REX | l->prefixes;
	l->key = l->form;
	if (has == HAS_MODRM)
		see_operand(l);
}

/* The shape with this key; if none is known, one to be overwritten. */
static struct outline_shape *shape_of(struct outlines *known, uint64_t key)
{
	struct outline_shape *s = known->shape[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - OUTLINE_SHAPES_LOG2)], other;

	if (SLOPE_LIKELY(s[0].key == key))
		return s;
	other = s[0];
	s[0] = s[1];
	s[1] = other;
	return s;
}

/* So many bytes before `end`, as a number with a sign; 1 or 4. */
static int64_t number_before(const uint8_t *end, unsigned bytes)
{
	int32_t four;

	if (bytes == 1)
		return (int8_t)end[-1];
	__builtin_memcpy(&four, end - 4, sizeof four);
	return four;
}

struct outline outline_of(const ZydisDecodedInstruction *i)
{
	struct outline o = {
		.mnemonic = (uint16_t)i->mnemonic, .category = (uint8_t)i->meta.category, .length = i->length, .opcode = i->opcode,
		.width = i->operand_width,
		.relative = i->raw.imm[0].is_relative && i->meta.branch_type != ZYDIS_BRANCH_TYPE_FAR,
		.fixed = i->attributes & ZYDIS_ATTRIB_HAS_MODRM && i->raw.modrm.mod == 0 && i->raw.modrm.rm == 5,
	};

	o.distance = o.relative ? i->raw.imm[0].value.s : o.fixed ? i->raw.disp.value : 0;
	return o;
}

/* It has this shape. False: it would be too long. */
static bool draw(const struct look *l, const struct outline_shape *s, struct outline *o)
{
	unsigned operand = l->head + l->operand, length = operand + s->constants;

	*o = (struct outline){
		.mnemonic = s->mnemonic, .category = s->category, .length = (uint8_t)length, .opcode = (uint8_t)l->opcode,
		.width = s->width, .relative = s->relative, .fixed = l->fixed, .form = l->form,
	};
	if (s->relative)
		o->distance = number_before(l->code + length, s->constants);
	else if (l->fixed)
		o->distance = number_before(l->code + operand, 4);
	return length <= INSTRUCTION_BYTES;
}

/* The decoder has said what it is; the opcode is seen. `s`: where its shape may go, unless that was not known. */
static void learn(struct outlines *known, struct look *l, const ZydisDecodedInstruction *i, struct outline *o,
		  struct outline_shape *s)
{
	unsigned constants = (i->raw.imm[0].size + i->raw.imm[1].size) / 8u;
	uint8_t *has = &known->modrm[l->map][l->opcode];

	if (!*has) {
		*has = i->attributes & ZYDIS_ATTRIB_HAS_MODRM ? HAS_MODRM : HAS_NONE;
		see_rest(l, *has);
		s = shape_of(known, l->key);
	}
	if (l->head + l->operand + constants != i->length || (o->relative && constants != 1 && constants != 4))
		return;
	*s = (struct outline_shape){
		.key = l->key, .mnemonic = o->mnemonic, .category = o->category, .width = o->width,
		.constants = (uint8_t)constants, .relative = o->relative,
	};
	o->form = l->form;
}

bool outline_find(struct outlines *known, const void *code, size_t bytes, outline_decode *decode, void *data, struct outline *o)
{
	struct look l = { .code = code };
	/* What may be cut off is left to the decoder. */
	bool seen = bytes >= INSTRUCTION_BYTES && see_opcode(&l);
	uint8_t has = seen ? known->modrm[l.map][l.opcode] : 0;
	struct outline_shape *s = NULL;
	ZydisDecodedInstruction i;

	if (SLOPE_LIKELY(has)) {
		see_rest(&l, has);
		s = shape_of(known, l.key);
		if (SLOPE_LIKELY(s->key == l.key))
			return draw(&l, s, o);
	}
	if (!decode(data, code, bytes, &i))
		return false;
	*o = outline_of(&i);
	if (seen)
		learn(known, &l, &i, o, s);
	return true;
}
