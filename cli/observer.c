/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/observer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/messages.h"
#include "cli/program.h"
#include "cli/sampled.h"

#define LINE_BYTES 512u
#define STATUS_FOR_NOBODY 71     /* of slope-translator --check: Valgrind cannot run it either */

/* The translator's own lines end with the advice to take Valgrind; here that is somebody else's to give. */
static void cut_advice(char *line)
{
	char *advice = strstr(line, "--source=valgrind");

	while (advice && advice > line && *advice != ',' && *advice != ';')
		advice--;
	if (advice && advice > line)
		*advice = '\0';
}

/* `*nobody`: it is in Valgrind's way, too. */
static char *obstacle_to(const struct slope_launcher *launcher, const char *file, uint64_t cell_bytes, bool *nobody)
{
	char line[LINE_BYTES], cell[32];
	char *argv[] = { launcher->translator, "--check", cell, "--", (char *)(file ? file : SLOPE_SMALLEST_PROGRAM), NULL };

	if (!launcher->translator)
		return slope_text("slope-translator is missing %s; build it with 'make' where libzydis-dev is installed",
				  getenv("SLOPE_LIBEXEC") ? "in SLOPE_LIBEXEC" : "beside the slope command");
	snprintf(cell, sizeof cell, "--cell=%llu", (unsigned long long)cell_bytes);
	int status = slope_program_ask(argv, line, sizeof line);

	if (status == 0)
		return NULL;
	*nobody = WIFEXITED(status) && WEXITSTATUS(status) == STATUS_FOR_NOBODY;
	if (!*nobody)
		cut_advice(line);
	return *line ? slope_text("%s", strncmp(line, "slope: ", 7) ? line : line + 7)
		     : slope_text("%s does not start (wait status %d)", launcher->translator, status);
}

char *slope_observer_obstacle(const struct slope_launcher *launcher, const char *file, uint64_t cell_bytes)
{
	bool nobody = false;

	return obstacle_to(launcher, file, cell_bytes, &nobody);
}

static bool choose_sampler(struct slope_launcher *launcher, const char *file)
{
	if (!launcher->sampler) {
		slope_say("--source=sampler: slope-sampler.so is missing %s; build it with 'make', for x86-64 and glibc 2.35 or later",
			  getenv("SLOPE_LIBEXEC") ? "in SLOPE_LIBEXEC" : "beside the slope command");
		return false;
	}
	char *obstacle = slope_sampled_obstacle(file);

	if (obstacle)
		slope_say("--source=sampler: %s cannot be sampled: %s", file, obstacle);
	launcher->sampled = !obstacle;
	free(obstacle);
	return launcher->sampled;
}

bool slope_observer_choose(struct slope_launcher *launcher, enum slope_source wanted, const char *file, uint64_t cell_bytes)
{
	bool asked = wanted == SLOPE_SOURCE_TRANSLATOR;
	bool preferred = wanted == SLOPE_SOURCE_ANY && SLOPE_SOURCE_PREFERRED == SLOPE_SOURCE_TRANSLATOR;

	launcher->translated = launcher->sampled = false;
	if (wanted == SLOPE_SOURCE_SAMPLER)
		return choose_sampler(launcher, file);
	if (!asked && !(preferred && launcher->translator))
		return true;
	bool nobody = false;
	char *obstacle = obstacle_to(launcher, file, cell_bytes, &nobody);

	launcher->translated = !obstacle;
	if (nobody)
		slope_say("%s", obstacle);
	else if (obstacle && asked)
		slope_say("--source=translator: %s; use --source=valgrind", obstacle);
	else if (obstacle)
		slope_say("Valgrind observes this run, since the translator cannot: %s", obstacle);
	free(obstacle);
	return launcher->translated || (!asked && !nobody);
}
