"""Starts the two servers that are compared, where they are not running already: a kube-apiserver with etcd as
the benchmarks start it, and the sandbox. Both end with the `with` block, and their folder with them."""
import contextlib
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from wire import Server

ROOT = pathlib.Path(__file__).resolve().parents[2]
HARNESS = ROOT / "tests/bench/harness"


def harness(name):
    """A module of the benchmarks, under another name than ours."""
    spec = importlib.util.spec_from_file_location("bench_" + name, HARNESS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Missing(Exception):
    """What cannot be started, in words for the user."""


def kubewatch_of_tree():
    for build in ("release", "dev"):
        path = ROOT / "build" / build / "cli/kubewatch"
        if path.exists():
            return path
    raise Missing("no kubewatch in build/release or build/dev: build one, or --kubewatch PATH")


@contextlib.contextmanager
def real_server(folder):
    assets, why = harness("assets").find_assets(ROOT)
    if not assets:
        raise Missing(why + "; or --real URL of one that runs")

    class RealServer(harness("servers").RealServer):
        def start_api(self, *more):  # as the sandbox has it: Pods may be privileged, and its range
            super().start_api("--allow-privileged=true", "--service-cluster-ip-range=10.96.0.0/16", *more)

    with RealServer(assets, None, folder) as real:
        yield Server("real", real.url, "bench-token")


@contextlib.contextmanager
def sandbox(kubewatch, folder):
    if not pathlib.Path(kubewatch).exists():
        raise Missing(f"{kubewatch} is not there")
    log = folder / "sandbox.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [str(kubewatch), "sandbox", "--insecure-http", "--listen", "127.0.0.1:0",
             "--kubeconfig", str(folder / "sandbox.kubeconfig")], stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + 20
        while not (found := re.search(r"listening on (http://\S+)", log.read_text())):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Missing(f"the sandbox did not start: {log.read_text()[-300:]}")
            time.sleep(0.05)
        yield Server("sandbox", found.group(1))
        if process.poll() is not None:
            print(f"the sandbox ended by itself with {process.returncode}: "
                  f"{log.read_text()[-2000:]}", file=sys.stderr)
    finally:
        harness("servers").end(process)


@contextlib.contextmanager
def both(real_url, token, sandbox_url, kubewatch):
    with tempfile.TemporaryDirectory(prefix="kubewatch-differential.") as name, \
            contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        yield (Server("real", real_url, token) if real_url else stack.enter_context(real_server(folder)),
               Server("sandbox", sandbox_url) if sandbox_url
               else stack.enter_context(sandbox(kubewatch or kubewatch_of_tree(), folder)))
