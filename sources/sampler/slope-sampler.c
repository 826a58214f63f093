/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The start. `slope record` says in the environment what is to be done:
 *
 *   SLOPE_SAMPLER_OUT    the profile to write; %p in it is the process
 *   SLOPE_SAMPLER        words: period=NANOSECONDS, clock=wall, trampoline=no, meters=WORD,... (meters.h), main=PID
 *   SLOPE_SAMPLER_CONTROL the file by which it can be talked to (format/channel.h)
 *   SLOPE_SAMPLER_IMAGES set by ourselves before an exec: PID.COUNT, how many profiles the process has left
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "sources/sampler/reals.h"
#include "sources/sampler/trampolines.h"

#define PERIOD_DEFAULT_NS 1000000u
#define PERIOD_LEAST_NS 50000u

struct slope_sampler slope_sampler;
__thread struct slope_sampled *slope_sampled __attribute__((tls_model("initial-exec")));

static struct slope_reals reals;
static bool have_reals;

void *slope_sampler_next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

const struct slope_reals *slope_sampler_reals(void)
{
	if (SLOPE_UNLIKELY(!have_reals)) {
#define X(name) reals.name = (__typeof__(reals.name))slope_sampler_next(#name);
		SLOPE_REAL_LIST(X)
#undef X
		have_reals = true;
	}
	return &reals;
}

static void *pages(void *ctx, size_t bytes)
{
	long p = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);

	(void)ctx;
	return p == -1 ? NULL : (void *)p;
}

static void release(void *ctx, void *p, size_t bytes)
{
	(void)ctx;
	syscall(SYS_munmap, p, bytes);
}

/* The text behind NAME= among words with blanks between; NULL: not there. */
static const char *word(const char *words, const char *name)
{
	size_t length = strlen(name);

	while (words && *words) {
		if (!strncmp(words, name, length) && words[length] == '=')
			return words + length + 1;
		words = strchr(words, ' ');
		words += words != NULL;
	}
	return NULL;
}

static void read_options(struct slope_sampler *s, const char *words)
{
	const char *period = word(words, "period"), *clock = word(words, "clock"), *trampoline = word(words, "trampoline");
	const char *main_pid = word(words, "main"), *images = getenv("SLOPE_SAMPLER_IMAGES");
	char *end = NULL;

	s->period_ns = period ? strtoull(period, NULL, 10) : PERIOD_DEFAULT_NS;
	if (s->period_ns < PERIOD_LEAST_NS)
		s->period_ns = PERIOD_LEAST_NS;
	s->wall = clock && !strncmp(clock, "wall", 4);
	slope_meters_read(&s->meters, word(words, "meters"), s->wall);
	s->waking = s->wall || slope_overflows_wake(&s->meters);
	s->trampolines = !(trampoline && !strncmp(trampoline, "no", 2));
	s->impossible = s->trampolines && !slope_trampolines_possible();
	s->trampolines &= !s->impossible;
	s->main_pid = main_pid ? (pid_t)strtol(main_pid, NULL, 10) : getpid();
	if (images && strtol(images, &end, 10) == (long)getpid() && *end == '.')
		s->images = (uint32_t)strtoul(end + 1, NULL, 10);
}

static bool read_places(struct slope_sampler *s, const char *out)
{
	ssize_t length = readlink("/proc/self/exe", s->program, sizeof s->program - 1);

	if (!out || out[0] != '/' || strlen(out) >= sizeof s->out || length <= 0)
		return false;
	s->program[length] = '\0';
	memcpy(s->out, out, strlen(out) + 1);
	if (!getcwd(s->directory, sizeof s->directory))
		s->directory[0] = '\0';
	return true;
}

/* Programs write to theirs to show what they do. */
static void copy_arguments(struct slope_sampler *s, int argc, char **argv)
{
	s->argv = slope_arena_alloc(&s->arena, ((size_t)argc + 1) * sizeof *s->argv);
	for (int i = 0; s->argv && i < argc; i++) {
		size_t bytes = strlen(argv[i]) + 1;
		char *copy = slope_arena_alloc(&s->arena, bytes);

		if (!copy)
			return;
		s->argv[s->argc++] = memcpy(copy, argv[i], bytes);
	}
}

/* ld.so calls it before the program's own first function. */
__attribute__((constructor)) static void begin(int argc, char **argv)
{
	struct slope_sampler *s = &slope_sampler;
	struct slope_config config = { .contexts = true };
	int error = errno;

	slope_sampler_reals();
	if (!read_places(s, getenv("SLOPE_SAMPLER_OUT")))
		return;
	read_options(s, getenv("SLOPE_SAMPLER"));
	s->pid = getpid();
	s->host = (struct slope_host){ .pages = pages, .release = release };
	slope_arena_init(&s->arena, &s->host);
	copy_arguments(s, argc, argv);
	config.units = slope_meters_units(&s->meters);
	if (!slope_session_init(&s->session, &config, &s->host))
		return;
	slope_trampolines_begin();
	slope_codemap_init(&s->arena, s->program);
	/* OCaml's collector takes the return addresses on the stack for keys of its tables. */
	if (dlsym(RTLD_DEFAULT, "caml_start_program"))
		slope_trampolines_stop();
	s->on = true;
	slope_guarding_begin();
	slope_departing_begin();
	slope_controlling_begin(getenv("SLOPE_SAMPLER_CONTROL"));
	slope_clocks_begin(0);
	errno = error;
}
