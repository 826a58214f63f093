/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's first stack: arguments, environment and the auxiliary vector,
 * in the kernel's order. The vector is our own with the program's addresses;
 * there is no vdso in it, so that clocks are plain system calls.
 */
#include "sources/translator/runtime.h"

#include <elf.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/resource.h>

#define AUX_MAX 64u
#define TEXTS_MAX_BYTES (6ul << 20)
#define SYSINFO_EHDR 33
#define RSEQ_FEATURE_SIZE 27
#define RSEQ_ALIGN 28

struct stack {
	char *text;                  /* texts grow down from here */
	char *bottom;                /* and not below */
};

static const char *push_bytes(struct stack *s, const void *bytes, size_t count)
{
	if ((size_t)(s->text - s->bottom) < count)
		system_stop("the program's arguments and environment are too long for its stack", NULL);
	s->text -= count;
	slope_copy(s->text, bytes, count);
	return s->text;
}

static const char *push_text(struct stack *s, const char *text)
{
	return push_bytes(s, text, slope_length(text) + 1);
}

static uint64_t stack_bytes(void)
{
	struct rlimit limit = { 0, 0 };

	system_call(__NR_getrlimit, RLIMIT_STACK, (long)&limit, 0, 0, 0, 0);
	if (limit.rlim_cur < PLAN_STACK_DEFAULT_BYTES || limit.rlim_cur == RLIM_INFINITY)
		return PLAN_STACK_DEFAULT_BYTES;
	return limit.rlim_cur > PLAN_STACK_MAX_BYTES ? PLAN_STACK_MAX_BYTES : slope_page_round(limit.rlim_cur);
}

static const Elf64_auxv_t *own_auxv(const uint64_t *own)
{
	const uint64_t *at = own + 1 + own[0] + 1;

	while (*at)
		at++;
	return (const Elf64_auxv_t *)(at + 1);
}

static size_t make_auxv(struct stack *s, Elf64_auxv_t *to, const Elf64_auxv_t *from, const struct image *image,
			const struct image *interpreter)
{
	size_t n = 0;

	for (; from->a_type != AT_NULL && n + 1 < AUX_MAX; from++) {
		uint64_t value = from->a_un.a_val;

		switch (from->a_type) {
		case SYSINFO_EHDR:
		case RSEQ_FEATURE_SIZE:
		case RSEQ_ALIGN:
			continue;
		case AT_PHDR:
			value = image->headers;
			break;
		case AT_PHNUM:
			value = image->header_count;
			break;
		case AT_ENTRY:
			value = image->entry;
			break;
		case AT_BASE:
			value = interpreter ? interpreter->base : 0;
			break;
		case AT_RANDOM:
			value = (uint64_t)push_bytes(s, (const void *)value, 16);
			break;
		case AT_PLATFORM:
			value = (uint64_t)push_text(s, (const char *)value);
			break;
		case AT_EXECFN:
			value = (uint64_t)runtime.program_on_stack;
			break;
		default:
			break;
		}
		to[n].a_type = from->a_type;
		to[n++].a_un.a_val = value;
	}
	to[n].a_type = AT_NULL;
	to[n++].a_un.a_val = 0;
	return n;
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
	Elf64_auxv_t auxv[AUX_MAX];
	struct stack s;

	if (system_failed(space_mmap(&runtime.space, end - bytes, bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0)))
		return 0;
	/* The highest word is zero; below it the program's file, its environment, its arguments. */
	s.text = (char *)end - 8;
	s.bottom = s.text - (bytes / 2 < TEXTS_MAX_BYTES ? bytes / 2 : TEXTS_MAX_BYTES);
	runtime.program_on_stack = push_text(&s, runtime.program);
	if (texts >= (size_t)(s.text - s.bottom))
		system_stop("the program's arguments and environment are too long for its stack", NULL);
	char *at = s.text -= texts, *arguments = at, *texts_end = at + texts;
	size_t entries = make_auxv(&s, auxv, own_auxv(own), image, interpreter);
	uint64_t sp = ((uint64_t)s.text - entries * sizeof *auxv - words * 8) & ~15ul;
	uint64_t *to = (uint64_t *)sp;

	*to++ = argc;
	to = copy_texts(&at, to, argv);
	show_texts(sp, arguments, at, texts_end, auxv, entries);
	to = copy_texts(&at, to, runtime.environment);
	slope_copy(to, auxv, entries * sizeof *auxv);
	return sp;
}
