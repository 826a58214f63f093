/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/columns.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_MOST 4u
#define PAYLOAD_MOST 65536u

enum { HEADS, KINDS, SIZES, CALLS, INPUTS, COSTS };
enum { LEAST, WIDTH, SUM, SQUARES, EACH };   /* of a unit, from COSTS on */
#define COLUMNS (COSTS + UNITS_MOST * EACH)

#define KIND_FLAT 2u
#define KIND_PLAIN 4u

typedef unsigned __int128 wide;

struct from {
	const unsigned char *at, *end;
	bool bad;                    /* ended in the middle of a number, or the number is too long */
};

struct to {
	unsigned char *at, *end;
	bool full;
};

static wide take(struct from *f)
{
	wide value = 0;

	for (unsigned shift = 0; f->at < f->end && shift < 128; shift += 7) {
		unsigned char byte = *f->at++;

		value |= (wide)(byte & 0x7F) << shift;
		if (byte < 0x80)
			return value;
	}
	f->bad = true;
	return 0;
}

static void put(struct to *t, wide value)
{
	do {
		if (t->at == t->end) {
			t->full = true;
			return;
		}
		*t->at++ = (unsigned char)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
		value >>= 7;
	} while (value);
}

/* A number that both forms have. */
static wide move(struct from *f, struct to *t)
{
	wide value = take(f);

	put(t, value);
	return value;
}

/* ---- into columns ---- */

/* What the sums have beyond what min, max and the calls say already. False: not the sums of such calls. */
static bool split_sums(struct to *cost, uint64_t calls, uint64_t least, uint64_t most, uint64_t sum, wide squares)
{
	wide known = (wide)(calls - 1) * least + most;

	if (calls < 2 || most < least || known > sum)
		return false;
	uint64_t beyond = (uint64_t)(sum - known), third = least + beyond;
	wide ends = (wide)least * least + (wide)most * most, floor = (wide)sum * sum / calls;

	if (calls == 2)
		return !beyond && squares == ends;
	put(&cost[SUM], beyond);
	if (calls == 3)
		return squares == ends + (wide)third * third;
	put(&cost[SQUARES], squares - floor);
	return squares >= floor;
}

static bool split_row(struct from *f, struct to *column, unsigned kind, uint64_t units)
{
	move(f, &column[SIZES]);
	uint64_t calls = (uint64_t)move(f, &column[CALLS]);

	for (int i = 0; i < 3 && !(kind & KIND_PLAIN); i++)
		move(f, &column[INPUTS]);
	for (uint64_t u = 0; u < units; u++) {
		struct to *cost = &column[COSTS + u * EACH];
		uint64_t least = (uint64_t)move(f, &cost[LEAST]);

		if (kind & KIND_FLAT)
			continue;
		uint64_t most = least + (uint64_t)move(f, &cost[WIDTH]), sum = (uint64_t)take(f);
		wide squares = take(f);

		squares |= take(f) << 64;
		if (!split_sums(cost, calls, least, most, sum, squares))
			return false;
	}
	return !f->bad;
}

static bool split_tables(struct from *f, struct to *column, uint64_t units)
{
	while (f->at < f->end) {
		unsigned kind = 1;

		for (int i = 0; i < 4; i++)
			move(f, &column[HEADS]);
		while (kind && f->at < f->end) {
			kind = *f->at++;
			put(&column[KINDS], kind);
			if (kind & 0x80 || (kind && !split_row(f, column, kind, units)))
				return false;
		}
	}
	return !f->bad;
}

/* Sizes, then the columns one after the other. */
static size_t gather(const struct to *column, const unsigned char *first, uint64_t units, unsigned char *to)
{
	struct to all = { to, to + SLOPE_COLUMNS_ROOM, false };
	size_t count = COSTS + units * EACH;

	put(&all, units);
	for (size_t i = 0; i < count; i++) {
		if (column[i].full)
			return 0;
		put(&all, (wide)(column[i].at - (first + i * PAYLOAD_MOST)));
	}
	for (size_t i = 0; i < count; i++) {
		const unsigned char *from = first + i * PAYLOAD_MOST;
		size_t bytes = (size_t)(column[i].at - from);

		if (bytes > (size_t)(all.end - all.at))
			return 0;
		memcpy(all.at, from, bytes);
		all.at += bytes;
	}
	return (size_t)(all.at - to);
}

size_t slope_columns_split(const unsigned char *payload, size_t count, unsigned char *to)
{
	struct from f = { payload, payload + count, false };
	unsigned char *memory = malloc(COLUMNS * (size_t)PAYLOAD_MOST);
	struct to column[COLUMNS];
	uint64_t units = (uint64_t)take(&f);
	size_t bytes = 0;

	for (size_t i = 0; memory && i < COLUMNS; i++)
		column[i] = (struct to){ memory + i * PAYLOAD_MOST, memory + (i + 1) * PAYLOAD_MOST, false };
	if (memory && count <= PAYLOAD_MOST && units && units <= UNITS_MOST && split_tables(&f, column, units))
		bytes = gather(column, memory, units, to);
	free(memory);
	return bytes;
}

/* ---- and back ---- */

static void join_sums(struct from *cost, struct to *t, uint64_t calls, uint64_t least, uint64_t most)
{
	uint64_t beyond = calls > 2 ? (uint64_t)take(&cost[SUM]) : 0, third = least + beyond;
	uint64_t sum = (uint64_t)((wide)(calls - 1) * least + most + beyond);
	wide squares = (wide)least * least + (wide)most * most;

	if (calls == 3)
		squares += (wide)third * third;
	else if (calls > 3)
		squares = (wide)sum * sum / calls + take(&cost[SQUARES]);
	put(t, sum);
	put(t, (uint64_t)squares);
	put(t, squares >> 64);
}

static bool join_row(struct from *column, struct to *t, unsigned kind, uint64_t units)
{
	move(&column[SIZES], t);
	uint64_t calls = (uint64_t)move(&column[CALLS], t);

	for (int i = 0; i < 3 && !(kind & KIND_PLAIN); i++)
		move(&column[INPUTS], t);
	for (uint64_t u = 0; u < units; u++) {
		struct from *cost = &column[COSTS + u * EACH];
		uint64_t least = (uint64_t)move(&cost[LEAST], t);

		if (kind & KIND_FLAT)
			continue;
		uint64_t most = least + (uint64_t)move(&cost[WIDTH], t);

		if (calls < 2)
			return false;
		join_sums(cost, t, calls, least, most);
	}
	return !t->full;
}

static bool join_tables(struct from *column, struct to *t, uint64_t units)
{
	struct from *kinds = &column[KINDS];

	while (column[HEADS].at < column[HEADS].end && !column[HEADS].bad && !t->full) {
		unsigned kind = 1;

		for (int i = 0; i < 4; i++)
			move(&column[HEADS], t);
		while (kind && kinds->at < kinds->end) {
			kind = *kinds->at++;
			put(t, kind);
			if (kind & 0x80 || (kind && !join_row(column, t, kind, units)))
				return false;
		}
	}
	for (size_t i = 0; i < COSTS + units * EACH; i++)
		if (column[i].bad || column[i].at != column[i].end)
			return false;
	return !t->full;
}

size_t slope_columns_join(const unsigned char *columns, size_t count, unsigned char *to)
{
	struct from f = { columns, columns + count, false }, column[COLUMNS];
	struct to t = { to, to + PAYLOAD_MOST, false };
	wide units = move(&f, &t), bytes[COLUMNS] = { 0 };

	if (!units || units > UNITS_MOST)
		return 0;
	for (size_t i = 0; i < COSTS + units * EACH; i++)
		bytes[i] = take(&f);
	for (size_t i = 0; i < COSTS + units * EACH; i++) {
		if (f.bad || bytes[i] > (wide)(f.end - f.at))
			return 0;
		column[i] = (struct from){ f.at, f.at + (size_t)bytes[i], false };
		f.at += (size_t)bytes[i];
	}
	return f.at == f.end && join_tables(column, &t, (uint64_t)units) ? (size_t)(t.at - to) : 0;
}
