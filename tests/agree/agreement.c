/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/agree/agreement.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/tally.h"
#include "tests/agree/oracle.h"

#define EDGE_BITS 3u             /* binary digits after the first that sizes of edges keep */

struct difference {
	char *text;
	size_t bytes;
};

static bool differ(struct difference *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool differ(struct difference *d, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(d->text, d->bytes, format, list);
	va_end(list);
	return false;
}

static bool same(struct difference *d, uint64_t core, uint64_t oracle, const char *what, uint32_t thread, uint32_t fn)
{
	if (core == oracle)
		return true;
	return differ(d, "f%" PRIu32 " in thread %" PRIu32 ": %s is %" PRIu64 " in the core, %" PRIu64 " in the oracle", fn,
		      thread, what, core, oracle);
}

/* The size that stands for n when sizes keep `bits` binary digits after the first. */
static uint64_t lower_edge(uint64_t n, uint32_t bits)
{
	uint64_t unit = 1;

	while (n / unit >> bits > 1)
		unit *= 2;
	return n / unit * unit;
}

/* Exact points with their sizes reduced to `bits` digits; those of one size added up. */
static struct oracle_points reduce(const struct oracle_points *exact, uint32_t bits, unsigned units)
{
	struct oracle_points sum = { .at = calloc(exact->count + 1, sizeof *sum.at) };

	if (!sum.at)
		abort();
	for (size_t i = 0; i < exact->count; i++) {
		const struct oracle_point *from = &exact->at[i];
		uint64_t n = bits >= 64 ? from->n : lower_edge(from->n, bits);
		bool fresh = !sum.count || sum.at[sum.count - 1].n != n;
		struct oracle_point *to = &sum.at[fresh ? sum.count++ : sum.count - 1];

		to->n = n;
		to->calls += from->calls;
		to->rms += from->rms;
		to->thread += from->thread;
		to->external += from->external;
		for (unsigned u = 0; u < units; u++) {
			struct oracle_stat *s = &to->cost[u];

			s->min = fresh || from->cost[u].min < s->min ? from->cost[u].min : s->min;
			s->max = from->cost[u].max > s->max ? from->cost[u].max : s->max;
			s->sum += from->cost[u].sum;
			s->squares += from->cost[u].squares;
		}
	}
	return sum;
}

/* A table must be as fine as its maximum allows: exact, or 10, 9, ... 0 digits. */
static struct oracle_points expected_points(const struct oracle_points *exact, uint32_t max, unsigned units, uint32_t *bits)
{
	struct oracle_points points = reduce(exact, *bits = 64, units);

	while (points.count > max && *bits > 0) {
		free(points.at);
		*bits = *bits == 64 ? 10 : *bits - 1;
		points = reduce(exact, *bits, units);
	}
	return points;
}

static const struct slope_point *core_point(const struct slope_points *points, uint64_t n)
{
	for (size_t i = 0; i < points->count; i++)
		if (slope_points_row(points, i)->n == n)
			return slope_points_row(points, i);
	return NULL;
}

static bool same_point(struct difference *d, const struct slope_point *core, const struct oracle_point *o, uint32_t units)
{
	if (!core)
		return differ(d, "no point for n = %" PRIu64, o->n);
	if (core->calls != o->calls || core->rms != o->rms || core->thread != o->thread || core->external != o->external)
		return differ(d, "the sums at n = %" PRIu64 " differ", o->n);
	for (uint32_t u = 0; u < units; u++) {
		const struct slope_stat *a = &core->cost[u];
		const struct oracle_stat *b = &o->cost[u];

		if (a->min != b->min || a->max != b->max || a->sum != b->sum || a->sq_lo != (uint64_t)b->squares ||
		    a->sq_hi != (uint64_t)(b->squares >> 64))
			return differ(d, "the costs at n = %" PRIu64 " differ", o->n);
	}
	return true;
}

static bool same_points(struct difference *d, const struct slope_points *core, const struct oracle_points *exact,
			uint32_t max, struct coverage *c)
{
	uint32_t bits;
	struct oracle_points want = expected_points(exact, max, core->units, &bits);
	bool good = core->count == want.count && core->bits == bits;

	if (!good)
		differ(d, "%zu points of %u bits in the core, %zu of %u in the oracle", core->count, core->bits, want.count,
		       bits);
	for (size_t i = 0; good && i < want.count; i++)
		good = same_point(d, core_point(core, want.at[i].n), &want.at[i], core->units);
	if (c)
		c->folded_tables += bits < 64;
	free(want.at);
	return good;
}

static bool same_size(struct difference *d, const struct slope_edge_row *row, uint64_t n, const struct oracle_point *o,
		      uint32_t units)
{
	bool good = n == o->n && row->activations == o->calls && row->calls == o->rms;

	for (uint32_t u = 0; u < units; u++)
		good = good && row->cost[u] == o->cost[u].sum;
	return good || differ(d, "the row at n = %" PRIu64 " is not the oracle's at %" PRIu64, n, o->n);
}

/* All rows that are no gaps, against all that the oracle has. */
static bool same_sizes(struct difference *d, const struct slope_edge *e, const struct oracle_points *exact, uint32_t units,
		       struct coverage *c)
{
	struct oracle_points want = reduce(exact, EDGE_BITS, units);
	size_t count = 0;
	bool good = true;

	for (uint32_t i = 0; good && i < e->rows; i++) {
		const struct slope_edge_row *row = slope_edge_row(e, i, units);

		if (!row->activations)
			continue;
		good = count < want.count && same_size(d, row, slope_tally_least(e->first + i), &want.at[count], units);
		if (c)
			c->edge_repeats += row->calls > row->activations;
		count++;
	}
	if (good && count != want.count)
		good = differ(d, "%zu rows in the core, %zu in the oracle", count, want.count);
	if (c)
		c->edge_bins += want.count;
	free(want.at);
	return good;
}

static bool same_edges(struct difference *d, const struct slope_record *r, const struct oracle_row *row, uint32_t thread,
		       const struct slope_config *config, struct coverage *c)
{
	size_t count = 0;

	for (const struct slope_edge *e = r->edges; e; e = e->next, count++) {
		size_t i = 0;

		while (i < row->edges && row->edge[i].caller != e->caller)
			i++;
		if (i == row->edges)
			return differ(d, "an edge f%u -> f%u in thread %u that is not there", e->caller, r->fn, thread);
		struct slope_totals sum;
		char text[200] = "more rows than the oracle has";
		struct difference inner = { text, sizeof text };

		slope_edge_totals(e, config, &sum);
		if (!same(d, sum.calls, row->edge[i].calls, "calls of an edge", thread, r->fn))
			return false;
		for (uint32_t u = 0; u < config->units; u++)
			if (!same(d, sum.total[u], row->edge[i].cost[u], "cost of an edge", thread, r->fn))
				return false;
		if (!same_sizes(&inner, e, &row->edge[i].sizes, config->units, c))
			return differ(d, "sizes of f%u -> f%u in thread %u: %s", e->caller, r->fn, thread, text);
	}
	return same(d, count, row->edges, "number of callers", thread, r->fn);
}

static bool same_record(struct difference *d, const struct slope_session *s, uint32_t thread, const struct slope_record *r,
			const struct oracle_row *row, struct coverage *c)
{
	struct slope_totals sum;

	slope_record_totals(r, &s->config, &sum);
	bool good = same(d, sum.calls, row->calls, "calls", thread, r->fn) && same(d, sum.rms, row->rms, "rms", thread, r->fn) &&
		    same(d, sum.trms, row->trms, "trms", thread, r->fn) &&
		    same(d, sum.thread, row->thread, "thread", thread, r->fn) &&
		    same(d, sum.external, row->external, "external", thread, r->fn) &&
		    same(d, r->active, 0, "active", thread, r->fn) && same(d, r->tally, 0, "tally", thread, r->fn);

	for (uint32_t u = 0; good && u < s->config.units; u++)
		good = same(d, sum.total[u], row->total[u], "total", thread, r->fn) &&
		       same(d, sum.self[u], row->self[u], "self", thread, r->fn);
	if (!good || !same_edges(d, r, row, thread, &s->config, c))
		return false;
	for (unsigned m = 0; m < SLOPE_METRICS; m++) {
		static const struct oracle_points none;
		const struct oracle_points *want = s->config.metrics & 1u << m ? &row->points[m] : &none;
		char text[200];
		struct difference inner = { text, sizeof text };

		if (!same_points(&inner, &r->points[m], want, s->config.max_points, c))
			return differ(d, "f%u in thread %u, %s: %s", r->fn, thread, m == SLOPE_METRIC_RMS ? "rms" : "trms", text);
	}
	if (c && !r->fn) {
		c->thread_input += sum.thread;
		c->external_input += sum.external;
	}
	return true;
}

static bool same_session(struct difference *d, const struct slope_session *s, const struct oracle *o, struct coverage *c)
{
	for (uint32_t id = 1; id < s->thread_count; id++) {
		const struct slope_thread *t = s->thread[id];

		slope_thread_settle(t);
		if (!same(d, slope_thread_calls(t), oracle_calls(o, id), "calls of the thread", id, 0) ||
		    !same(d, t->max_depth, oracle_depth(o, id), "depth of the thread", id, 0))
			return false;
		if (c && t->max_depth > c->deepest)
			c->deepest = t->max_depth;
		for (uint32_t fn = 0; fn < s->function_count; fn++) {
			const struct slope_record *r = slope_thread_record(t, fn);
			const struct oracle_row *row = oracle_row(o, id, fn);

			if (!r != !row)
				return differ(d, "f%u in thread %u is known to one of them only", fn, id);
			if (r && !same_record(d, s, id, r, row, c))
				return false;
		}
	}
	for (int i = 0; i < SLOPE_LOST_COUNT; i++)
		if (s->lost[i])
			return differ(d, "%" PRIu64 " were lost of kind %d", s->lost[i], i);
	return true;
}

static void tell_oracle(struct oracle *o, const struct trace *trace, const struct slope_event *e)
{
	const uint64_t *v = e->args;

	switch (e->kind) {
	case SLOPE_EVENT_THREAD:
		oracle_thread(o);
		break;
	case SLOPE_EVENT_END:
		oracle_end(o, e->thread);
		break;
	case SLOPE_EVENT_CALL:
		oracle_call(o, e->thread, (uint32_t)v[0], trace->folded[v[0]]);
		break;
	case SLOPE_EVENT_RETURN:
	case SLOPE_EVENT_UNWIND:
	case SLOPE_EVENT_CUT:
		for (uint64_t i = 0; i < v[0]; i++)
			oracle_return(o, e->thread);
		break;
	case SLOPE_EVENT_READ:
	case SLOPE_EVENT_KREAD:
		oracle_read(o, e->thread, v[0], v[1]);
		break;
	case SLOPE_EVENT_WRITE:
		oracle_write(o, e->thread, v[0], v[1]);
		break;
	case SLOPE_EVENT_KWRITE:
		oracle_kernel_write(o, v[0], v[1]);
		break;
	case SLOPE_EVENT_MAPFILE:
		oracle_map_file(o, v[0], v[1]);
		break;
	case SLOPE_EVENT_FORGET:
		oracle_forget(o, v[0], v[1]);
		break;
	case SLOPE_EVENT_MOVE:
		oracle_move(o, v[0], v[1], v[2]);
		break;
	case SLOPE_EVENT_COST:
		oracle_cost(o, e->thread, v);
		break;
	case SLOPE_EVENT_COLLECT:
		oracle_collect(o, e->thread, v[0] != 0);
		break;
	case SLOPE_EVENT_RENUMBER:
	case SLOPE_EVENT_KINDS:
		break;
	}
}

bool trace_agrees(const struct trace *trace, char *difference, size_t bytes, struct coverage *c)
{
	struct difference d = { difference, bytes };
	struct slope_session s;

	if (!slope_session_init(&s, &trace->config, &slope_replay_host))
		abort();
	if (trace->config.parallel)
		slope_session_parallel(&s);
	struct slope_replay *r = slope_replay_new(&s, trace->window_bytes);
	struct oracle *o = oracle_new(1u << s.config.cell_log2, s.config.units, s.config.metrics & 1u << SLOPE_METRIC_TRMS);
	uint32_t threads = 1;

	if (!r)
		abort();
	for (uint32_t fn = 1; fn <= trace->functions; fn++) {
		char name[16];

		snprintf(name, sizeof name, "f%u", fn);
		if (slope_replay_function(r, name, trace->folded[fn] ? SLOPE_FN_FOLDED : 0) != fn)
			abort();
	}
	oracle_thread(o);
	for (size_t i = 0; i < trace->count; i++)
		if (!slope_replay_play(r, &trace->event[i])) {
			tell_oracle(o, trace, &trace->event[i]);
			threads += trace->event[i].kind == SLOPE_EVENT_THREAD;
			if (c)
				c->events++;
		}
	slope_replay_finish(r);
	for (uint32_t id = 1; id <= threads; id++)
		oracle_end(o, id);
	bool good = same_session(&d, &s, o, c);

	if (c) {
		c->renumberings += s.renumberings;
		c->sets += s.sharing.sharers.count;
	}
	slope_replay_free(r);
	oracle_free(o);
	slope_session_fini(&s);
	return good;
}

/* Without the `count` events from `at` on, if the two then still disagree. */
static bool drop(struct trace *trace, size_t at, size_t count)
{
	struct trace less = *trace;
	char text[256];

	less.event = malloc((trace->count + 1) * sizeof *less.event);
	if (!less.event)
		abort();
	memcpy(less.event, trace->event, at * sizeof *less.event);
	memcpy(less.event + at, trace->event + at + count, (trace->count - at - count) * sizeof *less.event);
	less.count -= count;
	bool still = !trace_agrees(&less, text, sizeof text, NULL);

	if (still) {
		memcpy(trace->event, less.event, less.count * sizeof *less.event);
		trace->count = less.count;
	}
	free(less.event);
	return still;
}

void trace_shrink(struct trace *trace)
{
	for (size_t chunk = trace->count / 2; chunk; chunk /= 2)
		for (size_t at = 0; at + chunk <= trace->count;)
			if (!drop(trace, at, chunk))
				at += chunk;
	for (bool again = true; again;) {
		again = false;
		for (size_t at = 0; at < trace->count;)
			if (drop(trace, at, 1))
				again = true;
			else
				at++;
	}
}

void trace_print(FILE *out, const struct trace *trace)
{
	static const char *const metrics[] = { "", "trms", "rms", "both" };
	const struct slope_config *c = &trace->config;

	fprintf(out, "options cell=%u units=%s metrics=%s max-points=%u stamp-limit=%u marked=%u parallel=%u window=%" PRIu64 "\n",
		1u << c->cell_log2, c->units > 1 ? "ir,bb" : "ir", metrics[c->metrics], c->max_points, c->stamp_limit, c->marked,
		c->parallel, trace->window_bytes);
	for (uint32_t fn = 1; fn <= trace->functions; fn++)
		fprintf(out, "function f%u%s\n", fn, trace->folded[fn] ? " folded" : "");
	for (size_t i = 0; i < trace->count; i++)
		slope_event_print(out, &trace->event[i], c->units);
}
