# SPDX-License-Identifier: GPL-3.0-or-later
"""Running programs under tools and measuring them; what the benchmarks share.

A tool is a prefix for a command line. Rounds go round all tools before the
next one begins, so that a slow minute of the machine hits all alike. Every
run's output and exit status must equal those of the first native run.
"""
import hashlib
import math
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "PYTHONHASHSEED": "0"}
VALGRIND = ["valgrind", "-q", "--vgdb=no"]


class Sample:
    """One run: processor seconds, wall seconds, peak kilobytes."""

    def __init__(self, line):
        user, system, wall, peak, _ = (int(x) for x in line.split())
        self.cpu, self.wall, self.peak = (user + system) / 1e6, wall / 1e6, peak


class Bench:
    """A working folder, the measuring helper, and the native results to compare with."""

    def __init__(self, build, folder):
        self.slope = os.path.join(os.path.abspath(os.path.join(ROOT, build)), "slope")
        self.folder, self.native, self.wrong = folder, {}, []
        # Source lines are kept between runs, as they are for a user.
        self.environment = dict(ENVIRONMENT, SLOPE_CACHE=os.path.join(os.path.abspath(folder), "cache"))
        self.measure = os.path.join(folder, "measure")
        subprocess.run(["gcc", "-O2", "-o", self.measure, os.path.join(ROOT, "bench/measure.c")], check=True)

    def tools(self):
        """Command line prefixes by name."""
        data = "-o", os.path.join(self.folder, "slope.data")
        record = [self.slope, "record", "--quiet", *data]
        return {
            "native": [],
            "nulgrind": VALGRIND + ["--tool=none"],
            "memcheck": VALGRIND + ["--tool=memcheck", "--leak-check=no"],
            "callgrind": VALGRIND + ["--tool=callgrind", "--callgrind-out-file=" + os.path.join(self.folder, "callgrind")],
            "rms": record + ["--input=rms", "--"],
            "trms": record + ["--input=trms", "--"],
            "rms-tool": record + ["--no-symbols", "--input=rms", "--"],
            "trms-tool": record + ["--no-symbols", "--input=trms", "--"],
        }

    def run(self, program, prefix, tool):
        """A Sample, or None when the run was wrong (which is kept in self.wrong)."""
        result = os.path.join(self.folder, "result")
        with open(program.stdin or os.devnull, "rb") as stdin:
            done = subprocess.run([self.measure, result, *prefix, *program.command], stdin=stdin, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, cwd=self.folder)
        seen = done.returncode, hashlib.sha256(done.stdout).hexdigest()
        if seen != self.native.setdefault(program.name, seen):
            words = done.stderr.decode(errors="replace").strip().splitlines()
            self.wrong.append("%s under %s: output or exit status %d differs from native%s"
                              % (program.name, tool, seen[0], ": " + words[-1] if words else ""))
            return None
        with open(result) as line:
            return Sample(line.read())


def rounds(bench, programs, tools, count):
    """{program name: {tool: [Sample]}}; the native run comes first in every round."""
    samples = {p.name: {t: [] for t in tools} for p in programs}
    for number in range(count):
        for program in programs:
            for tool, prefix in tools.items():
                progress("round %d of %d: %s under %s" % (number + 1, count, program.name, tool))
                sample = bench.run(program, prefix, tool)
                if sample:
                    samples[program.name][tool].append(sample)
    progress("")
    return samples


def progress(words):
    if sys.stderr.isatty():
        print("\r\033[K" + words, end="", file=sys.stderr, flush=True)


def median(samples, field):
    """The median of one field, or None without samples."""
    values = [getattr(s, field) for s in samples]
    return statistics.median(values) if values else None


def ratio(a, b):
    return a / b if a is not None and b else None


def geomean(values):
    """Of the values that are there; None if none is."""
    there = [v for v in values if v]
    return math.exp(sum(map(math.log, there)) / len(there)) if there else None


def table(title, columns, rows):
    """Prints rows of (name, [number or None or text])."""
    print("\n" + title)
    widths = [max(len(c) + 1, 9) for c in columns]
    print("%-22s" % "" + "".join("%*s" % (w, c) for w, c in zip(widths, columns)))
    for name, values in rows:
        cells = ("-" if v is None else v if isinstance(v, str) else "%.2f" % v for v in values)
        print("%-22s" % name + "".join("%*s" % (w, c) for w, c in zip(widths, cells)))
