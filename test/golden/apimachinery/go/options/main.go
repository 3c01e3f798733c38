// Command answers prints, as JSON lines, what Go's duration and queryparams packages answer.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/conversion/queryparams"
	"k8s.io/apimachinery/pkg/util/duration"
)

type TypeMeta struct {
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
}

type ListOptions struct {
	TypeMeta             `json:",inline"`
	LabelSelector        string `json:"labelSelector,omitempty"`
	FieldSelector        string `json:"fieldSelector,omitempty"`
	Watch                bool   `json:"watch,omitempty"`
	AllowWatchBookmarks  bool   `json:"allowWatchBookmarks,omitempty"`
	ResourceVersion      string `json:"resourceVersion,omitempty"`
	ResourceVersionMatch string `json:"resourceVersionMatch,omitempty"`
	TimeoutSeconds       *int64 `json:"timeoutSeconds,omitempty"`
	Limit                int64  `json:"limit,omitempty"`
	Continue             string `json:"continue,omitempty"`
	SendInitialEvents    *bool  `json:"sendInitialEvents,omitempty"`
}

type UID string
type Preconditions struct {
	UID             *UID    `json:"uid,omitempty"`
	ResourceVersion *string `json:"resourceVersion,omitempty"`
}
type DeleteOptions struct {
	TypeMeta           `json:",inline"`
	GracePeriodSeconds *int64         `json:"gracePeriodSeconds,omitempty"`
	Preconditions      *Preconditions `json:"preconditions,omitempty"`
	OrphanDependents   *bool          `json:"orphanDependents,omitempty"`
	PropagationPolicy  *string        `json:"propagationPolicy,omitempty"`
	DryRun             []string       `json:"dryRun,omitempty"`
}
type PatchOptions struct {
	TypeMeta        `json:",inline"`
	DryRun          []string `json:"dryRun,omitempty"`
	Force           *bool    `json:"force,omitempty"`
	FieldManager    string   `json:"fieldManager,omitempty"`
	FieldValidation string   `json:"fieldValidation,omitempty"`
}

// Time has the method of metav1.Time that matters here.
type Time struct{ time.Time }

func (t *Time) MarshalQueryParameter() (string, error) {
	if t == nil || t.Time.IsZero() {
		return "", nil
	}
	return t.UTC().Format(time.RFC3339), nil
}

type PodLogOptions struct {
	TypeMeta     `json:",inline"`
	Container    string  `json:"container,omitempty"`
	Follow       bool    `json:"follow,omitempty"`
	Previous     bool    `json:"previous,omitempty"`
	SinceSeconds *int64  `json:"sinceSeconds,omitempty"`
	SinceTime    *Time   `json:"sinceTime,omitempty"`
	Timestamps   bool    `json:"timestamps,omitempty"`
	TailLines    *int64  `json:"tailLines,omitempty"`
	LimitBytes   *int64  `json:"limitBytes,omitempty"`
	Stream       *string `json:"stream,omitempty"`
}
type PodExecOptions struct {
	TypeMeta  `json:",inline"`
	Stdin     bool     `json:"stdin,omitempty"`
	Stdout    bool     `json:"stdout,omitempty"`
	Stderr    bool     `json:"stderr,omitempty"`
	TTY       bool     `json:"tty,omitempty"`
	Container string   `json:"container,omitempty"`
	Command   []string `json:"command"`
}
type PodPortForwardOptions struct {
	TypeMeta `json:",inline"`
	Ports    []int32 `json:"ports,omitempty"`
}

func main() {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	if os.Args[1] == "duration" {
		seen := map[int64]bool{}
		add := func(d time.Duration) {
			if seen[int64(d)] {
				return
			}
			seen[int64(d)] = true
			_ = out.Encode(map[string]any{"name": d.String(), "ns": int64(d), "human": duration.HumanDuration(d), "short": duration.ShortHumanDuration(d)})
		}
		units := []time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour, 365 * 24 * time.Hour}
		for _, unit := range units {
			for _, n := range []int64{-3, -2, -1, 0, 1, 2, 3, 7, 8, 9, 10, 11, 23, 24, 25, 47, 48, 49, 59, 60, 61, 119, 120, 121, 179, 180, 181} {
				if unit > 24*time.Hour && n > 200 {
					continue
				}
				for _, off := range []time.Duration{0, 1, -1, time.Millisecond, time.Second, -time.Second, time.Minute, time.Hour, 25 * time.Hour} {
					add(time.Duration(n)*unit + off)
				}
			}
		}
		return
	}
	i := func(n int64) *int64 { return &n }
	b := func(v bool) *bool { return &v }
	s := func(v string) *string { return &v }
	u := func(v UID) *UID { return &v }
	at := &Time{time.Date(2026, 11, 27, 10, 0, 0, 0, time.FixedZone("x", 3600))}
	cases := []any{
		&ListOptions{}, &ListOptions{TypeMeta: TypeMeta{"ListOptions", "v1"}, Limit: 5},
		&ListOptions{LabelSelector: "a=b", Watch: true, Limit: 0, TimeoutSeconds: i(0)},
		&ListOptions{LabelSelector: "a in (b,c), d", FieldSelector: "metadata.name=x", AllowWatchBookmarks: true, ResourceVersion: "12", ResourceVersionMatch: "NotOlderThan", TimeoutSeconds: i(-3), Limit: -1, Continue: "é&=", SendInitialEvents: b(false)},
		&DeleteOptions{}, &DeleteOptions{GracePeriodSeconds: i(0), OrphanDependents: b(false), PropagationPolicy: s(""), DryRun: []string{}},
		&DeleteOptions{GracePeriodSeconds: i(5), Preconditions: &Preconditions{UID: u("u")}},
		&DeleteOptions{Preconditions: &Preconditions{}},
		&DeleteOptions{Preconditions: &Preconditions{UID: u(""), ResourceVersion: s("7")}, DryRun: []string{"All", "", "All"}},
		&PatchOptions{DryRun: []string{"All", "None"}, Force: b(false), FieldManager: "me"},
		&PatchOptions{Force: b(true), FieldValidation: "Strict"},
		&PodLogOptions{}, &PodLogOptions{Container: "c", Follow: true, SinceSeconds: i(0), SinceTime: at, TailLines: i(10), LimitBytes: i(1), Stream: s("Stdout")},
		&PodExecOptions{}, &PodExecOptions{Stdin: true, Stdout: true, TTY: true, Command: []string{"sh", "-c", "", "echo a b"}},
		&PodPortForwardOptions{}, &PodPortForwardOptions{Ports: []int32{80, 0, 443}},
	}
	for n, c := range cases {
		values, err := queryparams.Convert(c)
		if err != nil {
			panic(err)
		}
		kind := fmt.Sprintf("%T", c)[len("*main."):]
		_ = out.Encode(map[string]any{"name": fmt.Sprintf("%02d %s", n, kind), "kind": kind, "options": c, "parameters": values})
	}
}
