/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which module an address is in, and how to unwind there, for signal handlers.
 *
 * A module gets a slope_code when it is first met: those that the program
 * starts with at the start, others when a sample finds itself in them. ld.so
 * itself is asked (_dl_find_object, which is made for signal handlers: no
 * lock, no memory). A module that was unloaded, and another one at its place,
 * have two of them: what an address means is settled when it is sampled.
 *
 * Recipes are kept in a cache that all threads share. Words of an entry may
 * come from two writers: then its check fails, and it is as if not there.
 */
#ifndef SLOPE_SAMPLER_CODEMAP_H
#define SLOPE_SAMPLER_CODEMAP_H

#include "core/arena.h"
#include "core/session.h"
#include "sources/sampler/unwind_table.h"

#define SLOPE_CODE_MAX 8192u
#define SLOPE_CODE_BUILD_ID 32u

struct slope_code {
	const void *map;             /* ld.so's */
	uint64_t start, end;         /* where it is */
	uint64_t text, text_end;     /* its parts that can be run; between others there may be no memory */
	uint64_t bias;               /* address - bias: in the module's own address space */
	const uint8_t *unwind;       /* the index of its unwind table; NULL: none */
	const uint8_t *id;           /* its build id in memory; NULL: none */
	uint32_t id_bytes;
	uint8_t build_id[SLOPE_CODE_BUILD_ID];
	bool stays;                  /* it was there at the start, and is never unloaded */
	bool keep_off, unwinder, own; /* as in recipes, for all of its code */
	int64_t *starts;             /* of its functions, sorted; for one that may be unloaded */
	size_t start_count;
	char path[];
};

/* Notes the modules that are there; `program` is the path of the main one. Before there is a second thread. */
void slope_codemap_init(struct slope_arena *arena, const char *program);

/* No trampoline in this function, which is one of the program's or of a library. */
void slope_codemap_keep_off(const void *function);

/* A module may have been unloaded: what the cache holds no longer counts. */
void slope_codemap_changed(void);

/*
 * How to unwind at `ip`, which is where a call returns to, or, `exact`, where
 * the thread is. A module that is met for the first time is noted, in pages of its own.
 */
void slope_codemap_find(uint64_t ip, bool exact, struct slope_recipe *recipe, struct slope_unwind_scratch *scratch);

/* By the number in a recipe, from 1 on; NULL: there is none. */
const struct slope_code *slope_codemap_code(uint32_t number);

/* Offset of the function that this offset is in. */
uint64_t slope_code_function(const struct slope_code *code, uint64_t offset);

#endif
