/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/remotepaths.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/messages.h"
#include "profile/build.h"
#include "profile/host.h"

enum { TIME, SAMPLES, UNITS };

#define NAMELESS_BYTES 4096u     /* code in no module: so much of it is taken for one function */
#define BROKEN_OFFSET 1u
#define BROKEN_NAME "(callers unknown)"
#define WORDS_BYTES 65536u

/* Where an address is: module of the profile, offset there, and where its function begins. */
struct place {
	uint32_t module;
	uint64_t offset, function;
};

/* ---- facts ---- */

static char *link_of(pid_t pid, const char *name)
{
	char path[64], to[PATH_MAX];

	snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
	ssize_t length = readlink(path, to, sizeof to - 1);

	return slope_text("%.*s", length > 0 ? (int)length : 0, to);
}

/* The words it was started with, NULL terminated, each from malloc. */
static char **words_of(pid_t pid)
{
	char path[64], *text = calloc(1, WORDS_BYTES + 1);
	size_t count = 0, used = 0;

	snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = text && fd >= 0 ? read(fd, text, WORDS_BYTES) : 0;

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < bytes; i++)
		count += !text[i];
	char **word = calloc(count + 2, sizeof *word);

	for (size_t i = 0; word && i < count; i++) {
		word[i] = strdup(text + used);
		used += strlen(text + used) + 1;
	}
	free(text);
	return word;
}

bool slope_remotepaths_begin(struct slope_remotepaths *r, pid_t pid)
{
	*r = (struct slope_remotepaths){ .p = slope_build_profile() };
	struct slope_profile *p = r->p;

	slope_arena_init(&r->arena, &slope_system_host);
	slope_map_init(&r->module, &r->arena);
	slope_map_init(&r->function, &r->arena);
	slope_map_init(&r->site, &r->arena);
	slope_map_init(&r->thread, &r->arena);
	slope_map_init(&r->place, &r->arena);
	slope_map_init(&r->start, &r->arena);
	if (!p)
		return false;
	slope_regrow_begin(&r->tree, p);
	p->source = slope_text("sampler");
	p->created_by = slope_text("%s", SLOPE_VERSION);
	p->program = words_of(pid);
	p->directory = link_of(pid, "cwd");
	p->process = (uint64_t)pid;
	p->exit_code = -1;
	p->runs = 1;
	p->units = UNITS;
	p->unit_name[TIME] = slope_text("cpu-time");
	p->unit_name[SAMPLES] = slope_text("samples");
	p->complete = true;
	return p->program;
}

/* ---- code ---- */

/* A new number on first use: then `*fresh`. NULL, and no_memory, without memory. */
static uint64_t *number(struct slope_remotepaths *r, struct slope_map *map, uint64_t key, bool *fresh)
{
	uint64_t *at = slope_map_put(map, key, fresh);

	r->no_memory |= !at;
	return at;
}

static uint32_t module_of(struct slope_remotepaths *r, Dwfl_Module *m)
{
	const unsigned char *id;
	const char *name, *file = NULL;
	Dwarf_Addr start, end, where;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	bool fresh;

	name = dwfl_module_info(m, NULL, &start, &end, NULL, NULL, &file, NULL);
	file = file ? file : name ? name : "";
	for (const char *c = file; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	uint64_t *at = number(r, &r->module, hash ^ start, &fresh);

	if (!at || !fresh)
		return at ? (uint32_t)*at : SLOPE_MODULE_NONE;
	*at = r->p->module_count;
	struct slope_profile_module *to = slope_build_module(r->p);

	if (!to || !slope_build_text(&to->path, slope_text_of(file))) {
		r->no_memory = true;
		return SLOPE_MODULE_NONE;
	}
	int bytes = dwfl_module_build_id(m, &id, &where);

	if (bytes > 0 && (size_t)bytes <= sizeof to->build_id) {
		memcpy(to->build_id, id, (size_t)bytes);
		to->build_id_bytes = (uint32_t)bytes;
	}
	to->start = start;
	to->bytes = end - start;
	return (uint32_t)*at;
}

/* A table of where functions begin, as linkers make it for unwinding: .eh_frame_hdr in its usual form. */
#define HDR_USUAL UINT32_C(0x3b031b01)   /* version 1; a pointer, a count and a table of 4 bytes each */
#define HDR_BYTES 12u

struct begins {
	const unsigned char *row;    /* pairs of 4 bytes: where a function begins, as a distance from `base`, and its rules */
	size_t rows;
	uint64_t base;
};

static bool find_begins(Elf *elf, struct begins *begins)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		const Elf_Data *data = name && !strcmp(name, ".eh_frame_hdr") ? elf_rawdata(section, NULL) : NULL;
		uint32_t form, rows;

		if (!data || data->d_size < HDR_BYTES)
			continue;
		memcpy(&form, data->d_buf, sizeof form);
		memcpy(&rows, (const char *)data->d_buf + 8, sizeof rows);
		if (form != HDR_USUAL || rows > (data->d_size - HDR_BYTES) / 8)
			return false;
		*begins = (struct begins){ (const unsigned char *)data->d_buf + HDR_BYTES, rows, header.sh_addr };
		return rows > 0;
	}
	return false;
}

static uint64_t begin_of(const struct begins *begins, size_t i)
{
	int32_t distance;

	memcpy(&distance, begins->row + 8 * i, sizeof distance);
	return begins->base + (uint64_t)(int64_t)distance;
}

/* Where the function begins that has this address: as its unwind table says, or its symbol. */
static uint64_t function_start(Dwfl_Module *m, Elf *elf, uint64_t address, uint64_t bias)
{
	struct begins begins;
	GElf_Off within = 0;
	GElf_Sym symbol;

	if (find_begins(elf, &begins) && begin_of(&begins, 0) <= address - bias) {
		size_t low = 0, high = begins.rows;

		while (high - low > 1) {
			size_t middle = low + (high - low) / 2;

			if (begin_of(&begins, middle) <= address - bias)
				low = middle;
			else
				high = middle;
		}
		return begin_of(&begins, low);
	}
	if (dwfl_module_addrinfo(m, address, &within, &symbol, NULL, NULL, NULL))
		return address - within - bias;
	return (address - bias) & ~(uint64_t)(NAMELESS_BYTES - 1);
}

static struct place place_of(struct slope_remotepaths *r, const struct slope_remotewalk *w, uint64_t address)
{
	Dwfl_Module *m = w->dwfl ? dwfl_addrmodule(w->dwfl, address) : NULL;
	GElf_Addr bias = 0;
	Elf *elf = m ? dwfl_module_getelf(m, &bias) : NULL;
	bool fresh;

	if (!elf)
		return (struct place){ SLOPE_MODULE_NONE, address, address & ~(uint64_t)(NAMELESS_BYTES - 1) };
	struct place place = { module_of(r, m), address - bias, 0 };
	uint64_t *start = number(r, &r->start, slope_mix64(place.offset) ^ place.module, &fresh);

	if (start && fresh)
		*start = function_start(m, elf, address, bias);
	place.function = start ? *start : 0;
	return place;
}

/* Number of the function, made on first use. */
static uint32_t function_of(struct slope_remotepaths *r, uint32_t module, uint64_t offset)
{
	bool fresh;
	uint64_t *at = number(r, &r->function, slope_mix64(offset) ^ module, &fresh);

	if (!at || !fresh)
		return at ? (uint32_t)*at : SLOPE_FN_ROOT;
	*at = r->p->function_count;
	struct slope_profile_function *f = slope_build_function(r->p);

	if (!f) {
		r->no_memory = true;
		return SLOPE_FN_ROOT;
	}
	f->module = module;
	f->offset = offset;
	if (module == SLOPE_MODULE_NONE && offset == BROKEN_OFFSET)
		f->raw_name = slope_text("%s", BROKEN_NAME);
	return (uint32_t)*at;
}

/* The place behind a call. */
static uint32_t site_of(struct slope_remotepaths *r, const struct place *caller)
{
	bool fresh;
	uint64_t *at = number(r, &r->site, slope_mix64(caller->offset) ^ caller->module, &fresh);

	if (!at || !fresh)
		return at ? (uint32_t)*at : SLOPE_CONTEXT_NONE;
	*at = r->p->site_count;
	struct slope_profile_site *site = slope_build_site(r->p);

	if (!site) {
		r->no_memory = true;
		return SLOPE_CONTEXT_NONE;
	}
	site->module = caller->module;
	site->offset = caller->offset + 1;
	return (uint32_t)*at;
}

/* ---- paths ---- */

/* The root of the thread's tree. */
static uint32_t thread_of(struct slope_remotepaths *r, pid_t tid, uint32_t *thread)
{
	bool fresh;
	uint64_t *at = number(r, &r->thread, (uint64_t)tid, &fresh);
	char path[64], name[32] = "";

	if (!at)
		return SLOPE_CONTEXT_NONE;
	if (!fresh) {
		*thread = (uint32_t)(*at >> 32);
		return (uint32_t)*at;
	}
	*thread = (uint32_t)r->p->thread_count;
	uint32_t root = slope_regrow_node(&r->tree, SLOPE_CONTEXT_NONE, *thread, SLOPE_FN_ROOT, SLOPE_CONTEXT_NONE);
	struct slope_profile_thread *t = slope_build_thread(r->p);

	*at = (uint64_t)*thread << 32 | root;
	if (!t || root == SLOPE_CONTEXT_NONE) {
		r->no_memory = true;
		return SLOPE_CONTEXT_NONE;
	}
	snprintf(path, sizeof path, "/proc/%llu/task/%ld/comm", (unsigned long long)r->p->process, (long)tid);
	FILE *file = fopen(path, "re");

	if (file && fgets(name, sizeof name, file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	t->id = *thread + 1;
	t->os_id = (uint64_t)tid;
	t->process = r->p->process;
	t->name = slope_text("%s", name);
	return root;
}

/* The self cost of a node also has a place in its function. */
static void add_place(struct slope_remotepaths *r, uint32_t node, const struct place *at, uint64_t weight)
{
	bool fresh;
	uint64_t *position = number(r, &r->place, slope_mix64(at->offset) ^ slope_mix64((uint64_t)node << 32 | at->module), &fresh);

	if (!position || at->module == SLOPE_MODULE_NONE)
		return;
	if (fresh) {
		*position = r->p->place_count;
		struct slope_profile_place *place = slope_build_place(r->p);

		if (!place) {
			r->no_memory = true;
			return;
		}
		*place = (struct slope_profile_place){ .context = node, .module = at->module, .offset = at->offset };
	}
	r->p->place[*position].self[TIME] += weight;
	r->p->place[*position].self[SAMPLES]++;
}

void slope_remotepaths_add(struct slope_remotepaths *r, const struct slope_remotewalk *w, const struct slope_remote_sample *sample)
{
	uint32_t thread, node = r->no_memory ? SLOPE_CONTEXT_NONE : thread_of(r, sample->tid, &thread);
	struct place at = { 0 }, caller;

	if (!w->count) {
		r->kernel++;
		return;
	}
	if (node != SLOPE_CONTEXT_NONE && !w->whole) {
		node = slope_regrow_node(&r->tree, node, thread, function_of(r, SLOPE_MODULE_NONE, BROKEN_OFFSET), SLOPE_CONTEXT_NONE);
		r->broken++;
	}
	for (size_t i = w->count; i-- && node != SLOPE_CONTEXT_NONE && !r->no_memory;) {
		caller = at;
		at = place_of(r, w, w->address[i]);
		uint32_t site = i + 1 < w->count ? site_of(r, &caller) : SLOPE_CONTEXT_NONE;

		node = slope_regrow_node(&r->tree, node, thread, function_of(r, at.module, at.function), site);
	}
	if (node == SLOPE_CONTEXT_NONE || r->no_memory) {
		r->no_memory = true;
		return;
	}
	r->tree.node[node].self[TIME] += sample->weight_ns;
	r->tree.node[node].self[SAMPLES]++;
	r->samples++;
	add_place(r, node, &at, sample->weight_ns);
}

static void add_loss(struct slope_remotepaths *r, const char *name, const char *text, uint64_t count)
{
	struct slope_profile_lost *lost = slope_build_lost(r->p);

	if (!lost) {
		r->no_memory = true;
		return;
	}
	lost->name = slope_text("%s", name);
	lost->text = slope_text("%s", text);
	lost->count = count;
}

/* The loader has nodes by thread; they came in as samples did. */
static bool sort_nodes(struct slope_remotepaths *r)
{
	size_t count = r->tree.count, next = 0;
	uint32_t *now = calloc(count + 1, sizeof *now);
	struct slope_profile_context *sorted = calloc(count + 1, sizeof *sorted);
	bool good = now && sorted;

	for (uint32_t t = 0; good && t < r->p->thread_count; t++)
		for (size_t i = 0; i < count; i++)
			if (r->tree.node[i].thread == t) {
				now[i] = (uint32_t)next;
				sorted[next++] = r->tree.node[i];
			}
	for (size_t i = 0; good && i < count; i++)
		if (sorted[i].parent != SLOPE_CONTEXT_NONE)
			sorted[i].parent = now[sorted[i].parent];
	for (size_t i = 0; good && i < r->p->place_count; i++)
		r->p->place[i].context = now[r->p->place[i].context];
	if (good)
		memcpy(r->tree.node, sorted, count * sizeof *sorted);
	free(sorted);
	free(now);
	return good;
}

struct slope_profile *slope_remotepaths_end(struct slope_remotepaths *r, uint64_t lost)
{
	struct slope_profile *p = r->p;

	add_loss(r, "samples", "samples that found no room, since those before were not read in time: not in the profile", lost);
	add_loss(r, "unwinds", "samples whose outermost callers are not known: no unwind table, or a very deep stack", r->broken);
	add_loss(r, "kernel", "samples without registers of the program: not in the profile", r->kernel);
	for (size_t i = 0; i < p->function_count; i++)
		if (!p->function[i].name && !(p->function[i].name = slope_build_default_name(p, i)))
			r->no_memory = true;
	if (r->no_memory || !sort_nodes(r) || !slope_regrow_end(&r->tree, p))
		return NULL;
	r->p = NULL;
	return p;
}

void slope_remotepaths_fini(struct slope_remotepaths *r)
{
	slope_regrow_fini(&r->tree);
	slope_arena_fini(&r->arena);
	slope_profile_free(r->p);
	r->p = NULL;
}
