"""The modules that a program loads before its first informer runs, and a server before its first request. Loading them
takes most of the start.

`test/bench/start` has the time.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

from patience import PATIENCE

PROGRAM = """
from clientgo import informers, kubernetes, rest

clientset = kubernetes.new_for_config(rest.Config(host="http://127.0.0.1:1"))
informers.new_shared_informer_factory(clientset, 30.0).core().v1().pods().informer()

import sys
print("\\n".join(sys.modules))
"""
# Each is a tenth of a second or two hundredths, and not needed yet, if at all.
LATER = {
    "argparse",
    "asyncio",
    "http.server",
    "hypothesis",
    "msgspec",
    "pytest",
    "requests",
    "sqlite3",
    "subprocess",
    "unittest",
    "urllib3",
    "yaml",
}

# Of an informer that was made: what comes with the first request.
WITH_THE_FIRST_REQUEST = {
    "clientgo.golang.http.connection",
    "clientgo.golang.http.dial",
    "clientgo.transport.tls",
    "email",
    "http.client",
    "socket",
    "ssl",
    "zlib",
}
# And what few programs ever ask for, or with the first selector, statistics, slow operation, mistake.
WHEN_ASKED_FOR = {
    "clientgo.apimachinery.fields",
    "clientgo.apimachinery.labels",
    "clientgo.apimachinery.types.namespacedname",
    "clientgo.apimachinery.util.validation",
    "clientgo.tools.cache.beyond.records",
    "clientgo.util.workqueue.parallelizer",
    "clientgo.utils.trace.trace",
    "decimal",
    "difflib",
    "fractions",
    "unicodedata",
}

CLIENT = """
from clientgo import kubernetes, rest

kubernetes.new_for_config(rest.Config(host="http://127.0.0.1:1")).core_v1().pods("default")

import sys
print("\\n".join(sys.modules))
"""

OPERATOR = """
from clientgo import controller_runtime as ctrl

ctrl.new_manager

import sys
print("\\n".join(sys.modules))
"""
# An operator has a server of its own, for metrics, but in a pod no kubeconfig.
NOT_FOR_AN_OPERATOR = {
    *LATER - {"argparse", "http.server"},
    "clientgo.apimachinery.util.yaml",
    "clientgo.tools.leaderelection.leasecandidate",
    "clientgo.tools.record.fake",
}

SERVER = """
from clientgo.testing.apiserver import __main__, Server

with Server(listen=False):
    import sys
    print("\\n".join(sys.modules))
"""
# Of the embedded server: what comes with the first policy, webhook, custom resource, patch, table, YAML or protobuf.
APISERVER = "clientgo.testing.apiserver"
WITH_THE_FIRST = (
    f"{APISERVER}.cel.admission",
    f"{APISERVER}.cel.library",
    f"{APISERVER}.kinds.definition_warnings",
    f"{APISERVER}.kinds.patchrules",
    f"{APISERVER}.kinds.policy_checks",
    f"{APISERVER}.kinds.protobuf",
    f"{APISERVER}.kinds.rules",
    f"{APISERVER}.kinds.schema_formats",
    f"{APISERVER}.kinds.webhook_conversion",
    f"{APISERVER}.policies.mutating",
    f"{APISERVER}.policies.validating",
    f"{APISERVER}.simulator",
    f"{APISERVER}.store.persistence",
    f"{APISERVER}.views.table",
    f"{APISERVER}.webhooks.mutating",
    f"{APISERVER}.webhooks.validating",
    f"{APISERVER}.wire.yamlout",
    "clientgo.apimachinery.apis",
    "clientgo.apimachinery.runtime",
    "clientgo.rest",
    "msgspec",
    "zoneinfo",
)


def modules_of(program: str) -> set[str]:
    """Return the modules in a process. The program prints them at its end."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=True)
    return set(done.stdout.split())


def test_a_server_starts_with_few_modules_loaded() -> None:
    loaded = modules_of(SERVER)

    assert f"{APISERVER}.verbs.writing" in loaded
    assert loaded & {*LATER, *WITH_THE_FIRST} == {"argparse"}, "which the program has for its flags"
    assert all(name.split(".")[0] != "clientgo" or find_spec(name) for name in WITH_THE_FIRST), "one was renamed"
    ours = {name for name in loaded if name.partition(".")[0] == "clientgo"}
    assert len(ours) <= 197, "more than before: does each have to be there for every server?"


def test_an_informer_is_made_with_few_modules_loaded() -> None:
    loaded = modules_of(PROGRAM)

    assert "clientgo.tools.cache.shared_informer" in loaded
    assert loaded & {*LATER, *WITH_THE_FIRST_REQUEST, *WHEN_ASKED_FOR} == set()
    assert all(name.split(".")[0] != "clientgo" or find_spec(name) for name in WHEN_ASKED_FOR), "one was renamed"
    ours = {name for name in loaded if name.partition(".")[0] == "clientgo"}
    assert len(ours) <= 231, "more than before: does each have to be there for every program?"
    assert len(loaded) <= 348, "more than before: does each have to be there for every program?"
    kinds = {name for name in ours if name.startswith(("clientgo.api.", "clientgo.kubernetes.typed."))}
    assert all(".core" in name or name.count(".") < 3 for name in kinds), sorted(kinds)


def test_a_client_of_one_kind_loads_no_other_kind() -> None:
    loaded = modules_of(CLIENT)

    kinds = {name for name in loaded if name.startswith("clientgo.kubernetes.typed.core.v1.")}
    assert {name.rpartition(".")[2] for name in kinds} == {"core_client", "pod", "pod_expansion"}
    assert not any(name.startswith("clientgo.api.") and ".core" not in name for name in loaded)
    ours = {name for name in loaded if name.partition(".")[0] == "clientgo"}
    assert len(ours) <= 170, "more than before: does each have to be there for every client?"


def test_a_manager_is_imported_with_few_modules_loaded() -> None:
    loaded = modules_of(OPERATOR)

    assert loaded & NOT_FOR_AN_OPERATOR == set()
    assert all(name.split(".")[0] != "clientgo" or find_spec(name) for name in NOT_FOR_AN_OPERATOR), "one was renamed"
    ours = {name for name in loaded if name.partition(".")[0] == "clientgo"}
    assert len(ours) <= 501, "more than before: does each have to be there for every operator?"
