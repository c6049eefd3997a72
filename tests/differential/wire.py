"""One request to one server, and its answer as it came. Compares nothing."""
import http.client
import json
import shlex
import ssl
import urllib.parse
from dataclasses import dataclass, field

AGENT = "kubewatch-differential"  # the field manager; to an agent called curl, a server prints indented
TIMEOUT = 60


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: object = None
    content_type: str = "application/json"
    accept: str = "application/json"
    what: str = ""     # is tried here, in words: "spec.replicas = -1"
    needs: str = ""    # the line of curl that makes the object, where one is needed

    @property
    def text(self):
        """Without spaces: a server keeps the bytes of raw values, and compares them."""
        return "" if self.body is None else json.dumps(self.body, ensure_ascii=False, separators=(",", ":"))

    def curl(self):
        """A line for a shell in which REAL, SANDBOX and TOKEN are set."""
        words = ["-X", self.method, "-A", AGENT]
        words += [] if self.accept == "application/json" else ["-H", f"Accept: {self.accept}"]
        if self.body is not None:
            words += ["-H", f"Content-Type: {self.content_type}", "--data-binary", self.text]
        return ('for s in $REAL $SANDBOX; do curl -sk -H "Authorization: Bearer $TOKEN" '
                f'{shlex.join(words)} $s{shlex.quote(self.path)}; echo; done')


@dataclass
class Answer:
    code: int
    content_type: str = ""
    warnings: list = field(default_factory=list)
    body: object = None  # JSON, or the text that is none

    @property
    def message(self):
        return self.body.get("message", "") if isinstance(self.body, dict) else str(self.body)


class Server:
    def __init__(self, name, url, token=""):
        self.name, self.token = name, token
        self.address = urllib.parse.urlsplit(url)
        self.connection = None
        self.asked = 0

    def connect(self):
        if self.address.scheme == "https":
            context = ssl._create_unverified_context()  # both are ours, on this machine
            return http.client.HTTPSConnection(self.address.netloc, timeout=TIMEOUT, context=context)
        return http.client.HTTPConnection(self.address.netloc, timeout=TIMEOUT)

    def ask(self, request):
        """A connection that fails, which is how a crash looks, is an answer of code 0."""
        self.asked += 1
        headers = {"Accept": request.accept, "User-Agent": AGENT}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        body = None
        if request.body is not None:
            body = request.text.encode()
            headers["Content-Type"] = request.content_type
        kept = self.connection is not None
        try:
            self.connection = self.connection or self.connect()
            self.connection.request(request.method, request.path, body, headers)
            response = self.connection.getresponse()
            data = response.read()
        except (OSError, http.client.HTTPException) as problem:
            self.connection = None
            return self.ask(request) if kept else Answer(0, body=repr(problem))
        text = data.decode("utf-8", "replace")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        return Answer(response.status, response.headers.get("Content-Type", ""),
                      response.headers.get_all("Warning", []), value)

    def get(self, path):
        return self.ask(Request("GET", path))
