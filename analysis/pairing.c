/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/pairing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define RUST_HASH_BYTES 19u      /* "::h" and 16 digits */

struct part {                    /* of a text */
	const char *text;
	size_t bytes;
};

struct entry {
	struct part module, name;
	const struct slope_profile_function *f;
	const struct slope_profile_module *in;
	uint32_t function;
};

static const char *last_part(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

static struct part module_key(const struct slope_profile *p, const struct slope_profile_function *f)
{
	const char *name = slope_profile_module_of(p, f);
	const char *so = strstr(name, ".so");

	if (f->module != SLOPE_MODULE_NONE && p->program && p->program[0] && !strcmp(name, last_part(p->program[0])))
		return (struct part){ "", 0 };
	return (struct part){ name, so && so > name ? (size_t)(so - name) : strlen(name) };
}

static bool is_rust_hash(const char *text)
{
	if (strncmp(text, "::h", 3))
		return false;
	for (size_t i = 3; i < RUST_HASH_BYTES; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

static struct part name_key(const char *name)
{
	size_t bytes = strlen(name), digits = bytes;

	if (bytes > RUST_HASH_BYTES && is_rust_hash(name + bytes - RUST_HASH_BYTES))
		return (struct part){ name, bytes - RUST_HASH_BYTES };
	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits > 1 && digits < bytes && name[digits - 1] == '.')
		bytes = digits - 1;  /* foo.constprop.1 */
	return (struct part){ name, bytes };
}

static int compare_parts(struct part a, struct part b)
{
	size_t least = a.bytes < b.bytes ? a.bytes : b.bytes;
	int order = least ? memcmp(a.text, b.text, least) : 0;

	return order ? order : (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

static int compare_keys(const struct entry *a, const struct entry *b)
{
	int order = compare_parts(a->name, b->name);

	return order ? order : compare_parts(a->module, b->module);
}

static int compare_files(const struct entry *a, const struct entry *b)
{
	return strcmp(last_part(a->f->file), last_part(b->f->file));
}

static int by_key(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = compare_keys(a, b);

	if (order)
		return order;
	order = compare_files(a, b);
	if (order)
		return order;
	if (a->f->line != b->f->line)
		return a->f->line < b->f->line ? -1 : 1;
	return (a->f->offset > b->f->offset) - (a->f->offset < b->f->offset);
}

/* All functions with a row, in order; NULL when memory runs out. */
static struct entry *list(const struct slope_profile *p, size_t *count)
{
	struct entry *e = calloc(p->row_count + 1, sizeof(*e));

	*count = 0;
	for (size_t i = 0; e && i < p->row_count; i++) {
		uint32_t function = p->row[i].function;
		const struct slope_profile_function *f = &p->function[function];

		if (function == SLOPE_FN_ROOT || (i && p->row[i - 1].function == function))
			continue;
		e[(*count)++] = (struct entry){ module_key(p, f), name_key(slope_profile_name(f)), f,
						&p->module[f->module], function };
	}
	if (e)
		qsort(e, *count, sizeof(*e), by_key);
	return e;
}

static bool nameless(const struct entry *e)
{
	return !e->f->raw_name || !e->f->raw_name[0];
}

static bool same_build(const struct entry *a, const struct entry *b)
{
	return a->in->build_id_bytes && a->in->build_id_bytes == b->in->build_id_bytes &&
	       !memcmp(a->in->build_id, b->in->build_id, a->in->build_id_bytes);
}

static void put(struct slope_pairing *pairing, const struct entry *old, const struct entry *now)
{
	if (old && now && (nameless(old) || nameless(now)) && !same_build(old, now)) {
		put(pairing, old, NULL);
		put(pairing, NULL, now);
		return;
	}
	if (!old || !now)
		pairing->nameless += nameless(old ? old : now);
	pairing->pair[pairing->count++] = (struct slope_pair){
		old ? old->function : SLOPE_PAIRING_NONE, now ? now->function : SLOPE_PAIRING_NONE };
}

static size_t group(const struct entry *e, size_t count)
{
	size_t alike = count ? 1 : 0;

	while (alike < count && !compare_keys(&e[0], &e[alike]))
		alike++;
	return alike;
}

/* All functions of one name: in order where both builds have as many, else by their files, and the rest alone. */
static void put_group(struct slope_pairing *pairing, const struct entry *old, size_t olds, const struct entry *now,
		      size_t nows)
{
	size_t i = 0, k = 0;

	while (i < olds || k < nows) {
		int order = i == olds ? 1 : k == nows ? -1 : olds == nows ? 0 : compare_files(&old[i], &now[k]);

		put(pairing, order <= 0 ? &old[i] : NULL, order >= 0 ? &now[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
}

static void walk(struct slope_pairing *pairing, const struct entry *old, size_t olds, const struct entry *now,
		 size_t nows)
{
	while (olds || nows) {
		int order = !olds ? 1 : !nows ? -1 : compare_keys(old, now);
		size_t a = order <= 0 ? group(old, olds) : 0, b = order >= 0 ? group(now, nows) : 0;

		put_group(pairing, old, a, now, b);
		old += a;
		olds -= a;
		now += b;
		nows -= b;
	}
}

bool slope_pairing_init(struct slope_pairing *pairing, const struct slope_profile *old, const struct slope_profile *now)
{
	size_t olds, nows;
	struct entry *before = list(old, &olds), *after = list(now, &nows);

	*pairing = (struct slope_pairing){ 0 };
	if (before && after)
		pairing->pair = calloc(olds + nows + 1, sizeof(*pairing->pair));
	if (pairing->pair)
		walk(pairing, before, olds, after, nows);
	free(before);
	free(after);
	return pairing->pair != NULL;
}

void slope_pairing_fini(struct slope_pairing *pairing)
{
	free(pairing->pair);
	*pairing = (struct slope_pairing){ 0 };
}
