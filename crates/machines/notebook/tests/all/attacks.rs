//! Cells that attack: other kernels, the files and processes outside, and Interlock's own writes.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use interlock_activity::Activity as _;
use interlock_notebook::NotebookAction;
use interlock_process::Sandbox;
use interlock_testkit_activity::{EndedAttempt, launcher::launcher};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::trial::{Trial, texts};

/// A store with a short path, so that kernels have their directories in it, and a trial that uses it.
pub(crate) fn scene() -> Option<(TempDir, Trial)> {
    let store = tempfile::tempdir_in("/tmp").unwrap();
    let mut trial = Trial::new()?;
    let sandbox = Sandbox { launcher: launcher(), store: Some(store.path().to_owned()), ..Sandbox::default() };
    trial.activity = NotebookAction::new(sandbox);
    Some((store, trial))
}

/// Adds and executes a cell in another run.
async fn in_run(trial: &Trial, run: &str, code: &str) -> EndedAttempt {
    let mut ended = None;
    for action in [
        json!({ "action": "add", "shot_type": "action", "content": code }),
        json!({ "action": "exec", "codecell_id": "lastAddedCellId" }),
    ] {
        let (mut attempt, _canceller) = trial.attempt(action);
        attempt.run = run.into();
        ended = Some(EndedAttempt::new(trial.activity.start(attempt).await));
    }
    ended.unwrap()
}

fn kernels(store: &TempDir) -> Vec<PathBuf> {
    let folders = fs::read_dir(store.path().join("kernels")).unwrap();
    folders.map(|folder| folder.unwrap().path()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_of_a_kernel_is_out_of_reach_of_other_runs() {
    let Some((store, mut trial)) = scene() else { return };
    trial.effects("x = 1").await;
    let [theirs] = &kernels(&store)[..] else { panic!("one kernel has one directory") };
    assert!(!theirs.join("connection.json").exists(), "the file with the key is gone once the kernel has read it");
    // A kernel that is just starting still has its file.
    fs::write(theirs.join("connection.json"), "a key").unwrap();
    fs::write(theirs.join("home/note"), "a note").unwrap();
    for network in ["off", "unix", "on"] {
        trial.with["network"] = json!(network);
        let code = format!(
            "import os\nplace = {:?}\nfor name in ('connection.json', 'home/note'):\n    try:\n        print(open(os.path.join(place, name)).read())\n    \
             except PermissionError:\n        print('refused')\ntry:\n    open(os.path.join(place, 'planted'), 'w')\nexcept PermissionError:\n    print('refused')",
            theirs.display().to_string()
        );
        let ended = in_run(&trial, &format!("other-{network}"), &code).await;
        assert_eq!(texts(&ended.data["effects"]).last().unwrap(), "refused\nrefused\nrefused\n", "network: {network}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_of_another_kernel_is_out_of_reach_without_a_network() {
    let Some((store, trial)) = scene() else { return };
    trial.effects("x = 1").await;
    let socket = kernels(&store)[0].join("s-1");
    assert!(socket.exists());
    let code = format!(
        "import socket\nfor kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):\n    try:\n        \
         socket.socket(socket.AF_UNIX, kind).connect({:?})\n        print('open')\n    except OSError as error:\n        print(type(error).__name__)",
        socket.display().to_string()
    );
    let ended = in_run(&trial, "other", &code).await;
    assert_eq!(texts(&ended.data["effects"]).last().unwrap(), &"PermissionError\n".repeat(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_directory_of_a_kernel_goes_with_its_run() {
    let Some((store, trial)) = scene() else { return };
    trial.effects("x = 1").await;
    assert_eq!(kernels(&store).len(), 1);
    trial.activity.run_ended("run-1");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !kernels(&store).is_empty() {
        assert!(Instant::now() < deadline, "the directory is left");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Runs statements in one cell, each of which must fail. Returns the ones that did not.
pub(crate) async fn refused(trial: &Trial, statements: &[String]) -> Vec<String> {
    let code = format!(
        "import json, os, signal, socket, subprocess\nfor one in json.loads({:?}):\n    try:\n        exec(one)\n        print('OPEN', one)\n    \
         except (OSError, subprocess.CalledProcessError):\n        pass\nprint('end')",
        json!(statements).to_string()
    );
    let shown = trial.effects(&code).await.concat();
    assert!(shown.ends_with("end\n"), "{shown}");
    shown.lines().filter(|line| line.starts_with("OPEN")).map(str::to_owned).collect()
}

/// Makes files that a cell must not reach: one of somebody else, and one of the store. Returns the directory of the first.
pub(crate) fn outside(trial: &Trial, store: &Path) -> PathBuf {
    let outside = trial.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "theirs").unwrap();
    fs::write(store.join("runs.db"), "records").unwrap();
    outside
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_writes_nowhere_else() {
    let Some((store, trial)) = scene() else { return };
    let outside = outside(&trial, store.path());
    let (out, store_path) = (outside.display(), store.path().display());
    let statements = [
        format!("open('{out}/file', 'a')"),
        format!("os.truncate('{out}/file', 0)"),
        format!("os.symlink('{out}', 'way'); open('way/new', 'w')"),
        format!("os.link('{out}/file', 'same')"),
        format!("os.rename('{out}/file', 'mine')"),
        format!("os.unlink('{out}/file')"),
        format!("open('/proc/1/root{out}/new', 'w')"),
        format!("os.mkfifo('{out}/pipe')"),
        format!("subprocess.run(['sh', '-c', 'echo x > {out}/new'], check=True, stderr=subprocess.DEVNULL)"),
        format!("open('{store_path}/runs.db').read()"),
        format!("open('{store_path}/planted', 'w')"),
        "open(os.path.expanduser('~/.interlock-attack'), 'w')".to_owned(),
        "open('/tmp/interlock-attack', 'w')".to_owned(),
        "open('/dev/shm/../mem', 'rb')".to_owned(),
    ];
    assert_eq!(refused(&trial, &statements).await, [""; 0]);
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_reaches_no_network_and_no_process_outside() {
    let Some((_store, trial)) = scene() else { return };
    let me = std::process::id();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let statements = [
        format!("socket.create_connection(('127.0.0.1', {port}), 5)"),
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))".to_owned(),
        "socket.socket(socket.AF_INET6, socket.SOCK_STREAM)".to_owned(),
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)".to_owned(),
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)".to_owned(),
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)".to_owned(),
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)".to_owned(),
        "socket.socket(socket.AF_UNIX).connect('\\0abstract')".to_owned(),
        format!(
            "subprocess.run(['bash', '-c', 'exec 3<>/dev/tcp/127.0.0.1/{port}'], check=True, stderr=subprocess.DEVNULL)"
        ),
        format!("os.kill({me}, 0)"),
        format!("os.kill({me}, signal.SIGSTOP)"),
        format!("open('/proc/{me}/environ', 'rb').read()"),
        format!("os.pidfd_open({me})"),
    ];
    assert_eq!(refused(&trial, &statements).await, [""; 0]);
    // The first process inside cannot be ended by those that it looks after.
    assert_eq!(trial.effects("os.kill(1, signal.SIGKILL)\nprint('still here')").await, ["still here\n"]);
}

/// Returns true if a process has this word among its arguments.
fn is_running(word: &str) -> bool {
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
    all.filter_map(|path| fs::read(path).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|one| one == word.as_bytes()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_of_a_cell_ends_with_the_run() {
    let Some((_store, trial)) = scene() else { return };
    let word = format!("61{}.25", std::process::id());
    let code = format!(
        "import os, signal, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.chdir('/')\n        \
         [signal.signal(one, signal.SIG_IGN) for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]\n        \
         os.execvp('sleep', ['sleep', '{word}'])\n    os._exit(0)\ntime.sleep(0.5)"
    );
    trial.effects(&code).await;
    assert!(is_running(&word));
    trial.activity.run_ended("run-1");
    let deadline = Instant::now() + Duration::from_secs(60);
    while is_running(&word) {
        assert!(Instant::now() < deadline, "the daemon is left");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

const PICTURE: &str = "from IPython.display import Image, display\nimport base64\n\
    display(Image(base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')))";

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn links_in_the_workspace_do_not_lead_interlock_outside() {
    let Some((_store, trial)) = scene() else { return };
    let outside = trial.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let ended = trial.run(&format!("import os\nos.symlink('{}', 'n.files')\n{PICTURE}", outside.display())).await;
    assert_eq!(count(&outside), 0, "{:?}", ended.data);
    assert_eq!(ended.error().0, "NOTEBOOK", "a picture that cannot be saved is not passed over");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notebook_that_becomes_a_pipe_or_a_link_is_no_trap() {
    let Some((_store, trial)) = scene() else { return };
    let outside = trial.home.path().join("outside.ipynb");
    fs::write(&outside, "{}").unwrap();
    for trap in ["os.mkfifo('n.ipynb')".to_owned(), format!("os.symlink('{}', 'n.ipynb')", outside.display())] {
        trial.act(json!({ "action": "add", "shot_type": "action", "content": format!("import os\nos.unlink('n.ipynb')\n{trap}") })).await;
        let exec = trial.act(json!({ "action": "exec", "codecell_id": "lastAddedCellId" }));
        let ended = tokio::time::timeout(Duration::from_secs(60), exec).await.unwrap();
        let next = tokio::time::timeout(Duration::from_secs(60), trial.act(json!({ "action": "add", "content": "x" })));
        let next = next.await.unwrap();
        let notebook: Json = trial.notebook();
        assert!(notebook["cells"].is_array(), "{:?} {:?}", ended.data, next.data);
        assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
    }
}

/// A kernel outlives the action that it serves, so it can change the workspace between two of them.
#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_cannot_put_a_link_in_place_of_the_directory_of_the_run() {
    let Some((_store, trial)) = scene() else { return };
    let (top, elsewhere) = (trial.folder.path().canonicalize().unwrap(), tempfile::tempdir().unwrap());
    let sub = top.join("sub");
    fs::create_dir_all(top.join(".git/objects")).unwrap();
    fs::create_dir_all(top.join(".git/refs")).unwrap();
    fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::create_dir(&sub).unwrap();
    std::os::unix::fs::symlink("../.venv", sub.join(".venv")).unwrap();
    let act = async |action: Json| {
        let (mut attempt, _canceller) = trial.attempt(action);
        attempt.folder.clone_from(&sub);
        EndedAttempt::new(trial.activity.start(attempt).await)
    };
    let code = format!("import os\nos.rename({0:?}, {0:?} + '2')\nos.symlink({1:?}, {0:?})", sub, elsewhere.path());
    let added = act(json!({ "action": "add", "shot_type": "action", "content": code })).await;
    assert_eq!(added.name, "executed", "{:?}", added.data);
    let _ = act(json!({ "action": "exec", "codecell_id": "lastAddedCellId" })).await;
    assert!(sub.is_symlink(), "the kernel has done it");
    let _ = act(json!({ "action": "add", "shot_type": "action", "content": "1" })).await;
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
