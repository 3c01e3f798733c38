// Command dump prints the answers of Go's spew, with the settings of k8s.io/apimachinery/pkg/util/dump (v0.36), as JSON lines.
package main

import (
	"encoding/json"
	"math"
	"os"

	"github.com/davecgh/go-spew/spew"
)

// Go prints maps in a random order without SortKeys, so the answers are made with it.
var pretty = &spew.ConfigState{Indent: "  ", SortKeys: true, DisableMethods: true, SpewKeys: true, DisablePointerAddresses: true, DisableCapacities: true}
var forHash = &spew.ConfigState{Indent: " ", SortKeys: true, DisableMethods: true, SpewKeys: true, DisablePointerAddresses: true, DisableCapacities: true}

type CustomString string

func (s CustomString) String() string { return "custom string" }

type CustomError int

func (e CustomError) Error() string { return "custom error" }

type Ratio float64
type Color string
type Embed struct{ s string }
type Wrap struct {
	embed Embed
	e     any
	list  []string
	m     map[string]int
	no    any
}
type Empty struct{}
type Point struct{ x, y int }

func main() {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	long := make([]byte, 40)
	for i := range long {
		long[i] = byte(i * 6)
	}
	cases := []struct {
		name  string
		value any
	}{
		{"nil", nil},
		{"int", 93}, {"negative int", -93}, {"zero", 0},
		{"float", 93.76}, {"whole float", 2.0}, {"large float", 1e6}, {"six digits", 123456.0}, {"seven digits", 1234567.0},
		{"huge float", 1.5e300}, {"1e21", 1e21}, {"small float", 0.0001}, {"smaller float", 0.00001234}, {"hundred thousand", 100000.0},
		{"negative zero", math.Copysign(0, -1)}, {"infinity", math.Inf(1)}, {"negative infinity", math.Inf(-1)}, {"nan", math.NaN()},
		{"third", 1.0 / 3},
		{"complex", 93i}, {"complex of both", complex(1.5, -2)}, {"complex infinity", complex(0, math.Inf(1))}, {"complex nan", complex(math.NaN(), math.NaN())},
		{"true", true}, {"false", false},
		{"string", "test"}, {"empty string", ""}, {"newline and quote", "te\n\"st\"\t\\"}, {"two bytes", "é"}, {"unprintable", "a\x00b\u200b\U0001F600"},
		{"empty bytes", []byte{}}, {"bytes", []byte{1, 255}}, {"long bytes", long}, {"bytes in a list", [][]byte{{1}, []byte("hello, world! 0123456789")}},
		{"bytes in a map", map[string]any{"a": []byte("a b"), "b": nil}},
		{"strings", []string{"slice"}}, {"two strings", []string{"a b", "c"}}, {"ints", []int{1, 2}}, {"empty list", []any{}},
		{"mixed list", []any{1, "1", nil, true, 1.5}}, {"list of nil", []any{nil, nil}},
		{"lists", [][]string{{"a"}, {"b", "c"}}}, {"lists of different types", []any{[]string{"a"}, []int{1}}},
		{"deep lists", [][][]string{{{"a"}}, {{"b"}}}}, {"deep lists of different types", [][]any{{"a", 1}, {2, "b"}}},
		{"list with an empty list", []any{[]any{}, []int{1}}}, {"list of empty lists", [][]any{{}, {}}},
		{"list of maps", []map[string]int{{"a": 1}, {"b": 2}}},
		{"empty map", map[any]any{}},
		{"map", map[string]int{"one": 1}}, {"map of two", map[string]int{"two": 2, "one": 1}},
		{"map of any", map[string]any{"one": 1, "a": "b", "none": nil}}, {"map of maps", map[string]map[string]int{"a": {"b": 1}, "c": {"d": 2}}},
		{"map of lists", map[string][]int{"a": {1}, "b": {2, 3}}},
		{"map of ints", map[int]string{10: "a", 9: "b", -1: "c"}}, {"map of floats", map[float64]int{10.5: 1, 9.25: 2}},
		{"map of bools", map[bool]int{true: 1, false: 0}}, {"map of mixed keys", map[any]int{"a": 1, 10: 2, 9: 3, true: 4, 1.5: 5}},
		{"map of text keys by bytes", map[string]int{"é": 1, "z": 2, "Z": 3, "": 4}},
		{"map with structs as keys", map[Point]int{{2, 1}: 1, {10, 0}: 2}},
		{"map without values", map[string]any{"a": nil}},
		{"set", map[string]struct{}{"b": {}, "a": {}}},
		{"named string", CustomString("test")}, {"named int", CustomError(0)}, {"named float", Ratio(0.5)}, {"enumeration", Color("red")},
		{"list of named strings", []CustomString{"a", "b"}}, {"map of named strings", map[string]CustomString{"key": "test"}},
		{"map with named keys", map[CustomString]CustomError{"b": 2, "a": 1}},
		{"struct", Embed{"test"}}, {"empty struct", Empty{}}, {"list of structs", []Embed{{"a"}, {"b"}}},
		{"struct in a list of any", []any{Embed{"a"}, Empty{}}},
		{"wrap", Wrap{Embed{"test"}, map[string]Embed{"key": {"x"}}, []string{"a"}, map[string]int{"one": 1}, nil}},
		{"map of structs", map[string]Embed{"key": {"test"}}},
		{"unstructured", map[string]any{"apiVersion": "v1", "metadata": map[string]any{"name": "a", "labels": map[string]string{"x": "y"}}, "spec": map[string]any{"replicas": 3, "paused": false, "containers": []map[string]any{{"name": "c", "ports": []int{80}}}}}},
	}
	for _, c := range cases {
		answer := map[string]string{"name": c.name, "pretty": pretty.Sdump(c.value), "for_hash": forHash.Sprintf("%#v", c.value), "one_line": pretty.Sprintf("%#v", c.value)}
		if err := out.Encode(answer); err != nil {
			panic(err)
		}
	}
}
