//! The notebook of a run on the page: its cells, outputs and pictures, and nothing of it is interpreted.

use interlock_testkit_activity::parts;
use serde_json::{Value as Json, json};

use crate::scene::Scene;

const PROBLEM: &str = "What does cups depend on?";
const TABLE: &str = "day,price,cups\n1,2,90\n2,3,81\n3,4,70\n4,5,62\n5,6,49\n6,7,41\n7,8,30\n8,9,19\n";

#[test]
fn the_cells_and_pictures_of_a_notebook_are_shown() {
    let Some(kernels) = parts::installed("jupyter.sh") else { return };
    let Some(scene) = Scene::new() else { return };
    std::os::unix::fs::symlink(kernels, scene.project().join(".venv")).unwrap();
    scene.write("coffee.csv", TABLE);
    scene.run(&["run", "notebook", "--set", &format!("problem={PROBLEM}"), "--name", "n1"]);
    let browser = scene.view("/runs/n1");
    browser.click(".tabs", "Report");
    browser.until_text(".report h3", "Notebook n1.ipynb");
    browser.until_text(".report pre.log", "coffee.csv");
    browser.until(
        "[...document.querySelectorAll('.report img')].some((image) => image.complete && image.naturalWidth > 50)",
    );
    browser.until_text(".report p", "The run carried out");

    // The file is changed by another program; whatever it contains is text.
    let attack = r#"<img src=x onerror="window.bad=1"><script>window.bad=2</script>"#;
    let outputs = json!([
        { "output_type": "display_data", "metadata": {}, "data": { "text/html": attack, "text/plain": attack } },
        { "output_type": "display_data", "metadata": {}, "data": { "image/svg+xml": attack } },
        { "output_type": "display_data", "metadata": {}, "data": { "image/png": attack } },
        { "output_type": "error", "ename": attack, "evalue": attack, "traceback": [format!("\u{1b}[31m{attack}\u{1b}[0m")] },
    ]);
    let cells = json!([
        { "cell_type": "markdown", "id": "a", "metadata": {}, "source": format!("# {attack}\n[link](javascript:window.bad=3) {attack}") },
        { "cell_type": "code", "id": attack, "metadata": {}, "execution_count": 1, "source": attack, "outputs": outputs },
    ]);
    let file = json!({ "cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5 });
    scene.write("n1.ipynb", &file.to_string());
    scene.view("/runs/n1").click(".tabs", "Report");
    browser.until_text(".report h4", "onerror=");
    browser.until_text(".report pre.log", "<script>");
    let made =
        "document.querySelectorAll('.report script, .report svg, .report a, .report [onerror], .report img').length";
    assert_eq!(browser.value(made), 0);
    assert_eq!(browser.value("window.bad ?? null"), Json::Null);

    std::fs::remove_file(scene.project().join("n1.ipynb")).unwrap();
    scene.view("/runs/n1").click(".tabs", "Report");
    browser.until_text(".report p", "is not in the directory of the run any more");
}

#[test]
fn the_report_of_any_run_follows_it() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("g1");
    let browser = scene.view("/runs/g1");
    browser.click(".tabs", "Report");
    browser.until_text(".report h3", "Time");
    assert_eq!(browser.value("document.querySelector('.report p').textContent.includes('passed')"), false);
    scene.run(&["send", "g1", "open", "--data", r#"{"note":"fine"}"#]);
    browser.until_text(".report p", "passed");
}
