//! Deployments, and messages of the user before, during and after them.

use serde_json::json;

use super::scene::{RIGHT, Scene, until};

#[test]
fn failed_deployment_is_rolled_back() {
    let scene = Scene::new();
    scene.start(&json!({ "deploy": "echo nothing works; false", "rollback": "echo back > out.txt" }));
    let failed = scene.reply(RIGHT);
    assert_eq!(failed.code, Some(1), "{failed}");
    assert_eq!(scene.context("warnings"), json!(["deploy_failed"]));
    assert_eq!(std::fs::read_to_string(scene.folder().join("out.txt")).unwrap(), "back\n");
    assert!(scene.has_branch());
}

#[test]
fn deployment_can_wait_for_a_message() {
    let scene = Scene::new();
    scene.start(&json!({ "deploy": "echo live > out.txt", "deploy_on": "message" }));
    let committed = scene.reply(RIGHT);
    assert!(committed.code == Some(4) && committed.stdout.contains("AWAITING_DEPLOY"), "{committed}");
    let deployed = scene.send("user_message", &json!({ "text": "deploy it" }));
    assert_eq!(deployed.code, Some(0), "{deployed}");
    assert_eq!(std::fs::read_to_string(scene.folder().join("out.txt")).unwrap(), "live\n");
}

#[test]
fn message_during_a_deployment_is_queued() {
    let scene = Scene::new();
    scene.start(&json!({ "deploy": "echo begun > out/begun; until test -e out/go; do sleep 0.02; done" }));
    std::fs::create_dir(scene.folder().join("out")).unwrap();
    scene.write("count.sh", RIGHT);
    let data = json!({ "tree": "", "edited": true, "summary": "done" });
    let mut process = scene.session.command(&format!("send b1 ai_reply_done --data '{data}'")).spawn().unwrap();
    until("the deployment", || scene.folder().join("out/begun").exists());
    scene.send("user_message", &json!({ "text": "Thank you" }));
    assert_eq!(scene.place(), "DEPLOY_RUNNING");
    scene.write("out/go", "");
    assert_eq!(process.wait().unwrap().code(), Some(4));
    assert_eq!((scene.place().as_str(), scene.context("instruction")), ("DELIVERING", json!("Thank you")));
    let kept = scene.send("ai_reply_done", &json!({ "tree": "", "edited": false, "summary": "You are welcome." }));
    assert_eq!(kept.code, Some(0), "{kept}");
}

#[test]
fn message_is_refined_and_the_run_goes_back() {
    let scene = Scene::new();
    scene.start(&json!({}));
    let said = scene.send("user_message", &json!({ "text": "I like short code" }));
    assert!(said.stdout.contains("DELIVERING") && said.stderr.contains("instruction: I like short code"), "{said}");
    let back = scene.send("ai_reply_done", &json!({ "tree": "", "edited": false, "summary": "Noted." }));
    assert!(back.stdout.contains("CODING"), "{back}");
    let more = scene.send("user_message", &json!({ "text": "Add a header too" }));
    assert!(more.stdout.contains("CODING"), "{more}");
    assert_eq!(scene.context("instruction"), json!("Add a header too"));
}

#[test]
fn spent_budget_waits_for_the_user() {
    let scene = Scene::new();
    scene.start(&json!({}));
    let error = json!({ "code": "BUDGET_SPENT", "message": "2,000,000 tokens are used" });
    let waiting = scene.send("error", &error);
    assert!(waiting.code == Some(4) && waiting.stdout.contains("AWAITING_USER"), "{waiting}");
    assert_eq!(scene.context("asked"), json!("BUDGET_SPENT: 2,000,000 tokens are used"));
    let again = scene.send("user_message", &json!({ "text": "The budget is larger now" }));
    assert!(again.stdout.contains("CODING"), "{again}");
}

#[test]
fn deployment_reaches_only_the_listed_hosts() {
    let listen = || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        (listener.local_addr().unwrap().port(), listener)
    };
    let ((listed, host), (other, stranger)) = (listen(), listen());
    let reach = |port: u16| format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; echo hello >&3'");
    let scene = Scene::new();
    let deploy = format!("{} || exit 1; {} && exit 2; true", reach(listed), reach(other));
    scene.start(&json!({ "deploy": deploy, "deploy_network": [format!("127.0.0.1:{listed}")] }));
    let done = scene.reply(RIGHT);
    assert_eq!(done.code, Some(0), "{done}");
    assert!(host.accept().is_ok(), "the listed host was not reached");
    assert_eq!(stranger.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}
