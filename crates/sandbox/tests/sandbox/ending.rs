//! Everything ends with its attempt, and with whoever started it, however that goes.

use std::{
    io::Write,
    process::Command,
    time::{Duration, Instant},
};

use interlock_sandbox::{STOP, is_supervisor_of};

use crate::scene::{Scene, until};

/// Ways to stay behind. Each says `pid` as soon as it is there.
const RUNAWAYS: [&str; 6] = [
    "sleep 1000 & echo $! > pid",
    "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while ! [ -s pid ]; do sleep 0.01; done",
    // Twice forked, in a session of its own, without an environment, deaf to everything that can be ignored.
    "python3 -c '
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for n in range(1, 65):
            try: signal.signal(n, signal.SIG_IGN)
            except OSError: pass
        os.closerange(0, 100)
        os.execve(\"/bin/sh\", [\"daemon\", \"-c\", \"echo $$ > pid; while :; do sleep 1; done\"], {})
    os._exit(0)
'; while ! [ -s pid ]; do sleep 0.01; done",
    // Its own subreaper, so that orphans do not come to the supervisor at first.
    "python3 -c '
import ctypes, os, time
if os.fork() == 0:
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            open(\"pid\", \"w\").write(str(os.getpid()) + \"\\n\")
            time.sleep(1000)
        os._exit(0)
    time.sleep(1000)
'; while ! [ -s pid ]; do sleep 0.01; done",
    "nohup sh -c 'echo $$ > pid; exec sleep 1000' >/dev/null 2>&1 & while ! [ -s pid ]; do sleep 0.01; done",
    "sh -c 'echo $$ > pid; kill -STOP $$' & while ! [ -s pid ]; do sleep 0.01; done",
];

#[test]
fn what_stays_behind_ends_with_the_program() {
    for runaway in RUNAWAYS {
        let scene = Scene::new();
        scene.run(runaway).is_well();
        assert!(!scene.is_alive(&scene.line_of("pid")), "{runaway}");
    }
}

#[test]
fn when_interlock_is_gone_all_of_it_goes() {
    for runaway in RUNAWAYS {
        let scene = Scene::new();
        let running = scene.start(&format!("{runaway}\necho $$ > main; sleep 1000"));
        let (main, pid) = (scene.line_of("main"), scene.line_of("pid"));
        let mut child = running.child;
        drop(running.control);
        child.wait().unwrap();
        // The supervisor goes last.
        assert!(!scene.is_alive(&main) && !scene.is_alive(&pid), "{runaway}");
        assert_eq!(std::fs::read_dir(scene.path("tmp")).unwrap().count(), 0, "nothing of it is left");
    }
}

#[test]
fn it_is_asked_before_it_is_made_to_end() {
    let scene = Scene::new();
    let mut running = scene.start("trap 'echo bye; exit 7' TERM; echo $$ > pid; while :; do sleep 0.01; done");
    scene.line_of("pid");
    running.control.write_all(STOP).unwrap();
    let begun = Instant::now();
    let done = running.done();
    assert_eq!((done.stdout.as_str(), done.ended().code), ("bye\n", Some(7)));
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[test]
fn who_does_not_listen_is_made_to_end() {
    let scene = Scene::new();
    let mut running = scene.start("trap '' TERM HUP INT; echo $$ > pid; while :; do sleep 0.01; done");
    let pid = scene.line_of("pid");
    running.control.write_all(STOP).unwrap();
    let done = running.done();
    assert_eq!(done.ended().signal, Some(9));
    assert!(!scene.is_alive(&pid));
}

/// Ctrl-C and shutdown reach the supervisor, too; it takes the program with it.
#[test]
fn a_supervisor_that_is_told_to_end_takes_the_program_with_it() {
    for signal in ["TERM", "INT", "HUP"] {
        let scene = Scene::new();
        let running = scene.start("trap '' TERM; setsid sleep 1000 & echo $! > pid; wait");
        let pid = scene.line_of("pid");
        Command::new("kill").args(["-s", signal, &running.child.id().to_string()]).status().unwrap();
        running.done();
        assert!(!scene.is_alive(&pid), "{signal}");
    }
}

#[test]
fn a_pty_holds_nothing() {
    let scene = Scene::new().with(|rules| rules.write.extend(["/dev/ptmx".into(), "/dev/pts".into()]));
    let holds = "python3 -c '
import os, pty, time
pid, master = pty.fork()
if pid == 0:
    os.execvp(\"sh\", [\"sh\", \"-c\", \"trap \\\"\\\" HUP TERM; echo $$ > pid; tty > tty; exec sleep 1000\"])
time.sleep(1000)'";
    let running = scene.start(holds);
    let (pid, tty) = (scene.line_of("pid"), scene.line_of("tty"));
    assert!(tty.starts_with("/dev/pts/"), "{tty}");
    drop(running.control);
    until(|| (!scene.is_alive(&pid)).then_some(()));
}

#[test]
fn a_supervisor_is_known_by_its_mark() {
    let scene = Scene::new();
    let running = scene.start("sleep 1000");
    let pid = i32::try_from(running.child.id()).unwrap();
    until(|| is_supervisor_of(pid, &scene.path("mark")).then_some(()));
    assert!(!is_supervisor_of(pid, &scene.path("other")));
    drop(running.control);
}

#[test]
fn a_launcher_without_an_order_ends_with_its_socket_and_when_it_is_told_to() {
    for signal in [None, Some("TERM")] {
        let (mut child, control) = Scene::new().launcher();
        if let Some(signal) = signal {
            // Before it listens it would end by the signal alone.
            until(|| has_child(child.id()).then_some(()));
            Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        } else {
            drop(control);
        }
        let ended = until(|| child.try_wait().unwrap());
        assert_eq!(ended.code(), Some(0), "{signal:?}");
    }
}

/// Whether the second stage is there.
fn has_child(pid: u32) -> bool {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    children.is_ok_and(|children| !children.trim().is_empty())
}
