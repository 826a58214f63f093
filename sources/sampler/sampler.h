/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampler: a library that ld.so loads before the program's own
 * (LD_PRELOAD). Every thread has a timer; its signal finds out along which
 * calls the thread got where it is, and counts the time there. At the end of
 * the process all becomes a profile. docs/sampler.md has the ideas.
 *
 *   slope-sampler.c   options, the start
 *   codemap.c         which module an address is in, and how to unwind there
 *   unwind_table.c    what .eh_frame says
 *   stackwalk.c       from where a thread is to the beginning of its stack
 *   meters.c          what is measured
 *   sampling.c        the signal handler: paths become a tree
 *   trampolines.c, stubs.S   returns that tell: only new frames are walked, and calls are counted
 *   clocks.c          threads and their timers
 *   overflows.c       and their counters of events
 *   callpoints.c      functions that are watched: allocations.c, filebytes.c, lockwaits.c (a library of their own)
 *   liveblocks.c      memory that is not freed yet
 *   guarding.c        the program's own signals, beside ours
 *   waiting.c         calls that wait, and that our signal must not end
 *   departing.c       exit, exec, fork, fatal signals, other users
 *   controlling.c     start, stop and snapshots while the program runs
 *   folding.c         addresses become functions
 *   samplefile.c      the profile
 *
 * What runs in the handler, in a trampoline, or at the end of a process takes
 * no lock, no memory but pages of its own, and opens no file but the profile
 * and, to write it, the names of threads.
 */
#ifndef SLOPE_SAMPLER_SAMPLER_H
#define SLOPE_SAMPLER_SAMPLER_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>

#include "core/slabs.h"
#include "sources/sampler/codemap.h"
#include "sources/sampler/meters.h"

/*
 * In trees of paths a node is a place in the code, not a function: `fn` is the
 * offset in a module, `site` the module's number (codemap.h), or, for code in
 * no module, the upper bits of the address with this mark. Where a call is
 * under way, the place is the last byte of the call.
 */
#define SLOPE_PLACE_ANYWHERE 0x80000000u
#define SLOPE_PLACE_ROOT 0u          /* `fn` of the tree's root */
#define SLOPE_PLACE_BROKEN 1u        /* `fn` of its child for paths whose beginning is not known; `site` is 0 */

/* One activation of a path, from the inside out as it is walked. */
struct slope_walked {
	uint64_t place;
	uint64_t *slot;              /* where its return address is; NULL: it has none */
	uint64_t ra;                 /* what that is, or would be without a trampoline */
	uint32_t code;
	bool safe;                   /* a trampoline may be put there */
};

/* The same as it is kept until the next sample, from the outside in. */
struct slope_kept {
	uint64_t *slot;
	uint64_t ra;
	struct slope_context *node;
	bool safe;
};

/* What is lost, counted by thread, stored in the profile. */
#define SLOPE_SAMPLER_LOST_LIST(X)                                                                                  \
	X(UNSAFE, "samples", "samples in the middle of a return that is being counted, or without memory: not in the profile") \
	X(BROKEN, "unwinds", "samples whose outermost callers are not known, for want of an unwind table")          \
	X(UNPLACED, "trampolines", "samples after which the innermost call could not be watched: its end is not counted")

enum slope_sampler_lost {
#define X(id, name, text) SLOPE_SAMPLER_LOST_##id,
	SLOPE_SAMPLER_LOST_LIST(X)
#undef X
	SLOPE_SAMPLER_LOST_COUNT
};

/* A counter of events. A column can have two of them: 2 * column, and the next. */
#define SLOPE_OVERFLOWS_MAX (2 * SLOPE_METERS_MAX)

struct slope_overflow {
	int fd;                              /* 0: there is none */
	uint64_t identity;                   /* by which the kernel knows it */
};

struct slope_sampled {                       /* a thread */
	struct slope_sampled *next;          /* the one that began before */
	struct slope_arena arena;
	struct slope_contexts *tree;
	struct slope_context *root;
	uint64_t stack_low, stack_high;      /* its own stack */
	timer_t timer;
	bool timed;                          /* there is a timer */
	struct slope_overflow overflow[SLOPE_OVERFLOWS_MAX];
	bool armed;                          /* samples may be taken */
	pid_t tid;
	uint32_t id, parent;
	char name[16];

	struct slope_walked *walked;
	size_t walked_count, walked_capacity;
	bool frozen;                         /* an unwinder is among those: return addresses stay what they are */
	struct slope_kept *kept;             /* the path of the last sample, as far as it is known to be still there */
	size_t kept_count, kept_capacity;
	struct slope_context *kept_from;     /* the node that the path begins below */

	/* The trampoline, at the place of the return address of the last one of `kept`. */
	bool placed;
	uint32_t stub;                       /* its number; 0: none yet */
	const uint64_t *busy;                /* what is above changes just now, by code that is called here in the stack */

	int64_t left[SLOPE_METERS_MAX];      /* by column of what calls tell: how much there is to the next sample */
	bool begun[SLOPE_METERS_MAX];
	uint64_t random;                     /* 0: not used yet */
	uint64_t rest_until;                 /* by the processor's clock: a long walk is followed by a rest */
	uint64_t pending;                    /* what samples of time weigh that fell into one */
	uint64_t samples;
	uint64_t max_depth;
	uint64_t lost[SLOPE_SAMPLER_LOST_COUNT];
	struct slope_unwind_scratch scratch;
};

#define SLOPE_SPARE_THREADS 64u

struct slope_sampler {
	struct slope_host host;
	struct slope_session session;        /* for the trees' shape alone */
	struct slope_arena arena;            /* of the start */
	bool on;                             /* this process is sampled */
	struct slope_meters meters;
	bool wall;                           /* by the time that passes, not by that of the processor */
	bool waking;                         /* samples can come while a thread waits: by the time that passes, or by switches */
	bool trampolines;
	bool impossible;                     /* trampolines are wanted, but this processor would not have them */
	uint64_t period_ns;
	char out[PATH_MAX];                  /* where the profile is to be; %p is the process */
	char program[PATH_MAX], directory[PATH_MAX];
	pid_t pid, main_pid;                 /* this process; the one whose profile carries the plain name */
	int argc;
	char **argv;
	uint32_t images;                     /* profiles that this process has left before an exec */
	struct slope_sampled *newest;
	uint32_t threads;
	struct slope_sampled *spare[SLOPE_SPARE_THREADS]; /* of threads that ended without a sample: for others */
	uint32_t at_work;                    /* handlers */
	bool stopped;
	bool paused;                         /* nothing is measured until somebody asks for it: timers are off */
	int writing;                         /* the profile, just now */
	bool unseen;                         /* allocations are measured, but the program has a malloc of its own */
};

extern struct slope_sampler slope_sampler;
extern __thread struct slope_sampled *slope_sampled __attribute__((tls_model("initial-exec")));

/* ---- slope-sampler.c ---- */

/* Functions of the C library that a program reaches through us. */
#define SLOPE_REAL_LIST(X)                                                                                        \
	X(sigaction) X(sigprocmask) X(pthread_sigmask) X(sigwait) X(sigwaitinfo) X(sigtimedwait) X(signalfd)      \
	X(pthread_create) X(execve) X(execvpe) X(fexecve) X(execveat) X(_exit) X(quick_exit) X(daemon) X(dlclose)     \
	X(_dl_find_object) X(dl_iterate_phdr) X(thrd_create)                                                      \
	X(setuid) X(seteuid) X(setreuid) X(setresuid) X(chroot)                                                    \
	SLOPE_WAITING_LIST(X)

/* Those of them that wait, and that a signal ends early whatever its handler asks for (waiting.c). */
#define SLOPE_WAITING_LIST(X)                                                                                     \
	X(nanosleep) X(clock_nanosleep) X(usleep) X(sleep) X(thrd_sleep) X(pause) X(sigsuspend)                   \
	X(poll) X(__poll_chk) X(ppoll) X(__ppoll_chk) X(select) X(pselect)                                        \
	X(epoll_wait) X(epoll_pwait) X(epoll_pwait2) X(sem_timedwait) X(sem_clockwait)                             \
	X(semop) X(semtimedop) X(msgrcv) X(msgsnd)

/* The function of this name behind us; NULL: there is none. */
void *slope_sampler_next(const char *name);

/* The same for those of the list; they are looked up once, at the start. */
struct slope_reals;
const struct slope_reals *slope_sampler_reals(void);
#define SLOPE_REAL(name) (slope_sampler_reals()->name)

/* ---- stackwalk.c ---- */

enum slope_walk_end {
	SLOPE_WALK_WHOLE,            /* the beginning of the stack */
	SLOPE_WALK_JOINED,           /* the trampoline: the rest is as it was */
	SLOPE_WALK_BROKEN,           /* an activation that cannot be unwound */
	SLOPE_WALK_UNSAFE,           /* no sample can be taken here */
};

/* Fills t->walked from the registers at the time of a signal. */
enum slope_walk_end slope_stackwalk(struct slope_sampled *t, const ucontext_t *context);

/* ---- sampling.c ---- */

#define SLOPE_ALIGNMENT_FLAG 0x40000u

/*
 * First thing in a handler. Handlers begin with the flags of the code that
 * they interrupt, and where that looks for what the processor can do, accesses
 * at odd addresses may be faults.
 */
static inline void slope_keep_no_alignment(void)
{
	unsigned long long flags = __builtin_ia32_readeflags_u64();

	if (flags & SLOPE_ALIGNMENT_FLAG)
		__builtin_ia32_writeeflags_u64(flags & ~(unsigned long long)SLOPE_ALIGNMENT_FLAG);
	__asm__ volatile("" : : : "memory");
}

/* Our signal. One that is not our timer's goes to the program's own handler. */
void slope_sampling_signal(int number, siginfo_t *info, void *context);

/*
 * A sample that the calling thread takes itself, at the function of the
 * program that has called us. Counts `weight` in the column, or nowhere if that
 * is -1. The node it was counted at; NULL: none could be taken.
 */
struct slope_context *slope_sampling_here(int column, uint64_t weight);

/* ---- clocks.c ---- */

/* A sampled thread, from now on: the calling one. `parent`: 0, none. */
void slope_clocks_begin(uint32_t parent);
/* The end of the calling thread: no more samples. */
void slope_clocks_end(void);
/* After a fork: only this thread is there, its profile starts anew. */
void slope_clocks_alone(void);
/* Sets a thread's timer going, or stops it. Any thread may do that, in a handler too. */
void slope_clocks_arm(struct slope_sampled *t, bool on);

/* ---- controlling.c ---- */

/* This process can be talked to by the file at `path` from now on; NULL or a file that is no such one: it cannot. */
void slope_controlling_begin(const char *path);
/* After a fork: the new process can, too. */
void slope_controlling_alone(void);
/* It cannot any longer: it ends, or becomes another program. _resume: it did not, after all. */
void slope_controlling_end(void);
void slope_controlling_resume(void);
/* Nothing is to be measured just now. */
bool slope_controlling_paused(void);
/* Is this a request? Then it has been seen to. For the handler of our signal. */
bool slope_controlling_request(const siginfo_t *info);

/* ---- overflows.c ---- */

/* Counters for the calling thread, which stand still. False when one could not be had; the others are there then. */
bool slope_overflows_open(struct slope_sampled *t);
/* Closes them: of the calling thread, or, after a fork, of any that the parent had. */
void slope_overflows_end(struct slope_sampled *t);
/* Is something counted that happens to threads that wait? */
bool slope_overflows_wake(const struct slope_meters *meters);
/* Is it the signal of a counter? One may come when its counter is closed already. */
bool slope_overflows_sent(const siginfo_t *info);
/* The number of the counter whose signal it is; -1: it is none that is there. */
int slope_overflows_sender(const struct slope_sampled *t, const siginfo_t *info);
/* A counter has stopped, as it does after each period; now it goes on. */
void slope_overflows_go_on(const struct slope_sampled *t, int number);
/* None counts until all go on: a signal that is on its way at an exec would end the new program. */
void slope_overflows_pause(const struct slope_sampled *t);
void slope_overflows_resume(const struct slope_sampled *t);

/* ---- guarding.c ---- */

/* The number of our signal: one of the real-time ones, of which programs use the lowest. */
#define SLOPE_SIGNAL (SIGRTMAX - 3)

/* Our handlers. */
void slope_guarding_begin(void);
/* What the program does when our signal comes, but not from our timer. */
void slope_guarding_pass_on(int number, siginfo_t *info, void *context);

/* ---- waiting.c ---- */

/* Is the address in a function of ours that waits for the program? It is shown in its place. */
bool slope_waiting_covers(uint64_t ip);

/*
 * Before our handler returns. The kernel starts a read that we have interrupted
 * again; a signal of the program's that has come meanwhile would have ended it,
 * and now comes before it. Then it is ended here.
 */
void slope_waiting_settle(ucontext_t *context);

/* ---- departing.c ---- */

void slope_departing_begin(void);
/* A signal that ends the process: the profile is written, then it does. */
void slope_departing_signal(int number, siginfo_t *info, void *context);

/* ---- folding.c ---- */

/* A thread's paths by functions, ready to be written. */
struct slope_folded {
	struct slope_sampled *thread;
	struct slope_contexts *tree;         /* of functions and call sites of the session */
	struct slope_context **node;         /* by number */
	uint32_t nodes;
	struct slope_context **node_of;      /* by number of the node of places */
	uint32_t *module;                    /* the session's, by number of the code; 0: not known */
};

/* Where a node of the thread's own tree is, if in a module that is known: the session's number for it, and the offset there. */
bool slope_folding_place(const struct slope_folded *folded, const struct slope_context *node, uint32_t *module, uint64_t *offset);

/* Functions become the session's. False when memory runs out. All memory is the arena's, or the session's. */
bool slope_folding(struct slope_folded *folded, struct slope_sampled *thread, struct slope_session *session,
		   struct slope_arena *arena);

/* What functions and their calls cost, over a thread's paths. */
struct slope_sum {
	uint64_t calls, total[SLOPE_UNITS_MAX], self[SLOPE_UNITS_MAX];
};

struct slope_sums {
	uint32_t units;
	struct slope_sum *function;          /* by number */
	struct slope_map edge;               /* caller << 32 | callee -> position in `call` */
	struct slope_sum *call;              /* `total` is that of outermost activations of the callee; no `self` */
	size_t calls, call_capacity;
};

/* False when memory runs out. */
bool slope_folding_sums(struct slope_sums *sums, const struct slope_folded *folded, const struct slope_session *session,
			struct slope_arena *arena);

/* ---- samplefile.c ---- */

/*
 * Writes the profile of the process as it is now, under its final name. All
 * samples wait meanwhile. `ended` as in slope_run_info. May be called in a
 * signal handler, and several times: the last one counts. Nothing happens in a
 * process that is none of ours (the child of a vfork). True when it is written.
 */
bool slope_samplefile_write(const char *ended, int exit_code, int signal);

/* The same under another name, in which %p is the process, while the program goes on. */
bool slope_samplefile_snapshot(const char *out);
/* The program may be about to give up the right to write it, or to leave the place where it is to be. */
void slope_samplefile_keep_open(void);

/* Removes it again. */
void slope_samplefile_remove(void);

#endif
