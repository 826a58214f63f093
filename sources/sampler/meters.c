/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/sampler/meters.h"

#include <stdlib.h>
#include <string.h>

static const char *const word_of[] = {
#define X(id, word) word,
	SLOPE_METER_LIST(X)
#undef X
};

/* The number at `*at`, and what stands behind the mark after it. */
static uint64_t number(const char **at, const char *end)
{
	char *behind = NULL;
	uint64_t value = *at < end ? strtoull(*at, &behind, 10) : 0;

	*at = behind && behind < end && *behind == '/' ? behind + 1 : end;
	return value;
}

static void set_name(struct slope_meter *m, const char *name, size_t length)
{
	if (length >= sizeof m->name)
		length = sizeof m->name - 1;
	memcpy(m->name, name, length);
	m->name[length] = '\0';
}

/* TYPE/CONFIG/PERIOD/OWN/NAME */
static bool read_event(struct slope_meter *m, const char *at, const char *end)
{
	m->type = (uint32_t)number(&at, end);
	m->config = number(&at, end);
	m->period = number(&at, end);
	m->own = number(&at, end);
	set_name(m, at, (size_t)(end - at));
	return m->name[0] && m->period;
}

static bool read_word(struct slope_meter *m, const char *at, const char *end, bool wall)
{
	size_t length = strcspn(at, "/, "), kind = 0;

	while (kind < SLOPE_METER_KINDS && (strlen(word_of[kind]) != length || strncmp(at, word_of[kind], length)))
		kind++;
	if (kind == SLOPE_METER_KINDS)
		return false;
	m->kind = (enum slope_meter_kind)kind;
	set_name(m, at, length);
	at += length;
	at += at < end && *at == '/';
	if (kind == SLOPE_METER_TIME)
		set_name(m, wall ? "wall-time" : "cpu-time", wall ? 9 : 8);
	else if (kind == SLOPE_METER_PERF)
		return read_event(m, at, end);
	m->period = number(&at, end);
	m->period += !m->period;
	return true;
}

void slope_meters_read(struct slope_meters *meters, const char *words, bool wall)
{
	const char *at = words ? words : word_of[SLOPE_METER_TIME];

	*meters = (struct slope_meters){ .count = 0 };
	memset(meters->column, -1, sizeof meters->column);
	while (*at && *at != ' ' && meters->count < SLOPE_METERS_MAX) {
		size_t length = strcspn(at, ", ");
		struct slope_meter *m = &meters->meter[meters->count];

		if (read_word(m, at, at + length, wall))
			meters->column[m->kind] = (int8_t)meters->count++;
		at += length;
		at += *at == ',';
	}
}
