"""Where the binaries of the real server are."""
import os
import subprocess


def find_assets(root):
    """The folder, or None and why there is none."""
    if os.environ.get("KUBEBUILDER_ASSETS"):
        return os.environ["KUBEBUILDER_ASSETS"], None
    found = subprocess.run([root / "tests/kube-apiserver/build.sh", "--where"], capture_output=True, text=True)
    if found.returncode == 0:
        return found.stdout.strip(), None
    return None, "no kube-apiserver: tests/kube-apiserver/build.sh builds one"
