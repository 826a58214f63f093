/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's first stack: arguments, environment and the auxiliary vector.
 * The vector is our own with the program's addresses; there is no vdso in it,
 * so that clocks are plain system calls.
 *
 * Everything lies as Valgrind lays it out, relative to the end of a page:
 * what string functions cost depends on how texts and buffers on the stack
 * are aligned, and both sources are to see the same.
 */
#include "sources/translator/runtime.h"

#include <elf.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/resource.h>

#define TEXTS_MAX_BYTES (6ul << 20)
#define SYSINFO_EHDR 33
#define RSEQ_FEATURE_SIZE 27
#define RSEQ_ALIGN 28
#define RANDOM_BYTES 16u

/* So much the kernel would let it grow to. */
static uint64_t stack_bytes(void)
{
	struct rlimit limit = { 0, 0 };

	system_call(__NR_getrlimit, RLIMIT_STACK, (long)&limit, 0, 0, 0, 0);
	if (limit.rlim_cur < PLAN_STACK_DEFAULT_BYTES)
		return PLAN_STACK_DEFAULT_BYTES;
	return limit.rlim_cur > PLAN_STACK_MAX_BYTES ? PLAN_STACK_MAX_BYTES : slope_page_round(limit.rlim_cur);
}

void startstack_follow_limit(void)
{
	lock_take(&runtime.lock);
	space_deepen_stack(&runtime.space, runtime.space.window - SLOPE_PAGE_BYTES - stack_bytes());
	lock_give(&runtime.lock);
}

static const Elf64_auxv_t *own_auxv(const uint64_t *own)
{
	const uint64_t *at = own + 1 + own[0] + 1;

	while (*at)
		at++;
	return (const Elf64_auxv_t *)(at + 1);
}

/* Bytes of what the vector points to; `entries` becomes its length, with the end. */
static size_t aux_texts(const Elf64_auxv_t *from, size_t *entries)
{
	size_t bytes = slope_length(runtime.program) + 1;

	for (*entries = 1; from->a_type != AT_NULL; from++, ++*entries) {
		if (from->a_type == AT_RANDOM)
			bytes += RANDOM_BYTES;
		else if (from->a_type == AT_PLATFORM)
			bytes += slope_length((const char *)from->a_un.a_val) + 1;
	}
	return bytes;
}

static uint64_t copy_bytes(char **at, const void *from, size_t bytes)
{
	char *to = *at;

	slope_copy(to, from, bytes);
	*at += bytes;
	return (uint64_t)to;
}

/* Entries that are not for the program stay as AT_IGNORE. */
static void copy_auxv(char **at, Elf64_auxv_t *to, const Elf64_auxv_t *from, const struct image *image,
		      const struct image *interpreter)
{
	for (; from->a_type != AT_NULL; from++, to++) {
		*to = *from;
		switch (from->a_type) {
		case SYSINFO_EHDR:
		case RSEQ_FEATURE_SIZE:
		case RSEQ_ALIGN:
			to->a_type = AT_IGNORE;
			break;
		case AT_PHDR:
			to->a_un.a_val = image->headers;
			break;
		case AT_PHNUM:
			to->a_un.a_val = image->header_count;
			break;
		case AT_ENTRY:
			to->a_un.a_val = image->entry;
			break;
		case AT_BASE:
			to->a_un.a_val = interpreter ? interpreter->base : 0;
			break;
		case AT_RANDOM:
			to->a_un.a_val = copy_bytes(at, (const void *)from->a_un.a_val, RANDOM_BYTES);
			break;
		case AT_PLATFORM:
			to->a_un.a_val = copy_bytes(at, (const void *)from->a_un.a_val, slope_length((const char *)from->a_un.a_val) + 1);
			break;
		case AT_EXECFN:
			runtime.program_on_stack = *at;
			to->a_un.a_val = copy_bytes(at, runtime.program, slope_length(runtime.program) + 1);
			break;
		default:
			break;
		}
	}
	*to = *from;
}

static size_t count_texts(char **texts, size_t *bytes)
{
	size_t n = 0;

	for (; texts[n]; n++)
		*bytes += slope_length(texts[n]) + 1;
	return n;
}

/* The texts one behind the other, as the kernel has them: programs that rename themselves count on it. */
static uint64_t *copy_texts(char **at, uint64_t *to, char **texts)
{
	for (; *texts; texts++) {
		size_t bytes = slope_length(*texts) + 1;

		slope_copy(*at, *texts, bytes);
		*to++ = (uint64_t)*at;
		*at += bytes;
	}
	*to++ = 0;
	return to;
}

/*
 * /proc/PID/cmdline, environ and auxv show the program's, to itself and to
 * others. Where the kernel does not allow it they show ours.
 */
static void show_texts(uint64_t sp, const char *arguments, const char *environment, const char *end, Elf64_auxv_t *auxv,
		       size_t entries)
{
	struct prctl_mm_map map = {
		.start_code = PLAN_NEAR, .end_code = PLAN_CACHE, .start_data = PLAN_NEAR, .end_data = PLAN_CACHE,
		.start_brk = PLAN_BREAK, .brk = PLAN_BREAK, .start_stack = sp, .arg_start = (uint64_t)arguments,
		.arg_end = (uint64_t)environment, .env_start = (uint64_t)environment, .env_end = (uint64_t)end,
		.auxv = (void *)auxv, .auxv_size = (uint32_t)(entries * sizeof *auxv), .exe_fd = (uint32_t)-1,
	};

	system_call(__NR_prctl, PR_SET_MM, PR_SET_MM_MAP, (long)&map, sizeof map, 0, 0);
}

uint64_t startstack_make(const uint64_t *own, const struct image *image, const struct image *interpreter, char **argv)
{
	uint64_t bytes = stack_bytes(), end = runtime.space.window - SLOPE_PAGE_BYTES;
	size_t texts = 0, argc = count_texts(argv, &texts), words = 1 + argc + 1 + count_texts(runtime.environment, &texts) + 1;
	size_t entries, room = bytes / 2 < TEXTS_MAX_BYTES ? bytes / 2 : TEXTS_MAX_BYTES;
	const Elf64_auxv_t *auxv = own_auxv(own);

	if (system_failed(space_mmap(&runtime.space, end - bytes, bytes, PROT_READ | PROT_WRITE | (image->runs_stack ? PROT_EXEC : 0),
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0)))
		return 0;
	runtime.space.stack = end - bytes;
	texts += aux_texts(auxv, &entries);
	if (texts + (words + 2 * entries) * 8 >= room)
		system_stop("the program's arguments and environment are too long for its stack", NULL);
	/* The last byte stays zero. Texts begin at a whole word before it, the words themselves further down. */
	char *at = (char *)end - 1 - ((texts + 3) & ~3ul);
	uint64_t sp = (end - 1 - ((texts + 7) & ~7ul) - (words + 2 * entries) * 8) & ~15ul;
	uint64_t *to = (uint64_t *)sp;
	const char *arguments = at, *environment;

	*to++ = argc;
	to = copy_texts(&at, to, argv);
	environment = at;
	to = copy_texts(&at, to, runtime.environment);
	const char *texts_end = at;

	copy_auxv(&at, (Elf64_auxv_t *)to, auxv, image, interpreter);
	show_texts(sp, arguments, environment, texts_end, (Elf64_auxv_t *)to, entries);
	return sp;
}
