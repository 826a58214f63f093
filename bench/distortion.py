# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a profiler's picture is from the true one.

Distortion is the sum, over all functions of a program, of the difference
between the share of the cost that the profiler gives to the function and its
true share, both in percent: 0 is perfect, 200 nothing right.

What is true is taken in two ways. Instructions, counted exactly: they do not
all take the same time, which is in the distortion, too. And time, as
`perf record` has it from the kernel, 5000 samples a second, without call paths:
it is a sample itself, and two of it are not alike; their distance is the least
that can be had. It is left out where a program has no symbols: perf then names
functions otherwise. Functions are those of the program's own file where gprof is
compared, since it sees no others.
"""
import json
import os
import re
import subprocess

import runs

RATE = 5000
PERF_LINE = re.compile(r"\s*([0-9.]+)%\s+(\S+)\s+\[(.)\]\s+(.*\S)")
NAMED = 0.9             # perf's functions are called as ours are, by so much of the time
CLONE = re.compile(r"(\.(part|constprop|isra|cold|lto_priv)(\.\d+)?)+$")


def plain(name):
    """Without what compilers append, and without arguments and versions: tools differ there."""
    name = CLONE.sub("", name.split("@")[0])
    return name.split("(")[0] if not name.startswith("(") else name


def normal(costs):
    whole = sum(costs.values())
    return {k: 100 * v / whole for k, v in costs.items()} if whole else {}


def distance(one, other):
    return sum(abs(one.get(k, 0) - other.get(k, 0)) for k in {*one, *other})


class Views:
    """Costs of one program's functions as several tools see them: {(module, function): cost}."""

    def __init__(self, bench, program):
        self.bench, self.program = bench, program

    def run(self, prefix, command=None, **more):
        with open(self.program.stdin or os.devnull, "rb") as stdin:
            subprocess.run([*prefix, *(command or self.program.command)], stdin=stdin, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, cwd=self.bench.folder, env=dict(self.bench.environment, **more))

    def slope(self, unit, *options):
        data = os.path.join(self.bench.folder, "accuracy.data")
        self.run([self.bench.slope, "record", "-q", *options, "-o", data, "--"])
        facts = subprocess.run([self.bench.slope, "report", "--json", "--no-inline", "--unit=" + unit, data], check=True, text=True,
                               capture_output=True, env=self.bench.environment)
        costs = {}
        for f in json.loads(facts.stdout)["functions"]:
            key = os.path.basename(f["module"] or ""), plain(f["name"])
            costs[key] = costs.get(key, 0) + f["cost"]["self"]
        return costs

    def exact(self):
        return self.slope("ir", "--input=rms", "--cost=ir")

    def sampled(self):
        """
        By the time that passes, of which there can be more samples; they count alike, since on a busy machine one that had
        to wait would weigh too much. With threads, which wait, by the processor's time.
        """
        clock = ("cpu-time", "cpu") if self.program.threads else ("samples", "wall")
        return self.slope(clock[0], "--source=sampler", "--rate=%d" % RATE, "--clock=" + clock[1])

    def perf(self):
        """The kernel's time goes to nobody: the sampler gives it to the call that asked for it."""
        data = os.path.join(self.bench.folder, "perf.data")
        self.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", str(RATE), "-o", data, "--"])
        said = subprocess.run(["perf", "report", "--stdio", "-q", "-i", data, "--sort=dso,sym"], capture_output=True, check=True,
                              text=True, env=self.bench.environment).stdout
        costs = {}
        for share, module, kind, name in filter(None, (m and m.groups() for m in map(PERF_LINE.match, said.splitlines()))):
            if kind == ".":
                key = module, plain(name)
                costs[key] = costs.get(key, 0) + float(share)
        return costs

    def gprof(self):
        self.run([], self.program.profiled, GMON_OUT_PREFIX=os.path.join(self.bench.folder, "gmon"))
        written = max((os.path.join(self.bench.folder, n) for n in os.listdir(self.bench.folder) if n.startswith("gmon.")),
                      key=os.path.getmtime)
        said = subprocess.run(["gprof", "-b", "-p", self.program.profiled[0], written],
                              capture_output=True, check=True, text=True).stdout
        costs, module = {}, os.path.basename(self.program.command[0])
        for line in said.splitlines():
            words = line.split(None, 6)
            if len(words) >= 4 and re.fullmatch(r"[0-9.]+", words[0]) and re.fullmatch(r"[0-9.]+", words[2]):
                name = line[54:].strip() if len(line) > 54 else words[-1]
                costs[module, plain(name)] = costs.get((module, plain(name)), 0) + float(words[2])
        os.unlink(written)
        return costs


def own(costs, program):
    module = os.path.realpath(program.command[0]).rsplit("/", 1)[-1]
    return normal({k: v for k, v in costs.items() if k[0] in (module, os.path.basename(program.command[0]))})


def judge(bench, program, have_perf):
    """{column: distortion}; None where it cannot be had."""
    views, found = Views(bench, program), {}
    exact, one, two = views.exact(), views.sampled(), views.sampled()
    found["to instructions"] = distance(normal(one), normal(exact))
    found["of two runs"] = distance(normal(one), normal(two))
    perf = normal(views.perf()) if have_perf else {}
    have_perf = sum(v for k, v in perf.items() if k in exact) > 100 * NAMED
    if have_perf:
        again = views.perf()
        found["to perf's time"] = distance(normal(one), normal(perf))
        found["perf, two runs"] = distance(normal(perf), normal(again))
        found["perf to instr."] = distance(normal(perf), normal(exact))
    if program.profiled:
        gprof = own(views.gprof(), program)
        if gprof:
            found["own: gprof"] = distance(gprof, own(exact, program))
            found["own: sampled"] = distance(own(one, program), own(exact, program))
            if have_perf:
                found["own: gprof, time"] = distance(gprof, own(perf, program))
                found["own: sampled, time"] = distance(own(one, program), own(perf, program))
    return found


COLUMNS = ("to instructions", "of two runs", "to perf's time", "perf, two runs", "perf to instr.", "own: gprof", "own: sampled",
           "own: gprof, time", "own: sampled, time")


def rows(bench, chosen, have_perf):
    found = []
    for p in chosen:
        runs.progress("accuracy: " + p.name)
        values = judge(bench, p, have_perf)
        found.append((p.name, [values.get(c) for c in COLUMNS]))
    runs.progress("")
    return found
