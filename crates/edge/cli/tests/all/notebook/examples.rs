//! The examples that ship: each runs to its end offline, with rules and a real kernel.

use std::{
    fs,
    path::{Path, PathBuf},
};

use interlock_testkit_cli::{console, session::Session};
use serde_json::{Value as Json, json};

use super::{Project, installed, text};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
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
    for expected in ["rising", "next value by", "the next visitors is expected at"] {
        assert!(notebook.contains(expected), "{expected}");
    }
}

#[test]
fn models_are_compared() {
    let Some(notebook) = run("notebook-models") else { return };
    assert!(notebook.contains("price is predicted best by the model linear"), "{notebook}");
}

/// Runs the built-in workflow on a table with this problem. Returns the text of the notebook.
fn answer(table: &str, problem: &str, code: i32) -> Option<String> {
    let project = Project::with_kernels()?;
    fs::write(project.path().join("table.csv"), table).unwrap();
    let ended = project.run(&["run", "notebook", "--set", &format!("problem={problem}"), "--name", "n1"]);
    assert_eq!(ended.status.code(), Some(code), "{}", text(&ended));
    let notebook = project.notebook("n1.ipynb");
    let outputs = notebook["cells"].as_array().unwrap().iter().map(|cell| cell["outputs"].to_string());
    let outputs: String = outputs.collect();
    assert!(!outputs.contains("\"output_type\":\"error\""), "{outputs}");
    Some(outputs)
}

/// A table in which the price decides the number, and the north is ahead.
fn sales() -> String {
    let mut table = "id,day,region,unit_price,cups\n".to_owned();
    for at in 0..80 {
        let (region, more) = if at % 2 == 0 { ("North", 10) } else { ("South", 0) };
        let (day, price) = (at % 28 + 1, at % 7 + 1);
        let month = at / 28 + 1;
        table += &format!("{at},2025-{month:02}-{day:02},{region},{price},{}\n", 100 - 8 * price + more + at % 3);
    }
    table
}

#[test]
fn the_words_of_the_problem_choose_the_columns_and_the_figures() {
    for (problem, expected) in [
        (
            "Compare North and South: who sells more cups?",
            "North (79.38) and South (69.8) differ in mean cups by 9.575",
        ),
        ("How do cups develop by month?", "The mean cups by month is highest in 2025-03 (76)"),
        ("What affects the cups?", "cups falls with unit_price: unit_price alone explains 91%"),
        ("Predict cups from the unit price", "cups is predicted best by the model"),
    ] {
        let Some(outputs) = answer(&sales(), problem, 0) else { return };
        assert!(outputs.contains(expected), "{problem}: {outputs}");
        assert!(outputs.contains("image/png"), "{problem}");
    }
}

#[test]
fn a_problem_without_a_column_is_said_to_be_unanswered() {
    let Some(outputs) = answer(&sales(), "Tell me something nice", 5) else { return };
    assert!(outputs.contains("Not answered: no rule uses the word `something`"), "{outputs}");
}

#[test]
fn a_table_of_another_form_is_read_and_a_missing_one_is_said_to_be_missing() {
    let Some(project) = Project::with_kernels() else { return };
    let rows: String = (0..40).map(|at| format!("{};{},5\n", ["Köln", "Wien"][at % 2], 100 + 50 * (at % 2))).collect();
    let table = format!("Stadt;Umsatz\n{rows}Wien;unbekannt\n");
    let latin: Vec<u8> = table.chars().map(|one| u8::try_from(u32::from(one)).unwrap()).collect();
    fs::write(project.path().join("umsatz.dat"), latin).unwrap();
    fs::write(project.path().join("other.csv"), "Stadt,Umsatz\nA,1\nB,2\n").unwrap();
    for (file, expected, unachieved) in [
        ("umsatz.dat", "highest for Stadt Wien (150.5) and lowest for Köln (100.5)", 0),
        ("umsatz.dat", "1 of 41 values of Umsatz count as missing", 0),
        ("nowhere.csv", "nowhere.csv cannot be read: No such file or directory. So nothing is analysed.", 7),
    ] {
        let variables = json!({ "csv_file_path": file });
        let input = json!({ "problem": "Compare the Umsatz by Stadt", "variables": variables });
        fs::write(project.path().join("input.json"), input.to_string()).unwrap();
        let name = format!("n{}", expected.len());
        let ended = project.run(&["run", "notebook", "--input", "input.json", "--name", &name]);
        assert_eq!(ended.status.code(), Some(if unachieved == 0 { 0 } else { 5 }), "{}", text(&ended));
        let cells = project.notebook(&format!("{name}.ipynb"))["cells"].clone();
        assert!(!cells.to_string().contains("\"output_type\":\"error\""), "{cells}");
        let concluded = cells.as_array().unwrap().last().unwrap()["outputs"].to_string();
        assert!(concluded.contains(expected), "{concluded}");
        let shown: Json = serde_json::from_slice(&project.run(&["show", &name, "--json"]).stdout).unwrap();
        assert_eq!(shown["context"]["unachieved"].as_array().unwrap().len(), unachieved, "{file}");
    }
}

#[test]
fn a_step_that_no_rule_knows_is_said_to_be_not_done() {
    let Some(project) = Project::with_kernels() else { return };
    fs::write(project.path().join("table.csv"), sales()).unwrap();
    let step = |id: &str, goal: &str| json!({ "id": id, "description": goal });
    let steps = [step("dishes", "Wash the dishes"), step("load", "Load it"), step("conclude", "Say what was found")];
    let workflow = json!({ "name": "w", "stages": [{ "id": "a", "steps": steps }] });
    for (on_unachieved, code, place) in [(None, 5, "incomplete"), (Some("error"), 4, "error")] {
        let mut input = json!({ "problem": "Compare the cups by region", "workflow": workflow });
        if let Some(given) = on_unachieved {
            input["on_unachieved"] = json!(given);
        }
        fs::write(project.path().join("input.json"), input.to_string()).unwrap();
        let ended = project.run(&["run", "notebook", "--input", "input.json", "--name", place]);
        assert_eq!(ended.status.code(), Some(code), "{}", text(&ended));
        let shown: Json = serde_json::from_slice(&project.run(&["show", place, "--json"]).stdout).unwrap();
        assert_eq!(shown["place"], place);
        let missed = json!([{ "stage_id": "a", "step_id": "dishes", "reason": "the rules do not know this step" }]);
        assert_eq!(shown["context"]["unachieved"], if code == 5 { missed } else { json!([]) });
    }
    let notebook = project.notebook("incomplete.ipynb");
    let cells = notebook["cells"].as_array().unwrap();
    assert!(
        cells
            .iter()
            .any(|cell| cell["cell_type"] == "markdown" && cell["source"].to_string().contains("**Not done.**"))
    );
    let concluded = cells.last().unwrap()["outputs"].to_string();
    assert!(concluded.contains("Not done: step dishes (Wash the dishes)."), "{concluded}");
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
    for expected in [
        "2 rows repeat an earlier row. They are kept",
        "image/png",
        "The strongest correlation is between price and cups",
    ] {
        assert!(notebook.contains(expected), "{expected}");
    }
}
