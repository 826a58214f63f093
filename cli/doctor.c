/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope doctor: what works on this machine, what is missing, and how to get it. */
#include "cli/machine.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "report/json.h"

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

static void print_json(const struct slope_checkup *checkup, size_t count, bool usable)
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
	slope_json_end(&j);
}

static void print_text(const struct slope_checkup *checkup, size_t count, bool usable, bool color)
{
	static const char *const paint[] = { "\033[32m", "\033[33m", "\033[31m" };

	for (size_t i = 0; i < count; i++) {
		const struct slope_checkup *c = &checkup[i];

		printf("%s%-8s%s %-14s %s\n", color ? paint[c->health] : "", slope_health_word(c->health),
		       color ? "\033[0m" : "", c->name, c->found);
		if (c->advice)
			printf("%-8s %-14s -> %s\n", "", "", c->advice);
	}
	printf("\n%s\n", usable ? "slope is usable here." : "slope record does not work here yet; see the lines with an arrow.");
}

int slope_verb_doctor(int argc, char **argv)
{
	struct settings s = { 0 };
	struct slope_checkup checkup[SLOPE_CHECKUPS_MAX];
	enum slope_parsed parsed = parse(&s, &argc, argv);
	bool usable = true;

	if (parsed != SLOPE_PARSED)
		return parsed == SLOPE_PARSED_HELP ? 0 : SLOPE_EXIT_WRONG;
	if (argc > 1) {
		slope_say("doctor takes no file; 'slope info %s' looks at a profile", argv[1]);
		return SLOPE_EXIT_WRONG;
	}
	size_t count = slope_machine_check(checkup);

	for (size_t i = 0; i < count; i++)
		usable &= checkup[i].health != SLOPE_HEALTH_BAD;
	if (s.json)
		print_json(checkup, count, usable);
	else
		print_text(checkup, count, usable, slope_color_wanted(s.color, stdout));
	slope_checkups_free(checkup, count);
	return slope_flush_output() && usable ? 0 : 1;
}
