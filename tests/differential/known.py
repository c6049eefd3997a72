"""Differences that are known, each with its reason. One that nothing matches any more is told at the end of
a run that had the chance, and goes from here. Not a place for defects: those are mended."""
import re
from dataclasses import dataclass
from typing import Callable, Optional

from compare import ABSENT


@dataclass(frozen=True)
class Known:
    reason: str
    place: str             # a regular expression for all of Difference.field
    real: str = ""         # ... for some part of what the real server says there
    sandbox: str = ""
    kinds: tuple = ()      # all where it is empty
    modes: tuple = ()
    alike: Optional[Callable] = None  # what both sides have to be equal by as well

    def covers(self, mode, kind):
        return (not self.kinds or kind in self.kinds) and (not self.modes or mode in self.modes)

    def matches(self, mode, kind, difference):
        place = re.sub(r"^\.(items\[\]|rows\[\]\.object)", "", difference.field)  # in a list as alone
        real, sandbox = str(difference.real), str(difference.sandbox)
        return bool(self.covers(mode, kind) and re.fullmatch(self.place, place)
                    and re.search(self.real, real, re.S) and re.search(self.sandbox, sandbox, re.S)
                    and (not self.alike or self.alike(real) == self.alike(sandbox)))


def without_value(text):
    return re.sub(r'Invalid value: ("?)[{\[].*[}\]]\1: ', "", text, flags=re.S)


PROTECTED = ("PersistentVolumeClaim", "PersistentVolume", "VolumeAttributesClass")
INSIDE = ("FlowSchema", "PriorityLevelConfiguration", "APIService", "CustomResourceDefinition", "ServiceCIDR")

KNOWN = [
    # What kubewatch sandbox --help says that it has not.
    Known("no admission that protects volumes by finalizers", kinds=PROTECTED,
          place=r"\.metadata\.finalizers", real=r"-protection\W+$", sandbox=f"^{ABSENT}$"),
    Known("what a finalizer protects there stays until it is gone", r"\.metadata\.deletion.*", kinds=PROTECTED,
          modes=("life",), sandbox=f"^{ABSENT}$"),
    Known("what a finalizer protects there is still there: no controllers run", "code", real="^200$",
          sandbox="^404 .* not found$", kinds=PROTECTED + INSIDE + ("Namespace",), modes=("life",)),
    Known("no admission that taints a new Node", kinds=("Node",), place=r"\.spec\.taints",
          real="not-ready"),
    Known("the taint that admission set is somebody's", kinds=("Node",), modes=("apply",),
          place=r"\.metadata\.managedFields\.before-first-apply.*", real="f:taints", sandbox=f"^{ABSENT}$"),
    Known("the taint that admission set conflicts", "code", real=r'conflict with "before-first-apply".*: \.spec\.taints$',
          kinds=("Node",)),
    Known("no RBAC: whoever is let in may do everything", r"\.status\.(allowed|reason)",
          kinds=("SubjectAccessReview", "LocalSubjectAccessReview", "SelfSubjectAccessReview")),
    Known("who asks is not the same user", r"\.spec\.(uid|username|groups|extra).*",
          kinds=("CertificateSigningRequest",)),
    Known("FlowSchemas do nothing, and no controller says so", r"\.status\.conditions", real="Dangling",
          kinds=("FlowSchema",)),
    Known("a kube-apiserver has controllers inside that write status", kinds=INSIDE,
          place=r"\.metadata\.managedFields\.(api-priority|kube-apiserver).*", sandbox=f"^{ABSENT}$"),
    Known("FlowSchemas have no conditions that a controller wrote before", kinds=("FlowSchema",),
          place=r"\.metadata\.managedFields\..*/status\.fieldsV1\.f:status\.f:conditions\.\.", real=f"^{ABSENT}$"),
    Known("the admission plugin ServiceAccount, which a cluster has and this server not, gives every Pod an account:"
          " what is refused without one is taken", "cause|code", kinds=("Pod",),
          real="must not be specified when serviceAccountName is not set"),
    # What is not imitated.
    Known("of several values that do not fit the first in the body is told, here the first in Go's struct",
          r"\.message", r" cannot be handled as a ", r" cannot be handled as a ", modes=("pairs",)),
    Known("a value is printed as Go's internal structs print it, here as its JSON", "cause",
          real=r"Invalid value: [{\[]", sandbox=r"Invalid value: [{\[]", alike=without_value),
    Known("the object of a patch that cannot be is printed in the order of Go's structs, here in that of the"
          " alphabet", r"cause", r"^patch: Invalid value: ", modes=("patch",), alike=without_value),
    Known("a dry run of the real server hands out node ports that it has not", kinds=("Service",),
          place=r"\.spec\.(ports\[\]\.nodePort|healthCheckNodePort)", real=r"^\d+$", sandbox="^PORT$"),
]


def reason_for(mode, kind, difference, known=None):
    """The first entry that matches, or None."""
    return next((entry for entry in (KNOWN if known is None else known)
                 if entry.matches(mode, kind, difference)), None)
