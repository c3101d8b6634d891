//! Programs that exceed a limit are stopped, and the reason is reported.

use std::{
    io::Read,
    time::{Duration, Instant},
};

use interlock_sandbox::{Kind, Rules};

use crate::scene::{Scene, has};

#[track_caller]
fn stopped_for(scene: &Scene, script: &str, rule: &str) {
    let begun = Instant::now();
    let done = scene.run(script);
    let ended = done.ended();
    assert_eq!(ended.limit.as_deref(), Some(rule), "{done:#?}");
    assert_eq!((done.broken(), ended.left), (vec![rule], 0), "{done:#?}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// These bombs are bounded: if nothing stops them, there are 255 shells or 256 interpreters, and all end after seconds.
const SHELLS: &str =
    "bomb() { [ $1 = 0 ] && exec sleep 3; bomb $(($1 - 1)) & bomb $(($1 - 1)) & wait; }; bomb 7; sleep 3";

/// Each process is in its own session, so that they cannot be signalled together.
const APART: &str = "python3 -c '
import os, time
for _ in range(8):
    if os.fork() == 0: os.setsid()
time.sleep(3)'";

/// There are never more than a few processes, but each is replaced before it is found, for five seconds at most.
const CHAIN: &str = "python3 -c '
import os, time
end = time.monotonic() + 5
open(\"begun\", \"w\").write(\"begun\\n\")
while time.monotonic() < end:
    if os.fork(): os._exit(0)
    os.setsid()
open(\"outlived\", \"w\")
' & while ! [ -s begun ]; do sleep 0.01; done";

#[test]
fn a_fork_bomb_is_stopped() {
    let scene = Scene::new().limits(|limits| limits.processes = 50);
    stopped_for(&scene, SHELLS, "limit.processes");
    stopped_for(&scene, APART, "limit.processes");
}

#[test]
fn too_many_threads_are_stopped() {
    let scene = Scene::new().limits(|limits| limits.processes = 10);
    let threads = "python3 -c '
import threading, time
for _ in range(150):
    try: threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
    except RuntimeError: pass
time.sleep(3)'";
    let done = scene.run(threads);
    let is_in_group = done.enforced().processes_by.contains(&"cgroup".to_owned());
    // In a control group the kernel refuses new threads; otherwise the program is stopped.
    assert!(is_in_group || done.broken() == ["limit.processes"], "{done:#?}");
}

#[test]
fn a_process_that_constantly_forks_is_ended() {
    let scene = Scene::new();
    let done = scene.run(CHAIN);
    assert_eq!(done.ended().left, 0, "{done:#?}");
    assert!(!scene.work("outlived").exists());
}

/// Ordinary users rarely have a control group; then the supervisor works without one.
#[test]
fn a_fork_bomb_of_an_ordinary_user_is_stopped() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let scene = Scene::new().limits(|limits| limits.processes = 50).for_nobody();
    for bomb in [SHELLS, APART] {
        stopped_for(&scene, bomb, "limit.processes");
    }
    let done = scene.run(CHAIN);
    assert_eq!((done.ended().left, scene.work("outlived").exists()), (0, false), "{done:#?}");
    assert_eq!(done.enforced().processes_by, ["supervisor", "rlimit"]);
}

#[test]
fn memory_is_limited_for_all_processes_together() {
    let scene = Scene::new().limits(|limits| limits.memory_mib = 120);
    let one = "python3 -c 'import time; x = bytearray(80 * 1024 * 1024); time.sleep(30)'";
    stopped_for(&scene, &format!("{one} & {one} & wait"), "limit.memory");
}

#[test]
fn file_size_is_limited() {
    let scene = Scene::new().limits(|limits| limits.file_mib = 2);
    let done = scene.run("head -c 5000000 /dev/zero > big; ls -l big | cut -d' ' -f5");
    assert_eq!(done.stdout.trim(), "2097152", "{done:#?}");
}

#[test]
fn many_files_are_stopped_by_the_disk_limit() {
    let scene = Scene::new().limits(|limits| limits.disk_mib = 40);
    let fill = "i=0; while [ $i -lt 100000 ]; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); done";
    stopped_for(&scene, fill, "limit.disk");
}

/// The required free space exceeds the disk, so that the first large file violates the limit.
#[test]
fn a_program_that_fills_the_disk_is_stopped() {
    let scene = Scene::new().limits(|limits| limits.free_mib = u64::MAX / (2 << 20));
    let fill = "i=0; while [ $i -lt 3000 ]; do head -c 1000000 /dev/zero > f$((i % 100)); i=$((i+1)); done; sleep 30";
    stopped_for(&scene, fill, "limit.free");
}

#[test]
fn open_files_are_limited() {
    let scene = Scene::new().limits(|limits| limits.open_files = 64);
    assert_eq!(scene.run("ulimit -n; ulimit -Hn").stdout, "64\n64\n");
    assert_eq!(Scene::new().run("ulimit -c").stdout, "0\n");
}

#[test]
fn limits_apply_without_a_sandbox() {
    let scene = Scene::new().limits(|limits| limits.processes = 20).with(|rules| rules.sandbox = Kind::None);
    stopped_for(&scene, "for i in $(seq 60); do sleep 50 & done; wait", "limit.processes");
}

/// The program writes ten gigabytes. If the reader stops, the program must still end.
#[test]
fn endless_output_ends_with_the_socket() {
    let scene = Scene::new();
    let mut running = scene.start("head -c 10000000000 /dev/zero; echo more; yes");
    let mut stdout = running.child.stdout.take().unwrap();
    let mut read = vec![0; 1 << 20];
    for _ in 0..64 {
        stdout.read_exact(&mut read).unwrap();
    }
    drop(running.control);
    running.child.wait().unwrap();
    std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
}

#[test]
fn a_required_sandbox_is_refused_only_if_it_is_missing() {
    let refuses = |change: fn(&mut Rules)| {
        let done = Scene::new().with(|rules| rules.required = true).with(change).run("true");
        done.not_started.is_some_and(|(_, is_refusal)| is_refusal)
    };
    assert!(!refuses(|_| {}), "this kernel supports the sandbox");
    if has("bwrap") {
        assert!(!refuses(|rules| rules.sandbox = Kind::Bubblewrap));
    }
}
