/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/reader.h"
#include "profile/build.h"
#include "profile/page.h"
#include "profile/unpack.h"

#define FIRST_BYTES 65536u       /* of a file; enough to see what it is */
#define GAPS_SAID 8u             /* further ones are only counted */

struct piece {
	enum slope_section section;
	const unsigned char *payload;
	size_t bytes;
};

/* All whole chunks of a file, found before any is decoded. */
struct pieces {
	struct piece *piece;
	size_t count, gaps;
	bool no_memory;
};

static bool say_gap(struct slope_profile *p, const struct slope_chunk *gap, size_t file_bytes)
{
	enum slope_section s = slope_section_of(gap->tag);
	const char *what = s == SLOPE_SECTION_COUNT ? "unknown contents" : slope_section_name(s);

	if (gap->end == file_bytes)
		return slope_build_problem(p, "cut off or damaged from byte %zu to the end at %zu (%s)",
					   gap->offset, gap->end, what);
	return slope_build_problem(p, "damaged from byte %zu to %zu (%s)", gap->offset, gap->end, what);
}

static void gather(struct pieces *all, struct slope_reader *r, struct slope_profile *p)
{
	struct slope_chunk chunk;
	enum slope_found found;

	while (!all->no_memory && (found = slope_reader_next(r, &chunk)) != SLOPE_FOUND_NOTHING) {
		enum slope_section section = slope_section_of(chunk.tag);
		void *array = all->piece;

		if (found == SLOPE_FOUND_GAP) {
			if (all->gaps++ < GAPS_SAID)
				all->no_memory = !say_gap(p, &chunk, r->count);
			continue;
		}
		if (section == SLOPE_SECTION_COUNT)
			continue;        /* of a later minor version */
		if (!slope_build_room(&array, all->count, sizeof *all->piece)) {
			all->no_memory = true;
			break;
		}
		all->piece = array;
		all->piece[all->count++] = (struct piece){ section, chunk.payload, chunk.payload_bytes };
	}
	if (all->gaps > GAPS_SAID && !slope_build_problem(p, "damaged in %zu more places", all->gaps - GAPS_SAID))
		all->no_memory = true;
}

/* Section by section, so that everything is known before it is referred to. */
static void unpack_all(struct slope_unpack *u, const struct pieces *all)
{
	for (unsigned s = 0; s < SLOPE_SECTION_COUNT; s++)
		for (size_t i = 0; i < all->count && !u->no_memory; i++)
			if (all->piece[i].section == s)
				slope_unpack_chunk(u, s, all->piece[i].payload, all->piece[i].bytes);
}

static bool say_header(enum slope_open open, const struct slope_reader *r, char *error, size_t error_bytes)
{
	switch (open) {
	case SLOPE_OPEN_SHORT:
		snprintf(error, error_bytes, "%s", r->count ? "cut off in its first bytes, nothing can be read: record again" :
			 "an empty file: record again");
		return false;
	case SLOPE_OPEN_FOREIGN:
		snprintf(error, error_bytes, "not a slope profile");
		return false;
	case SLOPE_OPEN_VERSION:
		snprintf(error, error_bytes, "a profile of format version %u.%u, but this slope reads %u: use the slope that "
			 "wrote it, or record again", r->major, r->minor, SLOPE_FORMAT_MAJOR);
		return false;
	case SLOPE_OPEN_FEATURES:
		snprintf(error, error_bytes, "a profile with features that this slope does not know: use a newer slope");
		return false;
	case SLOPE_OPEN_OK:
	case SLOPE_OPEN_DAMAGED:
		return true;
	}
	return false;
}

static struct slope_profile *decode_chunks(struct slope_unpack *u, struct slope_reader *r, bool header_damaged,
					   char *error, size_t error_bytes)
{
	struct pieces all = { 0 };
	struct slope_profile *p = NULL;

	if (header_damaged && !slope_build_problem(u->profile, "the header is damaged: read as format version %u.%u",
						   SLOPE_FORMAT_MAJOR, SLOPE_FORMAT_MINOR))
		all.no_memory = true;
	gather(&all, r, u->profile);
	if (!all.no_memory && all.count)
		unpack_all(u, &all);
	if (!all.no_memory && all.count)
		p = slope_unpack_end(u);
	free(all.piece);
	if (!p && !all.no_memory && !all.count)
		snprintf(error, error_bytes, "damaged or cut off: nothing in it can be read, record again");
	else if (!p)
		snprintf(error, error_bytes, "not enough memory to load it");
	return p;
}

struct slope_profile *slope_profile_decode(const void *bytes, size_t count, char *error, size_t error_bytes)
{
	struct slope_reader r;
	enum slope_open open = slope_reader_init(&r, bytes, count);
	struct slope_unpack u;
	struct slope_profile *p = NULL;

	if (!say_header(open, &r, error, error_bytes))
		return NULL;
	if (slope_unpack_init(&u))
		p = decode_chunks(&u, &r, open == SLOPE_OPEN_DAMAGED, error, error_bytes);
	else
		snprintf(error, error_bytes, "not enough memory to load it");
	slope_unpack_fini(&u);
	return p;
}

static bool is_foreign(const unsigned char *bytes, size_t count)
{
	struct slope_reader r;

	return slope_reader_init(&r, bytes, count) == SLOPE_OPEN_FOREIGN && !slope_page_begins(bytes, count);
}

/* The whole of a file or pipe, or the beginning of what is no profile: a device has no end. False with errno set. */
static bool read_all(int fd, unsigned char **bytes, size_t *count)
{
	struct stat st;
	size_t capacity = FIRST_BYTES;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		capacity = (size_t)st.st_size + 1;       /* one more, so that the end is seen without growing */
	*bytes = malloc(capacity);
	*count = 0;
	while (*bytes) {
		size_t room = capacity - *count;
		ssize_t got = read(fd, *bytes + *count, !*count && room > FIRST_BYTES ? FIRST_BYTES : room);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		*count += (size_t)got;
		if ((*count == (size_t)got || *count == capacity) && is_foreign(*bytes, *count))
			return true;
		if (*count == capacity) {
			void *more = realloc(*bytes, capacity *= 2);

			if (!more)
				return false;
			*bytes = more;
		}
	}
	return false;
}

/* The profile inside a page in place of the page; anything else stays. False and a sentence in `error`. */
static bool open_page(unsigned char **bytes, size_t *count, char *error, size_t error_bytes)
{
	if (!slope_page_begins(*bytes, *count) || *count < sizeof SLOPE_PAGE_START)
		return true;
	unsigned char *inside = slope_page_profile(*bytes, *count, count, error, error_bytes);

	free(*bytes);
	*bytes = inside;
	return inside;
}

struct slope_profile *slope_profile_load(const char *path, char *error, size_t error_bytes)
{
	unsigned char *bytes = NULL;
	size_t count = 0;
	struct slope_profile *p = NULL;
	char why[256] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || !read_all(fd, &bytes, &count)) {
		snprintf(error, error_bytes, "cannot read %s: %s", path, strerror(errno));
		goto close_fd;
	}
	if (open_page(&bytes, &count, why, sizeof why))
		p = slope_profile_decode(bytes, count, why, sizeof why);
	if (!p)
		snprintf(error, error_bytes, "%s: %s", path, why);
close_fd:
	free(bytes);
	if (fd >= 0)
		close(fd);
	return p;
}
