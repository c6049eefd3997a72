// The client-go rows of tests/bench/cache: a shared informer on Pods, as a user of the library writes
// it. Prints a JSON line when it is synced and one when -events updates have arrived; stays until it
// is killed. Memory and relists are measured from outside, the same way for every program.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const sentAnnotation = "bench.kubewatch.dev/sent"

var (
	started   = time.Now()
	repr      = flag.String("repr", "typed", "typed, dynamic or metadata")
	content   = flag.String("content", "json", "json or protobuf; dynamic is always json")
	resource  = flag.String("resource", "pods", "plural name in the core group")
	labels    = flag.String("labels", "", "label selector")
	namespace = flag.String("namespace", "", "one namespace")
	strip     = flag.Bool("strip", false, "drop managedFields before the cache")
	events    = flag.Int("events", 0, "print the cost of so many updates")
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-client-go:", err)
		os.Exit(1)
	}
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

func print(line map[string]any) {
	text, err := json.Marshal(line)
	must(err)
	fmt.Println(string(text))
}

// Updates that carry the time at which they were sent: CPU from the first to the last, and lag.
type updates struct {
	mutex    sync.Mutex
	lags     []int64
	since    int64 // what was sent before is not an update but the state it found
	firstCPU float64
}

func (u *updates) begin() {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.since = time.Now().UnixNano()
}

func (u *updates) seen(object any) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return
	}
	sent, err := strconv.ParseInt(accessor.GetAnnotations()[sentAnnotation], 10, 64)
	if err != nil {
		return
	}
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.since == 0 || sent <= u.since || len(u.lags) >= *events {
		return
	}
	if len(u.lags) == 0 {
		u.firstCPU = cpuSeconds()
	}
	u.lags = append(u.lags, time.Now().UnixNano()-sent)
	if len(u.lags) == *events {
		u.print()
	}
}

func (u *updates) print() {
	cpu := cpuSeconds() - u.firstCPU
	sort.Slice(u.lags, func(i, j int) bool { return u.lags[i] < u.lags[j] })
	at := func(share float64) float64 { return float64(u.lags[int(float64(len(u.lags)-1)*share)]) / 1e6 }
	print(map[string]any{"phase": "events", "events": len(u.lags),
		"cpu_us_per_event": cpu * 1e6 / float64(max(1, len(u.lags)-1)), "lag_ms_p50": at(0.5), "lag_ms_p99": at(0.99)})
}

func informer(config *rest.Config) cache.SharedIndexInformer {
	pods := schema.GroupVersionResource{Version: "v1", Resource: *resource}
	tweak := func(options *metav1.ListOptions) { options.LabelSelector = *labels }
	// Left unset, a typed client asks for protobuf.
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	if *content == "protobuf" {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	}
	switch *repr {
	case "typed":
		clients, err := kubernetes.NewForConfig(config)
		must(err)
		factory := informers.NewSharedInformerFactoryWithOptions(clients, 0,
			informers.WithTweakListOptions(tweak), informers.WithNamespace(*namespace))
		generic, err := factory.ForResource(pods)
		must(err)
		return generic.Informer()
	case "dynamic":
		client, err := dynamic.NewForConfig(config)
		must(err)
		return dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, *namespace, tweak).ForResource(pods).Informer()
	case "metadata":
		client, err := metadata.NewForConfig(config)
		must(err)
		return metadatainformer.NewFilteredSharedInformerFactory(client, 0, *namespace, tweak).ForResource(pods).Informer()
	}
	must(fmt.Errorf("unknown -repr %s", *repr))
	return nil
}

func main() {
	flag.Parse()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	must(err)
	config.QPS = -1
	inf := informer(config)
	if *strip {
		must(inf.SetTransform(func(object any) (any, error) {
			if accessor, err := meta.Accessor(object); err == nil {
				accessor.SetManagedFields(nil)
			}
			return object, nil
		}))
	}
	seen := &updates{}
	_, err = inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, object any) { seen.seen(object) },
	})
	must(err)
	go inf.Run(make(chan struct{}))
	for !inf.HasSynced() {
		time.Sleep(time.Millisecond)
	}
	seen.begin()
	print(map[string]any{"phase": "synced", "objects": len(inf.GetStore().ListKeys()),
		"wall_s": time.Since(started).Seconds(), "cpu_s": cpuSeconds()})
	select {}
}
