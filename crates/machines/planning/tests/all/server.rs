//! The built-in server over HTTP, asked by the client of this crate.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use interlock_planning::{
    builtin::BuiltIn,
    client::{Endpoint, Server},
    serve::{Service, serve},
};
use interlock_testkit_activity::{Recorder, attempt};
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinHandle};

const LIMIT: Duration = Duration::from_secs(30);

struct Running {
    url: String,
    task: JoinHandle<()>,
    _home: TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn start() -> Running {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("shops.csv"), "a,b\n1,2\n").unwrap();
    let (attempt, _canceller) = attempt(home.path(), home.path(), Arc::new(Recorder::default()));
    let service = Service {
        built_in: BuiltIn::default(),
        attempt,
        token: Some("secret".into()),
        folder: Some(home.path().to_owned()),
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move { drop(serve(listener, Arc::new(service)).await) });
    Running { url, task, _home: home }
}

fn request(stream: bool) -> Json {
    json!({
        "observation": {
            "location": { "current": { "stage_id": "data", "step_id": "load", "behavior_id": "behavior_001", "behavior_iteration": 1 } },
            "context": { "variables": {}, "effects": { "current": [], "history": [] }, "FSM": { "state": "step_running" } },
        },
        "options": { "stream": stream },
    })
}

#[tokio::test]
async fn both_endpoints_answer_and_the_table_of_the_folder_is_found() {
    let running = start().await;
    let server = Server::new(&running.url, Some("secret".into())).unwrap();
    let reply = server.post(Endpoint::Planning, &request(false), LIMIT, |_| ()).await.unwrap();
    assert_eq!(serde_json::from_slice::<Json>(&reply).unwrap()["targetAchieved"], false);
    let whole = server.post(Endpoint::Generating, &request(false), LIMIT, |_| ()).await.unwrap();
    let whole: Json = serde_json::from_slice(&whole).unwrap();
    let lines = server.post(Endpoint::Generating, &request(true), LIMIT, |_| ()).await.unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let lines: Vec<Json> =
        lines.lines().map(|line| serde_json::from_str::<Json>(line).unwrap()["action"].take()).collect();
    assert_eq!(whole["actions"], json!(lines));
    assert!(whole.to_string().contains("shops.csv"), "{whole}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_action_of_the_rules_is_there_before_the_last_is_made() {
    let home = tempfile::tempdir().unwrap();
    let (attempt, _canceller) = attempt(home.path(), home.path(), Arc::new(Recorder::default()));
    let (to, mut made) = tokio::sync::mpsc::channel(1);
    let work = tokio::spawn(async move {
        BuiltIn::default().generate(&attempt, &request(true), Some(home.path()), to).await.unwrap();
    });
    let first = made.recv().await.unwrap();
    assert_eq!(first["action"], "new_chapter");
    assert!(!work.is_finished(), "the rules wait for their reader");
    let mut rest = 0;
    while made.recv().await.is_some() {
        rest += 1;
    }
    work.await.unwrap();
    assert_eq!(rest, 3);
}

#[tokio::test]
async fn requests_without_the_token_are_refused() {
    let running = start().await;
    for token in [None, Some("wrong!".to_owned()), Some("secrets".to_owned())] {
        let server = Server::new(&running.url, token.clone()).unwrap();
        let refused = server.post(Endpoint::Planning, &request(false), LIMIT, |_| ()).await.unwrap_err();
        assert!(refused.starts_with("status 401"), "{token:?}: {refused}");
    }
}

#[tokio::test]
async fn a_request_of_another_form_is_refused() {
    let running = start().await;
    let server = Server::new(&running.url, Some("secret".into())).unwrap();
    let refused = server.post(Endpoint::Planning, &json!({ "state": {} }), LIMIT, |_| ()).await.unwrap_err();
    assert!(refused.starts_with("status 400") && refused.contains("`observation.location`"), "{refused}");
    let elsewhere = Server::new(&format!("{}/v2", running.url), Some("secret".into())).unwrap();
    let refused = elsewhere.post(Endpoint::Planning, &request(false), LIMIT, |_| ()).await.unwrap_err();
    assert!(refused.starts_with("status 404"), "{refused}");
}

#[tokio::test]
async fn a_client_without_a_workflow_is_proposed_one() {
    let running = start().await;
    let server = Server::new(&running.url, Some("secret".into())).unwrap();
    let mut asked = request(false);
    asked["observation"]["location"]["current"]["step_id"] =
        interlock_planning::Workflow::design()["stages"][0]["steps"][0]["step_id"].clone();
    let reply = server.post(Endpoint::Planning, &asked, LIMIT, |_| ()).await.unwrap();
    let reply: Json = serde_json::from_slice(&reply).unwrap();
    let update = &reply["context_update"]["workflow_update"];
    assert_eq!((&reply["targetAchieved"], &update["nextStageId"]), (&json!(false), &json!("data")));
    assert!(interlock_planning::Workflow::parse(&update["workflowTemplate"]).is_ok());
}
