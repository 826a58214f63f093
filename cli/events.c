/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/events.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/words.h"
#include "cli/messages.h"
#include "cli/observer.h"
#include "cli/program.h"

#define FIELDS 5u
#define OURS "slope: "           /* how the translator's lines begin */
#define UNKNOWN "there is no event '"    /* as the translator says it, with the name behind it */
#define NEAREST 3u

static const char *const how_word[] = { "rdpmc", "read", "free", "no" };

const char *slope_event_how_word(enum slope_event_how how)
{
	return how_word[how];
}

/* "name\tkind\ttype\tconfig\thow" */
static bool take_line(struct slope_event *e, char *line)
{
	char *field[FIELDS];
	unsigned n = 0;

	for (char *at = line; at && n < FIELDS; at = strchr(at, '\t')) {
		if (n)
			*at++ = '\0';
		field[n++] = at;
	}
	if (n < FIELDS)
		return false;
	*e = (struct slope_event){ .type = (uint32_t)strtoul(field[2], NULL, 10), .config = strtoull(field[3], NULL, 10) };
	while (e->how < SLOPE_EVENT_NOT && strcmp(field[4], how_word[e->how]))
		e->how++;
	e->name = slope_text("%s", field[0]);
	e->kind = slope_text("%s", field[1]);
	if (e->how == SLOPE_EVENT_NOT)
		e->reason = slope_text("%s", strncmp(field[4], "no: ", 4) ? field[4] : field[4] + 4);
	return true;
}

/* What it said, without its own name. */
static const char *said(const struct slope_list *lines)
{
	const char *line = lines->count ? lines->text[0] : "it says nothing";

	return strncmp(line, OURS, strlen(OURS)) ? line : line + strlen(OURS);
}

void slope_events_ask(struct slope_events *events, const struct slope_launcher *launcher, const char *list)
{
	struct slope_list lines = { 0 };

	if (!launcher->translator) {
		events->obstacle = slope_text("slope-translator, which counts them, is missing");
		return;
	}
	char *option = slope_text("--list-events%s%s", *list ? "=" : "", list);
	char *argv[] = { launcher->translator, option, NULL };
	int status = slope_program_lines(argv, &lines);

	if (status != 0 || !lines.count)
		events->obstacle = slope_text("slope-translator, which counts them, does not run: %s", said(&lines));
	events->event = calloc(lines.count + 1, sizeof *events->event);
	for (size_t i = 0; status == 0 && events->event && i < lines.count; i++)
		events->count += take_line(&events->event[events->count], lines.text[i]);
	slope_list_fini(&lines);
	free(option);
}

void slope_events_fini(struct slope_events *events)
{
	for (size_t i = 0; i < events->count; i++) {
		free(events->event[i].name);
		free(events->event[i].kind);
		free(events->event[i].reason);
	}
	free(events->event);
	free(events->obstacle);
}

/* ---- a list that a person typed ---- */

/* Those that a mistyped name may have meant, the nearest first: "; did you mean A, B or C?" or nothing. */
static char *meant(const struct slope_launcher *launcher, const char *typed)
{
	struct slope_events all = { 0 };
	char *text = slope_text("%s", "");
	unsigned found = 0;

	slope_events_ask(&all, launcher, "");
	for (size_t far = 0; far <= strlen(typed) && found < NEAREST; far++)
		for (size_t i = 0; i < all.count && found < NEAREST; i++) {
			const char *name = all.event[i].name;
			/* A part of a name is as near as a letter. */
			size_t distance = strlen(typed) > 2 && strcasestr(name, typed) ? 1 : slope_word_distance(typed, name);

			if (distance != far || !slope_word_near(typed, distance))
				continue;
			char *more = slope_text("%s%s%s", text, found++ ? ", " : "; similar ones are ", name);

			free(text);
			text = more;
		}
	slope_events_fini(&all);
	return text;
}

static void say_unknown(const struct slope_launcher *launcher, const char *list, const char *line)
{
	char *typed = slope_text("%s", line + strlen(UNKNOWN));

	typed[strcspn(typed, "'")] = '\0';
	char *near = meant(launcher, typed);

	slope_say("--event=%s: %s%s; 'slope doctor' lists events", list, line, near);
	free(near);
	free(typed);
}

bool slope_events_check(const struct slope_launcher *launcher, const char *list)
{
	struct slope_list lines = { 0 };
	char *option = slope_text("--events=%s", list);
	char *argv[] = { launcher->translator, "--check", option, "--", SLOPE_SMALLEST_PROGRAM, NULL };
	bool good = slope_program_lines(argv, &lines) == 0;
	const char *words = said(&lines);

	if (!good && !strncmp(words, UNKNOWN, strlen(UNKNOWN)))
		say_unknown(launcher, list, words);
	else if (!good)
		slope_say("--event=%s: %s", list, words);
	slope_list_fini(&lines);
	free(option);
	return good;
}
