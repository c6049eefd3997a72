"""A real etcd and kube-apiserver for the scripts of this folder, started and stopped by a with block.

Not a test and not used by the C++ tests, which only read what the scripts left behind. The binaries come
from KUBEBUILDER_ASSETS or tests/kube-apiserver/build.sh.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = "schema-recorder"
USER_AGENT = "schema-recorder/1"


def binaries():
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if not folder:
        build = ROOT / "tests/kube-apiserver/build.sh"
        folder = subprocess.run([str(build)], check=True, capture_output=True, text=True).stdout.strip()
    return pathlib.Path(folder)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ControlPlane:
    """etcd and kube-apiserver in a temporary folder; request() speaks JSON with it."""

    def __enter__(self):
        self.processes = []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kubewatch-schema-"))
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self.processes):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        folder = binaries()
        client, peer, self.port = free_port(), free_port(), free_port()
        etcd_url, peer_url = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
        self.spawn("etcd", [
            folder / "etcd", "--name=e", f"--data-dir={self.folder}/etcd", "--unsafe-no-fsync",
            "--log-level=warn", f"--listen-client-urls={etcd_url}", f"--advertise-client-urls={etcd_url}",
            f"--listen-peer-urls={peer_url}", f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=e={peer_url}"])
        key, cert = self.folder / "tls.key", self.folder / "tls.crt"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
            check=True, capture_output=True)
        tokens = self.folder / "tokens.csv"
        tokens.write_text(f'{TOKEN},recorder,1,"system:masters"\n')
        self.spawn("kube-apiserver", [
            folder / "kube-apiserver", f"--etcd-servers={etcd_url}", "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1", f"--secure-port={self.port}", f"--cert-dir={self.folder}",
            f"--tls-cert-file={cert}", f"--tls-private-key-file={key}",
            f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}",
            "--service-account-issuer=https://kubernetes.default.svc", f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount",
            "--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none"])
        self.tls = ssl.create_default_context(cafile=str(cert))
        self.wait_ready()

    def spawn(self, name, arguments):
        log = open(self.folder / f"{name}.log", "wb")
        self.processes.append(subprocess.Popen(
            [str(argument) for argument in arguments], stdout=log, stderr=log, cwd=self.folder))

    def wait_ready(self):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            for process in self.processes:
                if process.poll() is not None:
                    logs = "".join(p.read_text()[-2000:] for p in self.folder.glob("*.log"))
                    raise RuntimeError(f"the control plane ended early:\n{logs}")
            try:
                if self.request("GET", "/readyz", raw=True)[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.5)
        raise RuntimeError("kube-apiserver was not ready within 120 s")

    def request(self, method, path, body=None, content_type="application/json", accept="application/json",
                user_agent=USER_AGENT, raw=False):
        """(code, decoded JSON or text) of one request."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"https://127.0.0.1:{self.port}{path}", data=data, method=method, headers={
                "Authorization": f"Bearer {TOKEN}", "Accept": accept, "User-Agent": user_agent,
                **({"Content-Type": content_type} if data is not None else {})})
        try:
            with urllib.request.urlopen(request, context=self.tls, timeout=30) as answer:
                code, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            code, text = error.code, error.read().decode()
        if raw:
            return code, text
        try:
            return code, json.loads(text)
        except ValueError:
            return code, text
