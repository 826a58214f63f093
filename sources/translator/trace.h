/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trace: the instructions that one translation covers, with one way in and
 * several out. It goes on behind conditional branches and along direct jumps,
 * and ends behind calls, returns, indirect jumps, system calls and whatever
 * else hands over to C, at a function's first instruction, and where too few
 * registers would be left that it does not mention.
 *
 * What is known of each instruction: the registers and flags that it uses and
 * overwrites, the memory it touches, and where each register's value comes
 * from, so that two operands can be seen to be the same place.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_TRACE_H
#define SLOPE_SOURCES_TRANSLATOR_TRACE_H

#include "sources/translator/outline.h"
#include "sources/translator/space.h"

#define TRACE_STEPS 64u
#define TRACE_ACCESSES 128u
#define TRACE_DOUBTED_BYTES 64u  /* no doubted trace is longer */
#define TRACE_INSTRUCTION_BYTES 15u
#define NO_REGISTER (-1)
#define REGISTERS 16u

#define ARITHMETIC_FLAGS 0x8d5u          /* CF PF AF ZF SF OF, as the processor has them */

struct address {
	int base, index;             /* numbers, or NO_REGISTER */
	unsigned scale_log2;
	int64_t displacement;        /* with no registers: the whole address */
	bool short_registers;        /* 32 bits */
	bool in_fs;
};

struct access {
	struct address at;           /* with the registers as they are before the step */
	uint32_t bytes;
	uint8_t step;
	bool write;
	bool only_called;            /* no check knows it: a call of C, at the step */
	/* Under a mask: bytes of an element (else 0), how many there are, the mask's register, as Zydis numbers it, */
	uint8_t element, count;
	uint16_t mask;
	bool near;                   /* where programs may try any address: the check need not ask whether this one is in the window */
	bool packed;                 /* and as many elements as it has bits lie at the operand's beginning */
	/* Gathers and scatters, too: the vector of indices (0: there is none), and bytes of one of them. */
	uint16_t indices;
	uint8_t index_bytes;
	/* A register's value says which of the units from there on it is: a bit's number in bt and its like, the lowest byte in xlat. */
	bool indexed;
	uint8_t by;                  /* this register */
};

/* A register's value: something unknown with a number, plus a constant. */
struct origin {
	uint16_t id;
	int32_t plus;
};

enum step_kind {
	STEP_PLAIN,                  /* goes on behind itself */
	STEP_BRANCH,                 /* conditional: one way goes on, the other leaves the trace */
	STEP_FOLLOWED,               /* a jump whose target is the next step: nothing is left of it */
	STEP_REPEATED,               /* a repeated string instruction: the last one */
	STEP_REQUEST,                /* the mark of include/slope.h: the last one */
	STEP_LAST,                   /* leaves the trace in its own way */
};

struct step {
	ZydisDecodedInstruction i;
	uint64_t pc, next;
	enum step_kind kind;
	bool taken;                  /* STEP_BRANCH: the trace goes on at the branch's target */
	bool moves_stack;            /* sets the stack pointer to something not computed from it */
	uint16_t vectors;            /* of those that are ours it names these: vectors.h */
	uint64_t far;                /* its operand relative to rip lies there, where no copy reaches it; 0: it has none such */
	uint16_t uses, kills;        /* registers that it needs, or changes in part; that it overwrites */
	uint16_t flag_uses, flag_kills;
	uint16_t live;               /* before it: registers that somebody may still need */
	uint16_t live_flags;
	uint16_t leaving_flags;      /* STEP_BRANCH: those that the way out of the trace wants */
	uint32_t instructions, blocks;     /* from the start of the trace up to and with this one */
	struct origin origin[REGISTERS];   /* before it */
};

/* A stub of the linkage table that a call goes to: the slot that it jumps by, and where that leads now. */
struct stub {
	uint64_t slot, target;       /* target 0: there is no stub, or none that can be seen through */
	uint32_t instructions;
};

struct trace {
	uint64_t start;
	bool alone;                  /* it is its first instruction and no more: the program steps */
	struct step step[TRACE_STEPS];
	unsigned steps;
	struct access access[TRACE_ACCESSES];
	unsigned accesses;
	uint16_t mentioned;          /* registers */
	uint16_t origins;            /* ids that are given */
	uint64_t next;               /* where a trace that ends in the open goes on; 0 when its last step decides */
	uint16_t live_flags;         /* behind the last step */
	int32_t instructions, blocks;      /* what the main way counts in all */
	struct stub stub;            /* of the last step */
	/*
	 * The code may change without our notice (enum space_doubt): then it lies side by side from `start` on, it was this
	 * before anything else was seen of it, and nothing behind the trace's end counts.
	 */
	unsigned doubt;
	uint8_t code[TRACE_DOUBTED_BYTES];
	size_t code_bytes;
	bool known;                  /* which ways out of it are usual: rates.h */
	bool entry_flags;            /* a function that it calls or returns to wants flags from the other side of the call */
};

/* False when there is no code at pc, or code that raises a signal and does nothing else. */
bool trace_make(struct trace *t, uint64_t pc);

/* An instruction of another system, which the translator refuses when it is come to. */
bool trace_is_foreign(const ZydisDecodedInstruction *i);
/* popf, which may set the trap flag: the last one of its trace, with SIGNALS_BEHIND_POPF behind it. */
bool trace_sets_all_flags(const ZydisDecodedInstruction *i);
/* An instruction that is refused, too, since it has an operand relative to %gs, or loads it. */
bool trace_uses_gs(const ZydisDecodedInstruction *i);

/* ---- tablejumps.c ---- */

#define TABLEJUMPS_ENTRIES 1024u         /* more are not looked at */

/* How the jump at the end of a trace goes by a table. */
struct table_use {
	uint64_t table;
	unsigned bytes;              /* of an entry: 8, an address; 4, a distance from the table */
	int index;                   /* the register that has the entry's number, */
	int base;                    /* and one that must have base_value for this to be the table; NO_REGISTER: it is */
	uint64_t base_value;
	unsigned step;               /* that reads the entry: the registers are those before it */
};

/* Does it? */
bool tablejumps_find(const struct trace *t, struct table_use *use);
/* How many entries it has that are code of this module, and perhaps of what lies behind it. 0: somebody may write to it. */
uint32_t tablejumps_entries(const struct table_use *use, uint32_t module);
/* Where an entry leads. */
uint64_t tablejumps_entry(uint64_t table, unsigned bytes, uint32_t n);
/* Does nobody want flags behind the indirect jump that the trace ends with? */
bool tablejumps_flags_are_dead(const struct trace *t);

/* ---- effects.c ---- */

/* What code may use before it sets it. */
struct wanted {
	uint16_t flags, registers;
	uint16_t used;               /* of the flags, those that it surely does use: beyond the look nobody knows */
};

/* Those that the instruction uses; those that it overwrites. */
void effects_flags(const ZydisDecodedInstruction *i, uint16_t *uses, uint16_t *kills);
/* Those that the instruction needs, or changes in part; those that it overwrites. */
void effects_registers(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand, uint16_t *uses, uint16_t *kills);
bool effects_is_repeated(const ZydisDecodedInstruction *i);
bool effects_is_call_or_return(const ZydisDecodedInstruction *i);

/* How many bytes from the program's address on are code; the block that is being made depends on them. */
size_t effects_readable(uint64_t pc);
/* The same for code that the trace is not made of, but of which something is to be known: nothing is of what is doubted. */
size_t effects_ahead(uint64_t pc);

/*
 * The instruction at s->pc, which is of at most so many bytes: what it is, and what it uses and overwrites. Its operands, all of
 * them, good until the next call; NULL: there is none. The decoder is begun.
 */
const ZydisDecodedOperand *effects_decode(struct step *s, size_t bytes);

/* What the code at pc wants, as far as a look ahead shows. The decoder is begun. */
struct wanted effects_wanted(uint64_t pc);
/* An instruction in outline. */
bool effects_outline(const void *code, size_t bytes, struct outline *o);
/*
 * Does the code begin with a use of flags that somebody else has left? Only
 * its first instruction tells: behind a call that never returns there may be
 * any code, which others jump to with flags of their own.
 */
bool effects_begins_with_flags(uint64_t pc);
/*
 * The same for a call of a function that changes no flag on its way to its return, as Go's for clearing memory: then any
 * instruction behind the call tells, since the function does come back.
 */
bool effects_flags_pass(uint64_t function, uint64_t behind);

/* ---- flagreturns.c ---- */

/* Behind the call code begins with a use of flags. May they come from the call? In doubt they may. */
bool flagreturns_may(const struct step *call);

/* ---- doubts.c ---- */

/* May an instruction there change without our notice? Near the end of a page the next one counts as well. */
enum space_doubt doubts_at(uint64_t pc);
/* Finds out whether the trace is doubted, and if so what it is made of, before anybody looks at it. */
void doubts_begin(struct trace *t, uint64_t pc, size_t readable);
/* Must the trace end behind this step, since what follows may be different then from what it is now? */
bool doubts_end(const struct trace *t, const struct step *s, const ZydisDecodedOperand *operand);

/* ---- accesses.c ---- */

/* Appends what the instruction touches to the trace. */
void accesses_add(struct trace *t, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand, uint64_t pc);
/* Does the instruction set the stack pointer to something not computed from it? */
bool accesses_sets_stack(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand);
/* A read of a word at a constant address, by the step that is being added. */
void accesses_add_word(struct trace *t, uint64_t address);
/* The general register around this one, or NO_REGISTER. */
int accesses_register(ZydisRegister r);

#endif
