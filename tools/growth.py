#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how the analyzer's time and memory grow with a kernel, and draws it: docs/performance/*.svg, growth.json, and
the table of docs/performance.md.

    tools/growth.py build/dev/bin/handoff             # minutes
    tools/growth.py --only=threads HANDOFF            # one curve, printed

Each kernel is compiled to PTX once, by clang++; what is measured is `handoff check` on the PTX: processor time of the whole
process (so that other load counts little) and peak memory. A kernel has to be `verified`, or the point says what it was.
"""
import argparse
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "docs/performance"
PAGE = ROOT / "docs/performance.md"
MARKS = ("<!-- tools/growth.py: begin -->", "<!-- tools/growth.py: end -->")

RING = """
#include "handoff/ptx/address.h"
#include "handoff/ptx/cp_async.h"
using namespace handoff;
extern "C" __global__ void ring(const float4* in, float* out, int tiles) {
  __shared__ float4 slots[STAGES][THREADS];
  const int t = threadIdx.x;
  const auto fetch = [&](int tile) {
    if (tile < tiles) ptx::cpAsync<16>(ptx::sharedAddress(&slots[tile % STAGES][t]), in + tile * THREADS + t);
    ptx::cpAsyncCommit();
  };
  for (int s = 0; s < STAGES - 1; ++s) fetch(s);
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    ptx::cpAsyncWait<STAGES - 2>();
    __syncthreads();
    fetch(tile + STAGES - 1);
    const float4 v = slots[tile % STAGES][t ^ 1];
    float x = v.x;
#pragma unroll
    for (int i = 0; i < LENGTH; ++i) x = x * v.y + slots[tile % STAGES][(t + i) % THREADS].z;
    sum += x;
  }
  out[blockIdx.x * THREADS + t] = sum;
}
"""

PEERS = """
#include "handoff/ptx/address.h"
#include "handoff/ptx/bulk.h"
#include "handoff/ptx/cluster.h"
#include "handoff/ptx/fence.h"
#include "handoff/ptx/mbarrier.h"
using namespace handoff;
extern "C" __global__ void peers(float* out, int turns) {
  __shared__ alignas(128) float mine[256], theirs[256];
  __shared__ alignas(8) unsigned long long full;
  const std::uint32_t barrier = ptx::sharedAddress(&full), rank = ptx::clusterRank();
  if (threadIdx.x == 0) {
    ptx::mbarrierInit(barrier, 1);
    ptx::fenceMbarrierInit();
  }
  ptx::clusterArrive();
  ptx::clusterWait();
  const std::uint32_t next = (rank + 1) % ptx::clusterBlocks();
  float sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    mine[threadIdx.x] = sum + rank;
    ptx::fenceProxyAsyncShared();
    if (threadIdx.x == 0) ptx::mbarrierArriveExpectTx(barrier, sizeof(mine));
    ptx::clusterArrive();
    ptx::clusterWait();
    if (threadIdx.x == 0) {
      ptx::bulkCopyToPeer(ptx::mapa(ptx::sharedAddress(theirs), next), ptx::sharedAddress(mine), sizeof(mine), ptx::mapa(barrier, next));
    }
    while (!ptx::mbarrierTryWaitParity(barrier, turn & 1)) {}
    sum += theirs[255 - threadIdx.x];
    ptx::clusterArrive();
    ptx::clusterWait();
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
"""

BASE = {"threads": 128, "tiles": 64, "stages": 3, "length": 4}
CURVES = {
    "threads": ("threads a block", [32, 64, 128, 256, 512, 1024]),
    "tiles": ("turns of the loop", [1, 3, 10, 30, 100, 300, 1000, 3000, 10000]),
    "stages": ("stages of the ring", [2, 3, 4, 6, 8, 10, 12]),
    "length": ("reads of shared memory a turn", [1, 4, 16, 64, 256, 1024]),
    "cluster": ("blocks a cluster", [2, 4, 8, 16]),
}


def compile_ptx(folder, source, defines, clang, cuda):
    name = re.sub(r"\W", "_", "_".join(f"{k}{v}" for k, v in defines.items()))
    cu, ptx = folder / f"{name}.cu", folder / f"{name}.ptx"
    cu.write_text(source)
    flags = [f"-D{k}={v}" for k, v in defines.items()]
    subprocess.run([clang, "-x", "cuda", "--cuda-device-only", "-S", "--cuda-gpu-arch=sm_90a", f"--cuda-path={cuda}",
                    f"-I{cuda}/include/cccl", "-Wno-unknown-cuda-version", "-std=c++20", "-O2", f"-I{ROOT}/runtime/include", *flags, "-o",
                    str(ptx), str(cu)], check=True)
    return ptx


def measure(handoff, ptx, launch):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [handoff, "check", "--no-cache", "-j1", "--format=json", f"--launch={launch}", str(ptx)]
    pid_file = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    output, errors = pid_file.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = None
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    try:
        kernel = json.loads(output)["files"][0]["kernels"][0]
    except (ValueError, LookupError):
        sys.exit(f"{' '.join(command)}: {errors or output[:300]}")
    timed = subprocess.run(["/usr/bin/time", "-f", "%M", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    peak = int(timed.stderr.split()[-1]) / 1024
    return {"seconds": round(seconds, 3), "mib": round(peak), "verdict": kernel["verdict"],
            "limits": [limit.get("reason", limit) if isinstance(limit, dict) else limit for limit in kernel["limits"]]}


def run_curve(name, handoff, folder, clang, cuda):
    points = []
    for value in CURVES[name][1]:
        at = dict(BASE, **{name: value})
        if name == "cluster":
            ptx = compile_ptx(folder, PEERS, {"CLUSTER": value}, clang, cuda)
            launch = f"block=256 grid={2 * value} cluster={value} param1=8"
        else:
            ptx = compile_ptx(folder, RING, {"THREADS": at["threads"], "STAGES": at["stages"], "LENGTH": at["length"]}, clang, cuda)
            launch = f"block={at['threads']} grid=4 param2={at['tiles']}"
        point = dict(at=value, **measure(handoff, ptx, launch))
        points.append(point)
        print(f"{name:8} {value:6} {point['seconds']:8.3f} s {point['mib']:6} MiB  {point['verdict']} {'; '.join(map(str, point['limits']))}", flush=True)
    return points


def draw(name, points):
    """Time over the size, both axes logarithmic, with a line of slope 1 for comparison."""
    width, height, left, bottom, top, right = 560, 320, 64, 48, 18, 18
    xs, ys = [p["at"] for p in points], [max(p["seconds"], 0.001) for p in points]
    x_low, x_high = math.log10(min(xs)), math.log10(max(xs))
    y_low, y_high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)) + 1e-9)
    y_high = max(y_high, y_low + 1)
    at_x = lambda v: left + (math.log10(v) - x_low) / (x_high - x_low) * (width - left - right)
    at_y = lambda v: height - bottom - (math.log10(v) - y_low) / (y_high - y_low) * (height - bottom - top)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" role="img">',
             f"<title>Processor time of the analysis over {CURVES[name][0]}</title>",
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for exponent in range(y_low, y_high + 1):
        y = at_y(10.0 ** exponent)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - right}" y2="{y:.1f}" stroke="#d9dde2"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#444">{10.0 ** exponent:g} s</text>')
    for x in xs:
        parts.append(f'<text x="{at_x(x):.1f}" y="{height - bottom + 18}" text-anchor="middle" fill="#444">{x}</text>')
    last = ys[0] * xs[-1] / xs[0]
    end_x, end_y = xs[-1], last
    if last > 10.0 ** y_high:
        end_y, end_x = 10.0 ** y_high, xs[0] * 10.0 ** y_high / ys[0]
    parts.append(f'<line x1="{at_x(xs[0]):.1f}" y1="{at_y(ys[0]):.1f}" x2="{at_x(end_x):.1f}" y2="{at_y(end_y):.1f}" stroke="#999" stroke-dasharray="4 4"/>')
    line = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in zip(xs, ys))
    parts.append(f'<polyline points="{line}" fill="none" stroke="#1f6feb" stroke-width="2"/>')
    parts += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3.5" fill="#1f6feb"/>' for x, y in zip(xs, ys)]
    parts.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle" fill="#222">{CURVES[name][0]}</text>')
    return "\n".join(parts) + "\n</svg>\n"


def write_table(curves):
    lines = []
    for name, points in curves.items():
        cells = [[str(p["at"]), f"{p['seconds']:.2f}", str(p["mib"]), p["verdict"]] for p in points]
        heads = [CURVES[name][0], "seconds", "MiB", "verdict"]
        lines += ["| " + head + " | " + " | ".join(column) + " |" for head, column in zip(heads, zip(*cells))]
        lines.insert(len(lines) - 3, "|" + " --- |" * (len(points) + 1))
        lines.append("")
    text = PAGE.read_text(encoding="utf-8")
    begin, end = (text.index(mark) for mark in MARKS)
    PAGE.write_text(text[:begin + len(MARKS[0])] + "\n\n" + "\n".join(lines) + "\n" + text[end:], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("handoff")
    parser.add_argument("--only", choices=CURVES)
    parser.add_argument("--clang", default="clang++-22")
    parser.add_argument("--cuda", default=os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        curves = {name: run_curve(name, args.handoff, pathlib.Path(folder), args.clang, args.cuda)
                  for name in ([args.only] if args.only else CURVES)}
    if args.only:
        return
    OUT.mkdir(exist_ok=True)
    (OUT / "growth.json").write_text(json.dumps(curves, indent=1) + "\n")
    for name, points in curves.items():
        (OUT / f"{name}.svg").write_text(draw(name, points))
    write_table(curves)


if __name__ == "__main__":
    main()
