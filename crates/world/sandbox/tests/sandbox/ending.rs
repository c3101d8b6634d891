//! All processes end with their attempt and with Interlock, however it ends.

use std::{
    io::Write,
    process::Command,
    time::{Duration, Instant},
};

use interlock_sandbox::{STOP, is_supervisor_of};

use crate::scene::{Scene, until};

/// Ways to leave a process behind. Each writes the file `pid` when the process runs.
const RUNAWAYS: [&str; 6] = [
    "sleep 1000 & echo $! > pid",
    "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while ! [ -s pid ]; do sleep 0.01; done",
    // A double fork in a new session, without an environment, ignoring all signals that can be ignored.
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
    // A subreaper of its own, so that the supervisor does not adopt its orphans at first.
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
fn processes_left_behind_end_with_the_program() {
    for runaway in RUNAWAYS {
        let scene = Scene::new();
        scene.run(runaway).is_well();
        assert!(!scene.is_alive(&scene.line_of("pid")), "{runaway}");
    }
}

#[test]
fn all_processes_end_if_interlock_is_gone() {
    for runaway in RUNAWAYS {
        let scene = Scene::new();
        let running = scene.start(&format!("{runaway}\necho $$ > main; sleep 1000"));
        let (main, pid) = (scene.line_of("main"), scene.line_of("pid"));
        let mut child = running.child;
        drop(running.control);
        child.wait().unwrap();
        // The supervisor ends last.
        assert!(!scene.is_alive(&main) && !scene.is_alive(&pid), "{runaway}");
        assert_eq!(scene.left_behind(), 0, "no temporary file is left");
    }
}

#[test]
fn a_program_can_end_gracefully_on_stop() {
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
fn a_program_that_ignores_stop_is_killed() {
    let scene = Scene::new();
    let mut running = scene.start("trap '' TERM HUP INT; echo $$ > pid; while :; do sleep 0.01; done");
    let pid = scene.line_of("pid");
    running.control.write_all(STOP).unwrap();
    let done = running.done();
    assert_eq!(done.ended().signal, Some(9));
    assert!(!scene.is_alive(&pid));
}

/// Ctrl-C and shutdown also signal the supervisor, which then ends the program.
#[test]
fn a_signalled_supervisor_ends_the_program() {
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
fn a_pty_keeps_no_process_alive() {
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
fn a_supervisor_is_recognized_by_its_mark() {
    let scene = Scene::new();
    let running = scene.start("sleep 1000");
    let pid = i32::try_from(running.child.id()).unwrap();
    until(|| is_supervisor_of(pid, &scene.path("mark")).then_some(()));
    assert!(!is_supervisor_of(pid, &scene.path("other")));
    drop(running.control);
}

#[test]
fn a_launcher_without_an_order_ends_with_its_socket_or_on_a_signal() {
    for signal in [None, Some("TERM")] {
        let (mut child, control) = Scene::new().launcher();
        if let Some(signal) = signal {
            // Before its handler is installed, the signal itself would end the process.
            until(|| has_child(child.id()).then_some(()));
            Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        } else {
            drop(control);
        }
        let ended = until(|| child.try_wait().unwrap());
        assert_eq!(ended.code(), Some(0), "{signal:?}");
    }
}

/// Returns true if the second stage runs.
fn has_child(pid: u32) -> bool {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    children.is_ok_and(|children| !children.trim().is_empty())
}
