/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Work that Valgrind does for every tool and that this one can be spared. The
 * linker puts these functions in the place of Valgrind's own (--wrap in
 * meson.build); a version that does not have them any more does the work.
 */
#include "sources/valgrind/tool.h"

void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void);
void __wrap_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool flat, IRType guest_word);
void __real_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool flat, IRType guest_word);
IRSB *__wrap_cprop_BB(IRSB *block);
void __wrap_do_deadcode_BB(IRSB *block);

extern Int VG_(clo_sanity_level);

/*
 * Source lines of all modules, when they are loaded: nobody asks for them.
 * Functions come from symbol tables, and lines are found after the run.
 */
void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void)
{
}

/* Each block's types and order, four times: for those who work on instrument.c (--sanity-level=2). */
void __wrap_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool flat, IRType guest_word)
{
	if (UNLIKELY(VG_(clo_sanity_level) > 1))
		__real_sanityCheckIRSB(block, caller, flat, guest_word);
}

/*
 * Tidying up after instrumentation: instrument.c leaves nothing to fold and
 * nothing unused. The program's own code is optimised before, and still is.
 */
IRSB *__wrap_cprop_BB(IRSB *block)
{
	return block;
}

void __wrap_do_deadcode_BB(IRSB *block)
{
}
