/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/clip.h"
#include "report/functions.h"
#include "report/names.h"
#include "report/parts.h"

#define ROOM_FOR_FOLDERS 120     /* columns of a terminal that can show more than a file's name */
#define ROOM_FOR_LIBRARIES 160   /* ... and lines of other people's code */

const char *slope_parts_percent(double share, char *text, size_t bytes)
{
	if (!isfinite(share))
		snprintf(text, bytes, "?");
	else if (share <= 0)
		snprintf(text, bytes, "0");
	else if (share < 0.0005)
		snprintf(text, bytes, "<0.1%%");
	else
		snprintf(text, bytes, share > 0.9995 ? "%.0f%%" : "%.1f%%", share * 100);
	return text;
}

const char *slope_parts_part(uint64_t part, uint64_t whole, char *text, size_t bytes)
{
	return slope_parts_percent(slope_share_of(part, whole), text, bytes);
}

const char *slope_parts_measure(const char *unit)
{
	static const char *const time[] = { "time", "cpu-time", "wall-time", "task-clock", "cpu-clock", "lock-wait" };
	size_t length = strlen(unit), tail = strlen("-bytes");

	for (size_t i = 0; i < sizeof time / sizeof *time; i++)
		if (!strcmp(unit, time[i]))
			return "nanoseconds";
	return length > tail && !strcmp(unit + length - tail, "-bytes") ? "bytes" : NULL;
}

const char *slope_parts_unit(const char *unit)
{
	const char *measure = slope_parts_measure(unit);

	if (!strcmp(unit, "ir"))
		return " (instructions)";
	if (!strcmp(unit, "bb"))
		return " (basic blocks)";
	return measure && !strcmp(measure, "nanoseconds") ? " (nanoseconds)" : "";
}

/* ---- head ---- */

void slope_parts_label(const char *label, const struct slope_report_options *o, FILE *out)
{
	fprintf(out, "%s%-8s%s ", slope_style_on(SLOPE_STYLE_BOLD, o->color), label,
		slope_style_off(SLOPE_STYLE_BOLD, o->color));
}

bool slope_parts_line(const char *label, const char *text, const struct slope_report_options *o, FILE *out)
{
	char *safe = slope_clip_middle(text, SIZE_MAX);

	if (!safe)
		return false;
	slope_parts_label(label, o, out);
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

char *slope_parts_command(const struct slope_profile *p)
{
	char *line = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&line, &bytes);

	if (!to)
		return NULL;
	for (char **word = p->program; word && *word; word++) {
		if (word != p->program)
			fputc(' ', to);
		put_word(to, *word);
	}
	if (fclose(to) == 0)
		return line;
	free(line);
	return NULL;
}

bool slope_parts_program(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	char *line = slope_parts_command(p);
	char *clipped = line ? slope_clip_middle(line, o->width > 20 ? o->width - 9 : SIZE_MAX) : NULL;
	bool ok = clipped && slope_parts_line("program", clipped, o, out);

	free(clipped);
	free(line);
	return ok;
}

static void put_signal(int number, FILE *out)
{
	const char *name = sigabbrev_np(number);

	fprintf(out, name ? "killed by signal %d (SIG%s), " : "killed by signal %d, ", number, name);
}

void slope_parts_run(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	size_t coroutines = slope_report_coroutines(p), threads = p->thread_count - coroutines;

	slope_parts_label("run", o, out);
	if (p->runs > 1)
		fprintf(out, "%" PRIu64 " profiles merged, ", p->runs);
	else if (p->exit_signal)
		put_signal((int)p->exit_signal, out);
	else if (p->exit_code >= 0)
		fprintf(out, "exit status %" PRId64 ", ", p->exit_code);
	fprintf(out, "%zu thread%s, ", threads, threads == 1 ? "" : "s");
	if (coroutines)
		fprintf(out, "%zu coroutine%s, ", coroutines, coroutines == 1 ? "" : "s");
	fputs("source ", out);
	slope_names_put(p->source ? p->source : "unknown", '\n', ' ', out);
	fputc('\n', out);
}

/* A file that was cut off says so among its problems; a profile in memory may have none. */
bool slope_parts_each_loss(const struct slope_profile *p, bool (*put)(void *to, const char *label, const char *text),
			   void *to)
{
	bool ok = true;
	char line[256];

	for (size_t i = 0; ok && i < p->lost_count; i++) {
		const struct slope_profile_lost *lost = &p->lost[i];

		if (!lost->count)
			continue;
		snprintf(line, sizeof(line), "%" PRIu64 " %s", lost->count,
			 lost->text && lost->text[0] ? lost->text : lost->name);
		ok = put(to, "LOST", line);
	}
	if (ok && !p->complete && !p->problem_count)
		ok = put(to, "PROBLEM", "the profile has no end mark: what was written last is missing");
	for (size_t i = 0; ok && i < p->problem_count; i++)
		ok = put(to, "PROBLEM", p->problem[i]);
	return ok;
}

struct loss_lines {
	const struct slope_report_options *o;
	FILE *out;
};

static bool put_loss(void *to, const char *label, const char *text)
{
	const struct loss_lines *lines = to;

	return slope_parts_line(label, text, lines->o, lines->out);
}

bool slope_parts_losses(const struct slope_profile *p, const struct slope_report_options *o, FILE *out)
{
	return slope_parts_each_loss(p, put_loss, &(struct loss_lines){ o, out });
}

/* ---- functions ---- */

bool slope_parts_function(const struct slope_profile *p, uint32_t function, enum slope_table_style style, bool color,
			  FILE *out)
{
	const struct slope_profile_function *f = &p->function[function];
	const char *file = slope_report_short_file(p, f);
	char *name = slope_clip_middle(slope_profile_name(f), SIZE_MAX);
	char *place = slope_clip_middle(file ? file : slope_profile_module_of(p, f), SIZE_MAX);
	bool good = name && place;

	if (good)
		fprintf(out, "%s%s%s", slope_style_on(style, color), name, slope_style_off(style, color));
	if (good && file && f->line)
		fprintf(out, " (%s:%" PRIu32 ")", place, f->line);
	else if (good && place[0])
		fprintf(out, " (%s)", place);
	free(name);
	free(place);
	return good;
}

/* ---- cells ---- */

void slope_parts_place(struct slope_table *t, const struct slope_profile *p, const struct slope_profile_function *f,
		      unsigned width)
{
	const char *module = slope_profile_module_of(p, f), *file = slope_report_short_file(p, f);
	const char *first = p->program && p->program[0] ? p->program[0] : "", *slash = strrchr(first, '/');
	const char *so = strstr(module, ".so");
	bool own = !strcmp(module, slash ? slash + 1 : first);

	if (file && width < ROOM_FOR_FOLDERS && strrchr(file, '/'))
		file = strrchr(file, '/') + 1;
	if (!own && module[0] && width < ROOM_FOR_LIBRARIES)
		slope_table_add(t, SLOPE_STYLE_DIM, "[%.*s]", (int)(so ? so - module : (ptrdiff_t)strlen(module)), module);
	else if (!file)
		slope_table_add(t, SLOPE_STYLE_DIM, module[0] ? "[%s]" : "%s", module);
	else if (own || !module[0])
		slope_table_add(t, SLOPE_STYLE_DIM, "%s:%" PRIu32, file, f->line);
	else
		slope_table_add(t, SLOPE_STYLE_DIM, "[%s] %s:%" PRIu32, module, file, f->line);
}

void slope_parts_share(struct slope_table *t, enum slope_table_style style, uint64_t part, uint64_t whole)
{
	char text[16];

	slope_table_add(t, style, "%s", slope_parts_part(part, whole, text, sizeof(text)));
}
