/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/discord.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/curve.h"

#define NO_RUN UINT32_MAX

/* ---- bringing them together ---- */

/* All rows and edges go to the first thread, where merging adds them up. */
static void forget_threads(struct slope_profile *p)
{
	for (size_t i = 0; i < p->row_count; i++)
		p->row[i].thread = 0;
	for (size_t i = 0; i < p->edge_count; i++)
		p->edge[i].thread = 0;
}

bool slope_discord_unite(struct slope_discord_runs *runs, struct slope_profile *const run[SLOPE_DISCORD_RUNS], char *error,
			 size_t error_bytes)
{
	uint32_t threads = 0;
	size_t count = 0;

	for (; count < SLOPE_DISCORD_RUNS && run[count]; count++) {
		forget_threads(run[count]);
		runs->thread[count] = threads;
		threads += (uint32_t)run[count]->thread_count;
	}
	for (size_t i = count; i < SLOPE_DISCORD_RUNS; i++)
		runs->thread[i] = NO_RUN;
	runs->profile = slope_profile_merge(run, count, error, error_bytes);
	return runs->profile != NULL;
}

/* ---- one function ---- */

static const struct slope_profile_row *row_of(const struct slope_discord_runs *runs, uint32_t function, size_t run)
{
	size_t count;
	const struct slope_profile_row *row = slope_curve_rows(runs->profile, function, &count);

	for (size_t i = 0; i < count; i++)
		if (row[i].thread == runs->thread[run])
			return &row[i];
	return NULL;
}

static bool same_points(const struct slope_profile *p, const struct slope_profile_points *a, const struct slope_profile_points *b)
{
	return a->count == b->count && a->bits == b->bits &&
	       (!a->count || !memcmp(a->rows, b->rows, a->count * slope_point_bytes(p->units)));
}

static unsigned difference(const struct slope_profile *p, const struct slope_profile_row *a, const struct slope_profile_row *b)
{
	size_t costs = p->units * sizeof *a->self;
	unsigned what = 0;

	if (!a || !b)
		return a == b ? 0 : SLOPE_DISCORD_CALLS | SLOPE_DISCORD_SELF | SLOPE_DISCORD_TOTAL | SLOPE_DISCORD_POINTS;
	what |= a->calls != b->calls ? SLOPE_DISCORD_CALLS : 0;
	what |= memcmp(a->self, b->self, costs) ? SLOPE_DISCORD_SELF : 0;
	what |= memcmp(a->total, b->total, costs) ? SLOPE_DISCORD_TOTAL : 0;
	if (a->rms != b->rms || a->trms != b->trms || a->thread_input != b->thread_input || a->external != b->external)
		what |= SLOPE_DISCORD_INPUT;
	for (unsigned k = 0; k < SLOPE_METRICS; k++)
		what |= same_points(p, &a->points[k], &b->points[k]) ? 0 : SLOPE_DISCORD_POINTS;
	return what;
}

/* Is `name` one of the list? A compiler's ending (".constprop.0") does not count. */
static bool listed(const char *const *list, const char *name)
{
	for (; *list; list++) {
		size_t length = strlen(*list);

		if (!strncmp(name, *list, length) && (!name[length] || name[length] == '.'))
			return true;
	}
	return false;
}

static bool is_static(const struct slope_profile *p)
{
	for (size_t i = 1; i < p->module_count; i++)
		if (p->module[i].path && strstr(p->module[i].path, "/ld-linux"))
			return false;
	return true;
}

/* A static program's calls everything; what differs there is what the compiler has put into it of what asks the processor. */
static bool begins_all(const struct slope_profile *p, const struct slope_profile_function *f)
{
	static const char *const begins[] = { "__libc_start_main", NULL };

	return is_static(p) && listed(begins, f->raw_name ? f->raw_name : "");
}

bool slope_discord_known(const struct slope_profile *p, const struct slope_profile_function *f, unsigned what)
{
	static const char *const start[] = {     /* ask the processor, or the kernel's facts about it */
		"init_cpu_features", "update_active", "get_common_indices", "get_common_cache_info", "get_extended_indices",
		"handle_intel", "handle_amd", "handle_zhaoxin", "intel_check_word", "dl_init_cacheinfo", "init_cacheinfo",
		"_dl_tunable_set_hwcaps", "__libc_init_cpu_features", "_dl_sysdep_parse_arguments", "_dl_aux_init", NULL,
	};
	static const char *const placed[] = {    /* the linker's own memory */
		"__minimal_malloc", "strcmp", "strncmp", "strlen", "index", "strchr", "strcspn", "memcpy", "mempcpy", "memmove", "memset",
		NULL,
	};
	static const char *const chooses[] = { "strstr", "__libc_strstr", "__cpu_indicator_init", "__x86_cacheinfo", NULL };
	static const char *const rounds[] = { "set_fast_math", NULL };  /* Valgrind ends a block where it warns of it */
	static const char *const read_by_kernel[] = {
		"connect", "bind", "sendto", "sendmsg", "recvmsg", "sigaltstack", "execve", "clone", NULL,
	};
	const char *name = f->raw_name ? f->raw_name : "", *module = slope_profile_module_of(p, f);
	bool linker = !strncmp(module, "ld-linux", 8);

	if (!(what & SLOPE_DISCORD_CALLS) && (begins_all(p, f) || (!(what & SLOPE_DISCORD_INPUT) && listed(rounds, name))))
		return true;
	if (linker || is_static(p))
		return listed(start, name) || listed(linker ? placed : chooses, name);
	if (strncmp(module, "libc.so", 7) && strncmp(module, "libgcc_s.so", 11))
		return false;
	return listed(chooses, name) ||
	       (!(what & ~(SLOPE_DISCORD_INPUT | SLOPE_DISCORD_POINTS)) && listed(read_by_kernel, name));
}

/* ---- where it comes from ---- */

/* By function: its entry + 1, 0 where it does not differ. */
typedef uint32_t entry_of;

static struct slope_discord_entry *entry_at(const struct slope_discord *d, const entry_of *of, uint32_t function)
{
	return of[function] ? &d->entry[of[function] - 1] : NULL;
}

static void find_followers(struct slope_discord *d, const struct slope_profile *p, const entry_of *of)
{
	for (size_t i = 0; i < p->edge_count; i++) {
		struct slope_discord_entry *caller = entry_at(d, of, p->edge[i].caller);

		if (caller && caller->state == SLOPE_DISCORD_OPEN && p->edge[i].caller != p->edge[i].callee &&
		    of[p->edge[i].callee] && !(caller->what & (SLOPE_DISCORD_CALLS | SLOPE_DISCORD_SELF)))
			caller->follows = true;
	}
}

/* What only known causes call is theirs: they call it otherwise. */
static void spread_known(struct slope_discord *d, const struct slope_profile *p, const entry_of *of)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < d->count; i++) {
			struct slope_discord_entry *e = &d->entry[i];
			bool by_known = false, by_others = false;

			for (size_t k = 0; k < p->edge_count && e->state == SLOPE_DISCORD_OPEN; k++) {
				const struct slope_discord_entry *caller = entry_at(d, of, p->edge[k].caller);

				if (p->edge[k].callee != e->function || p->edge[k].caller == e->function)
					continue;
				if (caller && caller->state == SLOPE_DISCORD_KNOWN && !caller->follows &&
				    !begins_all(p, &p->function[caller->function]))
					by_known = true;
				else
					by_others = true;
			}
			if (by_known && !by_others) {
				e->state = SLOPE_DISCORD_KNOWN;
				e->follows = false;
				changed = true;
			}
		}
	}
}

/* What follows is open where something open is below it, else known, else unsteady. */
static void spread_states(struct slope_discord *d, const struct slope_profile *p, const entry_of *of)
{
	bool changed = true;

	for (size_t i = 0; i < d->count; i++)
		if (d->entry[i].follows)
			d->entry[i].state = SLOPE_DISCORD_UNSTEADY;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < p->edge_count; i++) {
			struct slope_discord_entry *caller = entry_at(d, of, p->edge[i].caller);
			const struct slope_discord_entry *callee = entry_at(d, of, p->edge[i].callee);

			if (caller && callee && caller->follows && callee->state < caller->state) {
				caller->state = callee->state;
				changed = true;
			}
		}
	}
}

/* ---- all of them ---- */

static uint64_t apart(const struct slope_discord_entry *e)
{
	uint64_t a = e->row[0] ? e->row[0]->self[0] : 0, b = e->row[1] ? e->row[1]->self[0] : 0;

	return a < b ? b - a : a - b;
}

static int by_weight(const void *left, const void *right)
{
	const struct slope_discord_entry *a = left, *b = right;

	if (a->state != b->state)
		return a->state < b->state ? -1 : 1;
	if (a->follows != b->follows)
		return a->follows ? 1 : -1;
	if (apart(a) != apart(b))
		return apart(a) > apart(b) ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

static void compare_functions(struct slope_discord *d, const struct slope_discord_runs *runs, entry_of *of)
{
	const struct slope_profile *p = runs->profile;

	for (uint32_t f = 1; f < p->function_count; f++) {
		struct slope_discord_entry e = { .function = f, .row = { row_of(runs, f, 0), row_of(runs, f, 1) } };

		/* Code in no file has no place by which both sources could know it. */
		if (!p->function[f].module || (!e.row[0] && !e.row[1]))
			continue;
		d->functions++;
		for (unsigned k = 0; e.row[0] && k < SLOPE_METRICS; k++)
			d->points += e.row[0]->points[k].count;
		e.what = difference(p, e.row[0], e.row[1]);
		if (!e.what)
			continue;
		if (runs->thread[2] != NO_RUN && difference(p, e.row[1], row_of(runs, f, 2)))
			e.state = SLOPE_DISCORD_UNSTEADY;
		else if (slope_discord_known(p, &p->function[f], e.what))
			e.state = SLOPE_DISCORD_KNOWN;
		d->entry[d->count++] = e;
		of[f] = (entry_of)d->count;
	}
}

bool slope_discord_init(struct slope_discord *d, const struct slope_discord_runs *runs)
{
	const struct slope_profile *p = runs->profile;
	entry_of *of = calloc(p->function_count + 1, sizeof *of);

	memset(d, 0, sizeof *d);
	d->entry = calloc(p->function_count + 1, sizeof *d->entry);
	if (!of || !d->entry) {
		free(of);
		slope_discord_fini(d);
		return false;
	}
	compare_functions(d, runs, of);
	spread_known(d, p, of);
	find_followers(d, p, of);
	spread_states(d, p, of);
	free(of);
	qsort(d->entry, d->count, sizeof *d->entry, by_weight);
	for (size_t i = 0; i < d->count; i++)
		d->state_count[d->entry[i].state]++;
	return true;
}

void slope_discord_fini(struct slope_discord *d)
{
	free(d->entry);
	memset(d, 0, sizeof *d);
}

const char *slope_discord_word(enum slope_discord_what what)
{
	switch (what) {
	case SLOPE_DISCORD_CALLS:
		return "calls";
	case SLOPE_DISCORD_SELF:
		return "self";
	case SLOPE_DISCORD_TOTAL:
		return "total";
	case SLOPE_DISCORD_INPUT:
		return "input";
	case SLOPE_DISCORD_POINTS:
		break;
	}
	return "points";
}

static bool first_apart(const struct slope_profile *p, const struct slope_profile_points *a, const struct slope_profile_points *b,
			struct slope_discord_point *at)
{
	size_t i = 0, k = 0;

	while (i < a->count || k < b->count) {
		const struct slope_point *x = i < a->count ? slope_profile_point(p, a, i) : NULL;
		const struct slope_point *y = k < b->count ? slope_profile_point(p, b, k) : NULL;

		if (x && y && !memcmp(x, y, slope_point_bytes(p->units))) {
			i++;
			k++;
			continue;
		}
		at->n = x && (!y || x->n <= y->n) ? x->n : y->n;
		at->point[0] = x && x->n == at->n ? x : NULL;
		at->point[1] = y && y->n == at->n ? y : NULL;
		return true;
	}
	return false;
}

bool slope_discord_point(const struct slope_profile *p, const struct slope_discord_entry *e, struct slope_discord_point *at)
{
	static const struct slope_profile_points none;

	for (at->metric = 0; at->metric < SLOPE_METRICS; at->metric++)
		if (first_apart(p, e->row[0] ? &e->row[0]->points[at->metric] : &none,
				e->row[1] ? &e->row[1]->points[at->metric] : &none, at))
			return true;
	return false;
}
