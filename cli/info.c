/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope info: the facts of a profile, as lines for people or as JSON. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/datafile.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "report/clip.h"
#include "report/facts.h"
#include "report/parts.h"
#include "report/report.h"

#define KEY_COLUMNS 17

/* One walk over the facts serves both forms. */
struct facts {
	bool json;
	struct slope_json out;
};

struct settings {
	bool json;
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "json", 'j', SLOPE_OPTION_FLAG, &s->json, NULL, "print JSON (schema slope-info/1)", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope info", .operands = "[options] [FILE]", .option = option,
		.summary = "Prints the facts of a profile (slope.data): what ran, how it was measured, what is in the file.",
	};

	return slope_options_parse(&usage, argc, argv);
}

static void print_key(const char *key)
{
	char label[KEY_COLUMNS + 1];

	snprintf(label, sizeof label, "%s", key);
	for (char *c = label; *c; c++)
		if (*c == '_')
			*c = ' ';
	printf("%-*s ", KEY_COLUMNS, label);
}

/* A text that may hold anything, as one safe line. */
static void print_safe(const char *text)
{
	char *safe = slope_clip_middle(text, SIZE_MAX);

	fputs(safe ? safe : "?", stdout);
	free(safe);
}

static void text_fact(struct facts *f, const char *key, const char *text)
{
	if (f->json) {
		slope_json_string(&f->out, key, text);
		return;
	}
	print_key(key);
	print_safe(text ? text : "unknown");
	putchar('\n');
}

static void number_fact(struct facts *f, const char *key, uint64_t number)
{
	if (f->json) {
		slope_json_uint(&f->out, key, number);
		return;
	}
	print_key(key);
	printf("%llu\n", (unsigned long long)number);
}

static void bool_fact(struct facts *f, const char *key, bool value)
{
	if (f->json)
		slope_json_bool(&f->out, key, value);
	else
		text_fact(f, key, value ? "yes" : "no");
}

static void words_fact(struct facts *f, const char *key, char *const *word, size_t count)
{
	if (f->json) {
		slope_json_array(&f->out, key, true);
		for (size_t i = 0; i < count; i++)
			slope_json_string(&f->out, NULL, word[i]);
		slope_json_end(&f->out);
		return;
	}
	print_key(key);
	for (size_t i = 0; i < count; i++) {
		if (i)
			putchar(' ');
		print_safe(word[i]);
	}
	putchar('\n');
}

static size_t word_count(char *const *word)
{
	size_t count = 0;

	while (word && word[count])
		count++;
	return count;
}

static void program_fact(struct facts *f, const struct slope_profile *p)
{
	char *command = f->json ? NULL : slope_parts_command(p);

	if (f->json)
		words_fact(f, "program", p->program, word_count(p->program));
	else
		text_fact(f, "program", command);
	free(command);
}

static void end_facts(struct facts *f, const struct slope_profile *p)
{
	bool known = p->exit_code >= 0 && !p->exit_signal;

	text_fact(f, "ended", p->ended);
	if (known)
		number_fact(f, "exit_code", (uint64_t)p->exit_code);
	else if (f->json)
		slope_json_null(&f->out, "exit_code");
	if (p->exit_signal)
		number_fact(f, "exit_signal", (uint64_t)p->exit_signal);
	else if (f->json)
		slope_json_null(&f->out, "exit_signal");
}

static void run_facts(struct facts *f, const struct slope_profile *p)
{
	program_fact(f, p);
	text_fact(f, "directory", p->directory);
	number_fact(f, "process", p->process);
	number_fact(f, "parent_process", p->parent_process);
	end_facts(f, p);
	number_fact(f, "runs", p->runs);
}

static void measure_facts(struct facts *f, const struct slope_profile *p)
{
	char *const names[SLOPE_METRICS] = { "trms", "rms" };
	char *metric[SLOPE_METRICS];
	size_t count = 0;

	for (unsigned m = 0; m < SLOPE_METRICS; m++)
		if (p->metrics & 1u << m)
			metric[count++] = names[m];
	text_fact(f, "source", p->source);
	text_fact(f, "created_by", p->created_by);
	words_fact(f, "cost_units", p->unit_name, p->units);
	words_fact(f, "input_metrics", metric, count);
	number_fact(f, "cell_bytes", p->cell_bytes);
	number_fact(f, "max_points", p->max_points);
	number_fact(f, "renumberings", p->renumberings);
}

static uint64_t folded_tables(const struct slope_profile *p)
{
	uint64_t folded = 0;

	for (size_t i = 0; i < p->row_count; i++)
		for (unsigned m = 0; m < SLOPE_METRICS; m++)
			folded += p->row[i].points[m].count && p->row[i].points[m].bits != SLOPE_POINTS_EXACT;
	return folded;
}

static void size_facts(struct facts *f, const struct slope_profile *p)
{
	number_fact(f, "threads", p->thread_count);
	number_fact(f, "modules", p->module_count);
	number_fact(f, "functions", slope_datafile_functions(p));
	number_fact(f, "points", slope_datafile_points(p));
	number_fact(f, "folded_tables", folded_tables(p));
	number_fact(f, "edges", p->edge_count);
	bool_fact(f, "symbolized", p->symbolized);
	bool_fact(f, "complete", p->complete);
}

/* A text says nothing of contexts that were not recorded. */
static void context_facts(struct facts *f, const struct slope_profile *p)
{
	if (f->json || p->context_count)
		number_fact(f, "contexts", p->context_count);
	if (f->json || p->context_k)
		number_fact(f, "context_k", p->context_k);
	if (f->json || p->site_count)
		number_fact(f, "call_sites", p->site_count);
	if (f->json || p->variant_count)
		number_fact(f, "rows_by_context", p->variant_count);
	if (f->json || p->variants_folded)
		number_fact(f, "contexts_folded", p->variants_folded);
}

/* The same of paths. */
static void path_facts(struct facts *f, const struct slope_profile *p)
{
	bool only = slope_profile_paths_only(p);

	if (!f->json && !p->graph_count)
		return;
	number_fact(f, "paths", p->path_count);
	number_fact(f, "graphs", p->graph_count);
	if (f->json || p->path_metrics)
		words_fact(f, "path_metrics", p->path_metric_name, p->path_metrics);
	if (f->json || p->path_period)
		number_fact(f, "path_period", p->path_period);
	if (f->json || p->path_size_count)
		number_fact(f, "paths_by_size", p->path_size_count);
	if (f->json)
		slope_json_bool(&f->out, "paths_only", only);
	else if (only)
		text_fact(f, "costs", "none of functions: recorded with --paths alone; 'slope paths' shows it");
}

static void loss_facts(struct facts *f, const struct slope_profile *p)
{
	bool any = false;

	if (f->json)
		slope_json_object(&f->out, "lost", true);
	for (size_t i = 0; i < p->lost_count; i++) {
		if (f->json) {
			slope_json_uint(&f->out, p->lost[i].name, p->lost[i].count);
		} else if (p->lost[i].count) {
			print_key("lost");
			printf("%llu ", (unsigned long long)p->lost[i].count);
			print_safe(p->lost[i].text);
			putchar('\n');
			any = true;
		}
	}
	if (f->json)
		slope_json_end(&f->out);
	else if (!any)
		text_fact(f, "lost", "nothing");
}

static void problem_facts(struct facts *f, const struct slope_profile *p)
{
	if (f->json) {
		slope_json_array(&f->out, "problems", false);
		for (size_t i = 0; i < p->problem_count; i++)
			slope_json_string(&f->out, NULL, p->problem[i]);
		slope_json_end(&f->out);
		return;
	}
	for (size_t i = 0; i < p->problem_count; i++)
		text_fact(f, "problem", p->problem[i]);
}

static void statistics_facts(struct facts *f, const struct slope_profile *p, const struct slope_statistics *s)
{
	if (f->json)
		slope_facts_statistics(&f->out, s);
	else if (slope_profile_is_sampled(p))
		text_fact(f, "curves", "none: it was sampled, without input sizes");
	else
		slope_statistics_text(s, p->unit_name[0] ? p->unit_name[0] : "?", KEY_COLUMNS, stdout);
}

static void print_facts(struct facts *f, const struct slope_profile *p, const struct slope_statistics *s, const char *path)
{
	struct stat st;

	if (f->json) {
		slope_json_object(&f->out, NULL, false);
		slope_json_string(&f->out, "schema", "slope-info/1");
	}
	text_fact(f, "file", path);
	number_fact(f, "file_bytes", stat(path, &st) == 0 ? (uint64_t)st.st_size : 0);
	run_facts(f, p);
	measure_facts(f, p);
	size_facts(f, p);
	context_facts(f, p);
	path_facts(f, p);
	statistics_facts(f, p, s);
	loss_facts(f, p);
	problem_facts(f, p);
	if (f->json)
		slope_json_end(&f->out);
}

int slope_verb_info(int argc, char **argv)
{
	struct settings s = { 0 };
	enum slope_parsed parsed = parse(&s, &argc, argv);

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	const char *path = slope_datafile_operand(argc, argv);
	struct slope_profile *profile = path ? slope_datafile_load(path) : NULL;

	if (!profile)
		return SLOPE_EXIT_WRONG;
	struct facts f = { .json = s.json };
	struct slope_statistics statistics;
	bool good = slope_statistics_init(&statistics, profile, 0);

	if (good) {
		slope_json_init(&f.out, stdout);
		print_facts(&f, profile, &statistics, path);
		slope_statistics_fini(&statistics);
	} else {
		slope_say("out of memory");
	}
	slope_profile_free(profile);
	return slope_flush_output() && good ? 0 : SLOPE_EXIT_WRONG;
}
