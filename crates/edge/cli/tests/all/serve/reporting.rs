//! The report of a run through the API: its sections, and the notebook that the run has worked on.

use std::{os::unix::fs::symlink, path::PathBuf};

use interlock_testkit_activity::parts;
use serde_json::{Value as Json, json};

use super::scene::Scene;

/// Writes a text cell into a notebook.
const NOTES: &str = "\
machine: notes
version: 1
summary: Writes a note into a notebook.
initial: writing
states:
  writing:
    invoke:
      activity: notebook.action
      with: { actions: [{ action: add, shot_type: dialogue, content: A first note }], notebook: n.ipynb }
      signals: [executed]
    on: { executed: { target: done }, error: { target: failed, reason: '${event.message}' } }
  done: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
";

/// A picture of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Starts a server and a run that has written a notebook. Returns them with a viewer's token and the path of the
/// notebook, or `None` if Jupyter's kernels are not installed.
fn scene() -> Option<(Scene, String, PathBuf)> {
    let kernels = parts::installed("jupyter.sh")?;
    let scene = Scene::new("1h");
    symlink(kernels, PathBuf::from(scene.project()).join(".venv")).unwrap();
    scene.session.write("project/.interlock/machines/notes/machine.yaml", NOTES).unwrap();
    let token = scene.token("operator");
    let started = scene.post(&token, "/runs", json!({ "machine": "notes", "folder": scene.project(), "name": "n1" }));
    assert_eq!(started.status, 201, "{started:?}");
    scene.until_phase(&token, "n1", "succeeded");
    let file = PathBuf::from(scene.project()).join("n.ipynb");
    let viewer = scene.token("viewer");
    Some((scene, viewer, file))
}

/// Returns the parts of the section with the notebook, as text.
fn notebook(scene: &Scene, token: &str) -> String {
    let answer = scene.get(token, "/runs/n1/report/sections");
    assert_eq!(answer.status, 200, "{answer:?}");
    let report = answer.json();
    let sections = report["sections"].as_array().unwrap();
    let found = sections.iter().find(|section| section["title"].as_str().unwrap().starts_with("Notebook"));
    found.unwrap_or_else(|| panic!("{report}"))["parts"].to_string()
}

fn cell(outputs: &Json) -> Json {
    json!({ "cell_type": "code", "id": "c", "metadata": {}, "execution_count": 1, "source": "show()", "outputs": outputs })
}

fn document(cells: &[Json]) -> String {
    json!({ "cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5 }).to_string()
}

#[test]
fn the_notebook_of_a_run_is_shown_as_it_is_now() {
    let Some((scene, token, file)) = scene() else { return };
    assert!(notebook(&scene, &token).contains("A first note"));
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let outputs = json!([
        { "output_type": "display_data", "metadata": {}, "data": { "text/html": "<script>window.bad = 1</script>" } },
        { "output_type": "display_data", "metadata": {}, "data": { "image/svg+xml": "<svg onload='window.bad = 2'/>" } },
        { "output_type": "display_data", "metadata": {}, "data": { "image/png": PIXEL } },
        { "output_type": "stream", "name": "stdout", "text": format!("key {key}\n") },
    ]);
    std::fs::write(&file, document(&[cell(&outputs)])).unwrap();
    let shown = notebook(&scene, &token);
    assert!(shown.contains(&format!("data:image/png;base64,{PIXEL}")), "{shown}");
    for left_out in ["window.bad", "<svg", key.as_str()] {
        assert!(!shown.contains(left_out), "{left_out}: {shown}");
    }
    assert!(shown.contains("[text/html]"), "{shown}");
}

#[test]
fn a_very_long_notebook_is_cut_and_the_answer_says_so() {
    let Some((scene, token, file)) = scene() else { return };
    let print = |bytes: usize| json!([{ "output_type": "stream", "name": "stdout", "text": "0123456789abcde\n".repeat(bytes / 16) }]);
    let mut cells = vec![cell(&print(20 << 20))];
    cells.extend(std::iter::repeat_n(cell(&print(100 << 10)), 300));
    std::fs::write(&file, document(&cells)).unwrap();
    assert!(std::fs::metadata(&file).unwrap().len() > 50_000_000);
    let shown = notebook(&scene, &token);
    assert!(shown.len() < 3_000_000, "{} bytes", shown.len());
    for said in ["its outputs are not shown here", "bytes left out", "101 more cells are in the file"] {
        assert!(shown.contains(said), "{said} is missing");
    }
    std::fs::write(&file, document(&[cell(&print(65 << 20))])).unwrap();
    assert!(notebook(&scene, &token).contains("is longer than 64.0 MB, so it is not shown here"));
    assert_eq!(scene.get(&token, "/runs/n1").status, 200, "the server still answers");
}

#[test]
fn a_notebook_that_is_gone_or_elsewhere_is_not_shown() {
    let Some((scene, token, file)) = scene() else { return };
    std::fs::remove_file(&file).unwrap();
    let shown = notebook(&scene, &token);
    assert!(shown.contains("is not in the directory of the run any more. It was moved or removed."), "{shown}");
    let elsewhere = scene.session.folder().join("home/private.ipynb");
    std::fs::write(&elsewhere, document(&[json!({ "cell_type": "markdown", "source": "private words" })])).unwrap();
    symlink(&elsewhere, &file).unwrap();
    let shown = notebook(&scene, &token);
    assert!(shown.contains("is a symbolic link") && !shown.contains("private words"), "{shown}");
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "not a notebook").unwrap();
    assert!(notebook(&scene, &token).contains("cannot be shown: it is not a JSON object"));
}

#[test]
fn every_run_has_the_sections_of_its_report() {
    let scene = Scene::new("1h");
    let token = scene.token("operator");
    scene.start_gate(&token, "g1");
    let report = scene.get(&token, "/runs/g1/report/sections").json();
    let titles: Vec<_> = report["sections"].as_array().unwrap().iter().map(|section| &section["title"]).collect();
    assert!(titles.contains(&&json!("Time")), "{report}");
    assert_eq!(scene.get(&token, "/runs/none/report/sections").status, 404);
}
