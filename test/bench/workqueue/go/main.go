// Go's work queue by the measure of bench_queue.py, for whoever has Go at hand.
//
//	cd test/bench/workqueue/go && go mod init bench && go mod tidy && go build -o /tmp/queue .
//	python test/bench/workqueue/bench_queue.py --go /tmp/queue
//
// Prints operations a second, the median of the rounds.
package main

import (
	"flag"
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// alone adds, gets and finishes each key in turn.
func alone(keys []string) time.Duration {
	q := workqueue.NewTyped[string]()
	defer q.ShutDown()
	start := time.Now()
	for _, key := range keys {
		q.Add(key)
		item, _ := q.Get()
		q.Done(item)
	}
	return time.Since(start)
}

// allFirst adds all keys, then gets and finishes them.
func allFirst(keys []string) time.Duration {
	q := workqueue.NewTyped[string]()
	defer q.ShutDown()
	start := time.Now()
	for _, key := range keys {
		q.Add(key)
	}
	for range keys {
		item, _ := q.Get()
		q.Done(item)
	}
	return time.Since(start)
}

// withWorkers adds the keys while workers get and finish them; the time until all is done.
func withWorkers(workers int) func(keys []string) time.Duration {
	return func(keys []string) time.Duration {
		q := workqueue.NewTyped[string]()
		var running sync.WaitGroup
		for range workers {
			running.Add(1)
			go func() {
				defer running.Done()
				for {
					item, shutdown := q.Get()
					if shutdown {
						return
					}
					q.Done(item)
				}
			}()
		}
		start := time.Now()
		for _, key := range keys {
			q.Add(key)
		}
		q.ShutDown()
		running.Wait()
		return time.Since(start)
	}
}

// when asks the default rate limiter about 1,000 keys, again and again.
func when(keys []string) time.Duration {
	limiter := workqueue.DefaultTypedControllerRateLimiter[string]()
	start := time.Now()
	for i := range keys {
		limiter.When(keys[i%1000])
	}
	return time.Since(start)
}

// addAfter makes all keys wait.
func addAfter(keys []string) time.Duration {
	q := workqueue.NewTypedDelayingQueue[string]()
	defer q.ShutDown()
	random := rand.New(rand.NewSource(1))
	delays := make([]time.Duration, len(keys))
	for i := range delays {
		delays[i] = time.Duration((600 + 600*random.Float64()) * float64(time.Second))
	}
	start := time.Now()
	for i, key := range keys {
		q.AddAfter(key, delays[i])
	}
	return time.Since(start)
}

func main() {
	items := flag.Int("items", 300_000, "keys")
	rounds := flag.Int("rounds", 5, "rounds")
	flag.Parse()
	keys := make([]string, *items)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace/name-%d", i)
	}
	benches := []struct {
		title string
		run   func(keys []string) time.Duration
	}{
		{"one thread, distinct keys", alone},
		{"one thread, all added first", allFirst},
		{"1 workers, distinct keys", withWorkers(1)},
		{"4 workers, distinct keys", withWorkers(4)},
		{"default limiter's when", when},
		{"add_after, all wait", addAfter},
	}
	for _, bench := range benches {
		took := make([]time.Duration, *rounds)
		for i := range took {
			took[i] = bench.run(keys)
		}
		slices.Sort(took)
		fmt.Printf("%-28s%14.0f\n", bench.title, float64(*items)/took[*rounds/2].Seconds())
	}
}
