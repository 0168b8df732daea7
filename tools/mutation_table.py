#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores the mutants of many kernels, and writes the tables of docs/mutation.md.

    tools/mutation_table.py --score=build/dev/bin/handoff   # all files; writes docs/mutation.json, then the tables
    tools/mutation_table.py --score=HANDOFF --only='ring|tma' --json=some.json   # some of them; writes no table
    tools/mutation_table.py                                 # the tables, from docs/mutation.json and docs/gpu/mutants.json
    tools/mutation_table.py --check                         # exit code 1 where a table does not say what the results say

Files are the sources in kernels/, the correct cases of testcases/cases.tsv (rule `none`, active, through Clang), and with --public=FOLDER
those of docs/mutation_public.tsv, whose repositories lie in FOLDER by their names. docs/mutation_reasons.tsv says of each mutant that is
neither killed nor equivalent why; one without a reason is an error. With --witness=DIR the mutants that are killed get jobs for
handoff-confirm, and --sample=DIR2 links some of each operator and kernel there. docs/gpu/mutants.json is what handoff-confirm says of them.
"""
import argparse
import collections
import csv
import datetime
import json
import pathlib
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
FATES = ["killed", "possible", "noted", "unproved", "survived", "equivalent", "outside"]
OPEN = ["possible", "noted", "unproved", "survived"]
MARK = re.compile(r"(<!-- tools/mutation_table.py: (\w+) -->\n).*?(<!-- end -->)", re.S)
Input = collections.namedtuple("Input", "part name file arch flags launch", defaults=["-"])


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def inputs(public):
    rows = []
    includes = [f"-I{ROOT / 'kernels'}", f"-I{ROOT / 'runtime/include'}", "-std=c++20"]
    for path in sorted((ROOT / "kernels").glob("*/*.cu")):
        if path.parent.name != "common":
            name = str(path.relative_to(ROOT))
            rows.append(Input("kernels", name, name, "sm_90a", includes))
    for row in read_table(ROOT / "testcases/cases.tsv"):
        if row["rule"] == "none" and row["status"] == "active" and "clang" in row["frontends"].split(","):
            rows.append(Input("testcases", "testcases/" + row["path"], "testcases/" + row["path"], row["arch"], []))
    if public is not None:
        for row in read_table(ROOT / "docs/mutation_public.tsv"):
            folder = public.resolve() / pathlib.PurePosixPath(row["repository"]).name
            flags = [flag.replace("$REPO", str(folder)) for flag in row["flags"].split()]
            rows.append(Input("public", f"{row['repository']}/{row['file']}", str(folder / row["file"]), row["arch"], flags, row["launch"]))
    return rows


def score(handoff, given, options):
    command = [handoff, "mutate", "--frontend=clang", f"--arch={given.arch}", "--format=json", "-j", str(options.threads),
               f"--time-limit={options.time_limit}"]
    command += [f"--emit-witness={options.witness}"] if options.witness else []
    command += [f"--launch={given.launch}"] if given.launch != "-" else []
    command += [given.file, "--", *given.flags] if given.flags else [given.file]
    start = time.monotonic()
    result = {"part": given.part, "file": given.name, "arch": given.arch}
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=options.file_limit, check=False)
        report = json.loads(done.stdout)
        result["kernels"], result["skipped"] = report["kernels"], report["skipped"]
        if done.returncode != 0:
            result["error"] = done.stderr.strip()[-300:]
    except subprocess.TimeoutExpired:
        result["error"] = f"not over in {options.file_limit} s"
    except (json.JSONDecodeError, LookupError):
        result["error"] = done.stderr.strip()[-300:]
    result["seconds"] = round(time.monotonic() - start, 1)
    return result


def score_all(options):
    chosen = [given for given in inputs(options.public) if re.search(options.only, given.name)]
    handoff = str(pathlib.Path(options.score).resolve())
    results = []
    with ThreadPoolExecutor(options.j) as pool:
        for result in pool.map(lambda given: score(handoff, given, options), chosen):
            results.append(result)
            counts = collections.Counter(m["fate"] for kernel in result.get("kernels", []) for m in kernel["mutants"])
            print(f"{len(results)}/{len(chosen)} {result['file']}: {result.get('error') or dict(counts)} {result['seconds']} s", file=sys.stderr, flush=True)
            write_scores(options.json, results, options.time_limit)
    return 1 if any("error" in result for result in results) else 0


def write_scores(path, results, seconds):
    """One line a mutant, so that a change of the analysis shows as a change of lines."""
    lines = [f'{{"version": 1, "date": "{datetime.date.today()}", "time_limit": {seconds}, "files": [']
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


SHARES = ["killed of what counts", "with `possible`"]


def shares(counts):
    """Of what is neither equivalent nor outside: killed; killed or possible."""
    others = sum(counts.values()) - counts["equivalent"] - counts["outside"]
    return [f"{100 * count / others:.1f} %" if others else "-" for count in (counts["killed"], counts["killed"] + counts["possible"])]


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
            counts[key(result, kernel, mutant)][mutant["fate"]] += 1
        return counts

    def rows(self, counts):
        total = sum(counts.values(), collections.Counter())
        for name, count in [*counts.items(), ("**all**", total)]:
            yield [name, sum(count.values()), *(count[fate] or "" for fate in FATES), *shares(count)]

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
        strict, wide = shares(verified)
        head = (f"{self.scores['date']}, Clang front end, {self.scores['time_limit']} s for each mutant. Of kernels that are `verified` themselves, {strict} of "
                f"the mutants that count are killed, {wide} with `possible` ones.")
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

    def on_gpu(self):
        """A mutant is confirmed by any of its jobs."""
        if self.gpu is None:
            return []
        status = {job["name"]: job["status"] for job in self.gpu["jobs"]}
        counts = collections.defaultdict(collections.Counter)
        kernels = set()
        for result, kernel, mutant in self.all:
            said = {status[name] for name in mutant.get("jobs", []) if name in status}
            if not said:
                continue
            kernels.add((result["file"], kernel["kernel"]))
            counts[f"`{mutant['operator']}`"][next(s for s in ("confirmed", "not reproduced", "invalid") if s in said)] += 1
        total = sum(counts.values(), collections.Counter())
        head = (f"{self.gpu['date']}, {self.gpu['device']}, {self.gpu['launches_per_cell']} launches of each kernel under each perturbation: "
                f"{sum(total.values())} mutants of {len(kernels)} kernels.")
        rows = [[name, sum(c.values()), *(c[s] or "" for s in ("confirmed", "not reproduced", "invalid"))] for name, c in [*sorted(counts.items()), ("**all**", total)]]
        return [head, "", *markdown(["operator", "mutants", "confirmed", "not reproduced", "invalid"], rows)]


def sample(scores, witness, target, wanted):
    """In turns over operators, and within an operator over files."""
    queues = collections.defaultdict(list)
    for result in scores["files"]:
        for kernel in result.get("kernels", []):
            for mutant in kernel["mutants"]:
                if mutant.get("jobs"):
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


def write_tables(is_check):
    gpu = ROOT / "docs/gpu/mutants.json"
    tables = Tables(json.loads((ROOT / "docs/mutation.json").read_text(encoding="utf-8")),
                    json.loads(gpu.read_text(encoding="utf-8")) if gpu.is_file() else None,
                    read_table(ROOT / "docs/mutation_reasons.tsv"))
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
    parser.add_argument("--only", metavar="REGEX", default="", help="files whose path matches")
    parser.add_argument("--public", type=pathlib.Path, metavar="FOLDER", help="also the files of docs/mutation_public.tsv")
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "docs/mutation.json", metavar="FILE", help="write the scores to FILE")
    parser.add_argument("--witness", type=pathlib.Path, metavar="DIR", help="write jobs of the mutants that are killed to DIR")
    parser.add_argument("--sample", type=pathlib.Path, metavar="DIR", help="link jobs of --witness for handoff-confirm")
    parser.add_argument("--mutants", type=int, default=300, metavar="N", help="mutants of the sample (default 300)")
    parser.add_argument("--time-limit", type=int, default=20, metavar="SECONDS", help="for each mutant (default 20)")
    parser.add_argument("--file-limit", type=int, default=3600, metavar="SECONDS", help="for each file (default 3600)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="mutants of a file at a time (default 1)")
    parser.add_argument("-j", type=int, default=1, metavar="N", help="files at a time (default 1)")
    options = parser.parse_args()
    status = score_all(options) if options.score else 0
    if options.sample:
        if not options.witness:
            parser.error("--sample takes jobs from --witness=DIR")
        print(f"{sample(json.loads(options.json.read_text(encoding='utf-8')), options.witness, options.sample, options.mutants)} mutants", file=sys.stderr)
    is_default = options.json == ROOT / "docs/mutation.json"
    return status or (write_tables(options.check) if is_default else 0)


if __name__ == "__main__":
    sys.exit(main())
