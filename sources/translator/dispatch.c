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

void slope_dispatch(const void *at, struct context *ctx)
{
	struct site site = *(const struct site *)at;
	uint64_t generation, pc = next_pc(&site, ctx);
	const struct block *block = codecache_find(&runtime.cache, pc);

	generation = runtime.cache.generation;
	if (!block)
		block = blocks_translate(pc);
	if (!block) {
		ctx->target = pc;        /* no code is there: let the processor say so */
		return;
	}
	ctx->target = block->code;
	if (site.kind == SITE_INDIRECT)
		codecache_remember(block);
	else if (site.kind == SITE_DIRECT && site.patch && generation == runtime.cache.generation)
		codecache_link(site.patch, block);
}
