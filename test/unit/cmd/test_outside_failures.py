"""The log lines of the programs below cmd for failures of other systems: one line each, without a traceback."""

from __future__ import annotations

import pytest
from programs import ImportedProgram

from clientgo import klog
from clientgo.apimachinery.util import runtime as utilruntime

FAILURES = [
    ("network-controller", "neutron", "NeutronError"),
    ("cockroach-operator", "database", "ExecError"),
    ("elasticsearch-operator", "elasticsearch.client", "RequestFailed"),
    ("operator-patterns", "zone", "HostTakenError"),
    ("operator-patterns", "controller", "CertificateError"),
]


@pytest.mark.parametrize(("program", "module", "name"), FAILURES)
def test_the_failure_of_another_system_takes_one_line(
    caplog: pytest.LogCaptureFixture, program: str, module: str, name: str
) -> None:
    with (imported := ImportedProgram(program)):
        failure: type[Exception] = getattr(imported.module(module), name)

    try:
        raise failure("command terminated with exit code 1")
    except failure as err:
        klog.error_s(err, "Reconciler error")
        utilruntime.handle_error(err)

    assert [message.splitlines()[1:] for message in caplog.messages] == [[], []]
    assert all('err="command terminated with exit code 1"' in message for message in caplog.messages), caplog.messages
