/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end of unpacking: order, what is missing filled in or said. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/build.h"
#include "profile/merge.h"
#include "profile/unpack.h"

void slope_unpack_sort_rows(struct slope_unpack *u)
{
	struct slope_profile *p = u->profile;
	size_t kept = 0;

	if (u->rows_sorted)
		return;
	u->rows_sorted = true;
	if (p->row_count)
		qsort(p->row, p->row_count, sizeof *p->row, slope_build_compare_rows);
	for (size_t i = 0; i < p->row_count; i++)
		if (!kept || slope_build_compare_rows(&p->row[kept - 1], &p->row[i]))
			p->row[kept++] = p->row[i];
	u->flaw[SLOPE_SECTION_RECORDS][SLOPE_FLAW_TWICE] += p->row_count - kept;
	p->row_count = kept;
}

static bool is_sorted(const struct slope_profile_points *points, uint32_t stride)
{
	for (size_t i = 1; i < points->count; i++)
		if (slope_build_compare_points(points->rows + (i - 1) * stride, points->rows + i * stride) >= 0)
			return false;
	return true;
}

static void sort_points(struct slope_unpack *u, enum slope_section section, struct slope_profile_points *points)
{
	uint32_t stride = slope_point_bytes(u->profile->units);
	size_t kept = 0;

	if (is_sorted(points, stride))
		return;
	qsort(points->rows, points->count, stride, slope_build_compare_points);
	for (size_t i = 0; i < points->count; i++)
		if (!kept || slope_build_compare_points(points->rows + (kept - 1) * stride, points->rows + i * stride))
			memmove(points->rows + kept++ * stride, points->rows + i * stride, stride);
	u->flaw[section][SLOPE_FLAW_TWICE] += points->count - kept;
	points->count = kept;
}

void slope_unpack_sort_edges(struct slope_unpack *u)
{
	struct slope_profile *p = u->profile;
	size_t kept = 0;

	if (u->edges_sorted)
		return;
	u->edges_sorted = true;
	if (p->edge_count)
		qsort(p->edge, p->edge_count, sizeof *p->edge, slope_build_compare_edges);
	for (size_t i = 0; i < p->edge_count; i++)
		if (!kept || slope_build_compare_edges(&p->edge[kept - 1], &p->edge[i]))
			p->edge[kept++] = p->edge[i];
	u->flaw[SLOPE_SECTION_EDGES][SLOPE_FLAW_TWICE] += p->edge_count - kept;
	p->edge_count = kept;
}

static void sort_sizes(struct slope_unpack *u, struct slope_profile_sizes *sizes)
{
	size_t kept = 0;

	if (sizes->count)
		qsort(sizes->row, sizes->count, sizeof *sizes->row, slope_build_compare_sizes);
	for (size_t i = 0; i < sizes->count; i++)
		if (!kept || sizes->row[kept - 1].n != sizes->row[i].n)
			sizes->row[kept++] = sizes->row[i];
	u->flaw[SLOPE_SECTION_SIZES][SLOPE_FLAW_TWICE] += sizes->count - kept;
	sizes->count = kept;
}

static void fill_text(struct slope_unpack *u, char **text, const char *instead)
{
	if (!*text && !slope_build_text(text, slope_text_of(instead)))
		u->no_memory = true;
}

/* Whatever is missing, the profile can be worked with: no text but file and raw name is NULL. */
static void fill_in(struct slope_unpack *u)
{
	static const char *const unit[SLOPE_UNITS_MAX] = { "unit1", "unit2", "unit3", "unit4" };
	static const char *const metric[SLOPE_PATH_METRICS] = { "metric1", "metric2", "metric3", "metric4" };
	struct slope_profile *p = u->profile;

	fill_text(u, &p->source, "unknown");
	fill_text(u, &p->directory, "");
	fill_text(u, &p->created_by, "");
	fill_text(u, &p->ended, "");
	if (!p->units)
		p->units = 1;
	for (uint32_t i = 0; i < p->units; i++)
		fill_text(u, &p->unit_name[i], unit[i]);
	for (uint32_t i = 0; i < p->path_metrics; i++)
		fill_text(u, &p->path_metric_name[i], metric[i]);
	if (!p->program && !(p->program = calloc(1, sizeof *p->program)))
		u->no_memory = true;
	for (size_t i = 0; i < p->function_count; i++)
		if (!p->function[i].name && !(p->function[i].name = slope_build_default_name(p, i)))
			u->no_memory = true;
	if (p->cell_bytes & (p->cell_bytes - 1)) {
		u->flaw[SLOPE_SECTION_META][SLOPE_FLAW_RANGE]++;
		p->cell_bytes = 0;
	}
}

static void say_flaws(struct slope_unpack *u)
{
	static const char *const text[] = {
#define X(id, sentence) sentence,
		SLOPE_FLAW_LIST(X)
#undef X
	};

	for (unsigned s = 0; s < SLOPE_SECTION_COUNT; s++)
		for (unsigned f = 0; f < SLOPE_FLAW_COUNT; f++)
			if (u->flaw[s][f] && !slope_build_problem(u->profile, "%s: %" PRIu64 " %s",
								   slope_section_name(s), u->flaw[s][f], text[f]))
				u->no_memory = true;
}

/* What the end mark says of one section, against what was found. */
static bool say_section(struct slope_unpack *u, enum slope_section s)
{
	uint64_t chunks = u->chunks[s], chunks_said = u->chunks_said[s];
	uint64_t records = u->records[s], records_said = u->records_said[s];
	const char *name = slope_section_name(s);

	if (chunks < chunks_said)
		return slope_build_problem(u->profile, "%s: %" PRIu64 " of %" PRIu64 " chunks missing, %" PRIu64 " of %" PRIu64
					   " records are left", name, chunks_said - chunks, chunks_said, records, records_said);
	if (chunks > chunks_said || records != records_said)
		return slope_build_problem(u->profile, "%s: %" PRIu64 " chunks with %" PRIu64
					   " records, but the end mark speaks of %" PRIu64 " and %" PRIu64,
					   name, chunks, records, chunks_said, records_said);
	return true;
}

static void say_missing(struct slope_unpack *u)
{
	bool ok = u->saw_end || slope_build_problem(u->profile, "the end mark is missing: the file was cut off, "
						    "or never written to its end");

	for (unsigned s = 0; s < SLOPE_SECTION_END && u->saw_end; s++)
		ok = say_section(u, s) && ok;
	if (!ok)
		u->no_memory = true;
}

struct slope_profile *slope_unpack_end(struct slope_unpack *u)
{
	struct slope_profile *p = u->profile;

	slope_unpack_sort_rows(u);
	slope_unpack_sort_edges(u);
	for (size_t i = 0; i < p->edge_count; i++)
		sort_sizes(u, &p->edge[i].sizes);
	slope_unpack_sort_variants(u);
	slope_unpack_settle_graphs(u);
	slope_unpack_sort_paths(u);
	if (!u->no_memory && !slope_merge_unite_graphs(p))
		u->no_memory = true;
	for (size_t i = 0; i < p->row_count; i++)
		for (unsigned m = 0; m < SLOPE_METRICS; m++)
			sort_points(u, SLOPE_SECTION_POINTS, &p->row[i].points[m]);
	for (size_t i = 0; i < p->variant_count; i++)
		for (unsigned m = 0; m < SLOPE_METRICS; m++)
			sort_points(u, SLOPE_SECTION_VARIANT_POINTS, &p->variant[i].row.points[m]);
	fill_in(u);
	p->complete = u->saw_end;
	say_missing(u);
	say_flaws(u);
	if (u->no_memory)
		return NULL;
	u->profile = NULL;
	return p;
}
