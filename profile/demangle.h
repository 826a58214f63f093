/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names as people write them: C++ (Itanium), Rust (legacy and v0) and D.
 */
#ifndef SLOPE_PROFILE_DEMANGLE_H
#define SLOPE_PROFILE_DEMANGLE_H

/*
 * The name to show for a symbol: demangled with its parameters. Left out are
 * the type that a template returns (so that a name begins with the name), a
 * Rust hash, and the default version of a library's symbol ("@@GLIBC_2.14"). A
 * name in no known scheme stays as it is. To be given to free(); NULL only when
 * memory runs out.
 */
char *slope_demangle(const char *symbol);

#endif
