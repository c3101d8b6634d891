//! Commands that use the network: off by default, after a person's yes if the run allows it, and only for listed hosts.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
};

use interlock_activity::EffectClass;
use interlock_journal::{Engine as _, Entry};
use interlock_sqlite::Journal;
use interlock_testkit_activity::model_server::{CoderTurn, Move};
use serde_json::json;

use super::scene::{Scene, patch, told};

const GOAL: &str = "count the arguments";

/// Answers every request on a port of this computer.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4_096]);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 12\r\n\r\nfrom outside");
        }
    });
    port
}

/// A repository whose script fetches a page from a port of this computer.
fn scene(port: u16) -> Scene {
    let fetch = json!({ "command": "python3 fetch.py", "network": true });
    let moves = vec![
        Move::call("run_terminal_cmd", fetch),
        Move::call("apply_patch", patch()),
        Move::done("It counts its arguments now."),
    ];
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)]);
    let fetch = format!(
        "import urllib.request\n\
         text = urllib.request.urlopen('http://127.0.0.1:{port}/', timeout=20).read()\n\
         print(text)\n\
         open('fetched.txt', 'wb').write(text)\n"
    );
    scene.write("fetch.py", &fetch);
    scene
}

/// Returns the results of tools that the model got.
fn answered(scene: &Scene) -> String {
    let asked = scene.model.asked();
    let messages = asked.iter().flat_map(|asked| asked.body["messages"].as_array().cloned().unwrap_or_default());
    let results = messages.filter(|message| message["role"] == "tool");
    results.filter_map(|message| Some(message["content"].as_str()?.to_owned())).collect()
}

fn effects(scene: &Scene) -> Vec<EffectClass> {
    let journal = Journal::open(&scene.session.folder().join("../home")).unwrap();
    let head = journal.find("c1").unwrap().unwrap();
    let records = journal.records(head.key, 1, usize::MAX).unwrap();
    let effect = |entry: Entry| match entry {
        Entry::Attempt { name, effect, .. } if name == "tool.call" => Some(effect),
        _ => None,
    };
    records.iter().filter_map(|record| effect(journal.entry(record).unwrap())).collect()
}

#[test]
fn the_network_is_off_unless_the_run_allows_it() {
    let scene = scene(server());
    let ended = scene.confirmed(GOAL);
    assert_eq!(ended.code, Some(0), "{ended}");
    let told = answered(&scene);
    assert!(told.contains("the network is off: python3 fetch.py") && !told.contains("from outside"), "{told}");
    assert_eq!(effects(&scene), [EffectClass::Write]);
}

#[test]
fn a_command_uses_the_network_after_one_yes() {
    let scene = scene(server());
    scene.start(GOAL, "--set allow_network=true");
    let asked = scene.send("CONFIRM", &json!({ "answer": "yes" }));
    assert!(asked.code == Some(4) && told(&asked).contains("`python3 fetch.py` with the network on"), "{asked}");
    let ended = scene.send("CONFIRM", &json!({ "answer": "yes" }));
    assert_eq!(ended.code, Some(0), "{ended}");
    let told = answered(&scene);
    assert!(told.contains("from outside"), "{told}");
    assert_eq!(effects(&scene), [EffectClass::External, EffectClass::Write]);
    assert_eq!(scene.count("TOOL_EXECUTING TOOL_CALL_RESULT"), 1, "{:?}", scene.trace());
    // The files that it has written can be undone.
    assert_eq!(scene.read("fetched.txt"), "from outside");
    let undone = scene.run("undo c1");
    assert_eq!((undone.code, scene.read("fetched.txt").as_str()), (Some(0), ""), "{undone}");
}

#[test]
fn a_command_reaches_only_the_listed_hosts() {
    let (port, other) = (server(), server());
    for (listed, is_reached) in [(port, true), (other, false)] {
        let scene = scene(port);
        scene.start(GOAL, &format!("--set 'hosts=[\"127.0.0.1:{listed}\"]'"));
        let mut ended = scene.send("CONFIRM", &json!({ "answer": "yes" }));
        if ended.code == Some(4) {
            ended = scene.send("CONFIRM", &json!({ "answer": "yes" }));
        }
        assert_eq!(ended.code, Some(0), "{ended}");
        assert_eq!(answered(&scene).contains("from outside"), is_reached, "{}", answered(&scene));
    }
}
