/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slope-translator [OPTIONS] -- PROGRAM [ARGS]
 *
 * Runs a program under slope's own binary translator: loads it, and from its
 * first instruction on runs a translation of it. `slope record` starts this;
 * plan.h and runtime.h say how it works. With --check it ends before that
 * instruction: status 0, or one line that says what is in the way; 71 if it is in Valgrind's way too.
 */
#include "sources/translator/runtime.h"
#include "sources/translator/counters.h"
#include "sources/translator/observing.h"

#include <linux/auxvec.h>
#include <linux/prctl.h>

#define SCRIPTS_MAX 5
#define SCRIPT_LINE_BYTES 256u
#define HWCAP2_FSGSBASE 2u
#define STATUS_FOR_NOBODY 71     /* of --check, as cli/observer.c has it: Valgrind cannot run it either */

struct runtime runtime;

void slope_translator_main(const uint64_t *own) __attribute__((noreturn));

struct start {
	uint64_t window_log2;
	bool check;                  /* end before the first instruction */
	const char *argv0;
	char **argv;                 /* the program and its arguments */
};

static uint64_t number_in(const char *text)
{
	uint64_t value = 0;

	while (*text >= '0' && *text <= '9' && value < UINT32_MAX)
		value = value * 10 + (uint64_t)(*text++ - '0');
	return *text ? UINT64_MAX : value;
}

static void take_option(struct start *start, const char *option)
{
	const char *value;

	if (system_same(option, "--check")) {
		start->check = true;
	} else if ((value = system_after(option, "--argv0="))) {
		start->argv0 = value;
	} else if ((value = system_after(option, "--window-log2="))) {
		start->window_log2 = number_in(value);
		if (start->window_log2 < PLAN_WINDOW_LOG2_MIN || start->window_log2 > PLAN_WINDOW_LOG2_MAX)
			system_stop("--window-log2=", value, ": give a number from 35 to 44", NULL);
	} else if ((value = system_after(option, "--log-file="))) {
		system_log = value;
	} else if (!counters_option(option) && !observing_option(option) && !limits_option(option)) {
		system_stop("slope-translator: unknown option ", option, NULL);
	}
}

/* Options up to `--`; what children get, all but those of one program, stays in runtime. */
static void take_options(struct start *start, int argc, char **argv)
{
	int i = 1;

	runtime.options = argv + 1;
	for (; i < argc && !system_same(argv[i], "--"); i++) {
		take_option(start, argv[i]);
		if (!system_after(argv[i], "--argv0=") && !limits_option(argv[i]))
			runtime.options[runtime.option_count++] = argv[i];
	}
	if (i + 1 >= argc)
		system_stop("usage: slope-translator [OPTIONS] -- PROGRAM [ARGS]", NULL);
	start->argv = argv + i + 1;
}

/* ---- scripts ---- */

/* "#! interpreter [argument]": the interpreter's arguments, followed by the script's path and its arguments. */
static char **script_arguments(char *line, char **argv)
{
	size_t count = 0, n = 0;

	while (argv[count])
		count++;
	char **to = system_pages(slope_page_round((count + 4) * sizeof *to), false), *end;

	for (line += 2; *line == ' ' || *line == '\t'; line++)
		;
	end = line + slope_length(line);
	while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		*--end = 0;
	if (!to || !*line)
		return NULL;
	to[n++] = line;
	while (*line && *line != ' ' && *line != '\t')
		line++;
	if (*line) {
		*line++ = 0;
		while (*line == ' ' || *line == '\t')
			line++;
		to[n++] = line;
	}
	to[n++] = (char *)runtime.program;
	for (argv++; *argv; argv++)
		to[n++] = *argv;
	return to;
}

/* Follows scripts to the program that runs them. */
static char **find_program(char **argv, bool check)
{
	for (int i = 0; i < SCRIPTS_MAX; i++) {
		char *line = system_pages(SLOPE_PAGE_BYTES, false);
		enum loading how = line ? loading_probe(runtime.program, line, SCRIPT_LINE_BYTES) : LOADING_NO_ROOM;

		if (how == LOADING_DONE)
			return argv;
		if (check && (how == LOADING_ADDRESS_SANITIZED || how == LOADING_LEAK_SANITIZED)) {
			system_say(runtime.program, " ", loading_reason(how), NULL);
			system_call(__NR_exit_group, STATUS_FOR_NOBODY, 0, 0, 0, 0, 0);
		}
		if (how != LOADING_NOT_ELF || line[0] != '#' || line[1] != '!' || !(argv = script_arguments(line, argv)))
			system_stop(runtime.program, " ", loading_reason(how), NULL);
		runtime.program = argv[0];
	}
	system_stop(runtime.program, ": too many scripts that run scripts", NULL);
}

/* ---- the start ---- */

static void name_process(void)
{
	const char *name = runtime.program;
	long fd = system_open(runtime.program, 010000000 /* O_PATH */, 0);
	char link[64];
	struct system_digits digits;

	for (const char *c = name; *c; c++)
		if (*c == '/')
			name = c + 1;
	system_call(__NR_prctl, PR_SET_NAME, (long)name, 0, 0, 0, 0);
	system_append(link, system_append(link, 0, sizeof link, "/proc/self/fd/"), sizeof link,
		      system_number(&digits, (uint64_t)fd, 10));
	if (fd >= 0) {
		long n = system_call(__NR_readlink, (long)link, (long)runtime.program_path, RUNTIME_PATH_BYTES - 1, 0, 0, 0);

		runtime.program_path[n > 0 ? n : 0] = 0;
		system_close(fd);
	}
}

static void check_processor(const uint64_t *auxv)
{
	while (auxv[0] && auxv[0] != AT_HWCAP2)
		auxv += 2;
	if (!auxv[0] || !(auxv[1] & HWCAP2_FSGSBASE))
		system_stop("this kernel does not let programs set %gs (FSGSBASE), which the translator needs; "
			    "use --source=valgrind", NULL);
}

/* The thread's shadow window with its context near the start; the kernel backs what is touched. */
static void make_context(uint64_t window_bytes)
{
	void *window = rooms_window(window_bytes);

	if (!window)
		system_stop("no room for the shadow of the program's memory; allow more address space (ulimit -v), "
			    "or use --source=valgrind", NULL);
	struct context *ctx = (struct context *)((char *)window + CTX_PLACE);

	ctx->self = ctx;
	ctx->path_window = observing_keeps_paths_apart() ? system_pages(UINT64_C(1) << runtime.window_log2, true) : window;
	if (!ctx->path_window)
		system_stop("no room for paths beside input sizes; allow more address space (ulimit -v), or record them one by one", NULL);
	__asm__ volatile("wrgsbase %0" : : "r"((char *)window + GS_PLACE) : "memory");
	threading_init(ctx);
}

static uint64_t load(const uint64_t *own, char **argv)
{
	static struct image image, interpreter;
	enum loading how = loading_image(runtime.program, &image);
	const char *what = runtime.program;
	bool interpreted = how == LOADING_DONE && image.interpreter[0];

	if (interpreted) {
		what = image.interpreter;
		how = loading_image(what, &interpreter);
	}
	if (how != LOADING_DONE)
		system_stop(what, " ", loading_reason(how), NULL);
	context_here()->reg[REG_RSP] = startstack_make(own, &image, interpreted ? &interpreter : NULL, argv);
	if (!context_here()->reg[REG_RSP])
		system_stop("no memory for the program's stack", NULL);
	return interpreted ? interpreter.entry : image.entry;
}

static const char *own_path(void)
{
	static char path[RUNTIME_PATH_BYTES];

	system_call(__NR_readlink, (long)"/proc/self/exe", (long)path, sizeof path - 1, 0, 0, 0);
	return path;
}

void slope_translator_main(const uint64_t *own)
{
	struct start start = { .window_log2 = PLAN_WINDOW_LOG2 };
	char **argv = (char **)(own + 1);
	const uint64_t *at = own + 1 + own[0] + 1;

	runtime.environment = (char **)at;
	while (*at)
		at++;
	check_processor(at + 1);
	take_options(&start, (int)own[0], argv);
	observing_decide();
	runtime.self = own_path();
	runtime.program = start.argv[0];
	space_init(&runtime.space, UINT64_C(1) << start.window_log2, &runtime.lock);
	runtime.window_log2 = (uint32_t)start.window_log2;
	make_context(observing_shadow_bytes(UINT64_C(1) << start.window_log2));
	argv = find_program(start.argv, start.check);
	if (argv == start.argv && start.argv0)
		argv[0] = (char *)start.argv0;
	if (!codecache_init(&runtime.cache))
		system_stop("no memory in which translated code may run; use --source=valgrind", NULL);
	if (!decoder_init(&runtime.decoder, ZYDIS_LIBRARY))
		system_stop("the decoder " ZYDIS_LIBRARY " is missing or another version; install libzydis4.0, "
			    "or use --source=valgrind", NULL);
	name_process();
	runtime.argv = argv;
	uint64_t pc = load(own, argv);

	if (start.check && !counters_possible())
		system_stop(counters.reason, NULL);
	if (start.check)
		system_call(__NR_exit_group, 0, 0, 0, 0, 0, 0);
	if (observer.looks)
		observing_start(pc, context_here()->reg[REG_RSP]);
	signals_start();
	if (observer.inlined)
		signals_watch_faults();
	const struct block *block = dispatch_block(pc);

	if (!block)
		system_stop(runtime.program, ": no code where it begins", NULL);
	context_here()->target = block->code;
	context_here()->flags = 0x202;
	slope_gate_start(context_window(context_here()));
}
