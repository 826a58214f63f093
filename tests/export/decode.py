# SPDX-License-Identifier: GPL-3.0-or-later
"""Decodes pprof's profile.proto, knowing of slope's writer nothing but the published numbers of the fields.

A message becomes a dictionary of lists. A field that is not in the tables, a wire type that does not fit, a text that
is no UTF-8, or bytes left over are errors.
"""

import gzip

TYPE = {1: ("type", int), 2: ("unit", int)}
LABEL = {1: ("key", int), 2: ("str", int), 3: ("num", int), 4: ("num_unit", int)}
SAMPLE = {1: ("location_id", [int]), 2: ("value", [int]), 3: ("label", LABEL)}
MAPPING = {1: ("id", int), 2: ("memory_start", int), 3: ("memory_limit", int), 4: ("file_offset", int),
           5: ("filename", int), 6: ("build_id", int), 7: ("has_functions", int), 8: ("has_filenames", int),
           9: ("has_line_numbers", int)}
LINE = {1: ("function_id", int), 2: ("line", int)}
LOCATION = {1: ("id", int), 2: ("mapping_id", int), 3: ("address", int), 4: ("line", LINE)}
FUNCTION = {1: ("id", int), 2: ("name", int), 3: ("system_name", int), 4: ("filename", int), 5: ("start_line", int)}
PROFILE = {1: ("sample_type", TYPE), 2: ("sample", SAMPLE), 3: ("mapping", MAPPING), 4: ("location", LOCATION),
           5: ("function", FUNCTION), 6: ("string_table", str), 11: ("period_type", TYPE), 12: ("period", int),
           13: ("comment", int), 14: ("default_sample_type", int)}


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return number, at
        if shift >= 70:
            raise ValueError("a number of more than ten bytes")


def message(data, fields):
    found = {name: [] for name, kind in fields.values()}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = fields[tag >> 3]
        if tag & 7 == 0 and kind is int:
            number, at = varint(data, at)
            found[name].append(number)
            continue
        if tag & 7 != 2 or kind is int:
            raise ValueError(f"{name} has wire type {tag & 7}")
        length, at = varint(data, at)
        part, at = data[at:at + length], at + length
        if at > len(data):
            raise ValueError(f"{name} is cut off")
        if kind is str:
            found[name].append(part.decode("utf-8"))
        elif kind == [int]:
            inner = 0
            while inner < len(part):
                number, inner = varint(part, inner)
                found[name].append(number)
        else:
            found[name].append(message(part, kind))
    return found


def one(entry, field):
    """A field that may be there once; 0 where it is not."""
    if len(entry[field]) > 1:
        raise ValueError(f"{field} is there {len(entry[field])} times")
    return entry[field][0] if entry[field] else 0


def profile(path):
    with gzip.open(path) as file:
        return message(file.read(), PROFILE)
