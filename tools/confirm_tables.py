#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/gpu-results.md that come from raw results in docs/gpu.

    tools/confirm_tables.py             # rewrites what stands between '<!-- tools/confirm_tables.py: NAME -->' and '<!-- end -->'
    tools/confirm_tables.py --check     # exit code 1 where a table does not say what the results say

confirm.json and controls.json are of handoff-confirm, litmus.json of the same with many blocks, static.json of tools/gpu_jobs.py,
sanitizer.json of tools/sanitize_jobs.py. ordered.tsv gives the reason for each bad case that was not confirmed.
"""
import argparse
import collections
import csv
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREFIX = "testcases/"


def results(name):
    return json.loads((ROOT / "docs/gpu" / name).read_text(encoding="utf-8"))


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def case_of(path):
    return path.removeprefix(PREFIX)


def markdown(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)] + ["| " + " | ".join(map(str, row)) + " |" for row in rows]


class Results:
    def __init__(self):
        self.confirm, self.controls, self.litmus = results("confirm.json"), results("controls.json"), results("litmus.json")
        self.static, self.sanitizer = results("static.json"), results("sanitizer.json")
        self.files = {row["path"]: row for row in self.static["files"]}
        self.reasons = {row["case"]: row for row in table(ROOT / "docs/gpu/ordered.tsv")}
        self.jobs = collections.defaultdict(list)
        for job in self.confirm["jobs"]:
            self.jobs[case_of(job["file"])].append(job)
        self.many_blocks = collections.defaultdict(list)
        for job in self.litmus["jobs"]:
            self.many_blocks[case_of(job["file"])].append(job)
        self.controls_of = {case_of(job["file"]): job for job in self.controls["jobs"] if "file" in job}

    def bad(self):
        return [path for path, row in self.files.items() if row["is_bad"]]

    def is_other_chip(self, case):
        return self.files[case]["arch"].startswith("sm_10")

    def state(self, case):
        """confirmed, no job, other chip, ordered (the machine code says why) or tries (none of many failed)."""
        jobs = [job for job in self.jobs[case] if job["rule"] != "none"]
        if any(job["status"] == "confirmed" for job in jobs + self.many_blocks[case]):
            return "confirmed"
        if self.is_other_chip(case):
            return "other chip"
        return self.reasons.get(case, {"kind": "unexplained"})["kind"] if jobs else "no job"

    def showing(self, case):
        """The variant that showed the defect, and what came of it."""
        for jobs, more in ((self.jobs[case], ""), (self.many_blocks[case], " with many blocks")):
            for job in jobs:
                if job["status"] != "confirmed":
                    continue
                for variant in reversed(job["variants"]):
                    base = variant["base"]
                    if base["wrong"] or base.get("hang") or base.get("fault"):
                        return variant["name"] + more
        return ""


def confirm_block(r):
    states = collections.Counter(r.state(case) for case in r.bad())
    runnable = sum(states.values()) - states["no job"] - states["other chip"]
    can_show = states["confirmed"] + states["tries"]
    many = sum(r.showing(case).endswith("many blocks") for case in r.bad() if r.state(case) == "confirmed")
    c = r.confirm
    again = f" {len(c['run_again'])} jobs, in which a launch had not ended in time, were run a second time: a kernel has to hang twice." if c.get("run_again") else ""
    lines = [f"{c['device']}, driver {driver(c)}, {c['date']}: {len([j for j in c['jobs'] if j['rule'] != 'none'])} jobs of {len(r.bad())} bad cases; "
             f"{c['confirmed']} jobs confirmed, {c['not_reproduced']} not reproduced. "
             f"Repaired kernels under the same perturbations: {c['repaired_failures']} failures in {c['repaired_launches']:,} launches.{again}",
             "",
             f"By cases: {states['confirmed']} of the {runnable} that this chip can run and that have a job are confirmed, {many} of them in launches of {r.litmus['blocks']:,} blocks only. Of the others, "
             f"{states['ordered']} are ordered in the machine code, though not in PTX, and {states['tries']} have "
             f"not failed in a million tries or so. Of the {can_show} that are not ordered, {states['confirmed']} ({100 * states['confirmed'] / can_show:.0f} %) are confirmed. {states['other chip']} need another chip, and "
             f"{states['no job']} have no job: what they show is about the compiler, registers, or a note.", ""]
    folders = collections.defaultdict(list)
    for case in r.bad():
        folders[case.split("/")[0]].append(case)
    rows = []
    for folder, cases in sorted(folders.items()):
        by = collections.Counter(r.showing(case) for case in cases if r.state(case) == "confirmed")
        count = collections.Counter(r.state(case) for case in cases)
        rows.append([f"`{folder}`", len(cases), count["confirmed"], count["ordered"], count["tries"], count["other chip"] + count["no job"],
                     ", ".join(f"{name} {n}" for name, n in sorted(by.items(), key=lambda item: (-item[1], item[0])))])
    total = collections.Counter(r.state(case) for case in r.bad())
    rows.append(["all", len(r.bad()), total["confirmed"], total["ordered"], total["tries"], total["other chip"] + total["no job"], ""])
    return lines + markdown(["rule of the folder", "bad cases", "confirmed", "ordered in the machine code", "not in many tries", "not run", "by"], rows)


def driver(results_json):
    return results_json.get("driver") or results_json.get("driver_version", "")


def tries(job):
    cells = [variant["base"] for variant in job["variants"]]
    return sum(cell["launches"] for cell in cells), sum(cell["wrong"] + (1 if cell.get("hang") or cell.get("fault") else 0) for cell in cells)


def ordered_block(r):
    litmus = r.many_blocks
    rows = []
    for case in r.bad():
        state = r.state(case)
        if state not in ("ordered", "tries", "unexplained"):
            continue
        launches = sum(tries(job)[0] for job in litmus[case] if job["status"] != "invalid")
        failed = sum(tries(job)[1] for job in litmus[case] if job["status"] != "invalid")
        blocks = launches * r.litmus["blocks"]
        shown = f"{failed} of {launches:,} launches, {blocks / 1e6:.1f} million blocks" if launches else "-"
        rows.append([f"`{case.removesuffix('.cu')}`", state, shown, r.reasons.get(case, {"why": ""})["why"]])
    return markdown(["case", "", f"wrong in launches of at least {r.litmus['blocks']:,} blocks", "why"], rows)


def controls_block(r):
    good = [job for job in r.controls["jobs"] if case_of(job.get("file", "")) in r.files and not r.files[case_of(job["file"])]["is_bad"]]
    states = collections.Counter(job["status"] for job in good)
    launches = sum(tries(job)[0] for job in good)
    failures = sum(tries(job)[1] for job in good)
    by = collections.defaultdict(lambda: [0, 0, 0])
    for job in good:
        for variant in job["variants"]:
            name = re.sub(r"-(first|last|odd|over|open)$", "", variant["name"])
            entry, cell = by[name], variant["base"]
            entry[0] += 1
            entry[1] += cell["launches"]
            entry[2] += cell["wrong"] + (1 if cell.get("hang") or cell.get("fault") else 0)
    reasons = collections.Counter("needs another chip" if r.is_other_chip(case_of(job["file"])) else job["summary"] for job in good if job["status"] == "invalid")
    not_run = "; ".join(f"{n} {reason}" for reason, n in sorted(reasons.items()))
    lines = [f"{len(good)} kernels of correct cases: {states['held']} held, {states['failed']} failed, {states['invalid']} not run"
             + (f" ({not_run})" if not_run else "") + f"; {failures} failures in {launches:,} launches.", ""]
    rows = [[name, *entry[:1], f"{entry[1]:,}", entry[2]] for name, entry in sorted(by.items())]
    return lines + markdown(["perturbation", "cells", "launches", "failures"], rows)


def tools_block(r):
    """Over the cases whose kernel each tool could run."""
    ran = {case_of(file): tools for file, tools in r.sanitizer["files"].items() if case_of(file) in r.files}
    cases = [case for case in ran if not r.is_other_chip(case)]
    bad, good = [c for c in cases if r.files[c]["is_bad"]], [c for c in cases if not r.files[c]["is_bad"]]
    rows = []

    def row(name, found, hung, seconds):
        n = sum(map(found, bad))
        rows.append([name, f"{n} ({100 * n / len(bad):.0f} %)", len(bad) - n, sum(map(found, good)), sum(map(hung, cases)), seconds])

    wall = {tool: entry["wall_seconds"] for tool, entry in r.sanitizer["tools"].items()}
    for tool in wall:
        row(tool, lambda c, t=tool: ran[c][t]["found"], lambda c, t=tool: ran[c][t]["hung"], f"{wall[tool]:.0f} s")
    both = ["racecheck", "synccheck"]
    row("racecheck and synccheck", lambda c: any(ran[c][t]["found"] for t in both), lambda c: any(ran[c][t]["hung"] for t in both),
        f"{sum(wall[t] for t in both):.0f} s")
    row("handoff check", lambda c: bool(r.files[c].get("findings")), lambda c: False,
        f"{sum(r.files[c]['processor_seconds'] for c in cases):.0f} s of one processor core")
    seconds = sum(x["wall_seconds"] for x in (r.confirm, r.controls, r.litmus))
    row("handoff-confirm, of what it found", lambda c: (r.state(c) == "confirmed") if r.files[c]["is_bad"] else r.controls_of.get(c, {}).get("status") == "failed",
        lambda c: False, f"{seconds:.0f} s")
    head = ["tool", f"found of {len(bad)}", "missed", f"false, of {len(good)} correct", "hung", "time"]
    return [f"compute-sanitizer {r.sanitizer['sanitizer']}, {r.sanitizer['date']}; {r.sanitizer['processes']} processes at a time, time limit "
            f"{r.sanitizer['timeout']:.0f} s each.", ""] + markdown(head, rows)


BLOCKS = {"confirm": confirm_block, "ordered": ordered_block, "controls": controls_block, "tools": tools_block}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    path = ROOT / "docs/gpu-results.md"
    text = path.read_text(encoding="utf-8")
    loaded = Results()
    unexplained = [case for case in loaded.bad() if loaded.state(case) == "unexplained"]
    stale = [case for case in loaded.reasons if loaded.state(case) not in ("ordered", "tries")]
    for case in unexplained:
        print(f"docs/gpu/ordered.tsv: no reason for {case}, which was not confirmed", file=sys.stderr)
    for case in stale:
        print(f"docs/gpu/ordered.tsv: {case} is confirmed, or was not run", file=sys.stderr)
    new = text
    for name, block in BLOCKS.items():
        pattern = re.compile(rf"(<!-- tools/confirm_tables.py: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not pattern.search(new):
            print(f"docs/gpu-results.md: no place for '{name}'", file=sys.stderr)
            return 1
        body = "\n".join(block(loaded)) + "\n"
        new = pattern.sub(lambda match, body=body: match.group(1) + body + match.group(2), new)
    if not options.check:
        path.write_text(new, encoding="utf-8")
    elif new != text:
        print("docs/gpu-results.md does not say what docs/gpu says: run tools/confirm_tables.py", file=sys.stderr)
        return 1
    return 1 if unexplained or stale else 0


if __name__ == "__main__":
    sys.exit(main())
