/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The context of a thread: what translated code and gate.S reach through %gs.
 * While translated code runs, the program's registers are in the real ones;
 * `reg` holds them while C runs. The order is that of the instruction set.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_CONTEXT_H
#define SLOPE_SOURCES_TRANSLATOR_CONTEXT_H

#define REG_RAX 0
#define REG_RCX 1
#define REG_RDX 2
#define REG_RBX 3
#define REG_RSP 4
#define REG_RBP 5
#define REG_RSI 6
#define REG_RDI 7
#define REG_R8 8
#define REG_R9 9
#define REG_R10 10
#define REG_R11 11

/*
 * A thread's shadow window, with its context before it: the shadow of no address that a program may try is there.
 *
 * A word's place in its page is not that of its cell: where the lowest 12 bits of two addresses are the same, Intel's processors take
 * a load for one of what is being stored, and wait until they know better; blocks store to the shadow of what they load next. Nor
 * has an operand for a shadow word the base and displacement of the program's own operand for the cell: AMD's
 * processors guess by these which store a load is served from, and find out late (a fifth of the time). So
 * the first word lies 64 bytes behind the window's start, and %gs holds what is 128 bytes behind that word. 128 less is a short
 * displacement where the program's is from 0 to 255.
 */
#define WINDOW_BEFORE 0x100000   /* bytes */
#define SHADOW_PLACE 64          /* the shadow of address 0, from the window's start on; */
#define GS_PLACE (SHADOW_PLACE + 128)   /* where %gs is; */
#define GS_BIAS (-128)           /* and the shadow of address 0 from there */

#define CTX_PLACE (0xe000 - WINDOW_BEFORE)      /* from the window's start on, */
#define CTX_AT (CTX_PLACE - GS_PLACE)            /* and from %gs on */

#define CTX_REG(n) (CTX_AT + 8 * (n))
#define CTX_FLAGS (CTX_AT + 128)    /* of the program */
#define CTX_HOST_RSP (CTX_AT + 136)    /* our own stack, 16-byte aligned */
#define CTX_SELF (CTX_AT + 144)    /* this context */
#define CTX_TARGET (CTX_AT + 152)    /* where translated code goes on: in the cache */
#define CTX_GUEST_TARGET (CTX_AT + 160)    /* where an indirect branch goes: the program's address */
#define CTX_SPARE (CTX_AT + 168)    /* five words for sequences in the cache */
#define CTX_INSIDE (CTX_AT + 208)    /* slope_dispatch is at work: the program's flags are in the context */
#define CTX_TOP (CTX_AT + 216)    /* the topmost activation's stamp, twice; one that is above all words: C decides */
#define CTX_TOP_MASK (CTX_AT + 224)    /* bits that are always set there: those of such a one, or none */
#define CTX_FS (CTX_AT + 232)    /* the program's %fs */
#define CTX_USUAL (CTX_AT + 240)    /* the same as CTX_CORE, or one with which no call and no return is for usual.S */
#define CTX_WAITING (CTX_AT + 248)    /* number of the signal that is noted, or 2^32 to stand still; 0: nothing waits */
#define CTX_CORE (CTX_AT + 256)    /* the running fiber's struct slope_thread */
#define CTX_TOP_SP (CTX_AT + 264)    /* the topmost frame's stack pointer */
#define CTX_STAMP_HOME (CTX_AT + 272)    /* the program's value of the register that holds CTX_TOP in a block */
#define CTX_SPARE_HOME (CTX_AT + 280)    /* the same of the one that a check borrows */
#define CTX_SPAN (CTX_AT + 288)    /* bytes of the window above PLAN_LOWEST */
#define CTX_RAX_HOME (CTX_AT + 296)    /* of the program, and */
#define CTX_FLAGS_HOME (CTX_AT + 304)    /* its flags, around a check */
#define CTX_ODD (CTX_AT + 312)    /* calls and returns are not even for quick.c */
#define CTX_KEPT (CTX_ODD + 8)    /* registers while misses.S takes cells */
#define CTX_LOG (CTX_ODD + 40)    /* bytes of the log that are used, and right behind it, so that both are one vector: */
#define CTX_COST (CTX_ODD + 48)    /* what was spent, one word per unit: blocks count instructions and themselves */
#define CTX_FAR_HOME (CTX_COST + 32)    /* of the register by way of which an instruction reaches its operand */
#define CTX_PATH (CTX_COST + 40)    /* the path that is being followed: following.h */
#define CTX_PATH_KEPT (CTX_COST + 48)    /* two registers while code for paths uses them */
#define CTX_TICKS_IN (CTX_COST + 80)    /* the time stamp counter when a measured path came to C, */
#define CTX_TICKS_OUT (CTX_COST + 88)    /* and when it went on */
#define CTX_PATH_CONTEXT (CTX_COST + 96)    /* its calling context: following.h */
#define CTX_COUNTDOWN (CTX_COST + 72)    /* calls until one is measured */
#define CTX_OLD_SP (CTX_COST + 64)    /* the stack pointer before it was set last */
#define CTX_PATH_WINDOW (CTX_COST + 104)    /* where calls keep their paths: what %gs holds, or a window of its own */
#define CTX_SUMS (CTX_COST + 120)    /* where the log's end and the first cost are: one of the three below */
#define CTX_VECTOR (CTX_COST + 128)    /* vector registers of the program while compacting.h uses them */
#define CTX_DIRECTORY (CTX_VECTOR + 64)    /* what threads say about each other's cells, by address: core/sharing.h */
#define CTX_FIBER (CTX_VECTOR + 72)    /* the stack that it runs on */
#define CTX_BY_16 (CTX_VECTOR + 80)    /* there is AVX-512 */
#define CTX_MASKS (CTX_VECTOR + 88)    /* the program's k6 and k7, and */
#define CTX_VECTORS (CTX_VECTOR + 104)    /* its zmm24 to zmm31, where vectors.h has taken them */
#define CTX_LANDED (CTX_COST + 112)    /* control comes to a place where a path has been begun for it: pathlandings.c */

/* Behind the context, in a thread that has a shadow window: records of functions, by number, where quick.c may use them. */
#define CTX_QUICK_PLACE (0x20000 - WINDOW_BEFORE)
#define CTX_QUICK_AT (CTX_QUICK_PLACE - GS_PLACE)
#define CTX_QUICKS ((CTX_LOG_AT - CTX_QUICK_AT) / 8)
/* And behind them the log of core/log.h, from such a place on that the lower half of where it ends, as %gs has it, is how long it is. */
#define CTX_LOG_AT (-0x10000)
#define CTX_LOG_PLACE (CTX_LOG_AT + GS_PLACE)
#define CTX_LOG_BYTES 0xef00
#define CTX_LOG_CLOSED 0x10000   /* added to its end: no block adds to it, as if it were full */
#define CTX_LOG_GUARD (0xf000 - GS_PLACE)         /* a page of it that can be read only: what stalereads.c appends there faults */
#define LOG_SECTION_BYTES 4096   /* SLOPE_LOG_SECTION_BYTES */

/* CTX_SUMS: */
#define SUMS_IN_MEMORY 0         /* always in the context: vectors are not ours */
#define SUMS_HELD 1              /* translated code runs, and they are in a vector, with CTX_LOG_AT added to the first: vectors.h */
#define SUMS_AWAY 2              /* C runs, or the program has its own value in that vector: in the context */
#define SUMS_COST_MAX 127        /* of slope_gate_costs */

/* Reads: what becomes of the knowledge that the last write was the thread's own (core/stamp.h). */
#define GATE_RMS 0               /* nobody asks for it */
#define GATE_ALONE 1             /* it is kept */
#define GATE_SHARED 2            /* it is lost: slope_thread.own_kept */

/* What is read or written under a mask, as one number: bytes of an element, these, and from bit 16 on how many elements there are. */
#define MASKED_WRITE 0x100
#define MASKED_PACKED 0x200      /* as many as the mask has bits, side by side */
#define GATE_KINDS 3

/* Fields of struct slope_thread, */
#define CORE_FRAME 0
#define CORE_CLOCK 8             /* twice */
#define CORE_OWN_KEPT 16
#define CORE_HINT_STAMP 20
#define CORE_HINT_SPAN 24
#define CORE_HINT 32
#define CORE_STAMP_LIMIT 40
#define CORE_LAST 48
#define CORE_TALLY 80
#define CORE_TALLIES 88
#define CORE_TALLIES_MAX 92
#define CORE_PLAIN 96
#define CORE_OWNED 104
#define CORE_MET_KEPT 380
/* of struct slope_frame, */
#define FRAME_RECORD 0
#define FRAME_SP 8
#define FRAME_STAMP 16           /* twice */
#define FRAME_TALLIES 24         /* these two are one word */
#define FRAME_FLAGS 28
#define FRAME_BACK 32            /* the program's address, and in the upper half where in the cache that is */
#define FRAME_LOG 40             /* and these two, in words of 8 bytes, one vector: as CTX_LOG and CTX_COST */
#define FRAME_ENTRY 48
#define FRAME_RMS 112
#define FRAME_EXTRA 120
#define FRAME_THREAD 128
#define FRAME_BYTES 192
/* of struct slope_record, */
#define RECORD_FN 0
#define RECORD_ACTIVE 8
#define RECORD_TALLY 12
#define RECORD_NESTED 16
#define RECORD_EDGE 64
#define RECORD_AGAIN 128
/* of struct slope_again, */
#define AGAIN_LIKE 0
#define AGAIN_COUNT 8
#define AGAIN_BYTES 16
#define AGAIN_PLACES 16          /* SLOPE_AGAIN */
#define AGAIN_SIZE_BITS 16       /* SLOPE_AGAIN_SIZE_BITS */
/* of struct slope_edge with one unit, */
#define EDGE_CALLER 16
#define EDGE_FIRST 20
#define EDGE_ROWS 22
#define EDGE_NESTED 24
#define EDGE_ROW 32
#define EDGE_BITS 3              /* SLOPE_EDGE_BITS */
#define EDGE_PAIRS 4             /* SLOPE_EDGE_PAIRS */
/* of struct slope_tally with one unit, of struct codecache_target and of struct fiber. */
#define TALLY_CALLEE 0
#define TALLY_OUTER 8
#define TALLY_CALLS 16
#define TALLY_COST 24
#define TALLY_BYTES 32
#define TARGET_CODE 8
#define TARGET_FN 12
#define FIBER_TAIL_RUN 72
/* More frames than so many at one stack pointer are too many. */
#define TAIL_RUN_MAX 256
/* Of core/stamp.h: from one to the next, bits that every stamp has, and the least that an ordinary one is. */
#define STAMP_STEP 2
#define STAMP_MARKS 0x808080
#define STAMP_LEAST 0x1000000
#define STAMP_PENDING 0xc0000000
/* Of struct slope_frame. */
#define FRAME_INDUCED 4
#define FRAME_SUMS 128

/* Why translated code leaves for C: struct site in runtime.h. */
#define SITE_DIRECT 0            /* a direct branch that is to be linked */
#define SITE_INDIRECT 1          /* the context has the program's address */
#define SITE_SYSCALL 2
#define SITE_ODD_STACK 3         /* the stack pointer is not a multiple of 4: nobody may take it for one any more */
#define SITE_CHANGED 4           /* the code is not what the block was made of */
#define SITE_RETURN 5            /* as SITE_INDIRECT, behind a call: the path is the caller's */
#define SITE_CASE 6              /* as SITE_INDIRECT; the path is one that goes on there */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/signal.h>

/* A page of the program's below its stack that gate.S may write to for a moment: lending.c. */
struct lent {
	uint64_t page;               /* 0: none */
	void *was;                   /* what was in it */
	bool new;                    /* there was none */
};

#define CONTEXT_LENT 2u
#define CONTEXT_HELD_SIGNALS 12u         /* numbers up to that of SIGSEGV */
#define CONTEXT_HELD_BYTES 32u           /* what a siginfo_t of a sent signal has */

/* Code that raises a signal: raising.c. */
struct raising {
	void *pages;                 /* the thread's own; NULL: it has needed none yet */
	uint64_t pc, place;          /* the program's address, and where a copy of what is there runs */
	uint64_t limit;              /* the program's address that the end of the first page stands for */
	bool tried;                  /* in a single step: nobody knows if it will raise anything */
};

/* What a signal handler has interrupted: stack pointer, address, path; and where its own return address lies. */
struct interrupted {
	uint64_t sp, frame, pc, path;
	bool apart;                  /* on the alternate stack, and it has interrupted another */
};

/* A return address, before the unwinder has changed it. */
struct unwinding {
	uint64_t slot, back;
};

struct context {
	uint64_t reg[16];
	uint64_t flags, host_rsp;
	struct context *self;
	uint64_t target, guest_target;
	uint64_t spare[5];
	uint64_t inside;
	uint64_t top, top_mask, fs;
	struct slope_thread *usual;
	uint32_t waiting;                /* number of the signal that is noted */
	uint32_t asked;                  /* it is to stand still: see threading.c */
	struct slope_thread *core;
	uint64_t top_sp;
	uint64_t stamp_home, spare_home;
	uint64_t span;
	uint64_t rax_home, flags_home;
	uint64_t odd;
	uint64_t kept[4];
	uint64_t log;
	uint64_t cost[4];
	uint64_t far_home;
	uint64_t path, path_kept[2], old_sp;
	int64_t countdown;
	uint64_t ticks_in, ticks_out;
	uint64_t path_context;
	char *path_window;
	uint64_t landed;
	uint64_t sums;
	uint64_t vector[8];
	uint32_t *directory;
	struct fiber *fiber;             /* the stack that it runs on */
	bool by_16;                      /* there is AVX-512: compacting.h */
	uint64_t masks[2], vectors[8][8];        /* vectors.h */
	struct path_case *path_case;     /* the one that C has just looked at, if it may be taken without C from now on */
	uint64_t path_flag;              /* PATHS_MEASURED: the activation that begins next is measured */
	struct measures *measures;
	struct slope_context **node;     /* calling contexts by number */
	size_t node_capacity;
	struct interrupted *handler;
	size_t handlers, handler_capacity;
	struct unwinding *unwinding;
	size_t unwound, unwinding_capacity;
	uint64_t path_pc;                /* where the program is while C is at work, if that counts for its path */
	uint64_t clock;                  /* when the time was looked at last, in cycles; see fibers.c */
	struct fiber *fibers;            /* all of its stacks, the first one made last */
	uint64_t signal_mask;            /* the program's, while a signal is waiting */
	uint8_t signal_info[128];        /* of the one that is waiting */
	stack_t altstack;                /* the program's */
	bool own_altstack;               /* our own is set */
	uint64_t faults_blocked;         /* which the program believes to be: the kernel does not hear of it */
	uint64_t held;                   /* of these, those that have been sent all the same (held.c), */
	uint8_t held_info[CONTEXT_HELD_SIGNALS][CONTEXT_HELD_BYTES];     /* by whom and how */
	struct lent lent[CONTEXT_LENT];
	struct raising raising;
	/* The program has set the trap flag: signals.c. */
	bool stepping;
	bool step_due;                   /* and an instruction has begun, behind which it is to be told */
	uint64_t pushed_at;              /* the cache's address behind a push of flags that is under way, or 0 */
	/* threading.c */
	struct context *next;            /* of all threads */
	struct room *room;               /* NULL: the first thread's */
	uint64_t tid;
	uint32_t rests;                  /* it is not waited for */
	uint32_t disturbed;              /* a system call has been broken off for us, not for the program */
	uint64_t begins_at;              /* the program's address where it does */
	uint64_t own_stack, own_stack_end;   /* where the program's stack for it lies */
};

_Static_assert(sizeof(struct context) <= 4096, "rooms.c lays them so close");

_Static_assert(CTX_AT + (int)offsetof(struct context, flags) == CTX_FLAGS, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, self) == CTX_SELF, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, guest_target) == CTX_GUEST_TARGET, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, spare) == CTX_SPARE, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, cost) == CTX_COST, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, inside) == CTX_INSIDE, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, usual) == CTX_USUAL, "as usual.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, waiting) == CTX_WAITING, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, top) == CTX_TOP, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, fs) == CTX_FS, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, core) == CTX_CORE, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, top_sp) == CTX_TOP_SP, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, stamp_home) == CTX_STAMP_HOME, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, spare_home) == CTX_SPARE_HOME, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, flags_home) == CTX_FLAGS_HOME, "as checks.c has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, odd) == CTX_ODD, "as quick.c has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, far_home) == CTX_FAR_HOME, "as blocks.c has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, path) == CTX_PATH, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, path_kept) == CTX_PATH_KEPT, "as pathcode.c has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, ticks_in) == CTX_TICKS_IN, "as pathcode.c has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, ticks_out) == CTX_TICKS_OUT, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, path_context) == CTX_PATH_CONTEXT, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, countdown) == CTX_COUNTDOWN, "as pathcode.c has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, old_sp) == CTX_OLD_SP, "as blocks.c has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, path_window) == CTX_PATH_WINDOW, "as pathcode.c has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, log) == CTX_LOG, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, sums) == CTX_SUMS, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, vector) == CTX_VECTOR, "as compacting.h has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, directory) == CTX_DIRECTORY, "as gate.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, fiber) == CTX_FIBER, "as usual.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, by_16) == CTX_BY_16, "as longreads.S has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, masks) == CTX_MASKS, "as vectors.c has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, vectors) == CTX_VECTORS, "as vectors.c has it");
_Static_assert(CTX_AT + (int)offsetof(struct context, landed) == CTX_LANDED, "as gate.S has it");
_Static_assert(CTX_LOG_GUARD >= CTX_LOG_BYTES + 64 && (CTX_LOG_PLACE + CTX_LOG_GUARD) % 4096 == 0, "core/log.h has 64 bytes behind it");
_Static_assert(CTX_PLACE % 4096 == 0 && SHADOW_PLACE % 64 == 0 && GS_PLACE + GS_BIAS == SHADOW_PLACE, "rooms.c gives back whole pages");

/* The context of the thread that runs. */
static inline struct context *context_here(void)
{
	return *(struct context *__seg_gs *)(intptr_t)CTX_SELF;
}

/* The shadow window that it lies before. */
static inline void *context_window(struct context *ctx)
{
	return (char *)ctx - CTX_PLACE;
}

/*
 * clone for a thread: `args` are the system call's, but the stack. The child
 * goes on in slope_thread_begins, with this window, on this stack, and from there
 * to the context's target.
 */
long slope_gate_clone(const uint64_t *args, void *stack, void *window);
void slope_thread_begins(struct context *ctx);
/* The thread ends; `*busy` becomes 0 when neither its stack nor its context are needed any more. */
void slope_gate_exit(int status, uint32_t *busy) __attribute__((noreturn));

/* Starts the program in this window: loads its registers from the context and goes to `target`. Never returns. */
void slope_gate_start(void *window) __attribute__((noreturn));

/* Where translated code goes to leave for C; slope_dispatch decides what comes next. */
void slope_gate_leave(void);
void slope_dispatch(const void *site, struct context *ctx);

/* Called from translated code on our stack, all registers but rdi kept. */
void slope_gate_report(void);

/*
 * A read or write that a check has not let pass, of 1, 2, 4 or 8 bytes (the
 * last index: 0 to 3; the first one of reads: vectors are ours). The stamp's register, of that number, is the address; afterwards it
 * is the stamp again. Called below the program's red zone, where lending.c helps if there is no
 * memory; all other registers are kept, flags are not.
 */
extern void (*const slope_gate_reads[2][GATE_KINDS][16][4])(void), (*const slope_gate_writes[16][4])(void);

/*
 * A read or write that a check has not let pass, of ecx bytes. rax: the
 * address; its own value is in the context. On our stack; all registers but rax and rcx are kept, flags are not.
 */
void slope_gate_read_any(void);          /* nobody asks whose a cell was last */
void slope_gate_read_any_kept(void);
void slope_gate_write_any(void);

/* A read under a mask, with the address in rax, the mask in rcx, and in edx what reports_masked wants. Flags are kept. */
void slope_gate_masked_read(void);
void slope_gate_masked_read_kept(void);

/*
 * Calls and returns, on the program's stack, flags not kept. Registers that arguments are in are kept first, by vectors_keep: the first
 * one as the first, the second as the second.
 */
struct usual_gates {
	/*
	 * r10: the return address and, in its upper half, where in the cache that is; r11: the function, a number below CTX_QUICKS.
	 */
	void (*call)(void);
	void (*call_lent)(void);         /* the same, but r11 is borrowed, not kept, and changed */
	void (*call_address)(void);      /* rax as r10 above, rcx: the target; its own value is in the context */
	void (*jump_from_stub)(void);    /* rax is kept, rcx as above */
	void (*jump)(void);              /* at a function's first instruction; rax is kept, rcx: the function */
	void (*leave)(void);             /* jumped to instead of a return instruction; it finds the translation */
	void (*leave_lent)(void);        /* the same, r11 being borrowed: it comes back from CTX_STAMP_HOME */
};
/* What is added to the sums: for where the log is, for one and two entries of it, and for costs from -SUMS_COST_MAX on; sums.h. */
extern const uint64_t slope_gate_log_at[2], slope_gate_entries[2][2], slope_gate_costs[2 * SUMS_COST_MAX + 1][2];
extern const uint32_t slope_gate_ones[4], slope_gate_marks[4];
/* The second is where vectors are ours. */
extern const struct usual_gates slope_gate_usual[2];
void slope_gate_return_event(void);      /* called before a return that pops more; only the event, and the address to return to */
void slope_gate_plain_return(void);      /* the same as `leave` above when nothing is observed */
void slope_gate_plain_return_event(void);
void slope_gate_path_return(void);       /* the same when paths are followed, but nothing else is observed */
void slope_gate_path_return_event(void);
void slope_gate_path_return_saved(void);         /* the program's rcx is in the context */
void slope_gate_path_return_event_saved(void);
void slope_gate_context_return(void);    /* and with calling contexts of paths */
void slope_gate_context_return_event(void);

/*
 * A system call of the program. Not made, with result -512, when a signal is
 * waiting or comes before its instruction: signals.c knows the places.
 */
long slope_gate_syscall(long number, const uint64_t *args);
extern const char slope_gate_syscall_begin[], slope_gate_syscall_instruction[], slope_gate_syscall_aborted[];

/* Around all of gate.S and quick.c. */
extern const char slope_gate_first[] __asm__("__start_slope_gate_code"), slope_gate_last[] __asm__("__stop_slope_gate_code");

/* The kernel's signal return, for our own handler. */
void slope_gate_sigreturn(void);
/* Jumped to out of a block that has run so often: eax is its struct rates_block, the program's rax is in the context. */
void slope_gate_counted(void);
#endif

#endif
