/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an instruction does to memory, out of its operands.
 *
 * The address that a call pushes and a return pops is not data. What reads or
 * writes under a mask, or at one address per element, is seen element by
 * element. What reads under a mask, but other elements than it makes, counts
 * with all of its operand.
 */
#include "sources/translator/trace.h"

#include "sources/translator/context.h"
#include "sources/translator/system.h"

/* ---- addresses ---- */

int accesses_register(ZydisRegister r)
{
	return decoder_register(r);
}

static struct address address_of(const ZydisDecodedOperand *o, const ZydisDecodedInstruction *i, uint64_t pc)
{
	struct address a = {
		.base = accesses_register(o->mem.base), .index = accesses_register(o->mem.index),
		.displacement = o->mem.disp.has_displacement ? o->mem.disp.value : 0,
		.short_registers = i->address_width == 32, .in_fs = o->mem.segment == ZYDIS_REGISTER_FS,
	};

	while (1u << a.scale_log2 < o->mem.scale)
		a.scale_log2++;
	if (o->mem.base == ZYDIS_REGISTER_RIP)
		a.displacement += (int64_t)(pc + i->length);
	return a;
}

/* Where the stack's hidden operand really lies, before the instruction. */
static void correct_stack_address(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o, struct address *a)
{
	bool hidden = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

	if (i->mnemonic == ZYDIS_MNEMONIC_LEAVE && hidden) {
		*a = (struct address){ .base = REG_RBP, .index = NO_REGISTER };
		return;
	}
	if (a->base != REG_RSP)
		return;
	if (hidden && o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		a->displacement -= o->size / 8;
	if (!hidden && i->mnemonic == ZYDIS_MNEMONIC_POP)
		a->displacement += i->operand_width / 8;
}

/* ---- operands ---- */

static void say_unseen(const char *what)
{
	static bool said;

	if (!said)
		system_say("the program uses ", what, ", whose reads and writes the translator does not see yet", NULL);
	said = true;
}

static bool touches_no_data(const ZydisDecodedInstruction *i)
{
	switch (i->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
		return true;
	default:
		return i->mnemonic == ZYDIS_MNEMONIC_CLFLUSH || i->mnemonic == ZYDIS_MNEMONIC_CLFLUSHOPT ||
		       i->mnemonic == ZYDIS_MNEMONIC_CLWB;
	}
}

/* Bytes of an element of a move under a vector mask; 0: the instruction is none. */
static unsigned vector_masked_element(const ZydisDecodedInstruction *i)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
		return 4;
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		return 8;
	default:
		return 0;
	}
}

/*
 * Instructions whose n-th element does not come from the n-th one in memory, though they have as many: they move elements to others'
 * places, or look at several for one.
 */
static bool mixes_elements(const ZydisDecodedInstruction *i)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_VALIGND:
	case ZYDIS_MNEMONIC_VALIGNQ:
	case ZYDIS_MNEMONIC_VDBPSADBW:
	case ZYDIS_MNEMONIC_VGF2P8AFFINEINVQB:
	case ZYDIS_MNEMONIC_VGF2P8AFFINEQB:
	case ZYDIS_MNEMONIC_VMOVDDUP:
	case ZYDIS_MNEMONIC_VMOVSHDUP:
	case ZYDIS_MNEMONIC_VMOVSLDUP:
	case ZYDIS_MNEMONIC_VPALIGNR:
	case ZYDIS_MNEMONIC_VPCONFLICTD:
	case ZYDIS_MNEMONIC_VPCONFLICTQ:
	case ZYDIS_MNEMONIC_VPERMB:
	case ZYDIS_MNEMONIC_VPERMD:
	case ZYDIS_MNEMONIC_VPERMI2B:
	case ZYDIS_MNEMONIC_VPERMI2D:
	case ZYDIS_MNEMONIC_VPERMI2PD:
	case ZYDIS_MNEMONIC_VPERMI2PS:
	case ZYDIS_MNEMONIC_VPERMI2Q:
	case ZYDIS_MNEMONIC_VPERMI2W:
	case ZYDIS_MNEMONIC_VPERMILPD:
	case ZYDIS_MNEMONIC_VPERMILPS:
	case ZYDIS_MNEMONIC_VPERMPD:
	case ZYDIS_MNEMONIC_VPERMPS:
	case ZYDIS_MNEMONIC_VPERMQ:
	case ZYDIS_MNEMONIC_VPERMT2B:
	case ZYDIS_MNEMONIC_VPERMT2D:
	case ZYDIS_MNEMONIC_VPERMT2PD:
	case ZYDIS_MNEMONIC_VPERMT2PS:
	case ZYDIS_MNEMONIC_VPERMT2Q:
	case ZYDIS_MNEMONIC_VPERMT2W:
	case ZYDIS_MNEMONIC_VPERMW:
	case ZYDIS_MNEMONIC_VPMULTISHIFTQB:
	case ZYDIS_MNEMONIC_VPSHUFBITQMB:
	case ZYDIS_MNEMONIC_VPSHUFD:
	case ZYDIS_MNEMONIC_VPSHUFHW:
	case ZYDIS_MNEMONIC_VPSHUFLW:
	case ZYDIS_MNEMONIC_VPUNPCKHBW:
	case ZYDIS_MNEMONIC_VPUNPCKHDQ:
	case ZYDIS_MNEMONIC_VPUNPCKHQDQ:
	case ZYDIS_MNEMONIC_VPUNPCKHWD:
	case ZYDIS_MNEMONIC_VPUNPCKLBW:
	case ZYDIS_MNEMONIC_VPUNPCKLDQ:
	case ZYDIS_MNEMONIC_VPUNPCKLQDQ:
	case ZYDIS_MNEMONIC_VPUNPCKLWD:
	case ZYDIS_MNEMONIC_VSHUFF32X4:
	case ZYDIS_MNEMONIC_VSHUFF64X2:
	case ZYDIS_MNEMONIC_VSHUFI32X4:
	case ZYDIS_MNEMONIC_VSHUFI64X2:
	case ZYDIS_MNEMONIC_VSHUFPD:
	case ZYDIS_MNEMONIC_VSHUFPS:
	case ZYDIS_MNEMONIC_VUNPCKHPD:
	case ZYDIS_MNEMONIC_VUNPCKHPS:
	case ZYDIS_MNEMONIC_VUNPCKLPD:
	case ZYDIS_MNEMONIC_VUNPCKLPS:
		return true;
	default:
		return false;
	}
}

/* How far all elements are shifted is one number. */
static bool is_shifted_by(const ZydisDecodedInstruction *i, bool last)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_VPSLLD:
	case ZYDIS_MNEMONIC_VPSLLQ:
	case ZYDIS_MNEMONIC_VPSLLW:
	case ZYDIS_MNEMONIC_VPSRAD:
	case ZYDIS_MNEMONIC_VPSRAQ:
	case ZYDIS_MNEMONIC_VPSRAW:
	case ZYDIS_MNEMONIC_VPSRLD:
	case ZYDIS_MNEMONIC_VPSRLQ:
	case ZYDIS_MNEMONIC_VPSRLW:
		return last;
	default:
		return false;
	}
}

/* AVX-512: does a mask register tell which elements of the operand in memory are touched? */
static bool is_under_mask(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o, const ZydisDecodedOperand *result)
{
	if (i->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX || i->avx.mask.reg <= ZYDIS_REGISTER_K0 || i->avx.broadcast.mode ||
	    o->element_count * (o->element_size / 8u) * 8 != o->size)
		return false;
	if (o == result)
		return true;
	/* One bit for each element of the result, but that comparisons make bits themselves. */
	bool compares = result->reg.value >= ZYDIS_REGISTER_K0 && result->reg.value <= ZYDIS_REGISTER_K7;

	return (compares || result->element_count == o->element_count) && !mixes_elements(i) && !is_shifted_by(i, o == &result[3]);
}

static bool is_packed(const ZydisDecodedInstruction *i)
{
	return i->meta.category == ZYDIS_CATEGORY_COMPRESS || i->meta.category == ZYDIS_CATEGORY_EXPAND;
}

/* Moves under a mask, or none of it. */
static void add_mask(struct access *a, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o, const ZydisDecodedOperand *all)
{
	a->element = (uint8_t)vector_masked_element(i);
	if (a->element) {
		a->mask = (uint16_t)all[1].reg.value;
	} else if (is_under_mask(i, o, &all[0])) {
		a->element = (uint8_t)(o->element_size / 8);
		a->mask = (uint16_t)i->avx.mask.reg;
		a->packed = is_packed(i);
	}
	if (a->element)
		a->count = (uint8_t)(a->bytes / a->element);
}

/* Bytes of an index of an instruction that gathers or scatters; 0: another one. */
static unsigned index_bytes(const ZydisDecodedInstruction *i)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_VPGATHERDD:
	case ZYDIS_MNEMONIC_VPGATHERDQ:
	case ZYDIS_MNEMONIC_VGATHERDPS:
	case ZYDIS_MNEMONIC_VGATHERDPD:
	case ZYDIS_MNEMONIC_VPSCATTERDD:
	case ZYDIS_MNEMONIC_VPSCATTERDQ:
	case ZYDIS_MNEMONIC_VSCATTERDPS:
	case ZYDIS_MNEMONIC_VSCATTERDPD:
		return 4;
	case ZYDIS_MNEMONIC_VPGATHERQD:
	case ZYDIS_MNEMONIC_VPGATHERQQ:
	case ZYDIS_MNEMONIC_VGATHERQPS:
	case ZYDIS_MNEMONIC_VGATHERQPD:
	case ZYDIS_MNEMONIC_VPSCATTERQD:
	case ZYDIS_MNEMONIC_VPSCATTERQQ:
	case ZYDIS_MNEMONIC_VSCATTERQPS:
	case ZYDIS_MNEMONIC_VSCATTERQPD:
		return 8;
	default:
		return 0;
	}
}

static unsigned vector_bytes(ZydisRegister r)
{
	return r >= ZYDIS_REGISTER_ZMM0 && r <= ZYDIS_REGISTER_ZMM31 ? 64 : r >= ZYDIS_REGISTER_YMM0 && r <= ZYDIS_REGISTER_YMM31 ? 32 : 16;
}

/* As many elements as both vectors have room for. Operands: what is moved, the mask and the memory, in the order of their encoding. */
static void add_elements(struct access *a, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o, const ZydisDecodedOperand *all)
{
	bool evex = i->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	const ZydisDecodedOperand *moved = a->write ? &all[2] : &all[0], *mask = evex ? &all[1] : &all[2];
	unsigned indices, elements;

	a->index_bytes = (uint8_t)index_bytes(i);
	a->element = (uint8_t)(moved->element_size / 8);
	a->indices = (uint16_t)o->mem.index;
	a->mask = (uint16_t)mask->reg.value;
	indices = vector_bytes(o->mem.index) / a->index_bytes;
	elements = vector_bytes(moved->reg.value) / a->element;
	a->count = (uint8_t)(indices < elements ? indices : elements);
}

/* Where a register's value selects what is touched beside the operand's own address. */
static void add_index(struct access *a, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *all)
{
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_XLAT:
		a->at.base = REG_RBX;
		a->at.index = NO_REGISTER;
		a->at.scale_log2 = 0;
		a->by = REG_RAX;
		a->indexed = true;
		break;
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTC:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTS:
		a->indexed = all[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
		a->by = a->indexed ? (uint8_t)accesses_register(all[1].reg.value) : 0;
		break;
	default:
		break;
	}
}

static bool size_has_check(uint64_t bytes)
{
	return bytes == 1 || bytes == 2 || (bytes % 4 == 0 && bytes <= 64);
}

static void add_operand(struct trace *t, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o,
			const ZydisDecodedOperand *all, uint64_t pc, bool write)
{
	ZydisOperandActions wanted = write ? ZYDIS_OPERAND_ACTION_MASK_WRITE : ZYDIS_OPERAND_ACTION_MASK_READ;
	struct access *a = &t->access[t->accesses];

	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || !(o->actions & wanted) || o->size < 8)
		return;
	/* A call's or a return's own word is no data; what a call reads to find its target is. */
	if (touches_no_data(i) && (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN || i->meta.category != ZYDIS_CATEGORY_CALL))
		return;
	if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return;
	bool many = o->mem.type == ZYDIS_MEMOP_TYPE_VSIB && index_bytes(i);

	if (!many && o->mem.type != ZYDIS_MEMOP_TYPE_MEM) {
		say_unseen("bounds tables (MPX)");
		return;
	}
	*a = (struct access){
		.at = address_of(o, i, pc), .bytes = o->size / 8u, .step = (uint8_t)t->steps, .write = write,
	};
	correct_stack_address(i, o, &a->at);
	if (many)
		add_elements(a, i, o, all);
	else
		add_mask(a, i, o, all);
	add_index(a, i, all);
	a->only_called = a->element || a->indexed || !size_has_check(a->bytes);
	t->accesses++;
}

void accesses_add(struct trace *t, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand, uint64_t pc)
{
	for (unsigned n = 0; n < i->operand_count; n++)
		add_operand(t, i, &operand[n], operand, pc, false);
	for (unsigned n = 0; n < i->operand_count; n++)
		add_operand(t, i, &operand[n], operand, pc, true);
}

void accesses_add_word(struct trace *t, uint64_t address)
{
	t->access[t->accesses++] = (struct access){
		.at = { .base = NO_REGISTER, .index = NO_REGISTER, .displacement = (int64_t)address },
		.bytes = 8, .step = (uint8_t)t->steps,
	};
}

bool accesses_sets_stack(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand)
{
	const ZydisDecodedOperand *to = NULL;

	if (i->mnemonic == ZYDIS_MNEMONIC_LEAVE)
		return true;
	for (unsigned n = 0; n < i->operand_count_visible; n++)
		if (operand[n].type == ZYDIS_OPERAND_TYPE_REGISTER && operand[n].reg.value == ZYDIS_REGISTER_RSP &&
		    operand[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			to = &operand[n];
	if (!to)
		return false;
	if (i->mnemonic == ZYDIS_MNEMONIC_XCHG)
		return true;
	if (to->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		return false;            /* computed from itself */
	return !(i->mnemonic == ZYDIS_MNEMONIC_LEA && operand[1].mem.base == ZYDIS_REGISTER_RSP);
}
