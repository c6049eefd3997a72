"""Two answers to one request: what differs, once that is out of the way which differs between any two
servers, and which differences are one and the same. Decides nothing about what is known (known.py)."""
import collections
import datetime
import ipaddress
import itertools
import json
import re
from dataclasses import dataclass, field

ABSENT = "<absent>"
UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)((?:\.\d+)?)Z")
ADDRESS = re.compile(r"\b\d+\.\d+\.\d+\.\d+(?:/\d+)?\b")
SERVICE_RANGES = [ipaddress.ip_network("10.0.0.0/24"), ipaddress.ip_network("10.96.0.0/16")]
NODE_PORTS = range(30000, 32800)  # a dry run of the real server goes beyond the range
PRINTED_PORT = re.compile(r"\b(\d+):3\d{4}(?=/(?:TCP|UDP|SCTP))")
REVISION = re.compile(r'(?<="resourceVersion":")\d+|(?<=\\"resourceVersion\\":\\")\d+')
JSON_WORDS = re.compile(r"(?:\.[\w.]+: )?json: cannot unmarshal (\w+)(?: \S+)? into Go (struct field|value)"
                        r"(?: \S+)? of type")
RECENT = datetime.timedelta(minutes=10)
MANAGER = re.compile(r"(managedFields\.[^/]+/\w+)/\S*?/(?=\w*(?:\.|$))")
TEMPLATES = re.compile(r"(^|\.)(spec\.jobTemplate\.)?(spec\.)?template\.(?=spec\.|metadata\.)")


@dataclass(frozen=True)
class Difference:
    place: str  # code, content type, warning, cause, order of causes, or a path in the body
    real: object
    sandbox: object

    @property
    def field(self):
        """The place without indices."""
        return re.sub(r"\[\d+\]", "[]", self.place)


def recent(found, now):
    """Of the time of an answer only the form is compared: whole seconds, or how many digits."""
    try:
        then = datetime.datetime.fromisoformat(found.group(1))
    except ValueError:
        return found.group(0)
    near = abs(then - now) < RECENT
    return "NOW" + re.sub(r"\d", "0", found.group(2)) if near else found.group(0)


def allocated(found, sent):
    """An address that the server chose, or the range it chose from."""
    text = found.group(0)
    try:
        address = ipaddress.ip_address(text.split("/")[0])
    except ValueError:
        return text
    inside = any(address in network for network in SERVICE_RANGES)
    return "ADDRESS" if inside and f'"{text}"' not in sent else text


def normalised(value, sent, now=None, path=()):
    """value without what no two servers have in common. sent: the text of the request; what stands in it was
    not chosen by the server and stays."""
    now = now or datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    if isinstance(value, dict):
        result = {}
        for key, below in value.items():
            if key == "description" and "columnDefinitions" in path:
                continue  # Descriptions are not what the sandbox has
            if key == "resourceVersion" and path[-1:] == ("metadata",) and below:
                below = "REVISION"
            elif key in ("nodePort", "healthCheckNodePort") and below in NODE_PORTS \
                    and str(below) not in sent:
                below = "PORT"
            result[key] = normalised(below, sent, now, path + (key,))
        if isinstance(result.get("managedFields"), list):  # their order is that of their times
            result["managedFields"] = {"/".join(str(entry.get(key, "")) for key in (
                "manager", "operation", "apiVersion", "subresource")): entry
                for entry in result["managedFields"]}
        return result
    if isinstance(value, list):
        return [normalised(below, sent, now, path) for below in value]
    if isinstance(value, str):
        value = PRINTED_PORT.sub(r"\1:PORT", REVISION.sub("REVISION", value))
        value = UID.sub(lambda found: found[0] if found[0] in sent else "UID", value)
        value = TIME.sub(lambda found: recent(found, now), value)
        return ADDRESS.sub(lambda found: allocated(found, sent), value)
    return value


def body_differences(real, sandbox, place=""):
    if isinstance(real, dict) and isinstance(sandbox, dict):
        for key in sorted(real.keys() | sandbox.keys()):
            yield from body_differences(real.get(key, ABSENT), sandbox.get(key, ABSENT), f"{place}.{key}")
    elif isinstance(real, list) and isinstance(sandbox, list) and len(real) == len(sandbox):
        for index, (one, other) in enumerate(zip(real, sandbox)):
            yield from body_differences(one, other, f"{place}[{index}]")
    elif type(real) is not type(sandbox) or real != sandbox:
        yield Difference(place, real, sandbox)


def list_differences(name, real, sandbox):
    """Of two lists of sentences: which only one has, or else their order."""
    ours, theirs = collections.Counter(sandbox), collections.Counter(real)
    only = [Difference(name, *pair) for pair in itertools.zip_longest(
        (theirs - ours).elements(), (ours - theirs).elements(), fillvalue="")]
    if not only and real != sandbox:
        only = [Difference(f"order of {name}s", "\n".join(real), "\n".join(sandbox))]
    return only


def causes(body):
    """None unless body is a Status that names its causes."""
    if not isinstance(body, dict) or body.get("kind") != "Status":
        return None
    told = (body.get("details") or {}).get("causes")
    return told and [f"{cause.get('field', '')}: {cause.get('message', '')} ({cause.get('reason', '')})"
                     for cause in told]


def differences(request, real, sandbox):
    """All that differs between two answers; of answers with different codes only that, with their words."""
    first, second = (normalised(answer.body, request.text) for answer in (real, sandbox))
    if real.code != sandbox.code:
        def words(answer, body):
            message = body.get("message", "") if isinstance(body, dict) else str(body)
            return f"{answer.code} {message}".strip()
        return [Difference("code", words(real, first), words(sandbox, second))]
    found = []
    if real.content_type != sandbox.content_type:
        found.append(Difference("content type", real.content_type, sandbox.content_type))
    found += list_differences("warning", real.warnings, sandbox.warnings)
    body = list(body_differences(first, second))
    if body and causes(first) and causes(second):
        listed = list_differences("cause", causes(first), causes(second))
        if listed:  # the message says the same again
            body = [one for one in body if one.place != ".message"
                    and not one.place.startswith(".details.causes")]
            found += listed
    return found + body


def shape(value):
    """What like differences have in common: of a sentence its words, of a value whether it is there."""
    if value in (ABSENT, ""):
        return value
    if not isinstance(value, str) or " " not in value:
        return "empty" if not value else "value"
    value = TEMPLATES.sub(r"\1", value)
    value = re.sub(r'"(?:\\.|[^"\\])*"|\[\d+\]', "", value)
    value = JSON_WORDS.sub(r"json: cannot unmarshal \1 into Go \2", value)
    return re.sub(r"[{\[].*|\d+|\n.*", "", value)[:160]


@dataclass
class Group:
    count: int = 0
    kinds: collections.Counter = field(default_factory=collections.Counter)
    example: object = None  # (mode, request, Difference)


class Groups:
    """Differences by likeness, each group with its first example."""

    def __init__(self):
        self.groups = {}

    def add(self, mode, kind, request, difference):
        place = TEMPLATES.sub(r"\1", difference.field.lstrip("."))
        place = MANAGER.sub(r"\1", place)  # without its version
        key = (place, shape(difference.real), shape(difference.sandbox))
        group = self.groups.setdefault(key, Group())
        group.count += 1
        group.kinds[kind] += 1
        group.example = group.example or (mode, request, difference)

    def sorted(self):
        return sorted(self.groups.values(), key=lambda group: -group.count)


def short(value, length=600):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    half = length // 2
    return text if len(text) <= length else f"{text[:half]} ...({len(text)} characters)... {text[-half:]}"
