#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/concepts.md into docs/pictures (or another folder): pictures.py [FOLDER]."""

import pathlib
import sys
from xml.sax.saxutils import escape

WIDTH = 760
LEFT = 132  # where time begins, right of the names of the lanes
RIGHT = WIDTH - 20
CHARACTER = 7.3  # width of a character of 12 px in a monospaced font, with some room

STYLE = """
  svg { --ink: #1f2328; --soft: #59636e; --rule: #d1d9e0; --page: #ffffff;
        --thread: #ddf4ff; --thread-edge: #0969da; --copy: #fff3cd; --copy-edge: #9a6700;
        --good: #dafbe1; --good-edge: #1a7f37; --bad: #ffe2e0; --bad-edge: #cf222e; --idle: #f6f8fa; }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #e6edf3; --soft: #9198a1; --rule: #3d444d; --page: #0d1117;
          --thread: #121d2f; --thread-edge: #4493f8; --copy: #2e2411; --copy-edge: #d29922;
          --good: #12261e; --good-edge: #3fb950; --bad: #2d1517; --bad-edge: #f85149; --idle: #151b23; } }
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); }
  .code { font: 12px ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; }
  .small { font-size: 11.5px; fill: var(--soft); }
  .name { font-weight: 600; }
  .page { fill: var(--page); stroke: var(--rule); }
  .lane, .mark { stroke: var(--rule); stroke-width: 1; fill: none; }
  .mark { stroke-dasharray: 3 4; }
  .box { stroke-width: 1.25; }
  .thread { fill: var(--thread); stroke: var(--thread-edge); }
  .copy { fill: var(--copy); stroke: var(--copy-edge); }
  .good { fill: var(--good); stroke: var(--good-edge); }
  .bad { fill: var(--bad); stroke: var(--bad-edge); }
  .idle { fill: var(--idle); stroke: var(--rule); }
  .arrow { fill: none; stroke: var(--ink); stroke-width: 1.4; }
  .arrow.good { fill: none; stroke: var(--good-edge); }
  .arrow.bad { fill: none; stroke: var(--bad-edge); stroke-dasharray: 5 4; }
  .arrow.copy { fill: none; stroke: var(--copy-edge); }
  .tip { fill: var(--ink); } .tip.good { fill: var(--good-edge); } .tip.bad { fill: var(--bad-edge); }
  .tip.copy { fill: var(--copy-edge); }
  .text-good { fill: var(--good-edge); } .text-bad { fill: var(--bad-edge); } .text-copy { fill: var(--copy-edge); }
"""


class Picture:
    """One SVG file; time runs from left to right, one lane for each actor or slot."""

    def __init__(self, title, height):
        self.title, self.height, self.parts = title, height, []

    def add(self, part):
        self.parts.append(part)

    def text(self, x, y, words, kind="", anchor="start"):
        self.add(f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>')

    def lane(self, y, name, note=""):
        self.text(16, y + 4, name, "name")
        if note:
            self.text(16, y + 19, note, "small")
        self.add(f'<line class="lane" x1="{LEFT}" y1="{y}" x2="{RIGHT}" y2="{y}"/>')

    def box(self, x1, x2, y, words, kind, code=False, height=26, shift=0):
        self.add(f'<rect class="box {kind}" x="{x1:g}" y="{y - height / 2:g}" width="{x2 - x1:g}" height="{height:g}" rx="4"/>')
        if words:
            self.text((x1 + x2) / 2 + shift, y + 4, words, "code" if code else "", "middle")

    def step(self, x, y, words, kind="thread"):
        """A box as wide as its words, which begins at x; returns where it ends."""
        end = x + len(words) * CHARACTER + 12
        self.box(x, end, y, words, kind, code=True)
        return end

    def arrow(self, x1, y1, x2, y2, kind="", bend=0):
        """From one point to another; bend moves the middle of the curve to the side."""
        middle_x, middle_y = (x1 + x2) / 2 + bend, (y1 + y2) / 2
        tail_x, tail_y = (middle_x, middle_y) if bend else (x1, y1)
        length = ((x2 - tail_x) ** 2 + (y2 - tail_y) ** 2) ** 0.5
        ux, uy = (x2 - tail_x) / length, (y2 - tail_y) / length
        end_x, end_y = x2 - 6 * ux, y2 - 6 * uy
        self.add(f'<path class="arrow {kind}" d="M{x1:g} {y1:g}Q{middle_x:g} {middle_y:g} {end_x:g} {end_y:g}"/>')
        points = [(x2, y2), (x2 - 8 * ux - 4 * uy, y2 - 8 * uy + 4 * ux), (x2 - 8 * ux + 4 * uy, y2 - 8 * uy - 4 * ux)]
        self.add(f'<polygon class="tip {kind}" points="' + " ".join(f"{px:.1f},{py:.1f}" for px, py in points) + '"/>')

    def mark(self, x, y1, y2):
        self.add(f'<line class="mark" x1="{x:g}" y1="{y1:g}" x2="{x:g}" y2="{y2:g}"/>')

    def svg(self):
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" height="{self.height}" '
                f'role="img" aria-label="{escape(self.title)}">\n<!-- Made by tools/pictures.py. -->\n<title>{escape(self.title)}</title>\n'
                f'<style>{STYLE}</style>\n<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{self.height - 1}" rx="6"/>\n'
                f'{body}\n</svg>\n')


def copy_in_flight():
    p = Picture("A thread issues a copy and goes on while the copy is in flight", 216)
    p.lane(40, "thread")
    p.lane(98, "copy engine")
    p.lane(156, "slot")
    issue = p.step(LEFT + 6, 40, "cp.async")
    p.step(issue + 16, 40, "other work")
    p.step(404, 40, "read", "bad")
    p.step(476, 40, "wait")
    p.step(560, 40, "read", "good")
    p.box(226, 520, 98, "copy in flight", "copy", shift=-40)
    p.arrow(issue - 20, 53, 232, 85, "copy")
    p.arrow(512, 85, 500, 54, "copy")
    p.box(LEFT + 6, 226, 156, "old bytes", "idle")
    p.box(226, 520, 156, "undefined: old, new or a mixture", "bad")
    p.box(520, RIGHT - 4, 156, "new bytes", "good")
    p.arrow(424, 54, 424, 142, "bad")
    p.arrow(578, 54, 578, 142, "good")
    p.text(LEFT + 6, 200, "The instruction returns at once. Between issue and wait, the slot is nobody's.", "small")
    return p


def groups():
    p = Picture("Commits put copies into groups; a wait names how many of the newest groups may be pending", 212)
    p.lane(44, "thread")
    x = LEFT + 6
    ends = []
    for group, copies in enumerate((2, 1, 1)):
        start = x
        for _ in range(copies):
            x = p.step(x, 44, "copy", "copy") + 4
        x = p.step(x, 44, "commit") + 4
        ends.append((start, x - 4))
        x += 10
    wait = p.step(x, 44, "wait_group 1")
    for group, (start, end) in enumerate(ends):
        kind = "good" if group < 2 else "bad"
        p.box(start, end, 100, f"group {group}", kind)
        p.arrow(start + 16, 58, start + 16, 86, "copy")
        p.text((start + end) / 2, 132, "complete" if group < 2 else "may be pending", "text-good" if group < 2 else "text-bad", "middle")
    p.mark(wait + 6, 26, 146)
    p.text(wait - 4, 104, "after the wait", "small", "end")
    p.text(LEFT + 6, 172, "wait_group N leaves the N newest groups pending, whatever is in them. An empty group counts,", "small")
    p.text(LEFT + 6, 190, "so commit in every turn: then the same N is right in all turns, the last ones included.", "small")
    return p


def wait_is_per_thread():
    p = Picture("A wait is about the thread's own copies; a barrier behind it tells the others", 252)
    p.lane(44, "thread A")
    p.lane(104, "thread B")
    for y, mine, wait in ((44, "a", 216), (104, "b", 360)):
        p.step(LEFT + 6, y, f"copy {mine}", "copy")
        p.step(wait, y, "wait")
    p.step(290, 44, "read b", "bad")
    p.arrow(192, 98, 306, 60, "bad")
    p.text(274, 92, "no edge", "text-bad")
    p.box(430, 452, 74, "", "thread", height=92)
    p.text(441, 140, "barrier", "", "middle")
    p.step(500, 44, "read b", "good")
    p.step(500, 104, "read a", "good")
    p.arrow(402, 104, 430, 104, "good")
    p.arrow(452, 44, 500, 44, "good")
    p.arrow(452, 104, 500, 104, "good")
    p.text(LEFT + 6, 176, "A's wait says that a has arrived, and nothing of b. B's wait comes first, then a barrier that both", "small")
    p.text(LEFT + 6, 194, "threads reach, then the read. A barrier without the wait does not complete a copy; a wait without the", "small")
    p.text(LEFT + 6, 212, "barrier does not tell the other thread.", "small")
    p.text(LEFT + 6, 236, "copy → wait by the one that issued it → barrier → read", "code")
    return p


def ring():
    p = Picture("A ring of three slots: fill, steady state, drain", 244)
    unit, top = 58, 62
    for slot in range(3):
        p.lane(top + 44 * slot, f"slot {slot}")
    tiles = 7
    for tile in range(tiles):
        slot = tile % 3
        y = top + 44 * slot
        issued = tile if tile < 2 else tile
        start = LEFT + 6 + issued * unit
        p.box(start, start + 2 * unit - 3, y, f"fill {tile}", "copy")
        p.box(start + 2 * unit, start + 3 * unit - 3, y, f"read {tile}", "thread")
    steady, drain = LEFT + 6 + 2 * unit, LEFT + 6 + 7 * unit
    for x in (steady, drain):
        p.mark(x - 2, 24, 190)
    p.text((LEFT + steady) / 2, 34, "fill", "name", "middle")
    p.text((steady + drain) / 2, 34, "steady state", "name", "middle")
    p.text((drain + RIGHT) / 2 - 20, 34, "drain", "name", "middle")
    p.text(LEFT + 6, 210, "Two copies run while one tile is used. A slot goes round: filled, waited for, read by all, free again.", "small")
    p.text(LEFT + 6, 228, "The ends are where mistakes hide: too few groups to wait for at the end, or a copy that nobody needs.", "small")
    return p


def overwrite():
    p = Picture("A slot that is filled again while someone still reads it", 226)
    p.lane(44, "producer")
    p.lane(100, "copy engine")
    p.lane(156, "consumer")
    p.step(LEFT + 6, 44, "fill s, tile 0", "copy")
    p.box(190, 300, 100, "tile 0 into s", "copy")
    p.box(310, 470, 156, "wait, read s", "thread")
    p.arrow(300, 108, 318, 143, "good")
    p.step(330, 44, "fill s, tile 3", "bad")
    p.box(394, 500, 100, "tile 3 into s", "bad")
    p.arrow(376, 58, 400, 86, "bad")
    p.arrow(440, 114, 440, 142, "bad")
    p.step(540, 44, "fill s, tile 3", "good")
    p.arrow(470, 146, 560, 59, "good", bend=14)
    p.text(536, 122, "release: last read", "text-good")
    p.text(536, 138, "before the next fill", "text-good")
    p.text(LEFT + 6, 196, "The arrow back, from the last read to the next fill, is as needed as the one from copy to read.", "small")
    p.text(LEFT + 6, 214, "It is a barrier, or an arrival at the slot's “empty” mbarrier that the producer waits for.", "small")
    return p


def phases():
    p = Picture("An mbarrier goes from phase to phase; a wait by parity names a phase by one bit", 262)
    p.lane(44, "arrivals", "count 2")
    p.lane(108, "mbarrier")
    p.lane(172, "waits")
    third = (RIGHT - LEFT - 10) / 3
    for phase in range(3):
        start = LEFT + 6 + phase * third
        p.box(start, start + third - 4, 108, f"phase {phase}, parity {phase % 2}", ("copy", "thread", "copy")[phase])
        if phase < 2:
            for offset in (36, third - 54):
                p.step(start + offset, 44, "arrive")
                p.arrow(start + offset + 26, 58, start + offset + 26, 94)
    x = LEFT + 6
    p.step(x + 10, 172, "wait parity 0", "good")
    p.arrow(x + 116, 170, x + third - 2, 124, "good")
    p.text(x, 204, "passes when phase 0 ends", "text-good")
    p.step(x + third + 30, 172, "wait parity 0", "bad")
    p.arrow(x + third + 60, 158, x + third - 6, 124, "bad")
    p.text(x + third, 204, "passes at once: phase 0 is over", "text-bad")
    p.text(LEFT + 6, 230, "A phase ends when the count of arrivals is used up, and the next begins. “Wait for parity q” passes when", "small")
    p.text(LEFT + 6, 248, "the current phase is of the other parity: a bit that does not flip with each use waits for the past.", "small")
    return p


def transaction_bytes():
    p = Picture("A phase with copies ends when arrivals and bytes are both complete", 268)
    p.lane(44, "thread")
    p.lane(98, "copy engine")
    p.text(16, 158, "bytes that", "name")
    p.text(16, 174, "are expected", "name")
    p.step(LEFT + 6, 44, "arrive.expect_tx 4096")
    p.step(320, 44, "issue")
    p.arrow(344, 58, 372, 86, "copy")
    p.box(366, 468, 98, "2048 bytes", "copy")
    p.box(472, 590, 98, "2048 bytes", "copy")
    base, top = 206, 140
    p.add(f'<line class="lane" x1="{LEFT}" y1="{base}" x2="{RIGHT}" y2="{base}"/>')
    points = [(LEFT, base), (200, base), (200, top), (470, top), (470, (base + top) / 2), (590, (base + top) / 2), (590, base), (RIGHT, base)]
    p.add('<path class="arrow copy" d="M' + "L".join(f"{x} {y}" for x, y in points) + '"/>')
    p.text(208, top - 6, "4096", "small")
    p.text(478, (base + top) / 2 - 6, "2048", "small")
    p.text(598, base - 6, "0: the phase ends", "text-good")
    p.text(LEFT + 6, 236, "The copy engine counts bytes, not copies. Expect fewer, and the phase ends while a copy is in flight;", "small")
    p.text(LEFT + 6, 254, "expect more, and it never ends. Boxes that hang over the edge of a tensor count in full.", "small")
    return p


def proxies():
    p = Picture("Two ways to the same memory; only a proxy fence orders one against the other", 258)
    p.box(20, 176, 52, "ld, st, atomics", "thread", height=34)
    p.box(20, 176, 190, "bulk, TMA, wgmma", "copy", height=34)
    p.text(98, 88, "generic proxy", "small", "middle")
    p.text(98, 164, "async proxy", "small", "middle")
    p.box(226, 340, 121, "shared memory", "idle", height=44)
    p.arrow(176, 58, 226, 108)
    p.arrow(176, 184, 226, 134, "copy")
    end = p.step(372, 56, "st tile") + 4
    end = p.step(end, 56, "barrier") + 4
    p.step(end, 56, "bulk store", "bad")
    p.text(372, 90, "may send what was there before", "text-bad")
    end = p.step(372, 146, "st tile") + 4
    end = p.step(end, 146, "fence.proxy.async", "good") + 4
    end = p.step(end, 146, "barrier") + 4
    p.step(end, 146, "bulk store", "good")
    p.text(372, 180, "by each thread that wrote, before the barrier", "text-good")
    p.text(30, 230, "Barriers order accesses within a proxy. Between ordinary stores and the engine that reads what they wrote", "small")
    p.text(30, 247, "(or fills what they read), the fence says: what was done so far counts for the other side, too.", "small")
    return p


def asynchronous_readers():
    p = Picture("Tensor cores and stores read a slot after their instruction has returned", 300)
    p.lane(40, "warpgroup")
    p.lane(92, "tensor core")
    end = p.step(LEFT + 6, 40, "wgmma")
    end = p.step(end + 6, 40, "commit")
    p.step(end + 24, 40, "release", "bad")
    p.step(486, 40, "wait_group 0")
    p.step(600, 40, "release", "good")
    p.box(190, 470, 92, "reads A and B in shared memory", "copy")
    p.arrow(160, 54, 196, 78, "copy")
    p.arrow(466, 78, 500, 54, "copy")
    p.lane(160, "thread")
    p.lane(212, "copy engine")
    end = p.step(LEFT + 6, 160, "bulk store")
    end = p.step(end + 6, 160, "commit")
    p.step(end + 12, 160, "refill", "bad")
    p.step(374, 160, "wait.read 0")
    p.step(480, 160, "refill", "good")
    p.step(566, 160, "wait 0")
    p.step(640, 160, "reload", "good")
    p.box(200, 390, 212, "reads the slot", "copy")
    p.box(393, 560, 212, "writes global memory", "copy")
    p.arrow(170, 174, 206, 198, "copy")
    p.arrow(388, 198, 400, 174, "copy")
    p.arrow(556, 198, 580, 174, "copy")
    p.text(LEFT + 6, 256, "A slot is free when its reader has finished, not when the reading was ordered. For stores there are two", "small")
    p.text(LEFT + 6, 273, "ends: wait.read, the slot may be filled again; wait, global memory has the bytes. The last stores of a", "small")
    p.text(LEFT + 6, 290, "kernel need the first before it exits.", "small")
    return p


def cluster():
    p = Picture("A copy into another block of the cluster completes on the barrier beside its destination", 262)
    for x, name in ((40, "block 0"), (430, "block 1")):
        p.add(f'<rect class="box idle" x="{x}" y="26" width="290" height="146" rx="6"/>')
        p.text(x + 14, 46, name, "name")
    p.box(60, 160, 88, "row", "thread", height=34)
    p.box(560, 700, 88, "its copy", "copy", height=34)
    p.box(560, 700, 142, "mbarrier", "copy", height=30)
    p.arrow(160, 84, 560, 84, "copy")
    p.text(344, 76, "bytes", "text-copy")
    p.arrow(160, 98, 560, 134, "copy")
    p.text(340, 136, "complete_tx", "text-copy")
    p.step(450, 150, "wait")
    p.arrow(560, 150, 492, 150, "good")
    p.text(40, 198, "1. Block 1 initialises its mbarrier, and a cluster barrier tells block 0 before it copies.", "small")
    p.text(40, 216, "2. The receiver waits on its own barrier; the sender may not wait on it, and learns nothing from its own.", "small")
    p.text(40, 234, "3. Neither block leaves while the other may touch its shared memory: a cluster barrier comes last.", "small")
    p.text(40, 252, "4. Arrivals from afar need cluster scope to order data.", "small")
    return p


PICTURES = [
    ("01-copy-in-flight", copy_in_flight),
    ("02-groups", groups),
    ("03-wait-is-per-thread", wait_is_per_thread),
    ("04-ring", ring),
    ("05-overwrite", overwrite),
    ("06-phases", phases),
    ("07-transaction-bytes", transaction_bytes),
    ("08-proxies", proxies),
    ("09-asynchronous-readers", asynchronous_readers),
    ("10-cluster", cluster),
]


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES:
        (folder / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
