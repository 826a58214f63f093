/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes that the program reads and writes: by system calls of its own, and
 * through streams (FILE). The C library fills and empties the buffers of streams
 * by calls that nobody else sees; so it is what the program gets from a stream
 * and gives to it that counts, at the call that does, whenever the buffer
 * goes to the file. Single characters (getc, putc) and what scanf takes are not
 * seen, nor what the kernel moves between files by itself (sendfile, splice).
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sources/sampler/callpoints.h"

#undef fread_unlocked            /* macros, too */
#undef fwrite_unlocked

/* What programs call that were compiled with checks of their buffers. */
ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t at, size_t room);
ssize_t __recv_chk(int fd, void *to, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t bytes, size_t room, int flags, struct sockaddr *from, socklen_t *length);
size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *file);
char *__fgets_chk(char *to, size_t room, int bytes, FILE *file);
ssize_t __getdelim(char **line, size_t *bytes, int end, FILE *file);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *file, int flag, const char *format, ...);
int __vprintf_chk(int flag, const char *format, va_list list);
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list list);

#define X(name) extern __typeof__(name) name SLOPE_VISIBLE;
SLOPE_TRANSFER_LIST(X)
#undef X

static inline ssize_t came(ssize_t bytes)
{
	if (bytes > 0)
		slope_callpoints_note(SLOPE_METER_READ, (uint64_t)bytes);
	return bytes;
}

static inline ssize_t went(ssize_t bytes)
{
	if (bytes > 0)
		slope_callpoints_note(SLOPE_METER_WRITTEN, (uint64_t)bytes);
	return bytes;
}

/* A function that returns how many bytes came, or went, and does nothing else. */
#define PASS(note, name, declared, given) \
	ssize_t name declared { return note(SLOPE_NEXT(name) given); }

PASS(came, read, (int fd, void *to, size_t bytes), (fd, to, bytes))
PASS(came, pread, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at))
PASS(came, pread64, (int fd, void *to, size_t bytes, off64_t at), (fd, to, bytes, at))
PASS(came, readv, (int fd, const struct iovec *to, int count), (fd, to, count))
PASS(came, preadv, (int fd, const struct iovec *to, int count, off_t at), (fd, to, count, at))
PASS(came, preadv64, (int fd, const struct iovec *to, int count, off64_t at), (fd, to, count, at))
PASS(came, recv, (int fd, void *to, size_t bytes, int flags), (fd, to, bytes, flags))
PASS(came, recvfrom, (int fd, void *to, size_t bytes, int flags, struct sockaddr *from, socklen_t *length),
     (fd, to, bytes, flags, from, length))
PASS(came, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
PASS(came, __read_chk, (int fd, void *to, size_t bytes, size_t room), (fd, to, bytes, room))
PASS(came, __pread_chk, (int fd, void *to, size_t bytes, off_t at, size_t room), (fd, to, bytes, at, room))
PASS(came, __pread64_chk, (int fd, void *to, size_t bytes, off64_t at, size_t room), (fd, to, bytes, at, room))
PASS(came, __recv_chk, (int fd, void *to, size_t bytes, size_t room, int flags), (fd, to, bytes, room, flags))
PASS(came, __recvfrom_chk, (int fd, void *to, size_t bytes, size_t room, int flags, struct sockaddr *from, socklen_t *length),
     (fd, to, bytes, room, flags, from, length))
PASS(came, getline, (char **line, size_t *bytes, FILE *file), (line, bytes, file))
PASS(came, getdelim, (char **line, size_t *bytes, int end, FILE *file), (line, bytes, end, file))
PASS(came, __getdelim, (char **line, size_t *bytes, int end, FILE *file), (line, bytes, end, file))

PASS(went, write, (int fd, const void *from, size_t bytes), (fd, from, bytes))
PASS(went, pwrite, (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at))
PASS(went, pwrite64, (int fd, const void *from, size_t bytes, off64_t at), (fd, from, bytes, at))
PASS(went, writev, (int fd, const struct iovec *from, int count), (fd, from, count))
PASS(went, pwritev, (int fd, const struct iovec *from, int count, off_t at), (fd, from, count, at))
PASS(went, pwritev64, (int fd, const struct iovec *from, int count, off64_t at), (fd, from, count, at))
PASS(went, send, (int fd, const void *from, size_t bytes, int flags), (fd, from, bytes, flags))
PASS(went, sendto, (int fd, const void *from, size_t bytes, int flags, const struct sockaddr *to, socklen_t length),
     (fd, from, bytes, flags, to, length))
PASS(went, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))

/* ---- streams ---- */

#define PASS_ITEMS(note, name, declared, given)                                 \
	size_t name declared                                                    \
	{                                                                       \
		size_t items = SLOPE_NEXT(name) given;                          \
		note((ssize_t)(items * size));                                  \
		return items;                                                   \
	}

PASS_ITEMS(came, fread, (void *to, size_t size, size_t count, FILE *file), (to, size, count, file))
PASS_ITEMS(came, fread_unlocked, (void *to, size_t size, size_t count, FILE *file), (to, size, count, file))
PASS_ITEMS(came, __fread_chk, (void *to, size_t room, size_t size, size_t count, FILE *file), (to, room, size, count, file))
PASS_ITEMS(went, fwrite, (const void *from, size_t size, size_t count, FILE *file), (from, size, count, file))
PASS_ITEMS(went, fwrite_unlocked, (const void *from, size_t size, size_t count, FILE *file), (from, size, count, file))

#define PASS_LINE(name, declared, given)                                        \
	char *name declared                                                     \
	{                                                                       \
		char *line = SLOPE_NEXT(name) given;                            \
		if (line)                                                       \
			came((ssize_t)strlen(line));                            \
		return line;                                                    \
	}

PASS_LINE(fgets, (char *to, int bytes, FILE *file), (to, bytes, file))
PASS_LINE(fgets_unlocked, (char *to, int bytes, FILE *file), (to, bytes, file))
PASS_LINE(__fgets_chk, (char *to, size_t room, int bytes, FILE *file), (to, room, bytes, file))

int fputs(const char *text, FILE *file)
{
	int result = SLOPE_NEXT(fputs)(text, file);

	if (result >= 0)
		went((ssize_t)strlen(text));
	return result;
}

int fputs_unlocked(const char *text, FILE *file)
{
	int result = SLOPE_NEXT(fputs_unlocked)(text, file);

	if (result >= 0)
		went((ssize_t)strlen(text));
	return result;
}

int puts(const char *text)
{
	int result = SLOPE_NEXT(puts)(text);

	if (result >= 0)
		went((ssize_t)strlen(text) + 1);
	return result;
}

int vfprintf(FILE *file, const char *format, va_list list)
{
	return (int)went(SLOPE_NEXT(vfprintf)(file, format, list));
}

int vprintf(const char *format, va_list list)
{
	return vfprintf(stdout, format, list);
}

int __vfprintf_chk(FILE *file, int flag, const char *format, va_list list)
{
	return (int)went(SLOPE_NEXT(__vfprintf_chk)(file, flag, format, list));
}

int __vprintf_chk(int flag, const char *format, va_list list)
{
	return __vfprintf_chk(stdout, flag, format, list);
}

#define PASS_FORMAT(name, declared, call)                                       \
	int name declared                                                       \
	{                                                                       \
		va_list list;                                                   \
		va_start(list, format);                                         \
		int result = call;                                              \
		va_end(list);                                                   \
		return result;                                                  \
	}

PASS_FORMAT(printf, (const char *format, ...), vfprintf(stdout, format, list))
PASS_FORMAT(fprintf, (FILE *file, const char *format, ...), vfprintf(file, format, list))
PASS_FORMAT(__printf_chk, (int flag, const char *format, ...), __vfprintf_chk(stdout, flag, format, list))
PASS_FORMAT(__fprintf_chk, (FILE *file, int flag, const char *format, ...), __vfprintf_chk(file, flag, format, list))
