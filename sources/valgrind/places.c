/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code addresses to functions. A function is a (module, offset) pair: the
 * offset is the address in the module's own address space, the module is known
 * by path and build id. Where a symbol covers the address, the function begins
 * where the symbol does; without one, it begins at the address that was called.
 */
#include "sources/valgrind/tool.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_seqmatch.h"

#define CACHE_ENTRIES 4096u
#define CALLEES 512u             /* in one allocation */

static struct {
	struct { Addr address; struct callee *callee; } recent[CACHE_ENTRIES];
	XArray *callees;                 /* of struct callee[CALLEES], by function */
	struct callee stub, none;
	struct slope_arena arena;
	struct slope_map by_address;     /* -> function */
	struct slope_map site_by_address;
	struct slope_map stub_targets;   /* translated code counts on what is there */
	struct slope_map module_by_start;
	Bool ready;
} places;

static void start_empty(void)
{
	slope_arena_init(&places.arena, &tool.host);
	slope_map_init(&places.by_address, &places.arena);
	slope_map_init(&places.site_by_address, &places.arena);
	slope_map_init(&places.stub_targets, &places.arena);
	slope_map_init(&places.module_by_start, &places.arena);
	VG_(memset)(places.recent, 0, sizeof places.recent);
	places.ready = True;
}

/* ---- modules ---- */

static Bool read_at(Int fd, void *to, Long offset, Int bytes)
{
	return VG_(lseek)(fd, offset, VKI_SEEK_SET) == offset && VG_(read)(fd, to, bytes) == bytes;
}

Bool tool_is_elf(const HChar *path)
{
	UChar magic[4];
	Int fd = VG_(fd_open)(path, VKI_O_RDONLY, 0);
	Bool yes;

	if (fd < 0)
		return False;
	yes = read_at(fd, magic, 0, 4) && magic[0] == 0x7f && magic[1] == 'E' && magic[2] == 'L' && magic[3] == 'F';
	VG_(close)(fd);
	return yes;
}

/* The GNU build id among `bytes` of notes. */
static void find_build_id(const UChar *notes, UInt bytes, struct slope_module *m)
{
	UInt at = 0;

	while (at + 12 <= bytes) {
		const UInt *head = (const UInt *)(notes + at);
		UInt name_bytes = head[0], id_bytes = head[1], type = head[2];
		UInt id_at = at + 12 + ((name_bytes + 3) & ~3u);

		if (name_bytes > bytes || id_bytes > bytes || id_at + id_bytes > bytes)
			return;
		if (type == 3 && name_bytes == 4 && id_bytes <= sizeof m->build_id && notes[at + 12] == 'G') {
			VG_(memcpy)(m->build_id, notes + id_at, id_bytes);
			m->build_id_bytes = id_bytes;
			return;
		}
		at = id_at + ((id_bytes + 3) & ~3u);
	}
}

#define SEGMENTS_MAX 64u
#define SEGMENT_LOAD 1u
#define SEGMENT_NOTE 4u

/* One line of an ELF file's segment table. */
struct elf_segment {
	UInt type, flags;
	ULong offset, address, physical, file_bytes, memory_bytes, align;
};

/* The file's segments, SEGMENTS_MAX at most; how many. */
static UInt read_segments(Int fd, struct elf_segment *segment)
{
	UChar header[64] __attribute__((aligned(8)));
	UInt count = 0, all;

	if (!read_at(fd, header, 0, sizeof header) || header[4] != 2)
		return 0;
	all = *(UShort *)(header + 56);
	while (count < all && count < SEGMENTS_MAX &&
	       read_at(fd, &segment[count], (Long)(*(ULong *)(header + 32) + (ULong)count * *(UShort *)(header + 54)), sizeof *segment))
		count++;
	return count;
}

static void read_build_id(const HChar *path, struct slope_module *m)
{
	UChar notes[4096] __attribute__((aligned(8)));
	struct elf_segment segment[SEGMENTS_MAX];
	Int fd = VG_(fd_open)(path, VKI_O_RDONLY, 0);

	if (fd < 0)
		return;
	UInt count = read_segments(fd, segment);

	for (UInt i = 0; i < count && !m->build_id_bytes; i++)
		if (segment[i].type == SEGMENT_NOTE && segment[i].file_bytes <= sizeof notes &&
		    read_at(fd, notes, (Long)segment[i].offset, (Int)segment[i].file_bytes))
			find_build_id(notes, (UInt)segment[i].file_bytes, m);
	VG_(close)(fd);
}

/* The address in the module's own space of a place in its file. */
static Addr address_in_file(const HChar *path, Addr file_offset)
{
	struct elf_segment segment[SEGMENTS_MAX];
	Addr address = file_offset;
	Int fd = VG_(fd_open)(path, VKI_O_RDONLY, 0);

	if (fd < 0)
		return address;
	UInt count = read_segments(fd, segment);

	for (UInt i = 0; i < count; i++)
		if (segment[i].type == SEGMENT_LOAD && file_offset - segment[i].offset < segment[i].file_bytes)
			address = file_offset - segment[i].offset + segment[i].address;
	VG_(close)(fd);
	return address;
}

/* The module mapped at `start`; its file is looked at once. */
static UInt module_of(const HChar *path, Addr start, SizeT bytes)
{
	bool fresh;
	uint64_t *known = slope_map_put(&places.module_by_start, start, &fresh);
	struct slope_module m = { .path = path, .start = start, .bytes = bytes };

	if (known && !fresh)
		return (UInt)*known;
	read_build_id(path, &m);
	UInt id = slope_session_module(&tool.session, &m);

	if (known)
		*known = id;
	return id;
}

/* ---- functions ---- */

static Bool matches(XArray *patterns, const HChar *name, const HChar *path)
{
	const HChar *base = VG_(strrchr)(path, '/');

	for (Word i = 0; patterns && i < VG_(sizeXA)(patterns); i++) {
		const HChar *pattern = *(const HChar **)VG_(indexXA)(patterns, i);

		if ((name && VG_(string_match)(pattern, name)) || VG_(string_match)(pattern, path) ||
		    (base && VG_(string_match)(pattern, base + 1)))
			return True;
	}
	return False;
}

static UInt flags_for(const HChar *name, const HChar *path)
{
	const struct options *o = &tool.options;
	UInt flags = 0;

	if ((o->only && !matches(o->only, name, path)) || matches(o->skip, name, path))
		flags |= SLOPE_FN_FOLDED;
	if (matches(o->toggle, name, path))
		flags |= SLOPE_FN_TOGGLE;
	return flags;
}

/* How far into its symbol the address lies; 0 without a symbol. */
static Addr offset_in_symbol(DiEpoch ep, Addr a)
{
	const HChar *name, *plus;
	Addr offset = 0;

	if (!VG_(get_fnname_w_offset)(ep, a, &name))
		return 0;
	plus = VG_(strrchr)(name, '+');
	for (plus = plus ? plus + 1 : ""; *plus >= '0' && *plus <= '9'; plus++)
		offset = offset * 10 + (Addr)(*plus - '0');
	return *plus ? 0 : offset;
}

/* A code address as a place in its module; the address itself for code in no file. */
struct place {
	const HChar *path;               /* never NULL */
	UInt module;
	Addr offset;
	Bool known;                      /* Valgrind has read the module's symbols */
};

static struct place place_of(DiEpoch ep, Addr a)
{
	const DebugInfo *di = VG_(find_DebugInfo)(ep, a);
	const NSegment *segment;
	struct place p = { .path = "", .module = SLOPE_MODULE_NONE, .offset = a, .known = di != NULL };

	if (di) {
		p.path = VG_(DebugInfo_get_filename)(di);
		p.module = module_of(p.path, VG_(DebugInfo_get_text_avma)(di), VG_(DebugInfo_get_text_size)(di));
		p.offset = a - (Addr)VG_(DebugInfo_get_text_bias)(di);
	} else if ((segment = VG_(am_find_nsegment)(a)) && segment->kind == SkFileC &&
		   (p.path = VG_(am_get_filename)(segment))) {
		p.module = module_of(p.path, segment->start, segment->end - segment->start + 1);
		p.offset = address_in_file(p.path, a - segment->start + (Addr)segment->offset);
	}
	if (!p.path)
		p.path = "";
	return p;
}

static UInt find_function(Addr a)
{
	DiEpoch ep = VG_(current_DiEpoch)();
	struct place p = place_of(ep, a);
	const HChar *name = NULL;

	if (p.known) {
		Addr inside = offset_in_symbol(ep, a);

		p.offset -= inside;
		if (!VG_(get_fnname)(ep, a - inside, &name))
			name = NULL;
	}
	return slope_session_function(&tool.session, p.module, p.offset, flags_for(name, p.path), NULL);
}

/* An indirect jump through a fixed slot, with or without the marks of branch tracking. */
static Bool looks_like_stub(const UChar *code)
{
	if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa)
		code += 4;
	if (code[0] == 0xf2)
		code++;
	return code[0] == 0xff && code[1] == 0x25;
}

Bool tool_is_stub(Addr a)
{
	const HChar *name;

	if (VG_(DebugInfo_sect_kind)(NULL, a) == Vg_SectPLT)
		return True;
	if (!VG_(am_is_valid_for_client)(a, 16, VKI_PROT_READ) || !looks_like_stub((const UChar *)a))
		return False;
	return !VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), a, &name);
}

static struct callee *callee_of(UInt fn)
{
	struct callee *page;

	if (fn >= TOOL_FN_STUB) {
		places.stub.fn = TOOL_FN_STUB;
		places.none.fn = SLOPE_FN_NONE;
		return fn == TOOL_FN_STUB ? &places.stub : &places.none;
	}
	if (!places.callees)
		places.callees = VG_(newXA)(VG_(malloc), "slope.callees", VG_(free), sizeof page);
	while (VG_(sizeXA)(places.callees) <= fn / CALLEES) {
		page = VG_(calloc)("slope.callees", CALLEES, sizeof *page);
		for (UInt i = 0; i < CALLEES; i++)
			page[i].fn = (ULong)VG_(sizeXA)(places.callees) * CALLEES + i;
		VG_(addToXA)(places.callees, &page);
	}
	page = *(struct callee **)VG_(indexXA)(places.callees, fn / CALLEES);
	return &page[fn % CALLEES];
}

struct callee *tool_callee_at(Addr a)
{
	UInt slot = (UInt)((a >> 4) ^ (a >> 16)) % CACHE_ENTRIES;
	bool fresh;

	if (LIKELY(places.recent[slot].address == a))
		return places.recent[slot].callee;
	if (!places.ready)
		start_empty();
	uint64_t *fn = slope_map_put(&places.by_address, a, &fresh);

	if (!fn)
		return callee_of(SLOPE_FN_NONE);
	if (fresh)
		*fn = tool_is_stub(a) ? TOOL_FN_STUB : find_function(a);
	places.recent[slot].address = a;
	places.recent[slot].callee = callee_of((UInt)*fn);
	return places.recent[slot].callee;
}

struct callee *tool_stub_target(Addr a)
{
	struct callee *callee = tool_callee_at(a);
	bool fresh;

	return callee->fn < TOOL_FN_STUB && places.ready && slope_map_put(&places.stub_targets, a, &fresh) ? callee : NULL;
}

UInt tool_site_at(Addr back)
{
	bool fresh;

	if (!places.ready)
		start_empty();
	uint64_t *site = slope_map_put(&places.site_by_address, back, &fresh);

	if (!site)
		return SLOPE_SITE_NONE;
	if (fresh) {
		/* The call itself is surely in the module; what is behind it may be another one's. */
		struct place p = place_of(VG_(current_DiEpoch)(), back - 1);
		UInt number = slope_session_site(&tool.session, p.module, p.offset + 1);

		*site = number;
	}
	return (UInt)*site;
}

static Bool any_within(const struct slope_map *map, Addr a, SizeT bytes)
{
	for (size_t i = 0; i < map->capacity; i++)
		if (map->entry[i].used && map->entry[i].key >= a && map->entry[i].key - a < bytes)
			return True;
	return False;
}

void tool_forget_code(Addr a, SizeT bytes)
{
	if (!places.ready || (!any_within(&places.by_address, a, bytes) && !any_within(&places.site_by_address, a, bytes)))
		return;
	if (any_within(&places.stub_targets, a, bytes))
		tool.retranslate_due = True;
	/* Other code may come to the same place: start with an empty memory. */
	slope_arena_fini(&places.arena);
	start_empty();
}

/* ---- entries ---- */

/* A part of a function that a compiler or BOLT has moved away has a symbol, but is no function. */
static Bool is_part(const HChar *name)
{
	return VG_(strstr)(name, ".cold") || VG_(strstr)(name, ".warm") || VG_(strstr)(name, ".__part.");
}

Bool tool_is_entry(Addr a)
{
	const HChar *name;

	return VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), a, &name) && !is_part(name);
}

Bool tool_code_range(Addr a, Addr *start, SizeT *bytes)
{
	const DebugInfo *di = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), a);

	if (!di)
		return False;
	*start = VG_(DebugInfo_get_text_avma)(di);
	*bytes = VG_(DebugInfo_get_text_size)(di);
	return a - *start < *bytes;
}
