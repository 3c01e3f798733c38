// Command cbor prints, as JSON lines, what Kubernetes' CBOR serializer answers for many inputs: `cbor decode` decodes
// bytes, `cbor encode` encodes documents. A line has Go's value, or its error as "error: " and the text.
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"os"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// render writes a value so that no type and no byte is lost.
func render(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case int64:
		return fmt.Sprintf("i%d", v)
	case float64:
		return fmt.Sprintf("f%016x", math.Float64bits(v))
	case string:
		return "s" + hex.EncodeToString([]byte(v))
	case []any:
		parts := []string{}
		for _, each := range v {
			parts = append(parts, render(each))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		parts := []string{}
		for key, each := range v {
			parts = append(parts, hex.EncodeToString([]byte(key))+":"+render(each))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ",") + "}"
	}
	return fmt.Sprintf("unexpected %T", v)
}

func failure(err error) string { return "error: " + err.Error() }

type decoded struct {
	Name   string `json:"name"`
	In     string `json:"in"`
	Any    string `json:"any"`
	Diag   string `json:"diag"`
	Object string `json:"object"`
	List   string `json:"list"`
	Typed  string `json:"typed"`
	Strict string `json:"strict"`
}

var (
	creater, typer = unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper()
	dynamic        = cbor.NewSerializer(creater, typer)
	scheme         = runtime.NewScheme()
)

func init() { metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) }

func answers(name string, in []byte) decoded {
	out := decoded{Name: name, In: hex.EncodeToString(in)}
	var v any
	if err := direct.Unmarshal(in, &v); err != nil {
		out.Any = failure(err)
	} else {
		out.Any = render(v)
	}
	if diag, err := direct.Diagnose(in); err != nil {
		out.Diag = failure(err)
	} else {
		out.Diag = diag
	}
	object := &unstructured.Unstructured{}
	if _, gvk, err := dynamic.Decode(in, nil, object); err != nil {
		out.Object = failure(err)
	} else {
		out.Object = gvk.String() + " " + render(object.Object)
	}
	list := &unstructured.UnstructuredList{}
	if _, gvk, err := dynamic.Decode(in, nil, list); err != nil {
		out.List = failure(err)
	} else {
		items := []any{}
		for _, each := range list.Items {
			items = append(items, each.Object)
		}
		out.List = gvk.String() + " " + render(list.Object) + " " + render(items)
	}
	out.Typed = typed(in, false)
	out.Strict = typed(in, true)
	return out
}

// typed decodes into the object's own type and returns its JSON.
func typed(in []byte, strict bool) string {
	obj, gvk, err := cbor.NewSerializer(scheme, scheme, cbor.Strict(strict)).Decode(in, nil, nil)
	if err != nil {
		if runtime.IsNotRegisteredError(err) {
			return "error: not registered"
		}
		return failure(err)
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return failure(err)
	}
	return gvk.String() + " " + string(text)
}

// Each is one data item or what is no data item. Texts of maps are written for the eye: "{ }" by encode below.
var inputs = []string{
	// numbers
	"00", "01", "0a", "17", "1818", "1819", "1864", "1903e8", "1a000f4240", "1b000000e8d4a51000", "1b7fffffffffffffff",
	"1b8000000000000000", "1bffffffffffffffff", "20", "29", "3863", "3903e7", "3b7fffffffffffffff", "3b8000000000000000",
	"3bfffffffffffffffe", "3bffffffffffffffff", "1800", "190001", "1a00000001", "1b0000000000000001",
	"f90000", "f98000", "f93c00", "fb3ff199999999999a", "f93e00", "f97bff", "fa47c35000", "fa7f7fffff",
	"fb7e37e43c8800759c", "f90001", "f90400", "f9c400", "fbc010666666666666", "fb0000000000000001", "fb7fefffffffffffff",
	"fa00000001", "fa40000000", "fb4000000000000000", "fb3eb0c6f7a0b5ed8d", "fb444b1ae4d6e2ef50", "fb444b1ae4d6e2ef4f", "fb3e7ad7f29abcaf48",
	"f97c00", "f97e00", "f9fc00", "fa7f800000", "fa7fc00000", "faff800000", "fb7ff0000000000000", "fb7ff8000000000000",
	"fbfff0000000000000", "f97c01", "fa7f800001", "fb7ff0000000000001",
	// simple values
	"f4", "f5", "f6", "f7", "e0", "f0", "f3", "f800", "f814", "f818", "f81f", "f820", "f8ff", "f8", "fc", "fd", "fe", "ff",
	// strings
	"40", "4401020304", "60", "6161", "6449455446", "62225c", "62c3bc", "63e6b0b4", "64f0908591", "6180", "62c328", "63eda080",
	"41ff", "43e6b0b4", "4161", "4527225c0a09", "417f", "44f0908591", "4100", "5801", "5901", "5a0100", "5b00", "58026162", "7801e6",
	"5b7fffffffffffffff00", "5b8000000000000000", "7bffffffffffffffff", "5bffffffffffffffff00", "7b0000000000000001", "7a0000000161",
	"5f42010243030405ff", "7f657374726561646d696e67ff", "7f616161626163ff", "5fff", "7fff", "5f41", "5f", "7f", "5f6161ff", "7f4161ff",
	"5f5f4161ffff", "7f7f6161ffff", "7f61c3ff", "7f61c361bcff", "5f41c341bcff", "5f00ff", "5f5b8000000000000000ff", "7f6180616162", "7f618061616162ff",
	// arrays
	"80", "83010203", "8301820203820405", "98190102030405060708090a0b0c0d0e0f101112131415161718181819", "9fff", "9f018202039f0405ffff",
	"9f01820203820405ff", "83018202039f0405ff", "83019f0203ff820405", "9f9f8080ff9f8080ffff", "81", "8201", "9801", "9a7fffffff", "9a80000000", "9b7fffffffffffffff",
	"9b1000000000000000", "9b8000000000000000", "9bffffffffffffffff", "9f", "9f01", "8243616263436465", "82", "9c", "9d", "9e", "83f6f7f6", "82f7f6", "8261ff6180",
	// maps
	"a0", "a201020304", "a26161016162820203", "826161a161626163", "a56161614161626142616361436164614461656145", "bfff", "bf61610161629f0203ffff",
	"826161bf61626163ff", "bf6346756ef563416d7421ff", "a1", "a161", "a16161", "a1616101ff", "bf6161ff", "bf616101", "bf61", "ba00200001", "ba00200000", "bb7fffffffffffffff", "bb8000000000000000",
	"a1fb40091eb851eb851f63706965", "a143abcdef187b", "a243abcdef187b43414243187c", "a2416101416102", "a2616101616102", "a2416101616102", "a2616101416102",
	"a25f426865436c6c6fff015f416844656c6c6fff02", "a27f626865636c6c6fff017f616864656c6c6fff02", "bf416101416102ff", "bf416101416102416203ff",
	"a1f601", "a2f601f602", "a24161014162f7", "a24161f74161f7", "a3416101f602416203", "a2f601414002", "a1f401", "a1f501", "a1f701", "a120f6", "a13bfffffffffffffffff6", "a1a0f6", "a180f6", "a1818001",
	"a16180f6", "a26180f6616101", "a141ff01", "a1d9d9f7416101", "a1d64161f6", "a1c074323030362d30312d30325431353a30343a30355af6", "a1c100f6", "a1d8204161f6", "a2d6416101644157453d02", "a2d641610164" + "59513d3d02",
	"a3416101416202416103", "a2416182f7f7416101", "a3416101416101f7f7", "a2416141014161", "a141a0a24161014161f7", "a24162a2416101416102416181f7", "a24161a24162014162024161f7", "a341610141610141621b8000000000000000",
	"a1416181a1416181a1416180", "a24142f6414100", "a2420000f6410000", "a1f93c0001", "a1f8ff01", "a1f7f7",
	// tags
	"d9d9f701", "d9d9f7d9d9f701", "d9d9f7", "d9d9f7a0", "81d9d9f700", "d9d9f7d64161", "d6d9d9f74161", "d820d9d9f74161",
	"c074323031332d30332d32315432303a30343a30305a", "c11a514b67b0", "c1fb41d452d9ec200000", "d74401020304", "d818456449455446", "d82076687474703a2f2f7777772e6578616d706c652e636f6d",
	"c054323030362d30312d30325431353a30343a30355a", "c06474657874", "c060", "c07819323030362d30312d30325431353a30343a30352b30373a3030", "c0781e323030362d30312d30325431353a30343a30352e3132333435363738395a",
	"c0781a323030362d30312d30325431353a30343a30352e3130305a30", "c07818323030362d30312d30325431353a30343a30352e3130305a", "c07819323030362d30312d30325431353a30343a30352d30303a3030", "c07819323030362d30312d30325431353a30343a30352b32333a3539", "c07819323030362d30312d30325431353a30343a30352b32343a3030",
	"c07819323030362d30312d30325431353a30343a30352b32353a3030", "c07819323030362d30312d30325431353a30343a30352b30303a3630", "c074303030302d30312d30325431353a30343a30355a", "c074303030302d30322d33305431353a30343a30355a", "c074303030302d30322d32395431353a30343a30355a", "c074323030362d30322d32395431353a30343a30355a", "c074323030362d30322d32385432343a30343a30355a",
	"c073323030362d30312d30325431353a30343a3035", "c074323030362d31332d30325431353a30343a30355a", "c0783c323030362d30312d30325431353a30343a30352e3132333435363738393132333435363738393132333435363738393132333435363738393132333435365a",
	"c0", "c00a", "c040", "c0c06161", "c080", "c1", "c11a43b940e5", "c1f93c00", "c1fa3f800000", "c1fb3ff0000000000000", "c11b0000003afff44181", "c11b0000003afff4417f", "c11b0000003afff44180", "c120", "c1f9bc00", "c1fabf800000", "c1fbbff0000000000000",
	"c1fb3ff8000000000000", "c1fbbff8000000000000", "c1fb3ff0000000000001", "c1fb41d452d9ec07ae14", "c13a00000000", "c13b0000000e7791f6ff", "c13b0000000e7791f700", "c13b0000000e7791f701", "c13b00000010f0a6197f", "c13b00000e77949a00ff", "c13b0000000e79730e7f", "c13b0000000e79730e80",
	"c1f97c00", "c1f9fc00", "c1f97e00", "c11b7fffffffffffffff", "c11b8000000000000000", "c13b7fffffffffffffff", "c13b8000000000000000", "c13bffffffffffffffff", "c1fb7e37e43c8800759c", "c1fbfe37e43c8800759c",
	"c16131", "c1f4", "c1f6", "c1f8ff", "c140", "c1a0", "c1c100", "c100", "c1fb0000000000000001",
	"c249010000000000000000", "c349010000000000000000", "c24101", "c240", "c2", "c3", "c200", "c26161", "82c24101f7", "c2c24101", "d6c24101", "a1c2410101", "81c2", "c4c2", "c4c24101",
	"d64401020304", "d54401020304", "d7440102ff04", "d6644142433d", "d64100", "d540", "d641ff", "d642ff00", "d543ffefff", "d643ffefff", "d682410141ff", "d682d7410141ff", "d6a1410141ff", "d6a24101416341ff4164", "82d641014101", "d6d741ff", "d7d641ff", "d8204401020304",
	"d6d820d741ff", "d65f41014102ff", "d600", "d6f6", "d6f7", "d69f4101ff", "d6c1f93c00", "d6c06474657874", "d6", "d60000", "d61f", "d6ff", "d8", "d8ff00", "df", "dc", "dd", "de", "db0000000000000000", "dbffffffffffffffff01", "d9010001", "c48221196ab3", "c5822003",
	"d81c80", "d81d00", "d9010081d81900", "d9010082", "d9010283010203", "d81e820102", "d82350", "d8255000000000000000000000000000000000", "da0001000001",
	"d8ffc00a", "d8ffd8ffc06474657874", "81c00a", "82c00ac10a", "a24161c00a4161f7", "a1416182c06474657874c00a", "82c06474657874c10a", "81d8ffc00a",
	// the end
	"", "0001", "a000", "d9d9f7a000", "f6f6", "1c", "1d", "1e", "1f", "3f", "5c", "7d", "be", "18", "19", "1901", "1a010203", "1b01020304050607", "f9", "f900", "fa000000", "fb00000000000000", "c61f",
}

func object(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

func must(v any) []byte {
	out, err := direct.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}

// Documents of objects and lists; encoded they are inputs too, and what the mutations begin with.
var documents = []any{
	object("apiVersion", "v1", "kind", "ConfigMap", "metadata", object("name", "a", "labels", object("x", "y")), "data", object("k", "v")),
	object("apiVersion", "apps/v1", "kind", "Deployment", "metadata", object("name", "web", "generation", int64(3)), "spec", object("replicas", int64(2), "paused", false,
		"list", []any{"a", int64(1), nil, 1.5, object()})),
	object("apiVersion", "v1", "kind", "ConfigMapList", "metadata", object("resourceVersion", "7"), "items", []any{object("metadata", object("name", "a")), object("kind", "ConfigMap", "apiVersion", "v1")}),
	object("apiVersion", "v1", "kind", "ConfigMapList", "items", []any{}),
	object("apiVersion", "v1", "kind", "ConfigMapList", "items", nil),
	object("apiVersion", "v1", "kind", "ConfigMapList", "items", "x"),
	object("apiVersion", "v1", "kind", "ConfigMapList", "items", []any{"x"}),
	object("apiVersion", "v1", "kind", "ConfigMapList", "items", []any{nil}),
	object("apiVersion", "v1", "kind", "ConfigMapList", "items", []any{object("kind", "Other")}),
	object("apiVersion", "v1", "kind", "ConfigMapList", "items", []any{object("apiVersion", "v2")}),
	object("apiVersion", "v1", "kind", "ConfigMapList", "items", []any{object("apiVersion", int64(1), "kind", nil)}),
	object("apiVersion", "v1", "kind", "List", "items", []any{object("a", "b")}),
	object("apiVersion", "v1", "kind", "ConfigMap", "items", []any{object("a", "b")}),
	object("kind", "ConfigMapList", "items", []any{object("a", "b")}),
	object("apiVersion", "v1", "items", []any{object("a", "b")}),
	object("apiVersion", "v1"), object("kind", "ConfigMap"), object(), object("apiVersion", "", "kind", ""),
	object("apiVersion", "a/b/c", "kind", "X"), object("apiVersion", "a/b", "kind", "X"), object("apiVersion", "/v1", "kind", "X"),
	object("apiVersion", int64(1), "kind", "X"), object("apiVersion", "v1", "kind", int64(7)), object("apiVersion", nil, "kind", "X"), object("apiVersion", "v1", "kind", []any{"X"}),
	object("apiVersion", "v1", "kind", true), object("apiVersion", 1.5, "kind", object()), object("apiVersion", "v1", "kind", "X", "metadata", "x"),
	object("apiVersion", "v1", "kind", "Status", "status", "Failure", "reason", "NotFound", "code", int64(404), "message", "m", "details", object("name", "n", "retryAfterSeconds", int64(3))),
	object("apiVersion", "v1", "kind", "Status", "status", "Failure", "unknown", int64(1)),
	object("apiVersion", "v1", "kind", "Status", "details", object("name", "n", "other", "x")),
	object("apiVersion", "v1", "kind", "Status", "metadata", object("resourceVersion", "3", "x", int64(1))),
	object("apiVersion", "v1", "kind", "DeleteOptions", "gracePeriodSeconds", int64(5), "dryRun", []any{"All"}),
	object("apiVersion", "v1", "kind", "DeleteOptions", "gracePeriodSecond", int64(5)),
	object("apiVersion", "v1", "kind", "DeleteOptions", "Kind", "x", "preconditions", object("uid", "u", "UID", "v")),
	object("apiVersion", "v1", "kind", "WatchEvent", "type", "ADDED", "object", object("apiVersion", "v1", "kind", "X", "n", int64(1))),
	object("apiVersion", "v1", "kind", "WatchEvent", "type", "ADDED", "object", nil),
	"text", int64(1), nil, true, 1.5, []any{}, []any{object("kind", "X")},
	object("apiVersion", "v1", "kind", "X", "s", "\xff\x00\"'\\\n\u00fc\U0001f600", "", "empty", "\xc3", "half"),
}

func mutated(random *rand.Rand, in []byte) []byte {
	out := append([]byte{}, in...)
	for n := 1 + random.Intn(3); n > 0; n-- {
		if len(out) == 0 {
			return out
		}
		at := random.Intn(len(out))
		switch random.Intn(6) {
		case 0:
			out[at] ^= 1 << random.Intn(8)
		case 1:
			out[at] = byte(random.Intn(256))
		case 2:
			out = append(out[:at], out[at+1:]...)
		case 3:
			out = append(out[:at], append([]byte{byte(random.Intn(256))}, out[at:]...)...)
		case 4:
			out = out[:at]
		case 5:
			heads := []byte{0xd6, 0xd9, 0xf7, 0x5f, 0x7f, 0x9f, 0xbf, 0xff, 0xf6, 0xf4, 0xc0, 0xc1, 0xc2, 0xa1, 0x81, 0x41, 0x61}
			out = append(out[:at], append([]byte{heads[random.Intn(len(heads))]}, out[at:]...)...)
		}
	}
	return out
}

// nested returns an item within n others of one kind.
func nested(n int, open, inner, end string) []byte {
	head, _ := hex.DecodeString(open)
	middle, _ := hex.DecodeString(inner)
	tail, _ := hex.DecodeString(end)
	return append(append(bytes.Repeat(head, n), middle...), bytes.Repeat(tail, n)...)
}

func decode(out *json.Encoder) {
	var seeds [][]byte
	for i, text := range inputs {
		in, err := hex.DecodeString(text)
		if err != nil {
			panic(fmt.Sprint(i, text, err))
		}
		seeds = append(seeds, in)
		out.Encode(answers(fmt.Sprintf("item %d", i), in))
	}
	for i, each := range documents {
		in := must(each)
		seeds = append(seeds, in, append([]byte{0xd9, 0xd9, 0xf7}, in...))
		out.Encode(answers(fmt.Sprintf("document %d", i), append([]byte{0xd9, 0xd9, 0xf7}, in...)))
	}
	for _, n := range []int{100, 600, 2000, 9999, 10000, 10001} {
		for name, in := range map[string][]byte{"arrays": nested(n, "81", "80", ""), "maps": nested(n, "a140", "f6", ""), "tags": nested(n, "c4", "00", ""),
			"indefinite": nested(n, "9f", "", "ff"), "mixed": nested(n/2, "81a140", "f6", ""), "later": nested(n, "d6", "4101", "")} {
			each := answers(fmt.Sprintf("%d %s", n, name), in)
			// Long answers are not kept: the value must only be there.
			for _, field := range []*string{&each.Any, &each.Diag, &each.Object, &each.List, &each.Typed, &each.Strict} {
				if !strings.HasPrefix(*field, "error: ") || len(*field) > 300 {
					*field = "long"
				}
			}
			out.Encode(each)
		}
	}
	random := rand.New(rand.NewSource(20261127))
	for i := 0; i < 1500; i++ {
		out.Encode(answers(fmt.Sprintf("mutated %d", i), mutated(random, seeds[random.Intn(len(seeds))])))
	}
}

type encoded struct {
	Name string `json:"name"`
	// The document as JSON, with which Go begins too.
	Document string `json:"document"`
	Out      string `json:"out"`
	Back     string `json:"back"`
}

var texts = []string{
	`null`, `true`, `false`, `0`, `23`, `24`, `255`, `256`, `65535`, `65536`, `4294967295`, `4294967296`, `9223372036854775807`, `-1`, `-24`, `-25`, `-256`, `-257`, `-65536`, `-65537`,
	`-4294967296`, `-4294967297`, `-9223372036854775808`, `9223372036854775808`, `18446744073709551615`, `-9223372036854775809`, `1e30`, `0.0`, `-0.0`, `1.5`, `-1.5`, `0.1`, `65504.0`, `65505.0`, `65536.0`, `3.4028234663852886e38`,
	`3.4028234663852887e38`, `3.4028235677973366e38`, `1e-8`, `5.960464477539063e-8`, `5.960464477539062e-8`, `2.9802322387695312e-8`, `6.103515625e-05`, `6.097555160522461e-05`, `1.401298464324817e-45`, `5e-324`, `1e300`, `1e308`, `16777217.0`, `16777216.0`, `2049.0`, `2048.0`, `100000.0`, `1.0`, `3.141592653589793`,
	`""`, `"a"`, `"é"`, `"日本語😀"`, `"\u0000\n\"\\"`, `"<>&"`, `"\ud800"`, `"` + strings.Repeat("x", 23) + `"`, `"` + strings.Repeat("x", 24) + `"`, `"` + strings.Repeat("x", 255) + `"`, `"` + strings.Repeat("x", 256) + `"`, `"` + strings.Repeat("x", 65536) + `"`,
	`[]`, `{}`, `[1,"a",null,true,1.5,[],{}]`, `{"b":1,"a":2,"aa":3,"":4,"é":5,"z":6,"B":7}`, `{"a":{"c":1,"b":{}},"d":[{"y":1,"x":2}]}`,
	`{"` + strings.Repeat("k", 24) + `":1,"` + strings.Repeat("k", 23) + `":2,"z":3,"kk":4}`, `{"` + strings.Repeat("k", 256) + `":1,"` + strings.Repeat("l", 255) + `":2}`,
	`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","creationTimestamp":"2024-01-01T00:00:00Z","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"100m"}}}]},"status":{"phase":"Running"}}`,
	`{"apiVersion":"v1","kind":"Secret","data":{"k":"AQIDBA=="}}`,
}

func randomDocument(random *rand.Rand, depth int) any {
	words := []string{"", "a", "b", "name", "metadata", "spec", "é", "日本", "a/b", "longer than twenty-three bytes of text", "\u0001", "x y"}
	switch n := random.Intn(9); {
	case n == 0:
		return nil
	case n == 1:
		return random.Intn(2) == 0
	case n == 2:
		return int64(random.Uint64()) >> random.Intn(64)
	case n == 3:
		return math.Ldexp(float64(random.Intn(1<<12)-2048), random.Intn(40)-30)
	case n == 4:
		return random.NormFloat64() * math.Pow(10, float64(random.Intn(40)-20))
	case n == 5 || depth == 0:
		return words[random.Intn(len(words))]
	case n == 6:
		out := []any{}
		for i := random.Intn(5); i > 0; i-- {
			out = append(out, randomDocument(random, depth-1))
		}
		return out
	default:
		out := map[string]any{}
		for i := random.Intn(7); i > 0; i-- {
			out[words[random.Intn(len(words))]] = randomDocument(random, depth-1)
		}
		return out
	}
}

func encode(out *json.Encoder) {
	random := rand.New(rand.NewSource(20261128))
	all := texts
	for i := 0; i < 250; i++ {
		text, err := json.Marshal(randomDocument(random, 4))
		if err != nil {
			panic(err)
		}
		all = append(all, string(text))
	}
	for i, text := range all {
		each := encoded{Name: fmt.Sprintf("document %d", i), Document: text}
		var v any
		if err := kjson.Unmarshal([]byte(text), &v); err != nil {
			panic(err)
		}
		data, err := direct.Marshal(v)
		if err != nil {
			each.Out = failure(err)
		} else {
			each.Out = hex.EncodeToString(data)
			var back any
			if err := direct.Unmarshal(data, &back); err != nil {
				each.Back = failure(err)
			} else {
				each.Back = render(back)
			}
		}
		out.Encode(each)
	}
}

func main() {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	if os.Args[1] == "encode" {
		encode(out)
	} else {
		decode(out)
	}
}
