/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths shown: the hot ones of a run, or all of a function, each as its source lines. The profile must have graphs. */
#ifndef SLOPE_REPORT_PATHS_VIEW_H
#define SLOPE_REPORT_PATHS_VIEW_H

#include "analysis/pathcosts.h"
#include "profile/blocklines.h"
#include "report/json.h"
#include "report/report.h"

struct slope_paths_options {
	struct slope_report_options report;  /* top (paths), color, ascii, width */
	struct slope_pathcosts_options costs;
	enum slope_paths_sort sort;
	bool blocks;                 /* each path block by block, with addresses */
	bool graphs;                 /* JSON: graphs with all that a checker needs */
	const char *debug_path;      /* where debug files are looked for; NULL: the usual places */
};

/* What is shown, worked out once. */
struct slope_paths_view {
	const struct slope_profile *p;
	const struct slope_paths_options *o;
	struct slope_pathcosts c;
	struct slope_blocklines *lines;
	size_t shown;                /* rows: of a function all, of a run the hot ones; `top` at most */
	size_t of;                   /* rows that could be shown */
};

/* False when memory runs out; `v` then holds nothing. */
bool slope_paths_view_init(struct slope_paths_view *v, const struct slope_profile *p, const struct slope_paths_options *o);
void slope_paths_view_fini(struct slope_paths_view *v);

/* The pages of the terminal. */
bool slope_paths_text(const struct slope_paths_view *v, FILE *out);

/* The same as JSON, schema "slope-paths/1". */
bool slope_paths_json(const struct slope_paths_view *v, FILE *out);

/* Key graphs: blocks, edges, numbers and all rows, each path decoded. */
bool slope_paths_graphs(struct slope_json *j, const struct slope_profile *p);

/* "cold", "hot", "dense", "sparse". */
const char *slope_path_kind_name(enum slope_path_kind kind);

/* The name of what makes hot: "ir", or that of a metric. */
const char *slope_paths_metric_name(const struct slope_paths_view *v);

/* The callers of a context, nearest first, at most `max`: functions. How many there are in all. */
uint32_t slope_paths_callers(const struct slope_profile *p, uint32_t context, uint32_t *caller, uint32_t max);

/* Numbers of paths are names: where a double cannot hold them they are texts. */
void slope_paths_json_number(struct slope_json *j, const char *key, uint64_t number);

#endif
