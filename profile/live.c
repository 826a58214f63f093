/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "profile/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ENVIRONMENT_NAME "SLOPE_SAMPLER_CONTROL="
#define FILE_TAIL ".ctl"
#define FOLDERS 2u
#define NS_PER_S UINT64_C(1000000000)
#define SLACK_NS UINT64_C(20000000)      /* the kernel tells starts in ticks */
#define HELD_AFTER_NS UINT64_C(200000000) /* a signal that is held back so long is for a reason */
#define START_FIELD 22                   /* in /proc/PID/stat */

void slope_live_close(struct slope_live *live)
{
	if (live->channel)
		munmap(live->channel, sizeof *live->channel);
	if (live->channel && live->fd >= 0)
		close(live->fd);
	free(live->path);
	*live = (struct slope_live){ .fd = -1 };
}

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- where they are ---- */

/* A folder of ours that nobody else can write to or look into. */
static bool is_private(const char *folder)
{
	struct stat st;

	if (lstat(folder, &st) != 0)
		return false;
	if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077))
		return true;
	errno = EPERM;
	return false;
}

/* Places for recordings, the one for new ones first; each from malloc, or NULL. */
static void name_folders(char *folder[FOLDERS])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	unsigned user = (unsigned)geteuid();

	folder[0] = folder[1] = NULL;
	if (runtime && runtime[0] == '/' && is_private(runtime)) {
		if (asprintf(&folder[0], "%s/slope", runtime) < 0)
			folder[0] = NULL;
		return;
	}
	if (asprintf(&folder[0], "/tmp/slope-%u", user) < 0)
		folder[0] = NULL;
	if (asprintf(&folder[1], "/run/user/%u/slope", user) < 0)
		folder[1] = NULL;
}

static void free_folders(char *folder[FOLDERS])
{
	for (unsigned i = 0; i < FOLDERS; i++)
		free(folder[i]);
}

static bool fill(struct slope_live *live, const char *program, const char *output, bool stopped)
{
	int wrong = posix_fallocate(live->fd, 0, sizeof *live->channel);
	struct slope_channel *c = MAP_FAILED;

	if (!wrong)
		c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED, live->fd, 0);
	if (wrong || c == MAP_FAILED) {
		errno = wrong ? wrong : errno;
		return false;
	}
	live->channel = c;
	memcpy(c->magic, SLOPE_CHANNEL_MAGIC, sizeof c->magic);
	c->version = SLOPE_CHANNEL_VERSION;
	c->recorder = (uint32_t)getpid();
	c->created_ns = now_ns();
	c->stopped = stopped;
	snprintf(c->program, sizeof c->program, "%s", program);
	snprintf(c->output, sizeof c->output, "%s", output);
	return true;
}

static bool make_in(struct slope_live *live, const char *folder, const char *program, const char *output, bool stopped)
{
	if ((mkdir(folder, 0700) != 0 && errno != EEXIST) || !is_private(folder))
		return false;
	if (asprintf(&live->path, "%s/%ld" FILE_TAIL, folder, (long)getpid()) < 0) {
		live->path = NULL;
		return false;
	}
	unlink(live->path);
	live->fd = open(live->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (live->fd >= 0 && fill(live, program, output, stopped))
		return true;
	int wrong = errno;

	if (live->fd >= 0) {
		unlink(live->path);
		close(live->fd);
	}
	free(live->path);
	*live = (struct slope_live){ .fd = -1 };
	errno = wrong;
	return false;
}

bool slope_live_make(struct slope_live *live, const char *program, const char *output, bool stopped, char *error, size_t error_bytes)
{
	char *folder[FOLDERS];

	*live = (struct slope_live){ .fd = -1 };
	name_folders(folder);
	bool good = folder[0] && make_in(live, folder[0], program, output, stopped);

	if (!good)
		snprintf(error, error_bytes, "%s: %s", folder[0] ? folder[0] : "no memory",
			 errno == EPERM ? "not a folder of your own alone" : strerror(errno));
	free_folders(folder);
	return good;
}

bool slope_live_open(struct slope_live *live, const char *path)
{
	struct slope_channel *c = MAP_FAILED;
	struct stat st;

	*live = (struct slope_live){ .fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) };
	if (live->fd < 0)
		return false;
	errno = EINVAL;
	if (fstat(live->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof *c)
		c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED, live->fd, 0);
	if (c != MAP_FAILED && (memcmp(c->magic, SLOPE_CHANNEL_MAGIC, sizeof c->magic) || c->version != SLOPE_CHANNEL_VERSION)) {
		munmap(c, sizeof *c);
		c = MAP_FAILED;
		errno = EINVAL;
	}
	if (c == MAP_FAILED || !(live->path = strdup(path))) {
		int wrong = errno;

		if (c != MAP_FAILED)
			munmap(c, sizeof *c);
		close(live->fd);
		live->fd = -1;
		errno = wrong;
		return false;
	}
	live->channel = c;
	return true;
}

/* ---- who is there ---- */

/* When the process began, by CLOCK_BOOTTIME; 0: it is not there, or is only waited for. */
static uint64_t start_of(uint32_t pid)
{
	char path[64], text[1024];
	uint64_t ticks = 0;

	snprintf(path, sizeof path, "/proc/%lu/stat", (unsigned long)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (bytes <= 0)
		return 0;
	text[bytes] = '\0';
	char *at = strrchr(text, ')');   /* a name may hold blanks and brackets */

	if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
		return 0;
	for (int field = 2; at && field < START_FIELD; field++)
		at = strchr(at + 1, ' ');
	ticks = at ? strtoull(at + 1, NULL, 10) : 0;
	return ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK)) + 1;
}

static bool is_same(uint32_t pid, uint64_t seen_ns)
{
	uint64_t start = pid ? start_of(pid) : 0;

	return start && start <= seen_ns + SLACK_NS;
}

bool slope_live_process(const struct slope_channel_slot *slot)
{
	return is_same(__atomic_load_n(&slot->pid, __ATOMIC_SEQ_CST), __atomic_load_n(&slot->claimed_ns, __ATOMIC_SEQ_CST));
}

bool slope_live_there(const struct slope_live *live)
{
	if (is_same(live->channel->recorder, live->channel->created_ns))
		return true;
	for (size_t i = 0; i < SLOPE_CHANNEL_SLOTS; i++)
		if (slope_live_process(&live->channel->slot[i]))
			return true;
	return false;
}

bool slope_live_has(const struct slope_live *live, pid_t pid)
{
	if (live->channel->recorder == (uint32_t)pid)
		return is_same((uint32_t)pid, live->channel->created_ns);
	for (size_t i = 0; i < SLOPE_CHANNEL_SLOTS; i++)
		if (live->channel->slot[i].pid == (uint32_t)pid)
			return slope_live_process(&live->channel->slot[i]);
	return false;
}

/* Adds the recordings of a folder. False when memory runs out. */
static bool list_folder(struct slope_live **list, size_t *count, const char *folder)
{
	DIR *dir = is_private(folder) ? opendir(folder) : NULL;
	struct dirent *entry;
	bool good = true;

	while (dir && good && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);
		struct slope_live live, *more;
		char *path;

		if (length <= strlen(FILE_TAIL) || strcmp(entry->d_name + length - strlen(FILE_TAIL), FILE_TAIL))
			continue;
		if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0) {
			good = false;
			break;
		}
		if (!slope_live_open(&live, path)) {
			free(path);
			continue;
		}
		more = slope_live_there(&live) ? realloc(*list, (*count + 2) * sizeof **list) : NULL;
		if (more) {
			*list = more;
			more[(*count)++] = live;
		} else {
			if (!slope_live_there(&live))
				unlink(path);
			else
				good = false;
			slope_live_close(&live);
		}
		free(path);
	}
	if (dir)
		closedir(dir);
	return good;
}

static int by_age(const void *a, const void *b)
{
	const struct slope_live *x = a, *y = b;

	return (x->channel->created_ns > y->channel->created_ns) - (x->channel->created_ns < y->channel->created_ns);
}

struct slope_live *slope_live_list(size_t *count)
{
	struct slope_live *list = calloc(1, sizeof *list);
	char *folder[FOLDERS];
	bool good = list;

	*count = 0;
	name_folders(folder);
	for (unsigned i = 0; i < FOLDERS && good; i++)
		good = !folder[i] || list_folder(&list, count, folder[i]);
	free_folders(folder);
	if (good) {
		qsort(list, *count, sizeof *list, by_age);
		return list;
	}
	for (size_t i = 0; i < *count; i++)
		slope_live_close(&list[i]);
	free(list);
	return NULL;
}

bool slope_live_of_process(struct slope_live *live, pid_t pid)
{
	char path[64], *line = NULL;
	size_t room = 0;
	bool found = false;

	*live = (struct slope_live){ .fd = -1 };
	snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	errno = ENOENT;
	while (!found && getdelim(&line, &room, '\0', file) > 0)
		if (!strncmp(line, ENVIRONMENT_NAME, strlen(ENVIRONMENT_NAME)))
			found = slope_live_open(live, line + strlen(ENVIRONMENT_NAME));
	int wrong = errno;

	fclose(file);
	free(line);
	if (found && !slope_live_has(live, pid)) {
		slope_live_close(live);
		found = false;
		wrong = ENOENT;
	}
	errno = wrong;
	return found;
}

/* ---- asking ---- */

/* Does the process have a handler for its signal? While it becomes another program it has none. */
static bool listens(const struct slope_channel_slot *slot)
{
	char path[64], *line = NULL;
	size_t room = 0;
	unsigned long long caught = 0;

	snprintf(path, sizeof path, "/proc/%lu/status", (unsigned long)slot->pid);
	FILE *file = fopen(path, "re");

	while (file && !caught && getline(&line, &room, file) > 0)
		if (!strncmp(line, "SigCgt:", 7))
			caught = strtoull(line + 7, NULL, 16);
	free(line);
	if (file)
		fclose(file);
	return slot->signal >= 1 && slot->signal <= 64 && caught >> (slot->signal - 1) & 1;
}

static bool answered(const struct slope_channel_slot *slot, uint32_t request)
{
	return __atomic_load_n(&slot->done, __ATOMIC_SEQ_CST) == request;
}

/* Sends the signal to all that can take it; `asked` gets the time of the claim of each. */
static size_t send_all(struct slope_live *live, uint64_t *asked, int *wrong)
{
	size_t count = 0;

	for (size_t i = 0; i < SLOPE_CHANNEL_SLOTS; i++) {
		struct slope_channel_slot *slot = &live->channel->slot[i];
		uint64_t claimed = slot->claimed_ns;

		if (!slope_live_process(slot) || !listens(slot))
			continue;
		if (sigqueue((pid_t)slot->pid, (int)slot->signal, (union sigval){ .sival_int = SLOPE_CHANNEL_VALUE }) == 0) {
			asked[i] = claimed;
			count++;
		} else {
			*wrong = errno;
		}
	}
	return count;
}

/* It sleeps, and the signal has come but is held back. */
static bool waits(const struct slope_channel_slot *slot)
{
	char path[64], *line = NULL;
	size_t room = 0;
	unsigned long long pending = 0;
	bool sleeps = false;

	snprintf(path, sizeof path, "/proc/%lu/status", (unsigned long)slot->pid);
	FILE *file = fopen(path, "re");

	while (file && getline(&line, &room, file) > 0) {
		if (!strncmp(line, "State:", 6))
			sleeps = line[6 + strspn(line + 6, " \t")] == 'S';
		else if (!strncmp(line, "ShdPnd:", 7))
			pending = strtoull(line + 7, NULL, 16);
	}
	free(line);
	if (file)
		fclose(file);
	return sleeps && slot->signal >= 1 && slot->signal <= 64 && pending >> (slot->signal - 1) & 1;
}

static bool is_there(const struct slope_channel_slot *slot, uint64_t claimed)
{
	return __atomic_load_n(&slot->claimed_ns, __ATOMIC_SEQ_CST) == claimed && slope_live_process(slot);
}

static void gather(struct slope_live *live, const uint64_t *asked, unsigned wait_ms, struct slope_live_answer *answer)
{
	const struct timespec turn = { 0, 1000000 };
	uint32_t request = live->channel->request;
	uint64_t start = now_ns(), until = start + (uint64_t)wait_ms * 1000000u;

	for (size_t i = 0; i < SLOPE_CHANNEL_SLOTS; i++) {
		const struct slope_channel_slot *slot = &live->channel->slot[i];

		if (!asked[i])
			continue;
		bool held = false;

		while (!answered(slot, request) && is_there(slot, asked[i]) && now_ns() < until && !held) {
			nanosleep(&turn, NULL);
			held = now_ns() - start > HELD_AFTER_NS && waits(slot);
		}
		if (held && !answered(slot, request)) {
			answer->waiting++;
		} else if (answered(slot, request)) {
			answer->answered++;
			answer->failed += slot->failed != 0;
		} else if (is_there(slot, asked[i])) {
			answer->silent = (pid_t)slot->pid;
		} else {
			answer->asked--;         /* it has ended meanwhile, or is another program that knows already */
		}
	}
}

bool slope_live_ask(struct slope_live *live, enum slope_channel_action action, bool stopped, const char *snapshot,
		    unsigned wait_ms, struct slope_live_answer *answer)
{
	struct slope_channel *c = live->channel;
	uint64_t asked[SLOPE_CHANNEL_SLOTS] = { 0 };
	int wrong = 0;

	*answer = (struct slope_live_answer){ 0 };
	if (flock(live->fd, LOCK_EX) != 0)
		return false;
	c->action = action;
	snprintf(c->snapshot, sizeof c->snapshot, "%s", snapshot ? snapshot : "");
	__atomic_store_n(&c->stopped, stopped, __ATOMIC_SEQ_CST);
	if (!__atomic_add_fetch(&c->request, 1, __ATOMIC_SEQ_CST))
		__atomic_store_n(&c->request, 1, __ATOMIC_SEQ_CST);      /* 0 is what a fresh slot has done */
	answer->asked = send_all(live, asked, &wrong);
	gather(live, asked, wait_ms, answer);
	flock(live->fd, LOCK_UN);
	errno = wrong;
	return answer->asked || !wrong;
}
