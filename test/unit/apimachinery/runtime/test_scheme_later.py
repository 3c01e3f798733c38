"""Kinds that are registered when they are first asked for: a scheme answers as one that had them from the start."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from patience import PATIENCE

from clientgo.api.apps import v1 as appsv1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.kubernetes import scheme as kubernetes_scheme
from clientgo.kubernetes.scheme import register

SHOP = GroupVersion("shop", "v1")


class Order(runtime.ResourceObject):
    """A kind of the package that is filled in."""

    GROUP_VERSION_KIND = SHOP.with_kind("Order")


class OtherOrder(runtime.ResourceObject):
    """A user's class of the same kind."""

    GROUP_VERSION_KIND = SHOP.with_kind("Order")


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Return a package that registers one kind and counts how often."""
    module: Any = ModuleType("orders_of_a_shop")
    module.registered = 0

    def add_to_scheme(scheme: runtime.Scheme) -> None:
        module.registered += 1
        scheme.add_known_types(SHOP, Order)

    module.add_to_scheme = add_to_scheme
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def later(package: ModuleType) -> runtime.Scheme:
    scheme = runtime.new_scheme()
    scheme.add_known_types_later(SHOP, package.__name__)
    return scheme


QUESTIONS: dict[str, Callable[[runtime.Scheme], object]] = {
    "new": lambda scheme: type(scheme.new(SHOP.with_kind("Order"))),
    "class_for": lambda scheme: scheme.class_for(SHOP.with_kind("Order")),
    "object_kinds": lambda scheme: scheme.object_kinds(Order()),
    "recognizes": lambda scheme: scheme.recognizes(SHOP.with_kind("Order")),
    "is_unversioned": lambda scheme: scheme.is_unversioned(Order()),
    "unversioned_kind": lambda scheme: scheme.unversioned_kind(Order),
    "known_types": lambda scheme: scheme.known_types(SHOP),
    "all_known_types": lambda scheme: scheme.all_known_types(),
    "versions": lambda scheme: scheme.version_for_group_kind(SHOP.with_kind("Order").group_kind()),
    "group": lambda scheme: (scheme.is_group_registered("shop"), scheme.is_version_registered(SHOP)),
    "priority": lambda scheme: (scheme.prioritized_versions_all_groups(), scheme.preferred_version_all_groups()),
    "repr": repr,
    "version": lambda scheme: scheme.convert_to_version(Order(), SHOP).group_version_kind(),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_first_question_has_the_answer_of_a_scheme_that_knew(question: str, package: ModuleType) -> None:
    knew = runtime.new_scheme()
    knew.add_known_types(SHOP, Order)
    ask = QUESTIONS[question]

    assert ask(later(package)) == ask(knew)


def test_a_package_registers_once(package: ModuleType) -> None:
    scheme = later(package)
    assert scheme.is_version_registered(SHOP) and package.registered == 0

    for _ in range(3):
        scheme.new(SHOP.with_kind("Order"))
        assert not scheme.recognizes(SHOP.with_kind("Bill"))

    assert package.registered == 1


def test_two_classes_of_a_kind_are_refused_in_either_order(package: ModuleType) -> None:
    scheme = later(package)
    with pytest.raises(ValueError, match="Double registration of different types for shop/v1, Kind=Order"):
        scheme.add_known_type_with_name(SHOP.with_kind("Order"), OtherOrder)

    scheme = runtime.new_scheme()
    scheme.add_known_type_with_name(SHOP.with_kind("Order"), OtherOrder)
    with pytest.raises(ValueError, match="Double registration of different types for shop/v1, Kind=Order"):
        scheme.add_known_types_later(SHOP, package.__name__)


def test_a_request_during_registration_waits_for_it(package: Any) -> None:
    scheme = later(package)
    register_order, begun, go_on = package.add_to_scheme, threading.Event(), threading.Event()

    def slowly(scheme: runtime.Scheme) -> None:
        begun.set()
        assert go_on.wait(PATIENCE)
        register_order(scheme)

    package.add_to_scheme = slowly
    answers: list[bool] = []
    threads = [
        threading.Thread(target=lambda: answers.append(scheme.recognizes(SHOP.with_kind("Order")))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(PATIENCE)
    assert answers == []
    go_on.set()
    for thread in threads:
        thread.join(PATIENCE)

    assert answers == [True] * 3
    assert package.registered == 1


def test_a_package_that_cannot_register_is_asked_again(package: Any) -> None:
    scheme, register_order = later(package), package.add_to_scheme

    def fail(scheme: runtime.Scheme) -> None:
        raise ValueError("not today")

    package.add_to_scheme = fail
    with pytest.raises(ValueError, match="not today"):
        scheme.recognizes(SHOP.with_kind("Order"))
    package.add_to_scheme = register_order

    assert scheme.recognizes(SHOP.with_kind("Order"))


def test_the_built_in_packages_register_kinds_of_their_own_group_version_alone() -> None:
    """Therefore the scheme imports only this package for an object of its group version."""
    for group_version, package in register._PACKAGES.items():
        filled, options = runtime.new_scheme(), runtime.new_scheme()
        sys.modules.get(package) or __import__(package)
        sys.modules[package].add_to_scheme(filled)  # type: ignore[attr-defined]
        metav1.add_to_group_version(options, group_version)
        own = {gvk: cls for gvk, cls in filled.all_known_types().items() if gvk not in options.all_known_types()}

        assert own and {gvk: cls.GROUP_VERSION_KIND for gvk, cls in own.items()} == {gvk: gvk for gvk in own}
        assert {gvk.group_version() for gvk in own} == {group_version}


def test_a_scheme_of_users_has_all_kinds_of_kubernetes_too() -> None:
    scheme = runtime.new_scheme()
    kubernetes_scheme.add_to_scheme(scheme)

    assert scheme.object_kinds(appsv1.Deployment()) == ([appsv1.SCHEME_GROUP_VERSION.with_kind("Deployment")], False)
    # In a process of its own: programs that other tests import add their kinds to SCHEME.
    program = """
from clientgo.apimachinery import runtime
from clientgo.kubernetes import scheme as kubernetes_scheme
scheme = runtime.new_scheme()
kubernetes_scheme.add_to_scheme(scheme)
assert scheme.all_known_types() == kubernetes_scheme.SCHEME.all_known_types()
print(len(scheme.all_known_types()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert int(done.stdout) == len(scheme.all_known_types()) > 600


def test_a_client_imports_the_kinds_of_its_own_group() -> None:
    program = """
from clientgo import kubernetes, rest
kubernetes.new_for_config(rest.Config(host="http://127.0.0.1:1")).apps_v1()
import sys
print(*sorted(name for name in sys.modules if name.startswith("clientgo.api.") and name.endswith(".types")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=True)

    groups = [name.split(".")[2] for name in done.stdout.split()]
    assert groups == ["apps", "core"], "those of Deployment and its PodTemplateSpec; its Scale is of another group"


def test_a_kind_that_another_thread_registers_just_now_is_found(package: ModuleType) -> None:
    scheme: Any = later(package)

    class Overtaken(dict[Any, Any]):
        """A group version whose lookup is overtaken by a thread that registers the last group version."""

        def get(self, key: Any, default: Any = None) -> Any:
            found = super().get(key, default)
            if found is None and scheme._classes is self:
                scheme._classes = dict(self)
                other = threading.Thread(target=scheme.class_for, args=(key,))
                other.start()
                other.join(PATIENCE)
            return found

    scheme._classes = Overtaken(scheme._classes)
    assert scheme.class_for(SHOP.with_kind("Order")) is Order
    assert not scheme._later
