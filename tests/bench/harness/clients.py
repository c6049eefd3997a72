"""Runs one cache program against one server and measures it from outside, the same way for all:
memory from /proc, the peak of a relist by VmHWM after clear_refs; the program itself says when it
is synced, with its CPU time."""
import contextlib
import json
import os
import pathlib
import queue
import signal
import subprocess
import threading
import time

from servers import end

SETTLE = 3.0  # least seconds from synced to the RSS that counts; then until compaction and collectors rest


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(measure, command, codes=(0,)):
    """One run under bench_measure: {wall_ms, cpu_ms, rss_mb, code}."""
    ran = subprocess.run([str(measure), *map(str, command)], stderr=subprocess.PIPE, text=True)
    out = json.loads(ran.stderr.splitlines()[-1])
    if out["code"] not in codes:
        raise RuntimeError(f"{command[1]}: exit {out['code']}: " + "".join(ran.stderr.splitlines()[:-1])[-300:])
    return out


class Failed(Exception):
    pass


class Client:
    def __init__(self, command, server):
        self.process = subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "KUBECONFIG": str(server.kubeconfig)})
        self.server = server
        self.lines = queue.Queue()
        self.errors = []
        threading.Thread(target=self.read, daemon=True).start()
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()  # nothing is written anywhere: no need to ask
        self.process.wait()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.lines.put(json.loads(line))
        self.lines.put(None)

    def phase(self, name, timeout):
        deadline = time.monotonic() + timeout
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise Failed(f"{name} not reached in {timeout:.0f} s") from None
            if line is None:
                raise Failed("".join(self.errors[-1:]).strip() or "ended")
            if line["phase"] == name:
                return line

    def proc(self, file):
        with open(f"/proc/{self.process.pid}/{file}") as f:
            return f.read()

    def kilobytes(self, key, file="status"):
        return int(next(line.split()[1] for line in self.proc(file).splitlines() if line.startswith(key + ":")))

    def rss(self):
        return self.kilobytes("VmRSS") / 1024

    def private_dirty(self):
        return self.kilobytes("Private_Dirty", "smaps_rollup") / 1024

    def cpu(self):
        fields = self.proc("stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait_quiet(self, timeout=300):
        """Until it used less than a twentieth of a CPU for two seconds in a row."""
        deadline = time.monotonic() + timeout
        calm = 0
        while calm < 2 and time.monotonic() < deadline:
            before = self.cpu()
            time.sleep(1)
            calm = calm + 1 if self.cpu() - before < 0.05 else 0

    def relist(self, changed):
        """Peak over steady state while the whole collection is listed again after a 410."""
        self.wait_quiet()
        states, steady, cpu = self.server.state()["fullStates"], self.rss(), self.cpu()
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as f:
            f.write("5")
        self.server.post(f"/bench/gone?changed={changed}")
        deadline = time.monotonic() + 60
        while self.server.state()["fullStates"] == states:
            if time.monotonic() > deadline:
                raise Failed("no relist after a 410")
            time.sleep(0.1)
        self.wait_quiet()
        return {"steady_mb": steady, "peak_mb": self.kilobytes("VmHWM") / 1024, "relist_cpu_s": self.cpu() - cpu}


def sync(server, command, relist=None, check=False, settle=SETTLE):
    """Until synced, and what it holds then; or {"failed": why}."""
    try:
        with Client(command, server) as client:
            out = client.phase("synced", 400)
            if settle:
                time.sleep(settle)
                client.wait_quiet()
                out["rss_mb"] = client.rss()
                out["private_mb"] = client.private_dirty()
            if relist is not None:
                out |= client.relist(relist)
            if check:
                client.process.send_signal(signal.SIGUSR1)
                out |= client.phase("checked", 300)
            return out
    except (Failed, OSError) as error:
        return {"failed": str(error)}


def follow(server, command, count, rate, flag, beside=None):
    """The cost of `count` updates at `rate` on a synced cache. `beside` runs at the same time and only
    reads the same watch: what an update takes until it can be read at all, in the same seconds."""
    try:
        with contextlib.ExitStack() as ending:
            client = ending.enter_context(Client([*command, *([flag, str(count)] if flag else [])], server))
            client.phase("synced", 200)
            client.wait_quiet(30)
            reader = ending.enter_context(Client(beside, server)) if beside else None
            if reader:
                reader.phase("synced", 20)
            load = server.updates(count, rate)
            try:
                out = client.phase("events", 60 + 3 * count / rate)
                if reader:
                    limit = reader.phase("events", 20)
                    out |= {f"limit_{key}": limit[f"lag_ms_{key}"] for key in ("p50", "p99")}
            finally:
                if load is None:
                    while server.state()["updatesLeft"] > 0:
                        time.sleep(0.2)
                else:
                    end(load) if load.poll() is None and load.wait(60) is None else None
            if load is not None:
                out["sent_per_s"] = json.loads(load.stdout.read())["per_second"]
            return out
    except (Failed, OSError, subprocess.TimeoutExpired) as error:
        return {"failed": str(error)}


def idle(server, command, seconds=8):
    """A process with one empty watch, after it settled; it prints nothing that we wait for."""
    try:
        with Client(command, server) as client:
            time.sleep(seconds)
            if client.process.poll() is not None:
                raise Failed("".join(client.errors[-1:]).strip() or "ended")
            return {"rss_mb": client.rss(), "private_mb": client.private_dirty()}
    except (Failed, OSError) as error:
        return {"failed": str(error)}
