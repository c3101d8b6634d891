//! The examples that ship: each runs to its end offline, with rules and a real kernel.

use std::{fs, path::Path};

use super::{Project, text};

/// Runs an example and returns all text of its notebook.
fn run(example: &str) -> Option<String> {
    let project = Project::with_kernels()?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), project.path().join(entry.file_name())).unwrap();
    }
    let ended = project.run(&["run", "notebook", "--input", "task.yaml", "--name", "n1"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended));
    let notebook = project.notebook("n1.ipynb").to_string();
    assert!(!notebook.contains("\"output_type\":\"error\""), "{notebook}");
    Some(notebook)
}

#[test]
fn a_table_is_analysed() {
    let Some(notebook) = run("notebook-table") else { return };
    for expected in ["2 duplicated rows removed", "image/png", "The strongest correlation is between price and cups"] {
        assert!(notebook.contains(expected), "{expected}");
    }
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
