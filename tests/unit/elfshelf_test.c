/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ELF files on a shelf: copies of this very program, whose build id the linker has put in. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <elfutils/libdwelf.h>

#include "profile/elfshelf.h"
#include "tests/unit/failing.h"

static char scratch[] = "/tmp/slope-elfshelf-XXXXXX";

struct fixture {
	struct slope_elfshelf shelf;
	uint8_t id[64];
	uint32_t id_bytes;
};

static char *path_of(unsigned n)
{
	char *path;

	assert_true(asprintf(&path, "%s/%u", scratch, n) > 0);
	return path;
}

static int copy_all(void **state)
{
	char command[256];

	(void)state;
	if (!mkdtemp(scratch))
		return -1;
	snprintf(command, sizeof command, "for n in $(seq 0 %u); do cp /proc/%d/exe %s/$n; done", SLOPE_ELFSHELF_FILES + 1,
		 (int)getpid(), scratch);
	return system(command);
}

static int remove_all(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", scratch);
	return system(command);
}

static struct fixture new_fixture(void)
{
	struct fixture f = { 0 };
	struct slope_elf elf;
	const void *id;
	GElf_Addr bias;

	assert_int_equal(slope_elf_open(&elf, "/proc/self/exe", NULL, 0, NULL), SLOPE_ELF_OK);
	f.id_bytes = (uint32_t)dwelf_elf_gnu_build_id(dwfl_module_getelf(elf.module, &bias), &id);
	assert_in_range(f.id_bytes, 8, sizeof f.id);
	memcpy(f.id, id, f.id_bytes);
	slope_elf_close(&elf);
	return f;
}

static struct slope_elf *opened(struct fixture *f, unsigned n)
{
	char *path = path_of(n);
	struct slope_elf *e = NULL;

	assert_int_equal(slope_elfshelf_open(&f->shelf, path, f->id, f->id_bytes, NULL, &e), SLOPE_ELF_OK);
	assert_true(e->count > 0);
	free(path);
	return e;
}

static void a_file_stays_open(void **state)
{
	struct fixture f = new_fixture();
	struct slope_elf *first = opened(&f, 0), *second = opened(&f, 1);

	(void)state;
	assert_ptr_not_equal(first, second);
	assert_ptr_equal(opened(&f, 0), first);
	assert_ptr_equal(opened(&f, 1), second);
	slope_elfshelf_fini(&f.shelf);
}

static void another_build_of_the_name_is_another_file(void **state)
{
	struct fixture f = new_fixture();
	struct slope_elf *e = opened(&f, 0);
	char *path = path_of(0);

	(void)state;
	f.id[0] ^= 1;
	assert_int_equal(slope_elfshelf_open(&f.shelf, path, f.id, f.id_bytes, NULL, &e), SLOPE_ELF_OTHER_BUILD);
	f.id[0] ^= 1;
	assert_ptr_equal(opened(&f, 0), e);
	free(path);
	slope_elfshelf_fini(&f.shelf);
}

static void what_has_no_build_id_is_looked_at_anew(void **state)
{
	struct fixture f = new_fixture();
	char *path = path_of(SLOPE_ELFSHELF_FILES + 1);
	struct slope_elf *e;

	(void)state;
	assert_int_equal(slope_elfshelf_open(&f.shelf, path, f.id, 0, NULL, &e), SLOPE_ELF_OK);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(slope_elfshelf_open(&f.shelf, path, f.id, 0, NULL, &e), SLOPE_ELF_UNREADABLE);
	assert_int_equal(errno, ENOENT);
	free(path);
	slope_elfshelf_fini(&f.shelf);
}

static void memory_may_run_out(void **state)
{
	struct fixture f = new_fixture();
	char *path = path_of(3);
	struct slope_elf *e, *kept = opened(&f, 0);
	enum slope_elf_status status = SLOPE_ELF_NO_MEMORY;

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		failing_after(k);
		status = slope_elfshelf_open(&f.shelf, path, f.id, f.id_bytes, NULL, &e);
		failing_never();
		assert_int_equal(status, SLOPE_ELF_NO_MEMORY);
		assert_ptr_equal(opened(&f, 0), kept);
	}
	free(path);
	slope_elfshelf_fini(&f.shelf);
}

/* The last test: without the files, what is opened must have been on the shelf. */
static void the_one_used_longest_ago_goes(void **state)
{
	struct fixture f = new_fixture();
	struct slope_elf *e;
	char *gone = path_of(1);

	for (unsigned n = 0; n < SLOPE_ELFSHELF_FILES; n++)
		opened(&f, n);
	opened(&f, 0);
	opened(&f, SLOPE_ELFSHELF_FILES);
	assert_int_equal(remove_all(state), 0);
	for (unsigned n = 0; n <= SLOPE_ELFSHELF_FILES; n++)
		if (n != 1)
			opened(&f, n);
	assert_int_equal(slope_elfshelf_open(&f.shelf, gone, f.id, f.id_bytes, NULL, &e), SLOPE_ELF_UNREADABLE);
	free(gone);
	slope_elfshelf_fini(&f.shelf);
	assert_null(f.shelf.file[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_stays_open),
		cmocka_unit_test(another_build_of_the_name_is_another_file),
		cmocka_unit_test(what_has_no_build_id_is_looked_at_anew),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(the_one_used_longest_ago_goes),
	};

	return cmocka_run_group_tests(tests, copy_all, NULL);
}
