/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which processors share a core: measured, since a virtual machine often calls
 * each of them a core of its own. Two loops of independent additions, which
 * alone fill most of what a core can do in a cycle, are slower on two
 * processors of one core.
 */
#ifndef SLOPE_BENCH_CORES_H
#define SLOPE_BENCH_CORES_H

/*
 * From now on this process and its children run on one processor of each core.
 * How many that are; -1: the system refused, see errno. Up to a second per
 * pair of processors where neighbours disturb, mostly milliseconds.
 */
long cores_keep_one_each(void);

#endif
