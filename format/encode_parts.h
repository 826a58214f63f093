/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the encoder share: values, room for records, tables. A
 * record begins with slope_put_record, which makes room for all of it; then its
 * values follow.
 */
#ifndef SLOPE_FORMAT_ENCODE_PARTS_H
#define SLOPE_FORMAT_ENCODE_PARTS_H

#include "format/encode.h"

#define SLOPE_NUMBER_ROOM 10u    /* bytes that a number takes at most */

void slope_put_byte(struct slope_encoder *e, unsigned value);
void slope_put(struct slope_encoder *e, uint64_t value);
void slope_put_signed(struct slope_encoder *e, int64_t value);

/* Makes room for one record of at most `bytes`. */
void slope_put_record(struct slope_encoder *e, enum slope_section section, size_t bytes);

/* A table whose head is the first `heads` of e->head; it is said again where the table goes on in another chunk. */
void slope_put_table(struct slope_encoder *e, enum slope_section section, unsigned heads);
/* Room for one row. */
void slope_put_table_row(struct slope_encoder *e);
void slope_put_table_end(struct slope_encoder *e);

#endif
