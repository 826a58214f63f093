/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/sampled.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/attach.h"
#include "cli/messages.h"
#include "cli/metering.h"
#include "cli/observer.h"

#define NS_PER_S 1000000000u

/* The first option that only sources with input sizes and exact calls understand; NULL: none was given. */
static const char *foreign_option(const struct slope_settings *s)
{
	if (s->toggle.count || s->only.count || s->skip.count)
		return s->toggle.count ? "--toggle" : s->only.count ? "--only" : "--skip";
	if (s->contexts || s->burst || s->context || s->max_contexts)
		return s->burst ? "--burst" : s->contexts ? "--contexts" : "--context";
	if (s->context_sites || s->context_recursion)
		return s->context_sites ? "--context-sites" : "--context-recursion";
	if (s->paths || s->path_sample || s->perturbation)
		return s->paths ? "--paths" : s->path_sample ? "--path-sample" : "--perturbation";
	if (strcmp(s->cost, "ir"))
		return "--cost";
	return s->input_given ? "--input" : s->cell != 4 ? "--cell" : NULL;
}

/* What only time has is given where that is measured. */
static bool sensible_time(const struct slope_settings *s)
{
	const char *option = s->rate ? "--rate" : "--clock";

	if (!s->event || (!s->rate && !s->clock) || slope_metering_has(s->event, "time"))
		return true;
	slope_say("%s is for time: add that to --event, or leave %s out", option, option);
	return false;
}

bool slope_sampled_sensible(const struct slope_settings *s)
{
	const char *foreign = foreign_option(s);

	if (s->source != SLOPE_SOURCE_SAMPLER) {
		const char *ours = s->rate ? "--rate" : s->clock ? "--clock" : s->no_trampoline ? "--no-trampoline" :
				   s->duration ? "--duration" : s->delayed ? "--delayed" : NULL;

		if (ours)
			slope_say("%s goes with --source=sampler", ours);
		return !ours;
	}
	if (s->duration && s->delayed) {
		slope_say("--delayed begins with 'slope ctl start' and ends with 'slope ctl stop'; leave --duration out");
		return false;
	}
	if (foreign && strstr(foreign, "context"))
		slope_say("--source=sampler always keeps whole call paths and their sites; leave %s out", foreign);
	else if (foreign)
		slope_say("--source=sampler measures all that runs, and neither input sizes nor paths; leave %s out", foreign);
	return !foreign && sensible_time(s);
}

/* The dynamic linker that the file asks for; false: it asks for none. */
static bool read_linker(int fd, const Elf64_Ehdr *elf, char *linker, size_t bytes)
{
	for (unsigned i = 0; i < elf->e_phnum; i++) {
		Elf64_Phdr header;
		off_t at = (off_t)(elf->e_phoff + (uint64_t)i * elf->e_phentsize);

		if (pread(fd, &header, sizeof header, at) != (ssize_t)sizeof header || header.p_type != PT_INTERP)
			continue;
		ssize_t got = pread(fd, linker, header.p_filesz < bytes ? header.p_filesz : bytes - 1, (off_t)header.p_offset);

		linker[got > 0 ? got : 0] = '\0';
		return true;
	}
	return false;
}

static const char *look_at(int fd);

/* A script: its interpreter is what is sampled. */
static const char *look_at_script(int fd)
{
	char line[PATH_MAX] = "";
	ssize_t got = pread(fd, line, sizeof line - 1, 0);

	if (got < 3 || strncmp(line, "#!", 2))
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	char *path = line + 2 + strspn(line + 2, " \t");

	path[strcspn(path, " \t")] = '\0';
	int interpreter = open(path, O_RDONLY | O_CLOEXEC);
	char magic[2] = "";
	const char *obstacle = NULL;

	if (interpreter >= 0 && pread(interpreter, magic, 2, 0) == 2 && memcmp(magic, "#!", 2))
		obstacle = look_at(interpreter);
	if (interpreter >= 0)
		close(interpreter);
	return obstacle;
}

static const char *look_at(int fd)
{
	char linker[256] = "";
	Elf64_Ehdr elf;
	struct stat st;

	if (fstat(fd, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID) && geteuid() != 0)
		return "it is setuid or setgid, and the system lets nothing be loaded into such programs";
	if (pread(fd, &elf, sizeof elf, 0) != (ssize_t)sizeof elf || memcmp(elf.e_ident, ELFMAG, SELFMAG))
		return look_at_script(fd);
	if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_machine != EM_X86_64)
		return "it is not a 64-bit x86 program";
	if (read_linker(fd, &elf, linker, sizeof linker) && !strstr(linker, "/ld-linux-x86-64.so"))
		return "it runs with another C library than glibc";
	if (!*linker)
		return "it is linked statically, and the sampler is a library that the dynamic linker loads";
	return NULL;
}

char *slope_sampled_obstacle(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	const char *obstacle = fd < 0 ? "it cannot be read" : look_at(fd);

	if (fd >= 0)
		close(fd);
	return obstacle ? slope_text("%s", obstacle) : NULL;
}

void slope_sampled_environment(struct slope_list *environment, const struct slope_settings *s, const char *path, const char *channel)
{
	uint64_t rate = s->rate ? s->rate : SLOPE_RATE_DEFAULT;

	slope_list_add(environment, "SLOPE_SAMPLER_OUT=%s", path);
	slope_list_add(environment, "SLOPE_SAMPLER=period=%llu%s%s", (unsigned long long)(NS_PER_S / rate),
		       s->clock ? " clock=wall" : "", s->no_trampoline ? " trampoline=no" : "");
	if (channel)
		slope_list_add(environment, "SLOPE_SAMPLER_CONTROL=%s", channel);
}

/* ---- while it runs ---- */

#define STOP_WAIT_MS 3000u

static void note_start(void *ctx, pid_t pid)
{
	struct slope_recording *r = ctx;

	r->live.channel->main_pid = (uint32_t)pid;
}

static void stop_quietly(void *ctx)
{
	struct slope_recording *r = ctx;
	struct slope_live_answer answer;

	slope_live_ask(&r->live, SLOPE_CHANNEL_WRITE, true, NULL, STOP_WAIT_MS, &answer);
}

/* The time is over: what was measured is written, and the program goes on. */
static void stop_measuring(void *ctx)
{
	struct slope_recording *r = ctx;
	struct slope_live_answer answer;

	if (!slope_live_ask(&r->live, SLOPE_CHANNEL_WRITE, true, NULL, STOP_WAIT_MS, &answer) || !answer.asked)
		return;          /* it has just ended: there is nothing to stop */
	slope_say(answer.silent ? "the time is over, but process %ld does not answer: it is measured to its end" :
		  "the time is over; the program goes on and is not measured any longer", (long)answer.silent);
}

bool slope_sampled_channel(struct slope_recording *r, const struct slope_settings *s, struct slope_launcher *launcher,
			   char *const *program)
{
	char error[512];
	char *text = slope_text("%s", program[0]);

	for (char *const *word = program + 1; *word; word++) {
		char *longer = slope_text("%s %s", text, *word);

		free(text);
		text = longer;
	}
	bool made = slope_live_make(&r->live, text, r->files.path, s->delayed, error, sizeof error);

	free(text);
	if (!made && (s->delayed || s->duration))
		slope_say("--%s needs a place to talk to the program: %s; let XDG_RUNTIME_DIR name a folder of your own",
			  s->delayed ? "delayed" : "duration", error);
	if (!made)
		return !s->delayed && !s->duration;
	launcher->started = note_start;
	launcher->expired = s->quiet ? stop_quietly : stop_measuring;
	launcher->duration_ns = s->duration_ns;
	launcher->ctx = r;
	return true;
}

void slope_sampled_channel_close(struct slope_recording *r)
{
	bool others = false;

	if (!r->live.channel)
		return;
	for (size_t i = 0; i < SLOPE_CHANNEL_SLOTS && !others; i++)
		others = slope_live_process(&r->live.channel->slot[i]);
	if (!others)
		unlink(r->live.path);
	slope_live_close(&r->live);
}

bool slope_sampled_attachable(struct slope_settings *s, bool program)
{
	const char *other = s->clock ? "--clock=wall" : s->no_trampoline ? "--no-trampoline" : s->delayed ? "--delayed" :
			    s->event ? "--event" : s->verify ? "--verify" : NULL;

	if (s->source != SLOPE_SOURCE_ANY && s->source != SLOPE_SOURCE_SAMPLER)
		slope_say("--attach is for the sampler: leave --source out; other sources have to start the program");
	else if (program)
		slope_say("--attach=%s is a program that runs already; leave the program's name out", s->attach);
	else if (other)
		slope_say("--attach looks at the program from outside: leave %s out", other);
	else if (s->rate > SLOPE_ATTACH_RATE_MAX)
		slope_say("--rate=%llu: with --attach, at most %u", (unsigned long long)s->rate, SLOPE_ATTACH_RATE_MAX);
	else {
		s->source = SLOPE_SOURCE_SAMPLER;
		return true;
	}
	return false;
}
