/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared memory of System V: a child writes 300 numbers, which the parent reads
 * where it attaches them anew, for reading only: input from outside. What a
 * function writes itself and reads again is none. Then where the program says,
 * over a mapping of its own; and what is no longer there is a fault.
 */
#include <errno.h>
#include <signal.h>
#include <setjmp.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#define NUMBERS 300
#define BYTES 10000

static sigjmp_buf back;

static void on_fault(int number)
{
	siglongjmp(back, number);
}

__attribute__((noipa)) int sum_of(const int *v, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += *(const volatile int *)(v + i);
	return s;
}

__attribute__((noipa)) int own(int *v, int n)
{
	for (int i = 0; i < n; i++)
		*(volatile int *)(v + i) = i;
	return sum_of(v, n);
}

static const char *line_of_maps(void)
{
	static char line[256];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof line, maps) && !strstr(line, "/SYSV"))
		;
	fclose(maps);
	return strstr(line, "/SYSV") ? strstr(line, "/SYSV") : "none\n";
}

int main(void)
{
	int id = shmget(IPC_PRIVATE, BYTES, IPC_CREAT | 0600);
	int *all = shmat(id, NULL, 0);

	if (!fork()) {
		for (int i = 0; i < NUMBERS; i++)
			all[i] = i;
		_exit(0);
	}
	wait(NULL);
	int *again = shmat(id, NULL, SHM_RDONLY);

	printf("%d\n", sum_of(again, NUMBERS));
	printf("%d\n", own(all + 1000, 500));
	printf("%s", line_of_maps());
	signal(SIGSEGV, on_fault);
	int fault = sigsetjmp(back, 1);

	if (!fault)
		*(volatile int *)again = 1;
	printf("read-only %d\n", fault == SIGSEGV);
	char *room = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int taken = shmat(id, room + 4096, 0) == (void *)-1 ? errno : 0, *placed = shmat(id, room + 4096 + 123, SHM_RND | SHM_REMAP);

	printf("taken %d, placed %d, odd %d\n", taken == EINVAL, (char *)placed == room + 4096, shmat(id, room + 1, 0) == (void *)-1);
	printf("%d\n", sum_of(placed, 10) + placed[1010]);
	room[0] = room[4096 * 4] = 1;
	int detached = !shmdt(placed) && !shmdt(all) && !shmdt(again);

	printf("detached %d, not there %d\n", detached, shmdt(again) && errno == EINVAL);
	fault = sigsetjmp(back, 1);
	if (!fault)
		*(volatile int *)all = 1;
	printf("none %d, removed %d, %s", fault == SIGSEGV, shmctl(id, IPC_RMID, NULL), line_of_maps());
	return 0;
}
