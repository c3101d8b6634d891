//! The example program that implements the contract, and programs that violate it.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_testbench::{Reset, Start, Stop, Trouble};
use serde_json::{Value, json};

use crate::place::{LONG, TestPlace, part, start};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/testbench/pretend_board.py")
}

#[tokio::test]
async fn example_program_supports_every_operation() {
    if part("python3", "python3").is_none() {
        return;
    }
    let config = json!({ "program": example(), "resources": ["pretend-1"] });
    let place = TestPlace::new("program", config).with_image(b"echo test one: PASS; echo $1; exit $1");
    let program = place.environment();
    assert_eq!(program.resources(), ["pretend-1"]);
    program.setup(place.bench()).await.unwrap();
    let told = program.health_check(place.bench()).await.unwrap_err();
    assert_eq!(told, Trouble::Environment("the flash memory is empty".into()));
    program.deploy(place.bench()).await.unwrap();
    assert_eq!(program.health_check(place.bench()).await.unwrap(), "the lamp is on");
    let ran = place.run(Start { args: vec!["3".into()], ..start("", LONG) }).await.unwrap();
    assert_eq!(ran.stop, Stop::Exited { code: 3 });
    assert_eq!(place.file(&ran, &ran.logs[0]), "test one: PASS\n3\n");
    assert_eq!(program.fetch_logs(place.bench()).await.unwrap(), []);
    let kept = program.fetch_artifacts(place.bench()).await.unwrap();
    assert_eq!(kept[0].name, "flash.bin");
    assert!(fs::read(&kept[0].path).unwrap().starts_with(b"echo test"));
    assert_eq!(program.reset(place.bench(), Reset::Restart).await.unwrap(), "power off and on");
    program.teardown(place.bench()).await.unwrap();
    let hangs = TestPlace::new("program", json!({ "program": example() })).with_image(b"sleep 1000");
    hangs.environment().setup(hangs.bench()).await.unwrap();
    hangs.environment().deploy(hangs.bench()).await.unwrap();
    let ran = hangs.run(start("", Duration::from_secs(1))).await.unwrap();
    assert_eq!(ran.stop, Stop::TimedOut);
}

/// Creates a program that always gives the same answer.
fn answering(script: &str) -> TestPlace {
    let place = TestPlace::new("program", json!({ "program": "./place" }));
    let file = place.session.sources.join("place");
    fs::create_dir_all(&place.session.sources).unwrap();
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    place
}

#[tokio::test]
async fn contract_violation_is_not_a_test_failure() {
    let check = async |script: &str, expected: &str| {
        let told = answering(script).run(start("", LONG)).await.unwrap_err();
        assert!(matches!(&told, Trouble::Runner(why) if why.contains(expected)), "{script}: {told:?}");
    };
    check("echo board is gone >&2; exit 3", "ended with 3: board is gone").await;
    check("echo hello", "did not answer with one JSON object").await;
    check(":", "did not answer with one JSON object").await;
    check("echo '{}'", "missing field `stop`").await;
    check(r#"echo '{"stop": {"how": "exited", "code": 0}, "logs": ["../../session.json"]}'"#, "is not a file within")
        .await;
    check(r#"echo '{"stop": {"how": "exited", "code": 0}, "logs": ["none.log"]}'"#, "is not a file within").await;
    check(r#"echo '{"trouble": "sulking"}'"#, "an unknown kind of trouble").await;
    let hung = r#"echo '{"stop": {"how": "hung", "place": "in main"}}'"#;
    let ran = answering(hung).run(start("", LONG)).await.unwrap();
    assert_eq!(ran.stop, Stop::Hung { place: "in main".into() });
}

#[tokio::test]
async fn program_reads_one_complete_object_from_stdin() {
    let place = answering(r#"cat > asked.json; echo '{"done": "again"}'"#);
    place.environment().reset(place.bench(), Reset::Reset).await.unwrap();
    let asked: Value = serde_json::from_slice(&fs::read(place.session.folder.join("asked.json")).unwrap()).unwrap();
    assert_eq!((&asked["operation"], &asked["how"]), (&json!("reset"), &json!("reset")));
    assert_eq!(asked["session"]["id"], "s 1");
    assert_eq!(asked["session"]["profile"]["env_type"], "program");
}

#[tokio::test]
async fn profile_without_a_program_is_refused() {
    for (config, expected) in [
        (json!({}), "`test_profile.config.program` is missing"),
        (json!({ "program": "x", "wirte": [] }), "`test_profile.config.wirte` is not known"),
        (json!({ "program": "x", "network": "some" }), "`test_profile.config.network` cannot be used"),
    ] {
        let profile = serde_json::from_value(json!({ "env_type": "program", "config": config })).unwrap();
        let told = interlock_testbench::environment(&profile).err().unwrap().to_string();
        assert!(told.starts_with(expected), "{told}");
    }
}
