/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events to the core: the source that tests use. A trace is a row of events,
 * each made by one thread; this module checks that the row makes sense (a
 * return has a call, an ended thread is silent) and hands it on. Texts are
 * turned into events by sources/replay/script.h.
 *
 * The first thread exists from the start. Threads are numbered as they begin:
 * 1, 2, 3, ... Each has its own stack of invented stack pointers and its own
 * running costs, moved by `cost` events only.
 */
#ifndef SLOPE_REPLAY_REPLAY_H
#define SLOPE_REPLAY_REPLAY_H

#include <stdio.h>

#include "core/thread.h"

/*
 * All events: identifier, word in a text, shape of the arguments. For the
 * shapes see enum slope_event_shape.
 */
#define SLOPE_EVENT_LIST(X)            \
	X(THREAD, "thread", THREAD)    /* a new thread, made by args[0] (0: nobody) */          \
	X(END, "end", NONE)            /* the thread ends; all its frames return */             \
	X(CALL, "call", FUNCTION)      /* function args[0] begins, frame flags args[1], from site args[2] - 1 */ \
	X(RETURN, "return", COUNT)     /* the args[0] topmost activations return */             \
	X(UNWIND, "unwind", COUNT)     /* a non-local exit leaves args[0] frames of one stack */ \
	X(CUT, "cut", COUNT)           /* args[0] frames vanish, whatever their stack */        \
	X(READ, "read", RANGE)         /* memory args[0], args[1] bytes */                      \
	X(WRITE, "write", RANGE)       \
	X(KREAD, "kread", RANGE)       /* the kernel reads for the thread (as in write(2)) */   \
	X(KWRITE, "kwrite", RANGE)     /* the kernel puts new data there (as in read(2)) */     \
	X(MAPFILE, "mapfile", RANGE)   /* the range is now a file's contents */                 \
	X(FORGET, "forget", RANGE)     /* the range is unmapped, or fresh again */              \
	X(MOVE, "move", MOVE)          /* args[1] bytes move from args[0] to args[2], as by mremap */ \
	X(COST, "cost", COSTS)         /* the thread's costs grow by args[unit] */              \
	X(COLLECT, "collect", SWITCH)  /* args[0]: collecting on or off, this thread */         \
	X(RENUMBER, "renumber", NONE)  /* renumber the thread's stamps now */

enum slope_event_kind {
#define X(id, word, shape) SLOPE_EVENT_##id,
	SLOPE_EVENT_LIST(X)
#undef X
	SLOPE_EVENT_KINDS
};

enum slope_event_shape {
	SLOPE_SHAPE_NONE,
	SLOPE_SHAPE_THREAD,          /* number [parent NUMBER] */
	SLOPE_SHAPE_FUNCTION,        /* NAME [base] [at OFFSET] */
	SLOPE_SHAPE_COUNT,           /* [NUMBER], 1 unless told */
	SLOPE_SHAPE_RANGE,           /* ADDRESS [BYTES], 1 byte unless told */
	SLOPE_SHAPE_MOVE,            /* ADDRESS BYTES ADDRESS, all of whole cells */
	SLOPE_SHAPE_COSTS,           /* one NUMBER per unit */
	SLOPE_SHAPE_SWITCH,          /* on | off */
};

struct slope_event {
	enum slope_event_kind kind;
	uint32_t thread;             /* who acts; for THREAD the new one */
	uint64_t args[SLOPE_UNITS_MAX];
};

/* Word and shape of each kind. */
extern const char *const slope_event_word[SLOPE_EVENT_KINDS];
extern const enum slope_event_shape slope_event_shape[SLOPE_EVENT_KINDS];

struct slope_replay;

/*
 * A player of events into `s`, which must be fresh and outlive it. With
 * `window_bytes`, each thread gets a shadow window over the addresses below
 * that. NULL when memory runs out.
 */
struct slope_replay *slope_replay_new(struct slope_session *s, uint64_t window_bytes);

/* Frees the player; the session keeps its tables, and must see no more events of its threads. */
void slope_replay_free(struct slope_replay *r);

/* The session's number of a function by its name, made on first use (`flags`: SLOPE_FN_*). */
uint32_t slope_replay_function(struct slope_replay *r, const char *name, uint32_t flags);

/*
 * Plays one event. NULL, or a sentence that says why it makes no sense; the
 * session is then unchanged.
 */
const char *slope_replay_play(struct slope_replay *r, const struct slope_event *e);

/* The session that is played into. */
struct slope_session *slope_replay_session(const struct slope_replay *r);

/*
 * The core's part of a thread that acts; NULL where the core had no memory for it. NULL, or a sentence that says why it
 * cannot act.
 */
const char *slope_replay_thread(const struct slope_replay *r, uint32_t number, struct slope_thread **thread);

/* Ends all threads that still run: the end of the program. */
void slope_replay_finish(struct slope_replay *r);

/* Prints an event as a line of a text; `units` costs; functions are called f<number>. */
void slope_event_print(FILE *out, const struct slope_event *e, uint32_t units);

/* Pages from the system, zeroed; for sessions that live in a hosted program. */
extern const struct slope_host slope_replay_host;

#endif
