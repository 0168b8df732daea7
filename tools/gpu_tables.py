#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/gpu-results.md from what `handoff-kernels bench --json` has measured.

usage: tools/gpu_tables.py [--check] DOCUMENT

A table stands between "<!-- measured: FILE -->", with FILE relative to the document, and "<!-- end -->". --check changes nothing and
ends with 1 where a table is not that of its file.
"""
import json
import pathlib
import re
import sys

COPIES = ("ARRIVES", "HGMMA", "HMMA", "LDGSTS", "SYNCS", "UBLKCP", "UBLKRED", "UTMACMDFLUSH", "UTMALDG", "UTMASTG")
BLOCK = re.compile(r"(<!-- measured: (\S+) -->\n).*?(<!-- end -->)", re.S)


def row(bench, variant):
    counts = [f"{name}:{variant['instructions'][name]}" for name in COPIES if name in variant["instructions"]]
    cells = [
        variant["name"],
        f"{variant['median_ms']:.4f} ({variant['p10_ms']:.4f}..{variant['p90_ms']:.4f})",
        f"{variant['bytes_per_s'] / 1e9:.0f}",
        f"{100 * variant['share_of_copy']:.1f} %",
    ]
    if bench["flops"]:
        cells.append(f"{variant['flop_per_s'] / 1e9:.0f}")
    cells += [
        f"{variant['speedup']:.2f}x",
        f"{variant['registers']}, {variant['shared_bytes'] / 1024:.1f} KiB, {variant['blocks_per_multiprocessor']}, "
        f"{100 * variant['occupancy']:.0f} %",
        str(variant["stages"]),
        variant["completion"],
        " ".join(counts) or "-",
    ]
    return "| " + " | ".join(cells) + " |\n"


def table(bench):
    setting = f", {bench['setting']}" if bench["setting"] else ""
    shape = " x ".join(str(extent) for extent in bench["shape"])
    kind = ", moves only" if bench["is_mover"] else ""
    names = ["variant", "ms", "GB/s", "of copy"] + (["GFLOP/s"] if bench["flops"] else [])
    names += ["against baseline", "registers, shared memory, blocks, occupancy", "slots", "waits for copies by", "instructions"]
    text = f"\n`{bench['kernel']}{setting}`: {bench['extents']} = {shape}, {bench['bytes'] / 1e6:.0f} MB{kind}\n\n"
    text += "| " + " | ".join(names) + " |\n" + "| " + " | ".join("---" for _ in names) + " |\n"
    return text + "".join(row(bench, variant) for variant in bench["variants"])


def tables(results):
    copy = results["copy_bytes_per_s"]
    text = (f"{results['device']['name']}, driver {results['device']['driver_release']}, CUDA {results['device']['runtime'] // 1000}."
            f"{results['device']['runtime'] % 1000 // 10}, {results['date'][:10]}. Copy bandwidth of the same run:\n"
            f"{copy['memcpy'] / 1e9:.0f} GB/s by `cudaMemcpyAsync`, {copy['kernel'] / 1e9:.0f} by a kernel of plain 16-byte loads and stores.\n\n"
            "```\n" + results["command"].replace(",", ",\\\n") + "\n```\n")
    return text + "".join(table(bench) for bench in results["results"]) + "\n"


def main(arguments):
    is_check = arguments[:1] == ["--check"]
    if len(arguments) != 1 + is_check:
        sys.exit(__doc__)
    document = pathlib.Path(arguments[-1])
    text = document.read_text(encoding="utf-8")
    made = BLOCK.sub(lambda m: m[1] + tables(json.loads((document.parent / m[2]).read_text(encoding="utf-8"))) + m[3], text)
    if made == text:
        return 0
    if is_check:
        print(f"{document}: a table is not that of its file; run tools/gpu_tables.py {document}")
        return 1
    document.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
