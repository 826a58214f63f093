/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sources/sampler/codemap.h"

#include <elf.h>
#include <string.h>

#include "sources/sampler/reals.h"
#include "sources/sampler/trampolines.h"

#define CACHE_ENTRIES 8192u
#define KEEP_OFF_MAX 32u
#define NAMELESS_BYTES 256u      /* code without an unwind table: so much of it is taken for one function */
#define CALL_BYTES_MAX 8u

struct entry {
	uint64_t check, rule, save;
};

static struct {
	struct slope_code *code[SLOPE_CODE_MAX];
	uint32_t count;              /* the last one's number: code[0] is unused */
	uint32_t epoch;
	const char *program;
	struct {
		uint64_t start, end;
	} keep_off[KEEP_OFF_MAX];
	unsigned keep_offs;
	struct entry cache[CACHE_ENTRIES];
} map;                               /* large, and all zero at the start: not a byte of it in the file */

/* ---- modules ---- */

/* The build id among the notes at `at`. */
static void find_build_id(struct slope_code *code, const uint8_t *at, uint64_t bytes)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
		uint64_t name = (note->n_namesz + 3u) & ~3u, all = sizeof *note + name + ((note->n_descsz + 3u) & ~3u);

		if (all > bytes)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(at + sizeof *note, "GNU", 4)) {
			code->id = at + sizeof *note + name;
			code->id_bytes = note->n_descsz < SLOPE_CODE_BUILD_ID ? note->n_descsz : SLOPE_CODE_BUILD_ID;
			slope_copy(code->build_id, code->id, code->id_bytes);
			return;
		}
		at += all;
		bytes -= all;
	}
}

static void note_text(struct slope_code *code, uint64_t start, uint64_t end)
{
	if (!code->text_end || code->text > start)
		code->text = start;
	if (code->text_end < end)
		code->text_end = end;
}

static void read_headers(struct slope_code *code)
{
	const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)(uintptr_t)code->start;

	if (memcmp(elf->e_ident, ELFMAG, SELFMAG))
		return;
	const ElfW(Phdr) *header = (const ElfW(Phdr) *)(uintptr_t)(code->start + elf->e_phoff);

	for (unsigned i = 0; i < elf->e_phnum; i++) {
		uint64_t at = code->bias + header[i].p_vaddr;

		if (header[i].p_type == PT_NOTE && !code->id)
			find_build_id(code, (const uint8_t *)(uintptr_t)at, header[i].p_memsz);
		if (header[i].p_type == PT_LOAD && header[i].p_flags & PF_X)
			note_text(code, at, at + header[i].p_memsz);
	}
}

/* Memory for as long as the process is there: an arena of the start, or pages. Those of a thread may be given back. */
static void *lasting(size_t bytes, struct slope_arena *arena)
{
	return arena ? slope_arena_alloc(arena, bytes) : slope_sampler.host.pages(slope_sampler.host.ctx, slope_page_round(bytes));
}

/* A copy of the functions' starts: at the end of the program its table may be gone. */
static void copy_starts(struct slope_code *code)
{
	const int32_t *pairs;
	size_t count = code->unwind ? slope_unwind_index(code->unwind, &pairs) : 0;

	code->starts = count ? lasting(count * sizeof *code->starts, NULL) : NULL;
	if (!code->starts)
		return;
	for (size_t i = 0; i < count; i++)
		code->starts[i] = (int64_t)((uint64_t)(uintptr_t)code->unwind + (uint64_t)(int64_t)pairs[2 * i] - code->bias);
	code->start_count = count;
}

/* Does the file's name begin with one of the two? */
static bool is_named(const char *path, const char *one, const char *other)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return !strncmp(name, one, strlen(one)) || !strncmp(name, other, strlen(other));
}

static const char *path_of(const struct link_map *link)
{
	return link->l_name && link->l_name[0] ? link->l_name : map.program;
}

/* With an arena: it is there at the start, and stays. */
static uint32_t note_code(const struct dl_find_object *found, struct slope_arena *arena)
{
	const struct link_map *link = found->dlfo_link_map;
	const char *path = path_of(link);
	size_t length = slope_length(path);
	struct slope_code *code = lasting(sizeof *code + length + 1, arena);

	if (!code)
		return 0;
	code->map = link;
	code->start = (uint64_t)(uintptr_t)found->dlfo_map_start;
	code->end = (uint64_t)(uintptr_t)found->dlfo_map_end;
	code->bias = link->l_addr;
	code->unwind = found->dlfo_eh_frame;
	code->stays = arena;
	code->keep_off = is_named(path, "ld-linux", "ld.so");    /* it jumps to functions that return elsewhere */
	code->unwinder = is_named(path, "libgcc_s", "libunwind");
	code->own = code->start <= (uint64_t)(uintptr_t)&note_code && (uint64_t)(uintptr_t)&note_code < code->end;
	slope_copy(code->path, path, length + 1);
	if (is_named(path, "libunwind.so", "libunwind-"))
		slope_trampolines_stop();
	read_headers(code);
	if (!code->text_end)
		note_text(code, code->start, code->end);
	if (!code->stays)
		copy_starts(code);
	uint32_t number = __atomic_add_fetch(&map.count, 1, __ATOMIC_RELAXED);

	if (number >= SLOPE_CODE_MAX) {
		__atomic_store_n(&map.count, SLOPE_CODE_MAX - 1, __ATOMIC_RELAXED);
		return 0;
	}
	__atomic_store_n(&map.code[number], code, __ATOMIC_RELEASE);
	return number;
}

/*
 * Is it the module that ld.so speaks of, and not one that was there before? Of
 * a program with gaps between its parts ld.so speaks part by part.
 */
static bool is_this(const struct slope_code *code, const struct dl_find_object *found)
{
	if (code->map != found->dlfo_link_map || code->unwind != found->dlfo_eh_frame)
		return false;
	if (code->stays)
		return true;
	return code->start == (uint64_t)(uintptr_t)found->dlfo_map_start && code->end == (uint64_t)(uintptr_t)found->dlfo_map_end &&
	       !strcmp(path_of(found->dlfo_link_map), code->path) && (!code->id || !memcmp(code->id, code->build_id, code->id_bytes));
}

const struct slope_code *slope_codemap_code(uint32_t number)
{
	return number && number < SLOPE_CODE_MAX ? __atomic_load_n(&map.code[number], __ATOMIC_ACQUIRE) : NULL;
}

/* The module of an address; 0: none, or there is no room for it. `arena`: NULL but at the start. */
static uint32_t code_at(uint64_t ip, struct slope_arena *arena)
{
	struct dl_find_object found;
	uint32_t count = __atomic_load_n(&map.count, __ATOMIC_RELAXED);

	if (SLOPE_REAL(_dl_find_object)((void *)(uintptr_t)ip, &found) != 0)
		return 0;
	for (uint32_t i = count < SLOPE_CODE_MAX ? count : SLOPE_CODE_MAX - 1; i; i--) {
		const struct slope_code *code = slope_codemap_code(i);

		if (code && is_this(code, &found))
			return i;
	}
	return note_code(&found, arena);
}

static int note_loaded(struct dl_phdr_info *info, size_t bytes, void *arena)
{
	(void)bytes;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + part->p_vaddr;
		uint32_t number = part->p_type == PT_LOAD ? code_at(start, arena) : 0;

		if (number && map.code[number]->end < start + part->p_memsz)
			map.code[number]->end = start + part->p_memsz;
	}
	return 0;
}

void slope_codemap_init(struct slope_arena *arena, const char *program)
{
	map.program = program;
	SLOPE_REAL(dl_iterate_phdr)(note_loaded, arena);
}

void slope_codemap_keep_off(const void *function)
{
	struct dl_find_object found;
	uint64_t ip = (uint64_t)(uintptr_t)function, start, end;

	if (map.keep_offs == KEEP_OFF_MAX || !function ||
	    SLOPE_REAL(_dl_find_object)((void *)(uintptr_t)ip, &found) != 0 ||
	    !found.dlfo_eh_frame || !slope_unwind_function(found.dlfo_eh_frame, ip, &start, &end))
		return;
	map.keep_off[map.keep_offs].start = start;
	map.keep_off[map.keep_offs++].end = end;
}

void slope_codemap_changed(void)
{
	__atomic_fetch_add(&map.epoch, 1, __ATOMIC_RELEASE);
}

uint64_t slope_code_function(const struct slope_code *code, uint64_t offset)
{
	uint64_t start, end;
	size_t low = 0, high = code->start_count;

	if (code->stays && code->unwind && slope_unwind_function(code->unwind, offset + code->bias, &start, &end))
		return start - code->bias;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uint64_t)code->starts[middle] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (uint64_t)code->starts[low - 1] : offset & ~(uint64_t)(NAMELESS_BYTES - 1);
}

/* ---- recipes ---- */

/* Bytes of `call *` with this ModRM byte and what follows it, prefixes excepted. */
static unsigned indirect_call_bytes(const uint8_t *at)
{
	uint8_t modrm = at[1], mod = modrm >> 6, rm = modrm & 7;
	bool sib = mod != 3 && rm == 4;
	unsigned displacement = mod == 1 ? 1 : mod == 2 || (mod == 0 && (rm == 5 || (sib && (at[2] & 7) == 5))) ? 4 : 0;

	return 2 + sib + displacement;
}

/* Is what stands before `ip` a call? */
static bool is_after_call(const struct slope_code *code, uint64_t ip)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)ip;

	if (ip < code->text + CALL_BYTES_MAX || ip > code->text_end)
		return false;
	if (at[-5] == 0xe8)
		return true;
	for (unsigned bytes = 2; bytes < CALL_BYTES_MAX; bytes++)
		if (at[-(int)bytes] == 0xff && (at[1 - (int)bytes] >> 3 & 7) == 2 && indirect_call_bytes(at - bytes) == bytes)
			return true;
	return false;
}

/*
 * Is it the jump of a linkage table, or just before? Where that leads, somebody
 * may look at the return address first thing.
 */
static bool is_linkage(uint64_t ip)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)ip;

	if (at[0] == 0xf3 && at[1] == 0x0f && at[2] == 0x1e && at[3] == 0xfa)
		at += 4;                 /* endbr64 */
	at += at[0] == 0xf2;             /* bnd */
	return (at[0] == 0xff && at[1] == 0x25) || (at[0] == 0x68 && (at[5] == 0xe9 || at[5] == 0xf2));
}

static bool is_kept_off(uint64_t ip)
{
	for (unsigned i = 0; i < map.keep_offs; i++)
		if (ip >= map.keep_off[i].start && ip < map.keep_off[i].end)
			return true;
	return false;
}

/* A function whose first instruction is returned to: that is how the stacks of coroutines begin. */
static bool begins_stack(const struct slope_code *code, uint64_t ip)
{
	uint64_t start, end;

	return code->unwind && slope_unwind_function(code->unwind, ip, &start, &end) && start == ip;
}

static void make(uint64_t ip, bool exact, struct slope_recipe *recipe, struct slope_unwind_scratch *scratch)
{
	*recipe = (struct slope_recipe){ .kind = SLOPE_RECIPE_NONE };
	uint32_t number = code_at(exact ? ip : ip - 1, NULL);
	const struct slope_code *code = slope_codemap_code(number);

	if (!code)
		return;
	recipe->code = (uint16_t)number;
	recipe->own = code->own && !slope_waiting_covers(ip);
	recipe->after_call = !exact && is_after_call(code, ip);
	uint64_t place = recipe->after_call ? ip - 1 : ip;

	if (code->unwind)
		slope_unwind_recipe(code->unwind, place, recipe, scratch);
	if (!exact && !recipe->after_call && recipe->kind != SLOPE_RECIPE_SIGNAL)
		recipe->kind = begins_stack(code, ip) ? SLOPE_RECIPE_END : SLOPE_RECIPE_NONE;
	recipe->unwinder |= code->unwinder;
	recipe->keep_off = (exact && is_linkage(ip)) || code->keep_off || code->own || recipe->unwinder || is_kept_off(place);
}

#define RULE_KIND(rule) ((uint8_t)((rule) & 15))
#define RULE_BASE(rule) ((uint8_t)((rule) >> 4 & 15))
#define RULE_AFTER_CALL 0x100u
#define RULE_KEEP_OFF 0x200u
#define RULE_OWN 0x400u
#define RULE_UNWINDER 0x800u

static void pack(const struct slope_recipe *recipe, uint64_t *rule, uint64_t *save)
{
	*rule = recipe->kind | (uint64_t)recipe->base << 4 | (recipe->after_call ? RULE_AFTER_CALL : 0) |
		(recipe->keep_off ? RULE_KEEP_OFF : 0) | (recipe->own ? RULE_OWN : 0) |
		(recipe->unwinder ? RULE_UNWINDER : 0) | (uint64_t)(uint32_t)recipe->offset << 32;
	*save = (uint64_t)recipe->code << 48;
	for (unsigned i = 0; i < SLOPE_RECIPE_SAVED; i++)
		*save |= (uint64_t)recipe->save[i] << 8 * i;
}

static void unpack(struct slope_recipe *recipe, uint64_t rule, uint64_t save)
{
	recipe->kind = RULE_KIND(rule);
	recipe->base = RULE_BASE(rule);
	recipe->after_call = rule & RULE_AFTER_CALL;
	recipe->keep_off = rule & RULE_KEEP_OFF;
	recipe->own = rule & RULE_OWN;
	recipe->unwinder = rule & RULE_UNWINDER;
	recipe->offset = (int32_t)(rule >> 32);
	recipe->code = (uint16_t)(save >> 48);
	for (unsigned i = 0; i < SLOPE_RECIPE_SAVED; i++)
		recipe->save[i] = (uint8_t)(save >> 8 * i);
}

static uint64_t check_of(uint64_t key, uint64_t rule, uint64_t save)
{
	return slope_mix64(key) ^ rule ^ (save << 7 | save >> 57);
}

void slope_codemap_find(uint64_t ip, bool exact, struct slope_recipe *recipe, struct slope_unwind_scratch *scratch)
{
	uint64_t key = ip << 1 | exact;

	key ^= (uint64_t)__atomic_load_n(&map.epoch, __ATOMIC_ACQUIRE) << 49;
	struct entry *e = &map.cache[slope_mix64(key) % CACHE_ENTRIES];
	uint64_t check = __atomic_load_n(&e->check, __ATOMIC_RELAXED), rule = __atomic_load_n(&e->rule, __ATOMIC_RELAXED);
	uint64_t save = __atomic_load_n(&e->save, __ATOMIC_RELAXED);

	if (SLOPE_LIKELY(check == check_of(key, rule, save))) {
		unpack(recipe, rule, save);
		return;
	}
	make(ip, exact, recipe, scratch);
	pack(recipe, &rule, &save);
	__atomic_store_n(&e->check, check_of(key, rule, save), __ATOMIC_RELAXED);
	__atomic_store_n(&e->rule, rule, __ATOMIC_RELAXED);
	__atomic_store_n(&e->save, save, __ATOMIC_RELAXED);
}
