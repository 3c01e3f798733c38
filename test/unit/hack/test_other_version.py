"""hack/follow-version: the differences of two versions, and the data of the older one."""

from __future__ import annotations

import csv
import gzip
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack"))
other_version = importlib.import_module("other_version")

SCHEMA = """\
package internal

var schemaYAML = typed.YAMLObject(`types:
- name: io.k8s.api.shop.v1.Order
  map:
    fields:
    - name: apiVersion
      type:
        scalar: string
    - name: items
      type:
        scalar: string
    - name: paid
      type:
        scalar: boolean
- name: io.k8s.api.shop.v1.Coupon
  map:
    fields:
    - name: code
      type:
        scalar: string
- name: __untyped_atomic_
  scalar: untyped
`)
"""
OLD_SCHEMA = SCHEMA[: SCHEMA.index("    - name: paid")] + "`)\n"
SHOP = "k8s.io/api/shop/v1"
META = "k8s.io/apimachinery/pkg/apis/meta/v1"


def field(json_name: str, go_type: str = "string", inline: bool = False) -> dict[str, Any]:
    return {"go": json_name.capitalize(), "json": json_name, "type": go_type, "inline": inline}


def data() -> dict[str, Any]:
    """Return facts like those of hack/data, of two packages."""
    order = [field("", f"{META}.TypeMeta", inline=True), field("items"), field("paid", "bool")]
    types = {
        "Order": {"kind": "struct", "fields": order},
        "Coupon": {"kind": "struct", "fields": [field("code")]},
        "CouponList": {"kind": "struct", "fields": [field("items", "[]Coupon")]},
        "Phase": {"kind": "alias", "underlying": "string"},
    }
    meta = {"TypeMeta": {"kind": "struct", "fields": [field("apiVersion")]}}
    return {"packages": {SHOP: {"types": types}, META: {"types": meta}}}


def test_the_schema_and_the_data_agree_about_fields_also_of_embedded_structs() -> None:
    schema = other_version.fields_of(SCHEMA)

    assert schema == {(SHOP, "Order"): {"apiVersion", "items", "paid"}, (SHOP, "Coupon"): {"code"}}
    assert schema.items() <= other_version.fields_of_data(data()).items()


def test_the_older_data_lacks_what_only_the_newer_schema_has() -> None:
    newer, older = other_version.fields_of(SCHEMA), other_version.fields_of(OLD_SCHEMA)
    numbers = {SHOP: {"Order": {"items": 1, "paid": 2}, "Coupon": {"code": 1}}, META: {"TypeMeta": {"apiVersion": 2}}}

    reduced = other_version.without(data(), newer, older)

    assert set(reduced["packages"][SHOP]["types"]) == {"Order", "Phase"}
    assert [each["json"] for each in reduced["packages"][SHOP]["types"]["Order"]["fields"]] == ["", "items"]
    left = other_version.without_numbers(numbers, data(), reduced)
    assert left == {SHOP: {"Order": {"items": 1}}, META: {"TypeMeta": {"apiVersion": 2}}}


def test_the_same_schema_removes_nothing_from_the_real_data() -> None:
    raw = gzip.decompress(ROOT.joinpath("hack/data/api-schema.json.gz").read_bytes())
    real = json.loads(raw)
    fields = other_version.fields_of_data(real)

    assert len(fields) > 800
    assert other_version.without(real, fields, fields) == real


def test_a_tag_is_compared_with_the_data_and_the_table_of_identifiers(tmp_path: Path) -> None:
    clone, root = tmp_path / "client-go", tmp_path / "root"
    files = {
        "applyconfigurations/internal/internal.go": SCHEMA.replace("name: paid", "name: gift"),
        "tools/cache/store.go": "func NewStore() {}\nfunc NewShelf() {}\nfunc hidden() {}\nfunc (s *Store) Add() {}\n",
        "tools/cache/store_test.go": "func TestStore() {}\n",
    }
    for path, text in files.items():
        clone.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
        clone.joinpath(path).write_text(text)
    git = ["git", "-C", str(clone), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["tag", "v1"]):
        subprocess.run([*git, *command], check=True)
    root.joinpath("hack/data/parity").mkdir(parents=True)
    (root / other_version.DATA).write_bytes(gzip.compress(json.dumps(data()).encode()))
    with gzip.open(root / other_version.TABLE, "wt", newline="") as table:
        rows = csv.writer(table, delimiter="\t")
        rows.writerow(["go_package", "go_file", "kind", "receiver_or_owner", "name"])
        rows.writerow(["k8s.io/client-go/tools/cache", "store.go", "func", "", "NewStore"])
        rows.writerow(["k8s.io/client-go/tools/cache", "store.go", "method", "*Store", "Add"])
        rows.writerow(["k8s.io/client-go/tools/cache", "heap.go", "func", "", "NewHeap"])

    assert other_version.compare(clone, "v1", root) == [
        "+ field k8s.io/api/shop/v1.Order: gift",
        "- field k8s.io/api/shop/v1.Order: paid",
        "- file k8s.io/client-go/tools/cache/heap.go",
        "+ name k8s.io/client-go/tools/cache.NewShelf",
    ]
