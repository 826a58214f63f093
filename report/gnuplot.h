/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The picture of `slope show`, by gnuplot: a script with its data, and what
 * runs gnuplot on it. Worst, mean and best cost, the fitted curve, the nearest
 * usual orders above and below, and under the same x axis the calls per size.
 * Colours are of a set that colour-blind people can tell apart, and no two
 * series differ by colour alone.
 */
#ifndef SLOPE_REPORT_GNUPLOT_H
#define SLOPE_REPORT_GNUPLOT_H

#include "report/show.h"

enum slope_picture {
	SLOPE_PICTURE_SCRIPT,        /* the script itself; run by a person, it makes an SVG on standard output */
	SLOPE_PICTURE_SVG,
	SLOPE_PICTURE_PNG
};

#define SLOPE_GNUPLOT_PROGRAM "gnuplot"
#define SLOPE_GNUPLOT_ERROR 512u

/* By the ending of a file's name: .gp, .svg, .png. False: it has another one. */
bool slope_picture_by_name(const char *path, enum slope_picture *kind);

/* Writes the script. The curve must have points. False when memory runs out. */
bool slope_gnuplot_script(const struct slope_show *s, enum slope_picture kind, FILE *out);

/*
 * Makes the picture: gnuplot, found on PATH and without anybody's start-up
 * file, writes it to `fd`. False, with one sentence in `error`, when it is
 * missing or fails.
 */
bool slope_gnuplot_run(const struct slope_show *s, enum slope_picture kind, int fd, char error[SLOPE_GNUPLOT_ERROR]);

#endif
