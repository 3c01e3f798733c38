// Go's informer by the measure of clients.py, for whoever has Go at hand.
//
//	cd test/bench/wire/go && go mod init bench && go mod tidy && go build -o /tmp/wire .
//	python test/bench/wire/bench_wire.py --go /tmp/wire
//
// bench_wire.py starts the server, and this beside the other clients. The figures go by the names that clients.py gives
// them, and mean the same.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
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
	flag.Parse()
	measured := measure(*url, *contentType, *pods, *events, *reading)
	if *asJSON {
		json.NewEncoder(os.Stdout).Encode(measured)
		return
	}
	fmt.Printf("%.2f s to sync, %.0f events/s, %.1f us of CPU each, %.0f MB\n",
		measured.SyncSeconds, measured.Rate, measured.CPU, measured.Memory)
}
