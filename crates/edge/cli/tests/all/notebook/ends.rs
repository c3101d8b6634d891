//! The ends of runs of `notebook`, with rules and real kernels: a run that answers nothing has not succeeded.

use std::fs;

use interlock_testkit_activity::model_server::{ModelServer, Scripted};
use serde_json::{Value as Json, json};

use super::{Project, text};

fn sales() -> String {
    let rows =
        (0..40).map(|at| format!("{},{},{}\n", ["North", "South"][at % 2], 2 + at % 5, 100 + 7 * (at % 2) + at % 3));
    format!("region,price,cups\n{}", rows.collect::<String>())
}

/// Runs a problem. Returns the exit code, stdout, and the output of the run.
fn run(project: &Project, name: &str, input: Json) -> (Option<i32>, String, Json) {
    fs::write(project.path().join("input.json"), input.to_string()).unwrap();
    let ended = project.run(&["run", "notebook", "--input", "input.json", "--name", name]);
    let shown: Json = serde_json::from_slice(&project.run(&["show", name, "--json"]).stdout).unwrap();
    (ended.status.code(), String::from_utf8_lossy(&ended.stdout).into_owned(), shown)
}

#[test]
fn an_answer_is_printed_and_a_declined_problem_is_incomplete() {
    let Some(project) = Project::with_kernels() else { return };
    fs::write(project.path().join("table.csv"), sales()).unwrap();
    let (code, said, _) = run(&project, "n1", json!({ "problem": "Which region has the highest mean cups?" }));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("n1  succeeded  closed\n"), "{said}");
    assert!(said.contains("The mean cups is highest for region South"), "{said}");
    assert!(said.contains("The problem is read as: cups compared by region."), "{said}");
    let (code, said, shown) = run(&project, "n2", json!({ "problem": "Is the price normally distributed?" }));
    assert_eq!(code, Some(5), "{said}");
    let reason = "the problem is not answered: no rule uses the word `normally`; 1 step is not achieved: answer";
    assert!(said.starts_with(&format!("n2  incomplete  incomplete\n{reason}\n")), "{said}");
    assert_eq!(shown["context"]["unachieved"][0]["step_id"], "answer");
    let report = text(&project.run(&["report", "n2"]));
    assert!(report.contains("ended incomplete") && report.contains(reason), "{report}");
    let html = text(&project.run(&["report", "n2", "--format", "html"]));
    assert!(html.contains("no rule uses the word"), "the page shows the report");
    let traced = project.trace("n2");
    assert!(traced.last().unwrap().1.starts_with(reason), "{traced:?}");
}

#[test]
fn a_directory_without_a_table_is_incomplete() {
    let Some(project) = Project::with_kernels() else { return };
    let (code, said, shown) = run(&project, "n1", json!({ "problem": "What affects cups?" }));
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("not answered: No table: there is no CSV file"), "{said}");
    assert!(said.contains("7 steps are not achieved: load, look, clean and 4 more (there is no table)"), "{said}");
    assert_eq!(shown["phase"], "incomplete");
}

#[test]
fn a_reset_does_not_make_a_success() {
    let Some(project) = Project::with_kernels() else { return };
    fs::write(project.path().join("table.csv"), sales()).unwrap();
    let input = json!({ "problem": "Which region has the highest cups?", "stay_open": true });
    let (code, said, shown) = run(&project, "n1", input);
    assert_eq!((code, &shown["place"]), (Some(4), &json!("workflow_completed")), "{said}");
    let ended = |arguments: &[&str]| {
        let ended = project.run(arguments);
        (ended.status.code(), text(&ended))
    };
    assert_eq!(ended(&["send", "n1", "RESET"]).0, Some(4));
    let (code, said) = ended(&["send", "n1", "CLOSE"]);
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("no workflow was carried out after the reset"), "{said}");
    let failing = json!({ "problem": "Why?", "server": "http://127.0.0.1:1", "workflow":
        { "name": "w", "stages": [{ "id": "a", "steps": [{ "id": "x" }] }] } });
    let (code, said, shown) = run(&project, "n2", failing);
    assert_eq!((code, &shown["place"]), (Some(4), &json!("error")), "{said}");
    assert_eq!(ended(&["send", "n2", "RESET"]).0, Some(4));
    let (code, said) = ended(&["send", "n2", "CLOSE"]);
    assert_eq!(code, Some(1), "{said}");
}

#[test]
fn an_output_that_was_in_the_notebook_before_is_no_answer() {
    let Some(project) = Project::with_kernels() else { return };
    // The file claims that this run has executed the cell.
    let mark = json!({ "interlock": { "run": "n1", "role": "plain", "added": 1, "executed": 1 } });
    let output = json!({ "output_type": "stream", "name": "stdout", "text": "last year: 41\n" });
    let cell = json!({ "id": "cell-1", "cell_type": "code", "execution_count": 1, "metadata": mark, "outputs": [output], "source": "print('last year: 41')" });
    let kernel = json!({ "kernelspec": { "name": "python3", "display_name": "Python 3" } });
    let old = json!({ "nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": [cell] });
    let server = |actions: Json| {
        ModelServer::start(move |at, asked| {
            let achieved = at > 1;
            let body = match asked.line.contains("/planning") {
                true => {
                    json!({ "targetAchieved": achieved, "transition": { "continue_behaviors": false, "target_achieved": achieved } })
                }
                false => json!({ "actions": actions.clone() }),
            };
            Scripted::new(200, "application/json", body.to_string())
        })
    };
    let heading = json!({ "action": "new_chapter", "content": "The answer" });
    let execution = json!({ "action": "exec", "codecell_id": "cell-1" });
    for (name, actions, expected) in [
        ("n1", json!([heading]), (Some(5), "the workflow has left no output and no text in the notebook")),
        ("n2", json!([heading, execution]), (Some(0), "last year: 41")),
    ] {
        fs::write(project.path().join("old.ipynb"), old.to_string()).unwrap();
        let server = server(actions);
        let workflow = json!({ "name": "w", "stages": [{ "id": "a", "steps": [{ "id": "one" }] }] });
        let input =
            json!({ "problem": "How many?", "server": server.url, "workflow": workflow, "notebook": "old.ipynb" });
        let (code, said, _) = run(&project, name, input);
        assert_eq!(code, expected.0, "{said}");
        assert!(said.contains(expected.1), "{said}");
    }
}
