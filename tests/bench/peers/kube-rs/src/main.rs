//! The kube-rs row of tests/bench/cache: a reflector on Pods, as a user of the crate writes it. Prints
//! a JSON line when it is synced and one when --events updates have arrived; stays until it is killed.
//! Memory and relists are measured from outside, the same way for every program.
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{ApiResource, DynamicObject},
    core::PartialObjectMeta,
    runtime::{WatchStreamExt, reflector, watcher},
};
use serde_json::json;
use std::{
    fmt::Debug,
    hash::Hash,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

const SENT: &str = "bench.kubewatch.dev/sent";

#[derive(Default, Clone)]
struct Options {
    repr: String,
    list: String,
    labels: Option<String>,
    namespace: Option<String>,
    strip: bool,
    events: usize,
}

fn options() -> Options {
    let mut out = Options { repr: "typed".into(), list: "paged".into(), ..Options::default() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--strip" {
            out.strip = true;
            continue;
        }
        let value = words.next().unwrap_or_else(|| panic!("{word} needs a value"));
        match word.as_str() {
            "--repr" => out.repr = value,
            "--list" => out.list = value,
            "--labels" => out.labels = Some(value),
            "--namespace" => out.namespace = Some(value),
            "--events" => out.events = value.parse().expect("--events N"),
            _ => panic!("unknown flag {word}"),
        }
    }
    out
}

fn cpu_seconds() -> f64 {
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn now_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i64
}

/// Updates that carry the time at which they were sent: CPU from the first to the last, and lag.
#[derive(Default)]
struct Updates {
    /// What was sent before is not an update but the state it found.
    since: i64,
    lags: Vec<i64>,
    first_cpu: f64,
}

impl Updates {
    fn seen<K: Resource>(&mut self, object: &K, wanted: usize) {
        let Some(sent) = object.annotations().get(SENT).and_then(|v| v.parse::<i64>().ok()) else {
            return;
        };
        if sent <= self.since || self.lags.len() >= wanted {
            return;
        }
        if self.lags.is_empty() {
            self.first_cpu = cpu_seconds();
        }
        self.lags.push(now_ns() - sent);
        if self.lags.len() == wanted {
            self.print();
        }
    }

    fn print(&mut self) {
        let cpu = cpu_seconds() - self.first_cpu;
        self.lags.sort_unstable();
        let at = |share: f64| self.lags[((self.lags.len() - 1) as f64 * share) as usize] as f64 / 1e6;
        let per_event = cpu * 1e6 / (self.lags.len() - 1).max(1) as f64;
        println!(
            "{}",
            json!({"phase": "events", "events": self.lags.len(), "cpu_us_per_event": per_event,
                   "lag_ms_p50": at(0.5), "lag_ms_p99": at(0.99)})
        );
    }
}

async fn reflect<K>(
    source: impl Stream<Item = watcher::Result<watcher::Event<K>>> + Send + 'static,
    dynamic_type: K::DynamicType,
    options: Options,
    started: Instant,
) where
    K: Resource + Clone + Debug + Send + Sync + 'static,
    K::DynamicType: Eq + Hash + Clone + Send + Sync,
{
    let writer = reflector::store::Writer::<K>::new(dynamic_type);
    let store = writer.as_reader();
    let source = source.default_backoff();
    let mut stream = if options.strip {
        source.modify(|object| object.managed_fields_mut().clear()).reflect(writer).boxed()
    } else {
        source.reflect(writer).boxed()
    };
    let mut updates = Updates::default();
    let mut synced = false;
    while let Some(event) = stream.next().await {
        match event {
            Ok(watcher::Event::InitDone) if !synced => {
                synced = true;
                updates.since = now_ns();
                println!(
                    "{}",
                    json!({"phase": "synced", "objects": store.len(),
                           "wall_s": started.elapsed().as_secs_f64(), "cpu_s": cpu_seconds()})
                );
            }
            Ok(watcher::Event::Apply(object)) => updates.seen(&object, options.events),
            Ok(_) => {}
            Err(error) => eprintln!("bench-kube-rs: {error}"),
        }
    }
}

fn scoped<K>(client: Client, options: &Options) -> Api<K>
where
    K: Resource<Scope = kube::core::NamespaceResourceScope>,
    K::DynamicType: Default,
{
    match &options.namespace {
        Some(name) => Api::namespaced(client, name),
        None => Api::all(client),
    }
}

#[tokio::main]
async fn main() {
    let started = Instant::now();
    let options = options();
    let client = Client::try_default().await.expect("a kubeconfig");
    let mut config = watcher::Config::default();
    config.label_selector = options.labels.clone();
    match options.list.as_str() {
        "paged" => {}
        "streaming" => config = config.streaming_lists(),
        other => panic!("unknown --list {other}"),
    }
    match options.repr.as_str() {
        "typed" => {
            let api: Api<Pod> = scoped(client, &options);
            reflect(watcher(api, config), (), options, started).await;
        }
        "idle" => {
            let api: Api<ConfigMap> = scoped(client, &options);
            reflect(watcher(api, config), (), options, started).await;
        }
        "metadata" => {
            let api: Api<PartialObjectMeta<Pod>> = scoped(client, &options);
            reflect(watcher(api, config), (), options, started).await;
        }
        "dynamic" => {
            let resource = ApiResource::erase::<Pod>(&());
            let api: Api<DynamicObject> = match &options.namespace {
                Some(name) => Api::namespaced_with(client, name, &resource),
                None => Api::all_with(client, &resource),
            };
            reflect(watcher(api, config), resource, options, started).await;
        }
        other => panic!("unknown --repr {other}"),
    }
}
