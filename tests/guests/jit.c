/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code made at run time, in no file and without symbols: run() calls it five
 * times, then it is overwritten and called twice more. One function in no
 * module with 7 calls; the code that the first one calls is another, 5 calls.
 */
#include <string.h>
#include <sys/mman.h>

#include "guest.h"

/* lea 1(%rdi),%eax; call +24 (from the next instruction); ret */
static const unsigned char outer_code[] = { 0x8d, 0x47, 0x01, 0xe8, 0x18, 0x00, 0x00, 0x00, 0xc3 };
/* add %eax,%eax; ret, placed 32 bytes after outer_code */
static const unsigned char inner_code[] = { 0x01, 0xc0, 0xc3 };
/* lea 100(%rdi),%eax; ret */
static const unsigned char changed_code[] = { 0x8d, 0x47, 0x64, 0xc3 };

ALONE int run(int (*code)(int), int times)
{
	int s = 0;

	while (times--)
		s += code(times);
	return s;
}

int main(void)
{
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return 1;
	memcpy(page, outer_code, sizeof(outer_code));
	memcpy(page + 32, inner_code, sizeof(inner_code));
	printf("%d\n", run((int (*)(int))page, 5));
	memcpy(page, changed_code, sizeof(changed_code));
	printf("%d\n", run((int (*)(int))page, 2));
	return 0;
}
