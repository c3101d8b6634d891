//! Kernels in the other forms of the sandbox, `bubblewrap` and Landlock without namespaces: they start, compute, can be
//! interrupted, and reach nothing outside.

use std::{
    fs,
    time::{Duration, Instant},
};

use interlock_activity::Activity as _;
use interlock_notebook::NotebookAction;
use interlock_process::Sandbox;
use interlock_sandbox::{Config, Kind, Namespaces};
use interlock_testkit_activity::{launcher::launcher, parts};
use serde_json::json;
use tempfile::TempDir;

use crate::{
    heavy_attacks::{outside, refused, scene},
    trial::Trial,
};

/// A form of the sandbox.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Bubblewrap,
    WithoutNamespaces,
}

/// Returns a trial for each form of the sandbox, with its store.
fn trials() -> Vec<(Form, TempDir, Trial)> {
    let forms = [Form::Bubblewrap, Form::WithoutNamespaces];
    let forms = forms.into_iter().filter(|form| *form != Form::Bubblewrap || parts::has_bubblewrap());
    forms.filter_map(trial).collect()
}

fn trial(form: Form) -> Option<(Form, TempDir, Trial)> {
    let (store, mut trial) = scene()?;
    let config = match form {
        Form::Bubblewrap => Config { sandbox: Kind::Bubblewrap, ..Config::default() },
        Form::WithoutNamespaces => Config { namespaces: Namespaces::Off, ..Config::default() },
    };
    let sandbox = Sandbox { launcher: launcher(), store: Some(store.path().to_owned()), config, ..Sandbox::default() };
    trial.activity = NotebookAction::new(sandbox);
    Some((form, store, trial))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_computes_and_keeps_its_state() {
    for (form, _store, mut trial) in trials() {
        assert_eq!(trial.effects("x = 6 * 7\nprint(x)").await, ["42\n"]);
        assert_eq!(trial.effects("open('made', 'w').write(str(x))").await, ["2"]);
        assert_eq!(fs::read_to_string(trial.folder.path().join("made")).unwrap(), "42");
        let plot = "import matplotlib.pyplot as plt\nplt.plot([1, x])\nplt.show()";
        assert_eq!(trial.run(plot).await.name, "executed");
        assert!(trial.folder.path().join("n.files").is_dir(), "the picture is saved");
        // Only within bubblewrap is the first process that program.
        let first = trial.effects("print(open('/proc/1/comm').read().strip())").await.concat();
        assert_eq!(first == "bwrap\n", form == Form::Bubblewrap, "{first}");
        trial.with["cell_timeout_s"] = json!(2);
        let began = Instant::now();
        let ended = trial.run("import time\ntime.sleep(600)").await;
        assert!(began.elapsed() < Duration::from_secs(60), "the cell is interrupted");
        assert_eq!(ended.error().0, "CELL_TIMEOUT", "{:?}", ended.data);
        trial.with["cell_timeout_s"] = json!(60);
        assert_eq!(trial.effects("print(x)").await, ["42\n"], "an interrupted kernel keeps its state");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_writes_and_reads_nowhere_else() {
    for (form, store, trial) in trials() {
        let outside = outside(&trial, store.path());
        let (out, store_path) = (outside.display(), store.path().display());
        let statements = [
            format!("open('{out}/file', 'a')"),
            format!("os.unlink('{out}/file')"),
            format!("os.symlink('{out}', 'way'); open('way/new', 'w')"),
            format!("subprocess.run(['sh', '-c', 'echo x > {out}/new'], check=True, stderr=subprocess.DEVNULL)"),
            format!("open('{store_path}/runs.db').read()"),
            format!("open('{store_path}/planted', 'w').close(); os.stat('/proc/1/root{store_path}/planted')"),
            "open('/tmp/interlock-attack', 'w')".to_owned(),
            "open(os.path.expanduser('~/.interlock-attack'), 'w')".to_owned(),
        ];
        assert_eq!(refused(&trial, &statements).await, [""; 0], "{form:?}");
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "theirs");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert!(!store.path().join("planted").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_reaches_no_network_and_no_process_outside() {
    for (form, _store, trial) in trials() {
        let me = std::process::id();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let statements = [
            format!("socket.create_connection(('127.0.0.1', {port}), 5)"),
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))".to_owned(),
            "socket.socket(socket.AF_UNIX).connect('\\0abstract')".to_owned(),
            format!("open('/proc/{me}/environ', 'rb').read()"),
            format!("os.sched_setscheduler({me}, os.SCHED_IDLE, os.sched_param(0))"),
        ];
        assert_eq!(refused(&trial, &statements).await, [""; 0], "{form:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_that_dies_is_noticed_and_leaves_nothing() {
    for (form, store, trial) in trials() {
        let ended = trial.run("import os\nos._exit(3)").await;
        assert_eq!(ended.error().0, "KERNEL_LOST", "{form:?}: {:?}", ended.data);
        trial.activity.run_ended("run-1");
        let deadline = Instant::now() + Duration::from_secs(60);
        while fs::read_dir(store.path().join("kernels")).unwrap().count() > 0 {
            assert!(Instant::now() < deadline, "the kernel's directory is left");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_that_needs_a_terminal_has_a_private_one() {
    for (form, _store, mut trial) in trials() {
        // Without namespaces there is no private terminal, so this kernel cannot work.
        if form == Form::Bubblewrap {
            trial.with["kernel"] = json!("bash");
            assert_eq!(trial.effects("x=6; echo $((x * 7)); ls /dev/pts | head -3 | wc -l").await.concat(), "42\n2\n");
        }
    }
}
