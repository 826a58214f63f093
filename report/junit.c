/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `slope check --junit=FILE`: the XML that CI systems read. A check is a test
 * case; what fails is a failure, what is inconclusive is skipped (or a failure,
 * if the user says so), a rule without a function is an error.
 */
#include <string.h>

#include "report/clip.h"
#include "report/diff.h"
#include "report/functions.h"

/* XML has no place for most control characters, not even escaped; what is no UTF-8 would make the file unreadable. */
static void put_text(const char *text, FILE *out)
{
	unsigned bytes;

	for (; *text; text += bytes) {
		uint32_t c = slope_utf8_next(text, &bytes);

		switch (c) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			if (c == 0xFFFD || c < ' ' || c == 0xFFFE || c == 0xFFFF)
				fputc('?', out);
			else
				fwrite(text, 1, bytes, out);
		}
	}
}

static void put_attribute(const char *name, const char *text, FILE *out)
{
	fprintf(out, " %s=\"", name);
	put_text(text, out);
	fputc('"', out);
}

/* The element that says why a case did not pass; NULL: it did. */
static const char *element(const struct slope_check_view *v, enum slope_outcome outcome)
{
	switch (outcome) {
	case SLOPE_OUTCOME_FAIL:
		return "failure";
	case SLOPE_OUTCOME_INCONCLUSIVE:
		return v->inconclusive_fails ? "failure" : "skipped";
	case SLOPE_OUTCOME_MISSING:
		return v->missing_passes ? "skipped" : "error";
	default:
		return NULL;
	}
}

static void put_why(const struct slope_check *check, const char *tag, FILE *out)
{
	fprintf(out, ">\n      <%s", tag);
	if (strcmp(tag, "skipped"))
		put_attribute("type", slope_outcome_json(check->outcome), out);
	put_attribute("message", check->why, out);
	if (check->advice[0]) {
		fputc('>', out);
		put_text(check->advice, out);
		fprintf(out, "</%s>\n    </testcase>\n", tag);
	} else {
		fprintf(out, "/>\n    </testcase>\n");
	}
}

static void put_case(const struct slope_check_view *v, const struct slope_check *check, FILE *out)
{
	const struct slope_profile_function *f = &v->profile->function[check->function];
	const char *tag = element(v, check->outcome), *module = slope_profile_module_of(v->profile, f);
	bool missing = check->outcome == SLOPE_OUTCOME_MISSING;

	fprintf(out, "    <testcase");
	put_attribute("classname", missing || !module[0] ? "slope" : module, out);
	fprintf(out, " name=\"");
	if (!missing) {
		put_text(slope_profile_name(f), out);
		fputs(": ", out);
	}
	put_text(check->rule ? check->rule->text : "no worse than the baseline", out);
	fputc('"', out);
	if (!missing && slope_report_file(v->profile, f))
		put_attribute("file", slope_report_file(v->profile, f), out);
	if (tag)
		put_why(check, tag, out);
	else
		fprintf(out, "/>\n");
}

bool slope_check_junit(const struct slope_check_view *v, FILE *out)
{
	const struct slope_checks *c = v->checks;
	size_t failures = 0, skipped = 0, errors = 0;

	for (size_t i = 0; i < c->count; i++) {
		const char *tag = element(v, c->check[i].outcome);

		failures += tag && !strcmp(tag, "failure");
		skipped += tag && !strcmp(tag, "skipped");
		errors += tag && !strcmp(tag, "error");
	}
	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"slope check\"");
	fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", c->count, failures, errors,
		skipped);
	for (size_t i = 0; i < c->count; i++)
		put_case(v, &c->check[i], out);
	fprintf(out, "  </testsuite>\n</testsuites>\n");
	return true;
}
