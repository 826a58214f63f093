/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Translated code has left for C: find out why, and where it goes on. */
#include "sources/translator/runtime.h"
#include "sources/translator/observing.h"

void dispatch_refuse(const char *what, uint64_t pc)
{
	struct system_digits digits;

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

void slope_dispatch(const void *at, struct context *ctx)
{
	struct site site = *(const struct site *)at;
	uint64_t generation, pc = next_pc(&site, ctx);
	const struct block *block;

	ctx->fs = program_fs();
	if (site.kind == SITE_ODD_STACK && !runtime.odd_stack) {
		runtime.odd_stack = true;
		codecache_empty(&runtime.cache);
	}
	/* Writes are checked from now on. */
	if (observer.on && observer.session.shared && !runtime.translated_shared) {
		runtime.translated_shared = true;
		codecache_empty(&runtime.cache);
	}
	block = codecache_find(&runtime.cache, pc);
	generation = runtime.cache.generation;
	if (!block)
		block = blocks_translate(pc);
	if (!block) {
		ctx->target = pc;        /* no code is there: let the processor say so */
		return;
	}
	ctx->target = block->code;
	if (site.kind == SITE_INDIRECT)
		codecache_remember(&runtime.cache, block);
	else if (site.kind == SITE_DIRECT && site.patch && generation == runtime.cache.generation)
		codecache_link(site.patch, block);
}
