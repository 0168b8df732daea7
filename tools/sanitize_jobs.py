#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs compute-sanitizer over the kernels of witness jobs, on a machine with a GPU: one plain launch of each.

    tools/sanitize_jobs.py --confirm=handoff-confirm --results=confirm.json --json=sanitizer.json jobs/bad jobs/good

Of each test case one kernel is run: that of its first job, with memory filled as handoff-confirm found it to work (--results). A
kernel counts as found when the tool counts an error or a hazard in its summary, and as hung when it has not ended in time.
Needs Python 3 and the CUDA toolkit only.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

TOOLS = ["racecheck", "synccheck", "memcheck"]


def chosen_jobs(folders):
    """The first job of each file."""
    jobs = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).glob("*/job.json")):
            manifest = json.loads(path.read_text(encoding="utf-8"))
            jobs.setdefault(manifest["file"], (path.parent, manifest))
    return jobs


def run(tool, confirm, folder, manifest, mode, seconds):
    command = ["compute-sanitizer", "--tool", tool, "--print-limit", "1", "--kernel-name", f"kns={manifest['kernel']}",
               confirm, str(folder), "--one-launch", "--mode", str(mode)]
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          start_new_session=True) as process:
        is_hung = False
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            is_hung = True
            subprocess.run(["kill", "-KILL", "--", f"-{process.pid}"], check=False)
            output, _ = process.communicate()
    counts = [int(n) for n in re.findall(r"SUMMARY: (\d+)", output)]
    lines = [line.strip("= \n") for line in output.splitlines() if re.search(r"rror|arning|azard|reference ", line)]
    # A summary comes when the process ends; of one that had to be killed, what it printed before counts.
    found = any(counts) or (is_hung and any(re.search(r"error detected|Race reported|Invalid ", line) for line in lines))
    return {"found": found, "hung": is_hung and not found, "has_summary": bool(counts),
            "seconds": round(time.monotonic() - start, 2), "first": lines[0][:160] if lines else ""}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", help="folders of jobs")
    parser.add_argument("--confirm", required=True, help="the binary handoff-confirm")
    parser.add_argument("--results", action="append", default=[], help="of handoff-confirm --json, for the fill modes")
    parser.add_argument("--json", required=True, help="file to write")
    parser.add_argument("--tools", default=",".join(TOOLS), help="default: all three")
    parser.add_argument("--only", metavar="REGEX", default="", help="files whose path matches")
    parser.add_argument("--timeout", type=float, default=10, metavar="SECONDS", help="default 10")
    parser.add_argument("-j", type=int, default=12, metavar="N", help="processes at a time (default 12)")
    options = parser.parse_args()
    modes = {}
    for path in options.results:
        for job in json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["jobs"]:
            modes[job["name"]] = job.get("fill_mode", 0)
    jobs = {file: job for file, job in chosen_jobs(options.folders).items() if re.search(options.only, file)}
    version = subprocess.run(["compute-sanitizer", "--version"], capture_output=True, text=True, check=False).stdout
    report = {"version": 1, "date": time.strftime("%Y-%m-%d"), "sanitizer": version.strip().splitlines()[-1],
              "processes": options.j, "timeout": options.timeout, "tools": {}, "files": {file: {} for file in jobs}}
    for tool in options.tools.split(","):
        start = time.monotonic()
        with ThreadPoolExecutor(options.j) as pool:
            done = pool.map(lambda item: (item[0], run(tool, options.confirm, *item[1], modes.get(item[1][1]["name"], 0),
                                                       options.timeout)), jobs.items())
            for file, result in done:
                report["files"][file][tool] = result
        report["tools"][tool] = {"wall_seconds": round(time.monotonic() - start, 1)}
        print(tool, report["tools"][tool], sum(f[tool]["found"] for f in report["files"].values()), "found", flush=True)
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
