#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/verdict-table.md: what Handoff says of the correct kernels among the test cases.

    tools/verdict_table.py build/dev/bin/handoff            # all of them; takes minutes
    tools/verdict_table.py --only='ring|tma' HANDOFF        # prints the table of some, and writes nothing

The rows are those of testcases/cases.tsv that are active, correct (rule `none`) and go through Clang, and the files ok_* and
forever_* of testcases/sizes/sizes.tsv. Exit code 1: a correct kernel has a finding that counts, or a file was not checked.
"""
import argparse
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERDICTS = ["verified", "bounded", "violation", "error"]
Row = collections.namedtuple("Row", "part path arch")
Result = collections.namedtuple("Result", "part path verdict text")


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def wanted_rows():
    rows = []
    for row in read_table(ROOT / "testcases/cases.tsv"):
        is_run = row["status"] == "active" and "clang" in row["frontends"].split(",")
        if row["rule"] == "none" and is_run:
            rows.append(Row("Cases", row["path"], row["arch"]))
    for row in read_table(ROOT / "testcases/sizes/sizes.tsv"):
        if pathlib.PurePosixPath(row["path"]).name.startswith(("ok_", "forever_")):
            rows.append(Row("Sizes", row["path"], row["arch"]))
    return rows


def place(limit):
    return f" (line {limit['line']})" if limit.get("line") else ""


def text_of(kernel):
    """What the verdict holds for, or what keeps it from being `verified`."""
    if kernel["verdict"] == "verified":
        return ", ".join(kernel["holds_for"])
    if kernel["verdict"] == "error":
        return kernel.get("error", "")
    counted = [f for f in kernel["findings"] if f["severity"] in ("error", "warning") and not f["for_other_launches"]]
    if kernel["verdict"] == "violation" and counted:
        return f"{counted[0]['rule']}: {counted[0]['message']}{place(counted[0])}"
    limits = kernel["limits"]
    if not limits:
        return ""
    more = f" (and {len(limits) - 1} more)" if len(limits) > 1 else ""
    return limits[0]["reason"] + place(limits[0]) + more


def check(handoff, row, seconds):
    """The worst kernel of the file speaks for it."""
    command = [handoff, "check", "--frontend=clang", f"--arch={row.arch}", "--format=json", "-j", "1",
               f"--time-limit={seconds}", f"testcases/{row.path}"]
    try:
        # Repairs and the front end come on top of the time for the analysis.
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=4 * seconds + 120, check=False)
        report = json.loads(done.stdout)["files"][0]
    except (subprocess.TimeoutExpired, json.JSONDecodeError, LookupError) as error:
        return Result(row.part, row.path, "error", f"no report: {type(error).__name__}")
    kernels = report["kernels"]
    if report["error"] or not kernels:
        text = report["error"]["message"] if report["error"] else "no kernel was found"
        return Result(row.part, row.path, "error", text)
    worst = max(kernels, key=lambda kernel: VERDICTS.index(kernel["verdict"]))
    return Result(row.part, row.path, worst["verdict"], text_of(worst))


def escaped(text):
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace("*", "\\*")


def rendered(results, seconds):
    lines = ["# Verdicts of the correct test cases", "",
             "Written by `tools/verdict_table.py`; do not edit. Every kernel here is correct: `verified` is right, `bounded` is",
             f"where the analysis ends, and a violation would be a mistake of Handoff. Front end: Clang; time limit: {seconds} s a kernel.",
             "[verdicts.md](verdicts.md) explains the limits, [soundness.md](soundness.md) what `verified` claims.", "",
             "| | files | " + " | ".join(VERDICTS) + " |", "| --- |" + " --- |" * (1 + len(VERDICTS))]
    parts = list(dict.fromkeys(result.part for result in results))
    for part in parts + ["All"]:
        counts = collections.Counter(r.verdict for r in results if part in (r.part, "All"))
        cells = [str(sum(counts.values()))] + [str(counts[verdict]) for verdict in VERDICTS]
        lines.append(f"| {part} | " + " | ".join(cells) + " |")
    for part in parts:
        lines += ["", f"## {part}", "", "| file | verdict | holds for, or first limit |", "| --- | --- | --- |"]
        lines += [f"| `{r.path}` | {r.verdict} | {escaped(r.text)} |" for r in results if r.part == part]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("handoff", help="the binary")
    parser.add_argument("--only", metavar="REGEX", help="files whose path matches; the table goes to standard output")
    parser.add_argument("--time-limit", type=int, default=60, metavar="SECONDS", help="for each kernel (default 60)")
    parser.add_argument("-j", type=int, default=1, metavar="N", help="files at a time; more than one may cost verdicts time (default 1)")
    options = parser.parse_args()
    handoff = str(pathlib.Path(options.handoff).resolve())
    if not pathlib.Path(handoff).is_file():
        parser.error(f"{options.handoff}: no such file")
    rows = [row for row in wanted_rows() if options.only is None or re.search(options.only, row.path)]
    if not rows:
        parser.error("no row matches")
    results = []
    with ThreadPoolExecutor(max(1, options.j)) as pool:
        for result in pool.map(lambda row: check(handoff, row, options.time_limit), rows):
            print(f"{len(results) + 1}/{len(rows)} {result.verdict}: {result.path}", file=sys.stderr)
            results.append(result)
    table = rendered(results, options.time_limit)
    if options.only is None:
        (ROOT / "docs/verdict-table.md").write_text(table, encoding="utf-8")
    else:
        print(table, end="")
    return 1 if any(r.verdict in ("violation", "error") for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
