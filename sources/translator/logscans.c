/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scans of the log that core/log.h leaves to its source. The program's vector
 * and mask registers are kept here, not in the context: the one who reads,
 * and so fills the log, may be keeping its own there (taking.h).
 */
#include "sources/translator/observing.h"

#include "sources/logvectors.h"

struct kept {
	uint64_t zmm16[8], k1;
};

static void keep_registers(struct kept *k)
{
	__asm__ volatile("kmovq %%k1, %0; vmovdqu64 %%zmm16, %1" : "=r"(k->k1), "=m"(k->zmm16));
}

static void bring_registers(const struct kept *k)
{
	__asm__ volatile("kmovq %0, %%k1; vmovdqu64 %1, %%zmm16" : : "r"(k->k1), "m"(k->zmm16));
}

static size_t keep(uint32_t *entry, size_t count, uint32_t stamp, uint32_t top, size_t *counted)
{
	struct kept kept;
	size_t stay;

	keep_registers(&kept);
	stay = logvectors_keep(entry, count, &stamp, &top, counted);
	bring_registers(&kept);
	return stay;
}

static size_t pass(const uint32_t *entry, size_t count, uint32_t top, uint32_t from, uint32_t span, size_t *counted)
{
	struct kept kept;
	size_t passed;

	keep_registers(&kept);
	passed = logvectors_pass(entry, count, top, from, span, counted);
	bring_registers(&kept);
	return passed;
}

const struct slope_log_scans logscans_by_16 = { keep, pass };
