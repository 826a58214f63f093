# SPDX-License-Identifier: GPL-3.0-or-later
"""The profiles that tests/export/run exports, and what `slope export --format=json` says about them: the truth here."""

import json
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.realpath(__file__))

# Two threads, two units, recursion, a function that both threads run, names that are in a format's way.
EVENTS = """options units=ir,bb metrics=both
thread 2 parent 1
1: call main
1: cost 7 1
for i 1 12
1: call grow
1: read v[0..$i]
1: cost 10*$i 3
1: call [T;3]::operator->
1: cost 5 1
1: return
1: return
next
1: call walk
1: cost 3 1
1: call walk
1: read w[0..4]
1: cost 4 1
1: return
1: return
2: call grow
2: read v[0..6]
2: cost 77 4
2: return
2: cost 2 1
1: return
"""

# The same with calling contexts: grow and the recursion of walk are called along several paths.
CONTEXTS = EVENTS.replace("metrics=both", "metrics=both contexts=tree")
SLABS = EVENTS.replace("metrics=both", "metrics=both contexts=1")

EMPTY = "options units=ir metrics=trms\n"

# A symbol may have any bytes: these are cut off and overlong, so that every reader must find U+FFFD.
BAD_NAME = "call b\udcff\udcc3;d\ncost 5\nreturn\n"


class Failed(Exception):
    pass


def run(*command, **how):
    done = subprocess.run(command, capture_output=True, **how)
    if done.returncode:
        raise Failed(f"{' '.join(command[:4])}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


class Profile:
    def __init__(self, slope, path, folder):
        self.slope, self.path, self.folder = slope, path, folder
        self.name = os.path.basename(path)
        self.truth = json.loads(self.export("json"))
        self.units = self.truth["cost_units"]
        self.functions = self.truth["functions"]
        self.records = self.truth["records"]
        self.threads = self.truth["threads"]
        self.contexts = [] if self.truth["context_k"] else self.truth["contexts"]   # exports show those of trees
        self.metric = "trms" if "trms" in self.truth["input_metrics"] else "rms"

    def export(self, form, *options):
        return run(self.slope, "export", f"--format={form}", *options, self.path)

    def export_to(self, form, name, *options):
        """Into a file of this name in the profile's own folder; its path."""
        folder = os.path.join(self.folder, self.name + ".d")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, name)
        run(self.slope, "export", f"--format={form}", "-o", path, *options, self.path)
        return path

    def stack(self, context):
        """Functions, the called one first; the thread itself is no caller."""
        stack = [context["function"]]
        while context["parent"] is not None and self.contexts[context["parent"]]["function"]:
            context = self.contexts[context["parent"]]
            stack.append(context["function"])
        return tuple(stack)

    def total(self, unit):
        return sum(record["self"][unit] for record in self.records)

    def module(self, function):
        return os.path.basename(self.truth["modules"][function["module"]]["path"])

    def file(self, function):
        """As exports show it: without the directory where the program ran."""
        start = self.truth["directory"].rstrip("/") + "/"
        file = function["file"]
        return file[len(start):] if file and start != "/" and file.startswith(start) else file

    def points(self, record):
        return record["points"].get(self.metric, {"rows": []})["rows"]


def make(slope, folder):
    replay = os.path.join(os.path.dirname(slope), "slope-replay")

    def replayed(name, events):
        path = os.path.join(folder, name)
        run(replay, "-", "-o", path, input=events.encode("utf-8", "surrogateescape"))
        return path

    paths = [replayed("threads", EVENTS), replayed("contexts", CONTEXTS), replayed("slabs", SLABS), replayed("empty", EMPTY), replayed("badname", BAD_NAME)]
    paths.append(os.path.join(folder, "golden"))
    shutil.copy(os.path.join(HERE, "../format/golden.slope"), paths[-1])
    tool = os.path.join(os.path.dirname(slope), "valgrind/slope-amd64-linux")
    if os.path.exists(tool) and shutil.which("valgrind"):
        paths.append(os.path.join(folder, "recorded"))
        run(slope, "record", "--quiet", "--cost=ir,bb", "-o", paths[-1], "--", "sh", "-c", "echo a b c")
    return [Profile(slope, path, folder) for path in paths]
