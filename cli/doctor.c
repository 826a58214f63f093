/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope doctor: what works on this machine, what is missing, and how to get it. */
#include <string.h>

#include "cli/machine.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "report/json.h"

#define EVENT_TITLE 16u          /* columns */
#define EVENT_COLUMNS 110u

struct settings {
	bool json;
	unsigned color;
};

static enum slope_parsed parse(struct settings *s, int *argc, char **argv)
{
	const struct slope_option option[] = {
		{ "json", 'j', SLOPE_OPTION_FLAG, &s->json, NULL, "print JSON (schema slope-doctor/1)", 0, 0 },
		{ "color", 0, SLOPE_OPTION_CHOICE, &s->color, SLOPE_COLOR_CHOICES,
		  "colours: on a terminal unless NO_COLOR is set (auto)", 0, 0 },
		{ 0 },
	};
	const struct slope_usage usage = {
		.command = "slope doctor", .operands = "[options]", .option = option,
		.summary = "Says what works on this machine, what is missing and how to get it. Status 0: slope is usable.",
	};

	return slope_options_parse(&usage, argc, argv);
}

static void json_events(struct slope_json *j, const struct slope_events *events)
{
	slope_json_array(j, "events", false);
	for (size_t i = 0; i < events->count; i++) {
		const struct slope_event *e = &events->event[i];

		slope_json_object(j, NULL, true);
		slope_json_string(j, "name", e->name);
		slope_json_string(j, "kind", e->kind);
		slope_json_string(j, "how", slope_event_how_word(e->how));
		slope_json_string(j, "reason", e->reason);
		slope_json_end(j);
	}
	slope_json_end(j);
}

static void print_json(const struct slope_checkup *checkup, size_t count, const struct slope_events *events, bool usable)
{
	struct slope_json j;

	slope_json_init(&j, stdout);
	slope_json_object(&j, NULL, false);
	slope_json_string(&j, "schema", "slope-doctor/1");
	slope_json_string(&j, "version", SLOPE_VERSION);
	slope_json_bool(&j, "usable", usable);
	slope_json_array(&j, "checks", false);
	for (size_t i = 0; i < count; i++) {
		slope_json_object(&j, NULL, false);
		slope_json_string(&j, "name", checkup[i].name);
		slope_json_string(&j, "state", slope_health_word(checkup[i].health));
		slope_json_string(&j, "found", checkup[i].found);
		slope_json_string(&j, "advice", checkup[i].advice);
		slope_json_end(&j);
	}
	slope_json_end(&j);
	json_events(&j, events);
	slope_json_end(&j);
}

/* There are many events of caches; where none of them works they are only counted. */
static bool caches_work(const struct slope_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		if (!strcmp(events->event[i].kind, "cache") && events->event[i].how != SLOPE_EVENT_NOT)
			return true;
	return false;
}

/* Their names in lines of a usual width. */
static void print_events(const struct slope_events *events, enum slope_event_how how, const char *title)
{
	size_t column = 0, caches = 0;
	bool all = caches_work(events);

	for (size_t i = 0; i < events->count; i++) {
		const char *name = events->event[i].name;

		if (events->event[i].how != how)
			continue;
		if (!all && !strcmp(events->event[i].kind, "cache")) {
			caches++;
			continue;
		}
		if (column && column + strlen(name) + 2 > EVENT_COLUMNS) {
			printf(",\n%*s", (int)EVENT_TITLE, "");
			column = EVENT_TITLE;
		} else {
			column += (size_t)printf(column ? ", " : "%-*s", (int)EVENT_TITLE, title);
		}
		column += (size_t)printf("%s", name);
	}
	if (caches)
		printf(", and %zu of caches (--json has their names)", caches);
	if (column)
		printf("\n");
}

static void print_text(const struct slope_checkup *checkup, size_t count, const struct slope_events *events, bool usable, bool color)
{
	static const char *const paint[] = { "\033[32m", "\033[33m", "\033[31m" };

	for (size_t i = 0; i < count; i++) {
		const struct slope_checkup *c = &checkup[i];

		printf("%s%-8s%s %-14s %s\n", color ? paint[c->health] : "", slope_health_word(c->health),
		       color ? "\033[0m" : "", c->name, c->found);
		if (c->advice)
			printf("%-8s %-14s -> %s\n", "", "", c->advice);
	}
	if (events->count) {
		printf("\nevents for 'slope record --event':\n");
		print_events(events, SLOPE_EVENT_RDPMC, "  by rdpmc");
		print_events(events, SLOPE_EVENT_READ, "  by perf");
		print_events(events, SLOPE_EVENT_FREE, "  by all means");
		print_events(events, SLOPE_EVENT_NOT, "  not here");
		printf("%-*s%s\n", (int)EVENT_TITLE, "  also",
		       "rNNN (the processor's own number, in hexadecimal), where cycles can be counted");
	}
	printf("\n%s\n", usable ? "slope is usable here." : "slope record does not work here yet; see the lines with an arrow.");
}

int slope_verb_doctor(int argc, char **argv)
{
	struct settings s = { 0 };
	struct slope_checkup checkup[SLOPE_CHECKUPS_MAX];
	struct slope_events events = { 0 };
	enum slope_parsed parsed = parse(&s, &argc, argv);
	bool usable = true;

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	if (argc > 1) {
		slope_say("doctor takes no file; 'slope info %s' looks at a profile", argv[1]);
		return SLOPE_EXIT_WRONG;
	}
	size_t count = slope_machine_check(checkup, &events);

	for (size_t i = 0; i < count; i++)
		usable &= checkup[i].health != SLOPE_HEALTH_BAD;
	if (s.json)
		print_json(checkup, count, &events, usable);
	else
		print_text(checkup, count, &events, usable, slope_color_wanted(s.color, stdout));
	slope_checkups_free(checkup, count);
	slope_events_fini(&events);
	return slope_flush_output() && usable ? 0 : 1;
}
