# SPDX-License-Identifier: GPL-3.0-or-later
"""What `slope paths --json --graphs` prints, as rows that can be compared with others, and what must hold in any of them."""

import json
import subprocess
from collections import Counter, defaultdict

OUT = -1
ENDS = {"falls": "falls", "jumps": "jumps", "branches": "branches", "calls": "calls", "switches": "switches",
        "jumps_anywhere": "anywhere", "jumps-anywhere": "anywhere", "anywhere": "anywhere", "returns": "returns",
        "tail_calls": "tail-calls", "tail-calls": "tail-calls", "stops": "stops"}


def number(value):
    """Of a number, a text of one (beyond 2^53), or an address."""
    return int(value, 0) if isinstance(value, str) else value


class Graph:
    def __init__(self, data):
        self.number, self.name, self.module = data["number"], data.get("name") or "?", data.get("module_path") or ""
        self.function, self.flags = data["function"], data["flags"]
        self.regular, self.total = number(data["regular"]), number(data["total"])
        self.start = [number(v) for v in data["start"]]
        self.blocks = [(number(b["address"]), b["bytes"], b["instructions"], ENDS[b["end"].replace(" ", "-")]) for b in data["blocks"]]
        self.edges = [(e["from"], OUT if e["to"] is None else e["to"], is_cut(e["cut"]), number(e["value"]), e["way"]) for e in data["edges"]]
        self.paths, self.repeats = data["paths"], data["repeats"]
        self.first = defaultdict(list)           # block -> its edges
        for i, edge in enumerate(self.edges):
            self.first[edge[0]].append(i)

    def place(self):
        return "%s (graph %d, 0x%x of %s)" % (self.name, self.number, self.blocks[0][0], self.module.rpartition("/")[2])

    # ---- numbering ----

    def lengths(self):
        """Paths from each block to their end, by brute force over the edges that are not cut; None: there is a loop left."""
        found, open_blocks = {}, set()
        for root in range(len(self.blocks)):
            work = [root]
            while work:
                at = work[-1]
                if at in found:
                    work.pop()
                    continue
                following = [self.edges[i][1] for i in self.first[at] if not self.edges[i][2] and self.edges[i][1] != OUT]
                missing = [b for b in following if b not in found]
                if missing:
                    if at in open_blocks:
                        return None
                    open_blocks.add(at)
                    work += missing
                    continue
                found[at] = sum(1 if self.edges[i][2] or self.edges[i][1] == OUT else found[self.edges[i][1]] for i in self.first[at])
                open_blocks.discard(at)
                work.pop()
        return found

    def wrong_numbers(self):
        """Are numbers unique and compact? Values of each block's edges, and starts, must part the numbers between them."""
        lengths = self.lengths()
        if lengths is None:
            return ["a loop without a cut edge"]
        wrong = []
        for block in range(len(self.blocks)):
            if not self.first[block]:
                wrong.append("block %d has no edge" % block)
            at = 0
            for _, to, cut, value, _ in sorted((self.edges[i] for i in self.first[block]), key=lambda e: (e[3])):
                if value != at:
                    wrong.append("values of block %d's edges do not part 0 to %d" % (block, lengths[block]))
                    break
                at += 1 if cut or to == OUT else lengths[to]
        heads = {0} | {to for _, to, cut, _, _ in self.edges if cut and to != OUT}
        at = 0
        for block in sorted(range(len(self.blocks)), key=lambda b: self.start[b]):
            if self.start[block] != at:
                wrong.append("start of block %d is %d, not %d" % (block, self.start[block], at))
                break
            at += lengths[block]
            if (block in heads) != (at <= self.regular):
                wrong.append("block %d is on the wrong side of the regular numbers" % block)
        if at != self.total:
            wrong.append("%d paths in all, not %d" % (at, self.total))
        return wrong

    def walked(self, path):
        """The blocks of a path; up to where it was left, if it was."""
        stopped = path.get("stop") is not None
        return [path["begin"]] + [self.edges[i][1] for i in (path["edges"] if stopped else path["edges"][:-1])]

    def wrong_rows(self):
        wrong = []
        for p in self.paths:
            edges, stop, walked = p["edges"], p.get("stop"), self.walked(p)
            # What would follow where a path was left has value 0.
            if number(p["number"]) != self.start[p["begin"]] + sum(self.edges[i][3] for i in edges):
                wrong.append("path %s is not the sum of its edges" % p["number"])
            if [self.edges[i][0] for i in edges] != walked[:len(edges)] or p["blocks"] != walked:
                wrong.append("path %s: edges %s and blocks %s do not fit" % (p["number"], edges, p["blocks"]))
            ends = [self.edges[i][2] or self.edges[i][1] == OUT for i in edges]
            if any(ends[:-1]) or (stop is None) != any(ends):
                wrong.append("path %s ends where it should not" % p["number"])
            if stop is not None and (stop != walked[-1] or p["stop_instructions"] > self.blocks[stop][2]):
                wrong.append("path %s was left in block %s, where it never was" % (p["number"], stop))
        return wrong

    # ---- counts ----

    def rows(self):
        """(thread, stop or -1, instructions there, edge's head, blocks) -> how often, all contexts together."""
        found = Counter()
        for p in self.paths:
            walked, stop = self.walked(p), p.get("stop")
            if stop is None:
                key = p["thread"], -1, 0, self.edges[p["edges"][-1]][1], tuple(walked)
            else:
                after = p["stop_instructions"]
                if not after and len(walked) > 1:        # nothing of that block: left at the end of the one before
                    walked.pop()
                    stop, after = walked[-1], self.blocks[walked[-1]][2]
                key = p["thread"], stop, after, OUT, tuple(walked)
            found[key] += number(p["count"])
        return +found

    def instructions(self):
        """Executed, each repetition one."""
        return instructions(self.rows(), self.blocks) + sum(number(r["count"]) for r in self.repeats)


def is_cut(value):
    return value not in (None, False, 0, "no", "whole")


def instructions(rows, blocks):
    whole = 0
    for (_, stop, stopped_after, _, walked), count in rows.items():
        whole += count * sum(blocks[b][2] for b in (walked if stop < 0 else walked[:-1]))
        whole += count * stopped_after
    return whole


def flows(rows):
    """How often each block was begun and each edge between blocks was taken: (Counter, Counter)."""
    blocks, edges = Counter(), Counter()
    for (_, _, _, to, walked), count in rows.items():
        for block in walked:
            blocks[block] += count
        for pair in zip(walked, walked[1:] + ((to,) if to != OUT else ())):
            edges[pair] += count
    return blocks, edges


def load(slope, profile, environment=None):
    """The graphs of a profile."""
    done = subprocess.run([slope, "paths", "--json", "--graphs", profile], stdout=subprocess.PIPE, check=True, env=environment)
    return [Graph(g) for g in json.loads(done.stdout)["graphs"]]
