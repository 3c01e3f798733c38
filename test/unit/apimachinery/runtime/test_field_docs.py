"""The descriptions of fields in `help()` and in editors."""

from __future__ import annotations

import ast
import importlib
import inspect
import pydoc
from pathlib import Path

import pytest

import clientgo
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime

PACKAGE = Path(clientgo.__file__).parent
GENERATED = sorted(
    str(path.relative_to(PACKAGE.parent))
    for path in PACKAGE.glob("api*/**/types.py")
    if "update-codegen" in path.read_text()
)


@pytest.mark.parametrize(
    ("struct", "name", "text"),
    [
        (appsv1.DeploymentSpec, "replicas", "replicas: *int32, optional, default 1."),
        (
            appsv1.DeploymentSpec,
            "selector",
            "selector: *metav1.LabelSelector, required.",
        ),
        (
            appsv1.DeploymentSpec,
            "min_ready_seconds",
            "minReadySeconds: int32, seconds, optional.",
        ),
        (appsv1.StatefulSetSpec, "service_name", "serviceName: string, optional."),
        (
            corev1.PodSpec,
            "restart_policy",
            "restartPolicy: string, optional, one of RestartPolicy, default Always.",
        ),
        (
            corev1.PodSpec,
            "enable_service_links",
            "enableServiceLinks: *bool, optional, default true.",
        ),
        (corev1.PodSpec, "containers", "containers: []Container, required."),
        (corev1.Secret, "data", "data: map[string]bytes, optional."),
        (
            corev1.EmptyDirVolumeSource,
            "size_limit",
            "sizeLimit: *quantity, such as 500m or 1Gi, optional.",
        ),
        (
            corev1.ServicePort,
            "target_port",
            "targetPort: intorstring, a number or a text, optional.",
        ),
        (
            corev1.PodStatus,
            "start_time",
            "startTime: *time, RFC 3339 in JSON, optional.",
        ),
    ],
)
def test_a_field_says_its_name_type_unit_need_and_default(
    struct: type[runtime.Struct], name: str, text: str
) -> None:
    assert inspect.getdoc(getattr(struct, name)) == text


def test_help_shows_the_fields_and_the_address_of_the_reference() -> None:
    shown = pydoc.plain(pydoc.render_doc(appsv1.DeploymentSpec))
    assert "progressDeadlineSeconds: *int32, seconds, optional, default 600." in shown
    page = "https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/"
    assert f"{page}#deploymentspec-v1-apps" in shown


def test_a_field_of_a_users_type_says_what_its_schema_says() -> None:
    class Box(runtime.Struct):
        size: int = runtime.field(
            "size",
            "int32",
            default=0,
            omitempty=True,
            schema=runtime.Schema(enum=[1, 2], default=2),
        )
        label: str = runtime.field(
            "label",
            "string",
            default="",
            omitempty=True,
            schema=runtime.Schema(required=True),
        )

    assert inspect.getdoc(Box.size) == "size: int32, optional, one of 1, 2, default 2."
    assert inspect.getdoc(Box.label) == "label: string, required."


@pytest.mark.parametrize("file", GENERATED)
def test_editors_show_what_help_shows(file: str) -> None:
    module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    count = 0
    for struct in ast.parse((PACKAGE.parent / file).read_text()).body:
        if not isinstance(struct, ast.ClassDef):
            continue
        for field, below in zip(struct.body, struct.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                assert isinstance(below, ast.Expr) and isinstance(
                    below.value, ast.Constant
                )
                assert (
                    below.value.value
                    == getattr(module, struct.name)._fields[field.target.id].describe()
                )
                count += 1
    assert count > 0
