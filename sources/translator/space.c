/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/space.h"

#include <linux/errno.h>
#include <linux/mman.h>
#include <linux/shm.h>

#include "sources/translator/locking.h"
#include "sources/translator/plan.h"
#include "sources/translator/system.h"

#define NEAR_MAX_BYTES (UINT64_C(256) << 20)     /* larger files lie with the data */
#define NEAR_ASKED_BYTES (UINT64_C(640) << 20)   /* a compiler's own code, say, that is to lie near the program */
#define PATH_BYTES 4096
#define HALF_BYTES (UINT64_C(1) << 47)           /* of addresses are all that any program has */
#define HUGE_BYTES (UINT64_C(2) << 20)           /* a large page, as programs and folders of the kernel have them */

/* What is done about a page: a number of writes that were seen, and in its lowest bits one of these. */
#define WATCHED 1u                               /* really without PROT_WRITE */
#define DOUBTED 2u
#define ACTIONS 3u
#define ONE_WRITE (ACTIONS + 1)
#define WRITES_MAX 1000u                         /* then the page is doubted instead */

void space_init(struct space *s, uint64_t window_bytes, struct lock *lock)
{
	*s = (struct space){
		.window = window_bytes, .far_end = window_bytes - 2 * PLAN_STACK_MAX_BYTES,
		.break_end = PLAN_BREAK, .lock = lock,
	};
	slope_arena_init(&s->arena, &system_host);
	slope_map_init(&s->watched, &s->arena);
}

/* Position of the first region that ends behind the address. */
static size_t first_behind(const struct space *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->region[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct space_region *space_at(struct space *s, uint64_t address)
{
	size_t i = s->recent;

	if (i < s->count && address - s->region[i].start < s->region[i].end - s->region[i].start)
		return &s->region[i];
	i = first_behind(s, address);
	if (i == s->count || s->region[i].start > address)
		return NULL;
	s->recent = i;
	return &s->region[i];
}

static bool insert(struct space *s, size_t at, struct space_region region)
{
	if (!slope_arena_grow(&s->arena, (void **)&s->region, &s->capacity, s->count + 1, sizeof *s->region))
		return false;
	for (size_t i = s->count++; i > at; i--)
		s->region[i] = s->region[i - 1];
	s->region[at] = region;
	s->changes++;
	return true;
}

/* Makes `address` a border between regions. */
static void split(struct space *s, uint64_t address)
{
	size_t i = first_behind(s, address);

	if (i == s->count || s->region[i].start >= address)
		return;
	struct space_region upper = s->region[i];

	upper.offset += address - upper.start;
	upper.start = address;
	if (insert(s, i + 1, upper))
		s->region[i].end = address;
}

void space_remove(struct space *s, uint64_t start, uint64_t bytes)
{
	split(s, start);
	split(s, start + bytes);
	size_t first = first_behind(s, start), last = first;

	while (last < s->count && s->region[last].start < start + bytes)
		last++;
	for (size_t i = last; i < s->count; i++)
		s->region[first + i - last] = s->region[i];
	s->count -= last - first;
	s->changes++;
}

/* The pages have been mapped or protected anew. */
static void forget_watched(struct space *s, uint64_t start, uint64_t bytes)
{
	for (size_t i = 0; i < s->watched.capacity; i++) {
		struct slope_map_entry *e = &s->watched.entry[i];

		if (!e->used || e->key * SLOPE_PAGE_BYTES - start >= bytes)
			continue;
		s->watching -= e->value & WATCHED;
		e->value = 0;
	}
}

bool space_add(struct space *s, const struct space_region *region)
{
	size_t at;

	s->doubting |= region->shared && region->prot & PROT_EXEC;
	space_remove(s, region->start, region->end - region->start);
	forget_watched(s, region->start, region->end - region->start);
	at = first_behind(s, region->start);
	/* Neighbours of one kind become one: heaps grow in small steps. */
	struct space_region *below = at ? &s->region[at - 1] : NULL;

	if (below && !region->path && below->end == region->start && !below->path && below->prot == region->prot && !below->code &&
	    below->shared == region->shared) {
		below->end = region->end;
		s->changes++;
		return true;
	}
	return insert(s, at, *region);
}

bool space_any(struct space *s, uint64_t start, uint64_t bytes)
{
	size_t i = first_behind(s, start);

	return i < s->count && s->region[i].start < start + bytes;
}

bool space_has_code(struct space *s, uint64_t start, uint64_t bytes)
{
	for (size_t i = first_behind(s, start); i < s->count && s->region[i].start < start + bytes; i++)
		if (s->region[i].code)
			return true;
	return false;
}

bool space_allows(struct space *s, uint64_t start, uint64_t bytes, int prot)
{
	uint64_t at = start;

	if (start + bytes < start)
		return false;
	lock_take(s->lock);
	for (size_t i = first_behind(s, start); i < s->count && at < start + bytes; i++) {
		if (s->region[i].start > at || (s->region[i].prot & prot) != prot)
			break;
		at = s->region[i].end;
	}
	lock_give(s->lock);
	return at >= start + bytes;
}

/* The lowest gap of this size in [from, high); 0: there is none. */
static uint64_t gap_from(const struct space *s, uint64_t from, uint64_t high, uint64_t bytes)
{
	for (size_t i = first_behind(s, from); from + bytes <= high; i++) {
		if (i == s->count || s->region[i].start >= from + bytes)
			return from;
		from = s->region[i].end;
	}
	return 0;
}

/* The lowest one: what is unmapped and mapped again comes to the same place, as natively. */
static uint64_t find_gap(const struct space *s, bool near, uint64_t bytes)
{
	return near ? gap_from(s, PLAN_NEAR, PLAN_CACHE, bytes) : gap_from(s, PLAN_FAR, s->far_end, bytes);
}

static void protect_page(uint64_t page, int prot)
{
	system_call(__NR_mprotect, (long)(page * SLOPE_PAGE_BYTES), SLOPE_PAGE_BYTES, prot, 0, 0, 0);
}

bool space_watch(struct space *s, const struct space_region *region, uint64_t address)
{
	uint64_t page = address / SLOPE_PAGE_BYTES;
	bool fresh;
	uint64_t *watched = slope_map_put(&s->watched, page, &fresh);

	if (!watched)
		return false;
	if (*watched & ACTIONS)
		return true;
	protect_page(page, region->prot & ~PROT_WRITE);
	*watched |= WATCHED;
	s->watching++;
	return true;
}

/* The page is writable again, if it was watched. */
static uint64_t *unwatch(struct space *s, uint64_t page)
{
	const struct space_region *region = space_at(s, page * SLOPE_PAGE_BYTES);
	uint64_t *watched = slope_map_get(&s->watched, page);

	if (!region || !watched || !(*watched & WATCHED))
		return NULL;
	protect_page(page, region->prot);
	*watched -= WATCHED;
	s->watching--;
	return watched;
}

bool space_watches(struct space *s, uint64_t address)
{
	const uint64_t *watched = slope_map_get(&s->watched, address / SLOPE_PAGE_BYTES);

	return watched && *watched & WATCHED;
}

void space_unwatch(struct space *s, uint64_t address)
{
	uint64_t *watched = unwatch(s, address / SLOPE_PAGE_BYTES);

	if (!watched)
		return;
	*watched += ONE_WRITE;
	if (*watched > WRITES_MAX * ONE_WRITE)
		space_doubt(s, address);
}

enum space_doubt space_doubts(struct space *s, uint64_t address)
{
	const struct space_region *region;
	const uint64_t *watched;

	if (!s->doubting)
		return SPACE_CERTAIN;
	watched = slope_map_get(&s->watched, address / SLOPE_PAGE_BYTES);
	if (watched && *watched & DOUBTED)
		return SPACE_RESTLESS;
	region = space_at(s, address);
	return region && region->shared ? SPACE_SHARED : SPACE_CERTAIN;
}

void space_doubt(struct space *s, uint64_t address)
{
	uint64_t *watched = slope_map_get(&s->watched, address / SLOPE_PAGE_BYTES);

	unwatch(s, address / SLOPE_PAGE_BYTES);
	if (watched)
		*watched |= DOUBTED;
	s->doubting = true;
}

void space_unwatch_all(struct space *s, uint64_t start, uint64_t bytes)
{
	for (size_t i = 0; s->watching && i < s->watched.capacity; i++) {
		const struct slope_map_entry *e = &s->watched.entry[i];

		if (e->used && e->value & WATCHED && e->key * SLOPE_PAGE_BYTES - start < bytes)
			unwatch(s, e->key);
	}
}

/* Room for a mapping that may be placed anywhere. */
static uint64_t place(struct space *s, uint64_t hint, uint64_t bytes, int prot, int flags, int fd)
{
	bool near = flags & MAP_32BIT || ((fd >= 0 || prot & PROT_EXEC) && bytes <= NEAR_MAX_BYTES) ||
		    (hint && hint < PLAN_CACHE && bytes <= NEAR_ASKED_BYTES);
	uint64_t at = 0;

	if (hint >= PLAN_NEAR && hint % SLOPE_PAGE_BYTES == 0 && !(hint >= PLAN_CACHE && hint < PLAN_BREAK_END) &&
	    hint + bytes <= (hint < PLAN_CACHE ? PLAN_CACHE : s->far_end))
		at = gap_from(s, hint, hint + bytes, bytes);
	if (!at && near)
		at = find_gap(s, true, bytes);
	if (!at && !(flags & MAP_32BIT))
		at = find_gap(s, false, bytes);
	return at;
}

static bool is_ours(const struct space *s, uint64_t address, uint64_t bytes)
{
	return address + bytes > s->window || address + bytes < address ||
	       (address < PLAN_SELF_END && address + bytes > PLAN_CACHE);
}

/* The path behind a descriptor, kept for good. */
static const char *path_of(struct space *s, int fd)
{
	char link[64] = "/proc/self/fd/", path[PATH_BYTES];
	struct system_digits digits;
	size_t n = slope_length(link);

	system_append(link, n, sizeof link, system_number(&digits, (uint64_t)fd, 10));
	long length = system_call(__NR_readlink, (long)link, (long)path, sizeof path - 1, 0, 0, 0);

	if (length <= 0)
		return NULL;
	char *copy = slope_arena_alloc(&s->arena, (size_t)length + 1);

	if (copy)
		slope_copy(copy, path, (size_t)length);
	return copy;
}

static void say_no_room(void)
{
	static bool said;

	if (!said)
		system_say("the program wants memory at an address that is not to be had under the translator", NULL);
	said = true;
}

/* Not to be had in this window; natively it might have been. */
static long refuse(struct space *s, uint64_t bytes)
{
	if (bytes > s->refused && bytes <= HALF_BYTES)
		s->refused = bytes;
	return -ENOMEM;
}

void space_say_refused(const struct space *s)
{
	struct system_digits gigabytes, digits;
	unsigned log2 = 64 - (unsigned)__builtin_clzll(s->window);

	while (log2 < PLAN_WINDOW_LOG2_MAX && UINT64_C(1) << (log2 - 1) < s->refused)
		log2++;
	if (s->refused && log2 <= PLAN_WINDOW_LOG2_MAX && UINT64_C(1) << (log2 - 1) >= s->refused)
		system_say("the program asked for ", system_number(&gigabytes, s->refused >> 30, 10),
			   " GB of addresses at once, which it cannot have here; if that is why it failed, record it with --window=",
			   system_number(&digits, log2, 10), NULL);
}

long space_mmap(struct space *s, uint64_t address, uint64_t bytes, int prot, int flags, int fd, uint64_t offset)
{
	uint64_t whole = slope_page_round(bytes);
	bool fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);

	if (flags & MAP_ANONYMOUS)
		fd = -1;
	if (flags & MAP_HUGETLB)
		whole = (whole + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
	if (!whole || whole > s->window)
		return whole ? refuse(s, whole) : -EINVAL;
	if (fixed && (is_ours(s, address, whole) || address < PLAN_LOWEST)) {
		if (flags & MAP_FIXED)
			say_no_room();
		return flags & MAP_FIXED ? -ENOMEM : -EEXIST;
	}
	if (!fixed)
		address = place(s, address, whole, prot, flags, fd);
	if (!address)
		return flags & MAP_32BIT ? -ENOMEM : refuse(s, whole);
	flags &= ~(MAP_32BIT | MAP_GROWSDOWN);
	if (!(flags & MAP_FIXED_NOREPLACE))
		flags |= MAP_FIXED;
	long got = system_call(__NR_mmap, (long)address, (long)bytes, prot, flags, fd, (long)offset);

	/* Large pages, by a flag or from a file of them, begin at multiples of their size, and there is nothing between two of them. */
	if (got == -EINVAL && !fixed && address % HUGE_BYTES) {
		whole = (whole + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
		address = (place(s, 0, whole + HUGE_BYTES, prot, flags & ~MAP_32BIT, fd) + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
		got = address ? system_call(__NR_mmap, (long)address, (long)bytes, prot, flags, fd, (long)offset) : -ENOMEM;
	}
	if (!system_failed(got) && !space_add(s, &(struct space_region){
		    .start = address, .end = address + whole, .prot = prot, .shared = flags & MAP_SHARED,
		    .path = fd >= 0 ? path_of(s, fd) : NULL, .offset = offset,
	    }))
		system_stop("no memory for the map of the program's memory", NULL);
	return got;
}

long space_munmap(struct space *s, uint64_t address, uint64_t bytes)
{
	if (address % SLOPE_PAGE_BYTES || is_ours(s, address, bytes))
		return -EINVAL;
	long result = system_call(__NR_munmap, (long)address, (long)bytes, 0, 0, 0, 0);

	if (result)
		return result;
	space_remove(s, address, slope_page_round(bytes));
	forget_watched(s, address, slope_page_round(bytes));
	return 0;
}

long space_mprotect(struct space *s, uint64_t address, uint64_t bytes, int prot)
{
	const struct space_region *around = prot & PROT_GROWSDOWN ? space_at(s, address) : NULL;

	/* The kernel goes down to where a stack begins; it does not know that ours is one. */
	if (around) {
		bytes += address - around->start;
		address = around->start;
	}
	prot &= ~PROT_GROWSDOWN;
	uint64_t whole = slope_page_round(bytes);

	if (is_ours(s, address, whole))
		return -ENOMEM;
	long result = system_call(__NR_mprotect, (long)address, (long)bytes, prot, 0, 0, 0);

	if (result)
		return result;
	split(s, address);
	split(s, address + whole);
	s->changes++;
	for (size_t i = first_behind(s, address); i < s->count && s->region[i].start < address + whole; i++) {
		s->region[i].prot = prot & (PROT_READ | PROT_WRITE | PROT_EXEC);
		s->region[i].code = false;
		s->doubting |= s->region[i].shared && prot & PROT_EXEC;
	}
	forget_watched(s, address, whole);
	return 0;
}

long space_mremap(struct space *s, uint64_t address, uint64_t old_bytes, uint64_t bytes, int flags, uint64_t new_address)
{
	struct space_region *old = space_at(s, address);
	uint64_t whole = slope_page_round(bytes), old_whole = slope_page_round(old_bytes), to = address;

	if (!old || !whole || is_ours(s, address, old_whole))
		return -EFAULT;
	struct space_region region = *old;

	if (flags & MREMAP_FIXED) {
		if (is_ours(s, new_address, whole) || new_address < PLAN_LOWEST)
			return -ENOMEM;
		to = new_address;
	} else if (whole > old_whole && gap_from(s, address + old_whole, address + whole, whole - old_whole) != address + old_whole) {
		if (!(flags & MREMAP_MAYMOVE))
			return -ENOMEM;
		to = place(s, 0, whole, region.prot, 0, region.path ? 0 : -1);
		if (!to)
			return -ENOMEM;
	}
	if (to != address)
		flags |= MREMAP_FIXED | MREMAP_MAYMOVE;
	space_unwatch_all(s, address, old_whole);
	long got = system_call(__NR_mremap, (long)address, (long)old_bytes, (long)bytes, flags, (long)to, 0);

	if (system_failed(got))
		return got;
	if (!(flags & MREMAP_DONTUNMAP))
		space_remove(s, address, old_whole);
	region.offset += address - region.start;
	region.start = to;
	region.end = to + whole;
	region.code = false;
	if (!space_add(s, &region))
		system_stop("no memory for the map of the program's memory", NULL);
	return got;
}

long space_brk(struct space *s, uint64_t end)
{
	uint64_t have = slope_page_round(s->break_end), want = slope_page_round(end);

	if (end < PLAN_BREAK || end > PLAN_BREAK_END)
		return (long)s->break_end;
	if (want > have) {
		if (system_failed(space_mmap(s, have, want - have, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)))
			return (long)s->break_end;
	} else if (want < have) {
		space_munmap(s, want, have - want);
	}
	s->break_end = end;
	return (long)end;
}

void space_deepen_stack(struct space *s, uint64_t start)
{
	const struct space_region *lowest = space_at(s, s->stack);

	if (start >= s->stack || start < s->far_end || !lowest || lowest->start != s->stack || !(lowest->prot & PROT_WRITE) ||
	    system_failed(space_mmap(s, start, s->stack - start, lowest->prot,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0)))
		return;
	/* One region, as the kernel would have it: who asks where the stack ends looks for that. */
	space_remove(s, start, s->stack - start);
	space_at(s, s->stack)->start = start;
	s->stack = start;
}

/* The key makes its name, as in /proc/self/maps; each attachment has one of its own, by which its pages are known. */
static const char *attachment_name(struct space *s, uint64_t key)
{
	char name[] = "/SYSV00000000 (deleted)", *copy = slope_arena_alloc(&s->arena, sizeof name);
	size_t digit = 13;

	for (; key; key >>= 4)
		name[--digit] = "0123456789abcdef"[key & 15];
	if (copy)
		slope_copy(copy, name, sizeof name);
	return copy;
}

long space_attach(struct space *s, int id, uint64_t address, int flags)
{
	struct shmid64_ds facts;
	int prot = PROT_READ | (flags & SHM_RDONLY ? 0 : PROT_WRITE) | (flags & SHM_EXEC ? PROT_EXEC : 0);
	long got = system_call(__NR_shmctl, id, IPC_STAT, (long)&facts, 0, 0, 0);

	if (system_failed(got))
		return got;
	uint64_t whole = slope_page_round(facts.shm_segsz);

	if (flags & SHM_RND)
		address &= ~(uint64_t)(SLOPE_PAGE_BYTES - 1);
	if (address ? is_ours(s, address, whole) || address < PLAN_LOWEST : flags & SHM_REMAP)
		return -EINVAL;
	if (!address)
		address = whole < s->window ? place(s, 0, whole, prot, MAP_SHARED, -1) : 0;
	if (!address)
		return -ENOMEM;
	got = system_call(__NR_shmat, id, (long)address, flags, 0, 0, 0);
	if (!system_failed(got) && !space_add(s, &(struct space_region){
		    .start = address, .end = address + whole, .prot = prot, .shared = true,
		    .path = attachment_name(s, (uint32_t)facts.shm_perm.key),
	    }))
		system_stop("no memory for the map of the program's memory", NULL);
	return got;
}

uint64_t space_attached(const struct space *s, uint64_t address)
{
	size_t i = first_behind(s, address);
	uint64_t end = address;

	if (i == s->count || s->region[i].start != address || !s->region[i].path)
		return 0;
	for (const char *path = s->region[i].path; i < s->count && s->region[i].path == path; i++)
		if (s->region[i].offset == s->region[i].start - address)
			end = s->region[i].end;
	return end - address;
}

long space_detach(struct space *s, uint64_t address)
{
	uint64_t bytes = space_attached(s, address);
	long result = system_call(__NR_shmdt, (long)address, 0, 0, 0, 0, 0);

	if (system_failed(result))
		return result;
	space_remove(s, address, bytes);
	forget_watched(s, address, bytes);
	return 0;
}
