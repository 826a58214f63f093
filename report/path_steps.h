/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A path as people read it: source lines in the order in which it comes along
 * them, and which way it takes where there are several.
 *
 *	88-90 -taken-> 93, 95 -not taken-> 96 -loop back-> 88
 */
#ifndef SLOPE_REPORT_PATH_STEPS_H
#define SLOPE_REPORT_PATH_STEPS_H

#include "profile/blocklines.h"

/* X(id, words, ends the path) */
#define SLOPE_STEP_LIST(X)                                      \
	X(CODE, "", false)                                      \
	X(TAKEN, "taken", false)                                \
	X(NOT_TAKEN, "not taken", false)                        \
	X(CASE, "case", false)                                  \
	X(LOOP, "loop back", true)                              \
	X(CUT, "cut", true)                                     \
	X(RETURN, "return", true)                               \
	X(TAIL, "tail call", true)                              \
	X(ELSEWHERE, "elsewhere", true)                         \
	X(NOWHERE, "never goes on", true)                       \
	X(LEFT, "left", true)                                   \
	X(FROM_LOOP, "loop", false)                             \
	X(FROM_CUT, "cut", false)                               \
	X(FROM_INSIDE, "inside", false)

enum slope_step_kind {
#define X(id, words, ends) SLOPE_STEP_##id,
	SLOPE_STEP_LIST(X)
#undef X
};

/* A range of code (CODE; also where LOOP and CUT lead to), or a way. FROM_*: the path does not begin where its graph does. */
struct slope_path_step {
	enum slope_step_kind kind;
	const char *file;            /* of code: NULL, lines are not known */
	uint32_t first, last;        /* its lines */
	uint64_t address, end;       /* without lines: in the module's own space */
};

struct slope_path_steps {
	struct slope_path_step *step;
	size_t count;
};

/*
 * `stop` as in a row. False when memory runs out; `s` then holds nothing. Lines are asked for (profile/blocklines.h), unless
 * `lines` is NULL.
 */
bool slope_path_steps_init(struct slope_path_steps *s, const struct slope_profile *p, const struct slope_profile_graph *g,
			   uint64_t number, uint32_t stop, struct slope_blocklines *lines);
void slope_path_steps_fini(struct slope_path_steps *s);

const char *slope_step_words(enum slope_step_kind kind);

/*
 * As text, to be given to free(); NULL when memory runs out. `file` is the function's own, which is not said; of others the
 * last part is. `ascii`: arrows of ASCII only.
 */
char *slope_path_steps_text(const struct slope_path_steps *s, const char *file, bool ascii);

/* Lines of which no block was executed (`executed`: a byte for each), as ranges; of blocks without lines, addresses. */
char *slope_path_blocks_text(const struct slope_profile *p, const struct slope_profile_graph *g, const uint8_t *executed,
			     struct slope_blocklines *lines, const char *file);

#endif
