//! Well-behaved programs do not notice that they are confined.

use std::fs;

use interlock_sandbox::{Account, Config, Kind, Network};

use crate::scene::{Scene, has};

#[test]
fn input_environment_and_directory_reach_the_program() {
    let scene = Scene::new();
    fs::write(scene.path("input"), "to read\n").unwrap();
    let mut order = scene.order(&["/bin/sh", "-c", "cat; echo $A; pwd; echo oops >&2; exit 3"]);
    order.env.push(("A".into(), "b c".into()));
    order.stdin = Some(scene.path("input"));
    let done = scene.start_order(&order).done();
    assert_eq!(done.stdout, format!("to read\nb c\n{}\n", scene.rules.workspace.display()));
    assert_eq!(done.stderr, "oops\n");
    assert_eq!((done.ended().code, done.ended().signal), (Some(3), None));
    assert!(!scene.path("input").exists());
}

#[test]
fn a_signal_that_ends_it_is_reported() {
    let done = Scene::new().run("kill -9 $$");
    assert_eq!((done.ended().code, done.ended().signal), (None, Some(9)));
}

/// The first process of the namespaces ends right after the program. If both ends are received at once, they must not
/// be confused.
#[test]
fn an_exit_code_is_never_lost() {
    let scene = Scene::new();
    for _ in 0..60 {
        assert_eq!(scene.run("exit 3").ended().code, Some(3));
    }
}

#[test]
fn a_failed_start_is_reported_with_its_reason() {
    let scene = Scene::new();
    let done = scene.start_order(&scene.order(&["/no/such/program"])).done();
    let (why, is_refusal) = done.not_started.unwrap();
    assert!(why.contains("No such file"), "{why}");
    assert!(!is_refusal);
}

#[test]
fn enforced_restrictions_are_reported_and_reproducible() {
    let scene = Scene::new();
    let first = scene.run("true");
    let enforced = first.enforced();
    assert_eq!(enforced.sandbox, Kind::Landlock);
    assert!(enforced.landlock_abi.is_some_and(|abi| abi >= 1), "{enforced:?}");
    assert!(enforced.seccomp && enforced.no_new_privs && enforced.capabilities_dropped, "{enforced:?}");
    assert_eq!(enforced.network, Network::Off);
    assert!(enforced.network_by.contains(&"seccomp".to_owned()));
    assert_eq!(enforced.write, [scene.rules.workspace.to_str().unwrap()]);
    assert!(enforced.hidden.iter().any(|place| place.ends_with("home/.ssh")), "{enforced:?}");
    assert_eq!(scene.run("true").enforced(), enforced);
}

#[test]
fn the_temporary_directory_is_private_and_removed() {
    let scene = Scene::new();
    let done = scene
        .run("echo x > $TMPDIR/x && mkdir -p $TMPDIR/a/b && chmod 0 $TMPDIR/a && stat -c %a $TMPDIR && echo $TMPDIR");
    done.is_well();
    assert!(done.stdout.starts_with("700\n"), "{}", done.stdout);
    assert_eq!(scene.left_behind(), 0);
}

#[test]
fn tools_that_fail_without_a_cache_have_a_private_one() {
    let write = "mkdir -p \"$GOCACHE\" && ls \"$GOCACHE\" && echo x > \"$GOCACHE/x\" && case $GOCACHE in $TMPDIR/*) echo private;; esac";
    let scene = Scene::new();
    for _ in 0..2 {
        let done = scene.run(write);
        done.is_well();
        assert_eq!(done.stdout, "private\n");
    }
}

#[test]
fn files_of_every_kind_can_be_created_in_the_workspace() {
    let script = "mkdir -p a/b && echo x > a/b/c && mv a/b d && ln -s c d/l && ln d/c d/h && mkfifo d/f && rm -r a d/h && \
                  echo more >> d/c && : > d/c && chmod 755 d/c && echo new > top && echo ok > /dev/null && ls -a . d";
    let done = Scene::new().run(script);
    done.is_well();
}

#[test]
fn files_elsewhere_can_be_read_and_programs_executed() {
    let scene = Scene::new();
    let done = scene.run("cat ../outside/file && head -c 4 /etc/passwd >/dev/null && ls / $HOME >/dev/null && env true && cat /proc/self/stat >/dev/null");
    done.is_well();
    assert_eq!(done.stdout, "as it was\n");
}

/// Runs real tools with typical work. Tools that are not installed are skipped.
#[test]
fn development_tools_work() {
    let cases = [
        ("gcc", "printf 'int main(void){return 0;}' > a.c && gcc -O1 -g -o a a.c && ./a"),
        ("make", "printf 'all: b\\nb: a\\n\\tcp a b\\na:\\n\\techo x > a\\n' > Makefile && make -j4 && cat b"),
        (
            "python3",
            "python3 -c 'import subprocess,tempfile,sqlite3,socket; s=socket.socketpair(); s[0].send(b\"x\"); tempfile.TemporaryFile().write(b\"x\"); subprocess.run([\"true\"],check=True); sqlite3.connect(\"x.db\").execute(\"create table t(x)\")'",
        ),
        (
            "node",
            "node -e 'const c=require(\"child_process\"); require(\"fs\").writeFileSync(\"x\",\"y\"); const k=c.fork(\"/dev/stdin\",[],{execArgv:[\"-e\",\"process.send(1)\"]}); k.on(\"message\",()=>process.exit(0)); setTimeout(()=>process.exit(3),10000)'",
        ),
        (
            "git",
            "git init -q . && git config user.email a@b && git config user.name a && echo x > f && git add f && git commit -qm one && git status --short && git diff HEAD && git log --oneline",
        ),
        (
            "cargo",
            "mkdir -p src && printf '[package]\\nname=\"x\"\\nversion=\"0.1.0\"\\nedition=\"2021\"\\n[workspace]\\n' > Cargo.toml && echo 'fn main(){}' > src/main.rs && cargo check --offline -q",
        ),
        ("perl", "perl -e 'open my $p, \"-|\", \"echo hi\"; print <$p>'"),
    ];
    for (program, script) in cases.into_iter().filter(|(program, _)| has(program)) {
        // Tools store their data in the real home directory.
        let mut scene = Scene::new().with(|rules| {
            *rules = Config::default().rules(rules.workspace.clone(), &Account::current());
        });
        scene.env.retain(|(name, _)| name != "HOME");
        scene.env.push(("HOME".into(), std::env::var("HOME").unwrap_or_else(|_| "/".into())));
        let done = scene.run(script);
        assert_eq!(done.ended().code, Some(0), "{program}: {done:#?}");
    }
}

/// Leak checkers trace their own threads, and debuggers their own children.
#[test]
fn leak_checkers_and_debuggers_work_inside() {
    let leak = "printf '#include <stdlib.h>\\nint main(void){char*p=malloc(9);p[0]=1;p=0;return 0;}' > a.c && gcc -fsanitize=address -o a a.c && ./a; test $? = 1 || exit 5; ./a 2>&1 | grep -q 'LeakSanitizer: detected memory leaks'";
    let done = Scene::new().run(leak);
    assert_eq!(done.ended().code, Some(0), "{done:#?}");
}

#[test]
fn additional_places_can_be_made_writable() {
    let scene = Scene::new();
    let outside = scene.path("outside");
    let scene = scene.with(|rules| rules.write.push(outside));
    let done = scene.run("echo changed > ../outside/file && echo new > ../outside/new");
    done.is_well();
    assert_eq!(fs::read_to_string(scene.path("outside/file")).unwrap(), "changed\n");
    assert_eq!(done.enforced().write.len(), 2);
}

#[test]
fn sandbox_none_confines_nothing() {
    let scene = Scene::new().with(|rules| rules.sandbox = Kind::None);
    let done = scene.run("echo changed > ../outside/file; cat $HOME/.netrc > /dev/null");
    done.is_well();
    assert_eq!(fs::read_to_string(scene.path("outside/file")).unwrap(), "changed\n");
    let enforced = done.enforced();
    assert_eq!((enforced.sandbox, enforced.landlock_abi, enforced.seccomp), (Kind::None, None, false));
}
