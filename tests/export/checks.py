# SPDX-License-Identifier: GPL-3.0-or-later
"""One check for each format: is what a reader finds what the profile holds?"""

import collections
import filecmp
import functools
import json
import os
import re
import shutil
import subprocess

import decode
import profiles


class Wrong(Exception):
    pass


class Missing(Exception):
    """The reader is not on this machine."""


def same(what, got, wanted):
    if got == wanted:
        return
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key in sorted(set(got) | set(wanted), key=str):
            same(f"{what}, {key}", got.get(key), wanted.get(key))
    raise Wrong(f"{what}: {got} instead of {wanted}")


def without_zeroes(costs):
    return {key: cost for key, cost in costs.items() if cost}


# ---- folded ----

def folded_name(text):
    return text.replace(";", ":")


def folded_lines(text):
    """Frames and number of each line, as the format's readers take them apart."""
    for line in text.decode("utf-8").split("\n")[:-1]:
        match = re.fullmatch(r"(\S.*) (\d+)", line)
        if not match:
            raise Wrong(f"no folded stack: {line!r}")
        yield match[1].split(";"), int(match[2])


UNITS = {"ir": "ir (instructions)", "bb": "bb (basic blocks)"}


def folded(profile):
    for unit in profile.units:
        wanted, got = collections.Counter(), collections.Counter()
        for context in profile.contexts:
            frames = [folded_name(profile.functions[function]["name"]) for function in reversed(profile.stack(context))]
            wanted[";".join([UNITS[unit], *frames])] += context["self"][unit]
        for record in profile.records if not profile.contexts else []:
            function = profile.functions[record["function"]]
            module = profile.module(function)
            frames = ([folded_name(module)] if module else []) + [folded_name(function["name"])]
            wanted[";".join(frames)] += record["self"][unit]
        for frames, cost in folded_lines(profile.export("folded", f"--unit={unit}")):
            got[";".join(frames)] += cost
        same(f"{unit} by function", dict(got), without_zeroes(wanted))
        same(f"{unit} in all", sum(got.values()), profile.total(unit))
        apart = collections.Counter()
        for frames, cost in folded_lines(profile.export("folded", f"--unit={unit}", "--threads")):
            apart[frames[1 if profile.contexts else 0]] += cost
        threads = collections.Counter()
        for record in profile.records:
            thread = profile.threads[record["thread"]]
            threads[f"thread {thread['id']} {thread['name']}".strip()] += record["self"][unit]
        same(f"{unit} by thread", dict(apart), without_zeroes(threads))


# ---- pprof ----

INT64_MAX = 2**63 - 1        # values are signed there; what is larger becomes this


def pprof_samples(found, text):
    """(stack, thread, n) -> values by their type; functions are positions in slope's list."""
    types = [text[decode.one(entry, "type")] for entry in found["sample_type"]]
    locations = {decode.one(entry, "id"): entry for entry in found["location"]}
    samples = collections.defaultdict(collections.Counter)
    for sample in found["sample"]:
        if len(sample["value"]) != len(types) or not sample["location_id"]:
            raise Wrong("a sample has other values or locations than it should")
        labels = {text[decode.one(label, "key")]: label for label in sample["label"]}
        thread = text[decode.one(labels["thread"], "str")] if "thread" in labels else None
        n = decode.one(labels["n"], "num") if "n" in labels else None
        stack = tuple(decode.one(locations[at]["line"][0], "function_id") - 1 for at in sample["location_id"])
        samples[stack, thread, n].update(dict(zip(types, sample["value"])))
    return {key: without_zeroes(values) for key, values in samples.items() if without_zeroes(values)}


def wanted_samples(profile):
    samples = collections.defaultdict(collections.Counter)

    def thread_of(entry):
        return str(profile.threads[entry["thread"]]["id"]) if len(profile.threads) > 1 else None

    for context in profile.contexts:
        values = {"calls": context["calls"]} | context["self"]
        samples[profile.stack(context), thread_of(context), None].update(values)
    for record in profile.records:
        thread = thread_of(record)
        values = {unit + "_total": min(record["total"][unit], INT64_MAX) for unit in profile.units}
        if not profile.contexts:
            values |= {"calls": record["calls"]} | record["self"]
        samples[(record["function"],), thread, None].update(values)
        for point in profile.points(record):
            values = {"calls_by_n": point["calls"]}
            values |= {unit + "_by_n": min(point["cost"][unit]["sum"], INT64_MAX) for unit in profile.units}
            samples[(record["function"],), thread, min(point["n"], INT64_MAX)].update(values)
    return {key: without_zeroes(values) for key, values in samples.items() if without_zeroes(values)}


def pprof_places(profile, found, text):
    mappings = {decode.one(entry, "id"): entry for entry in found["mapping"]}
    functions = {decode.one(entry, "id"): entry for entry in found["function"]}
    same("mappings", len(mappings), len(profile.truth["modules"]) - 1)
    for location in found["location"]:
        index = decode.one(location, "id") - 1
        wanted = profile.functions[index]
        function = functions[decode.one(location["line"][0], "function_id")]
        same("name", text[decode.one(function, "name")], wanted["name"])
        same("symbol", text[decode.one(function, "system_name")], wanted["symbol"] or "")
        same("file", text[decode.one(function, "filename")], profile.file(wanted) or "")
        same("line", decode.one(function, "start_line"), wanted["line"])
        same("address", decode.one(location, "address"), wanted["offset"])
        same("mapping", decode.one(location, "mapping_id"), wanted["module"])
        if not wanted["module"]:
            continue
        mapping, module = mappings[wanted["module"]], profile.truth["modules"][wanted["module"]]
        same("path", text[decode.one(mapping, "filename")], module["path"])
        same("build id", text[decode.one(mapping, "build_id")], module["build_id"] or "")
        if not decode.one(mapping, "memory_start") <= wanted["offset"] < decode.one(mapping, "memory_limit"):
            raise Wrong(f"{wanted['name']} lies outside its mapping")


def pprof_command():
    if shutil.which("pprof"):
        return ["pprof"]
    if shutil.which("go") and not subprocess.run(["go", "tool", "-n", "pprof"], capture_output=True).returncode:
        return ["go", "tool", "pprof"]
    return None


def ask_pprof(profile, path):
    """What pprof's own table has for each value."""
    command = pprof_command()
    if not command or not profile.records:
        return
    for unit in profile.units:
        table = profiles.run(*command, "-top", f"-sample_index={unit}", path).decode()
        total = re.search(r"of (\d+) total", table)
        same(f"pprof's total of {unit}", int(total[1]) if total else 0, profile.total(unit))
    tags = profiles.run(*command, "-tags", "-sample_index=calls_by_n", path).decode()
    wanted = sum(point["calls"] for record in profile.records for point in profile.points(record))
    total = re.search(r"^ *n: Total (\d+)", tags, re.M)
    same("pprof's calls by n", int(total[1]) if total else 0, wanted)


def pprof(profile):
    path = profile.export_to("pprof", "profile.pb.gz")
    found = decode.profile(path)
    text = found["string_table"]
    same("the first text", text[0], "")
    same("samples", pprof_samples(found, text), wanted_samples(profile))
    same("the default", text[decode.one(found, "default_sample_type")], profile.units[0])
    same("the last type", text[decode.one(found["sample_type"][-1], "type")], profile.units[0])
    same("the period's type", text[decode.one(found["period_type"][0], "type")], profile.units[0])
    pprof_places(profile, found, text)
    ask_pprof(profile, path)


# ---- Extra-P ----

def extrap_name(profile, function):
    names = collections.Counter(other["name"] for other in profile.functions)
    name = function["name"].replace("->", "- >")
    if names[function["name"]] > 1:
        name += f" ({profile.module(function)}+{function['offset']:#x})"
    return name


def extrap_points(text):
    """(callpath, metric, n) -> value: each line by itself, as the description of JSON Lines for Extra-P wants it."""
    points = {}
    for line in text.decode("utf-8").split("\n")[:-1]:
        entry = json.loads(line)
        if set(entry) != {"params", "callpath", "metric", "value"} or list(entry["params"]) != ["n"]:
            raise Wrong(f"not as described: {line}")
        if not all(type(number) in (int, float) for number in (entry["params"]["n"], entry["value"])):
            raise Wrong(f"no numbers: {line}")
        key = entry["callpath"], entry["metric"], float(entry["params"]["n"])
        if key in points or "->" in key[0]:
            raise Wrong(f"{key} is there twice, or reads as a calling context")
        points[key] = entry["value"]
    return points


def edge(n, bits):
    """The size that n falls to where sizes keep so many binary digits after the first."""
    cut = max(n.bit_length() - 1 - bits, 0)
    return n >> cut << cut


def extrap(profile):
    bits = collections.defaultdict(lambda: 64)
    for record in profile.records:
        if profile.points(record):
            kept = record["points"][profile.metric].get("folded_to_bits", 64)
            bits[record["function"]] = min(bits[record["function"]], kept)
    wanted = collections.defaultdict(lambda: [0, 0])
    for record in profile.records:
        for point in profile.points(record) if record["function"] else []:
            for unit in profile.units:
                size = float(edge(point["n"], bits[record["function"]]))
                sums = wanted[extrap_name(profile, profile.functions[record["function"]]), unit, size]
                sums[0] += point["cost"][unit]["sum"]
                sums[1] += point["calls"]
    got = extrap_points(profile.export("extrap"))
    same("points", set(got), set(wanted))
    for key, (cost, calls) in wanted.items():
        if abs(got[key] - cost / calls) > 1e-9 * cost / calls:
            raise Wrong(f"{key}: {got[key]} instead of {cost}/{calls}")
    for function in {record["function"] for record in profile.records if record["function"] and profile.points(record)}:
        name = profile.functions[function]["name"]
        if "\ufffd" in name:
            continue             # nobody can type it
        twins = {extrap_name(profile, other) for other in profile.functions if name in (other["name"], other["symbol"])}
        chosen = extrap_points(profile.export("extrap", f"--function={name}"))
        same(f"points of {name}", chosen, {key: value for key, value in got.items() if key[0] in twins})


# ---- callgrind ----

def callgrind(profile):
    if not shutil.which("callgrind_annotate"):
        raise Missing("no callgrind_annotate")
    path = profile.export_to("callgrind", "callgrind.out.1")
    if not profile.total(profile.units[0]):
        return               # callgrind_annotate divides by the total
    table = profiles.run("callgrind_annotate", "--auto=no", "--threshold=100", path).decode(errors="replace")
    lines = re.findall(r"^ *((?:[\d,.]+ (?:\([ \d.%]+\) *)? *)+) (.*)$", table, re.M)
    # It takes functions of one file and name for one, whatever the object that it shows behind them.
    found = {name.partition(" [")[0]: int(numbers.split()[0].replace(",", "")) for numbers, name in lines}
    same("callgrind_annotate's total", found.pop("PROGRAM TOTALS", None), profile.total(profile.units[0]))
    wanted = collections.Counter()
    for entry in profile.contexts or profile.records:
        function = profile.functions[entry["function"]]
        caller = profile.stack(entry)[1:2] if profile.contexts else ()
        name = "'".join([function["name"], *(profile.functions[at]["name"] for at in caller)])
        wanted[f"{profile.file(function) or '???'}:{name}"] += entry["self"][profile.units[0]]
    same("callgrind_annotate's table", found, {name: wanted[name] for name in found})
    if sum(found.values()) < 0.99 * sum(wanted.values()):    # it leaves the smallest out, even at 100 %
        raise Wrong(f"callgrind_annotate found no more than {sum(found.values())} of {sum(wanted.values())}")


# ---- speedscope ----

@functools.cache
def package(scratch):
    """The folder of the npm package in its version of package-lock.json, installed on first use."""
    if not shutil.which("node") or not shutil.which("npm"):
        return None, "no node or no npm"
    folder = os.path.join(scratch, "npm")
    lock, whole = os.path.join(folder, "package-lock.json"), os.path.join(folder, "node_modules/.package-lock.json")
    wanted = os.path.join(profiles.HERE, "package-lock.json")
    if not os.path.exists(whole) or not filecmp.cmp(lock, wanted, shallow=False):
        os.makedirs(folder, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(profiles.HERE, name), folder)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1",
                   "--fetch-timeout=30000"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            reasons = [line for line in done.stderr.splitlines() if " code " in line or " network " in line]
            return None, "npm could not fetch speedscope: " + (reasons or ["no reason given"])[-1]
    return os.path.join(folder, "node_modules/speedscope"), None


def fits(schema, value, root, where="$"):
    """As much of JSON schema as speedscope's has; every other word in it is an error."""
    for word, rule in schema.items():
        if word in ("title", "$schema", "definitions"):
            continue
        if word == "$ref":
            fits(root["definitions"][rule.split("/")[-1]], value, root, where)
        elif word == "anyOf":
            for choice in rule:
                try:
                    return fits(choice, value, root, where)
                except Wrong:
                    pass
            raise Wrong(f"{where} fits none of the choices")
        elif word == "type":
            kinds = {"object": dict, "array": list, "string": str, "number": (int, float)}
            same(f"type of {where}", isinstance(value, kinds[rule]), True)
        elif word == "const":
            same(where, value, rule)
        elif word == "enum":
            same(f"{where} is {value}, one of {rule}", value in rule, True)
        elif word == "required":
            same(f"missing in {where}", [key for key in rule if key not in value], [])
        elif word == "properties":
            for key, inner in rule.items():
                if key in value:
                    fits(inner, value[key], root, f"{where}.{key}")
        elif word == "items":
            for i, item in enumerate(value):
                fits(rule, item, root, f"{where}[{i}]")
        else:
            raise Wrong(f"the schema says {word}, which this test does not know")


def by_frame(profile, unit, thread=None):
    costs = collections.Counter()
    for record in profile.records:
        if thread not in (None, record["thread"]):
            continue
        function = profile.functions[record["function"]]
        file = profile.file(function) or profile.truth["modules"][function["module"]]["path"]
        place = f" {file}" + (f":{function['line']}" if function["line"] else "") if file else ""
        costs[function["name"] + place] += record["self"][unit]
    return without_zeroes(costs)


def speedscope(profile):
    folder, missing = package(profile.folder)
    if missing:
        raise Missing(missing)
    path = profile.export_to("speedscope", "profile.json")
    with open(os.path.join(folder, "dist/release/file-format-schema.json")) as schema, open(path) as file:
        rules = json.load(schema)
        fits(rules, json.load(file), rules)
    if not any(profile.total(unit) for unit in profile.units):
        return               # its other importers refuse what is empty
    paths = {"speedscope": path, "pprof": profile.export_to("pprof", "profile.pb.gz"),
             "collapsed": profile.export_to("folded", "profile.folded")}
    if all(max(edge["cost"].values()) <= profile.total(profile.units[0]) for edge in profile.truth["edges"]):
        paths["Callgrind"] = profile.export_to("callgrind", "callgrind.out.1")
    out = profiles.run("node", os.path.join(profiles.HERE, "speedscope.js"), folder, *paths.values()).decode()
    seen = [json.loads(line) for line in out.splitlines()]
    for word, reader in zip(paths, seen):
        same(f"{reader['as']} is for {word}", word in reader["as"], True)
        same(f"total of {word}", reader["profiles"][0]["total"], profile.total(profile.units[0]))
    sheets = [(unit, None) for unit in profile.units]
    if len(profile.threads) > 1:
        ran = sorted({record["thread"] for record in profile.records})
        sheets += [(unit, thread) for thread in ran for unit in profile.units]
    same("profiles", len(seen[0]["profiles"]), len(sheets))
    for (unit, thread), sheet in zip(sheets, seen[0]["profiles"]):
        same(f"the unit in '{sheet['name']}'", sheet["name"].startswith(unit), True)
        same(f"'{sheet['name']}'", without_zeroes(sheet["frames"]), by_frame(profile, unit, thread))


ALL = {"callgrind": callgrind, "folded": folded, "pprof": pprof, "extrap": extrap, "speedscope": speedscope}
