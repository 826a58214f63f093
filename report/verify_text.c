/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope record --verify` for people. Of each cause the table shows the first
 * thing that differs: calls, then self cost, then points, where that is the
 * first size with other calls, cost or input.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"
#include "report/functions.h"
#include "report/parts.h"
#include "report/verify.h"

#define ROWS 20u
#define NAME_COLUMNS 60u

static const struct slope_table_column columns[] = {
	{ "function", false, 20 }, { "module", false, 0 }, { "differs in", false, 0 }, { NULL, true, 0 }, { NULL, true, 0 },
};

/* ---- the table ---- */

/* One cell with the number that a side has, "-" where it has nothing. */
static void put_number(struct slope_table *t, bool there, uint64_t number)
{
	if (there)
		slope_table_add(t, SLOPE_STYLE_WARM, "%" PRIu64, number);
	else
		slope_table_add(t, SLOPE_STYLE_DIM, "-");
}

/* Something of a point: the first of calls, cost and input in which the two differ. */
static void put_point(struct slope_table *t, const struct slope_profile *p, const struct slope_discord_point *at)
{
	const struct slope_point *a = at->point[0], *b = at->point[1];
	const char *metric = slope_report_metric_name(at->metric);

	if (!a || !b || a->calls != b->calls) {
		slope_table_add(t, SLOPE_STYLE_PLAIN, "calls at %s=%" PRIu64, metric, at->n);
		put_number(t, a, a ? a->calls : 0);
		put_number(t, b, b ? b->calls : 0);
		return;
	}
	for (uint32_t u = 0; u < p->units; u++) {
		if (!memcmp(&a->cost[u], &b->cost[u], sizeof a->cost[u]))
			continue;
		slope_table_add(t, SLOPE_STYLE_PLAIN, "%s at %s=%" PRIu64, p->unit_name[u], metric, at->n);
		put_number(t, true, a->cost[u].sum);
		put_number(t, true, b->cost[u].sum);
		return;
	}
	bool thread = a->thread != b->thread, external = a->external != b->external;

	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s input at %s=%" PRIu64, thread ? "thread" : external ? "external" : "rms", metric, at->n);
	put_number(t, true, thread ? a->thread : external ? a->external : a->rms);
	put_number(t, true, thread ? b->thread : external ? b->external : b->rms);
}

static void put_cost(struct slope_table *t, const struct slope_profile *p, const struct slope_discord_entry *e, bool self)
{
	const struct slope_profile_row *a = e->row[0], *b = e->row[1];
	uint32_t u = 0;

	while (u + 1 < p->units && (self ? a->self[u] == b->self[u] : a->total[u] == b->total[u]))
		u++;
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s %s", self ? "self" : "total", p->unit_name[u]);
	put_number(t, true, self ? a->self[u] : a->total[u]);
	put_number(t, true, self ? b->self[u] : b->total[u]);
}

static bool put_row(struct slope_table *t, const struct slope_profile *p, const struct slope_discord_entry *e)
{
	const struct slope_profile_function *f = &p->function[e->function];
	char *name = slope_clip_name(slope_profile_name(f), NAME_COLUMNS), *module = slope_clip_name(slope_profile_module_of(p, f), 30);
	const struct slope_profile_row *a = e->row[0], *b = e->row[1];
	struct slope_discord_point at;
	bool good = name && module;

	slope_table_add(t, SLOPE_STYLE_BOLD, "%s", good ? name : "");
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%s", good ? module : "");
	free(name);
	free(module);
	if (e->what & SLOPE_DISCORD_CALLS) {
		slope_table_add(t, SLOPE_STYLE_PLAIN, "calls");
		put_number(t, a, a ? a->calls : 0);
		put_number(t, b, b ? b->calls : 0);
	} else if (e->what & SLOPE_DISCORD_SELF) {
		put_cost(t, p, e, true);
	} else if (slope_discord_point(p, e, &at)) {
		put_point(t, p, &at);
	} else if (e->what & SLOPE_DISCORD_TOTAL) {
		put_cost(t, p, e, false);
	} else {
		slope_table_add(t, SLOPE_STYLE_PLAIN, "trms input");
		put_number(t, true, a->trms);
		put_number(t, true, b->trms);
	}
	return good;
}

static bool put_table(const struct slope_verify_view *v, size_t causes, FILE *out)
{
	struct slope_table_column named[sizeof columns / sizeof *columns];
	struct slope_table t;
	bool good = true;

	memcpy(named, columns, sizeof columns);
	named[3].title = v->source[0];
	named[4].title = v->source[1];
	slope_table_init(&t, named, sizeof named / sizeof *named);
	for (size_t i = 0; i < causes && i < ROWS && good; i++)
		good = put_row(&t, v->profile, &v->discord->entry[i]);
	good = good && slope_table_print(&t, v->width, v->color, out);
	slope_table_fini(&t);
	return good;
}

/* ---- the lines around it ---- */

static const char *plural(size_t count, const char *many, const char *one)
{
	return count == 1 ? one : many;
}

static void put_left_out(const struct slope_verify_view *v, FILE *out)
{
	size_t known = v->discord->state_count[SLOPE_DISCORD_KNOWN], unsteady = v->discord->state_count[SLOPE_DISCORD_UNSTEADY];

	if (known)
		fprintf(out, "left out: %zu %s known to differ, and what calls them: they ask the processor, which Valgrind makes up, or "
			"see where memory lies (docs/translator.md)\n", known, plural(known, "functions that are", "function that is"));
	if (unsteady)
		fprintf(out, "left out: %zu %s from run to run under the same source; the program is not deterministic there\n",
			unsteady, plural(unsteady, "functions that differ", "function that differs"));
}

static void put_surroundings(const struct slope_verify_view *v, FILE *out)
{
	if (v->status[0] != v->status[1])
		fprintf(out, "exit status: %d under %s, %d under %s\n", v->status[0], v->source[0], v->status[1], v->source[1]);
	if (!v->same_output)
		fprintf(out, "output: the program prints something else under the two sources\n");
	if (v->processes[0] != v->processes[1])
		fprintf(out, "processes: %zu under %s, %zu under %s\n", v->processes[0], v->source[0], v->processes[1], v->source[1]);
}

bool slope_verify_text(const struct slope_verify_view *v, FILE *out)
{
	const struct slope_discord *d = v->discord;
	size_t open = d->state_count[SLOPE_DISCORD_OPEN], causes = 0, same = d->functions - d->count;

	if (v->agree) {
		fprintf(out, "%s and %s agree: %zu functions, %zu points", v->source[0], v->source[1], same, d->points);
		if (d->count)
			fprintf(out, "; left out: %zu that are known to differ, %zu that differ from run to run",
				d->state_count[SLOPE_DISCORD_KNOWN], d->state_count[SLOPE_DISCORD_UNSTEADY]);
		fprintf(out, "\n");
		return true;
	}
	while (causes < open && !d->entry[causes].follows)
		causes++;
	put_surroundings(v, out);
	if (causes && !put_table(v, causes, out))
		return false;
	if (causes > ROWS)
		fprintf(out, "... and %zu more (--json has all)\n", causes - ROWS);
	fprintf(out, "%s%zu of %zu functions differ: %zu by themselves, %zu because of what they call\n", causes ? "\n" : "", open,
		d->functions, causes, open - causes);
	put_left_out(v, out);
	return true;
}
