/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/sampled.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
		const char *ours = s->rate ? "--rate" : s->clock ? "--clock" : s->no_trampoline ? "--no-trampoline" : NULL;

		if (ours)
			slope_say("%s goes with --source=sampler", ours);
		return !ours;
	}
	if (foreign && strstr(foreign, "context"))
		slope_say("--source=sampler always keeps whole call paths and their sites; leave %s out", foreign);
	else if (foreign)
		slope_say("--source=sampler measures all that runs, and neither input sizes nor paths; leave %s out", foreign);
	return !foreign && sensible_time(s);
}

/* Is there a program header of this type? */
static bool has_header(int fd, const Elf64_Ehdr *elf, uint32_t type)
{
	for (unsigned i = 0; i < elf->e_phnum; i++) {
		Elf64_Phdr header;
		off_t at = (off_t)(elf->e_phoff + (uint64_t)i * elf->e_phentsize);

		if (pread(fd, &header, sizeof header, at) == (ssize_t)sizeof header && header.p_type == type)
			return true;
	}
	return false;
}

static const char *look_at(int fd)
{
	Elf64_Ehdr elf;
	struct stat st;

	if (fstat(fd, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID) && geteuid() != 0)
		return "it is setuid or setgid, and the system lets nothing be loaded into such programs";
	if (pread(fd, &elf, sizeof elf, 0) != (ssize_t)sizeof elf || memcmp(elf.e_ident, ELFMAG, SELFMAG))
		return NULL;             /* a script: its interpreter is what is sampled */
	if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_machine != EM_X86_64)
		return "it is not a 64-bit x86 program";
	if (!has_header(fd, &elf, PT_INTERP))
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

void slope_sampled_environment(struct slope_list *environment, const struct slope_settings *s, const char *path)
{
	uint64_t rate = s->rate ? s->rate : SLOPE_RATE_DEFAULT;

	slope_list_add(environment, "SLOPE_SAMPLER_OUT=%s", path);
	slope_list_add(environment, "SLOPE_SAMPLER=period=%llu%s%s", (unsigned long long)(NS_PER_S / rate),
		       s->clock ? " clock=wall" : "", s->no_trampoline ? " trampoline=no" : "");
}
