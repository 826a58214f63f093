/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Translated code has left for C: find out why, and where it goes on. */
#include "sources/translator/runtime.h"
#include "sources/translator/observing.h"
#include "sources/translator/following.h"

#include <linux/mman.h>

void dispatch_refuse(const char *what, uint64_t pc)
{
	struct system_digits digits;

	lock_drop(&runtime.lock);
	profilefile_write(-1, "running");
	system_stop(what, pc ? " (at 0x" : "", pc ? system_number(&digits, pc, 16) : "", pc ? ")" : "",
		    ": the translator cannot do this yet; record this program with --source=valgrind", NULL);
}

static uint64_t next_pc(const struct site *site, struct context *ctx)
{
	switch (site->kind) {
	case SITE_SYSCALL:
		return syscalls_do(ctx, site->target);
	case SITE_INDIRECT:
	case SITE_RETURN:
	case SITE_CASE:
		return ctx->guest_target;
	default:
		return site->target;
	}
}

static uint64_t program_fs(void)
{
	uint64_t fs;

	__asm__("rdfsbase %0" : "=r"(fs));
	return fs;
}

void dispatch_depends_on(uint64_t address)
{
	struct space_region *region = space_at(&runtime.space, address);

	if (!region)
		return;
	region->code = true;
	codecache_made_of(&runtime.cache, address);
	if (!(region->prot & PROT_WRITE) || space_doubts(&runtime.space, address))
		return;
	signals_watch_faults();
	if (!space_watch(&runtime.space, region, address))
		system_stop("no memory for the map of the program's memory", NULL);
}

/* With the lock held, which it may give back for a while. */
static const struct block *find_or_make(uint64_t pc, int prefer, bool alone)
{
	const struct block *block = alone ? codecache_find_alone(&runtime.cache, pc) : codecache_find(&runtime.cache, pc);

	while (!block) {
		codecache_begin(&runtime.cache);
		if (codecache_has_room(&runtime.cache) && ((block = blocks_translate(pc, prefer, alone)) || !runtime.start_over))
			return block;
		uint64_t generation = runtime.cache.generation;

		runtime.start_over = false;
		lock_give(&runtime.lock);
		threading_empty_cache(generation);
		lock_take(&runtime.lock);
		block = alone ? codecache_find_alone(&runtime.cache, pc) : codecache_find(&runtime.cache, pc);
	}
	return block;
}

static const struct block *block_at(uint64_t pc, bool alone)
{
	const struct block *block;

	lock_take(&runtime.lock);
	block = find_or_make(pc, -1, alone);
	lock_give(&runtime.lock);
	return block;
}

const struct block *dispatch_block(uint64_t pc)
{
	return block_at(pc, false);
}

const struct block *dispatch_alone(uint64_t pc)
{
	return block_at(pc, true);
}

/* The register that the branch hands on, or -1. */
static int borrowed_before(const struct codecache_branch *branch)
{
	const struct block *from = branch->handed && branch->way == CODECACHE_JUMP ? codecache_from(&runtime.cache, branch) : NULL;

	if (branch->handed && branch->way == CODECACHE_RETURN)
		return REG_R11;
	return from ? from->facts.stamp : -1;
}

/*
 * Returns go to what a call does when it has come back, and that is for others to make known; where it does something for paths,
 * jumps do not make the place behind it known to them.
 */
static bool may_remember(const struct site *site, uint64_t pc)
{
	if (!observer.paths)
		return true;
	if (site->kind != SITE_RETURN)
		return !pathcode_acts_behind(pc);
	codecache_recall(&runtime.cache, pc);
	return false;
}

/* The branch that has led there; 0: it was a return. */
static uint64_t branch_of(const struct site *site, uint64_t pc)
{
	return site->kind == SITE_INDIRECT || site->kind == SITE_RETURN ? site->target : pc;
}

/* The cache may have been emptied since the site left: then there is nothing to link. */
static uint64_t find_and_link(const struct site *site, uint64_t pc, uint64_t generation)
{
	struct codecache_branch branch = site->branch;
	const struct block *block;

	lock_take(&runtime.lock);
	block = find_or_make(pc, borrowed_before(&branch), false);
	bool cased = site->kind == SITE_CASE && context_here()->path_case;

	if (block && cased)
		pathcode_switch_to(context_here()->path_case, block->code);
	else if (block && site->kind != SITE_DIRECT && may_remember(site, pc))
		codecache_remember(&runtime.cache, block,
				   observer.on || observer.path_contexts ? codeplaces_function(block->pc) : UINT32_MAX,
				   observer.on ? codeplaces_module(block->pc) : 0,
				   observer.paths ? pathbegins_at(block->pc) : 0);
	else if (block && site->kind == SITE_DIRECT && branch.patch && generation == runtime.cache.generation)
		codecache_link(&runtime.cache, &branch, block);
	lock_give(&runtime.lock);
	return block ? block->code : raising_branched(context_here(), pc, branch_of(site, pc));
}

void slope_dispatch(const void *at, struct context *ctx)
{
	struct site site = *(const struct site *)at;
	uint64_t generation = runtime.cache.generation, pc;
	const struct codecache_target *known;

	if (ctx->stepping)
		ctx->asked = 0;                  /* no system call would be made */
	pc = next_pc(&site, ctx);
	if (ctx->stepping)
		stepping_go_on(ctx, site.kind == SITE_SYSCALL);
	ctx->fs = program_fs();
	if (pc >= runtime.space.window)
		pc = vsyscalls_instead(pc);
	if (site.kind == SITE_ODD_STACK && !runtime.odd_stack) {
		runtime.odd_stack = true;
		threading_empty_cache(runtime.cache.generation);
	}
	/* Writes are checked from now on. */
	if (observer.on && ((observer.session.shared && !runtime.translated_shared) || (observer.apart && !runtime.translated_apart))) {
		runtime.translated_shared = true;
		runtime.translated_apart = observer.apart;
		threading_empty_cache(runtime.cache.generation);
	}
	if (site.kind == SITE_CHANGED) {
		lock_take(&runtime.lock);
		codecache_drop(&runtime.cache, pc);
		lock_give(&runtime.lock);
	}
	known = site.kind != SITE_DIRECT && !observer.paths ? codecache_target(pc) : NULL;
	if (observer.paths && site.kind == SITE_INDIRECT)
		pathevents_start(ctx, pc);
	else if (observer.paths && site.kind == SITE_RETURN)
		pathevents_returned(ctx, pc);
	ctx->landed = 0;
	ctx->target = known ? known->code : find_and_link(&site, pc, generation);
	if (observer.measures)
		ctx->ticks_out = __builtin_ia32_rdtsc();
}
