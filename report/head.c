/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"
#include "report/functions.h"
#include "report/head.h"
#include "report/table.h"

static void put_label(const char *label, const struct slope_report_options *o, FILE *out)
{
	fprintf(out, "%s%-8s%s ", slope_style_on(SLOPE_STYLE_BOLD, o->color), label,
		slope_style_off(SLOPE_STYLE_BOLD, o->color));
}

/* One line of the head; text that came with the profile is made harmless. */
static bool put_line(const char *label, const char *text, const struct slope_report_options *o, FILE *out)
{
	char *safe = slope_clip_middle(text, SIZE_MAX);

	if (!safe)
		return false;
	put_label(label, o, out);
	fprintf(out, "%s\n", safe);
	free(safe);
	return true;
}

static void put_word(FILE *to, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";

	if (word[0] && !word[strspn(word, plain)]) {
		fputs(word, to);
		return;
	}
	fputc('\'', to);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){ *word, 0 }, to);
	fputc('\'', to);
}

/* The command as a shell would take it. It may be long: one line of it is enough. */
static bool put_program(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	char *line = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&line, &bytes);

	if (!to)
		return false;
	for (char **word = p->program; word && *word; word++) {
		if (word != p->program)
			fputc(' ', to);
		put_word(to, *word);
	}
	fclose(to);
	char *clipped = line ? slope_clip_middle(line, o->width > 20 ? o->width - 9 : SIZE_MAX) : NULL;
	bool ok = clipped && put_line("program", clipped, o, out);

	free(clipped);
	free(line);
	return ok;
}

static void put_signal(int number, FILE *out)
{
	const char *name = sigabbrev_np(number);

	fprintf(out, name ? "killed by signal %d (SIG%s), " : "killed by signal %d, ", number, name);
}

static void put_run(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	size_t coroutines = slope_report_coroutines(p), threads = p->thread_count - coroutines;

	put_label("run", o, out);
	if (p->runs > 1)
		fprintf(out, "%" PRIu64 " profiles merged, ", p->runs);
	else if (p->exit_signal)
		put_signal((int)p->exit_signal, out);
	else if (p->exit_code >= 0)
		fprintf(out, "exit status %" PRId64 ", ", p->exit_code);
	fprintf(out, "%zu thread%s, ", threads, threads == 1 ? "" : "s");
	if (coroutines)
		fprintf(out, "%zu coroutine%s, ", coroutines, coroutines == 1 ? "" : "s");
	fprintf(out, "source %s\n", p->source ? p->source : "unknown");
}

static void put_measure(const struct slope_profile *p, uint64_t cost, const struct slope_report_options *o, FILE *out)
{
	const char *unit = p->unit_name[o->unit] ? p->unit_name[o->unit] : "?";
	char number[8];

	put_label("cost", o, out);
	fprintf(out, "%s %s", slope_table_number(cost, number), unit);
	if (!strcmp(unit, "ir"))
		fputs(" (instructions)", out);
	else if (!strcmp(unit, "bb"))
		fputs(" (basic blocks)", out);
	else if (!strcmp(unit, "time"))
		fputs(" (nanoseconds)", out);
	fprintf(out, " in all; input size n by %s, cells of %" PRIu32 " byte%s\n", slope_report_metric_name(o->metric),
		p->cell_bytes, p->cell_bytes == 1 ? "" : "s");
}

static bool put_losses(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	bool ok = true;

	for (size_t i = 0; i < p->lost_count; i++) {
		const struct slope_profile_lost *lost = &p->lost[i];
		char line[256];

		if (!lost->count)
			continue;
		snprintf(line, sizeof(line), "%" PRIu64 " %s", lost->count,
			 lost->text && lost->text[0] ? lost->text : lost->name);
		ok &= put_line("LOST", line, o, out);
	}
	if (!p->complete)
		ok &= put_line("PROBLEM", "the profile has no end mark: what was written last is missing", o, out);
	for (size_t i = 0; i < p->problem_count; i++)
		ok &= put_line("PROBLEM", p->problem[i], o, out);
	return ok;
}

bool slope_report_head(const struct slope_profile *p, uint64_t cost, const struct slope_report_options *o, FILE *out)
{
	bool ok = put_program(p, o, out);

	put_run(p, o, out);
	put_measure(p, cost, o, out);
	return put_losses(p, o, out) && ok;
}
