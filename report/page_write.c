/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "report/page_write.h"

#include <string.h>

#include "profile/page.h"
#include "report/block.h"
#include "report/functions.h"
#include "report/json.h"
#include "report/page_template.h"
#include "report/paths_view.h"

#define BLOCKS_MARK "<!--slope:blocks-->"
#define PROFILE_MARK "<!--slope:profile-->"
#define HOT_PATH 0.01                /* of the run's instructions, or of what was measured */
#define THREAD_FUNCTIONS 500u        /* rows of the threads' table; the page says that there are more */

const char *slope_page_missing(void)
{
	return slope_page_template_bytes ? NULL : slope_page_absence;
}

/* The template from `*at` to the mark, which is left out. */
static void put_template(size_t *at, const char *mark, FILE *out)
{
	const unsigned char *from = slope_page_template + *at, *to;
	size_t left = slope_page_template_bytes - *at;

	to = mark ? memmem(from, left, mark, strlen(mark)) : NULL;
	fwrite(from, 1, to ? (size_t)(to - from) : left, out);
	*at = to ? (size_t)(to - slope_page_template) + strlen(mark) : slope_page_template_bytes;
}

static bool put_report(const struct slope_page *page, FILE *out)
{
	struct slope_report_options o = page->o;

	o.top = 0;
	o.sort = SLOPE_SORT_RANK;
	o.filter = NULL;
	return slope_report_json(page->p, &o, out);
}

static bool put_threads(const struct slope_page *page, FILE *out)
{
	struct slope_report_options o = page->o;

	o.top = THREAD_FUNCTIONS;
	o.filter = NULL;
	return slope_threads_json(page->p, &o, out);
}

/* What the JSON of the verbs does not say. */
static bool put_facts(const struct slope_page *page, FILE *out)
{
	const struct slope_profile *p = page->p;
	struct slope_json j;
	struct tm when;
	char text[32] = "";

	if (page->recorded && gmtime_r(&page->recorded, &when))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &when);
	slope_json_init(&j, out);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-page/1");
	slope_json_string(&j, "file", page->file);
	slope_json_string(&j, "recorded", *text ? text : NULL);
	slope_json_uint(&j, "unit", page->o.unit);
	slope_json_uint(&j, "metric", page->o.metric);
	slope_json_uint(&j, "contexts", p->context_count);
	slope_json_uint(&j, "context_k", p->context_k);
	slope_json_bool(&j, "context_collapsed", p->context_collapsed);
	slope_json_uint(&j, "burst_period_ns", p->burst_period_ns);
	slope_json_bool(&j, "paths_only", slope_profile_paths_only(p));
	slope_json_uint(&j, "variants", p->variant_count);
	slope_json_uint(&j, "variant_k", p->variant_k);
	slope_json_object(&j, "lost_means", false);
	for (size_t i = 0; i < p->lost_count; i++)
		slope_json_string(&j, p->lost[i].name, p->lost[i].text);
	slope_json_end(&j);
	slope_json_end(&j);
	return true;
}

static bool put_diff(const struct slope_page *page, FILE *out)
{
	return slope_diff_json(page->diff, out);
}

/* As `slope paths` has them when nobody asks for anything else. */
static bool put_paths(const struct slope_page *page, FILE *out)
{
	struct slope_paths_options o = {
		.report = page->o,
		.costs = { .function = SLOPE_PATHS_ALL, .thread = SLOPE_PATHS_ALL, .threshold = HOT_PATH,
			   .metric = page->p->path_metrics ? 0 : SLOPE_PATHS_IR },
	};
	struct slope_paths_view v;

	o.report.top = 0;
	if (!slope_paths_view_init(&v, page->p, &o))
		return false;
	bool good = slope_paths_json(&v, out);

	slope_paths_view_fini(&v);
	return good;
}

static bool put_block(const struct slope_page *page, const char *id, bool (*put)(const struct slope_page *, FILE *), FILE *out)
{
	FILE *block = slope_block_open(out, id);

	if (!block)
		return false;
	bool good = put(page, block);

	fclose(block);               /* a failure of `out` stays there */
	return good;
}

/* Details first: ranks put the rows into other orders. */
static bool put_ranked_blocks(const struct slope_page *page, FILE *out)
{
	struct slope_report_options o = page->o;
	struct slope_report_rows r;
	FILE *block;
	bool good;

	o.filter = NULL;
	o.sort = SLOPE_SORT_RANK;
	if (!slope_report_rows_init(&r, page->p, &o))
		return false;
	block = slope_block_open(out, "slope-details");
	good = block && slope_page_details(page, &r.rank, block);
	if (block)
		fclose(block);
	if (page->progress)
		page->progress("page: ranks");
	block = good ? slope_block_open(out, "slope-ranks") : NULL;
	good = block && slope_page_ranks(page, &r.rank, block);
	if (block)
		fclose(block);
	slope_report_rows_fini(&r);
	return good;
}

static bool put_profile(const struct slope_page *page, FILE *out)
{
	return slope_page_put(page->p, out);
}

bool slope_page_write(const struct slope_page *page, FILE *out)
{
	size_t at = 0;
	bool good;

	fputs(SLOPE_PAGE_START "'slope report' and other verbs read the profile in it -->\n", out);
	put_template(&at, BLOCKS_MARK, out);
	if (page->progress)
		page->progress("page: growth");
	good = put_block(page, "slope-facts", put_facts, out) && put_block(page, "slope-report", put_report, out) &&
	       put_ranked_blocks(page, out) && put_block(page, "slope-threads", put_threads, out) &&
	       (!page->p->graph_count || put_block(page, "slope-paths", put_paths, out)) &&
	       (!page->diff || put_block(page, "slope-diff", put_diff, out));
	put_template(&at, PROFILE_MARK, out);
	if (page->progress)
		page->progress("page: profile");
	good = good && put_block(page, "slope-profile", put_profile, out);
	put_template(&at, NULL, out);
	if (page->progress)
		page->progress("");
	return good;
}
