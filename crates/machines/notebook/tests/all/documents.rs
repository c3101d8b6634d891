//! Notebooks that other programs read and write.

use std::fs;

use interlock_activity::Activity as _;
use interlock_testkit_activity::EndedAttempt;
use serde_json::json;

use crate::trial::{Trial, texts};

/// A notebook of another author: an unusual layout, an output, and unknown fields.
const FOREIGN: &str = r#"{"nbformat": 4, "nbformat_minor": 5,
 "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "mine": [1,  2]},
 "cells": [
   {"cell_type": "markdown", "id": "intro", "metadata": {"tags":["a"]}, "source": "Their  text"},
   {"cell_type": "code", "id": "theirs", "execution_count": 3, "metadata": {}, "source": "6 * 7",
    "outputs": [{"output_type": "execute_result", "execution_count": 3, "data": {"text/plain": "42"}, "metadata": {}}]}
 ]}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn cells_of_others_stay_byte_for_byte() {
    let Some(trial) = Trial::new() else { return };
    fs::write(trial.path(), FOREIGN).unwrap();
    trial.effects("print('ours')").await;
    trial.act(json!({ "action": "update_title", "title": "T" })).await;
    let text = fs::read_to_string(trial.path()).unwrap();
    let (head, rest) = FOREIGN.split_once("   {\"cell_type\": \"markdown\"").unwrap();
    assert!(text.starts_with(head), "{text}");
    let theirs = rest.rsplit_once("\n ]}").unwrap().0;
    assert!(text.contains(theirs), "{text}");
    assert!(text.ends_with("\n ]}\n"), "{text}");
    trial.validate();
    let ended = trial.act(json!({ "action": "exec", "codecell_id": "theirs" })).await;
    assert_eq!(texts(&ended.data["effects"]), ["42"], "a cell of others can be executed by its id");
    trial.validate();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_between_two_actions_is_kept_and_noticed() {
    let Some(trial) = Trial::new() else { return };
    trial.effects("x = 1").await;
    let edit = "import nbformat\nn = nbformat.read('n.ipynb', 4)\nn.cells[0].source = 'x = 2'\n\
        n.cells.append(nbformat.v4.new_markdown_cell('a person was here', id='note'))\nnbformat.write(n, 'n.ipynb')";
    trial.python(&["-c", edit]);
    let ended = trial.act(json!({ "action": "exec", "codecell_id": "cell-1" })).await;
    let expected = "[The notebook was edited outside of this run: changed: cell-1; 1 added. The edit is kept.]";
    assert_eq!(texts(&ended.data["effects"]), [expected]);
    assert_eq!(ended.data["variables"]["x"]["text"], "2");
    let notebook = trial.notebook();
    assert_eq!(notebook["cells"][1]["source"], json!(["a person was here"]));
    trial.validate();
}

/// A cell that waits until a person has edited the notebook.
const WAITING: &str = "import pathlib, time\npathlib.Path('begun').touch()\n\
    while not pathlib.Path('edited').exists(): time.sleep(0.02)\nprint('done')";

/// Executes a cell, edits the notebook with this Python code while the cell runs, and returns how the action ended.
async fn edited_while_running(trial: &Trial, edit: &str) -> EndedAttempt {
    trial.effects("x = 1").await;
    trial.act(json!({ "action": "add", "shot_type": "action", "content": WAITING, "store_id": "waits" })).await;
    let (attempt, _canceller) = trial.attempt(json!({ "action": "exec", "codecell_id": "waits" }));
    let running = tokio::spawn(trial.activity.start(attempt));
    let begun = trial.folder.path().join("begun");
    let wait = async {
        while !begun.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), wait).await.unwrap();
    let edit = format!("import nbformat\nn = nbformat.read('n.ipynb', 4)\n{edit}\nnbformat.write(n, 'n.ipynb')");
    trial.python(&["-c", &edit]);
    fs::write(trial.folder.path().join("edited"), "").unwrap();
    EndedAttempt::new(running.await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_while_a_cell_runs_is_kept_and_noticed() {
    let Some(trial) = Trial::new() else { return };
    let edit = "n.cells[0].source = 'x = 2'\n\
        n.cells.append(nbformat.v4.new_markdown_cell('a person was here', id='note'))";
    let ended = edited_while_running(&trial, edit).await;
    let expected = "[The notebook was edited outside of this run: changed: cell-1; 1 added. The edit is kept.]";
    assert_eq!(texts(&ended.data["effects"]), ["done\n", expected]);
    assert_eq!(ended.data["summary"], "executed waits: 1 output; the notebook was edited outside of this run");
    let notebook = trial.notebook();
    assert_eq!(notebook["cells"][0]["source"], json!(["x = 2"]));
    assert_eq!(notebook["cells"][1]["outputs"][0]["text"], json!(["done\n"]));
    assert_eq!(notebook["cells"][2]["source"], json!(["a person was here"]));
    trial.validate();
    let next = trial.act(json!({ "action": "add", "content": "text" })).await;
    assert_eq!(next.data["effects"], json!([]), "the edit is noticed once");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_edited_text_of_the_running_cell_is_kept_with_its_output() {
    let Some(trial) = Trial::new() else { return };
    let ended = edited_while_running(&trial, "n.cells[1].source = '# mine'").await;
    let noticed = texts(&ended.data["effects"]);
    assert_eq!(
        noticed[1..],
        [
            "[The notebook was edited outside of this run: changed: waits. The edit is kept.]",
            "[waits was edited while it ran: the edited text is kept, and its output is that of the text before.]",
        ]
    );
    let cell = trial.notebook()["cells"][1].clone();
    assert_eq!((&cell["source"], &cell["outputs"][0]["text"]), (&json!(["# mine"]), &json!(["done\n"])));
    trial.validate();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_noticed_by_another_process_too() {
    let Some(mut trial) = Trial::new() else { return };
    let ended = trial.run("x = 1").await;
    trial.with["document"] = ended.data["notebook"].clone();
    trial.activity = Trial::activity();
    let unchanged = trial.act(json!({ "action": "add", "content": "text" })).await;
    assert_eq!(unchanged.data["effects"], json!([]), "the run's own file is no edit");
    trial.with["document"] = unchanged.data["notebook"].clone();
    let edit = "import nbformat\nn = nbformat.read('n.ipynb', 4)\nn.cells[0].source = 'x = 2'\n\
        n.cells.append(nbformat.v4.new_markdown_cell('a person was here', id='note'))\nnbformat.write(n, 'n.ipynb')";
    trial.python(&["-c", edit]);
    trial.activity = Trial::activity();
    let expected = "[The notebook was edited outside of this run: changed: cell-1; 1 added. The edit is kept.]";
    let lost = trial.act(json!({ "action": "exec", "codecell_id": "cell-1" })).await;
    assert_eq!(lost.error().0, "KERNEL_LOST", "an action that fails does not lose the notice");
    let ended = trial.act(json!({ "action": "add", "content": "more" })).await;
    assert_eq!(texts(&ended.data["effects"]), [expected]);
    assert_eq!(ended.data["summary"], "added the markdown cell cell-4; the notebook was edited outside of this run");
    let notebook = trial.notebook();
    assert_eq!(notebook["cells"][0]["source"], json!(["x = 2"]));
    assert_eq!(notebook["cells"][2]["source"], json!(["a person was here"]));
    trial.validate();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_notebook_is_noticed_by_another_process() {
    let Some(mut trial) = Trial::new() else { return };
    let added = trial.act(json!({ "action": "add", "content": "text" })).await;
    trial.with["document"] = added.data["notebook"].clone();
    fs::remove_file(trial.path()).unwrap();
    trial.activity = Trial::activity();
    let ended = trial.act(json!({ "action": "add", "content": "more" })).await;
    assert_eq!(texts(&ended.data["effects"]), ["[n.ipynb was removed; a new notebook is begun.]"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_cell_leaves_a_description_of_the_file() {
    let Some(mut trial) = Trial::new() else { return };
    trial.with["cell_timeout_s"] = json!(1);
    let ended = trial.run("import time\ntime.sleep(600)").await;
    assert_eq!(ended.error().0, "CELL_TIMEOUT");
    trial.with["document"] = ended.data["notebook"].clone();
    trial.activity = Trial::activity();
    let next = trial.act(json!({ "action": "add", "content": "text" })).await;
    assert_eq!(next.data["effects"], json!([]), "the note about the failure is the run's own");
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_about_thinking_are_cleared_without_a_kernel() {
    let Some(mut trial) = Trial::new() else { return };
    let clear = json!({ "action": "clear_thinking" });
    let nothing = trial.act(clear.clone()).await;
    assert_eq!(nothing.data["summary"], "there is no notebook yet");
    assert!(nothing.data.get("notebook").is_none() && !trial.path().exists(), "no notebook is begun to clear it");
    trial.effects("x = 1").await;
    for _ in 0..2 {
        trial.act(json!({ "action": "is_thinking" })).await;
    }
    trial.activity = Trial::activity();
    let cleared = trial.act(clear).await;
    assert_eq!(cleared.data["summary"], "removed the notes about thinking");
    assert_eq!(trial.notebook()["cells"].as_array().unwrap().len(), 1);
    trial.validate();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_result_is_converted_to_html() {
    let Some(trial) = Trial::new() else { return };
    trial.act(json!({ "action": "update_title", "title": "Houses" })).await;
    trial.act(json!({ "action": "new_chapter", "content": "Load" })).await;
    trial.effects("print('some text')\n1 / 0").await;
    trial.validate();
    trial.python(&["-m", "nbconvert", "--to", "html", "n.ipynb"]);
    let html = fs::read_to_string(trial.folder.path().join("n.html")).unwrap();
    for part in ["Houses", "1 Load", "some text", "ZeroDivisionError"] {
        assert!(html.contains(part), "{part}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_notebook_is_not_touched() {
    let Some(trial) = Trial::new() else { return };
    for (text, why) in [("{\"nbformat\": 3}", "its format is nbformat 3"), ("hello", "it is not a JSON object")] {
        fs::write(trial.path(), text).unwrap();
        let (code, message) = trial.act(json!({ "action": "add", "content": "x" })).await.error();
        assert_eq!(code, "NOTEBOOK");
        assert!(message.contains(why), "{message}");
        assert_eq!(fs::read_to_string(trial.path()).unwrap(), text);
    }
}
