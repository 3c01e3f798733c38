"""Sets with Go's vocabulary. Mirrors k8s.io/apimachinery/pkg/util/sets."""

from clientgo.apimachinery.util.sets.byte import (
    Byte,
    byte_key_set,
    new_byte,
)
from clientgo.apimachinery.util.sets.empty import (
    Empty,
)
from clientgo.apimachinery.util.sets.int import (
    Int,
    int_key_set,
    new_int,
)
from clientgo.apimachinery.util.sets.int32 import (
    Int32,
    int32_key_set,
    new_int32,
)
from clientgo.apimachinery.util.sets.int64 import (
    Int64,
    int64_key_set,
    new_int64,
)
from clientgo.apimachinery.util.sets.set import (
    Set,
    insert,
    key_set,
    list,
    new,
)
from clientgo.apimachinery.util.sets.string import (
    String,
    new_string,
    string_key_set,
)

__all__ = [
    "Byte",
    "Empty",
    "Int",
    "Int32",
    "Int64",
    "Set",
    "String",
    "byte_key_set",
    "insert",
    "int32_key_set",
    "int64_key_set",
    "int_key_set",
    "key_set",
    "list",
    "new",
    "new_byte",
    "new_int",
    "new_int32",
    "new_int64",
    "new_string",
    "string_key_set",
]
