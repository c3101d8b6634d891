//! Script hosts behind a real SSH server, whose shell answers from recorded transcripts of Windows.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use expect_test::expect_file;
use interlock_testbench::{Ran, Reset, Start, Stop, Trouble};
use serde_json::{Value, json};

use crate::{
    place::{LONG, TestPlace, is_alive, missing, part, start, until},
    sshd::Sshd,
};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/windows")
}

/// Starts a server that answers every command from a transcript.
async fn played() -> Option<Sshd> {
    let python = part("python3", "python3")?;
    if !Path::new("/usr/lib/openssh/sftp-server").exists() {
        missing("/usr/lib/openssh/sftp-server (openssh-sftp-server)");
        return None;
    }
    Sshd::new(|folder| {
        fs::create_dir(folder.join("home")).unwrap();
        let player = corpus().join("play.py");
        let words = [python.display(), player.display()].map(|word| word.to_string()).join(" ");
        format!("ForceCommand {words} {} {}\n", corpus().display(), folder.join("home").display())
    })
    .await
}

fn place(sshd: &Sshd, more: Value) -> TestPlace {
    let mut config = json!({ "name": "win-1", "ssh": sshd.ssh() });
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    TestPlace::new("windows_script", config)
}

fn shown(place: &TestPlace, ran: &Ran) -> String {
    let faults: String = ran.faults.iter().map(|fault| format!("fault: {}\n", fault.banner)).collect();
    let raw = if ran.artifacts.is_empty() { "" } else { "the bytes are kept\n" };
    let (stdout, stderr) = (place.file(ran, "stdout.log"), place.file(ran, "stderr.log"));
    format!("{:?}\n{faults}{raw}--- stdout\n{stdout}--- stderr\n{stderr}", ran.stop)
}

#[tokio::test]
async fn every_transcript_is_decoded_as_expected() {
    let Some(sshd) = played().await else { return };
    let mut cases: Vec<_> = fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|case| case.join("case.json").exists());
    cases.sort();
    assert!(cases.len() >= 14, "{cases:?}");
    for case in cases {
        let told: Value = serde_json::from_slice(&fs::read(case.join("case.json")).unwrap()).unwrap();
        let place = place(&sshd, json!({ "shell": told["shell"], "encoding": told["encoding"] }));
        if told["shell"] == "cmd" {
            // The setup finds the code page of the console.
            place.environment().setup(place.bench()).await.unwrap();
        }
        let ran = place.run(start(told["command"].as_str().unwrap(), LONG)).await.unwrap();
        expect_file![case.join("expected.txt")].assert_eq(&shown(&place, &ran));
    }
}

#[tokio::test]
async fn files_are_copied_both_ways_with_special_paths() {
    let Some(sshd) = played().await else { return };
    let folder = r"C:\Users\ada's bench\run 1";
    let place = place(
        &sshd,
        json!({
            "folder": folder,
            "image_path": "fw image.bin",
            "command": "& {image} WRITES result.xml {args}",
            "reports": ["result.xml", "stale.xml"],
            "logs": ["*.log"],
            "artifacts": [r"C:\Users\ada's bench\run 1\core.dmp"],
        }),
    )
    .with_image(b"MZ");
    let there = sshd.file("home/C:/Users/ada's bench/run 1");
    let windows = place.environment();
    windows.setup(place.bench()).await.unwrap();
    assert_eq!(windows.health_check(place.bench()).await.unwrap(), "it answers: PowerShell 5.1.22621.4391");
    windows.deploy(place.bench()).await.unwrap();
    assert_eq!(fs::read(there.join("fw image.bin")).unwrap(), b"MZ");
    for name in ["stale.xml", "a.log", "core.dmp"] {
        fs::write(there.join(name), name).unwrap();
    }
    let ran = place.run(Start { args: vec!["it's".into()], ..start("", LONG) }).await.unwrap();
    assert_eq!(ran.stop, Stop::Exited { code: 0 });
    assert_eq!(ran.reports, [PathBuf::from("reports/result.xml")], "an old report is none");
    assert_eq!(place.file(&ran, "reports/result.xml"), "<testsuite/>\n");
    let names = |all: Vec<interlock_testbench::FetchedFile>| all.into_iter().map(|kept| kept.name).collect::<Vec<_>>();
    assert_eq!(names(windows.fetch_logs(place.bench()).await.unwrap()), ["a.log"]);
    assert_eq!(names(windows.fetch_artifacts(place.bench()).await.unwrap()), ["core.dmp"]);
    windows.teardown(place.bench()).await.unwrap();
}

#[tokio::test]
async fn long_scripts_are_copied_first_and_removed_at_the_end() {
    let Some(sshd) = played().await else { return };
    let place = place(&sshd, json!({}));
    let command = format!("# {}\nmsiexec", "ü".repeat(4_000));
    let ran = place.run(start(&command, LONG)).await.unwrap();
    assert_eq!(ran.stop, Stop::Exited { code: 3_010 });
    let scripts = || fs::read_dir(sshd.file("home")).unwrap().count();
    assert_eq!(scripts(), 1);
    place.environment().teardown(place.bench()).await.unwrap();
    assert_eq!(scripts(), 0);
}

#[tokio::test]
async fn overdue_or_cancelled_script_is_ended_remotely() {
    let Some(sshd) = played().await else { return };
    let place = place(&sshd, json!({}));
    let pid_file = sshd.file("home/interlock-s_1-all-1.pid");
    let look = async || until("the script", || fs::read_to_string(&pid_file).ok().filter(|pid| !pid.is_empty())).await;
    let (ran, pid) = tokio::join!(place.run(start("HANGS", Duration::from_secs(8))), look());
    assert_eq!(ran.unwrap().stop, Stop::TimedOut);
    assert!(!is_alive(&pid));
    let (ran, pid) = tokio::join!(place.run(start("HANGS", LONG)), async {
        let pid = look().await;
        place.canceller.cancel();
        pid
    });
    assert_eq!(ran.unwrap_err(), Trouble::Cancelled);
    until("its end", || (!is_alive(&pid)).then_some(())).await;
    assert!(!pid_file.exists());
}

#[tokio::test]
async fn unreachable_host_is_reported_and_a_reset_waits_for_it() {
    let Some(sshd) = played().await else { return };
    let live = place(&sshd, json!({ "restart": "Restart-Computer -Force WRITES nothing" }));
    let done = live.environment().reset(live.bench(), Reset::Reset).await.unwrap();
    assert_eq!(done, "the programs started on it were ended; it answers: PowerShell 5.1.22621.4391");
    let done = live.environment().reset(live.bench(), Reset::Restart).await.unwrap();
    assert!(done.starts_with("it was restarted; it answers"), "{done}");
    let gone = place(&sshd, json!({}));
    drop(sshd);
    let told = gone.environment().setup(gone.bench()).await.unwrap_err().to_string();
    assert!(told.contains("win-1 does not answer") && told.contains("refused"), "{told}");
    let ran = gone.run(start("x", LONG)).await.unwrap();
    assert!(matches!(&ran.stop, Stop::Lost { why } if why.contains("refused")), "{:?}", ran.stop);
}
