//! Jupyter kernels in runs of the binary: none is left after the run, after `kill -9`, or after an abort, and the report
//! shows the notebook.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use crate::hardship::{Scene, text};

/// The time that a process has to begin or to end.
const PATIENCE: Duration = Duration::from_secs(120);

fn installed() -> Option<PathBuf> {
    interlock_testkit_activity::parts::installed("jupyter.sh")
}

/// A repository whose virtual environment has the kernels.
fn scene() -> Option<Scene> {
    let jupyter = installed()?;
    let scene = Scene::new();
    std::os::unix::fs::symlink(jupyter, scene.repo().join(".venv")).unwrap();
    Some(scene)
}

fn start(scene: &Scene, code: &str) -> Command {
    let machine = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/kernels/cell.yaml");
    scene.interlock(&["run", machine, "--name", "cells", "--set", &format!("code={code}"), "--repo", "."])
}

/// Returns the processes that work in a directory.
fn processes(folder: &Path) -> Vec<PathBuf> {
    let folder = folder.canonicalize().unwrap();
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    all.filter(|process| fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder))).collect()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_ends_without_its_kernel_and_the_report_shows_its_pictures() {
    let Some(scene) = scene() else { return };
    let code = "import matplotlib.pyplot as plt\nprint('a line')\nplt.plot([1, 3, 2])\nplt.show()";
    let output = start(&scene, code).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    wait_until("a kernel is left", || processes(&scene.repo()).is_empty());
    let html = text(&scene.run(&["report", "cells", "--format", "html"]));
    assert!(html.contains("base64,iVBOR"), "the picture is missing");
    let report = text(&scene.run(&["report", "cells"]));
    for part in ["## Notebook n.ipynb", "plt.plot([1, 3, 2])", "a line", "![n.files/cell-1-1.png]"] {
        assert!(report.contains(part), "{part} is missing: {report}");
    }
    assert!(scene.run(&["verify", "cells"]).status.success());
}

#[test]
fn a_kernel_does_not_outlive_a_killed_process() {
    let Some(scene) = scene() else { return };
    let code = "import subprocess, time\nsubprocess.Popen(['sleep', '600'])\nopen('begun', 'w')\ntime.sleep(600)";
    let mut process = start(&scene, code).spawn().unwrap();
    wait_until("the cell did not begin", || scene.repo().join("begun").exists());
    assert!(processes(&scene.repo()).len() >= 3);
    process.kill().unwrap();
    process.wait().unwrap();
    wait_until("a kernel is left", || processes(&scene.repo()).is_empty());
    let output = scene.run(&["resume", "cells"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&scene.run(&["trace", "cells"])).contains("INTERRUPTED"));
    assert!(!scene.repo().join("begun").exists(), "the files of the interrupted cell are taken back");
    assert!(scene.run(&["verify", "cells"]).status.success());
}

#[test]
fn an_aborted_run_interrupts_its_cell() {
    let Some(scene) = scene() else { return };
    let mut process = start(&scene, "open('begun', 'w')\nimport time\ntime.sleep(600)").spawn().unwrap();
    wait_until("the cell did not begin", || scene.repo().join("begun").exists());
    let output = scene.run(&["abort", "cells"]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(process.wait().unwrap().code(), Some(3));
    wait_until("a kernel is left", || processes(&scene.repo()).is_empty());
}
