// Go's informer by the measure of clients.py, and of bench_latency.py, for whoever has Go at hand.
//
//	cd test/bench/wire/go && go mod init bench && go mod tidy && go build -o /tmp/wire .
//	python test/bench/wire/bench_wire.py --go /tmp/wire
//	python test/bench/wire/bench_latency.py --go /tmp/wire
//
// Each starts the server, and this beside the other clients. The figures go by the names that those have, and mean the
// same.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// The name of the last event's Pod, as replay_server.py has it.
const last = "last"

const patience = 300 * time.Second

// So many microseconds are told apart in the label `revision`.
const digits = 100_000_000

// figures is what a client reports.
type figures struct {
	SyncSeconds float64 `json:"sync seconds"`
	FromStart   float64 `json:"from start"`
	Rate        float64 `json:"events/s"`
	CPU         float64 `json:"us of CPU"`
	Memory      float64 `json:"MB"`
}

// handler counts what it is told of once the list is cached. One goroutine calls it.
type handler struct {
	reading bool
	counted int
	ended   time.Time
	cpu     time.Duration
	done    chan struct{}
}

func (h *handler) OnAdd(obj any, isInInitialList bool) {
	if !isInInitialList {
		h.saw(obj.(*corev1.Pod))
	}
}

func (h *handler) OnUpdate(_, obj any) {
	pod := obj.(*corev1.Pod)
	if h.reading {
		read(pod)
	}
	h.saw(pod)
}

func (h *handler) OnDelete(any) {
	panic("nothing was deleted")
}

func (h *handler) saw(pod *corev1.Pod) {
	h.counted++
	if pod.GetName() == last {
		h.ended, h.cpu = time.Now(), cpuTime()
		close(h.done)
	}
}

// read does what a handler reads: a label, an image, the phase, a condition.
func read(pod *corev1.Pod) {
	label, image := pod.Labels["app"], pod.Spec.Containers[0].Image
	if label == "" || image == "" || pod.Status.Phase == "" || pod.Status.Conditions[0].Type == "" {
		panic("a Pod lacks what the handler reads")
	}
}

// measure fills an informer from the list, lets the events go, and waits for the last one.
func measure(url, contentType string, pods, events int, reading bool) figures {
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	config := &rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: contentType}}
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
	informer := factory.Core().V1().Pods().Informer()
	counter := &handler{reading: reading, done: make(chan struct{})}
	handle, err := informer.AddEventHandler(counter)
	check(err == nil, "adding the handler: %v", err)
	factory.StartWithContext(ctx)
	synced := cache.WaitFor(ctx, "", informer.HasSyncedChecker(), handle.HasSyncedChecker())
	check(synced, "not synced in time")
	cached := len(informer.GetIndexer().ListKeys())
	check(cached == pods, "%d of %d cached", cached, pods)
	syncSeconds, fromStart := time.Since(start).Seconds(), secondsFromStart()

	<-time.After(time.Second) // the watch is open and all rest
	watchStart, watchStartCPU := time.Now(), cpuTime()
	answer, err := http.Get(url + "/go")
	check(err == nil, "starting the events: %v", err)
	answer.Body.Close()
	select {
	case <-counter.done:
	case <-ctx.Done():
		check(false, "the last event did not come")
	}
	check(counter.counted == events, "%d of %d seen", counter.counted, events)
	cancel()
	factory.Shutdown()
	return figures{
		SyncSeconds: syncSeconds,
		FromStart:   fromStart,
		Rate:        float64(events) / counter.ended.Sub(watchStart).Seconds(),
		CPU:         float64((counter.cpu - watchStartCPU).Nanoseconds()) / 1e3 / float64(events),
		Memory:      float64(usage().Maxrss) / 1024,
	}
}

// lateness is how many milliseconds after the server's write a change reaches a handler.
type lateness struct {
	Median float64 `json:"median"`
	Late   float64 `json:"99th"`
}

// measureLateness lets a server make changes, so many a second, and looks at what they say of when they were written.
func measureLateness(url string, changes int, rate float64) lateness {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(&rest.Config{Host: url, QPS: -1}), 0)
	late := make([]float64, 0, changes)
	done := make(chan struct{})
	handle, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			late = append(late, secondsSince(obj.(*corev1.Pod).Labels["revision"])*1e3)
			if len(late) == changes {
				close(done)
			}
		},
	})
	check(err == nil, "adding the handler: %v", err)
	factory.StartWithContext(ctx)
	check(cache.WaitFor(ctx, "", handle.HasSyncedChecker()), "not synced in time")
	answer, err := http.Get(fmt.Sprintf("%s/go?rate=%f&count=%d", url, rate, changes))
	check(err == nil, "starting the changes: %v", err)
	answer.Body.Close()
	select {
	case <-done:
	case <-ctx.Done():
		check(false, "the last change did not come")
	}
	cancel()
	factory.Shutdown()
	slices.Sort(late)
	return lateness{Median: late[changes/2], Late: late[changes*99/100]}
}

// secondsSince reads the label of cluster_server.py: microseconds of the wall clock, the last eight digits.
func secondsSince(revision string) float64 {
	written, err := strconv.ParseInt(revision, 10, 64)
	check(err == nil, "not a time: %q", revision)
	return float64((time.Now().UnixMicro()+digits-written)%digits) / 1e6
}

// secondsFromStart is the time since bench_wire.py started this process, by the clock that is one for all processes.
func secondsFromStart() float64 {
	started, err := strconv.ParseFloat(os.Getenv("BENCH_STARTED"), 64)
	if err != nil {
		return 0
	}
	var now unix.Timespec
	check(unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) == nil, "there is no such clock")
	return float64(now.Nano())/1e9 - started
}

func usage() *unix.Rusage {
	var used unix.Rusage
	check(unix.Getrusage(unix.RUSAGE_SELF, &used) == nil, "the usage is unknown")
	return &used
}

// cpuTime is what this process has spent.
func cpuTime() time.Duration {
	used := usage()
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func check(ok bool, format string, args ...any) {
	if !ok {
		log.Fatalf(format, args...)
	}
}

func main() {
	url := flag.String("url", "", "of the server")
	contentType := flag.String("content-type", "", "what to ask for; client-go's default is protobuf")
	pods := flag.Int("pods", 10_000, "that the server lists")
	events := flag.Int("events", 50_000, "that its watch brings")
	reading := flag.Bool("reading", false, "the handler reads four fields, not the name alone")
	asJSON := flag.Bool("json", false, "print JSON")
	changes := flag.Int("changes", 0, "measure how late so many changes are, and nothing else; prints JSON")
	rate := flag.Float64("rate", 100, "of the changes, a second")
	flag.Parse()
	if *changes > 0 {
		json.NewEncoder(os.Stdout).Encode(measureLateness(*url, *changes, *rate))
		return
	}
	measured := measure(*url, *contentType, *pods, *events, *reading)
	if *asJSON {
		json.NewEncoder(os.Stdout).Encode(measured)
		return
	}
	fmt.Printf("%.2f s to sync, %.0f events/s, %.1f us of CPU each, %.0f MB\n",
		measured.SyncSeconds, measured.Rate, measured.CPU, measured.Memory)
}
