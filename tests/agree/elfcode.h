/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of an ELF file as a source of control flow graphs: its segments in
 * memory, relocated to where the file itself says, with its functions. Those
 * are known from symbols and from what .eh_frame covers, so that all of them
 * are there in stripped files too. Imported functions get addresses beyond the file.
 */
#ifndef SLOPE_TESTS_ELFCODE_H
#define SLOPE_TESTS_ELFCODE_H

#include "sources/translator/flow.h"

struct elfcode_function {
	uint64_t start, end;
	const char *name;            /* NULL: it has none */
	bool cold;                   /* no function: a part that was moved away from one */
};

struct elfcode_range {
	uint64_t start, end;
};

struct elfcode {
	unsigned char *image;        /* addresses from `low` on */
	uint64_t low, high;
	struct elfcode_function *function;   /* sorted, disjoint */
	size_t functions;
	struct elfcode_range code[16], constant[32], stub[8];
	size_t codes, constants, stubs;
	const char **import;         /* by address: high + 16 * number */
	size_t imports;
	ZydisDecoder zydis;
	void *file;                  /* mapped */
	size_t file_bytes;
	uint64_t decoded, undecodable;
	bool loose;                  /* only functions with names have borders, as where nobody reads .eh_frame */
	struct flow_source source;
	struct outlines outlines;
};

/* False, with a line on stderr, for a file that cannot be read or is no ELF file for x86-64. */
bool elfcode_open(struct elfcode *c, const char *path);
void elfcode_close(struct elfcode *c);

#endif
