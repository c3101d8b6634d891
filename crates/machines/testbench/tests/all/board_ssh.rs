//! Boards over a real SSH server.

use std::{fs, time::Duration};

use interlock_testbench::{Reset, Start, Stop, Trouble};
use serde_json::{Value, json};

use crate::{
    place::{LONG, TestPlace, is_alive, line_of, start, until},
    sshd::Sshd,
};

async fn lab(change: impl FnOnce(&Sshd, &mut Value)) -> Option<(Sshd, TestPlace)> {
    let sshd = Sshd::new(|_| String::new()).await?;
    let mut config = json!({ "name": "bench-1", "ssh": sshd.ssh(), "boot_sec": 20 });
    change(&sshd, &mut config);
    let place = TestPlace::new("target_board", config);
    Some((sshd, place))
}

#[tokio::test]
async fn commands_keep_their_exit_codes_and_arguments() {
    let Some((_sshd, place)) = lab(|_, _| ()).await else { return };
    let board = place.environment();
    board.setup(place.bench()).await.unwrap();
    assert_eq!(board.health_check(place.bench()).await.unwrap(), "it answers over SSH");
    for code in [0, 3, 255] {
        let ran = place.run(start(&format!("echo out; echo err >&2; exit {code}"), LONG)).await.unwrap();
        assert_eq!(ran.stop, Stop::Exited { code });
        assert_eq!((place.file(&ran, "stdout.log"), place.file(&ran, "stderr.log")), ("out\n".into(), "err\n".into()));
    }
    let ran = place
        .run(Start {
            args: ["it's", "a b", "$HOME `id` \"q\" \\", "", "new\nline"].map(str::to_owned).into(),
            environment_vars: [("COLOUR".to_owned(), "it's 'dark' red".to_owned())].into(),
            ..start("printf '<%s>' \"$COLOUR\" {args}", LONG)
        })
        .await
        .unwrap();
    let expected = "<it's 'dark' red><it's><a b><$HOME `id` \"q\" \\><><new\nline>";
    assert_eq!(place.file(&ran, "stdout.log"), expected);
}

/// Returns a command that starts two long-running processes and records their ids.
fn long(pids: &std::path::Path) -> String {
    format!("trap '' TERM; sleep 1000 & echo $$ $! > {}; wait; wait; sleep 1000", pids.display())
}

async fn check_ended(pids: &str) {
    for pid in pids.split(' ') {
        until("its end", || (!is_alive(pid)).then_some(())).await;
    }
}

#[tokio::test]
async fn overdue_remote_command_is_ended_remotely() {
    let Some((sshd, place)) = lab(|_, _| ()).await else { return };
    let pids = sshd.file("pids");
    let ran = place.run(start(&long(&pids), Duration::from_secs(6))).await.unwrap();
    assert_eq!(ran.stop, Stop::TimedOut);
    check_ended(&line_of(&pids).await).await;
}

#[tokio::test]
async fn cancelled_remote_command_is_ended_remotely() {
    let Some((sshd, place)) = lab(|_, _| ()).await else { return };
    let pids = sshd.file("pids");
    let (ran, pids) = tokio::join!(place.run(start(&long(&pids), LONG)), async {
        let pids = line_of(&pids).await;
        place.canceller.cancel();
        pids
    });
    assert_eq!(ran.unwrap_err(), Trouble::Cancelled);
    check_ended(&pids).await;
}

#[tokio::test]
async fn broken_connection_is_lost_and_a_reset_ends_leftovers() {
    let Some((sshd, place)) = lab(|_, _| ()).await else { return };
    let pids = sshd.file("pids");
    // The parent of its parent is the server of this connection.
    let cut = format!(
        "trap '' HUP TERM; sleep 1000 & echo $! > {}; kill -9 $(awk '/^PPid/ {{ print $2 }}' /proc/$PPID/status); wait",
        pids.display()
    );
    let ran = place.run(start(&cut, LONG)).await.unwrap();
    assert!(matches!(ran.stop, Stop::Lost { .. }), "{:?}", ran.stop);
    let done = place.environment().reset(place.bench(), Reset::Reset).await.unwrap();
    assert_eq!(done, "the programs started on it were ended; it answers over SSH");
    check_ended(&line_of(&pids).await).await;
    place.environment().teardown(place.bench()).await.unwrap();
}

#[tokio::test]
async fn files_are_copied_both_ways_and_old_reports_do_not_count() {
    let Some((sshd, place)) = lab(|sshd, config| {
        let there = sshd.file("there's a dir");
        fs::create_dir(&there).unwrap();
        for name in ["old.xml", "a.log", "b.log", "core dump"] {
            fs::write(there.join(name), name).unwrap();
        }
        config["image_path"] = json!(there.join("fw image"));
        config["reports"] = json!([there.join("old.xml"), there.join("new.xml")]);
        config["logs"] = json!([there.join("*.log"), { "name": "who.txt", "command": "echo the board" }]);
        config["artifacts"] = json!([there.join("core dump")]);
    })
    .await
    else {
        return;
    };
    let there = sshd.file("there's a dir");
    let place = place.with_image(b"\x7fELF");
    let board = place.environment();
    board.deploy(place.bench()).await.unwrap();
    assert_eq!(fs::read(there.join("fw image")).unwrap(), b"\x7fELF");
    let write = Start { args: vec![there.join("new.xml").display().to_string()], ..start("echo '<x/>' >", LONG) };
    let ran = place.run(write).await.unwrap();
    assert_eq!(ran.reports, [std::path::PathBuf::from("reports/new.xml")]);
    assert_eq!(place.file(&ran, "reports/new.xml"), "<x/>\n");
    let names = |all: Vec<interlock_testbench::FetchedFile>| all.into_iter().map(|kept| kept.name).collect::<Vec<_>>();
    assert_eq!(names(board.fetch_logs(place.bench()).await.unwrap()), ["a.log", "b.log", "who.txt"]);
    assert_eq!(names(board.fetch_artifacts(place.bench()).await.unwrap()), ["core dump"]);
    fs::remove_file(there.join("core dump")).unwrap();
    let told = board.fetch_artifacts(place.bench()).await.unwrap_err().to_string();
    assert!(told.contains("core dump could not be copied") && told.contains("No such file"), "{told}");
}

#[tokio::test]
async fn wrong_host_key_and_unknown_key_are_refused() {
    let Some((_sshd, place)) = lab(|sshd, config| {
        let wrong = fs::read_to_string(sshd.file("key.pub")).unwrap();
        config["ssh"]["host_key"] = json!(wrong.trim());
    })
    .await
    else {
        return;
    };
    let told = place.environment().health_check(place.bench()).await.unwrap_err().to_string();
    assert!(told.contains("refuses the login") && told.contains("verification failed"), "{told}");
    let Some((_sshd, place)) = lab(|sshd, config| config["ssh"]["key"] = json!(sshd.file("host_key"))).await else {
        return;
    };
    let told = place.environment().health_check(place.bench()).await.unwrap_err().to_string();
    assert!(told.contains("Permission denied"), "{told}");
    let ran = place.run(start("true", LONG)).await.unwrap();
    assert!(matches!(&ran.stop, Stop::Lost { why } if why.contains("Permission denied")), "{:?}", ran.stop);
}

#[tokio::test]
async fn first_host_key_is_trusted_and_a_change_is_refused() {
    let Some((sshd, mut place)) = lab(|_, config| {
        config["ssh"].as_object_mut().unwrap().remove("host_key");
    })
    .await
    else {
        return;
    };
    place.environment().health_check(place.bench()).await.unwrap();
    // In the same session, another server now answers at the port.
    let known = place.session.folder.join("known_hosts");
    let line = fs::read_to_string(&known).unwrap();
    let other = fs::read_to_string(sshd.file("key.pub")).unwrap();
    let host = line.split(' ').next().unwrap();
    fs::write(&known, format!("{host} {other}")).unwrap();
    place.session.profile.config["boot_sec"] = json!(5);
    let told = place.environment().health_check(place.bench()).await.unwrap_err().to_string();
    assert!(told.contains("verification failed"), "{told}");
}
