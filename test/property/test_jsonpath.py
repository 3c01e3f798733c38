"""Templates that Hypothesis draws are answered as kubectl answers them."""

from __future__ import annotations

import random
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from kubectljsonpath import DOCUMENT, MINOR, Kubectl, answer, draw_template, has_order
from processes import kubectl_binary


def test_a_drawn_template_gives_kubectls_output_or_error(tmp_path: Path) -> None:
    kubectl = Kubectl(kubectl_binary(MINOR), tmp_path)

    # Each example starts a process.
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
    @given(st.randoms(use_true_random=False), st.booleans(), st.booleans())
    def same(rng: random.Random, as_json: bool, allow_missing_keys: bool) -> None:
        template = draw_template(rng)
        assume(not has_order(template))
        expected = kubectl.answer(template, as_json, allow_missing_keys)
        assert answer(template, DOCUMENT, as_json, allow_missing_keys) == expected

    same()
