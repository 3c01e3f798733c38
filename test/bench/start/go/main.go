// Go's process that syncs the ConfigMaps of bench_start.py, for readers who have Go.
//
//	cd test/bench/start/go && go mod init bench && go mod tidy && go build -o /tmp/configmaps .
//	python test/bench/start/bench_start.py --go /tmp/configmaps
//
// It prints the number of cached ConfigMaps once they are synced, and ends.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatalf("usage: %s URL TOKEN", os.Args[0])
	}
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: os.Args[1], BearerToken: os.Args[2], QPS: -1})
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().ConfigMaps().Informer()
	ctx, cancel := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		log.Fatal("not synced")
	}
	fmt.Println(len(informer.GetIndexer().ListKeys()))
	cancel()
	factory.Shutdown()
}
