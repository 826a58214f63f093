/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope contexts`: functions, the heaviest first, and below each of them a
 * tree of its callers. A line of it stands for one path; callers that add
 * nothing, because all that came along the path came through them too, or nearly
 * all of it, stand on the same line.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/contexts_view.h"
#include "report/functions.h"
#include "report/parts.h"

#define CHAIN_SHOWN 8u           /* callers of one line */
#define NEARLY_ALL 0.99          /* of a line: a caller that brings so much of it stands on the same line */

/* ---- head ---- */

static const char *weight_text(enum slope_callers_weight by)
{
	return by == SLOPE_WEIGHT_SELF ? "self cost" : by == SLOPE_WEIGHT_TOTAL ? "total cost" : "calls";
}

static void put_kind(const struct slope_contexts_view *v, FILE *out)
{
	char nodes[8];

	slope_parts_label("contexts", &v->o->report, out);
	if (v->p->context_k)
		fprintf(out, "forest of slabs, k = %" PRIu32 ", %s nodes; ", v->p->context_k, slope_table_number(v->s.nodes, nodes));
	else
		fprintf(out, "calling context tree, %s nodes, at most %" PRIu32 " calls deep%s; ",
			slope_table_number(v->s.nodes, nodes), v->s.depth,
			v->p->context_collapsed ? ", recursion collapsed" : "");
	fprintf(out, "by %s", weight_text(v->o->by));
	if (v->o->similar > 0)
		fprintf(out, ", paths with %.3g%% of their function's or more", 100 * v->o->similar);
	fputc('\n', out);
}

static bool put_head(const struct slope_contexts_view *v, FILE *out)
{
	const struct slope_report_options *o = &v->o->report;
	const char *unit = v->p->unit_name[o->unit] ? v->p->unit_name[o->unit] : "?";
	bool ok = slope_parts_program(v->p, o, out);
	char number[8], note[160];

	slope_parts_run(v->p, o, out);
	slope_parts_label("cost", o, out);
	fprintf(out, "%s %s%s in all\n", slope_table_number(v->cost, number), unit, slope_parts_unit(unit));
	put_kind(v, out);
	ok &= slope_parts_losses(v->p, o, out);
	if (v->p->context_k) {
		snprintf(note, sizeof(note), "more than %" PRIu32 " callers are not known; the total cost of a function that calls "
			 "itself counts every call", v->p->context_k);
		ok &= slope_parts_line("NOTE", note, o, out);
	}
	if (v->o->far && v->o->k < v->c.depth) {
		snprintf(note, sizeof(note), "paths are followed for %" PRIu32 " callers; --k=K for more", v->o->k);
		ok &= slope_parts_line("NOTE", note, o, out);
	}
	if (v->p->burst_period_ns) {
		snprintf(note, sizeof(note), "recorded in bursts of %.3g ms every %.3g ms: a sample, not all calls",
			 (double)v->p->burst_length_ns / 1e6, (double)v->p->burst_period_ns / 1e6);
		ok &= slope_parts_line("NOTE", note, o, out);
	}
	fputc('\n', out);
	return ok;
}

/* ---- the tree ---- */

/* Lines on their way: the table, and the branches to the left of the next line. */
struct tree {
	const struct slope_contexts_view *v;
	struct slope_table t;
	char *left;
	size_t left_bytes;
	bool failed;
};

static const char *glyph(const struct tree *t, const char *utf8, const char *ascii)
{
	return t->v->o->report.ascii ? ascii : utf8;
}

/* "parse", or with its call site "parse (parse.c:12)". */
static void put_caller(const struct tree *t, const struct slope_forest_node *n, FILE *out)
{
	const struct slope_profile *p = t->v->p;

	if (n->function == SLOPE_FN_ROOT)
		fputs("(start)", out);
	else
		fputs(slope_profile_name(&p->function[n->function]), out);
	if (n->site == SLOPE_CONTEXT_NONE)
		return;
	const struct slope_profile_site *site = &p->site[n->site];
	const char *file = site->file ? strrchr(site->file, '/') : NULL;

	if (site->file && site->line)
		fprintf(out, " (%s:%" PRIu32 ")", file ? file + 1 : site->file, site->line);
	else
		fprintf(out, " (at 0x%" PRIx64 ")", site->offset);
}

/* Does all that is on the line come through the next caller too, or nearly so? */
static bool goes_on(const struct slope_contexts_view *v, const struct slope_forest_node *line, const struct slope_forest_node *n)
{
	if (n->child == SLOPE_CONTEXT_NONE)
		return false;
	const struct slope_forest_node *child = &v->f.node[n->child];

	return child->sibling == SLOPE_CONTEXT_NONE &&
	       (double)slope_forest_weight(child, v->o->by) >= NEARLY_ALL * (double)slope_forest_weight(line, v->o->by);
}

/* The numbers are those of the whole path. */
static void add_row(struct tree *t, const struct slope_forest_node *n, uint64_t root, const char *name)
{
	const struct slope_contexts_view *v = t->v;
	uint64_t weight = slope_forest_weight(n, v->o->by);
	char text[16];

	slope_parts_share(&t->t, n->depth ? SLOPE_STYLE_PLAIN : SLOPE_STYLE_BOLD, weight, v->whole);
	if (n->depth)
		slope_parts_share(&t->t, SLOPE_STYLE_PLAIN, weight, root);
	else
		slope_table_add(&t->t, SLOPE_STYLE_DIM, "%s", "");
	slope_table_add(&t->t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(n->calls, text));
	slope_table_add(&t->t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(n->self, text));
	slope_table_add(&t->t, SLOPE_STYLE_PLAIN, "%s", slope_table_number(n->total, text));
	slope_table_add(&t->t, SLOPE_STYLE_DIM, "%" PRIu32, n->depth);
	slope_table_add(&t->t, n->depth ? SLOPE_STYLE_PLAIN : SLOPE_STYLE_BOLD, "%s", name);
}

/* One line: `n` and the callers that add nothing. The last of them, whose children come next; NULL when memory runs out. */
static const struct slope_forest_node *add_line(struct tree *t, const struct slope_forest_node *n, bool last, uint64_t root)
{
	const struct slope_forest_node *at = n;
	char *name = NULL;
	size_t bytes = 0, shown = 0;
	FILE *out = open_memstream(&name, &bytes);

	if (!out)
		return NULL;
	if (n->depth)
		fprintf(out, "%s%s", t->left ? t->left : "", last ? glyph(t, "└─ ", "`- ") : glyph(t, "├─ ", "|- "));
	put_caller(t, n, out);
	for (; n->depth && goes_on(t->v, n, at); shown++) {
		at = &t->v->f.node[at->child];
		if (shown + 1 >= CHAIN_SHOWN && goes_on(t->v, n, at))
			continue;
		fputs(shown >= CHAIN_SHOWN ? glyph(t, " ← ... ← ", " <- ... <- ") : glyph(t, " ← ", " <- "), out);
		put_caller(t, at, out);
	}
	bool good = fclose(out) == 0;

	if (good)
		add_row(t, at, root, name);
	free(name);
	return good ? at : NULL;
}

/* Lengthens what stands to the left, and makes it as short as it was with NULL. */
static bool lean(struct tree *t, const char *more, size_t back_to)
{
	if (!more) {
		t->left[back_to] = 0;
		return true;
	}
	size_t used = t->left ? strlen(t->left) : 0, bytes = used + strlen(more) + 1;

	if (bytes > t->left_bytes) {
		char *left = realloc(t->left, 2 * bytes);

		if (!left)
			return false;
		t->left = left;
		t->left_bytes = 2 * bytes;
	}
	memcpy(t->left + used, more, strlen(more) + 1);
	return true;
}

struct level {
	uint32_t next;               /* the child whose turn it is */
	size_t left;                 /* bytes of `left` here */
};

/* What is below a node, deep or not, without recursion: a path may have any length. */
static bool add_below(struct tree *t, const struct slope_forest_node *top, uint64_t root)
{
	struct level *level = NULL;
	size_t depth = 0, capacity = 0;
	uint32_t next = top->child;
	bool ok = true;

	for (;;) {
		while (ok && next == SLOPE_CONTEXT_NONE && depth) {
			depth--;
			next = level[depth].next;
			ok = lean(t, NULL, level[depth].left);
		}
		if (!ok || next == SLOPE_CONTEXT_NONE)
			break;
		const struct slope_forest_node *n = &t->v->f.node[next];
		bool last = n->sibling == SLOPE_CONTEXT_NONE;
		const struct slope_forest_node *end = add_line(t, n, last, root);

		if (depth == capacity) {
			capacity = 2 * capacity + 16;
			struct level *more = realloc(level, capacity * sizeof(*more));

			ok = more != NULL;
			level = more ? more : level;
		}
		ok = ok && end;
		if (!ok)
			break;
		level[depth++] = (struct level){ n->sibling, t->left ? strlen(t->left) : 0 };
		ok = lean(t, last ? "   " : glyph(t, "│  ", "|  "), 0);
		next = end->child;
	}
	free(level);
	return ok;
}

static bool put_tree(const struct slope_contexts_view *v, FILE *out)
{
	const struct slope_table_column column[] = {
		{ "share", true, 0 }, { "of it", true, 0 }, { "calls", true, 0 }, { "self", true, 0 }, { "total", true, 0 },
		{ "k", true, 0 }, { "function, and below it its callers", false, 30 },
	};
	struct tree t = { .v = v };
	size_t shown = 0;
	uint32_t i = v->f.root;
	bool ok = true;

	slope_table_init(&t.t, column, sizeof(column) / sizeof(column[0]));
	for (; ok && i != SLOPE_CONTEXT_NONE && shown < v->functions; i = v->f.node[i].sibling, shown++) {
		const struct slope_forest_node *root = &v->f.node[i];

		if (v->o->report.top && shown == v->o->report.top)
			break;
		ok = add_line(&t, root, false, 0) && add_below(&t, root, slope_forest_weight(root, v->o->by));
	}
	ok = ok && slope_table_print(&t.t, v->o->report.width, v->o->report.color, out);
	slope_table_fini(&t.t);
	free(t.left);
	if (shown < v->functions && i != SLOPE_CONTEXT_NONE) {
		char text[16];

		fprintf(out, "%zu more, none above %s (--top=0 shows all).\n", v->functions - shown,
			slope_parts_part(slope_forest_weight(&v->f.node[i], v->o->by), v->whole, text, sizeof(text)));
	}
	return ok;
}

/* ---- how many there are ---- */

static void put_foot(const struct slope_contexts_view *v, FILE *out)
{
	char hot[8], of[8], hot_contexts[8], contexts[8];

	if (!v->functions)
		fputs("None of its calls was recorded.\n", out);
	fprintf(out, "\n%.0f%% of all %s: %s of %s functions, %s of %s contexts", 100 * SLOPE_CENSUS_HOT,
		weight_text(v->hot_by), slope_table_number(v->s.hot_functions, hot), slope_table_number(v->s.functions, of),
		slope_table_number(v->contexts.hot, hot_contexts), slope_table_number(v->contexts.contexts, contexts));
	if (v->p->context_k)
		fprintf(out, " of up to %" PRIu32 " callers", v->p->context_k);
	fprintf(out, ".\n%sshare: of all %s; of it: part of the function's own that came along this path, wherever in the run.\n"
		     "k: callers on the path; a %s b: a, called by b.\n%s", slope_style_on(SLOPE_STYLE_DIM, v->o->report.color),
		weight_text(v->o->by), v->o->report.ascii ? "<-" : "←", slope_style_off(SLOPE_STYLE_DIM, v->o->report.color));
}

static void add_number(struct slope_table *t, uint64_t number)
{
	slope_table_add(t, SLOPE_STYLE_PLAIN, "%" PRIu64, number);
}

static bool put_sizes(const struct slope_contexts_view *v, FILE *out)
{
	const struct slope_table_column column[] = {
		{ "k", true, 0 }, { "k-contexts", true, 0 }, { "hot", true, 0 }, { "forest", true, 0 }, { "pruned", true, 0 },
		{ "slabs", true, 0 },
	};
	struct slope_contexts_sizes sizes;
	struct slope_table t;
	bool failed, ok;

	fprintf(out, "\ncall graph  %" PRIu64 " functions, %" PRIu64 " edges\n%s  %" PRIu64 " nodes, depth %" PRIu32, v->s.functions,
		v->s.edges, v->p->context_k ? "slabs     " : "tree      ", v->s.nodes, v->s.depth);
	if (!isnan(v->s.mean_depth))
		fprintf(out, ", of a call %.1f", v->s.mean_depth);
	fprintf(out, "\ncalls       %" PRIu64 "\n\n", v->s.calls);
	slope_table_init(&t, column, sizeof(column) / sizeof(column[0]));
	for (size_t i = 0; slope_contexts_sizes(v, i, &sizes, &failed); i++) {
		if (sizes.k == SLOPE_CALLERS_ALL)
			slope_table_add(&t, SLOPE_STYLE_PLAIN, "all");
		else
			add_number(&t, sizes.k);
		add_number(&t, sizes.contexts.contexts);
		add_number(&t, sizes.contexts.hot);
		add_number(&t, sizes.forest);
		add_number(&t, sizes.pruned);
		if (sizes.slabs)
			add_number(&t, sizes.slabs);
		else
			slope_table_add(&t, SLOPE_STYLE_DIM, "-");
	}
	ok = !failed && slope_table_print(&t, v->o->report.width, v->o->report.color, out);
	slope_table_fini(&t);
	return ok;
}

static bool put_similar(const struct slope_contexts_view *v, FILE *out)
{
	static const double limit[] = SLOPE_CONTEXTS_LIMITS;
	const struct slope_table_column column[] = {
		{ "similar", true, 0 }, { "nodes", true, 0 }, { "of tree", true, 0 }, { "mean depth", true, 0 },
		{ "of hot functions", true, 0 },
	};
	struct slope_table t;
	bool ok = true;
	char real[SLOPE_TABLE_REAL];

	slope_table_init(&t, column, sizeof(column) / sizeof(column[0]));
	for (size_t i = 0; ok && i < sizeof(limit) / sizeof(limit[0]); i++) {
		struct slope_census_similar found;

		ok = slope_census_similar(&v->c, limit[i], SLOPE_CONTEXTS_FAR, v->hot_by, &found);
		slope_table_add(&t, SLOPE_STYLE_PLAIN, "%.0f%%", 100 * limit[i]);
		add_number(&t, found.nodes);
		slope_table_add(&t, SLOPE_STYLE_PLAIN, "%.2f%%", v->s.nodes ? 100.0 * (double)found.nodes / (double)v->s.nodes : 0);
		slope_table_add(&t, SLOPE_STYLE_PLAIN, "%s", slope_table_real(found.mean_depth, real));
		slope_table_add(&t, SLOPE_STYLE_PLAIN, "%s", slope_table_real(found.hot_depth, real));
	}
	fputc('\n', out);
	ok = ok && slope_table_print(&t, v->o->report.width, v->o->report.color, out);
	slope_table_fini(&t);
	return ok;
}

bool slope_contexts_text(const struct slope_contexts_view *v, FILE *out)
{
	if (!put_head(v, out) || !put_tree(v, out))
		return false;
	put_foot(v, out);
	return !v->o->statistics || (put_sizes(v, out) && put_similar(v, out));
}
