//! A disk that fails: short writes, no space, I/O errors and failed syncs, at one call after the other. The program
//! reports the error and stops; existing records stay; and when the disk works again, the run continues to the same
//! end.

use std::{
    path::PathBuf,
    process::{Command, Output},
    sync::OnceLock,
};

use crate::hardship::{Scene, text};

/// Returns the path of the shim, which is compiled once.
fn shim() -> &'static PathBuf {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| {
        let library = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("shim-{}.so", std::process::id()));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/hardship/shim.c");
        let compiled =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).args([source, "-ldl"]).status();
        assert!(compiled.unwrap().success());
        library
    })
}

/// Makes the `at`th write or sync fail. Returns false if the run made fewer calls.
fn survives(kind: &str, at: usize) -> bool {
    let scene = Scene::new();
    let sign = scene.path().join("it-happened");
    let hurt = scene
        .go_on()
        .env("LD_PRELOAD", shim())
        .envs([("FAULT_KIND", kind), ("FAULT_AT", &at.to_string())])
        .env("FAULT_UNDER", scene.store())
        .env("FAULT_SAYS", &sign)
        .output()
        .unwrap();
    let happened = sign.exists();
    if happened && !hurt.status.success() {
        let said = text(&hurt);
        assert!(!said.contains("panicked") && hurt.status.code() != Some(70), "{kind} {at}: {said}");
        assert!(said.contains("error"), "{kind} {at}: {said}");
    }
    let mut well = scene.go_on().output().unwrap();
    if text(&well).contains("a person must decide") {
        assert_eq!(kind, "enospc", "only a full disk prevents the record of the end of an attempt: {}", text(&well));
        well = decide(&scene, &text(&well));
    }
    assert!(
        well.status.success() || text(&well).contains("has ended"),
        "{kind} {at}: {}\nbefore: {}",
        text(&well),
        text(&hurt)
    );
    scene.check();
    happened
}

/// Follows the instruction for files of an attempt whose end could not be recorded: undoes the attempt and goes on.
fn decide(scene: &Scene, said: &str) -> Output {
    let after = said.split("undo the-run --write ").nth(1).unwrap_or_else(|| panic!("no instruction in {said}"));
    let write = after.split('`').next().unwrap_or_default();
    let undone = scene.run(&["undo", "the-run", "--write", write]);
    assert!(undone.status.success(), "{}", text(&undone));
    let data = r#"{"code": "INTERRUPTED", "message": "its changes were undone"}"#;
    scene.run(&["send", "the-run", "error", "--data", data])
}

/// Makes early calls fail one by one and later calls in strides, until the run makes no more calls.
fn survives_all(kind: &str) {
    let (mut at, mut faults) = (1, 0);
    while faults < 30 && survives(kind, at) {
        faults += 1;
        at += 1 + at / 3;
    }
    println!("{kind}: {faults} faults, up to call {at}; nothing was lost");
    assert!(faults > 8, "{faults} faults");
}

#[test]
fn a_full_disk() {
    survives_all("enospc");
}

#[test]
fn a_disk_that_cannot_be_written() {
    survives_all("eio");
}

#[test]
fn a_short_write() {
    survives_all("short");
}

#[test]
fn a_sync_that_fails() {
    survives_all("fsync");
}
