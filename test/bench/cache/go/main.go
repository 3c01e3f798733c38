// Go's informer alone by the measure of bench_pipeline.py, for whoever has Go at hand: decoded objects from memory.
//
//	cd test/bench/cache/go && go mod init bench && go mod tidy && go build -o /tmp/pipeline .
//	python test/bench/cache/bench_pipeline.py --go /tmp/pipeline
//
// The figures go by the names that bench_pipeline.py prints, and mean the same.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

const patience = 60 * time.Second

// figures is what one run tells: latencies in seconds.
type figures struct {
	Rate      float64   `json:"events/s"`
	CPU       float64   `json:"us of CPU"`
	Latencies []float64 `json:"latencies"`
}

// makePods returns n small Pods in 100 namespaces on 1000 nodes, as bench_structures.py does.
func makePods(n, version int) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace:       fmt.Sprintf("namespace-%d", i%100),
				Name:            fmt.Sprintf("pod-%d", i),
				UID:             types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", i)),
				ResourceVersion: strconv.Itoa(version*n + i),
				Labels:          map[string]string{"app": fmt.Sprintf("app-%d", i%50)},
			},
			Spec: corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", i%1000)},
		}
	}
	return pods
}

// source lists Pods in memory and watches them.
type source struct {
	pods    []*corev1.Pod
	result  chan watch.Event
	watched chan struct{}
}

func (s *source) IsWatchListSemanticsUnSupported() bool {
	return true
}

func (s *source) List(metav1.ListOptions) (apiruntime.Object, error) {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for _, pod := range s.pods {
		list.Items = append(list.Items, *pod)
	}
	return list, nil
}

func (s *source) Watch(metav1.ListOptions) (watch.Interface, error) {
	close(s.watched)
	return s, nil
}

func (s *source) ResultChan() <-chan watch.Event {
	return s.result
}

func (s *source) Stop() {}

// handler counts; it tells when it has been told of so many, and when that was. One goroutine calls it, and rests when
// more is expected.
type handler struct {
	left    int
	at      time.Time
	reached chan struct{}
}

func (h *handler) OnAdd(any, bool) {
	h.saw()
}

func (h *handler) OnUpdate(any, any) {
	h.saw()
}

func (h *handler) OnDelete(any) {
	panic("nothing was deleted")
}

func (h *handler) saw() {
	h.left--
	if h.left == 0 {
		h.at = time.Now()
		h.reached <- struct{}{}
	}
}

// bench is an informer with its source and handlers.
type bench struct {
	source   *source
	handlers []*handler
}

// expect says of how many events the handlers will be told next.
func (b *bench) expect(events int) {
	for _, h := range b.handlers {
		h.left = events
	}
}

// send gives one event for each Pod to the watch, and returns when the last handler was told of the last one.
func (b *bench) send(changed []*corev1.Pod) time.Time {
	b.expect(len(changed))
	for _, pod := range changed {
		b.source.result <- watch.Event{Type: watch.Modified, Object: pod}
	}
	return b.wait()
}

// wait returns when the last of the handlers had what it expected.
func (b *bench) wait() time.Time {
	var at time.Time
	for _, h := range b.handlers {
		select {
		case <-h.reached:
		case <-time.After(patience):
			panic("the informer is stuck")
		}
		if h.at.After(at) {
			at = h.at
		}
	}
	return at
}

func measure(pods, events, handlers, alone int) figures {
	rounds := events / pods
	var changes []*corev1.Pod
	for version := 2; version < rounds+2; version++ {
		changes = append(changes, makePods(pods, version)...)
	}
	single := makePods(alone, rounds+2)
	// The channel holds nothing, as that of a client's watch.
	from := &source{makePods(pods, 1), make(chan watch.Event), make(chan struct{})}
	informer := cache.NewSharedIndexInformerWithOptions(from, &corev1.Pod{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{"namespace": cache.MetaNamespaceIndexFunc},
	})
	b := &bench{source: from}
	for range handlers {
		h := &handler{reached: make(chan struct{}, 1)}
		b.handlers = append(b.handlers, h)
		if _, err := informer.AddEventHandler(h); err != nil {
			panic(err)
		}
	}
	b.expect(pods)
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		informer.RunWithContext(ctx)
		close(stopped)
	}()
	b.wait()
	<-from.watched

	runtime.GC()
	start, startCPU := time.Now(), cpuTime()
	seconds := b.send(changes).Sub(start).Seconds()
	cpu := cpuTime() - startCPU

	latencies := make([]float64, alone)
	for i := range single {
		<-time.After(2 * time.Millisecond) // all goroutines rest
		sent := time.Now()
		latencies[i] = b.send(single[i : i+1]).Sub(sent).Seconds()
	}
	cancel()
	<-stopped
	return figures{
		Rate:      float64(len(changes)) / seconds,
		CPU:       float64(cpu.Nanoseconds()) / 1e3 / float64(len(changes)),
		Latencies: latencies,
	}
}

// cpuTime is what this process has spent.
func cpuTime() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func main() {
	pods := flag.Int("pods", 10_000, "in the cache")
	events := flag.Int("events", 100_000, "of the watch")
	handlers := flag.Int("handlers", 1, "of the informer")
	alone := flag.Int("alone", 1000, "events for the latency")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	measured := measure(*pods, *events, *handlers, *alone)
	if *asJSON {
		json.NewEncoder(os.Stdout).Encode(measured)
		return
	}
	fmt.Printf("%.0f events/s, %.1f us of CPU each\n", measured.Rate, measured.CPU)
	if *alone > 0 {
		slices.Sort(measured.Latencies)
		middle, late := measured.Latencies[*alone/2], measured.Latencies[*alone*99/100]
		fmt.Printf("latency %.0f us, of one in a hundred %.0f\n", middle*1e6, late*1e6)
	}
}
