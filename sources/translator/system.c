/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/system.h"

#include <stdarg.h>
#include <asm/stat.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

#define LINE_BYTES 1024
#define STATUS_STOPPED 70

/*
 * The decoder asks for some hundred bytes at a time, for which the string instructions take long to begin. Flags are kept
 * because of the direction that the program may have set.
 */
#define SMALL_BYTES 768u

void *memcpy(void *to, const void *from, size_t bytes)
{
	void *result = to;

	if (bytes <= SMALL_BYTES) {
		slope_copy(to, from, bytes);
		return result;
	}
	__asm__ volatile("pushfq; cld; rep movsb; popfq" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
	return result;
}

void *memmove(void *to, const void *from, size_t bytes)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if (t <= f || t >= f + bytes)
		return memcpy(to, from, bytes);
	while (bytes--)
		t[bytes] = f[bytes];
	return to;
}

void *memset(void *to, int value, size_t bytes)
{
	void *result = to;
	unsigned char *t = to;
	uint64_t word = (uint8_t)value * UINT64_C(0x0101010101010101);

	if (bytes <= SMALL_BYTES) {
		for (; bytes >= 8; bytes -= 8, t += 8)
			__builtin_memcpy(t, &word, 8);
		while (bytes--)
			*t++ = (uint8_t)value;
		return result;
	}
	__asm__ volatile("pushfq; cld; rep stosb; popfq" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
	return result;
}

bool system_read_at(long fd, void *to, uint64_t offset, size_t bytes)
{
	char *at = to;

	while (bytes) {
		long got = system_call(__NR_pread64, fd, (long)at, (long)bytes, (long)offset, 0, 0);

		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return true;
}

void *system_pages(size_t bytes, bool reserve)
{
	long p = system_call(__NR_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | (reserve ? MAP_NORESERVE : 0), -1, 0);

	return system_failed(p) ? NULL : (void *)p;
}

void system_release(void *p, size_t bytes)
{
	system_call(__NR_munmap, (long)p, (long)bytes, 0, 0, 0, 0);
}

static void *host_pages(void *ctx, size_t bytes)
{
	(void)ctx;
	return system_pages(bytes, false);
}

static void host_release(void *ctx, void *p, size_t bytes)
{
	(void)ctx;
	system_release(p, bytes);
}

static void host_yield(void *ctx)
{
	(void)ctx;
	system_call(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
}

const struct slope_host system_host = { .pages = host_pages, .release = host_release, .yield = host_yield };

const void *system_map_file(const char *path, size_t *bytes)
{
	long fd = system_open(path, O_RDONLY | O_CLOEXEC, 0), p;
	struct stat st;

	if (fd < 0)
		return NULL;
	p = system_call(__NR_fstat, fd, (long)&st, 0, 0, 0, 0);
	if (!p && st.st_size > 0)
		p = system_call(__NR_mmap, 0, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	else
		p = -1;
	system_close(fd);
	*bytes = (size_t)st.st_size;
	return system_failed(p) ? NULL : (const void *)p;
}

size_t system_append(char *to, size_t length, size_t room, const char *more)
{
	while (*more && length + 1 < room)
		to[length++] = *more++;
	to[length] = 0;
	return length;
}

const char *system_log;

/* Where messages go; the standard error where the file cannot be had. */
static long open_log(void)
{
	char path[LINE_BYTES];
	struct system_digits digits;
	size_t n = 0;

	for (const char *from = system_log; from && *from; from++) {
		char one[2] = { *from, 0 };
		bool mark = from[0] == '%' && from[1];

		from += mark;
		n = system_append(path, n, sizeof path, mark && *from == 'p' ?
				  system_number(&digits, (uint64_t)system_call(__NR_getpid, 0, 0, 0, 0, 0, 0), 10) : one);
	}
	long fd = system_log ? system_open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600) : 2;

	return fd < 0 ? 2 : fd;
}

static void say_words(const char *word, va_list words)
{
	char line[LINE_BYTES];
	size_t n = system_append(line, 0, sizeof line - 1, "slope: ");

	for (; word; word = va_arg(words, const char *))
		n = system_append(line, n, sizeof line - 1, word);
	line[n++] = '\n';
	long fd = open_log();

	system_call(__NR_write, fd, (long)line, (long)n, 0, 0, 0);
	if (fd != 2)
		system_close(fd);
}

void system_say(const char *word, ...)
{
	va_list words;

	va_start(words, word);
	say_words(word, words);
	va_end(words);
}

void system_stop(const char *word, ...)
{
	va_list words;

	va_start(words, word);
	say_words(word, words);
	va_end(words);
	for (;;)
		system_call(__NR_exit_group, STATUS_STOPPED, 0, 0, 0, 0, 0);
}

const char *system_number(struct system_digits *d, uint64_t value, unsigned base)
{
	char *at = d->text + sizeof d->text - 1;

	*at = 0;
	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	return at;
}

bool system_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const char *system_after(const char *text, const char *start)
{
	while (*start)
		if (*text++ != *start++)
			return NULL;
	return text;
}
