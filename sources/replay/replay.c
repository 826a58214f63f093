/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/replay/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/log.h"
#include "core/slabs.h"

#define STACK_TOP (UINT64_C(1) << 46)
#define STACK_APART (UINT64_C(1) << 32)  /* between a thread's stacks */
#define FRAME_BYTES 16u
#define LOG_BYTES (SLOPE_LOG_BYTES + 64u)

/* What the program itself knows of an activation, whether the core found room for it or not. */
struct place {
	uint64_t sp;
	bool base;
};

struct actor {
	struct slope_thread *thread; /* NULL: the core had no memory for it */
	bool ended;
	struct place *stack;
	size_t depth, capacity;
	uint32_t *window, *log;      /* log: core/log.h, of those that have a window; its end lies behind it */
	uint64_t cost[SLOPE_UNITS_MAX];
};

struct slope_replay {
	struct slope_session *session;
	uint64_t window_cells;
	struct actor *actor;         /* [id - 1] */
	size_t actors;
	char **function;             /* names, in order of first use */
	uint32_t *function_number;
	size_t functions;
};

const char *const slope_event_word[SLOPE_EVENT_KINDS] = {
#define X(id, word, shape) word,
	SLOPE_EVENT_LIST(X)
#undef X
};

const enum slope_event_shape slope_event_shape[SLOPE_EVENT_KINDS] = {
#define X(id, word, shape) SLOPE_SHAPE_##shape,
	SLOPE_EVENT_LIST(X)
#undef X
};

static void *system_pages(void *ctx, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)ctx;
	return p == MAP_FAILED ? NULL : p;
}

static void system_release(void *ctx, void *p, size_t bytes)
{
	(void)ctx;
	munmap(p, bytes);
}

const struct slope_host slope_replay_host = { .pages = system_pages, .release = system_release };

static void each_window_word(void *ctx, struct slope_thread *t, void (*visit)(void *arg, uint32_t *words, size_t count),
			     void *arg)
{
	(void)ctx;
	if (t->shadow.window)
		visit(arg, t->shadow.window, t->shadow.window_cells);
}

static bool begin_thread(struct slope_replay *r, uint32_t parent)
{
	struct actor *more = realloc(r->actor, (r->actors + 1) * sizeof *more);

	if (!more)
		return false;
	r->actor = more;
	struct actor *a = &more[r->actors];

	*a = (struct actor){ 0 };
	if (r->window_cells && !(a->window = calloc(r->window_cells, sizeof *a->window)))
		return false;
	if (r->window_cells && !(a->log = malloc(LOG_BYTES + sizeof(uint64_t)))) {
		free(a->window);
		return false;
	}
	r->actors++;
	a->thread = slope_thread_new(r->session, parent, r->actors, a->cost);
	if (a->thread && a->window) {
		a->thread->shadow.window = a->window;
		a->thread->shadow.window_cells = r->window_cells;
		slope_log_set(a->thread, a->log, (uint64_t *)(void *)((char *)a->log + LOG_BYTES), NULL);
	}
	return true;
}

struct slope_replay *slope_replay_new(struct slope_session *s, uint64_t window_bytes)
{
	struct slope_replay *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->session = s;
	r->window_cells = window_bytes >> s->config.cell_log2;
	if (window_bytes)
		s->each_window_word = each_window_word;
	if (!begin_thread(r, 0)) {
		slope_replay_free(r);
		return NULL;
	}
	return r;
}

void slope_replay_free(struct slope_replay *r)
{
	for (size_t i = 0; i < r->actors; i++) {
		if (r->actor[i].thread && r->actor[i].window) {
			r->actor[i].thread->shadow.window = NULL;
			r->actor[i].thread->shadow.window_cells = 0;
		}
		free(r->actor[i].window);
		free(r->actor[i].log);
		free(r->actor[i].stack);
	}
	for (size_t i = 0; i < r->functions; i++)
		free(r->function[i]);
	free(r->function);
	free(r->function_number);
	free(r->actor);
	free(r);
}

uint32_t slope_replay_function(struct slope_replay *r, const char *name, uint32_t flags)
{
	for (size_t i = 0; i < r->functions; i++)
		if (!strcmp(r->function[i], name))
			return r->function_number[i];
	char **names = realloc(r->function, (r->functions + 1) * sizeof *names);

	if (!names)
		return SLOPE_FN_NONE;
	r->function = names;
	uint32_t *numbers = realloc(r->function_number, (r->functions + 1) * sizeof *numbers);

	if (!numbers)
		return SLOPE_FN_NONE;
	r->function_number = numbers;
	if (!(names[r->functions] = strdup(name)))
		return SLOPE_FN_NONE;
	uint64_t offset = (r->functions + 1) * FRAME_BYTES;

	return numbers[r->functions++] = slope_session_function(r->session, SLOPE_MODULE_NONE, offset, flags, name);
}

static const char *play_call(struct slope_replay *r, struct actor *a, const struct slope_event *e)
{
	uint64_t fn = e->args[0];
	bool base = e->args[1] & SLOPE_FRAME_BASE;
	uint64_t sp = a->depth ? a->stack[a->depth - 1].sp : STACK_TOP;

	if (a->depth == a->capacity) {
		size_t capacity = a->capacity ? a->capacity * 2 : 64;
		struct place *more = realloc(a->stack, capacity * sizeof *more);

		if (!more)
			return "there is no memory for a deeper stack";
		a->stack = more;
		a->capacity = capacity;
	}
	sp = base ? sp + STACK_APART : sp - FRAME_BYTES;
	a->stack[a->depth++] = (struct place){ .sp = sp, .base = base };
	if (fn < r->session->function_count && a->thread) {
		uint32_t flags = base ? SLOPE_FRAME_BASE : 0;

		if (a->thread->contexts && e->args[2])
			a->thread->contexts->site = slope_session_site(r->session, SLOPE_MODULE_NONE, e->args[2] - 1);
		slope_thread_enter(a->thread, (uint32_t)fn, sp, flags, a->cost);
	}
	return NULL;
}

/* A call that found no room in the core has no frame there; its return must not end another's. */
static void play_return(struct actor *a)
{
	uint64_t sp = a->stack[--a->depth].sp;
	struct slope_thread *t = a->thread;

	if (t && slope_thread_depth(t) > 1 && t->top->sp == sp)
		slope_thread_leave(t, a->cost);
}

static const char *play_unwind(struct actor *a, uint64_t count)
{
	uint64_t sp = a->stack[a->depth - count].sp;

	for (size_t i = a->depth - count + 1; i < a->depth; i++)
		if (a->stack[i].base)
			return "an unwind stays on one stack; use cut to leave a base frame's";
	a->depth -= count;
	if (a->thread)
		slope_thread_unwind(a->thread, sp, a->cost);
	return NULL;
}

static const char *play_exit(struct actor *a, const struct slope_event *e)
{
	uint64_t count = e->args[0];

	if (count > a->depth)
		return "the thread has fewer activations than that";
	if (!count)
		return NULL;
	switch (e->kind) {
	case SLOPE_EVENT_UNWIND:
		return play_unwind(a, count);
	case SLOPE_EVENT_CUT:
		a->depth -= count;
		if (a->thread && slope_thread_depth(a->thread) > a->depth + 1)
			slope_thread_cut(a->thread, a->depth + 1, a->cost);
		return NULL;
	default:
		while (count--)
			play_return(a);
		return NULL;
	}
}

static void clear_windows(struct slope_replay *r, uint64_t address, uint64_t bytes)
{
	uint64_t cell = address >> r->session->config.cell_log2;
	uint64_t last = (address + bytes - 1) >> r->session->config.cell_log2;

	for (; cell <= last && cell < r->window_cells; cell++)
		for (size_t i = 0; i < r->actors; i++)
			if (r->actor[i].window)
				r->actor[i].window[cell] = 0;
}

static const char *play_memory(struct slope_replay *r, struct actor *a, const struct slope_event *e)
{
	uint64_t address = e->args[0], bytes = e->args[1];

	if (address >> SLOPE_ADDRESS_BITS || bytes >> SLOPE_ADDRESS_BITS || (address + bytes) >> SLOPE_ADDRESS_BITS)
		return "the range leaves the address space";
	if (!bytes)
		return NULL;
	switch (e->kind) {
	case SLOPE_EVENT_READ:
	case SLOPE_EVENT_KREAD:
		if (a->thread)
			slope_thread_read(a->thread, address, bytes);
		break;
	case SLOPE_EVENT_WRITE:
		if (a->thread)
			slope_thread_write(a->thread, address, bytes);
		break;
	case SLOPE_EVENT_KWRITE:
		slope_session_kernel_write(r->session, address, bytes);
		break;
	case SLOPE_EVENT_MAPFILE:
		slope_session_map_file(r->session, address, bytes);
		break;
	default:
		clear_windows(r, address, bytes);
		slope_session_forget(r->session, address, bytes);
	}
	return NULL;
}

/* Words of windows that the core leaves to us: those that lie in the window before and after. */
static void move_windows(struct slope_replay *r, uint64_t from, uint64_t to, uint64_t cells)
{
	if (from + cells > r->window_cells || to + cells > r->window_cells)
		return;
	for (size_t i = 0; i < r->actors; i++)
		if (r->actor[i].window)
			memcpy(r->actor[i].window + to, r->actor[i].window + from, cells * sizeof(uint32_t));
}

static const char *play_move(struct slope_replay *r, const struct slope_event *e)
{
	uint64_t from = e->args[0], bytes = e->args[1], to = e->args[2], top = from > to ? from : to;
	unsigned log2 = r->session->config.cell_log2;

	if (top >> SLOPE_ADDRESS_BITS || bytes >> SLOPE_ADDRESS_BITS || (top + bytes) >> SLOPE_ADDRESS_BITS)
		return "the range leaves the address space";
	if ((from | bytes | to) & ((UINT64_C(1) << log2) - 1))
		return "only whole cells can be moved";
	if (from < to + bytes && to < from + bytes)
		return "the range overlaps its new place";
	if (!bytes)
		return NULL;
	clear_windows(r, to, bytes);
	slope_session_forget(r->session, to, bytes);
	slope_session_move(r->session, from, to, bytes);
	move_windows(r, from >> log2, to >> log2, bytes >> log2);
	clear_windows(r, from, bytes);
	slope_session_forget(r->session, from, bytes);
	return NULL;
}

static void end_thread(struct actor *a)
{
	if (a->thread)
		slope_thread_end(a->thread, a->cost);
	a->ended = true;
	a->depth = 0;
	if (a->thread && a->thread->shadow.window)
		return;                  /* the first thread's words are still asked for who wrote what */
	free(a->window);
	a->window = NULL;
}

const char *slope_replay_thread(const struct slope_replay *r, uint32_t number, struct slope_thread **thread)
{
	if (!number || number > r->actors)
		return "the acting thread has not begun";
	if (r->actor[number - 1].ended)
		return "the acting thread has ended";
	*thread = r->actor[number - 1].thread;
	return NULL;
}

const char *slope_replay_play(struct slope_replay *r, const struct slope_event *e)
{
	if (e->kind == SLOPE_EVENT_THREAD) {
		if (e->thread != r->actors + 1)
			return "threads are numbered as they begin: 1 is there from the start, then 2, 3, ...";
		if (e->args[0] > r->actors)
			return "the parent thread has not begun";
		return begin_thread(r, (uint32_t)e->args[0]) ? NULL : "there is no memory for another thread";
	}
	struct slope_thread *thread = NULL;
	const char *problem = slope_replay_thread(r, e->thread, &thread);

	if (problem)
		return problem;
	struct actor *a = &r->actor[e->thread - 1];

	switch (slope_event_shape[e->kind]) {
	case SLOPE_SHAPE_FUNCTION:
		return play_call(r, a, e);
	case SLOPE_SHAPE_COUNT:
		return play_exit(a, e);
	case SLOPE_SHAPE_RANGE:
		return play_memory(r, a, e);
	case SLOPE_SHAPE_MOVE:
		return play_move(r, e);
	case SLOPE_SHAPE_COSTS:
		for (uint32_t u = 0; u < r->session->config.units; u++)
			a->cost[u] += e->args[u];
		return NULL;
	default:
		break;
	}
	if (e->kind == SLOPE_EVENT_END)
		end_thread(a);
	else if (a->thread && e->kind == SLOPE_EVENT_COLLECT)
		slope_thread_collect(a->thread, e->args[0] != 0);
	else if (a->thread)
		slope_thread_renumber(a->thread);
	return NULL;
}

struct slope_session *slope_replay_session(const struct slope_replay *r)
{
	return r->session;
}

void slope_replay_finish(struct slope_replay *r)
{
	for (size_t i = 0; i < r->actors; i++)
		if (!r->actor[i].ended)
			end_thread(&r->actor[i]);
}

void slope_event_print(FILE *out, const struct slope_event *e, uint32_t units)
{
	const uint64_t *v = e->args;

	if (e->kind != SLOPE_EVENT_THREAD)
		fprintf(out, "%" PRIu32 ": ", e->thread);
	fputs(slope_event_word[e->kind], out);
	switch (slope_event_shape[e->kind]) {
	case SLOPE_SHAPE_NONE:
		break;
	case SLOPE_SHAPE_THREAD:
		fprintf(out, " %" PRIu32 " parent %" PRIu64, e->thread, v[0]);
		break;
	case SLOPE_SHAPE_FUNCTION:
		fprintf(out, " f%" PRIu64 "%s", v[0], v[1] & SLOPE_FRAME_BASE ? " base" : "");
		if (v[2])
			fprintf(out, " at %" PRIu64, v[2] - 1);
		break;
	case SLOPE_SHAPE_COUNT:
		fprintf(out, " %" PRIu64, v[0]);
		break;
	case SLOPE_SHAPE_RANGE:
		fprintf(out, " 0x%" PRIx64 " %" PRIu64, v[0], v[1]);
		break;
	case SLOPE_SHAPE_MOVE:
		fprintf(out, " 0x%" PRIx64 " %" PRIu64 " 0x%" PRIx64, v[0], v[1], v[2]);
		break;
	case SLOPE_SHAPE_COSTS:
		for (uint32_t u = 0; u < units; u++)
			fprintf(out, " %" PRIu64, v[u]);
		break;
	case SLOPE_SHAPE_SWITCH:
		fputs(v[0] ? " on" : " off", out);
		break;
	}
	fputc('\n', out);
}
