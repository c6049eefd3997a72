"""Results to text: the detail tables, and the one table of targets with ratios to the best row of
each peer. A figure that is missing says why."""
import sys
import time

MISSING = "-"
NOISE = 0.02  # seconds: what two runs of the same thing differ by


def say(text):
    """What is being done, while it is."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def number(value, digits=1):
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    return f"{value:,.{digits}f}"


def table(title, head, rows):
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    print(f"\n{title}")
    for row in [head, ["-" * w for w in widths], *rows]:
        print("| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |")


def median(values):
    values = sorted(v for v in values if v is not None)
    return values[len(values) // 2] if values else None


def least(runs, field):
    return min((run[field] for run in runs if field in run), default=None)


class Results:
    """Measurements by (server, corpus, count, program); a program may run several times."""

    def __init__(self, programs):
        self.programs = programs
        self.runs = {}
        self.notes = []

    def add(self, server, corpus, count, program, result):
        self.runs.setdefault((server, corpus, count, program), []).append(result)

    def value(self, server, corpus, count, program, field):
        runs = self.runs.get((server, corpus, count, program), [])
        return median([run.get(field) for run in runs])

    def failure(self, server, corpus, count, program):
        runs = self.runs.get((server, corpus, count, program), [])
        return next((run["failed"] for run in runs if "failed" in run), None)

    def best(self, server, corpus, count, peer, what, field):
        """The smallest figure of a peer's rows of that content, and its row."""
        found = [(self.value(server, corpus, count, p.name, field), p.name) for p in self.programs
                 if p.peer == peer and p.what == what]
        found = [pair for pair in found if pair[0] is not None]
        return min(found, default=(None, None))


def cache_tables(results, limits):
    heads = sorted({key[:3] for key in results.runs}, key=lambda k: (k[0], k[1], k[2]))
    for server, corpus, count in heads:
        rows = []
        for program in results.programs:
            key = (server, corpus, count, program.name)
            if key not in results.runs:
                continue
            failed = results.failure(*key)
            if failed and results.value(*key, "wall_s") is None:
                rows.append([program.name, "not measured: " + failed[:100]] + [""] * 7)
                continue
            steady, peak = results.value(*key, "steady_mb"), results.value(*key, "peak_mb")
            limit = limits.get((server, corpus, count))
            wall = results.value(*key, "wall_s")
            rows.append([
                program.name, number(wall, 2), number(wall / limit if limit else None, 2),
                number(results.value(*key, "cpu_s"), 2), number(results.value(*key, "rss_mb")),
                number(results.value(*key, "private_mb")),
                number(peak), number(peak / steady if peak else None, 2),
                number(results.value(*key, "relist_cpu_s"), 2)])
        table(f"{count:,} {corpus} Pods, {'line-rate server' if server == 'line' else 'real kube-apiserver'}"
              f" (curl reads them in {number(limits.get((server, corpus, count)), 2)} s)",
              ["program", "wall s", "x curl", "CPU s", "RSS MB", "private dirty", "relist peak MB", "x steady",
               "relist CPU s"], rows)


def follow_table(follows):
    rows = []
    for (server, rate, program), r in follows.items():
        rows.append([server, rate, program] + (
            ["not measured: " + r["failed"][:90]] + [""] * 5 if "failed" in r else
            [number(r["cpu_us_per_event"], 0), number(r["lag_ms_p50"], 2), number(r["lag_ms_p99"], 2),
             f"{number(r.get('limit_p50'), 2)}, {number(r.get('limit_p99'), 2)}" if "limit_p50" in r else "",
             r["events"], number(r.get("sent_per_s"), 0)]))
    table("Steady updates on cached Pods (lag: from sent, on the real server from the PATCH's start;"
          " reader's: p50 and p99 of a program that only reads, at the same time)",
          ["server", "per s", "program", "CPU us per event", "lag p50 ms", "p99 ms", "reader's", "events",
           "reached per s"], rows)


def strategy_table(strategies):
    names = ["auto", "paged", "unpaged", "streaming"]
    rows = []
    for situation, by_name in strategies.items():
        walls = {name: least(runs, "wall_s") for name, runs in by_name.items()}
        cpus = {name: least(runs, "cpu_s") for name, runs in by_name.items()}
        best = min((walls[n] for n in names[1:] if walls.get(n)), default=None)
        ratio = walls["auto"] / best if walls.get("auto") and best else None
        passed = ratio and (ratio <= 1.10 or walls["auto"] - best <= NOISE)
        peers = [number(walls.get(n), 2) for n in ("kube-rs paged", "kube-rs streaming")]
        rows.append([situation] + [f"{number(walls.get(n), 2)} ({number(cpus.get(n), 2)})" for n in names] + peers +
                    [number(ratio, 2), "not measured" if ratio is None else "PASS" if passed else "short"])
    table("Choice of strategy, real kube-apiserver: wall s (CPU s) until synced, the least of all runs;"
          f" within 10 % or {NOISE * 1000:.0f} ms of the best",
          ["situation", *names, "kube-rs paged", "kube-rs streaming", "auto / best", "verdict"], rows)


def idle_table(idles):
    table("Idle, one empty watch", ["process", "RSS MB", "private dirty MB"],
          [[name, "not measured: " + r["failed"][:80], ""] if "failed" in r else
           [name, number(r["rss_mb"]), number(r["private_mb"])] for name, r in idles.items()])


class Verdicts:
    """The table that the issue asks for: what it must reach, what was measured, against whom."""

    def __init__(self):
        self.rows = []

    def add(self, work, target, limit, ours, peers, unit="", digits=1):
        """`limit`: ours must not exceed it; None: it was not measured. `peers`: name -> (figure, row)."""
        cells = []
        for figure, row in peers.values():
            cells.append(f"{number(figure, digits)} {unit} ({row}), {figure / ours:.1f}x" if figure and ours
                         else MISSING)
        verdict = "not measured" if ours is None or limit is None else "PASS" if ours <= limit else "short"
        self.rows.append([work, target, f"{number(ours, digits)} {unit}", *cells, verdict])

    def print(self):
        table("What was asked, what was measured; a peer's figure is its best row's, the ratio is theirs to ours",
              ["work", "must reach", "ours", "client-go", "kube-rs", "verdict"], self.rows)
