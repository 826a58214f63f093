/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stack that is large enough for slope itself. libdw keeps tables of lines on
 * it, 100 KB and more; who gives programs less than that (ulimit -s) still
 * wants to know what they do. The limit stays as it is: it is the program's, too.
 */
#ifndef SLOPE_CLI_ROOMYSTACK_H
#define SLOPE_CLI_ROOMYSTACK_H

/* What `verb` returns; on a stack of its own where this process may have but a small one. */
int slope_roomystack_run(int (*verb)(int argc, char **argv), int argc, char **argv);

#endif
