/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patterns of --only, --skip and --toggle mean functions by the names that
 * reports show, and the translator knows symbols as they are in the file. So
 * the symbols of the program and of the libraries that it is linked with are
 * looked through before the start, and those whose C++, Rust or D name fits a
 * pattern are added to it as they are. Libraries that the program opens
 * itself, and programs that it starts, are not seen here.
 */
#ifndef SLOPE_CLI_MANGLED_H
#define SLOPE_CLI_MANGLED_H

#include "cli/list.h"

/* More than so many patterns the translator does not take. */
#define SLOPE_MANGLED_MOST 12000u

/*
 * Adds to each of the lists the symbols that its patterns mean in `file`, and
 * in what that is linked with. A line is said where there are too many. Files
 * that cannot be read are passed over. O(symbols * patterns).
 */
void slope_mangled_add(struct slope_list *const *lists, size_t count, const char *file);

#endif
