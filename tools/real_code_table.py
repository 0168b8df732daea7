#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks public kernels as they are in their repositories, and writes the tables of docs/real-code.md.

    tools/real_code_table.py --handoff=build/dev/bin/handoff CHECKOUTS      # all of the list; takes an hour
    tools/real_code_table.py --only='marlin|fast' CHECKOUTS                 # these again; the other rows stay
    tools/real_code_table.py --time-share=100 CHECKOUTS                     # all, within the time that Clang took for each
    tools/real_code_table.py --tables                                       # no run: the tables from the results

CHECKOUTS is a folder with a checkout of each repository, in a folder of its name, at the commit that the list gives.
The list (tools/real_code/tus.json) says how each translation unit is compiled, and, where its host code does not show it, how its
kernels are launched (`launches`), what the boxes of their tensor maps are (`tensormaps`), and whence that is known (`why`);
instantiations are in tools/real_code/tus. Results are kept in docs/real-code.json, with --time-share in docs/real-code-share.json. tools/real_code/findings.json says of each
finding whether it is real, and why. Exit code 1: a finding is not argued there, or is argued false, or a unit was not checked.
"""
import argparse
import collections
import fnmatch
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = ROOT / "tools/real_code"
RESULTS = ROOT / "docs/real-code.json"
SHARE_RESULTS = ROOT / "docs/real-code-share.json"
PAGE = ROOT / "docs/real-code.md"
MARKS = ("<!-- tools/real_code_table.py: begin -->", "<!-- tools/real_code_table.py: end -->")
SHARE_MARKS = ("<!-- tools/real_code_table.py: share begin -->", "<!-- tools/real_code_table.py: share end -->")
VERDICTS = ["verified", "bounded", "violation", "error"]


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def expanded(text, checkouts):
    """`{cutlass}` stands for the checkout of that repository, `{tus}` for the folder of instantiations."""
    return re.sub(r"\{([\w.-]+)\}", lambda m: str(HERE / "tus" if m[1] == "tus" else checkouts / m[1]), text)


def command_of(handoff, repositories, unit, checkouts, config, limit, share=None):
    repository = repositories[unit["repository"]]
    source = expanded(unit["source"], checkouts)
    if not source.startswith("/"):
        source = str(checkouts / unit["repository"] / source)
    flags = [expanded(flag, checkouts) for flag in repository.get("flags", []) + unit.get("flags", [])]
    command = [handoff, "check", "--format=json", "--stats", "--no-cache", "--launches=only", "--frontend=clang",
               "-j", "1", f"--arch={unit['arch']}", f"--time-limit={limit}"]
    if "kernel" in unit:
        command.append(f"--kernel={unit['kernel']}")
    if share is not None:
        command.append(f"--time-share={share}")
    if config is not None:
        command.append(f"--config-file={config}")
    return command + [source, "--", f"-std={unit.get('std', 'c++17')}"] + flags


def config_of(unit, folder):
    """Launches and boxes of tensor maps that the unit does not show; several launches for the same kernel count each."""
    lines = []
    for section, keys in (("launches", ("kernel", "launch")), ("tensormaps", ("kernel", "map", "box"))):
        if section in unit:
            lines.append(f"{section}:")
            lines += [f"  - {json.dumps(dict(zip(keys, values)))}" for values in unit[section]]
    if not lines:
        return None
    path = pathlib.Path(folder) / "handoff.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def measured(command, seconds):
    """Standard output, standard error, and what the process used. One that takes too long is asked to end, and reports
    what it has; a minute later it is killed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)
        timers = [threading.Timer(seconds + more, os.killpg, (process.pid, signal_)) for more, signal_ in
                  ((0, signal.SIGINT), (60, signal.SIGKILL))]
        for timer in timers:
            timer.start()
        _, _, usage = os.wait4(process.pid, 0)
        for timer in timers:
            timer.cancel()
        out.seek(0)
        err.seek(0)
        return out.read().decode(), err.read().decode(), usage


def place(item):
    name = pathlib.PurePosixPath(item["file"]).name if item["file"] else ""
    return f"{name}:{item['line']}" if item.get("line") else name


def kernel_row(kernel):
    findings = [f for f in kernel["findings"] if not f["for_other_launches"] and f["severity"] != "note"]
    row = {"name": kernel["name"], "verdict": kernel["verdict"], "async": kernel["has_async"],
           "launches": kernel["launches"],
           "limits": [[limit["reason"], place(limit)] for limit in kernel["limits"]],
           "findings": [[f["severity"], f["rule"], place(f), f["message"]] for f in findings],
           "notes": len(kernel["findings"]) - len(findings)}
    if kernel["verdict"] == "verified":
        row["holds_for"] = kernel["holds_for"]
    if kernel["verdict"] == "error":
        row["error"] = kernel.get("error", "")
    return row


def check(handoff, repositories, unit, checkouts, options):
    row = {"name": unit["name"], "repository": unit["repository"], "source": unit["source"]}
    with tempfile.TemporaryDirectory() as folder:
        command = command_of(handoff, repositories, unit, checkouts, config_of(unit, folder), options.time_limit,
                             options.time_share)
        out, err, usage = measured(command, options.timeout)
        out = out.replace(folder + "/", "")
    try:
        # Where the checkouts lie is nobody's business.
        whole = json.loads(out.replace(str(pathlib.Path(checkouts).resolve()) + "/", "").replace(str(ROOT) + "/", ""))
        report = whole["files"][0]
    except (json.JSONDecodeError, LookupError):
        return {**row, "error": (err.strip().splitlines() or ["no report"])[0], "kernels": []}
    if report["error"]:
        return {**row, "error": report["error"]["message"], "kernels": []}
    if not report["kernels"]:
        reason = f"not finished after {options.timeout} s" if whole["interrupted"] else "no kernel"
        return {**row, "error": reason, "kernels": []}
    analysis = report["parse_seconds"] + sum(kernel["seconds"] for kernel in report["kernels"])
    # The process has one busy thread: its processor time is divided as its wall time is, whatever else runs.
    scale = (usage.ru_utime + usage.ru_stime) / max(report["produce_seconds"] + analysis, 0.001)
    return {**row, "clang_seconds": round(scale * report["produce_seconds"], 2),
            "analysis_seconds": round(scale * analysis, 2), "peak_mib": round(usage.ru_maxrss / 1024),
            "kernels": [kernel_row(kernel) for kernel in report["kernels"]]}


def argued(arguments, unit, finding):
    """The first entry of findings.json that speaks of this finding."""
    for entry in arguments:
        if fnmatch.fnmatchcase(unit, entry["unit"]) and entry["rule"] == finding[1] and any(
                fnmatch.fnmatchcase(finding[2], at) for at in entry["at"]):
            return entry
    return None


def generalised(reason):
    """A limit without the numbers and names of one kernel."""
    reason = re.sub(r"'[^']*'", "'...'", reason)
    return re.sub(r"\b\d+(\.\d+)?\b", "N", reason)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace("*", "\\*")


def counted(kernels):
    counts = collections.Counter(kernel["verdict"] for kernel in kernels)
    return [str(counts[verdict]) for verdict in VERDICTS]


def protocol(rows):
    return [kernel for row in rows for kernel in row["kernels"] if kernel["async"]]


def repository_table(rows, repositories):
    lines = ["| repository | commit | units | kernels with a protocol | " + " | ".join(VERDICTS) + " | other kernels |",
             "| --- | --- |" + " --- |" * 7]
    names = sorted({row["repository"] for row in rows}, key=str.lower)
    for name in names + [None]:
        mine = [row for row in rows if name in (None, row["repository"])]
        kernels = protocol(mine)
        others = sum(len(row["kernels"]) for row in mine) - len(kernels)
        repository = repositories.get(name)
        head = f"{repository['github']} | {repository['commit'][:8]}" if name else f"{len(names)} repositories |"
        lines.append(f"| {head} | {len(mine)} | {len(kernels)} | " + " | ".join(counted(kernels)) + f" | {others} |")
    return lines


def unit_table(rows):
    lines = ["| unit | source | kernels | verdicts | findings | Clang s | analysis s | share | peak MiB |",
             "| --- |" + " --- |" * 8]
    for row in sorted(rows, key=lambda row: (row["repository"].lower(), row["name"])):
        source = row["source"].replace("{tus}", "tools/real_code/tus")
        if "error" in row:
            lines.append(f"| {row['name']} | `{source}` | | {cell(row['error'])} | | | | | |")
            continue
        counts = collections.Counter(k["verdict"] + ("" if k["async"] else ", no protocol") for k in row["kernels"])
        verdicts = "; ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
        findings = len({(f[1], f[2]) for kernel in row["kernels"] for f in kernel["findings"]})
        share = row["analysis_seconds"] / max(row["clang_seconds"], 0.01)
        lines.append(f"| {row['name']} | `{source}` | {len(row['kernels'])} | {verdicts} | {findings} | "
                     f"{row['clang_seconds']:.2f} | {row['analysis_seconds']:.2f} | {share:.2f} | {row['peak_mib']} |")
    return lines


def limit_table(rows):
    touched = collections.defaultdict(set)
    for row in rows:
        for number, kernel in enumerate(row["kernels"]):
            for reason, _ in kernel["limits"] if kernel["async"] and kernel["verdict"] == "bounded" else []:
                touched[generalised(reason)].add((row["name"], number))
    lines = ["| bounded kernels | units | limit |", "| --- | --- | --- |"]
    for reason, kernels in sorted(touched.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"| {len(kernels)} | {len({name for name, _ in kernels})} | {cell(reason)} |")
    return lines


def finding_table(rows, arguments):
    """The table, and how many findings nobody argued or found false."""
    lines = ["| unit | rule | at | kernels | argued | why |", "| --- | --- | --- | --- | --- | --- |"]
    bad = 0
    for row in rows:
        places = collections.OrderedDict()
        for kernel in row["kernels"]:
            for finding in kernel["findings"]:
                places.setdefault((finding[0], finding[1], finding[2]), [finding, set()])[1].add(kernel["name"])
        for (severity, rule, at), (finding, kernels) in places.items():
            entry = argued(arguments, row["name"], finding)
            bad += entry is None or entry["is"] == "false"
            what, why = (entry["is"], entry["why"]) if entry else ("**not argued**", finding[3])
            lines.append(f"| {row['name']} | {rule} ({severity}) | {at} | {len(kernels)} | {what} | {cell(why)} |")
    return lines, bad


def summary(rows):
    kernels = protocol(rows)
    counts = collections.Counter(kernel["verdict"] for kernel in kernels)
    done = [row for row in rows if "error" not in row]
    shares = sorted(row["analysis_seconds"] / max(row["clang_seconds"], 0.01) for row in done)
    shares = shares or [0.0]
    clang, analysis = (sum(row[key] for row in done) for key in ("clang_seconds", "analysis_seconds"))
    return [f"{len(kernels)} kernels with a protocol in {len(rows)} units of "
            f"{len({row['repository'] for row in rows})} repositories: "
            + ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]) + ".",
            f"Analysis as a share of Clang's time: median {statistics.median(shares):.2f}, worst {shares[-1]:.2f}; "
            f"all units together {analysis:.0f} s beside {clang:.0f} s of Clang ({analysis / max(clang, 0.01):.2f})."]


def share_lines(rows, whole):
    """What the share costs: kernels whose verdict is another one than with all the time."""
    def verdicts(results):
        return {(row["name"], kernel["name"]): kernel["verdict"] for row in results for kernel in row["kernels"] if kernel["async"]}
    before = verdicts(whole)
    changed = collections.defaultdict(list)
    for (unit, kernel), verdict in verdicts(rows).items():
        if before.get((unit, kernel), verdict) != verdict:
            changed[before[unit, kernel], verdict].append(unit)
    lines = summary(rows)
    for (old, new), units in sorted(changed.items()):
        lines += ["", f"{new} instead of {old}: {len(units)} kernels of {', '.join(f'`{unit}`' for unit in dict.fromkeys(units))}."]
    return lines


def page(rows, repositories, arguments):
    findings, bad = finding_table(rows, arguments)
    lines = summary(rows) + ["", "### By repository", ""] + repository_table(rows, repositories)
    lines += ["", "### By unit", ""] + unit_table(rows)
    lines += ["", "### Limits, by the kernels they touch", ""] + limit_table(rows)
    lines += ["", "### Findings", ""] + findings
    return lines, bad


def write_page(lines, marks=MARKS):
    text = PAGE.read_text(encoding="utf-8")
    begin, end = (text.index(mark) for mark in marks)
    PAGE.write_text(text[:begin + len(marks[0])] + "\n\n" + "\n".join(lines) + "\n\n" + text[end:], encoding="utf-8")


def results_of(options):
    return RESULTS if options.time_share is None else SHARE_RESULTS


def read_results(path):
    return {row["name"]: row for row in read_json(path)} if path.exists() else {}


def run(options, repositories, units, results):
    handoff = str(pathlib.Path(options.handoff).resolve())
    checkouts = pathlib.Path(options.checkouts).resolve()
    wanted = [unit for unit in units if re.search(options.only or "", unit["name"])]
    wanted = [unit for unit in wanted if not (options.missing and unit["name"] in results)]
    # The slowest first, so that none is left for the end.
    wanted.sort(key=lambda unit: -results.get(unit["name"], {}).get("analysis_seconds", 0))
    with ThreadPoolExecutor(options.j) as pool:
        running = {pool.submit(check, handoff, repositories, unit, checkouts, options): unit["name"] for unit in wanted}
        for number, future in enumerate(as_completed(running), 1):
            name, row = running[future], future.result()
            results[name] = row
            ordered = [results[u["name"]] for u in units if u["name"] in results]
            text = ",\n".join(json.dumps(one, separators=(",", ":")) for one in ordered)
            results_of(options).write_text("[\n" + text + "\n]\n", encoding="utf-8")
            said = row.get("error") or ", ".join(kernel["verdict"] for kernel in row["kernels"])
            print(f"{number}/{len(wanted)} {name}: {said}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="?", help="folder with the checkouts")
    parser.add_argument("--handoff", default=str(ROOT / "build/dev/bin/handoff"), help="the binary")
    parser.add_argument("--only", metavar="REGEX", help="units whose name matches; the rows of others are kept")
    parser.add_argument("--missing", action="store_true", help="only units that have no row yet")
    parser.add_argument("--tables", action="store_true", help="run nothing")
    parser.add_argument("--time-limit", type=int, default=20, metavar="SECONDS", help="for each kernel (default 20)")
    parser.add_argument("--time-share", type=int, metavar="PERCENT", help="for all kernels of a unit, of Clang's time")
    parser.add_argument("-j", type=int, default=1, metavar="N", help="units at a time (default 1)")
    parser.add_argument("--timeout", type=int, default=600, metavar="SECONDS", help="for each unit (default 600)")
    options = parser.parse_args()
    if not options.tables and not options.checkouts:
        parser.error("CHECKOUTS or --tables is needed")
    listed = read_json(HERE / "tus.json")
    arguments = read_json(HERE / "findings.json")
    if not options.tables:
        run(options, listed["repositories"], listed["units"], read_results(results_of(options)))
    whole, within = (read_results(path) for path in (RESULTS, SHARE_RESULTS))
    rows = [whole[unit["name"]] for unit in listed["units"] if unit["name"] in whole]
    lines, bad = page(rows, listed["repositories"], arguments)
    write_page(lines)
    if within:
        write_page(share_lines([within[row["name"]] for row in rows if row["name"] in within], rows), SHARE_MARKS)
    return 1 if bad or any("error" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
