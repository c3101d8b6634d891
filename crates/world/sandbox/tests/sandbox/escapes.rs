//! Programs that try to escape, and fail.

use std::{fs, io::Read, net::TcpListener, os::unix::net::UnixListener};

use interlock_sandbox::{Kind, Network, ability};

use crate::scene::{SECRET, Scene, has, launcher};

/// Runs scripts that must all fail and leave no trace outside.
#[track_caller]
fn all_fail(scene: &Scene, tries: &[&str]) {
    for attempt in tries {
        let done = scene.run(&format!("{attempt}\nif [ $? = 0 ]; then echo OUT; fi"));
        assert!(!done.stdout.contains("OUT") && !done.stdout.contains(SECRET), "{attempt}: {done:#?}");
        assert_eq!(done.ended().left, 0);
        assert!(done.enforced().landlock_abi.is_some());
    }
    assert_eq!(fs::read_to_string(scene.path("outside/file")).unwrap(), "as it was\n");
    let names: Vec<_> = fs::read_dir(scene.path("outside")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["file"]);
}

const WRITES: [&str; 16] = [
    "echo x > ../outside/file",
    "echo x >> ../outside/file",
    ": > ../outside/new",
    "rm ../outside/file",
    "mv ../outside/file here",
    "mv ../outside ../elsewhere",
    "ln ../outside/file hard && echo x > hard",
    "ln -s ../outside/file soft && echo x > soft",
    "ln -s ../outside folder && echo x > folder/file",
    "mkdir ../outside/new",
    "mkfifo ../outside/new",
    "truncate -s 0 ../outside/file",
    "cp /bin/true ../outside/new",
    "echo x > /proc/self/root$(realpath ../outside/file)",
    "touch /tmp/interlock-escape-$$ 2>/dev/null && rm /tmp/interlock-escape-$$",
    "touch $HOME/.bashrc",
];

#[test]
fn nothing_outside_can_be_written() {
    all_fail(&Scene::new(), &WRITES);
}

const READS: [&str; 8] = [
    "cat $HOME/.ssh/id_ed25519",
    "cat $HOME/.config/gh/hosts.yml",
    "cat $HOME/.netrc",
    "ln -s $HOME/.ssh s && cat s/id_ed25519",
    "ln $HOME/.netrc hard && cat hard",
    "cat /proc/self/root$HOME/.netrc",
    "cp -r $HOME/.ssh here",
    "cd $HOME/.ssh && cat id_ed25519",
];

#[test]
fn credentials_cannot_be_read() {
    all_fail(&Scene::new(), &READS);
}

#[test]
fn credentials_cannot_be_read_if_the_home_is_the_workspace() {
    let scene = Scene::new();
    let home = scene.path("home");
    let scene = scene.with(|rules| rules.workspace = home);
    all_fail(&scene, &READS[..3]);
    let done = scene.run("echo x > notes && cat notes");
    assert_eq!(done.stdout, "x\n");
    assert!(done.enforced().missing.iter().any(|said| said.contains("hidden paths")), "{done:#?}");
}

#[test]
fn a_race_with_symbolic_links_gains_nothing() {
    let race = "mkdir real; echo mine > real/file; mkdir real/sub; \
        ( i=0; while [ $i -lt 400 ]; do ln -sfn ../outside link; ln -sfn real link; i=$((i+1)); done ) & \
        i=0; while [ $i -lt 400 ]; do echo race 2>/dev/null >> link/file; cat link/secret 2>/dev/null; i=$((i+1)); done; wait";
    let scene = Scene::new();
    let secret = scene.path("outside/secret");
    fs::write(&secret, SECRET).unwrap();
    let scene = scene.with(|rules| rules.hide.push(secret.clone()));
    let done = scene.run(race);
    assert!(!done.stdout.contains(SECRET), "{done:#?}");
    assert_eq!(fs::read_to_string(scene.path("outside/file")).unwrap(), "as it was\n");
}

const CONNECT: &str = r#"python3 -c '
import socket, sys
family, kind, address = eval(sys.argv[1])
s = socket.socket(family, kind)
s.settimeout(3)
s.connect(address)
s.send(b"out")
' "#;

#[test]
fn the_network_is_closed_unless_it_is_allowed() {
    let scene = Scene::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let socket = scene.work("listens");
    let unix = UnixListener::bind(&socket).unwrap();
    unix.set_nonblocking(true).unwrap();
    let tcp = format!("{CONNECT} '(socket.AF_INET, socket.SOCK_STREAM, (\"127.0.0.1\", {port}))'");
    let udp = format!("{CONNECT} '(socket.AF_INET, socket.SOCK_DGRAM, (\"127.0.0.1\", {port}))'");
    let six = format!("{CONNECT} '(socket.AF_INET6, socket.SOCK_STREAM, (\"::1\", {port}))'");
    let file = format!("{CONNECT} '(socket.AF_UNIX, socket.SOCK_STREAM, \"listens\")'");
    let raw = format!("{CONNECT} '(socket.AF_INET, socket.SOCK_RAW, (\"127.0.0.1\", 0))'");
    let netlink = "python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)'";
    let vsock = "python3 -c 'import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)'";
    let bash = format!("bash -c 'echo out > /dev/tcp/127.0.0.1/{port}'");
    all_fail(&scene, &[&tcp, &udp, &six, &file, &raw, netlink, vsock, &bash]);
    assert!(listener.accept().is_err() && unix.accept().is_err(), "a connection arrived");

    let scene = scene.with(|rules| rules.network = Network::Unix);
    all_fail(&scene, &[&tcp, &udp, &six]);
    scene.run(&file).is_well();
    let mut said = String::new();
    unix.accept().unwrap().0.read_to_string(&mut said).unwrap();
    assert_eq!(said, "out");

    let scene = scene.with(|rules| rules.network = Network::On);
    scene.run(&tcp).is_well();
    said.clear();
    listener.accept().unwrap().0.read_to_string(&mut said).unwrap();
    assert_eq!(said, "out");
}

#[test]
fn a_private_loopback_reaches_no_other_network() {
    if !ability(&launcher()).loopback {
        let done = Scene::new().with(|rules| rules.network = Network::Loopback).run("true");
        assert!(done.not_started.unwrap().1);
        return;
    }
    let scene = Scene::new().with(|rules| rules.network = Network::Loopback);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let out = format!("{CONNECT} '(socket.AF_INET, socket.SOCK_STREAM, (\"127.0.0.1\", {port}))'");
    let far = format!("{CONNECT} '(socket.AF_INET, socket.SOCK_STREAM, (\"192.0.2.1\", 80))'");
    let file = format!("{CONNECT} '(socket.AF_UNIX, socket.SOCK_STREAM, \"listens\")'");
    all_fail(&scene, &[&out, &far, &file]);
    assert!(listener.accept().is_err());
    let own = "python3 -c '
import socket
l = socket.create_server((\"127.0.0.1\", 0))
c = socket.create_connection(l.getsockname())
c.send(b\"own\")
print(l.accept()[0].recv(9))'";
    let done = scene.run(own);
    done.is_well();
    assert_eq!(done.stdout, "b'own'\n");
    assert!(done.enforced().network_by.contains(&"namespace".to_owned()));
}

/// The supervisor, this process and all other processes are out of reach.
#[test]
fn processes_outside_can_be_neither_traced_nor_signalled() {
    for scene in [Scene::new(), Scene::new().plain()] {
        cannot_reach_processes(&scene);
    }
}

fn cannot_reach_processes(scene: &Scene) {
    let me = std::process::id();
    let mut bystander = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let them = bystander.id();
    let trace = |pid: &str| {
        format!(
            "python3 -c '
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
import sys
sys.exit(0 if libc.ptrace(16, {pid}, 0, 0) == 0 else 1)'"
        )
    };
    let tries = [
        "kill -9 $PPID".to_owned(),
        "kill -0 $PPID".to_owned(),
        format!("kill -9 {me}"),
        format!("kill -9 {them}"),
        trace("__import__(\"os\").getppid()").replace("getppid()", "getpgid(0) - 1"),
        trace(&me.to_string()),
        trace(&them.to_string()),
        format!("head -c 1 /proc/{me}/mem"),
        format!("cat /proc/{me}/environ"),
        format!("cat /proc/{them}/environ"),
        "cat /proc/$PPID/environ".to_owned(),
    ];
    let probe = scene.run("true");
    // In namespaces the parent is the first process of the namespaces, which ignores signals. Without namespaces older
    // kernels do not restrict signals.
    let is_tried = |attempt: &&str| match attempt.starts_with("kill") {
        true if attempt.contains("PPID") => probe.enforced().namespaces.is_empty() && probe.enforced().processes_apart,
        true => probe.enforced().processes_apart,
        false => true,
    };
    let tries: Vec<_> = tries.iter().map(String::as_str).filter(is_tried).collect();
    all_fail(scene, &tries);
    assert!(bystander.try_wait().unwrap().is_none(), "the process was killed");
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[test]
fn the_system_cannot_be_changed() {
    let mut tries = vec![
        "mount -t tmpfs none /mnt",
        "unshare -Ur true",
        "unshare -n true",
        "chroot / true",
        "mknod device c 1 3",
        "mknod disk b 8 0",
        "hostname other",
        "date -s 2001-01-01",
        "sysctl -w kernel.panic=0",
        "echo 0 > /proc/sys/kernel/randomize_va_space",
        "dmesg",
        "nice -n -5 sh -c 'test $(nice) = -5'",
        "python3 -c 'import ctypes,sys; l=ctypes.CDLL(None); sys.exit(0 if l.syscall(425,8,b\"\\0\"*200)>=0 else 1)'",
        "python3 -c 'import fcntl,termios; fcntl.ioctl(0, termios.TIOCSTI, b\"x\")'",
    ];
    tries.retain(|attempt| has(attempt.split_whitespace().next().unwrap_or_default()) || attempt.starts_with("echo"));
    all_fail(&Scene::new(), &tries);
}

/// The program's environment must have no effect on the launcher, which is not confined.
#[test]
fn the_launcher_ignores_the_programs_environment() {
    let scene = Scene::new();
    let source = "#include <stdio.h>\n__attribute__((constructor)) static void init(void) { FILE *f = fopen(\"/proc/self/cmdline\", \"r\"); \
                  char b[200] = {0}; fread(b, 1, 199, f); FILE *o = fopen(\"loaded\", \"a\"); if (o) { fprintf(o, \"%s\\n\", b); fclose(o); } }";
    fs::write(scene.work("evil.c"), source).unwrap();
    let built = std::process::Command::new("gcc")
        .args(["-shared", "-fPIC", "-o", "evil.so", "evil.c"])
        .current_dir(&scene.rules.workspace)
        .status();
    assert!(built.unwrap().success());
    let mut order = scene.order(&["/bin/true"]);
    order.env.push(("LD_PRELOAD".into(), scene.work("evil.so").into()));
    scene.start_order(&order).done().is_well();
    assert_eq!(scene.line_of("loaded"), "/bin/true");
}

#[test]
fn bubblewrap_hides_more_than_landlock() {
    if !has("bwrap") {
        return;
    }
    let scene = Scene::new().with(|rules| rules.sandbox = Kind::Bubblewrap);
    let probe = scene.run("true");
    if probe.ended.is_none() || probe.ended().code != Some(0) {
        // If it is installed but not allowed here, the program must not run.
        assert!(probe.enforced.is_none(), "{probe:#?}");
        return;
    }
    all_fail(&scene, &WRITES[..14]);
    all_fail(&scene, &READS);
    all_fail(&scene, &["chmod 000 ../outside/file", "touch -d 2001-01-01 ../outside/file", "ls $HOME/.ssh/id_ed25519"]);
    let done = scene.run("echo x > new && cat new && ls /proc | grep -c '^[0-9]'");
    done.is_well();
    assert!(done.stdout.starts_with("x\n"));
    let count: u32 = done.stdout.lines().nth(1).unwrap().parse().unwrap();
    assert!(count < 10, "other processes are visible: {count}");
    assert_eq!(done.enforced().sandbox, Kind::Bubblewrap);
}

#[test]
fn the_program_inherits_nothing_of_the_supervisor() {
    // The program inherits neither the socket nor other files of the supervisor.
    let scene = Scene::new();
    let done = scene.run("ls -l /proc/self/fd");
    done.is_well();
    let open: Vec<_> = done.stdout.lines().filter(|line| line.contains("->")).collect();
    // The three standard streams, and the directory that `ls` reads.
    assert_eq!(open.len(), 4, "{}", done.stdout);
    assert!(!done.stdout.contains("socket:"), "{}", done.stdout);
}

#[test]
fn terminals_are_private_and_only_for_programs_that_ask() {
    let open = "python3 -c 'import os, pty; pty.openpty(); print(sorted(os.listdir(\"/dev/pts\")))'";
    for scene in Scene::for_everybody() {
        let done = scene.run(open);
        assert!(done.stdout.is_empty(), "{done:#?}");
        let scene = scene.with(|rules| rules.terminals = true);
        let done = scene.run(open);
        let is_private = done.enforced.as_ref().is_some_and(|enforced| !enforced.namespaces.is_empty());
        match is_private {
            true => assert_eq!(done.stdout.trim(), "['0', 'ptmx']", "{done:#?}"),
            false => assert!(done.stdout.is_empty(), "{done:#?}"),
        }
    }
}

#[test]
fn a_program_that_lists_network_interfaces_learns_that_it_cannot() {
    let list = "python3 -c 'import errno, socket\ntry: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\n\
                except OSError as error: print(errno.errorcode[error.errno])'";
    assert_eq!(Scene::new().run(list).stdout.trim(), "ENOTSUP");
}
