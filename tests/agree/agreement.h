/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One trace, played into the core (through sources/replay) and into the
 * oracle: do they agree on every record, point, edge and sum?
 */
#ifndef SLOPE_TESTS_AGREEMENT_H
#define SLOPE_TESTS_AGREEMENT_H

#include "sources/replay/replay.h"

struct trace {
	struct slope_config config;
	uint64_t window_bytes;
	uint32_t functions;          /* f1 .. f<functions> */
	bool *folded;                /* [number]; as many as functions + 1 */
	struct slope_event *event;   /* those that make no sense where they stand are skipped */
	size_t count;
};

/* What was seen on the way; a test run looks whether it has covered enough. */
struct coverage {
	uint64_t events, renumberings, folded_tables, thread_input, external_input, deepest, sets;
	uint64_t edge_bins, edge_repeats;   /* rows of edges; those with more calls than activations */
};

/* True when both agree; else one line in `difference`. `c` may be NULL. */
bool trace_agrees(const struct trace *trace, char *difference, size_t bytes, struct coverage *c);

/* Takes away events as long as the two still disagree. */
void trace_shrink(struct trace *trace);

/* As a text for slope-replay. */
void trace_print(FILE *out, const struct trace *trace);

#endif
