//! The examples that ship: each runs to its end offline, with rules and a real kernel.

use std::{
    fs,
    path::{Path, PathBuf},
};

use interlock_testkit_cli::{console, session::Session};

use super::{Project, installed, text};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn copy(example: &str, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(root().join("examples").join(example)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Runs an example and returns all text of its notebook.
fn run(example: &str) -> Option<String> {
    let project = Project::with_kernels()?;
    copy(example, &project.path());
    let ended = project.run(&["run", "notebook", "--input", "task.yaml", "--name", "n1"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended));
    let notebook = project.notebook("n1.ipynb").to_string();
    assert!(!notebook.contains("\"output_type\":\"error\""), "{notebook}");
    Some(notebook)
}

#[test]
fn a_time_series_is_forecast() {
    let Some(notebook) = run("notebook-series") else { return };
    for expected in ["rising", "next value by", "Next period"] {
        assert!(notebook.contains(expected), "{expected}");
    }
}

#[test]
fn models_are_compared() {
    let Some(notebook) = run("notebook-models") else { return };
    assert!(notebook.contains("The best model is linear"), "{notebook}");
}

#[test]
fn a_table_is_analysed_as_the_document_shows() {
    let Some(kernels) = installed() else { return };
    let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let example = folder.path().join("examples/notebook-table");
    copy("notebook-table", &example);
    std::os::unix::fs::symlink(kernels, example.join(".venv")).unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), folder.path())
        .with("INTERLOCK_HOME", home.path().display().to_string())
        .with("INTERLOCK_USER", "ada");
    match console::check(&root().join("docs/notebook.md"), "interlock", &session) {
        Ok(count) => assert!(count >= 2, "the document has only {count} commands"),
        Err(difference) => panic!("{difference}"),
    }
    let notebook = fs::read_to_string(example.join("n1.ipynb")).unwrap();
    for expected in ["2 duplicated rows removed", "image/png", "The strongest correlation is between price and cups"] {
        assert!(notebook.contains(expected), "{expected}");
    }
}
