/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code addresses to functions. A function is a module and an address in the
 * module's own space; where a symbol covers the address, the function begins
 * where the symbol does, and otherwise at the address that was called.
 */
#include "sources/translator/observing.h"

#include <linux/mman.h>

#include "sources/translator/symbols.h"

struct module {
	struct module *next;
	const char *path;            /* as the memory map has it: one pointer per mapping, so compared as text */
	struct symbols symbols;
	uint32_t number;
	bool registered;
	struct symbols_range code;   /* as it lies in memory */
};

#define RECENT 4096u             /* targets of indirect calls that are known at once */

/*
 * Read by all threads while others change it, so an entry is one number:
 * address and function. Not in there: addresses and functions that need more bits.
 */
#define RECENT_FN_LOG2 24u
#define RECENT_STUB ((1u << RECENT_FN_LOG2) - 1)

static struct {
	uint64_t recent[RECENT];
	struct slope_arena arena, names;
	struct slope_map function, module_by_path;
	struct slope_map site;       /* call sites, by return address */
	struct module *modules;
	struct {
		uint64_t changes;    /* of regions, when it was found */
		uint64_t start, end, offset;
		struct module *module;
	} found;                     /* last: the next one is most often there too */
	bool ready;
} places;

static void start(void)
{
	if (places.ready)
		return;
	slope_arena_init(&places.arena, &system_host);
	slope_arena_init(&places.names, &system_host);
	slope_map_init(&places.function, &places.names);
	slope_map_init(&places.site, &places.names);
	slope_map_init(&places.module_by_path, &places.arena);
	places.ready = true;
}

static struct module *module_of(const char *path)
{
	bool fresh;

	start();
	uint64_t *known = slope_map_put(&places.module_by_path, (uint64_t)path, &fresh);
	struct module *m = places.modules;

	if (!known)
		return NULL;
	if (!fresh)
		return (struct module *)*known;
	while (m && !system_same(m->path, path))
		m = m->next;
	if (!m && (m = slope_arena_alloc(&places.arena, sizeof *m))) {
		m->path = path;
		m->next = places.modules;
		places.modules = m;
		symbols_read(&m->symbols, &places.arena, path);
	}
	*known = (uint64_t)m;
	return m;
}

/* The region around an address, and its module. */
static bool find_region(uint64_t address)
{
	const struct space_region *region = space_at(&runtime.space, address);
	struct module *m = region && region->path ? module_of(region->path) : NULL;

	if (!m)
		return false;
	places.found.changes = runtime.space.changes;
	places.found.start = region->start;
	places.found.end = region->end;
	places.found.offset = region->offset;
	places.found.module = m;
	return true;
}

/* The module around an address, and that address in its own space. */
static struct module *find(uint64_t address, uint64_t *own)
{
	bool same = address - places.found.start < places.found.end - places.found.start && places.found.changes == runtime.space.changes;

	if (!same && !find_region(address))
		return NULL;
	*own = symbols_address(&places.found.module->symbols, address - places.found.start + places.found.offset);
	return places.found.module;
}

static void find_code(struct module *m, uint64_t bias)
{
	for (unsigned i = 0; i < m->symbols.segments; i++) {
		const struct symbols_range *segment = &m->symbols.segment[i];

		if (!segment->code)
			continue;
		if (!m->code.end || segment->start + bias < m->code.start)
			m->code.start = segment->start + bias;
		if (segment->end + bias > m->code.end)
			m->code.end = segment->end + bias;
	}
}

static uint32_t number_of(struct module *m, uint64_t bias)
{
	struct slope_module known = { .path = m->path };

	if (m->registered)
		return m->number;
	m->registered = true;
	find_code(m, bias);
	slope_copy(known.build_id, m->symbols.build_id, sizeof known.build_id);
	known.build_id_bytes = m->symbols.build_id_bytes;
	known.start = m->code.start;
	known.bytes = m->code.end - m->code.start;
	m->number = slope_session_module(&observer.session, &known);
	return m->number;
}

/* ---- patterns ---- */

/* A star fits any run of characters, a question mark any one. */
static bool fits(const char *glob, const char *text)
{
	const char *star = NULL, *retry = text;

	while (*text) {
		if (*glob == '*') {
			star = ++glob;
			retry = text;
		} else if (*glob == '?' || *glob == *text) {
			glob++;
			text++;
		} else if (star) {
			glob = star;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

static bool any_fits(const struct patterns *p, const char *name, const char *path)
{
	const char *base = path;

	for (const char *c = path; *c; c++)
		if (*c == '/')
			base = c + 1;
	for (unsigned i = 0; i < p->count; i++)
		if ((name && fits(p->glob[i], name)) || fits(p->glob[i], path) || fits(p->glob[i], base))
			return true;
	return false;
}

static uint32_t flags_for(const char *name, const char *path)
{
	uint32_t flags = 0;

	if ((observer.only.count && !any_fits(&observer.only, name, path)) || any_fits(&observer.skip, name, path))
		flags |= SLOPE_FN_FOLDED;
	if (any_fits(&observer.toggle, name, path))
		flags |= SLOPE_FN_TOGGLE;
	return flags;
}

/* ---- functions ---- */

static uint32_t find_function(uint64_t address)
{
	uint64_t own = address, start_at = address;
	struct module *m = find(address, &own);

	if (!m)
		return slope_session_function(&observer.session, SLOPE_MODULE_NONE, address, flags_for(NULL, ""), NULL);
	const struct symbols_function *f = symbols_around(&m->symbols, own);

	start_at = f ? f->start : own;
	return slope_session_function(&observer.session, number_of(m, address - own), start_at,
				      flags_for(f ? f->name : NULL, m->path), NULL);
}

/* An indirect jump through a fixed slot, with or without the marks of branch tracking. */
static bool looks_like_stub(const uint8_t *code)
{
	if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa)
		code += 4;
	if (code[0] == 0xf2)
		code++;
	return code[0] == 0xff && code[1] == 0x25;
}

bool codeplaces_is_stub(uint64_t address)
{
	uint64_t own;
	struct module *m = find(address, &own);

	if (m && symbols_in_stub(&m->symbols, own))
		return true;
	if (address >= runtime.space.window || !space_allows(&runtime.space, address, 16, PROT_READ) ||
	    !looks_like_stub((const uint8_t *)address))
		return false;
	const struct symbols_function *f = m ? symbols_around(&m->symbols, own) : NULL;

	return !f || f->start != own;
}

bool codeplaces_in_linkage(uint64_t address)
{
	uint64_t own;
	const struct module *m = find(address, &own);

	return m && m->symbols.stubs ? symbols_in_stub(&m->symbols, own) : codeplaces_is_stub(address);
}

static uint32_t function_at(uint64_t address)
{
	bool fresh;

	start();
	uint64_t *fn = slope_map_put(&places.function, address, &fresh);

	if (!fn)
		return SLOPE_FN_NONE;
	if (fresh)
		*fn = codeplaces_is_stub(address) ? CODEPLACES_STUB : find_function(address);
	return (uint32_t)*fn;
}

uint32_t codeplaces_function(uint64_t address)
{
	uint64_t *slot = &places.recent[((address >> 4) ^ (address >> 16)) % RECENT];
	uint64_t known = __atomic_load_n(slot, __ATOMIC_RELAXED);
	uint32_t fn = known & RECENT_STUB;

	if (SLOPE_LIKELY(address && known >> RECENT_FN_LOG2 == address))
		return fn == RECENT_STUB ? CODEPLACES_STUB : fn;
	lock_take(&runtime.lock);
	fn = function_at(address);
	if (address >> (64 - RECENT_FN_LOG2) == 0 && (fn < RECENT_STUB || fn == CODEPLACES_STUB))
		__atomic_store_n(slot, address << RECENT_FN_LOG2 | (fn < RECENT_STUB ? fn : RECENT_STUB),
				 __ATOMIC_RELAXED);
	lock_give(&runtime.lock);
	return fn;
}

uint32_t codeplaces_site(uint64_t back)
{
	uint64_t own = back - 1;
	bool fresh;

	lock_take(&runtime.lock);
	start();
	uint64_t *site = slope_map_put(&places.site, back, &fresh);

	if (site && fresh) {
		/* The call itself is surely in the module; what is behind it may be another one's. */
		struct module *m = find(back - 1, &own);

		*site = slope_session_site(&observer.session, m ? number_of(m, back - 1 - own) : SLOPE_MODULE_NONE, own + 1);
	}
	lock_give(&runtime.lock);
	return site ? (uint32_t)*site : SLOPE_SITE_NONE;
}

static bool contains(const char *text, const char *part)
{
	for (; *text; text++)
		if (system_after(text, part))
			return true;
	return false;
}

/*
 * Parts of functions that compilers move away, and BOLT (rustc's libLLVM is made so), have symbols, but are no functions: what
 * jumps to them may keep words below the stack pointer.
 */
static bool is_part(const char *name)
{
	return contains(name, ".cold") || contains(name, ".warm") || contains(name, ".__part.");
}

bool codeplaces_is_entry(uint64_t address)
{
	uint64_t own;
	struct module *m = find(address, &own);
	const struct symbols_function *f = m ? symbols_around(&m->symbols, own) : NULL;

	return f && f->start == own && !is_part(f->name);
}

uint64_t codeplaces_slot(uint64_t stub)
{
	const uint8_t *code = (const uint8_t *)stub;
	int32_t displacement;

	if (stub >= runtime.space.window || !space_allows(&runtime.space, stub, 16, PROT_READ) || !looks_like_stub(code))
		return 0;
	while (*code != 0xff)
		code += *code == 0xf3 ? 4 : 1;
	slope_copy(&displacement, code + 2, sizeof displacement);
	return (uint64_t)code + 6 + (uint64_t)(int64_t)displacement;
}

const char *codeplaces_called_name(uint64_t address)
{
	uint64_t own, slot = codeplaces_is_stub(address) ? codeplaces_slot(address) : 0;
	struct module *m = find(address, &own);
	const struct symbols_function *f = m && !slot ? symbols_around(&m->symbols, own) : NULL;

	if (m && slot)
		return symbols_slot_name(&m->symbols, own + (slot - address));
	return f && f->start == own ? f->name : NULL;
}

static bool is_unwinder(const char *name)
{
	return system_same(name, "_Unwind_RaiseException") || system_same(name, "_Unwind_Resume") ||
	       system_same(name, "_Unwind_Resume_or_Rethrow") || system_same(name, "_Unwind_ForcedUnwind");
}

bool codeplaces_in_unwinder(uint64_t address)
{
	uint64_t own;
	const struct module *m = find(address, &own);
	const struct symbols_function *f = m ? symbols_around(&m->symbols, own) : NULL;

	return f && is_unwinder(f->name);
}

bool codeplaces_is_unwinder(uint64_t address)
{
	const char *name = codeplaces_called_name(address);

	return name && is_unwinder(name);
}

bool codeplaces_is_border(uint64_t address)
{
	uint64_t own;
	struct module *m = find(address, &own);
	const struct symbols_function *f = m ? symbols_around(&m->symbols, own) : NULL;

	return f ? f->start == own && !is_part(f->name) : m && symbols_begins_frame(&m->symbols, own);
}

bool codeplaces_is_start(uint64_t address)
{
	uint64_t own;
	struct module *m = find(address, &own);
	const struct symbols_function *f = m ? symbols_around(&m->symbols, own) : NULL;

	return !f || f->start == own;
}

uint64_t codeplaces_next_entry(uint64_t address)
{
	uint64_t own;
	struct module *m = find(address, &own);
	size_t low = 0, high = m ? m->symbols.count : 0;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (m->symbols.function[middle].start <= own)
			low = middle + 1;
		else
			high = middle;
	}
	uint64_t symbol = m && low < m->symbols.count ? address + (m->symbols.function[low].start - own) : UINT64_MAX;
	uint64_t frame = m ? symbols_next_frame(&m->symbols, own) : UINT64_MAX;

	frame = frame == UINT64_MAX ? frame : address + (frame - own);
	return symbol < frame ? symbol : frame;
}

uint64_t codeplaces_own_address(uint64_t address)
{
	uint64_t own = address;

	find(address, &own);
	return own;
}

const struct symbols_range *codeplaces_code_range(uint64_t address)
{
	uint64_t own;
	struct module *m = find(address, &own);

	if (!m || !m->symbols.elf)
		return NULL;
	number_of(m, address - own);
	return &m->code;
}

uint32_t codeplaces_module(uint64_t address)
{
	const struct symbols_range *code = codeplaces_code_range(address);

	return code && address >= code->start && address < code->end ? places.found.module->number + 1 : 0;
}

bool codeplaces_is_elf(uint64_t address)
{
	uint64_t own;
	struct module *m = find(address, &own);

	return m && m->symbols.elf;
}

void codeplaces_forget(uint64_t address, uint64_t bytes)
{
	bool any = false;

	for (size_t i = 0; places.ready && i < places.function.capacity && !any; i++) {
		const struct slope_map_entry *e = &places.function.entry[i];

		any = e->used && e->key >= address && e->key - address < bytes;
	}
	if (!any)
		return;
	/* Other code may come to the same place. */
	for (unsigned i = 0; i < RECENT; i++)
		__atomic_store_n(&places.recent[i], 0, __ATOMIC_RELAXED);
	slope_arena_fini(&places.names);
	slope_arena_init(&places.names, &system_host);
	slope_map_init(&places.function, &places.names);
	slope_map_init(&places.site, &places.names);
	for (struct module *m = places.modules; m; m = m->next) {
		m->registered = false;
		m->code = (struct symbols_range){ 0 };
	}
}
