/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's address space: which of its memory comes from where. The
 * program's own mmap calls end here; what it leaves to the kernel is placed by
 * us, so that it lies in the window (plan.h). All results are the kernel's:
 * an address, or -4095..-1.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_SPACE_H
#define SLOPE_SOURCES_TRANSLATOR_SPACE_H

#include "core/map.h"

struct lock;

/* A run of pages that came from one call and has one protection. */
struct space_region {
	uint64_t start, end;
	int prot;
	bool code;                   /* something in it has been translated */
	bool shared;                 /* others may write to the same memory: at other addresses, in other processes, through the file */
	const char *path;            /* of the file it shows, or NULL */
	uint64_t offset;             /* of `start` in that file */
};

struct space {
	struct lock *lock;           /* the runtime's: held by whoever calls, but for space_allows */
	struct slope_arena arena;
	struct slope_map watched;    /* pages with code that may be written: what is done about it, and how often it was */
	size_t watching;             /* how many are really without PROT_WRITE */
	bool doubting;               /* there are pages with doubted code, or may be */
	struct space_region *region; /* sorted, disjoint */
	size_t count, capacity;
	size_t recent;               /* which one was asked for last */
	uint64_t changes;            /* of regions: what was found before a change must be looked for again */
	uint64_t window;             /* W */
	uint64_t refused;            /* the most that was asked for at once and is not to be had in it; 0: nothing was */
	uint64_t far_end;            /* where the stack's area begins */
	uint64_t stack;              /* and how far down the first stack reaches in it */
	uint64_t break_end;
};

void space_init(struct space *s, uint64_t window_bytes, struct lock *lock);

/* The region around an address, or NULL. O(log regions). */
struct space_region *space_at(struct space *s, uint64_t address);

/* Notes pages that are there. False when memory runs out. */
bool space_add(struct space *s, const struct space_region *region);
/* Notes that they are gone. */
void space_remove(struct space *s, uint64_t start, uint64_t bytes);

/* Is anything of the program's in this range? */
bool space_any(struct space *s, uint64_t start, uint64_t bytes);

/* Has code in this range been translated? */
bool space_has_code(struct space *s, uint64_t start, uint64_t bytes);

/* The first stack reaches down to here now, if nothing is in its way. */
void space_deepen_stack(struct space *s, uint64_t start);

/* Code is translated from this page of the region, which may be written: the next write to it faults. False: no memory. */
bool space_watch(struct space *s, const struct space_region *region, uint64_t address);
bool space_watches(struct space *s, uint64_t address);
/* A write has come to a watched page, whose blocks are dead: it is writable again. */
void space_unwatch(struct space *s, uint64_t address);
/*
 * Code that cannot be watched: it is compared with what it was whenever it is to run.
 * SPACE_SHARED: somebody else may write it. SPACE_RESTLESS: the thread that runs it may, and the next instruction must see it.
 */
enum space_doubt { SPACE_CERTAIN, SPACE_SHARED, SPACE_RESTLESS };

enum space_doubt space_doubts(struct space *s, uint64_t address);
/* Code in this page writes to the page: it is not watched any more. */
void space_doubt(struct space *s, uint64_t address);
/* All watched pages in the range are writable again. */
void space_unwatch_all(struct space *s, uint64_t start, uint64_t bytes);

/* Is the whole range the program's, mapped with at least `prot`? */
bool space_allows(struct space *s, uint64_t start, uint64_t bytes, int prot);

/* The program has failed. One line, if it was refused something for which there might be room in a larger window. */
void space_say_refused(const struct space *s);

/* The program's system calls. */
long space_mmap(struct space *s, uint64_t address, uint64_t bytes, int prot, int flags, int fd, uint64_t offset);
long space_munmap(struct space *s, uint64_t address, uint64_t bytes);
long space_mprotect(struct space *s, uint64_t address, uint64_t bytes, int prot);
long space_mremap(struct space *s, uint64_t address, uint64_t old_bytes, uint64_t bytes, int flags, uint64_t new_address);
long space_brk(struct space *s, uint64_t end);
/* Shared memory of System V: where it comes to lie. */
long space_attach(struct space *s, int id, uint64_t address, int flags);
/* How much of it begins at that address; 0: none. */
uint64_t space_attached(const struct space *s, uint64_t address);
long space_detach(struct space *s, uint64_t address);

#endif
