/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * .debug_aranges is not used: clang and rustc leave it out. The units' own
 * ranges are there always, and reading one entry of each unit is fast.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "profile/elflines.h"

/* Scopes nest in namespaces and classes; a file that nests deeper is not worth our stack. */
#define SCOPE_DEPTH_MAX 64
#define INLINE_DEPTH_MAX 512u       /* blocks, too */

struct line_function {
	uint64_t start;
	Dwarf_Die die;
};

struct slope_line_unit {
	Dwarf_Die die;
	struct line_function *function;  /* sorted by start */
	size_t count, capacity;
	bool read;
};

struct slope_line_span {
	uint64_t start, end;
	size_t unit;
};

static bool grow(void **array, size_t *capacity, size_t count, size_t size)
{
	if (count < *capacity)
		return true;
	size_t more = *capacity ? *capacity * 2 : 16;
	void *bigger = realloc(*array, more * size);

	if (!bigger)
		return false;
	*array = bigger;
	*capacity = more;
	return true;
}

static int by_span(const void *a, const void *b)
{
	const struct slope_line_span *x = a, *y = b;

	return x->start != y->start ? (x->start > y->start ? 1 : -1) : (x->unit > y->unit) - (x->unit < y->unit);
}

static int by_function(const void *a, const void *b)
{
	const struct line_function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool add_unit(struct slope_lines *l, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;

	if (!grow((void **)&l->unit, &l->unit_capacity, l->unit_count, sizeof(*l->unit)))
		return false;
	l->unit[l->unit_count] = (struct slope_line_unit){ .die = *die };
	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
		if (!start)
			continue;       /* the linker has thrown this section away */
		if (!grow((void **)&l->span, &l->span_capacity, l->span_count, sizeof(*l->span)))
			return false;
		l->span[l->span_count++] = (struct slope_line_span){ start, end, l->unit_count };
	}
	l->unit_count++;
	return true;
}

bool slope_lines_open(struct slope_lines *l, struct slope_elf *e)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	*l = (struct slope_lines){ 0 };
	Dwarf *dwarf = dwfl_module_getdwarf(e->module, &l->bias);

	if (!dwarf)
		return true;
	while (!dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL)) {
		if (dwarf_tag(&die) == DW_TAG_compile_unit && !add_unit(l, &die)) {
			slope_lines_close(l);
			return false;
		}
	}
	if (l->span_count)
		qsort(l->span, l->span_count, sizeof(*l->span), by_span);
	return true;
}

void slope_lines_close(struct slope_lines *l)
{
	for (size_t i = 0; i < l->unit_count; i++)
		free(l->unit[i].function);
	free(l->unit);
	free(l->span);
	*l = (struct slope_lines){ 0 };
}

/* Without memory for it a function is found through the line table. */
static void note_function(struct slope_line_unit *u, Dwarf_Die *die)
{
	Dwarf_Addr start;

	if (dwarf_entrypc(die, &start) ||
	    !grow((void **)&u->function, &u->capacity, u->count, sizeof(*u->function)))
		return;
	u->function[u->count++] = (struct line_function){ start, *die };
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static void walk_scope(struct slope_line_unit *u, Dwarf_Die *scope, unsigned depth)
{
	Dwarf_Die die;

	if (depth > SCOPE_DEPTH_MAX || dwarf_child(scope, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			note_function(u, &die);
		if (is_scope(tag))
			walk_scope(u, &die, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

static void read_unit(struct slope_line_unit *u)
{
	u->read = true;
	walk_scope(u, &u->die, 0);
	if (u->count)
		qsort(u->function, u->count, sizeof(*u->function), by_function);
}

static struct slope_line_unit *unit_at(struct slope_lines *l, uint64_t address)
{
	size_t low = 0, high = l->span_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->span[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < l->span[low - 1].end ? &l->unit[l->span[low - 1].unit] : NULL;
}

static Dwarf_Die *function_at(struct slope_line_unit *u, uint64_t address)
{
	size_t low = 0, high = u->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (u->function[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < u->count && u->function[low].start == address ? &u->function[low].die : NULL;
}

static const char *declared_at(Dwarf_Die *die, uint32_t *line)
{
	const char *file = dwarf_decl_file(die);
	int number;

	if (!file || dwarf_decl_line(die, &number) || number <= 0)
		return NULL;
	*line = (uint32_t)number;
	return file;
}

static const char *line_table_at(Dwarf_Die *unit, uint64_t address, uint32_t *line)
{
	Dwarf_Line *row = dwarf_getsrc_die(unit, address);
	const char *file = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
	int number;

	if (!file || dwarf_lineno(row, &number) || number < 0)
		return NULL;
	*line = (uint32_t)number;
	return file;
}

/* Takes "." and ".." out of an absolute path, in place; as text, without looking at links. */
static void tidy(char *path)
{
	char *to = path, *from = path;

	while (*from) {
		size_t part = strcspn(from + 1, "/") + 1;     /* with its leading slash */

		if (part == 3 && from[1] == '.' && from[2] == '.') {
			while (to > path && *--to != '/')
				;
		} else if (part > 1 && !(part == 2 && from[1] == '.')) {
			memmove(to, from, part);
			to += part;
		}
		from += part;
	}
	*to = 0;
}

static char *absolute(Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute attribute;
	const char *directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));

	if (file[0] != '/' && (!directory || directory[0] != '/'))
		return strdup(file);
	size_t bytes = strlen(file) + (file[0] == '/' ? 0 : strlen(directory) + 1) + 1;
	char *path = malloc(bytes);

	if (!path)
		return NULL;
	if (file[0] == '/')
		memcpy(path, file, bytes);
	else
		snprintf(path, bytes, "%s/%s", directory, file);
	tidy(path);
	return path;
}

char *slope_lines_of_code(struct slope_lines *l, uint64_t address, uint32_t *line)
{
	struct slope_line_unit *u = unit_at(l, address - l->bias);
	const char *file = u ? line_table_at(&u->die, address - l->bias, line) : NULL;

	return file ? absolute(&u->die, file) : NULL;
}

/* The last row at or before the address; `rows` if there is none. */
static size_t row_at(Dwarf_Lines *table, size_t rows, uint64_t address)
{
	size_t low = 0, high = rows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		Dwarf_Addr at = 0;

		dwarf_lineaddr(dwarf_onesrcline(table, middle), &at);
		if (at <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : rows;
}

/* One row; rows that end a sequence, and those without a line, say nothing. */
static bool put_row(Dwarf_Die *unit, Dwarf_Line *row, bool (*put)(void *to, const char *file, uint32_t line), void *to)
{
	const char *file = dwarf_linesrc(row, NULL, NULL);
	bool ends = false;
	int line = 0;

	if (!file || dwarf_lineendsequence(row, &ends) || ends || dwarf_lineno(row, &line) || line <= 0)
		return true;
	char *path = absolute(unit, file);
	bool good = path && put(to, path, (uint32_t)line);

	free(path);
	return good;
}

bool slope_lines_each(struct slope_lines *l, uint64_t address, uint64_t bytes,
		      bool (*put)(void *to, const char *file, uint32_t line), void *to)
{
	uint64_t at = address - l->bias;
	struct slope_line_unit *u = unit_at(l, at);
	Dwarf_Lines *table;
	size_t rows;

	if (!u || dwarf_getsrclines(&u->die, &table, &rows))
		return true;
	for (size_t i = row_at(table, rows, at); i < rows; i++) {
		Dwarf_Line *row = dwarf_onesrcline(table, i);
		Dwarf_Addr start = 0;

		if (dwarf_lineaddr(row, &start) || (start > at && start - at >= bytes))
			break;
		if (!put_row(&u->die, row, put, to))
			return false;
	}
	return true;
}

/* ---- what was inlined ---- */

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 && value <= INT32_MAX ? (uint32_t)value : 0;
}

static const char *file_of_call(Dwarf_Die *unit, Dwarf_Die *die)
{
	Dwarf_Files *files;
	size_t count;
	uint32_t number = number_of(die, DW_AT_call_file);

	if (dwarf_getsrcfiles(unit, &files, &count) || number >= count)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

static bool put_inlined(Dwarf_Die *unit, Dwarf_Die *die, bool (*put)(void *to, const struct slope_inlined *f), void *to)
{
	const char *linked = text_of(die, DW_AT_linkage_name);
	struct slope_inlined f = { .name = linked ? linked : text_of(die, DW_AT_name) };
	Dwarf_Addr start = 0;

	if (!f.name)
		return true;
	f.file = declared_at(die, &f.line);
	f.call_file = file_of_call(unit, die);
	f.call_line = number_of(die, DW_AT_call_line);
	f.start = dwarf_entrypc(die, &start) ? 0 : start;
	return put(to, &f);
}

/* The function that has code at the address: mostly the last that begins before it. */
static Dwarf_Die *function_around(struct slope_line_unit *u, uint64_t address)
{
	size_t low = 0, high = u->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (u->function[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && dwarf_haspc(&u->function[low - 1].die, address) > 0)
		return &u->function[low - 1].die;
	for (size_t i = 0; i < u->count; i++)   /* a part that the compiler has put elsewhere */
		if (dwarf_haspc(&u->function[i].die, address) > 0)
			return &u->function[i].die;
	return NULL;
}

/* The child that has code at the address, a block or what was inlined; false: there is none. */
static bool child_around(Dwarf_Die *die, uint64_t address, Dwarf_Die *child)
{
	if (dwarf_child(die, child))
		return false;
	do {
		int tag = dwarf_tag(child);

		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
		     tag == DW_TAG_catch_block) && dwarf_haspc(child, address) > 0)
			return true;
	} while (!dwarf_siblingof(child, child));
	return false;
}

bool slope_lines_inlined(struct slope_lines *l, uint64_t address, bool (*put)(void *to, const struct slope_inlined *f), void *to)
{
	uint64_t at = address - l->bias;
	struct slope_line_unit *u = unit_at(l, at);

	if (!u)
		return true;
	if (!u->read)
		read_unit(u);
	Dwarf_Die *function = function_around(u, at), die, child;

	if (!function)
		return true;
	die = *function;
	for (unsigned depth = 0; depth < INLINE_DEPTH_MAX && child_around(&die, at, &child); depth++) {
		die = child;
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine && !put_inlined(&u->die, &die, put, to))
			return false;
	}
	return true;
}

char *slope_lines_absolute(struct slope_lines *l, uint64_t address, const char *file)
{
	struct slope_line_unit *u = unit_at(l, address - l->bias);

	return u && file ? absolute(&u->die, file) : NULL;
}

char *slope_lines_find(struct slope_lines *l, uint64_t address, uint32_t *line)
{
	struct slope_line_unit *u = unit_at(l, address - l->bias);

	if (!u)
		return NULL;
	if (!u->read)
		read_unit(u);
	Dwarf_Die *die = function_at(u, address - l->bias);
	const char *file = die ? declared_at(die, line) : NULL;

	if (!file)
		file = line_table_at(&u->die, address - l->bias, line);
	return file ? absolute(&u->die, file) : NULL;
}
