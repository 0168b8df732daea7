#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores the mutants of many kernels, and writes the tables of docs/mutation.md.

    tools/mutation_table.py --score=build/dev/bin/handoff --public=CHECKOUTS -j 16   # all; then docs/mutation.json and the tables
    tools/mutation_table.py --score=HANDOFF --only='ring|tma'                # these files again; the others stay as they are
    tools/mutation_table.py --score=HANDOFF --operators=copy-predicate       # these operators again
    tools/mutation_table.py --merge                                          # no run: what --results has, then the tables
    tools/mutation_table.py                                                  # the tables, from docs/mutation.json and docs/gpu
    tools/mutation_table.py --check                                          # exit code 1 where a table does not say what the results say

Files are the sources in kernels/, the correct cases of testcases/cases.tsv (rule `none`, active, through Clang), and with --public the
units of tools/real_code/tus.json whose asynchronous kernels are all verified in docs/real-code.json; CHECKOUTS is a folder with their
repositories, as for tools/real_code_table.py. Python and the binary are all that it takes.

Each file is scored by one process, and one that takes long by several, which share its mutants. What a process says is kept in --results;
one that is there, of the same binary and options, is not run again, so a run that was ended goes on where it was. Several machines may
each score files of their own (--only): copy the results into one folder, and --merge there. docs/mutation.json gets what was scored, in
the order of the files, and keeps the rest.

docs/mutation_reasons.tsv says of each mutant that is neither killed nor equivalent why; one without a reason is an error. With
--witness=DIR the mutants that are killed or equivalent get jobs for handoff-confirm. --sample=DIR2 links some of the killed ones of
each operator and kernel there, --equivalent=DIR3 all equivalent ones. docs/gpu/mutants.json and docs/gpu/equivalent.json are what
handoff-confirm says of them.
"""
import argparse
import collections
import csv
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

ROOT = pathlib.Path(__file__).resolve().parent.parent
FATES = ["killed", "possible", "noted", "unproved", "survived", "equivalent", "outside"]
OPEN = ["possible", "noted", "unproved", "survived"]
MARK = re.compile(r"(<!-- tools/mutation_table.py: (\w+) -->\n).*?(<!-- end -->)", re.S)
Input = collections.namedtuple("Input", "part name file arch options flags", defaults=[(), ()])
PART_SECONDS, MAX_PARTS = 40, 48  # of processor time, as the last scores have it
UNKNOWN_SECONDS = {"kernels": 300, "testcases": 20, "public": 80}


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def public_inputs(checkouts, folder):
    """Paths are made where `checkouts` is given; the names are the same without."""
    import real_code_table as real
    units = read_json(ROOT / "tools/real_code/tus.json")
    verdicts = {row["name"]: {k["verdict"] for k in row["kernels"] if k["async"]} for row in read_json(ROOT / "docs/real-code.json")}
    for unit in units["units"]:
        if verdicts.get(unit["name"]) != {"verified"}:
            continue
        repository = units["repositories"][unit["repository"]]
        name = f"{repository['github']}/{unit['source'].replace('{tus}', 'tus')}"
        if checkouts is None:
            yield Input("public", name, "", unit["arch"])
            continue
        place = folder / unit["name"]
        place.mkdir(parents=True, exist_ok=True)
        config = real.config_of(unit, place)
        command = real.command_of("", units["repositories"], unit, checkouts.resolve(), None, 0)
        at = command.index("--")
        options = [f"--kernel={unit['kernel']}"] if "kernel" in unit else []
        options += [f"--config-file={config}"] if config is not None else []
        yield Input("public", name, command[at - 1], unit["arch"], tuple(options), tuple(command[at + 1:]))


def inputs(public, folder):
    includes = (f"-I{ROOT / 'kernels'}", f"-I{ROOT / 'runtime/include'}", "-std=c++20")
    rows = []
    for path in sorted((ROOT / "kernels").glob("*/*.cu")):
        if path.parent.name != "common":
            name = str(path.relative_to(ROOT))
            rows.append(Input("kernels", name, name, "sm_90a", flags=includes))
    for row in read_table(ROOT / "testcases/cases.tsv"):
        if row["rule"] == "none" and row["status"] == "active" and "clang" in row["frontends"].split(","):
            rows.append(Input("testcases", "testcases/" + row["path"], "testcases/" + row["path"], row["arch"]))
    rows += public_inputs(public, folder)
    names = collections.Counter(row.name for row in rows)
    assert max(names.values()) == 1, names.most_common(1)
    return rows


Work = collections.namedtuple("Work", "given part parts seconds")


def key_of(work, options, binary):
    """What a result depends on beside the files; not who runs it."""
    return {"handoff": binary, "arch": work.given.arch, "part": f"{work.part}/{work.parts}", "operators": options.operators,
            "time_limit": options.time_limit, "witness": bool(options.witness)}


def result_path(options, work):
    name = re.sub(r"[^A-Za-z0-9.-]+", "_", work.given.name)
    return options.results / f"{name}.{work.part}of{work.parts}.json"


def score(handoff, work, options, key):
    given = work.given
    command = [handoff, "mutate", "--frontend=clang", f"--arch={given.arch}", "--format=json", "-j", "1",
               f"--time-limit={options.time_limit}", f"--part={work.part}/{work.parts}", *given.options]
    command += [f"--operators={options.operators}"] if options.operators else []
    command += [f"--emit-witness={options.witness}", "--witness-all"] if options.witness else []
    command += [given.file, "--", *given.flags] if given.flags else [given.file]
    start = time.monotonic()
    result = {"key": key, "file": given.name, "part": work.part, "parts": work.parts, "date": str(datetime.date.today())}
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=options.file_limit, check=False)
        # Where the checkouts lie is nobody's business.
        checkouts = str(options.public.resolve()) + "/" if options.public else "\0"
        report = json.loads(done.stdout.replace(checkouts, "").replace(str(ROOT) + "/", ""))
        result["kernels"], result["skipped"] = report["kernels"], report["skipped"]
        if done.returncode != 0:
            result["error"] = done.stderr.strip()[-300:]
    except subprocess.TimeoutExpired:
        result["error"] = f"not over in {options.file_limit} s"
    except (json.JSONDecodeError, LookupError):
        result["error"] = done.stderr.strip()[-300:] or f"exit code {done.returncode}"
    result["seconds"] = round(time.monotonic() - start, 1)
    path = result_path(options, work)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    partial.write_text(json.dumps(result), encoding="utf-8")
    partial.replace(path)
    return result


def is_done(path, key):
    try:
        result = read_json(path)
        return result["key"] == key and "error" not in result
    except (OSError, json.JSONDecodeError, LookupError):
        return False


def work_of(rows, known, part_seconds):
    """The longest first, so that no long one is left for the end."""
    works = []
    for given in rows:
        old = known.get(given.name, {})
        seconds = UNKNOWN_SECONDS[given.part] if not old.get("kernels") and not old.get("skipped") else old["seconds"]
        seconds = max(seconds, UNKNOWN_SECONDS[given.part]) if "error" in old else seconds
        parts = min(MAX_PARTS, max(1, round(seconds / part_seconds)))
        works += [Work(given, part, parts, seconds / parts) for part in range(1, parts + 1)]
    return sorted(works, key=lambda work: -work.seconds)


def score_all(options):
    options.results.mkdir(parents=True, exist_ok=True)
    known = {result["file"]: result for result in (read_json(options.json)["files"] if options.json.is_file() else [])}
    rows = [row for row in inputs(options.public, options.results / "launches") if re.search(options.only, row.name) and row.file]
    handoff = pathlib.Path(options.score).resolve()
    binary = hashlib.sha256(handoff.read_bytes()).hexdigest()[:16]
    keys = {work: key_of(work, options, binary) for work in work_of(rows, known, options.part_seconds)}
    for work in keys:  # of another number of parts
        for old in options.results.glob(result_path(options, work._replace(part="*", parts="*")).name):
            if not old.name.endswith(f"of{work.parts}.json"):
                old.unlink()
    works = [work for work in keys if not is_done(result_path(options, work), keys[work])]
    print(f"{len(rows)} files in {len(keys)} parts, {len(keys) - len(works)} of them done before", file=sys.stderr, flush=True)
    with ThreadPoolExecutor(options.j) as pool:
        running = [pool.submit(score, str(handoff), work, options, keys[work]) for work in works]
        for done, future in enumerate(as_completed(running), 1):
            result = future.result()
            counts = collections.Counter(m["fate"] for kernel in result.get("kernels", []) for m in kernel["mutants"])
            print(f"{done}/{len(works)} {result['file']} {result['part']}/{result['parts']}: {result.get('error') or dict(counts)} "
                  f"{result['seconds']} s", file=sys.stderr, flush=True)
    return binary


def joined(given, parts):
    """One file of the parts that its mutants were dealt to, in turns."""
    parts.sort(key=lambda result: result["part"])
    whole = {"part": given.part, "file": given.name, "arch": given.arch, "date": max(result["date"] for result in parts)}
    errors = [result["error"] for result in parts if "error" in result]
    missing = parts[0]["parts"] - len(parts)
    if errors or missing:
        whole["error"] = errors[0] if errors else f"{missing} of {parts[0]['parts']} parts were not scored"
    else:
        whole["skipped"] = parts[0]["skipped"]
        whole["kernels"] = []
        for same in zip(*(result["kernels"] for result in parts)):
            mutants = [kernel["mutants"] for kernel in same]
            order = [(n, k) for k, list_ in enumerate(mutants) for n in range(len(list_))]
            whole["kernels"].append({**same[0], "mutants": [mutants[k][n] for n, k in sorted(order)]})
    whole["seconds"] = round(sum(result["seconds"] for result in parts), 1)
    return whole


def keep_old(new, old, operators):
    """From the last scores: jobs that were made of the same finding, and mutants of operators that were not asked for."""
    def key(mutant):
        return tuple(mutant.get(field) for field in ("operator", "change", "line", "fate", "rule"))
    kernels = {kernel["kernel"]: kernel["mutants"] for kernel in old.get("kernels", [])}
    for kernel in new.get("kernels", []):
        before = kernels.get(kernel["kernel"], [])
        jobs = collections.defaultdict(list)
        for mutant in before:
            jobs[key(mutant)].append(mutant.get("jobs"))
        for mutant in kernel["mutants"]:
            same = jobs[key(mutant)]
            given = same.pop(0) if same else None
            if given and "jobs" not in mutant:
                mutant["jobs"] = given
        if operators:
            kernel["mutants"] = [m for m in before if m["operator"] not in operators] + kernel["mutants"]
    if operators and "error" in new:
        return {**old, "error": new["error"]}
    return new


def merge(options, binary=None):
    """What this binary has said; None: any. Returns how many files have no scores."""
    old = read_json(options.json) if options.json.is_file() else {"files": []}
    known = {result["file"]: result for result in old["files"]}
    parts = collections.defaultdict(list)
    for path in sorted(options.results.glob("*.json")):
        result = read_json(path)
        if binary in (None, result["key"]["handoff"]):
            parts[result["file"]].append(result)
    files = []
    for given in inputs(None, None):
        before = known.get(given.name)
        if before is not None:
            before.setdefault("date", old.get("date"))
        if given.name in parts:
            operators = parts[given.name][0]["key"]["operators"]
            files.append(keep_old(joined(given, parts[given.name]), before or {}, set(operators.split(",")) - {""}))
        elif before is not None:
            files.append(before)
    limits = {result["key"]["time_limit"] for results in parts.values() for result in results}
    write_scores(options.json, files, max(limits, default=old.get("time_limit")))
    return sum("error" in result for result in files)


def write_scores(path, results, seconds):
    """One line a mutant, so that a change of the analysis shows as a change of lines."""
    lines = [f'{{"version": 1, "time_limit": {seconds}, "files": [']
    for r, result in enumerate(results):
        head = {key: value for key, value in result.items() if key != "kernels"}
        lines.append(json.dumps(head)[:-1] + ', "kernels": [')
        for k, kernel in enumerate(result.get("kernels", [])):
            head = {key: value for key, value in kernel.items() if key != "mutants"}
            lines.append(" " + json.dumps(head)[:-1] + ', "mutants": [')
            lines += ["  " + json.dumps(mutant) + "," for mutant in kernel["mutants"]]
            lines[-1] = lines[-1].rstrip(",") + "]}" + ("," if k + 1 < len(result["kernels"]) else "")
        lines[-1] += "]}" + ("," if r + 1 < len(results) else "")
    partial = path.with_suffix(".partial")
    partial.write_text("\n".join(lines + ["]}"]) + "\n", encoding="utf-8")
    partial.replace(path)


def markdown(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)] + ["| " + " | ".join(map(str, row)) + " |" for row in rows]


def escaped(text):
    return text.replace("|", "\\|")


SHARES = ["killed of what counts", "with `possible`", "killed of broken orders"]
OTHER_DATA = "verified, and other data"


def fates_of(mutant):
    """What a mutant counts as: its fate, and whether the replay shows that it is the data that are wrong."""
    is_data = mutant["fate"] == "survived" and mutant.get("why") == "a read sees another write"
    return [mutant["fate"], OTHER_DATA] if is_data else [mutant["fate"]]


def total_of(counts):
    return sum(counts[fate] for fate in FATES)


def shares(counts):
    """Of what is neither equivalent nor outside: killed; killed or possible; killed, if those whose data are wrong in the right order do not count."""
    others = total_of(counts) - counts["equivalent"] - counts["outside"]
    of = [(counts["killed"], others), (counts["killed"] + counts["possible"], others), (counts["killed"], others - counts[OTHER_DATA])]
    return [f"{100 * count / whole:.1f} %" if whole else "-" for count, whole in of]


class Tables:
    def __init__(self, scores, gpu, reasons):
        self.scores, self.gpu, self.reasons = scores, gpu, reasons
        self.all = [(result, kernel, mutant) for result in scores["files"] for kernel in result.get("kernels", []) for mutant in kernel["mutants"]]
        self.without_reason = []

    def make(self, name):
        return "\n".join(getattr(self, name)()) + "\n"

    def counted(self, key):
        counts = collections.defaultdict(collections.Counter)
        for result, kernel, mutant in self.all:
            counts[key(result, kernel, mutant)].update(fates_of(mutant))
        return counts

    def rows(self, counts):
        total = sum(counts.values(), collections.Counter())
        for name, count in [*counts.items(), ("**all**", total)]:
            yield [name, total_of(count), *(count[fate] or "" for fate in FATES), *shares(count)]

    def operators(self):
        return markdown(["operator", "mutants", *FATES, *SHARES], self.rows(dict(sorted(self.counted(lambda r, k, m: f"`{m['operator']}`").items()))))

    def parts(self):
        names = {"kernels": "`kernels/`", "testcases": "correct test cases", "public": "public kernels"}

        def name(result, kernel, mutant):
            return f"{names[result['part']]}, {'verified' if kernel['verdict'] == 'verified' else 'bounded'}"
        kernels = collections.Counter(name(r, k, None) for r in self.scores["files"] for k in r.get("kernels", []) if k["mutants"])
        counts = self.counted(name)
        verified = sum((c for n, c in counts.items() if n.endswith("verified")), collections.Counter())
        rows = [[row[0], kernels[row[0]] or sum(kernels.values()), *row[1:]] for row in self.rows(counts)]
        strict, wide, ordered = shares(verified)
        dates = sorted({result.get("date") or self.scores["date"] for result in self.scores["files"]})
        head = (f"{' to '.join(dict.fromkeys((dates[0], dates[-1])))}, Clang front end, {self.scores['time_limit']} s for each mutant. Of kernels that are `verified` themselves, {strict} of "
                f"the mutants that count are killed, {wide} with `possible` ones, and {ordered} of those that break an order.")
        return [head, "", *markdown(["", "kernels", "mutants", *FATES, *SHARES], rows)]

    def kernels(self):
        def name(result, kernel, mutant):
            title = kernel["kernel"].replace("(anonymous namespace)::", "")
            title = re.sub(r"^void ", "", title.split("(", 1)[0])
            return f"`{result['file'].removeprefix('testcases/')}`: `{title}`"
        return markdown(["kernel", "mutants", *FATES, *SHARES], self.rows(self.counted(name)))

    def reason_of(self, result, mutant):
        for row in self.reasons:
            texts = (result["file"], mutant["operator"], str(mutant["line"]), mutant["fate"], mutant.get("why", "") or mutant.get("rule", ""))
            columns = ("file", "operator", "line", "fate", "why")
            if all(row[column] in ("", "-") or re.search(row[column], text) for column, text in zip(columns, texts)):
                return row["reason"]
        self.without_reason.append(f"{result['file']}:{mutant['line']}: {mutant['fate']}: {mutant['operator']}: {mutant['change']}")
        return "?"

    def survivors(self):
        groups = collections.defaultdict(list)
        for result, kernel, mutant in self.all:
            if mutant["fate"] in OPEN:
                groups[self.reason_of(result, mutant)].append((result, mutant))
        lines = []
        for reason, members in sorted(groups.items(), key=lambda item: -len(item[1])):
            lines += ["", f"{len(members)}: {reason}", ""]
            lines += [f"- `{r['file'].removeprefix('testcases/')}:{m['line']}` {m['operator']}, {m['fate']}: {escaped(m['change'])}" for r, m in members]
        return lines[1:]

    def left_out(self):
        reasons = collections.defaultdict(list)
        for result in self.scores["files"]:
            for skipped in result.get("skipped", []):
                reasons[skipped["why"]].append(f"`{result['file'].removeprefix('testcases/')}`")
            if "error" in result:
                reasons[result["error"]].append(f"`{result['file']}`")
        return [f"- {len(files)} kernels: {escaped(reason)}: {', '.join(dict.fromkeys(files))}" for reason, files in sorted(reasons.items())]

    def said_by_gpu(self, name, statuses):
        """By operator; a mutant has the first status that any of its jobs has. Nothing where nobody has asked the GPU yet."""
        results = self.gpu.get(name)
        if results is None:
            return []
        status = {job["name"]: job["status"] for job in results["jobs"]}
        counts = collections.defaultdict(collections.Counter)
        kernels = set()
        for result, kernel, mutant in self.all:
            said = {status[name] for name in mutant.get("jobs", []) if name in status}
            if not said:
                continue
            kernels.add((result["file"], kernel["kernel"]))
            counts[f"`{mutant['operator']}`"][next(s for s in statuses if s in said)] += 1
        total = sum(counts.values(), collections.Counter())
        head = (f"{results['date']}, {results['device']}, {results['launches_per_cell']} launches of each kernel under each perturbation: "
                f"{sum(total.values())} mutants of {len(kernels)} kernels.")
        rows = [[name, sum(c.values()), *(c[s] or "" for s in statuses)] for name, c in [*sorted(counts.items()), ("**all**", total)]]
        return [head, "", *markdown(["operator", "mutants", *statuses], rows)]

    def on_gpu(self):
        return self.said_by_gpu("mutants", ("confirmed", "not reproduced", "invalid"))

    def equivalent_on_gpu(self):
        return self.said_by_gpu("equivalent", ("failed", "held", "invalid"))


def sample(scores, witness, target, wanted):
    """In turns over operators, and within an operator over files."""
    queues = collections.defaultdict(list)
    for result in scores["files"]:
        for kernel in result.get("kernels", []):
            for mutant in kernel["mutants"]:
                # Jobs of an earlier run lie elsewhere.
                if mutant["fate"] == "killed" and mutant.get("jobs") and (witness / mutant["jobs"][0]).is_dir():
                    queues[mutant["operator"]].append((result["file"], kernel["kernel"], mutant["jobs"]))
    for queue in queues.values():
        seen = collections.Counter()
        order = []
        for entry in queue:
            order.append((seen[entry[:2]], entry))
            seen[entry[:2]] += 1
        queue[:] = [entry for _, entry in sorted(order, key=lambda pair: pair[0])]
    chosen = 0
    target.mkdir(parents=True, exist_ok=True)
    while chosen < wanted and any(queues.values()):
        for queue in queues.values():
            if not queue or chosen >= wanted:
                continue
            chosen += 1
            job = queue.pop(0)[2][0]  # of the first finding
            (target / job).symlink_to((witness / job).resolve())
    return chosen


def link_equivalent(scores, witness, target):
    jobs = [job for result in scores["files"] for kernel in result.get("kernels", []) for mutant in kernel["mutants"]
            if mutant["fate"] == "equivalent" for job in mutant.get("jobs", []) if (witness / job).is_dir()]
    target.mkdir(parents=True, exist_ok=True)
    for job in jobs:
        (target / job).symlink_to((witness / job).resolve())
    return len(jobs)


def write_tables(is_check):
    files = {name: ROOT / f"docs/gpu/{name}.json" for name in ("mutants", "equivalent")}
    gpu = {name: read_json(path) for name, path in files.items() if path.is_file()}
    tables = Tables(read_json(ROOT / "docs/mutation.json"), gpu, read_table(ROOT / "docs/mutation_reasons.tsv"))
    page = ROOT / "docs/mutation.md"
    old = page.read_text(encoding="utf-8")
    new = MARK.sub(lambda match: match[1] + tables.make(match[2]) + match[3], old)
    for mutant in tables.without_reason:
        print(f"docs/mutation_reasons.tsv: no reason for {mutant}", file=sys.stderr)
    if is_check:
        if new != old:
            print("docs/mutation.md: a table is not that of its results; run tools/mutation_table.py", file=sys.stderr)
        return 1 if new != old or tables.without_reason else 0
    page.write_text(new, encoding="utf-8")
    return 1 if tables.without_reason else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the tables with the results, and change nothing")
    parser.add_argument("--score", metavar="HANDOFF", help="score the mutants with this binary")
    parser.add_argument("--merge", action="store_true", help="take what --results has, and score nothing")
    parser.add_argument("--only", metavar="REGEX", default="", help="files whose name matches")
    parser.add_argument("--operators", metavar="NAMES", default="", help="mutants of these operators only")
    parser.add_argument("--public", type=pathlib.Path, metavar="CHECKOUTS", help="also public kernels, of the repositories in this folder")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build/mutation", metavar="DIR", help="what each process says (default build/mutation)")
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "docs/mutation.json", metavar="FILE", help="merge the scores into FILE")
    parser.add_argument("--witness", type=pathlib.Path, metavar="DIR", help="write jobs of the mutants that are killed or equivalent to DIR")
    parser.add_argument("--sample", type=pathlib.Path, metavar="DIR", help="link jobs of --witness for handoff-confirm")
    parser.add_argument("--equivalent", type=pathlib.Path, metavar="DIR", help="link jobs of --witness of the equivalent ones")
    parser.add_argument("--mutants", type=int, default=300, metavar="N", help="mutants of the sample (default 300)")
    parser.add_argument("--time-limit", type=int, default=20, metavar="SECONDS", help="for each mutant (default 20)")
    parser.add_argument("--file-limit", type=int, default=3600, metavar="SECONDS", help="for each process (default 3600)")
    parser.add_argument("--part-seconds", type=float, default=PART_SECONDS, metavar="SECONDS",
                        help=f"files that took longer are shared among processes (default {PART_SECONDS})")
    parser.add_argument("-j", type=int, default=1, metavar="N", help="processes at a time (default 1)")
    options = parser.parse_args()
    failed = merge(options, score_all(options)) if options.score else merge(options) if options.merge else 0
    if options.sample:
        if not options.witness:
            parser.error("--sample takes jobs from --witness=DIR")
        print(f"{sample(read_json(options.json), options.witness, options.sample, options.mutants)} mutants", file=sys.stderr)
    if options.equivalent:
        if not options.witness:
            parser.error("--equivalent takes jobs from --witness=DIR")
        print(f"{link_equivalent(read_json(options.json), options.witness, options.equivalent)} equivalent mutants", file=sys.stderr)
    is_default = options.json == ROOT / "docs/mutation.json"
    return (write_tables(options.check) if is_default else 0) or (1 if failed else 0)


if __name__ == "__main__":
    sys.exit(main())
