# SPDX-License-Identifier: GPL-3.0-or-later
"""A profile as `slope export --format=json` tells it, with the questions that tests ask.

Costs are in the profile's first unit. A function is named as slope shows it; a name that fits none or several is an
error, except where it says otherwise.
"""

import json
import os
import subprocess

THREAD = "(thread)"          # function 0: a thread itself


class BadExport(Exception):
    pass


class Function:
    def __init__(self, index, shown, module, offset, file):
        self.index, self.shown, self.module, self.offset, self.file = index, shown, module, offset, file
        self.rows = []           # one per thread that ran it
        self.callers = {}        # Function -> calls
        self.callees = {}

    @property
    def calls(self):
        return sum(row["calls"] for row in self.rows)

    def sum(self, key):
        return sum(row[key] for row in self.rows)


def symbol_table(path, module):
    """Names of functions in `path`, as a dictionary to (module, offset)."""
    lines = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    table = {}
    for line in lines.splitlines():
        address, kind, name = line.split()
        if kind in "tT":
            table[name] = (module, int(address, 16))
    return table


def load(slope, path, table=None):
    done = subprocess.run([slope, "export", "--format=json", path], capture_output=True, text=True)
    if done.returncode:
        raise BadExport(f"slope export {path}: {done.stderr.strip()}")
    return Profile(json.loads(done.stdout), path, table)


def flat_row(record, unit):
    """One function in one thread, its costs in one unit."""
    points = {metric: [(row["n"], row["calls"]) for row in kept["rows"]] for metric, kept in record["points"].items()}
    bits = min((kept.get("folded_to_bits", 64) for kept in record["points"].values()), default=64)
    given = record["input"]
    return {"thread": record["thread"], "calls": record["calls"], "total": record["total"][unit],
            "self": record["self"][unit], "rms": given["rms"], "trms": given["trms"], "thread_input": given["thread"],
            "external": given["external"], "points": points, "bits": bits}


def add_up(values):
    """The sum of numbers, or of dictionaries of numbers key by key."""
    total = {}
    for value in values:
        for key, number in (value.items() if isinstance(value, dict) else [("", value)]):
            total[key] = total.get(key, 0) + number
    return total


def point_sums(tables):
    """Calls, sum and sum of squares by size."""
    sums = {}
    for table in tables:
        for row in table["rows"]:
            flat = {"calls": row["calls"]}
            for unit, cost in row["cost"].items():
                flat[unit], flat[unit + "2"] = cost["sum"], int(cost["sumsq"])
            sums[row["n"]] = add_up([sums.get(row["n"], {}), flat])
    return sums


class Profile:
    def __init__(self, document, path, table=None):
        self.path, self._table = path, table
        self.document = document
        self._read(document)

    def _read(self, document):
        if document.get("schema") != "slope-profile/1":
            raise BadExport(f"{self.path}: the schema is {document.get('schema')}")
        unit = document["cost_units"][0]
        self.modules = document["modules"]
        self.process, self.parent_process = document["process"]["id"], document["process"]["parent"]
        self.ended, self.renumberings = document["exit"]["ended"], document["renumberings"]
        self.lost, self.problems = document["lost"], document["problems"]
        self._threads = document["threads"]
        self._nodes = document["contexts"]
        self._functions = [
            Function(i, f["name"], os.path.basename(self.modules[f["module"]]["path"]) if f["module"] else None,
                     f["offset"], f["file"]) for i, f in enumerate(document["functions"])]
        for record in document["records"]:
            self._functions[record["function"]].rows.append(flat_row(record, unit))
        for edge in document["edges"]:
            caller, callee = self._functions[edge["caller"]], self._functions[edge["callee"]]
            callee.callers[caller] = callee.callers.get(caller, 0) + edge["calls"]
            caller.callees[callee] = caller.callees.get(callee, 0) + edge["calls"]

    # --- questions about one function, over all threads ---

    def functions(self, name):
        """All functions of that name."""
        place = self._table.get(name) if self._table else None
        found = [f for f in self._functions if (f.module, f.offset) == place] if place else []
        return found or [f for f in self._functions if f.shown == name]

    def function(self, name):
        found = self.functions(name)
        if len(found) != 1:
            raise BadExport(f"{len(found)} functions are called {name}")
        return found[0]

    def functions_in(self, module):
        """All functions of one module by its file name; None: code in no file."""
        return [f for f in self._functions if f.module == module and f.shown != THREAD]

    def has(self, name):
        return any(f.calls for f in self.functions(name))

    def counted(self, name):
        """Does any number of the profile stand for this function?"""
        return any(f.calls or f.sum("total") or f.sum("self") for f in self.functions(name))

    def calls(self, name):
        return self.function(name).calls

    def total(self, name):
        return self.function(name).sum("total")

    def self_cost(self, name):
        return self.function(name).sum("self")

    def rms(self, name):
        return self.function(name).sum("rms")

    def trms(self, name):
        return self.function(name).sum("trms")

    def thread_input(self, name):
        return self.function(name).sum("thread_input")

    def external(self, name):
        return self.function(name).sum("external")

    def sizes(self, name, metric="trms"):
        """Input sizes and how often each occurred."""
        sizes = {}
        for row in self.function(name).rows:
            for n, calls in row["points"][metric]:
                sizes[n] = sizes.get(n, 0) + calls
        return sizes

    def expand(self, name):
        """The same as a sorted list, one entry per call."""
        return sorted(n for n, calls in self.sizes(name).items() for _ in range(calls))

    def digits(self, name):
        """Binary digits that sizes keep; 64: nothing is folded."""
        return min(row["bits"] for row in self.function(name).rows)

    def callers(self, name):
        return self._named(self.function(name).callers)

    def callees(self, name):
        return self._named(self.function(name).callees)

    # --- contexts ---

    def paths(self, name, to=None):
        """Calls by path: names from the root of a node's tree down to the function, joined by '/'; from `to` on, if given."""
        paths = {}
        for number, node in enumerate(self._nodes):
            path = self._path(number)
            if path[-1] != name or not node["calls"]:
                continue
            if to in path:
                path = path[path.index(to):]
            key = "/".join(path)
            paths[key] = paths.get(key, 0) + node["calls"]
        return paths

    def lines_of(self, name):
        """Calls by the line of the source that they come from."""
        lines = {}
        for number, node in enumerate(self._nodes):
            if self._path(number)[-1] == name and node["calls"]:
                line = self.document["sites"][node["site"]]["line"] if node["site"] is not None else None
                lines[line] = lines.get(line, 0) + node["calls"]
        return lines

    def variants(self, name):
        """Calls by callers, the nearest first."""
        calls = {}
        for row in self._variants(name):
            calls[self._callers_in(row)] = calls.get(self._callers_in(row), 0) + row["calls"]
        return calls

    def variant_costs(self, name, *callers):
        """The greatest cost at each size, of the calls along these callers."""
        unit = self.document["cost_units"][0]
        return [point["cost"][unit]["max"] for row in self._variants(name) if self._callers_in(row) == callers
                for point in next(iter(row["points"].values()))["rows"]]

    def _variants(self, name):
        return [row for row in self.document["variants"]["rows"] if row["function"] == self.function(name).index]

    def _callers_in(self, row):
        return tuple(self._shown(self._functions[caller]) for caller in row["callers"])

    def _path(self, number):
        path = []
        while number is not None:
            path.append(self._shown(self._functions[self._nodes[number]["function"]]))
            number = self._nodes[number]["parent"]
        return path[::-1]

    def threads_of(self, name):
        return len({row["thread"] for row in self.function(name).rows})

    # --- questions about the whole ---

    def all_functions(self):
        return [f for f in self._functions if f.rows]

    def thread_count(self):
        return len(self._threads)

    def thread_names(self):
        return sorted(t["name"] for t in self._threads)

    def max_depth(self):
        return max(t["max_depth"] for t in self._threads)

    @staticmethod
    def os_name(path):
        return os.path.basename(path or "")

    def _shown(self, function):
        for name, place in (self._table or {}).items():
            if place == (function.module, function.offset):
                return name
        return function.shown

    def _named(self, counts):
        named = {}
        for function, calls in counts.items():
            name = self._shown(function)
            named[name] = named.get(name, 0) + calls
        return named

    # --- what must hold in every profile ---

    def broken(self):
        """Sentences about what does not add up."""
        wrong = [f"lost {count} {name}" for name, count in self.lost.items() if count]
        wrong += self.problems
        for f in self._functions:
            wrong += [f"{self._shown(f)}: {text}" for text in self._broken_function(f)]
        for number in range(len(self._threads)):
            wrong += self._broken_thread(number)
        wrong += self._broken_contexts()
        wrong += self._broken_variants()
        return [f"{os.path.basename(self.path)}: {text}" for text in wrong]

    def _broken_thread(self, number):
        rows = [row for f in self._functions for row in f.rows if row["thread"] == number]
        whole = sum(row["total"] for row in self._functions[0].rows if row["thread"] == number)
        parts = sum(row["self"] for row in rows)
        if parts != whole:
            yield f"thread {number}: self costs add up to {parts}, its total is {whole}"
        if any(row["total"] > whole for row in rows):
            yield f"thread {number}: a function's total is above the thread's"

    def _broken_contexts(self):
        """Nodes add up to the records: calls, self costs, and what all activations cost together."""
        if not self._nodes or self.document["burst_period_ns"]:
            return
        collapsed = self.document["context_collapsed"]
        unit = self.document["cost_units"][0]
        sums = {}
        for node in self._nodes:
            parts = sums.setdefault((node["function"], node["thread"]), [0, 0, 0])
            parts[0] += node["calls"]
            parts[1] += node["self"][unit]
            parts[2] += 0 if collapsed else node["total"][unit]
        for record in self.document["records"]:
            metric = next(iter(record["points"].values()))["rows"]
            want = [sum(row["calls"] for row in metric), record["self"][unit],
                    0 if collapsed else sum(row["cost"][unit]["sum"] for row in metric)]
            got = sums.pop((record["function"], record["thread"]), [0, 0, 0])
            if got != want:
                name = self._shown(self._functions[record["function"]])
                yield f"{name}: its contexts have calls, self and total {got}, its records {want}"
        for (function, _), parts in sums.items():
            if any(parts):
                yield f"{self._shown(self._functions[function])}: contexts {parts} without a record"

    def _broken_variants(self):
        """Records by context add up to the records, and so do their points where neither are folded."""
        if not self.document["variants"]:
            return
        parts = {}
        for row in self.document["variants"]["rows"]:
            parts.setdefault((row["function"], row["thread"]), []).append(row)
        for record in self.document["records"]:
            rows = parts.pop((record["function"], record["thread"]), [])
            name = self._shown(self._functions[record["function"]])
            for key in ("calls", "total", "self", "input"):
                if add_up(row[key] for row in rows) != add_up([record[key]]):
                    yield f"{name}: its records by context have {key} {add_up(row[key] for row in rows)}, not {record[key]}"
            for metric, kept in record["points"].items():
                tables = [row["points"][metric] for row in rows]
                if any("folded_to_bits" in table for table in tables + [kept]):
                    continue
                if point_sums(tables) != point_sums([kept]):
                    yield f"{name}: its {metric} points by context do not add up"
        if parts:
            yield f"{len(parts)} records by context without a record"

    def _broken_function(self, f):
        for row in f.rows:
            if row["self"] > row["total"]:
                yield "self cost above total"
            if row["thread_input"] + row["external"] > row["trms"]:
                yield "more induced input than trms"
            for metric, points in row["points"].items():
                if f.shown != THREAD and sum(calls for _, calls in points) != row["calls"]:
                    yield f"{metric} points hold other than its {row['calls']} calls"
                if row["bits"] == 64 and sum(n * calls for n, calls in points) != row[metric]:
                    yield f"sizes of its {metric} points do not add up to {row[metric]}"
        if f.shown != THREAD and sum(f.callers.values()) != f.calls:
            yield f"{sum(f.callers.values())} calls from callers, {f.calls} calls"
