/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slope record --verify: one program under both exact sources. It sees the
 * same input, the same kind of output, the same environment and, as far as
 * the C library asks, the same processor. Where the profiles differ it runs a
 * second time under the translator, to tell what is not deterministic.
 */
#ifndef SLOPE_CLI_VERIFICATION_H
#define SLOPE_CLI_VERIFICATION_H

#include "cli/recording.h"

/* Prints what was found. 0: the sources agree; 1: they do not; otherwise as record, with a line said. */
int slope_verify(const struct slope_settings *s, char **program);

#endif
