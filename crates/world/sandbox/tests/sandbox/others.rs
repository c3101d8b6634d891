//! Processes of the same user outside, and objects that all programs of a user share, are out of reach. Each attack
//! works outside the sandbox (`attacks_work_outside`), so no other test passes because an attack is wrong.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        net::UnixDatagram,
    },
    path::Path,
    process::Child,
};

use interlock_sandbox::{Account, Config, Namespaces};

use crate::scene::{NOBODY, Scene};

/// Attacks on a process by its id.
const ON_PROCESSES: [&str; 12] = [
    "prlimit",
    "priority",
    "io-priority",
    "affinity",
    "scheduler",
    "scheduler-attributes",
    "scheduler-parameters",
    "kcmp",
    "migrate",
    "robust",
    "take-file",
    "queue-signal",
];

/// Attacks on all processes of a user. They are not run as root, because the processes of root belong to the system.
const ON_USERS: [&str; 3] = ["priority-of-user", "priority-of-me", "io-priority-of-user"];

/// Attacks on objects that have a key.
const ON_OBJECTS: [&str; 5] = ["segment", "segment-by-number", "queue", "semaphore", "posix-queue"];

/// A process outside the sandbox whose state is observed.
struct Bystander(Child);

impl Bystander {
    fn new(scene: &Scene) -> Self {
        // It ignores the signal that would end it.
        Bystander(scene.outside("sh").args(["-c", "trap '' USR1; while :; do sleep 1; done"]).spawn().unwrap())
    }

    /// Returns its scheduling parameters and limits.
    fn state(&self) -> Vec<String> {
        let read = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", self.0.id())).unwrap();
        let stat = read("stat");
        let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().map(str::to_owned).collect();
        let affinity = read("status").lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap().to_owned();
        // The fields are priority, nice value, real-time priority and policy.
        [15, 16, 37, 38].into_iter().map(|at| fields[at].clone()).chain([affinity, read("limits")]).collect()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[track_caller]
fn fails(scene: &Scene, words: &[&str]) {
    let program = scene.work("attack").display().to_string();
    let done = scene.start_order(&scene.order(&[&[program.as_str()], words].concat())).done();
    assert_ne!(done.ended().code, Some(0), "{words:?}: {done:#?}");
    assert!(done.enforced().seccomp);
}

#[test]
fn attacks_work_outside() {
    let scene = Scene::for_everybody().pop().unwrap().with_attacks();
    for attack in ON_PROCESSES {
        let them = Bystander::new(&scene);
        let id = them.0.id().to_string();
        assert!(scene.outside(scene.work("attack")).args([attack, &id]).status().unwrap().success(), "{attack}");
    }
    let key = key(1);
    for attack in [&["make"][..], &ON_OBJECTS, &["remove"]].concat() {
        assert!(scene.outside(scene.work("attack")).args([attack, &key]).status().unwrap().success(), "{attack}");
    }
}

#[test]
fn processes_of_the_same_user_keep_their_limits_and_scheduling() {
    for scene in Scene::for_everybody() {
        let scene = scene.with_attacks();
        let them = Bystander::new(&scene);
        let before = them.state();
        for attack in ON_PROCESSES {
            fails(&scene, &[attack, &them.0.id().to_string()]);
            assert_eq!(them.state(), before, "{attack}");
        }
        for attack in ON_USERS.iter().filter(|_| scene.is_nobody()) {
            // In namespaces the user's processes are those of the program, so the attack may succeed.
            scene.run(&format!("./attack {attack}"));
            assert_eq!(them.state(), before, "{attack}");
        }
    }
}

/// Libraries such as ZeroMQ ask for the usual scheduler for each of their threads, and end the program if that fails.
#[test]
fn asking_for_the_usual_scheduler_succeeds_and_changes_no_process() {
    for scene in Scene::for_everybody() {
        let scene = scene.with_attacks();
        let them = Bystander::new(&scene);
        let id = them.0.id().to_string();
        assert!(scene.outside(scene.work("attack")).args(["scheduler", &id]).status().unwrap().success());
        let before = them.state();
        let set = |id: &str| {
            format!("python3 -c 'import os; os.sched_setscheduler({id}, os.SCHED_OTHER, os.sched_param(0))'")
        };
        scene.run(&set("os.getpid()")).is_well();
        // In namespaces there is no such process, and without them the call has no effect.
        scene.run(&set(&id));
        assert_eq!(them.state(), before, "it keeps the scheduler that somebody chose for it");
    }
}

/// The supervisor is the parent of the program, or of the process that starts it.
#[test]
fn the_supervisor_cannot_be_attacked() {
    for scene in Scene::for_everybody() {
        let scene = scene.with_attacks();
        let attack = "p=$PPID; for i in 1 2 3 4; do [ $p -gt 1 ] || break; for a in prlimit priority scheduler; do ./attack $a $p && echo OUT; done; \
                      p=$(awk '/^PPid/{print $2}' /proc/$p/status 2>/dev/null || echo 0); done; sh -c 'echo evil > late; sleep 1000' & sleep 0.1";
        let done = scene.run(attack);
        assert!(!done.stdout.contains("OUT"), "{done:#?}");
        assert_eq!(done.ended().left, 0);
    }
}

/// Returns a key that no other test uses.
fn key(of: u32) -> String {
    (0x494c_0000 + of * 1_000_000 + std::process::id()).to_string()
}

#[test]
fn shared_memory_queues_and_semaphores_of_others_are_out_of_reach() {
    for (at, scene) in (2..).zip(Scene::for_everybody()) {
        let (scene, key) = (scene.with_attacks(), key(at));
        let outside = |name: &str| scene.outside(scene.work("attack")).args([name, &key]).status().unwrap().success();
        assert!(outside("make"));
        for attack in ON_OBJECTS {
            fails(&scene, &[attack, &key]);
        }
        assert!(outside("segment"), "the segment has changed");
        assert!(outside("remove"));
    }
}

#[test]
fn no_shared_memory_segment_is_left_behind() {
    let segments =
        || fs::read_to_string("/proc/sysvipc/shm").unwrap().lines().filter(|line| line.contains("314572800")).count();
    for scene in Scene::for_everybody() {
        let (scene, before) = (scene.with_attacks(), segments());
        scene.run("./attack leave-segment");
        assert_eq!(segments(), before);
    }
}

#[test]
fn no_message_reaches_a_socket_file() {
    for scene in Scene::for_everybody() {
        let scene = scene.with_attacks();
        let socket = UnixDatagram::bind(scene.work("listens")).unwrap();
        fs::set_permissions(scene.work("listens"), fs::Permissions::from_mode(0o777)).unwrap();
        socket.set_nonblocking(true).unwrap();
        let tries = ["unix-raw", "unix-datagram", "unix-sequence", "unix-stream"];
        for attack in tries.into_iter().chain(["unix-pair-raw", "unix-pair-datagram", "unix-pair-stream"]) {
            fails(&scene, &[attack, "listens"]);
            assert!(socket.recv(&mut [0; 9]).is_err(), "{attack}");
        }
        let outside =
            scene.outside(scene.work("attack")).args(["unix-raw", "listens"]).current_dir(scene.work("")).status();
        assert!(outside.unwrap().success() && socket.recv(&mut [0; 9]).is_ok(), "the attack fails outside");
    }
}

#[test]
fn calls_on_the_program_itself_work() {
    for scene in Scene::for_everybody() {
        scene.with_attacks().run("./attack own").is_well();
    }
}

/// Allocates six hundred mebibytes in a file in memory, and in shared memory without another user.
#[test]
fn memory_without_an_owning_process_is_limited() {
    for scene in Scene::for_everybody() {
        let scene = scene.with_attacks().limits(|limits| limits.memory_mib = 200);
        for attack in ["memfd", "shared-memory"] {
            let done = scene.run(&format!("./attack {attack} 600 || exit 3; echo OUT"));
            assert!(!done.stdout.contains("OUT"), "{attack}: {done:#?}");
            let is_refused =
                attack == "memfd" && done.ended().code == Some(3) && done.enforced().memory_by == ["supervisor"];
            assert!(is_refused || done.broken() == ["limit.memory"], "{attack}: {done:#?}");
        }
    }
}

/// No capability of root is left, and the program cannot change to another user.
#[test]
fn root_has_no_capabilities_inside() {
    let done = Scene::new().run("grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status");
    for line in done.stdout.lines() {
        assert!(line.ends_with("0000000000000000"), "{done:#?}");
    }
    assert_eq!(done.stdout.lines().count(), 5);
    let become_other =
        Scene::new().run("setpriv --reuid=65534 --clear-groups true && echo OUT; chown 65534 . && echo OUT");
    assert_eq!(become_other.stdout, "", "{become_other:#?}");
}

/// If the kernel allows namespaces, a program sees only its own processes.
#[test]
fn no_other_process_is_visible_in_namespaces() {
    for scene in Scene::for_everybody().into_iter().filter(|scene| scene.rules.namespaces == Namespaces::Auto) {
        let done = scene
            .run("ls /proc | grep -c '^[0-9]'; cat /proc/1/environ; echo $$; ipcs -m 2>/dev/null | grep -c 0x; true");
        if done.enforced().namespaces.is_empty() {
            assert!(done.enforced().missing.iter().any(|said| said.starts_with("no namespaces: ")), "{done:#?}");
            continue;
        }
        assert_eq!(done.enforced().namespaces, ["pid", "ipc", "mount"]);
        let count: u32 = done.stdout.lines().next().unwrap().parse().unwrap();
        assert!(count < 8, "{done:#?}");
        assert!(done.stderr.contains("/proc/1/environ"), "{done:#?}");
    }
}

/// Uses objects that are available only because they are private to the program.
#[test]
fn shared_objects_work_in_namespaces_and_are_gone_afterwards() {
    for scene in Scene::for_everybody().into_iter().filter(|scene| scene.rules.namespaces == Namespaces::Auto) {
        let scene = scene.with_attacks();
        if scene.run("true").enforced().namespaces.is_empty() {
            continue;
        }
        let done = scene.run("./attack make 4711 && ./attack queue 4711 && echo x > /dev/shm/interlock-test && cat /dev/shm/interlock-test");
        assert_eq!(done.stdout, "x\n", "{done:#?}");
        assert!(!Path::new("/dev/shm/interlock-test").exists());
    }
}

/// Two programs of one user must not read what the other one keeps for itself.
#[test]
fn temporary_directories_and_agent_homes_of_others_cannot_be_read() {
    for scene in Scene::for_everybody() {
        let user = if scene.is_nobody() { NOBODY } else { fs::metadata(scene.path("")).unwrap().uid() };
        let (other, home) = (scene.path(&format!("tmp/interlock-temp-{user}")), scene.path("cache/interlock/agents/x"));
        for folder in [&other, &home] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("secret"), "SECRET").unwrap();
        }
        let account = Account { cache: Some(scene.path("cache")), ..Account::current() };
        let hide = Config::default().rules(scene.work(""), &account).hide;
        let scene = scene.with(|rules| rules.hide.extend(hide.into_iter().filter(|place| home.starts_with(place))));
        if scene.is_nobody() {
            for place in [&other, &other.join("secret")] {
                chown(place, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        fs::set_permissions(&other, fs::Permissions::from_mode(0o700)).unwrap();
        let done = scene.run(&format!(
            "cat {0}/secret {1}/secret; echo x > {0}/new && echo OUT; echo own > $TMPDIR/own && cat $TMPDIR/own; ls -d $TMPDIR",
            other.display(),
            home.display()
        ));
        assert!(!done.stdout.contains("SECRET") && !done.stdout.contains("OUT"), "{done:#?}");
        assert!(done.stdout.starts_with("own\n") && done.stdout.contains(other.to_str().unwrap()), "{done:#?}");
    }
}
