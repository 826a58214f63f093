/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names, files and lines of small programs that are compiled here. nm says
 * where their functions are: the test asks for these places and expects the
 * names back.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/demangle.h"
#include "profile/elfsyms.h"
#include "profile/symbolize.h"
#include "tests/unit/failing.h"

static char scratch[] = "/tmp/slope-symbolize-XXXXXX";

/* Runs a command in the scratch folder. */
static void sh(const char *format, ...)
{
	char *words, *command;
	va_list args;

	va_start(args, format);
	assert_true(vasprintf(&words, format, args) >= 0);
	va_end(args);
	assert_true(asprintf(&command, "cd %s && { %s; }", scratch, words) >= 0);
	if (system(command))
		fail_msg("failed: %s", words);
	free(words);
	free(command);
}

static void put(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* The address of the nth (from 1) symbol that nm calls `name`. */
static uint64_t address_of(const char *file, const char *name, unsigned nth)
{
	char command[256], line[64] = "";

	snprintf(command, sizeof(command), "nm %s/%s | awk '$3 == \"%s\" && ++k == %u { print $1 }'", scratch, file, name, nth);
	FILE *f = popen(command, "r");

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	pclose(f);
	return strtoull(line, NULL, 16);
}

/* A profile of one module and up to seven functions. */
struct sheet {
	struct slope_profile p;
	struct slope_profile_module module[2];
	struct slope_profile_function function[8];
};

static void sheet_init(struct sheet *s, const char *file)
{
	*s = (struct sheet){ .p = { .module = s->module, .module_count = 2, .function = s->function, .function_count = 1 } };
	assert_true(asprintf(&s->module[1].path, "%s/%s", scratch, file) > 0);
}

static struct slope_profile_function *ask(struct sheet *s, uint64_t offset)
{
	struct slope_profile_function *f = &s->function[s->p.function_count++];

	*f = (struct slope_profile_function){ .module = 1, .offset = offset };
	return f;
}

static void sheet_fini(struct sheet *s)
{
	for (size_t i = 0; i < s->p.function_count; i++) {
		free(s->function[i].name);
		free(s->function[i].raw_name);
		free(s->function[i].file);
	}
	for (size_t i = 0; i < s->p.problem_count; i++)
		free(s->p.problem[i]);
	free(s->p.problem);
	free(s->module[1].path);
}

static void read_build_id(struct sheet *s)
{
	char command[256], digits[128] = "";

	snprintf(command, sizeof(command), "readelf -n %s | awk '/Build ID/ { print $3 }'", s->module[1].path);
	FILE *f = popen(command, "r");

	assert_non_null(fgets(digits, sizeof(digits), f));
	pclose(f);
	for (char *d = digits; sscanf(d, "%2hhx", &s->module[1].build_id[s->module[1].build_id_bytes]) == 1; d += 2)
		s->module[1].build_id_bytes++;
	assert_int_equal(s->module[1].build_id_bytes, 20);
}

static void expect_place(const struct slope_profile_function *f, const char *name, const char *file, uint32_t line)
{
	assert_string_equal(f->name, name);
	assert_non_null(f->file);
	assert_string_equal(strrchr(f->file, '/') + 1, file);
	assert_int_equal(f->line, line);
}

static int compile_all(void **state)
{
	(void)state;
	if (!mkdtemp(scratch))
		return -1;
	put("one.c", "int two(int);\n"
		     "static __attribute__((noinline)) int helper(int x)\n"
		     "{\n\treturn x * 3;\n}\n"
		     "int __visible(int x) { return x - 1; }\n"
		     "int visible(int x) __attribute__((weak, alias(\"__visible\")));\n"
		     "int main(int c, char **v)\n"
		     "{\n\t(void)v;\n\treturn helper(c) + two(c) + visible(c);\n}\n");
	put("two.c", "\n\n\nstatic __attribute__((noinline)) int helper(int x)\n{\n\treturn x * 5;\n}\n"
		     "int two(int x) { return helper(x); }\n");
	put("shapes.cc", "namespace shape {\n"
			 "template <class T> struct Box { T side; T area(int times) const; };\n"
			 "template <class T>\n"
			 "T Box<T>::area(int times) const { return side * side * times; }\n"
			 "template struct Box<long>;\n"
			 "}\nint main() { return 0; }\n");
	put("label.S", ".text\n.globl outer\n.type outer, @function\nouter:\n nop\n nop\ninner:\n nop\n ret\n"
		       ".size outer, .-outer\n"
		       ".globl bare\nbare:\n nop\n ret\n"
		       ".globl main\n.type main, @function\nmain:\n xor %eax, %eax\n ret\n.size main, .-main\n"
		       ".section .note.GNU-stack\n");
	sh("gcc -g -O1 -Wl,--build-id=sha1 one.c two.c -o pair");
	sh("gcc -g -O1 -no-pie -Wl,--build-id=sha1 one.c two.c -o fixed");
	sh("g++ -g -O1 shapes.cc -o shapes && gcc label.S -o label");
	sh("cp pair bare && strip bare && cp pair linked && objcopy --only-keep-debug pair linked.debug");
	sh("strip linked && objcopy --add-gnu-debuglink=linked.debug linked");
	return 0;
}

static int remove_all(void **state)
{
	(void)state;
	sh("rm -r %s", scratch);
	return 0;
}

static void test_two_statics_of_one_name_stay_two(void **state)
{
	(void)state;
	static const char *const files[] = { "pair", "fixed" };

	for (unsigned i = 0; i < 2; i++) {
		struct sheet s;

		sheet_init(&s, files[i]);
		struct slope_profile_function *a = ask(&s, address_of(files[i], "helper", 1));
		struct slope_profile_function *b = ask(&s, address_of(files[i], "helper", 2));

		read_build_id(&s);
		assert_true(slope_profile_symbolize(&s.p, NULL));
		assert_true(s.p.symbolized);
		assert_string_equal(s.function[0].name, "(thread)");
		expect_place(a, "helper", "one.c", 2);
		expect_place(b, "helper", "two.c", 4);
		assert_int_equal(a->file[0], '/');
		sheet_fini(&s);
	}
}

static void test_alias_without_underscores_wins(void **state)
{
	(void)state;
	struct sheet s;

	sheet_init(&s, "pair");
	struct slope_profile_function *f = ask(&s, address_of("pair", "__visible", 1));

	assert_true(slope_profile_symbolize(&s.p, NULL));
	assert_string_equal(f->name, "visible");
	sheet_fini(&s);
}

static void test_inside_a_symbol_shows_the_distance(void **state)
{
	(void)state;
	struct sheet s;

	sheet_init(&s, "label");
	struct slope_profile_function *middle = ask(&s, address_of("label", "outer", 1) + 1);
	struct slope_profile_function *label = ask(&s, address_of("label", "inner", 1));
	struct slope_profile_function *after = ask(&s, address_of("label", "inner", 1) + 1);
	struct slope_profile_function *bare = ask(&s, address_of("label", "bare", 1) + 1);

	assert_true(slope_profile_symbolize(&s.p, NULL));
	assert_string_equal(middle->name, "outer+0x1");
	assert_string_equal(middle->raw_name, "outer");
	assert_string_equal(label->name, "inner");
	assert_string_equal(after->name, "outer+0x3");
	assert_string_equal(bare->name, "bare+0x1");
	sheet_fini(&s);
}

static void test_cplusplus_is_demangled_and_placed(void **state)
{
	(void)state;
	struct sheet s;

	sheet_init(&s, "shapes");
	struct slope_profile_function *f = ask(&s, address_of("shapes", "_ZNK5shape3BoxIlE4areaEi", 1));

	assert_true(slope_profile_symbolize(&s.p, NULL));
	expect_place(f, "shape::Box<long>::area(int) const", "shapes.cc", 4);
	assert_string_equal(f->raw_name, "_ZNK5shape3BoxIlE4areaEi");
	sheet_fini(&s);
}

static void test_stripped_file_leaves_module_and_offset(void **state)
{
	(void)state;
	struct sheet s;
	char expected[64];

	sheet_init(&s, "bare");
	struct slope_profile_function *f = ask(&s, address_of("pair", "helper", 1));
	struct slope_profile_function *g = ask(&s, address_of("pair", "helper", 2));

	g->raw_name = strdup("_Z4knowv");
	read_build_id(&s);
	/* An empty place for debug files: this machine may know the build id. */
	assert_true(slope_profile_symbolize(&s.p, &(struct slope_symbolize_options){ .debug_path = scratch }));
	snprintf(expected, sizeof(expected), "bare+0x%lx", (unsigned long)f->offset);
	assert_string_equal(f->name, expected);
	assert_null(f->raw_name);
	assert_null(f->file);
	assert_string_equal(g->name, "know()");
	assert_int_equal(s.p.problem_count, 0);
	sheet_fini(&s);
}

static void test_separate_debug_file_by_link(void **state)
{
	(void)state;
	struct sheet s;

	sheet_init(&s, "linked");
	struct slope_profile_function *f = ask(&s, address_of("pair", "helper", 2));

	read_build_id(&s);
	assert_true(slope_profile_symbolize(&s.p, NULL));
	expect_place(f, "helper", "two.c", 4);
	sheet_fini(&s);
}

static void test_separate_debug_file_by_build_id(void **state)
{
	(void)state;
	struct sheet s;
	char root[128];

	sheet_init(&s, "bare");
	struct slope_profile_function *f = ask(&s, address_of("pair", "helper", 1));

	read_build_id(&s);
	sh("mkdir -p root/.build-id/%02x", s.module[1].build_id[0]);
	sh("id=$(readelf -n bare | awk '/Build ID/ { print substr($3, 3) }'); cp linked.debug root/.build-id/%02x/$id.debug",
	   s.module[1].build_id[0]);
	snprintf(root, sizeof(root), "%s/root", scratch);
	assert_true(slope_profile_symbolize(&s.p, &(struct slope_symbolize_options){ .debug_path = root }));
	expect_place(f, "helper", "one.c", 2);
	sheet_fini(&s);
}

static void test_another_build_is_refused(void **state)
{
	(void)state;
	struct sheet s;

	sheet_init(&s, "pair");
	struct slope_profile_function *f = ask(&s, address_of("pair", "helper", 1));

	read_build_id(&s);
	s.module[1].build_id[19] ^= 1;
	assert_true(slope_profile_symbolize(&s.p, NULL));
	assert_memory_equal(f->name, "pair+0x", 7);
	assert_null(f->file);
	assert_int_equal(s.p.problem_count, 1);
	assert_non_null(strstr(s.p.problem[0], "not the build that ran"));
	sheet_fini(&s);
}

static void test_missing_and_foreign_files_are_said(void **state)
{
	(void)state;
	static const char *const files[] = { "nowhere", "one.c", "." };
	static const char *const words[] = { "No such file", "not an ELF file", "cannot be read" };

	for (unsigned i = 0; i < 3; i++) {
		struct sheet s;

		sheet_init(&s, files[i]);
		ask(&s, 0x1234);
		assert_true(slope_profile_symbolize(&s.p, NULL));
		assert_int_equal(s.p.problem_count, 1);
		assert_non_null(strstr(s.p.problem[0], words[i]));
		sheet_fini(&s);
	}
}

static void test_every_allocation_may_fail(void **state)
{
	(void)state;
	bool whole = false;
	size_t k = 0;

	for (; !whole && k < 2000; k++) {
		struct sheet s;

		sheet_init(&s, "pair");
		struct slope_profile_function *f = ask(&s, address_of("pair", "helper", 1));

		f->name = strdup("old");
		failing_after(k);
		whole = slope_profile_symbolize(&s.p, NULL);
		failing_never();
		assert_int_equal(s.p.symbolized, whole);
		assert_non_null(f->name);
		sheet_fini(&s);
	}
	assert_true(whole);
	assert_true(k > 5);
}

static void test_demangle(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {
		{ "main", "main" },
		{ "memcpy@@GLIBC_2.14", "memcpy" },
		{ "memcpy@GLIBC_2.2.5", "memcpy@GLIBC_2.2.5" },
		{ "_ZN3foo3barEi", "foo::bar(int)" },
		{ "_ZSt4swapIiEvRT_S1_", "std::swap<int>(int&, int&)" },
		{ "_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]" },
		{ "_ZN4core3fmt5write17h01234567890abcdeE", "core::fmt::write" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_RNvCs1234_7mycrate3foo.cold", "mycrate::foo [clone .cold]" },
		{ "_D3std5stdio7writelnFZv", "std.stdio.writeln()" },
		{ "_Done", "_Done" },
		{ "_Zbroken", "_Zbroken" },
		{ "sort.constprop.0", "sort.constprop.0" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char *shown = slope_demangle(pairs[i][0]);

		assert_string_equal(shown, pairs[i][1]);
		free(shown);
	}
}

int main(void)
{
	/* No server may answer for a file that is meant to be missing. */
	unsetenv("DEBUGINFOD_URLS");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_statics_of_one_name_stay_two),
		cmocka_unit_test(test_alias_without_underscores_wins),
		cmocka_unit_test(test_inside_a_symbol_shows_the_distance),
		cmocka_unit_test(test_cplusplus_is_demangled_and_placed),
		cmocka_unit_test(test_stripped_file_leaves_module_and_offset),
		cmocka_unit_test(test_separate_debug_file_by_link),
		cmocka_unit_test(test_separate_debug_file_by_build_id),
		cmocka_unit_test(test_another_build_is_refused),
		cmocka_unit_test(test_missing_and_foreign_files_are_said),
		cmocka_unit_test(test_every_allocation_may_fail),
		cmocka_unit_test(test_demangle),
	};

	return cmocka_run_group_tests(tests, compile_all, remove_all);
}
