#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes witness jobs for the test cases, and what the static check says of each.

    tools/gpu_jobs.py build/dev/bin/handoff OUT             # all of testcases/cases.tsv; takes minutes
    tools/gpu_jobs.py --only='ring|tma' HANDOFF OUT

OUT/bad and OUT/good get the jobs of the incorrect and of the correct kernels, OUT/static.json a row for each file: whether it was
found, and the processor seconds of the check. handoff-confirm and tools/sanitize_jobs.py run the jobs; tools/confirm_tables.py makes tables.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent


def rows():
    with open(ROOT / "testcases/cases.tsv", encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["status"] == "active"]


def counted(report):
    kernels = report["files"][0]["kernels"]
    return [finding["rule"] for kernel in kernels for finding in kernel["findings"]
            if finding["severity"] in ("error", "warning") and not finding["for_other_launches"]]


def emit(handoff, out, row, seconds):
    is_bad = row["rule"] != "none"
    # What the hardware runs has the features of its architecture.
    arch = "sm_90a" if row["arch"] == "sm_90" else row["arch"]
    command = [handoff, "check", f"--arch={arch}", "--format=json", "-j", "1", f"--time-limit={seconds}", "--witness-all",
               f"--emit-witness={out / ('bad' if is_bad else 'good')}", f"testcases/{row['path']}"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        output, errors = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    result = {"path": row["path"], "rule": row["rule"], "arch": arch, "is_bad": is_bad,
              "processor_seconds": round(usage.ru_utime + usage.ru_stime, 2)}
    try:
        result["findings"] = sorted(set(counted(json.loads(output))))
    except (json.JSONDecodeError, LookupError):
        result["error"] = (errors or output).strip()[:300]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("handoff", help="the binary")
    parser.add_argument("out", type=pathlib.Path, help="the folder")
    parser.add_argument("--only", metavar="REGEX", default="", help="files whose path matches")
    parser.add_argument("--time-limit", type=int, default=60, metavar="SECONDS", help="for each kernel (default 60)")
    parser.add_argument("-j", type=int, default=1, metavar="N", help="files at a time (default 1)")
    options = parser.parse_args()
    handoff, out = str(pathlib.Path(options.handoff).resolve()), options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    chosen = [row for row in rows() if re.search(options.only, row["path"])]
    results = []
    with ThreadPoolExecutor(options.j) as pool:
        for result in pool.map(lambda row: emit(handoff, out, row, options.time_limit), chosen):
            results.append(result)
            print(f"{len(results)}/{len(chosen)} {result['path']}: {result.get('error') or result['findings']}", file=sys.stderr)
    (out / "static.json").write_text(json.dumps({"version": 1, "files": results}, indent=1) + "\n", encoding="utf-8")
    return 1 if any("error" in result for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
