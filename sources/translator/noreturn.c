/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/flow.h"

/* Names of the C library, the compilers' run-time libraries, and of a few others whose names nobody else uses. */
static const char *const never_returns[] = {
	"exit", "_exit", "_Exit", "quick_exit", "abort", "thrd_exit", "pthread_exit",
	"__assert_fail", "__assert", "__assert_perror_fail", "__stack_chk_fail", "__stack_chk_fail_local", "__chk_fail",
	"__fortify_fail", "__libc_fatal", "__libc_start_main", "__libc_start_call_main",
	"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "__libc_longjmp", "__libc_siglongjmp", "____longjmp_chk",
	"_Unwind_Resume", "__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast", "__cxa_bad_typeid", "__cxa_pure_virtual",
	"__cxa_deleted_virtual", "__cxa_throw_bad_array_new_length", "__cxa_throw_bad_array_length", "__cxa_call_unexpected",
	"__cxa_call_terminate", "__clang_call_terminate", "_ZSt9terminatev", "_ZSt10unexpectedv",
	"_gfortran_stop_string", "_gfortran_stop_numeric", "_gfortran_error_stop_string", "_gfortran_error_stop_numeric",
	"_gfortran_runtime_error", "_gfortran_runtime_error_at", "_gfortran_os_error", "_gfortran_os_error_at",
	"rust_panic", "rust_begin_unwind", "lua_error", "luaL_error", "luaD_throw",
	"Py_FatalError", "_Py_FatalErrorFunc", "Py_Exit", "Perl_croak", "Perl_croak_nocontext", "Perl_croak_no_modify",
	"g_assertion_message", "g_assertion_message_expr",
};

/* std::__throw_..., std::__glibcxx_assert_fail; core::panicking */
static const char *const prefixes[] = {
	"_ZSt11__terminate", "_ZSt16__throw_", "_ZSt17__throw_", "_ZSt19__throw_", "_ZSt20__throw_", "_ZSt21__throw_", "_ZSt24__throw_",
	"_ZSt25__throw_", "_ZSt28__throw_", "_ZSt18__throw_", "_ZSt22__throw_", "_ZSt23__throw_", "_ZSt26__throw_", "_ZSt27__throw_",
	"_ZSt15__throw_", "_ZSt21__glibcxx_assert_fail", "_ZN4core9panicking",
};

/* The text up to its version, if it has one. */
static bool is_name(const char *name, const char *known)
{
	while (*known && *name == *known)
		name++, known++;
	return !*known && (!*name || *name == '@');
}

static bool begins_with(const char *name, const char *prefix)
{
	while (*prefix && *name == *prefix)
		name++, prefix++;
	return !*prefix;
}

bool flow_never_returns(const char *name)
{
	for (size_t n = 0; n < sizeof never_returns / sizeof *never_returns; n++)
		if (is_name(name, never_returns[n]))
			return true;
	for (size_t n = 0; n < sizeof prefixes / sizeof *prefixes; n++)
		if (begins_with(name, prefixes[n]))
			return true;
	return false;
}
