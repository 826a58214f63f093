/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "report/path_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pathcosts.h"

struct making {
	struct slope_path_steps *s;
	const struct slope_profile *p;
	const struct slope_profile_graph *g;
	struct slope_blocklines *lines;
	uint32_t module;
	size_t capacity;
	bool failed;
};

const char *slope_step_words(enum slope_step_kind kind)
{
	static const char *const words[] = {
#define X(id, text, ends) text,
		SLOPE_STEP_LIST(X)
#undef X
	};

	return words[kind];
}

static struct slope_path_step *add(struct making *m, struct slope_path_step step)
{
	if (m->s->count == m->capacity) {
		size_t capacity = 2 * m->capacity + 16;
		struct slope_path_step *more = realloc(m->s->step, capacity * sizeof(*more));

		if (!more) {
			m->failed = true;
			return NULL;
		}
		m->s->step = more;
		m->capacity = capacity;
	}
	m->s->step[m->s->count] = step;
	return &m->s->step[m->s->count++];
}

/* ---- code ---- */

/* The line goes on where the code before it ended, or is in it already. */
static bool add_to_last(struct making *m, size_t from, const char *file, uint32_t line)
{
	for (size_t i = from; i < m->s->count; i++)
		if (m->s->step[i].file == file && line >= m->s->step[i].first && line <= m->s->step[i].last)
			return true;
	struct slope_path_step *last = m->s->count > from ? &m->s->step[m->s->count - 1] : NULL;

	if (!last || last->file != file || line != last->last + 1)
		return false;
	last->last = line;
	return true;
}

static void add_address(struct making *m, size_t from, const struct slope_block *b)
{
	struct slope_path_step *last = m->s->count > from ? &m->s->step[m->s->count - 1] : NULL;

	if (last && !last->file && last->end == b->address)
		last->end = b->address + b->bytes;
	else
		add(m, (struct slope_path_step){ .address = b->address, .end = b->address + b->bytes });
}

/* A block's lines. `from`: where the code since the last branch begins; what is there already is not said again. */
static void add_block(struct making *m, uint32_t block, size_t from)
{
	const struct slope_block *b = &m->g->block[block];
	size_t count = 0;
	const struct slope_code_line *line = m->lines ? slope_blocklines_of(m->lines, m->module, b->address, b->bytes, &count) : NULL;

	if (!count)
		add_address(m, from, b);
	for (size_t i = 0; i < count && !m->failed; i++)
		if (!add_to_last(m, from, line[i].file, line[i].line))
			add(m, (struct slope_path_step){ .file = line[i].file, .first = line[i].line, .last = line[i].line });
}

/* ---- ways ---- */

/* What is worth saying of an edge on the way; CODE: nothing. */
static enum slope_step_kind way_on(const struct slope_profile_graph *g, uint32_t edge)
{
	uint32_t end = g->block[g->paths.edge[edge].from].end;

	if (g->way[edge] == SLOPE_WAY_TABLE)
		return SLOPE_STEP_CASE;
	if (end != SLOPE_BLOCK_BRANCHES)
		return SLOPE_STEP_CODE;
	return g->way[edge] == SLOPE_WAY_TAKEN ? SLOPE_STEP_TAKEN : SLOPE_STEP_NOT_TAKEN;
}

static enum slope_step_kind way_out(const struct slope_profile_graph *g, uint32_t edge)
{
	const struct slope_path_edge *e = &g->paths.edge[edge];

	if (e->to != SLOPE_PATH_OUT)
		return e->cut == SLOPE_PATH_BACK ? SLOPE_STEP_LOOP : SLOPE_STEP_CUT;
	switch (g->way[edge]) {
	case SLOPE_WAY_RETURN:
		return SLOPE_STEP_RETURN;
	case SLOPE_WAY_TAIL:
		return SLOPE_STEP_TAIL;
	case SLOPE_WAY_NOWHERE:
		return SLOPE_STEP_NOWHERE;
	default:
		return SLOPE_STEP_ELSEWHERE;
	}
}

/* The end of a path: a branch is said before it, and where a loop goes back to behind it. */
static void add_end(struct making *m, uint32_t edge)
{
	enum slope_step_kind branch = way_on(m->g, edge), way = way_out(m->g, edge);
	const struct slope_path_edge *e = &m->g->paths.edge[edge];

	if (branch != SLOPE_STEP_CODE)
		add(m, (struct slope_path_step){ .kind = branch });
	if (m->failed || !add(m, (struct slope_path_step){ .kind = way }) || e->to == SLOPE_PATH_OUT)
		return;
	const struct slope_block *b = &m->g->block[e->to];
	size_t count = 0;
	const struct slope_code_line *line = m->lines ? slope_blocklines_of(m->lines, m->module, b->address, 1, &count) : NULL;
	struct slope_path_step *step = &m->s->step[m->s->count - 1];

	if (count)
		*step = (struct slope_path_step){ .kind = way, .file = line->file, .first = line->line, .last = line->line };
	else
		*step = (struct slope_path_step){ .kind = way, .address = b->address, .end = b->address };
}

/* How control came to where the path begins. */
static void add_begin(struct making *m, uint32_t begin)
{
	enum slope_step_kind kind = SLOPE_STEP_FROM_INSIDE;

	if (!begin)
		return;
	for (uint32_t e = 0; e < m->g->paths.edges && kind != SLOPE_STEP_FROM_LOOP; e++) {
		const struct slope_path_edge *edge = &m->g->paths.edge[e];

		if (edge->to == begin && edge->cut != SLOPE_PATH_WHOLE)
			kind = edge->cut == SLOPE_PATH_BACK ? SLOPE_STEP_FROM_LOOP : SLOPE_STEP_FROM_CUT;
	}
	add(m, (struct slope_path_step){ .kind = kind });
}

bool slope_path_steps_init(struct slope_path_steps *s, const struct slope_profile *p, const struct slope_profile_graph *g,
			   uint64_t number, uint32_t stop, struct slope_blocklines *lines)
{
	struct making m = { .s = s, .p = p, .g = g, .lines = lines, .module = p->function[g->function].module };
	uint32_t *block = malloc(g->paths.vertices * sizeof(*block)), *edge = malloc(g->paths.vertices * sizeof(*edge));

	*s = (struct slope_path_steps){ 0 };
	m.failed = !block || !edge;
	uint32_t blocks = m.failed ? 0 : slope_pathcosts_walk(g, number, stop, block, edge);
	size_t from = 0;

	if (blocks) {
		add_begin(&m, block[0]);
		from = s->count;
	}
	for (uint32_t i = 0; i < blocks && !m.failed; i++) {
		enum slope_step_kind way = i ? way_on(g, edge[i - 1]) : SLOPE_STEP_CODE;

		if (way != SLOPE_STEP_CODE && add(&m, (struct slope_path_step){ .kind = way }))
			from = s->count;
		if (!m.failed)
			add_block(&m, block[i], from);
	}
	if (blocks && !m.failed && stop == SLOPE_PATH_NOT_STOPPED)
		add_end(&m, edge[blocks - 1]);
	else if (blocks && !m.failed)
		add(&m, (struct slope_path_step){ .kind = SLOPE_STEP_LEFT });
	free(block);
	free(edge);
	if (m.failed)
		slope_path_steps_fini(s);
	return !m.failed;
}

void slope_path_steps_fini(struct slope_path_steps *s)
{
	free(s->step);
	*s = (struct slope_path_steps){ 0 };
}

/* ---- text ---- */

/* Files are compared as texts: the function's own comes from elsewhere. `said`: the file of the lines before. */
static void put_code(const struct slope_path_step *step, const char **said, FILE *out)
{
	const char *slash = step->file ? strrchr(step->file, '/') : NULL;

	if (!step->file) {
		fprintf(out, "0x%" PRIx64, step->address);
		return;
	}
	if (!*said || strcmp(*said, step->file))
		fprintf(out, "%s:", slash ? slash + 1 : step->file);
	*said = step->file;
	fprintf(out, step->first == step->last ? "%" PRIu32 : "%" PRIu32 "-%" PRIu32, step->first, step->last);
}

static void put_way(const struct slope_path_step *step, const char **said, bool ascii, FILE *out)
{
	switch (step->kind) {
	case SLOPE_STEP_FROM_LOOP:
	case SLOPE_STEP_FROM_CUT:
	case SLOPE_STEP_FROM_INSIDE:
		fprintf(out, "(%s) ", slope_step_words(step->kind));
		break;
	case SLOPE_STEP_LOOP:
	case SLOPE_STEP_CUT:
		fprintf(out, ascii ? " -%s-> " : " ─%s→ ", slope_step_words(step->kind));
		put_code(step, said, out);
		break;
	case SLOPE_STEP_TAKEN:
	case SLOPE_STEP_NOT_TAKEN:
	case SLOPE_STEP_CASE:
		fprintf(out, ascii ? " -%s-> " : " ─%s→ ", slope_step_words(step->kind));
		break;
	default:
		fprintf(out, "; %s", slope_step_words(step->kind));
	}
}

static bool ends_path(enum slope_step_kind kind)
{
	static const bool ends[] = {
#define X(id, text, ends) ends,
		SLOPE_STEP_LIST(X)
#undef X
	};

	return ends[kind];
}

/* A branch, and the end of the path where that is what it leads to. How many steps were put. */
static size_t put_branch(const struct slope_path_step *step, size_t left, const char **said, bool ascii, FILE *out)
{
	const struct slope_path_step *next = left > 1 && ends_path(step[1].kind) ? step + 1 : NULL;

	if (next && (next->kind == SLOPE_STEP_LOOP || next->kind == SLOPE_STEP_CUT)) {
		fprintf(out, ascii ? " -%s, %s-> " : " ─%s, %s→ ", slope_step_words(step->kind), slope_step_words(next->kind));
		put_code(next, said, out);
		return 2;
	}
	put_way(step, said, ascii, out);
	if (next)
		fputs(slope_step_words(next->kind), out);
	return next ? 2 : 1;
}

static bool is_branch(enum slope_step_kind kind)
{
	return kind == SLOPE_STEP_TAKEN || kind == SLOPE_STEP_NOT_TAKEN || kind == SLOPE_STEP_CASE;
}

char *slope_path_steps_text(const struct slope_path_steps *s, const char *file, bool ascii)
{
	char *text = NULL;
	size_t bytes = 0, put;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (size_t i = 0; i < s->count; i += put) {
		const struct slope_path_step *step = &s->step[i];

		put = 1;
		if (is_branch(step->kind)) {
			put = put_branch(step, s->count - i, &file, ascii, out);
		} else if (step->kind != SLOPE_STEP_CODE) {
			put_way(step, &file, ascii, out);
		} else {
			if (i && step[-1].kind == SLOPE_STEP_CODE)
				fputs(", ", out);
			put_code(step, &file, out);
		}
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* ---- blocks that were not executed ---- */

static int by_line(const void *a, const void *b)
{
	const struct slope_path_step *x = a, *y = b;

	if (x->file != y->file)
		return !x->file || (y->file && strcmp(x->file, y->file) > 0) ? 1 : -1;
	if (!x->file)
		return (x->address > y->address) - (x->address < y->address);
	return (x->first > y->first) - (x->first < y->first);
}

/* Each line of some blocks as a step of its own, in order. */
static void list_lines(struct making *m, const uint8_t *executed, bool run)
{
	for (uint32_t v = 0; v < m->g->paths.vertices && !m->failed; v++)
		if (executed[v] == run) {
			size_t from = m->s->count;

			add_block(m, v, from);
			for (size_t i = from; i < m->s->count && !m->failed; i++)
				while (m->s->step[i].file && m->s->step[i].last > m->s->step[i].first && !m->failed) {
					struct slope_path_step line = m->s->step[i];

					line.first = line.last;
					m->s->step[i].last--;
					add(m, line);
				}
		}
	if (m->s->count)
		qsort(m->s->step, m->s->count, sizeof(*m->s->step), by_line);
}

/* What is in `without` goes, the rest becomes ranges. */
static void subtract(struct slope_path_steps *s, const struct slope_path_steps *without)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct slope_path_step *step = &s->step[i];
		struct slope_path_step *last = kept ? &s->step[kept - 1] : NULL;

		if (step->file && without->count &&
		    bsearch(step, without->step, without->count, sizeof(*step), by_line))
			continue;
		if (last && step->file && last->file == step->file && step->first <= last->last + 1)
			last->last = step->first;
		else
			s->step[kept++] = *step;
	}
	s->count = kept;
}

char *slope_path_blocks_text(const struct slope_profile *p, const struct slope_profile_graph *g, const uint8_t *executed,
			     struct slope_blocklines *lines, const char *file)
{
	struct slope_path_steps left = { 0 }, run = { 0 };
	struct making m = { .s = &left, .p = p, .g = g, .lines = lines, .module = p->function[g->function].module }, other = m;

	other.s = &run;
	list_lines(&m, executed, false);
	list_lines(&other, executed, true);
	char *text = NULL;

	if (!m.failed && !other.failed) {
		subtract(&left, &run);
		text = slope_path_steps_text(&left, file, true);
	}
	slope_path_steps_fini(&left);
	slope_path_steps_fini(&run);
	return text;
}
