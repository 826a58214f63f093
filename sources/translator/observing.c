/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/observing.h"
#include "sources/translator/rates.h"

#include <linux/fcntl.h>
#include <linux/mman.h>

#include "include/slope.h"
#include "sources/translator/following.h"

#define CLEAR_BY_PAGES_BYTES 65536u
#define GROWTH_BYTES (1u << 20)
#define LARGE_PAGE_BYTES (UINT64_C(1) << 21)
#define ALLOTTED_MIN_BYTES (UINT64_C(4) << 20)
#define ALLOTTED_MAX_BYTES (UINT64_C(256) << 20)       /* of all of them together: no more than so much can lie in pages hardly used */
#define BASE_REACH 256u
#define PAGEMAP_RUN 512u

struct observer observer = { .cost = "ir", .input = "trms", .cell_bytes = 4, .block_runs = RATES_RUNS,
				 .unit_ir = -1, .unit_bb = -1, .unit_time = -1 };

/* ---- options ---- */

static bool take_number(const char *option, const char *name, uint64_t *to)
{
	const char *value = system_after(option, name);

	if (!value)
		return false;
	for (*to = 0; *value >= '0' && *value <= '9'; value++)
		*to = *to * 10 + (uint64_t)(*value - '0');
	if (*value)
		system_stop(option, ": not a number", NULL);
	return true;
}

static bool take_text(const char *option, const char *name, const char **to)
{
	const char *value = system_after(option, name);

	if (value)
		*to = value;
	return value != NULL;
}

static bool take_pattern(const char *option, const char *name, struct patterns *to)
{
	const char *value = system_after(option, name);

	if (value && to->count == PATTERNS_MAX)
		system_stop(option, ": too many of these", NULL);
	if (value)
		to->glob[to->count++] = value;
	return value != NULL;
}

void observing_decide(void)
{
	observer.on = observer.profiles && (!observer.paths || observer.path_input);
	observer.paths = observer.profiles && observer.paths;
	observer.looks = observer.on || observer.paths;
	/* Where activations are observed, their places in the tree are known. */
	if (observer.on)
		observer.path_contexts = false;
}

bool observing_option(const char *option)
{
	struct observer *o = &observer;

	if (system_same(option, "--access=call") || system_same(option, "--access=inline")) {
		o->by_call = system_same(option, "--access=call");
		return true;
	}
	if (system_same(option, "--access=narrow"))
		return o->narrow = true;
	if (take_text(option, "--slope-out=", &o->out)) {
		o->profiles = true;
		return true;
	}
	if (system_same(option, "--paths"))
		return o->paths = true;
	if (system_same(option, "--path-input"))
		return o->path_input = true;
	if (system_same(option, "--path-contexts"))
		return o->path_contexts = true;
	if (take_number(option, "--contexts=", &o->contexts)) {
		o->contexts++;
		return true;
	}
	if (system_same(option, "--context-sites=yes"))
		return o->context_sites = true;
	if (system_same(option, "--context-collapse=yes"))
		return o->context_collapse = true;
	return take_text(option, "--burst=", &o->burst) || take_number(option, "--context=", &o->context_k) ||
	       take_number(option, "--max-contexts=", &o->max_contexts) ||
	       take_number(option, "--path-sample=", &o->path_sample) ||
	       take_number(option, "--main-pid=", &o->main_pid) || take_number(option, "--cell=", &o->cell_bytes) ||
	       take_number(option, "--max-points=", &o->max_points) || take_number(option, "--stamp-limit=", &o->stamp_limit) ||
	       take_number(option, "--block-runs=", &o->block_runs) ||
	       take_text(option, "--cost=", &o->cost) || take_text(option, "--input=", &o->input) ||
	       take_pattern(option, "--toggle=", &o->toggle) || take_pattern(option, "--only=", &o->only) ||
	       take_pattern(option, "--skip=", &o->skip);
}

static uint32_t cell_log2(void)
{
	uint32_t log2 = 0;

	while (log2 < 6 && 1u << log2 < observer.cell_bytes)
		log2++;
	return log2;
}

uint64_t observing_shadow_bytes(uint64_t window_bytes)
{
	/* Paths alone are kept there word by word. */
	if (!observer.on)
		return window_bytes;
	return (window_bytes >> cell_log2()) * sizeof(uint32_t);
}

static void choose_units(const char *cost)
{
	for (; *cost; cost++) {
		if (system_after(cost, "ir"))
			observer.unit_ir = (int)observer.units++;
		else if (system_after(cost, "bb"))
			observer.unit_bb = (int)observer.units++;
		else if (system_after(cost, "time"))
			observer.unit_time = (int)observer.units++;
	}
	if (!observer.units)
		observer.unit_ir = (int)observer.units++;
}

static uint32_t choose_metrics(const char *input)
{
	observer.trms = !system_same(input, "rms");
	if (system_same(input, "both"))
		return 1u << SLOPE_METRIC_TRMS | 1u << SLOPE_METRIC_RMS;
	return observer.trms ? 1u << SLOPE_METRIC_TRMS : 1u << SLOPE_METRIC_RMS;
}

/* ---- shadow windows: of the directory, and of each thread's first fiber; others have the core's table ---- */

/* Visits the pages of [at, end) that exist or are swapped out. */
static void each_backed_page(long pagemap, char *at, char *end, void (*visit)(void *, uint32_t *, size_t), void *arg)
{
	uint64_t entry[PAGEMAP_RUN];

	while (at < end) {
		size_t pages = (size_t)(end - at) / SLOPE_PAGE_BYTES;

		if (pages > PAGEMAP_RUN)
			pages = PAGEMAP_RUN;
		bool known = pagemap >= 0 && system_read_at(pagemap, entry, (uint64_t)at / SLOPE_PAGE_BYTES * 8, pages * 8);

		for (size_t i = 0; i < pages; i++, at += SLOPE_PAGE_BYTES)
			if (!known || entry[i] >> 62)
				visit(arg, (uint32_t *)at, SLOPE_PAGE_BYTES / sizeof(uint32_t));
	}
}

/* Only where the program has memory can its words have been touched. */
static void each_window_word(void *ctx, struct slope_thread *t, void (*visit)(void *arg, uint32_t *words, size_t count), void *arg)
{
	long pagemap = system_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
	uint32_t log2 = observer.session.config.cell_log2;
	char *done = NULL;

	(void)ctx;
	lock_take(&runtime.lock);
	for (size_t i = 0; t->shadow.window && i < runtime.space.count; i++) {
		const struct space_region *region = &runtime.space.region[i];
		char *from = (char *)((uint64_t)(t->shadow.window + (region->start >> log2)) & ~(uint64_t)(SLOPE_PAGE_BYTES - 1));
		char *to = (char *)slope_page_round((uint64_t)(t->shadow.window + ((region->end - 1) >> log2) + 1));

		if (from < done)
			from = done;     /* neighbours may share a shadow page: each word once */
		each_backed_page(pagemap, from, to, visit, arg);
		if (to > done)
			done = to;
	}
	lock_give(&runtime.lock);
	if (pagemap >= 0)
		system_close(pagemap);
}

static void clear_window(uint32_t *window, uint64_t address, uint64_t bytes)
{
	uint32_t log2 = observer.session.config.cell_log2;
	uint32_t *word = window + (address >> log2), *end = window + ((address + bytes - 1) >> log2) + 1;

	if ((uint64_t)end - (uint64_t)word >= CLEAR_BY_PAGES_BYTES) {
		uint32_t *first_page = (uint32_t *)slope_page_round((uint64_t)word);
		uint32_t *last_page = (uint32_t *)((uint64_t)end & ~(uint64_t)(SLOPE_PAGE_BYTES - 1));

		system_call(__NR_madvise, (long)first_page, (long)last_page - (long)first_page, MADV_DONTNEED, 0, 0, 0);
		while (word < first_page)
			*word++ = 0;
		word = last_page;
	}
	for (; word < end; word++)
		if (*word)               /* a page that was never written stays unbacked */
			*word = 0;
}

static void move_window(uint32_t *window, uint64_t from, uint64_t to, uint64_t bytes)
{
	uint32_t log2 = observer.session.config.cell_log2;
	uint32_t *old = window + (from >> log2), *new = window + (to >> log2);

	for (uint64_t i = 0; i < bytes >> log2; i++)
		if (new[i] != old[i])
			new[i] = old[i];
}

/* Rooms of threads that have ended may be others' already. */
static void each_window(void (*act)(uint32_t *window, uint64_t a, uint64_t b, uint64_t c), uint64_t a, uint64_t b, uint64_t c)
{
	const struct slope_session *s = &observer.session;

	act(s->sharing.directory.window, a, b, c);
	for (size_t i = 1; i < s->thread_count; i++)
		if (s->thread[i]->shadow.window && (i == 1 || !s->thread[i]->ended))
			act(s->thread[i]->shadow.window, a, b, c);
}

static void clear_one(uint32_t *window, uint64_t address, uint64_t bytes, uint64_t unused)
{
	(void)unused;
	clear_window(window, address, bytes);
}

static void forget(uint64_t address, uint64_t bytes)
{
	slope_session_forget(&observer.session, address, bytes);
	each_window(clear_one, address, bytes, 0);
}

void observing_mapped(uint64_t address, uint64_t bytes, bool over)
{
	const struct space_region *region = space_at(&runtime.space, address);

	if (!observer.on || !bytes)
		return;
	if (over)
		forget(address, bytes);
	/* A file's contents are input, unless it is code that was loaded. */
	if (observer.trms && region && region->path && !codeplaces_is_elf(address))
		slope_session_map_file(&observer.session, address, bytes);
}

void observing_unmapped(uint64_t address, uint64_t bytes)
{
	if (!bytes)
		return;
	if (observer.paths)
		pathindex_forget(address, bytes);
	if (observer.on)
		forget(address, bytes);
	if (observer.looks)
		codeplaces_forget(address, bytes);
}

/* What malloc asks for in small pieces it uses at once; a page at a time, its shadow would fault twice, for a look and for a write. */
void observing_grown(uint64_t address, uint64_t bytes)
{
	const struct slope_thread *core = observer.on ? context_here()->fiber->core : NULL;

	if (!core || !core->shadow.window || !observer.inlined || bytes > GROWTH_BYTES)
		return;
	uint64_t from = slope_page_round((uint64_t)core->shadow.window + address);

	system_call(__NR_madvise, (long)from, (long)bytes, MADV_POPULATE_WRITE, 0, 0, 0);
}

/*
 * Where a thread makes itself a large piece of memory, its shadow has large pages: who goes through such a piece at random waits for
 * translations of addresses, on a virtual machine for two at once. And with threads each page of the shadow costs more than its
 * two faults: for the second one, which takes the page of zeros away, all other processors are interrupted.
 */
void observing_allotted(uint64_t address, uint64_t bytes)
{
	const struct slope_thread *core = observer.on ? context_here()->fiber->core : NULL;
	uint64_t all;

	if (!core || !core->shadow.window || !observer.inlined || bytes < ALLOTTED_MIN_BYTES || bytes > ALLOTTED_MAX_BYTES)
		return;
	all = __atomic_add_fetch(&observer.allotted_bytes, bytes, __ATOMIC_RELAXED);
	uint64_t from = (uint64_t)core->shadow.window + address, to = (from + bytes) & -LARGE_PAGE_BYTES;

	from = (from + LARGE_PAGE_BYTES - 1) & -LARGE_PAGE_BYTES;
	if (all <= ALLOTTED_MAX_BYTES && from < to)
		system_call(__NR_madvise, (long)from, (long)(to - from), MADV_HUGEPAGE, 0, 0, 0);
}

void observing_moved(uint64_t from, uint64_t to, uint64_t bytes)
{
	if (observer.paths)
		pathindex_forget(from, bytes);
	if (!observer.on || from == to || !bytes)
		return;
	slope_session_move(&observer.session, from, to, bytes);
	each_window(move_window, from, to, bytes);
	codeplaces_forget(from, bytes);
}

/* The text may be wrong, or run into memory that is not there. */
static void name_thread(struct slope_thread *core, uint64_t text)
{
	size_t i = 0;

	for (; i < sizeof core->name - 1 && space_allows(&runtime.space, text + i, 1, PROT_READ); i++) {
		core->name[i] = ((const char *)text)[i];
		if (!core->name[i])
			return;
	}
	core->name[i] = 0;
}

void observing_request(const uint64_t *block)
{
	uint64_t *answer = &context_here()->reg[REG_RDX];

	if (!space_allows(&runtime.space, (uint64_t)block, 2 * sizeof *block, PROT_READ))
		return;
	fibers_costs();
	switch (block[0]) {
	case SLOPE_REQUEST_START:
	case SLOPE_REQUEST_STOP:
		lock_take(&runtime.lock);
		slope_session_collect(&observer.session, block[0] == SLOPE_REQUEST_START);
		lock_give(&runtime.lock);
		*answer = 0;
		break;
	case SLOPE_REQUEST_NAME_THREAD:
		name_thread(context_here()->fiber->core, block[1]);
		*answer = 0;
		break;
	case SLOPE_REQUEST_RUNNING:
		*answer = 1;
		break;
	default:
		break;
	}
}

void observing_forked(void)
{
	struct context *ctx = context_here();
	struct fiber *f = ctx->fiber;

	if (observer.paths)
		pathevents_forked();
	if (!observer.on && observer.looks) {
		f->core->os_id = ctx->tid;
		f->next = NULL;
		ctx->fibers = f;
	}
	if (!observer.on)
		return;
	/* Other stacks and threads have no past here. */
	slope_session_restart(&observer.session, f->core, fibers_costs());
	f->next = NULL;
	ctx->fibers = f;
	f->core->os_id = ctx->tid;
	fibers_show_top();
}

static void use_window(struct context *ctx)
{
	struct slope_shadow *shadow = &ctx->fiber->core->shadow;

	shadow->window = (uint32_t *)((char *)context_window(ctx) + SHADOW_PLACE);
	shadow->window_cells = runtime.space.window >> observer.session.config.cell_log2;
	if (!observer.inlined)
		return;
	ctx->by_16 = checks_have_16();
	system_call(__NR_mprotect, (long)(char *)context_window(ctx) + CTX_LOG_PLACE + CTX_LOG_GUARD, SLOPE_PAGE_BYTES, PROT_READ, 0, 0, 0);
	slope_log_set(ctx->fiber->core, (uint32_t *)((char *)context_window(ctx) + CTX_LOG_PLACE), &ctx->log,
			ctx->by_16 ? &logscans_by_16 : NULL);
}

bool observing_thread(struct context *ctx, const struct fiber *parent)
{
	ctx->fiber = fibers_new(ctx, parent, ctx->reg[REG_RSP] + BASE_REACH);
	if (ctx->fiber && observer.on && ctx->room->shadow_bytes)
		use_window(ctx);
	else
		observer.apart = true;
	return ctx->fiber;
}

void observing_thread_ends(struct context *ctx)
{
	if (!observer.looks || !ctx->fiber)
		return;
	profilefile_note_names(ctx);
	if (observer.paths)
		pathevents_end(ctx);
	fibers_end_all(ctx);
}

/* Threads that run at once need one that is all there. */
static void make_directory(void)
{
	struct slope_shadow *directory = &observer.session.sharing.directory;

	directory->window = system_pages(observing_shadow_bytes(runtime.space.window), true);
	if (!directory->window)
		system_stop("no room for the shadow of the program's memory; allow more address space (ulimit -v), "
			    "or use --source=valgrind", NULL);
	directory->window_cells = runtime.space.window >> observer.session.config.cell_log2;
}

static uint64_t number_at(const char **text)
{
	uint64_t number = 0;

	for (; **text >= '0' && **text <= '9'; ++*text)
		number = number * 10 + (uint64_t)(**text - '0');
	return number;
}

static void choose_contexts(struct slope_config *config)
{
	const char *burst = observer.burst;

	config->contexts = observer.contexts != 0 || observer.path_contexts;
	config->context_k = observer.contexts ? (uint32_t)observer.contexts - 1 : 0;
	config->context_collapse = observer.context_collapse;
	config->variant_k = (uint32_t)observer.context_k;
	config->variants_max = (uint32_t)observer.max_contexts;
	if (!burst)
		return;
	config->burst_period = number_at(&burst);
	burst += *burst == '/';
	config->burst_length = number_at(&burst);
}

void observing_start(uint64_t pc, uint64_t sp)
{
	struct slope_config config = {
		.cell_log2 = cell_log2(), .max_points = (uint32_t)observer.max_points, .stamp_limit = (uint32_t)observer.stamp_limit,
		.toggled = observer.toggle.count != 0, .marked = !observer.by_call, .parallel = true,
	};
	struct context *ctx = context_here();

	if (!observer.on)
		config.marked = false;
	if (1u << config.cell_log2 != observer.cell_bytes)
		system_stop("--cell: give a power of two from 1 to 64", NULL);
	choose_units(observer.cost);
	config.units = observer.units;
	config.metrics = choose_metrics(observer.input);
	choose_contexts(&config);
	if (observer.unit_time >= 0)
		fibers_look_at_clock();
	if (!slope_session_init(&observer.session, &config, &system_host))
		system_stop("no memory for the profile", NULL);
	observer.session.each_window_word = each_window_word;
	if (!observer.main_pid)
		observer.main_pid = (uint64_t)system_call(__NR_getpid, 0, 0, 0, 0, 0, 0);
	if (observer.on)
		make_directory();
	ctx->own_stack = runtime.space.window - PLAN_STACK_MAX_BYTES;
	ctx->own_stack_end = runtime.space.window;
	ctx->fiber = fibers_new(ctx, NULL, sp + BASE_REACH);
	if (!ctx->fiber)
		system_stop("no memory for the profile", NULL);
	observer.inlined = observer.on && !observer.by_call && checks_possible();
	observer.vectors = observer.inlined && checks_have_16();
	ctx->sums = observer.vectors ? SUMS_AWAY : SUMS_IN_MEMORY;
	if (observer.on)
		use_window(ctx);
	measures_start(ctx);
	if (observer.paths)
		pathevents_start(ctx, pc);
	if (!observer.on)
		return;
	activations_begin(pc, sp);
}
