# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads callgrind's output (--dump-instr=yes, nothing compressed).

callgrind tells functions apart by object, file and symbol name; slope by object and start address. The addresses at
which each callgrind function was called are kept, so that both can be matched without names.
"""

import os


class Function:
    """One fn= of callgrind, over all files that its lines come from."""

    def __init__(self, module, name):
        self.module, self.name = module, name
        self.self_cost = 0
        self.calls = 0
        self.entries = {}        # address -> calls that went there
        self.callers = {}        # Function -> calls
        self.own_sites = {}      # address in the function itself that it was called from -> calls
        self.lowest = None       # lowest address with a cost


class Output:
    def __init__(self, path):
        self.functions = {}      # (module, name) -> Function
        self.total = 0
        with open(path, errors="surrogateescape") as lines:
            self._read(lines)

    def _function(self, module, name):
        key = (os.path.basename(module), name.partition("'")[0])
        if key not in self.functions:
            self.functions[key] = Function(*key)
        return self.functions[key]

    def _read(self, lines):
        place = {"ob": "", "cob": None}
        current = callee = None
        pending = None           # (calls, address) of a calls= line; the next line is its inclusive cost
        for line in lines:
            line = line.rstrip("\n")
            key, equals, value = line.partition("=")
            if equals and key in ("ob", "cob"):
                place[key] = value
            elif equals and key == "fn":
                current, place["cob"] = self._function(place["ob"], value), None
            elif equals and key == "cfn":
                callee = self._function(place["cob"] if place["cob"] is not None else place["ob"], value)
                place["cob"] = None
            elif equals and key == "calls":
                count, address = value.split()[:2]
                pending = (int(count), int(address, 16))
            elif line[:2] == "0x":
                self._cost(line, current, callee, pending)
                pending = None
            elif line.startswith(("totals:", "summary:")):
                self.total = int(line.split()[1])

    @staticmethod
    def _cost(line, current, callee, pending):
        words = line.split()
        address, cost = int(words[0], 16), int(words[2])
        if pending:
            calls, target = pending
            callee.calls += calls
            callee.entries[target] = callee.entries.get(target, 0) + calls
            callee.callers[current] = callee.callers.get(current, 0) + calls
            if callee is current:
                callee.own_sites[address] = callee.own_sites.get(address, 0) + calls
        else:
            current.self_cost += cost
            if current.lowest is None or address < current.lowest:
                current.lowest = address
