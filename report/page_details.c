/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions that a reader of the page will open: those of the three groups,
 * and the most costly of the rest. Each has what `slope show` works out and
 * `slope explain` says; points, callers and callees are in the profile itself.
 */
#include <stdlib.h>

#include "report/explain.h"
#include "report/page_write.h"
#include "report/show.h"

#define DETAILS_MOST 300u
#define DETAILS_OF_REST 40u

static bool put_show(const struct slope_page *page, uint32_t function, FILE *out)
{
	const struct slope_show_options o = { .function = function, .unit = page->o.unit, .metric = page->o.metric,
					      .recorded = page->recorded };
	struct slope_show s;

	if (!slope_show_init(&s, page->p, &o))
		return false;
	bool good = slope_show_analysis_json(&s, out);

	slope_show_fini(&s);
	return good;
}

static bool put_explanation(const struct slope_page *page, uint32_t function, FILE *out)
{
	struct slope_explanation *e = malloc(sizeof(*e));
	bool good = e && slope_explain(e, page->p, function, page->o.metric, page->o.unit) &&
		    slope_explain_json(e, page->p, &page->o, out);

	free(e);
	return good;
}

bool slope_page_details(const struct slope_page *page, const struct slope_rank *r, FILE *out)
{
	size_t rest = 0, count = 0;
	bool good = true;

	fputs("[", out);
	for (size_t i = 0; good && i < r->count && count < DETAILS_MOST; i++) {
		if (r->row[i].group == SLOPE_GROUP_REST && rest++ == DETAILS_OF_REST)
			break;
		fprintf(out, "%s{\"row\": %zu, \"show\": ", count++ ? "," : "", i);
		good = put_show(page, r->row[i].function, out);
		fputs(", \"explain\": ", out);
		good = good && put_explanation(page, r->row[i].function, out);
		fputs("}\n", out);
	}
	fputs("]\n", out);
	return good;
}
