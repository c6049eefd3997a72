//! The kube-rs rows of tests/bench/hooks: a Controller on labelled ConfigMaps that starts a program for each
//! object and waits for it, as a user of the crate writes it. Its hook gets the object's name and no document.
//!
//!   bench-kube-rs-controller HOOK CONCURRENCY
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    runtime::{Config, Controller, controller::Action, watcher},
};
use std::{process::Stdio, sync::Arc, time::Duration};

async fn reconcile(object: Arc<ConfigMap>, hook: Arc<String>) -> Result<Action, std::io::Error> {
    tokio::process::Command::new(hook.as_str())
        .env("KW_NAME", object.name_any())
        .stdin(Stdio::null())
        .spawn()?
        .wait()
        .await?;
    Ok(Action::await_change())
}

#[tokio::main]
async fn main() {
    let mut words = std::env::args().skip(1);
    let hook = words.next().expect("HOOK CONCURRENCY");
    let concurrency = words.next().expect("HOOK CONCURRENCY").parse().expect("a number");
    let client = Client::try_default().await.expect("a kubeconfig");
    let api: Api<ConfigMap> = Api::namespaced(client, "default");
    Controller::new(api, watcher::Config::default().labels("bench=yes"))
        .with_config(Config::default().concurrency(concurrency))
        .run(
            reconcile,
            |_, error, _| {
                eprintln!("bench-kube-rs-controller: {error}");
                Action::requeue(Duration::from_secs(1))
            },
            Arc::new(hook),
        )
        .for_each(|result| async move {
            if let Err(error) = result {
                eprintln!("bench-kube-rs-controller: {error}");
            }
        })
        .await;
}
