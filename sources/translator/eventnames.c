/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/eventnames.h"

#include <linux/perf_event.h>

#define CACHE_ACCESSES 6u
#define RAW_DIGITS 16u

struct named {
	const char *name;
	enum event_kind kind;
	enum event_way way;
	uint32_t type;
	uint64_t config;
	bool other;                  /* another name of the one before */
	bool in_kernel, steady;
};

#define HARDWARE(name, config, ...) { name, EVENT_HARDWARE, EVENT_BY_PERF, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, __VA_ARGS__ }
#define SOFTWARE(name, config, ...) { name, EVENT_SOFTWARE, EVENT_BY_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, __VA_ARGS__ }
#define USAGE(name, what, ...) { name, EVENT_SOFTWARE, EVENT_BY_USAGE, 0, what, __VA_ARGS__ }

static const struct named named[] = {
	{ "time", EVENT_TIME, EVENT_BY_TICKS, 0, 0, .other = false },
	HARDWARE("cycles", CPU_CYCLES, .other = false),
	HARDWARE("cpu-cycles", CPU_CYCLES, .other = true),
	HARDWARE("instructions", INSTRUCTIONS, .steady = true),
	HARDWARE("cache-references", CACHE_REFERENCES, .other = false),
	HARDWARE("cache-misses", CACHE_MISSES, .other = false),
	HARDWARE("branches", BRANCH_INSTRUCTIONS, .steady = true),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS, .other = true, .steady = true),
	HARDWARE("branch-misses", BRANCH_MISSES, .other = false),
	HARDWARE("bus-cycles", BUS_CYCLES, .other = false),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND, .other = false),
	HARDWARE("idle-cycles-frontend", STALLED_CYCLES_FRONTEND, .other = true),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND, .other = false),
	HARDWARE("idle-cycles-backend", STALLED_CYCLES_BACKEND, .other = true),
	HARDWARE("ref-cycles", REF_CPU_CYCLES, .other = false),
	{ "task-clock", EVENT_SOFTWARE, EVENT_BY_CLOCK, 0, 0, .other = false },
	{ "cpu-clock", EVENT_SOFTWARE, EVENT_BY_CLOCK, 0, 0, .other = true },
	USAGE("page-faults", EVENT_FAULTS, .other = false),
	USAGE("faults", EVENT_FAULTS, .other = true),
	USAGE("minor-faults", EVENT_MINOR_FAULTS, .other = false),
	USAGE("major-faults", EVENT_MAJOR_FAULTS, .other = false),
	USAGE("context-switches", EVENT_SWITCHES, .in_kernel = true),
	USAGE("cs", EVENT_SWITCHES, .other = true, .in_kernel = true),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS, .in_kernel = true),
	SOFTWARE("migrations", CPU_MIGRATIONS, .other = true, .in_kernel = true),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS, .other = false),
	SOFTWARE("emulation-faults", EMULATION_FAULTS, .other = false),
};

#define NAMED (sizeof named / sizeof *named)

/* Caches, and which of the accesses below they have names for. */
static const struct { const char *name; unsigned accesses; } cache[] = {
	[PERF_COUNT_HW_CACHE_L1D] = { "L1-dcache", 0x3f },
	[PERF_COUNT_HW_CACHE_L1I] = { "L1-icache", 0x33 },
	[PERF_COUNT_HW_CACHE_LL] = { "LLC", 0x3f },
	[PERF_COUNT_HW_CACHE_DTLB] = { "dTLB", 0x3f },
	[PERF_COUNT_HW_CACHE_ITLB] = { "iTLB", 0x03 },
	[PERF_COUNT_HW_CACHE_BPU] = { "branch", 0x03 },
	[PERF_COUNT_HW_CACHE_NODE] = { "node", 0x3f },
};

#define CACHES (sizeof cache / sizeof *cache)

static const char *const cache_access[CACHE_ACCESSES] = {
	"-loads", "-load-misses", "-stores", "-store-misses", "-prefetches", "-prefetch-misses",
};

const char *eventnames_kind(enum event_kind kind)
{
	static const char *const word[] = { "hardware", "cache", "raw", "software", "time", "simulated" };

	return word[kind];
}

/* Is `text` of `length` bytes this word? */
static bool is(const char *text, size_t length, const char *word)
{
	size_t i = 0;

	while (i < length && word[i] && text[i] == word[i])
		i++;
	return i == length && !word[i];
}

static size_t append(char *to, size_t at, size_t room, const char *text, size_t length)
{
	for (size_t i = 0; i < length && at + 1 < room; i++)
		to[at++] = text[i];
	to[at] = 0;
	return at;
}

static void take_named(const struct named *n, struct event *e)
{
	*e = (struct event){ .kind = n->kind, .way = n->way, .type = n->type, .config = n->config, .in_kernel = n->in_kernel,
			     .steady = n->steady };
	append(e->name, 0, sizeof e->name, n->name, slope_length(n->name));
}

static void take_cache(unsigned which, unsigned access, struct event *e)
{
	size_t n;

	*e = (struct event){ .kind = EVENT_CACHE, .way = EVENT_BY_PERF, .type = PERF_TYPE_HW_CACHE,
			     .config = which | (uint64_t)(access / 2) << 8 | (uint64_t)(access & 1) << 16 };
	n = append(e->name, 0, sizeof e->name, cache[which].name, slope_length(cache[which].name));
	append(e->name, n, sizeof e->name, cache_access[access], slope_length(cache_access[access]));
}

/* Every name there is, one after the other. */
static bool any_name(unsigned n, struct event *e, bool *other)
{
	*other = n < NAMED && named[n].other;
	if (n < NAMED) {
		take_named(&named[n], e);
		return true;
	}
	n -= NAMED;
	for (unsigned c = 0; c < CACHES; c++)
		for (unsigned a = 0; a < CACHE_ACCESSES; a++)
			if (cache[c].accesses & 1u << a && n-- == 0) {
				take_cache(c, a, e);
				return true;
			}
	return false;
}

bool eventnames_nth(unsigned n, struct event *e)
{
	bool other;

	for (unsigned i = 0; any_name(i, e, &other); i++)
		if (!other && n-- == 0)
			return true;
	return false;
}

static bool by_name(const char *text, size_t length, struct event *e)
{
	bool other;

	for (unsigned i = 0; any_name(i, e, &other); i++)
		if (is(text, length, e->name))
			return true;
	return false;
}

static bool number(const char *text, size_t length, unsigned base, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i], lower = c | 0x20;
		unsigned digit = c >= '0' && c <= '9' ? c - (unsigned)'0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10u : base;

		if (digit >= base || *value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	return length != 0;
}

static bool by_number(const char *text, size_t length, struct event *e)
{
	uint64_t value;

	if (length > 1 && length <= RAW_DIGITS + 1 && text[0] == 'r' && number(text + 1, length - 1, 16, &value))
		*e = (struct event){ .kind = EVENT_RAW, .way = EVENT_BY_PERF, .type = PERF_TYPE_RAW, .config = value };
	else if (length > 4 && is(text, 4, "sim:") && number(text + 4, length - 4, 10, &value) && value && value <= UINT32_MAX)
		*e = (struct event){ .kind = EVENT_SIMULATED, .way = EVENT_BY_STEP, .config = value, .steady = true };
	else
		return false;
	return true;
}

/* Faults of the program's own are told from the kernel's only by perf_event_open. */
static void own_part(struct event *e)
{
	static const uint64_t config[] = { PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS_MAJ };

	if (e->way == EVENT_BY_USAGE) {
		e->way = EVENT_BY_PERF;
		e->type = PERF_TYPE_SOFTWARE;
		e->config = config[e->config];
	}
}

bool eventnames_find(const char *text, size_t length, struct event *e)
{
	bool own = length > 2 && text[length - 2] == ':' && text[length - 1] == 'u';
	size_t bare = own ? length - 2 : length;

	if (length >= EVENT_NAME_BYTES || (!by_name(text, bare, e) && !by_number(text, bare, e)))
		return false;
	if (own && (e->in_kernel || e->way == EVENT_BY_TICKS || e->way == EVENT_BY_CLOCK || e->way == EVENT_BY_STEP))
		return false;
	if (own)
		own_part(e);
	append(e->name, 0, sizeof e->name, text, length);
	return true;
}
