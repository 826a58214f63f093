/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The translator's inner workings, shared by its files:
 *
 *   slope-translator.c  options, the way from here into the program
 *   plan.h              who lies where
 *   system.c            system calls, words, pages
 *   space.c             the program's memory map
 *   loading.c           the program and its interpreter into memory
 *   sanitizers.c        programs that want to lie elsewhere in it
 *   startstack.c        what the program finds on its stack
 *   decoder.c           Zydis
 *   codecache.c         translated blocks: finding, linking, throwing away
 *   making.h            how a block of translated code is made, and in which files
 *   following.h         paths through functions, and in which files
 *   gate.S              the ways between C and translated code
 *   dispatch.c          what happens when translated code leaves for C
 *   syscalls.c          system calls of the program
 *   execing.c           other programs in its place
 *   vforks.c            children by vfork and posix_spawn
 *   vsyscalls.c         the page that old programs call
 *   selfview.c          /proc/self as it should be
 *   limits.c            limits to its memory, which are not for ours
 *   signals.h           its signals and their handlers, and in which files
 *
 *   threading.c         threads of the program: their start and end, waiting for all of them
 *   rooms.c             stacks and shadow windows of threads
 *   locking.c           the lock
 *
 * One global state holds all that would otherwise be globals: one process has
 * one translator. What belongs to a thread is in its context.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_RUNTIME_H
#define SLOPE_SOURCES_TRANSLATOR_RUNTIME_H

#include "sources/translator/codecache.h"
#include "sources/translator/context.h"
#include "sources/translator/decoder.h"
#include "sources/translator/locking.h"
#include "sources/translator/plan.h"
#include "sources/translator/space.h"
#include "sources/translator/system.h"

#define RUNTIME_PATH_BYTES 4096

struct runtime {
	struct lock lock;            /* of what follows, and of all that observing.h names but a thread's own */
	struct space space;
	struct codecache cache;
	struct decoder decoder;
	uint32_t window_log2;        /* W = 2^window_log2 */
	bool flags_cross_calls;      /* the program passes flags to functions or back: against the ABI */
	bool precise;                /* it has a handler for faults: registers must be right wherever one can happen */
	bool odd_stack;              /* its stack pointer is not always a multiple of 4 */
	bool start_over;             /* a block could not be made, since the others turned out to be wrong */
	bool translated_shared;      /* translations know that there are several stacks, */
	bool translated_apart;       /* and observer.apart */
	const char *self;            /* our own file */
	const char *program;         /* the program's file, as it was named */
	const char *program_on_stack;    /* the same where the program finds it */
	char program_path[RUNTIME_PATH_BYTES];   /* the same, absolute and without links */
	char **options;              /* our own arguments, for children */
	int option_count;
	char **environment, **argv;  /* of the program */
	struct vfork_pages *to_parent;   /* vforks.c: this is a child by vfork, */
	int parent_waits;                /* whose parent waits until nobody has this descriptor; 0: not in that way */
};

extern struct runtime runtime;

/* ---- loading.c ---- */

struct image {
	uint64_t entry, base, bias, headers;   /* base: lowest address; headers: where the segment table is */
	uint32_t header_count;
	bool runs_stack;             /* its stack may be executed: nested functions of gcc */
	char interpreter[RUNTIME_PATH_BYTES];  /* empty: none */
};

enum loading {
	LOADING_DONE, LOADING_NOT_FOUND, LOADING_NOT_ELF, LOADING_OTHER_MACHINE, LOADING_BROKEN, LOADING_NO_ROOM,
	LOADING_PRIVILEGED, LOADING_NO_INTERPRETER, LOADING_SANITIZED,
	LOADING_ADDRESS_SANITIZED, LOADING_LEAK_SANITIZED,   /* and Valgrind is none for it either */
};

/* Maps an ELF program into the program's space. */
enum loading loading_image(const char *path, struct image *image);
/* Could it be loaded, and its interpreter? A script counts if it is one. Maps nothing. */
enum loading loading_probe(const char *path, char *script_line, size_t room);
/* Why not, in words. */
const char *loading_reason(enum loading how);

/* ---- sanitizers.c ---- */

/* One of LOADING_*SANITIZED, if the program is built with one that has no room here; else LOADING_DONE. */
enum loading sanitizers_in(const char *path);

/* ---- startstack.c ---- */

/* Fills the program's stack; `own` is the stack we were started with. Returns its stack pointer, 0 without memory. */
uint64_t startstack_make(const uint64_t *own, const struct image *image, const struct image *interpreter, char **argv);
/* The program may have raised the limit to its stack, which then reaches further down. Not with the lock held. */
void startstack_follow_limit(void);

/* ---- blocks.c ---- */

/*
 * The translation of the code at `pc`, made now; the cache has room, and the
 * lock is held. It borrows the register `prefer`, which whoever comes first has borrowed, if it can; -1: any.
 * `alone`: of its first instruction and no more; only codecache_find_alone finds it.
 * NULL: no code is there, or some that raises a signal. Stops the process where it cannot be made.
 */
const struct block *blocks_translate(uint64_t pc, int prefer, bool alone);

/* ---- dispatch.c ---- */

/* What a site is, SITE_* of context.h: the record lies behind the call to slope_gate_leave. */
struct site {
	uint64_t target;             /* the program's address to go on at; SITE_INDIRECT: the branch's own, the context has the other */
	uint32_t kind;
	struct codecache_branch branch;      /* SITE_DIRECT; elsewhere all but the first number may be missing */
} __attribute__((packed));

/* The block at the program's address, made on first use; NULL: there is none to be made, and raising.c knows what to do. */
const struct block *dispatch_block(uint64_t pc);
/* The same for the instruction there alone: whoever comes to its end comes to the start of a block. */
const struct block *dispatch_alone(uint64_t pc);
/* The block in the making is made of the code there: it dies when that is written, unmapped or protected otherwise. */
void dispatch_depends_on(uint64_t address);

/* Something that cannot be done yet, at this address (0: none): one line, what there is of a profile, the end. */
void dispatch_refuse(const char *what, uint64_t pc) __attribute__((noreturn));

/* ---- vsyscalls.c ---- */

/* Where the program goes on instead: at a function of its own that does what a vsyscall does; else there. Not with the lock held. */
uint64_t vsyscalls_instead(uint64_t pc);

/* ---- syscalls.c ---- */

#define SYSCALLS_NOT_MADE (-512)         /* as slope_gate_syscall has it: a signal came first */

/* The system call in the context. Returns where the program goes on; `next` is behind the instruction. */
uint64_t syscalls_do(struct context *ctx, uint64_t next);

/* ---- execing.c ---- */

/* execveat. Returns only when it fails. */
long execing_do(int at, const char *path, char **argv, char **envp, int flags);

/* ---- vforks.c ---- */

/* Before a vfork with this stack pointer; NULL: nothing will come back. */
struct vfork_pages *vforks_before(uint64_t sp);
/* Then in the child, */
void vforks_child(struct vfork_pages *pages);
/* wherever it may end or run another program, */
void vforks_tell(void);
/* and in the parent when it goes on. */
void vforks_after(struct vfork_pages *pages);

/* ---- selfview.c ---- */

/* Is this path of the program /proc/self/<what>, under any of its names? */
bool selfview_names(uint64_t path, const char *what);
/* readlink of exe; open of maps: the kernel's results. */
long selfview_link(uint64_t to, uint64_t room);
long selfview_open_maps(int flags);

/* ---- limits.c; with the lock held ---- */

/* Is this system call about a limit to the program's memory? Then it is answered here. */
bool limits_are_meant(long number, const uint64_t *args);
long limits_call(long number, const uint64_t *args);
/* May it have so much more? `data`: to write to, for itself alone. Where `start` is not 0, in place of what is there. */
bool limits_allow(uint64_t start, uint64_t bytes, bool data);
/* For a program in this one's place, which has a translator: an option that says all of it, or NULL. */
const char *limits_as_option(void);
bool limits_option(const char *option);
/* For one that has none; and when it could not be run. */
void limits_tell_kernel(void);
void limits_take_back(void);

/* ---- rooms.c ---- */

/* What a thread needs of memory: its stacks, and a window for its context and, if there are not too many, its shadow. */
struct room {
	struct room *next;
	char *window;                /* its shadow; the context lies before it (context.h) */
	char *stack;                 /* ROOMS_SIGNAL_BYTES for our signal handler, then ROOMS_STACK_BYTES */
	char *path_window;           /* where calls keep their paths; NULL: in the window */
	uint64_t shadow_bytes;       /* 0: the window holds the context alone */
	uint32_t busy;               /* a thread of the kernel uses it */
};

#define ROOMS_SIGNAL_BYTES (1u << 20)
#define ROOMS_STACK_BYTES (1u << 20)

/* Pages for a window of this size and what lies before it: where the window begins. NULL when memory runs out. */
void *rooms_window(uint64_t shadow_bytes);
/* Empty, with a context that knows itself. NULL when memory runs out. */
struct room *rooms_take(uint64_t shadow_bytes);
/* Its thread is about to end: what it has touched goes back, but for the context and the stacks. */
void rooms_clear(struct room *room);
/* After a fork: no other thread uses any. */
void rooms_only(struct room *room);

/* ---- raising.c ---- */

/* Where the processor is to go, with which flags, for an address that has no block, to raise the signal that is due there. */
uint64_t raising_place(uint64_t pc, uint64_t *flags);
/* The same where the branch at this address has led there (0: a return), with the registers and flags in the context. */
uint64_t raising_branched(struct context *ctx, uint64_t pc, uint64_t branch);
/* The thread has ended, and will come to no such address any more. */
void raising_ends(struct context *ctx);

/* ---- threading.c ---- */

/* The first thread's context, made before all. */
void threading_init(struct context *first);
/* Has there been a second one? */
bool threading_many(void);
/* clone with CLONE_THREAD; `next` is where the new thread begins, too. */
long threading_start(struct context *ctx, const uint64_t *args, uint64_t next);
/* The system call exit. Returns only when a signal has to be delivered first. */
long threading_exit(struct context *ctx, int status);
/* A fork: around it, and in the child. */
void threading_before_fork(void);
void threading_after_fork(void);
void threading_forked(void);

/*
 * A thread that waits, or does what may take long, and touches nothing of
 * ours: nobody waits for it, and it does not go on while all must stand still.
 */
void threading_rest(struct context *ctx);
void threading_wake(struct context *ctx);
/* At the start of a block, or anywhere where only the context counts: stands still as long as it must. */
void threading_pause(struct context *ctx);

/* All other threads stand still, at the start of a block or resting, until threading_go_on. Not with the lock held. */
void threading_stand_still(void);
void threading_go_on(void);
/* Of all threads, which stand still. */
void threading_each(void (*act)(struct context *ctx));
/* Must this thread stand still soon? */
bool threading_wanted(const struct context *ctx);
/* The cache is emptied, unless somebody has done that since this generation. Not with the lock held. */
void threading_empty_cache(uint64_t generation);

/* ---- signals.c, dispositions.c ---- */

#define TRAP_FLAG 0x100u         /* the processor goes on step by step, to where a signal can be delivered */

/* A nop: right behind popf, where a trap flag that it has set is seen. */
#define SIGNALS_BEHIND_POPF 0x90

/* Before the program's first instruction. */
void signals_start(void);
/* From now on a write to a watched page (space_watch) is for us, even if the program has no handler. */
void signals_watch_faults(void);
/* The thread's own signal stack, for our handler. */
void signals_use_stack(void *stack, size_t bytes);
long signals_mask(struct context *ctx, int how, const void *set, void *old, size_t set_bytes);

long signals_action(int number, const void *action, void *old, size_t set_bytes);
long signals_altstack(struct context *ctx, const void *new, void *old);
/* stepping.c: the program steps (ctx->stepping), and so it goes on. `system_call`: not even natively is a trap right behind one. */
void stepping_go_on(struct context *ctx, bool system_call);
/* rt_sigpending and rt_sigtimedwait, which know of signals that held.c has. */
long held_pending(struct context *ctx, const uint64_t *args);
long held_wait(struct context *ctx, const uint64_t *args);
/* The kernel hears what is blocked really, for a program in this one's place; and what it hears otherwise. */
void signals_tell_mask(bool all);
/* rt_sigreturn: the registers come from the frame on the stack. Returns where the program goes on. */
uint64_t signals_return(struct context *ctx);

#endif
