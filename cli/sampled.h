/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `record --source=sampler` needs to know before it starts a program. */
#ifndef SLOPE_CLI_SAMPLED_H
#define SLOPE_CLI_SAMPLED_H

#include "cli/recording.h"

/* Samples per second that can be asked for. */
#define SLOPE_RATE_DEFAULT 1000u
#define SLOPE_RATE_MAX 20000u

/* Do the settings fit the sampler, or, with another source, do without it? If not, one line says why. */
bool slope_sampled_sensible(const struct slope_settings *s);

/* What keeps the sampler out of this file: one line without an end, which the caller frees; NULL: nothing. */
char *slope_sampled_obstacle(const char *file);

/* The settings as the sampler reads them: NAME=VALUE for the environment. `channel`: as below; NULL: none. */
void slope_sampled_environment(struct slope_list *environment, const struct slope_settings *s, const char *path, const char *channel);

/*
 * Makes r->live, by which `slope ctl` reaches the program, and lets the launcher
 * stop the measuring when --duration is over. False, with one line said, when the settings
 * cannot do without and it cannot be made.
 */
bool slope_sampled_channel(struct slope_recording *r, const struct slope_settings *s, struct slope_launcher *launcher,
			   char *const *program);

/* The file goes, unless processes of the program go on. */
void slope_sampled_channel_close(struct slope_recording *r);

/* Do the settings fit --attach? Then they are for the sampler. If not, one line says why. `program`: one was named. */
bool slope_sampled_attachable(struct slope_settings *s, bool program);

#endif
