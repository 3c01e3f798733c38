"""The project's own informers as the controller under test: behind each fault a handler ends with the server's state.

test_shared_informer_storm.py has what a controller cannot do: handlers that come and go, both queues, and servers that
answer with any error. Here the embedded server itself answers, so an informer meets lists from a watch cache that is
behind, compaction while it is away, bookmarks, and initial events, in the combinations that a server can produce.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import strategies as st
from stormyserver import ReplayingHandler

from clientgo import informers, kubernetes, rest
from clientgo.context import Context
from clientgo.testing import controllertest as ct

CASES = int(os.environ.get("CONTROLLERTEST_CASES", "8"))


class Informers(ct.ControllerMachine):
    """An informer of ConfigMaps with a fast and a slow handler."""

    cases = CASES
    resync = 0.0

    def new_outside(self) -> Any:
        return []

    def start(self, config: rest.Config, ctx: Context) -> None:
        client = kubernetes.new_for_config(config)
        factory = informers.new_shared_informer_factory(client, self.resync)
        informer = factory.core().v1().config_maps().informer()
        # The handlers of a killed process receive nothing more.
        self.outside[:] = [informer, ReplayingHandler(), ReplayingHandler(0.01)]
        for handler in self.outside[1:]:
            informer.add_event_handler(handler)
        factory.start(ctx.done())
        try:
            ctx.done().wait()
        finally:
            factory.shutdown()
            client.close()

    def desired(self) -> st.SearchStrategy[ct.Step]:
        data = st.fixed_dictionaries({"color": st.sampled_from(("red", "green"))})
        return ct.objects("v1", "ConfigMap", names=("a", "b", "c"), data=data)

    @ct.invariant()
    def notifications_fit_each_other(self, cluster: ct.Cluster) -> None:
        assert [problem for handler in self.outside[1:] for problem in handler.problems] == []

    @ct.eventually()
    def store_and_handlers_have_the_server_s_state(self, cluster: ct.Cluster) -> None:
        expected = {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in cluster.list("ConfigMap")}
        informer, *handlers = self.outside
        stored = {obj.metadata.name: obj.metadata.resource_version for obj in informer.get_store().list()}
        assert stored == expected
        assert [handler.versions() for handler in handlers] == [expected, expected]


class Resyncing(Informers):
    resync = 30.0


TestInformers = Informers.TestCase
TestResyncing = Resyncing.TestCase
