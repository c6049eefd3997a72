"""The two servers of the benchmark: the line-rate server, and etcd with a real kube-apiserver. Each
writes a kubeconfig and ends with the `with` block that started it."""
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import time
import urllib.request

AGENT = "kubewatch-bench"  # a real server prints JSON with indentation for an agent called curl


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def end(process):
    if process and process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def kubeconfig(path, server, cluster_lines="", user="{}"):
    path.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: bench\n"
        f"clusters:\n- name: bench\n  cluster:\n    server: {server}\n{cluster_lines}"
        f"users: [{{name: bench, user: {user}}}]\n"
        "contexts: [{name: bench, context: {cluster: bench, user: bench}}]\n")
    path.chmod(0o600)


def reader(binaries, file, count, collection, *command):
    """The words of bench_read for the server of that kubeconfig: reads the watch, and keeps nothing."""
    text = file.read_text()
    host, port = re.search(r"server: \"?https://([^:/\s]+):(\d+)", text).groups()
    token = re.search(r"token: \"?([^\s\"}]+)", text).group(1)
    return [binaries / "bench_read", count, host, port, token, collection, *command]


class LineServer:
    name = "line"

    def __init__(self, binaries, folder, corpus, count):
        self.command = [str(binaries / "line_server"), corpus, str(count)]
        self.corpus, self.count = corpus, count
        self.kubeconfig = folder / "line.kubeconfig"

    def __enter__(self):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = subprocess.Popen(self.command + [str(self.port)], stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("line_server did not start")
        kubeconfig(self.kubeconfig, self.url)
        return self

    def __exit__(self, *_):
        end(self.process)

    def post(self, path):
        request = urllib.request.Request(self.url + path, data=b"", method="POST")
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def state(self):
        with urllib.request.urlopen(self.url + "/bench/state") as answer:
            return json.load(answer)

    def updates(self, count, rate):
        """Starts them; the caller waits for the program to have seen them."""
        self.post(f"/bench/updates?count={count}&rate={rate}")
        return None

    def curl(self, accept="application/json"):
        return curl_seconds([self.url + "/api/v1/pods", "-H", f"Accept: {accept}"])


class RealServer:
    name = "real"

    def __init__(self, assets, binaries, folder):
        self.assets, self.binaries = pathlib.Path(assets), binaries
        self.folder = folder / "real"
        self.kubeconfig = folder / "real.kubeconfig"
        self.corpus, self.count = "realistic", 0
        self.etcd = self.api = None

    def __enter__(self):
        self.folder.mkdir()
        self.ports = [free_port() for _ in range(3)]
        self.etcd_url = f"http://127.0.0.1:{self.ports[0]}"
        peer = f"http://127.0.0.1:{self.ports[1]}"
        self.url = f"https://127.0.0.1:{self.ports[2]}"
        key = self.folder / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
        (self.folder / "tokens.csv").write_text('bench-token,admin,admin,"system:masters"\n')
        self.etcd = self.launch("etcd", [
            "--name=e", f"--data-dir={self.folder}/etcd", "--unsafe-no-fsync", "--log-level=warn",
            f"--listen-client-urls={self.etcd_url}", f"--advertise-client-urls={self.etcd_url}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=e={peer}", "--quota-backend-bytes=8589934592"])
        try:
            self.start_api()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        end(self.api)
        end(self.etcd)

    def launch(self, binary, arguments):
        log = open(self.folder / f"{binary}.log", "ab")
        return subprocess.Popen([str(self.assets / binary)] + arguments, stdout=log, stderr=log)

    def start_api(self, *more):
        end(self.api)
        key = f"{self.folder}/accounts.key"
        self.api = self.launch("kube-apiserver", [
            f"--etcd-servers={self.etcd_url}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
            f"--secure-port={self.ports[2]}", f"--cert-dir={self.folder}/certs",
            f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--token-auth-file={self.folder}/tokens.csv", "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount", "--service-cluster-ip-range=10.0.0.0/24",
            "--endpoint-reconciler-type=none", *more])
        deadline = time.monotonic() + 180
        while not self.ready():
            if self.api.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"kube-apiserver did not become ready, see {self.folder}/kube-apiserver.log")
            time.sleep(0.3)
        kubeconfig(self.kubeconfig, self.url,
                   f"    certificate-authority: {self.folder}/certs/apiserver.crt\n", "{token: bench-token}")

    def cpu(self):
        """Milliseconds of CPU that the API server and etcd have used so far."""
        ticks = 0
        for process in (self.api, self.etcd):
            fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks * 1000 / os.sysconf("SC_CLK_TCK")

    def get(self, path):
        context = ssl._create_unverified_context()
        request = urllib.request.Request(self.url + path, headers={
            "Authorization": "Bearer bench-token", "User-Agent": AGENT})
        with urllib.request.urlopen(request, context=context, timeout=120) as answer:
            return answer.read()

    def ready(self):
        try:
            return self.get("/readyz") == b"ok"
        except OSError:
            return False

    def fill(self, count):
        begun = time.monotonic()
        end(self.api)  # it would only slow the fill down
        subprocess.run([str(self.binaries / "bench_load"), "fill", self.corpus, str(self.count), str(count),
                        self.etcd_url], check=True)
        self.count = count
        self.start_api()
        self.warm()
        return time.monotonic() - begun

    def warm(self):
        """Until the watch cache has all: its own count, not ours."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            page = json.loads(self.get("/api/v1/pods?limit=1"))
            if 1 + page["metadata"].get("remainingItemCount", 0) == self.count:
                self.get("/api/v1/pods?limit=1&resourceVersion=0")
                return
            time.sleep(1)
        raise RuntimeError("kube-apiserver does not see what etcd holds")

    def updates(self, count, rate):
        return subprocess.Popen(
            [str(self.binaries / "bench_load"), "touch", self.corpus, str(self.count), str(count), str(rate)],
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig)}, stdout=subprocess.PIPE, text=True)

    def curl(self, accept="application/json"):
        return curl_seconds([self.url + "/api/v1/pods?resourceVersion=0", "-k", "-H", f"Accept: {accept}",
                             "-H", "Authorization: Bearer bench-token"])


def curl_seconds(arguments):
    begun = time.monotonic()
    subprocess.run(["curl", "-sf", "-A", AGENT, "-o", "/dev/null", *arguments], check=True)
    return time.monotonic() - begun


class Sandbox:
    """Ours, as users start it."""
    name = "sandbox"

    def __init__(self, kubewatch, folder):
        self.kubewatch, self.kubeconfig = kubewatch, folder / "sandbox.kubeconfig"
        self.log = folder / "sandbox.log"

    def __enter__(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([str(self.kubewatch), "sandbox", "--kubeconfig", str(self.kubeconfig)],
                                            stdout=log, stderr=log)
        deadline = time.monotonic() + 20
        while not self.kubeconfig.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the sandbox did not start: {self.log.read_text()[-300:]}")
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        end(self.process)
