"""Our own small programs on the peers' libraries, built from their registries where the tools are there."""
import os
import pathlib
import shutil
import subprocess

from report import say

BENCH = pathlib.Path(__file__).resolve().parent.parent
BUILT = BENCH.parent.parent / "build" / "peers"


def build_client_go():
    """The program, or None and why there is none."""
    if not shutil.which("go"):
        return None, "no go"
    BUILT.mkdir(parents=True, exist_ok=True)
    binary = BUILT / "bench-client-go"
    say("building the client-go peer")
    built = subprocess.run(["go", "build", "-mod=readonly", "-o", str(binary), "."], cwd=BENCH / "peers/client-go",
                           env={**os.environ, "CGO_ENABLED": "0"})
    return (binary, None) if built.returncode == 0 else (None, "go build failed")


def build_kube_rs(program, quick):
    """One of its programs, or None and why there is none."""
    target = BUILT / "kube-rs"
    binary = target / "release" / program
    if quick:
        return (binary, None) if binary.exists() else (None, "--quick builds no kube-rs")
    if not shutil.which("cargo"):
        return None, "no cargo"
    say("building the kube-rs peers (minutes, once)")
    built = subprocess.run(["cargo", "build", "--release", "--locked"], cwd=BENCH / "peers/kube-rs",
                           env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    return (binary, None) if built.returncode == 0 else (None, "cargo build failed")
