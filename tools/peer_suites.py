#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the test suites of other tools with Handoff and writes the table of their verdicts.

    tools/peer_suites.py gpuverify FOLDER      a checkout's testsuite/CUDA, or GPUVerifyBenchmarks
    tools/peer_suites.py faial FOLDER          examples/drf
    tools/peer_suites.py weft FOLDER           examples

Each suite says in its own way how a kernel is launched and what is right; this is turned into --launch and into one of
"right", "wrong". Nothing of the suites is kept in this repository (docs/real-code.md says where they come from).
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# What the suites declare in headers of their tools: annotations, which say nothing to a compiler.
PRELUDE = """
#pragma once
#define __requires(...)
#define __ensures(...)
#define __global_ensures(...)
#define __invariant(...)
#define __global_invariant(...)
#define __function_wide_invariant(...)
#define __assert(...)
#define __assume(...)
#define __global_assert(...)
#define __axiom(...)
#define __requires_fresh_array(...)
#define __reads_from(...)
#define __writes_to(...)
#define __barrier_invariant(...)
#define __non_temporal_loads_begin() {
#define __non_temporal_loads_end() }
"""


class Case:
    """A file, how it is launched, and what its suite says of it."""

    def __init__(self, path, is_right, launch="", flags=(), arch="sm_80", needs_toolkit=False):
        self.path, self.is_right, self.launch, self.flags, self.arch = path, is_right, launch, list(flags), arch
        self.needs_toolkit = needs_toolkit
        self.text = path.read_text(errors="replace")

    def shares(self):
        """Whether threads meet in shared memory or at barriers: all that Handoff looks at in code without copies."""
        return bool(re.search(r"__shared__|__syncthreads|bar\.sync|bar\.arrive", self.text))


def dimensions(text):
    """[4,4,1] or 64, as 4x4x1 or 64."""
    return "x".join(part.strip() for part in text.strip("[]").split(","))


def launch_of(head):
    """The options of GPUVerify that are a launch; other ones are of no concern here."""
    parts = []
    for option, name in (("blockDim", "block"), ("gridDim", "grid")):
        match = re.search(r"--%s=(\[[^\]]*\]|\d+)" % option, head)
        if match:
            parts.append("%s=%s" % (name, dimensions(match[1])))
    return " ".join(parts)


def gpuverify(folder):
    """The first line is //pass or //xfail:KIND, one of the next ones has the options."""
    for path in sorted(folder.rglob("*.cu")):
        head = "\n".join(line for line in path.read_text(errors="replace").splitlines()[:12] if line.lstrip().startswith("//"))
        verdict = re.search(r"^//\s*(pass|xfail:\w+)", head, re.IGNORECASE | re.MULTILINE)
        if not verdict:
            continue
        flags = re.findall(r"\s(-[DI]\S+)", head)
        flags = [flag.replace("${KERNEL_DIR}", str(path.parent)) for flag in flags]
        # Right and wrong are about races and barriers; the rest of the suite is about the parts of the tool.
        if verdict[1].lower() == "pass":
            yield Case(path, True, launch_of(head), flags)
        elif verdict[1].upper() == "XFAIL:NOT_ALL_VERIFIED":
            yield Case(path, False, launch_of(head), flags)


def faial(folder):
    """drf-*.cu is right, racy-*.cu is wrong; blocks of 1024 threads where a comment says nothing else."""
    for path in sorted(folder.glob("*.cu")):
        kind = path.name.split("-")[0]
        if kind in ("drf", "racy"):
            head = "\n".join(path.read_text(errors="replace").splitlines()[:4])
            yield Case(path, kind == "drf", launch_of(head) or "block=1024 grid=2")


def weft(folder):
    """Everything is right but negatives/; blocks as the launch bounds say. Old shuffles need an old target."""
    for path in sorted(folder.glob("*/*.cu")):
        bound = re.search(r"__launch_bounds__\(\s*(\d+)", path.read_text(errors="replace"))
        yield Case(path, path.parent.name != "negatives", "block=%s" % bound[1], ["--no-cuda-version-check"], "sm_60", True)


def check(case, handoff, prelude, seconds):
    """The report on a case: {"verdicts", "findings", "limits", "seconds", "error"}."""
    command = [handoff, "check", "--no-cache", "--format=json", "--stats", "--arch=" + case.arch, "--time-limit=%d" % seconds]
    if not case.needs_toolkit:
        command.append("--cuda-path=none")
    if case.launch:
        command += ["--launch", case.launch]
    # The prelude stands in for the toolkit's headers.
    stand_in = [] if case.needs_toolkit else ["-include", str(prelude), "-I" + str(prelude.parent)]
    command += [str(case.path), "--"] + stand_in + ["-I" + str(case.path.parent), "-w"] + case.flags
    out = {"verdicts": [], "findings": [], "limits": [], "seconds": 0.0, "error": ""}
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=20 * seconds)
        report = json.loads(ran.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        out["error"] = type(error).__name__
        return out
    for file in report["files"]:
        out["error"] = file["error"]["message"] if file["error"] else out["error"]
        for kernel in file["kernels"]:
            out["verdicts"].append(kernel["verdict"])
            out["seconds"] += kernel.get("seconds", 0.0)
            out["limits"] += [limit["reason"] if isinstance(limit, dict) else limit for limit in kernel.get("limits", [])]
            out["findings"] += ["%s:%d" % (finding["rule"], finding["line"]) for finding in kernel.get("findings", [])]
    return out


def row(case, out, folder):
    """Name, what the suite says, verdicts, findings, seconds of analysis, limits; with tabs between."""
    said = out["error"].splitlines()[0] if out["error"] else " ".join(sorted(set(out["verdicts"]))) or "no kernel"
    return "\t".join([str(case.path.relative_to(folder)), "right" if case.is_right else "wrong", said, ",".join(out["findings"]) or "-",
                      "%.2f" % out["seconds"], "; ".join(sorted(set(out["limits"]))) or "-"])


def summary(results):
    rows = []
    for is_right in (True, False):
        for shares in (True, False):
            group = [out for case, out in results if case.is_right == is_right and case.shares() == shares]
            if not group:
                continue
            read = [out for out in group if not out["error"]]
            count = lambda verdict: sum(verdict in out["verdicts"] for out in read)
            rows.append("| %s | %s | %d | %d | %d | %d | %d | %d |" % (
                "right" if is_right else "wrong", "yes" if shares else "no", len(group), len(group) - len(read),
                sum(bool(out["findings"]) for out in read), count("verified"), count("bounded"), count("violation")))
    head = ["| suite says | shared memory or barriers | files | not read | with findings | verified | bounded | violation |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    return "\n".join(head + rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=["gpuverify", "faial", "weft"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--handoff", default="handoff", help="the binary (default: on PATH)")
    parser.add_argument("--time-limit", type=int, default=60, help="seconds for each kernel (default 60)")
    parser.add_argument("-j", type=int, default=1, help="files at a time (default 1)")
    options = parser.parse_args()
    if not options.folder.is_dir():
        sys.exit("%s: no folder" % options.folder)
    cases = list({"gpuverify": gpuverify, "faial": faial, "weft": weft}[options.suite](options.folder.resolve()))
    if not cases:
        sys.exit("%s: no cases of %s" % (options.folder, options.suite))
    with tempfile.TemporaryDirectory() as folder:
        prelude = pathlib.Path(folder, "prelude.h")
        prelude.write_text(PRELUDE)
        prelude.with_name("cuda.h").write_text("")  # the suites' own one declares what Handoff declares itself
        with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
            outs = []
            for case, out in zip(cases, pool.map(lambda case: check(case, options.handoff, prelude, options.time_limit), cases)):
                print(row(case, out, options.folder.resolve()), flush=True)
                outs.append(out)
    print("\n" + summary(list(zip(cases, outs))))


if __name__ == "__main__":
    main()
