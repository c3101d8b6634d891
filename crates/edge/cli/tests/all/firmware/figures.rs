//! Figures and tables of a run: the reported values are the measured ones.

use std::fs;

use super::{
    bench::{Bench, FIRMWARE, change},
    scene::{Scene, good, is_missing, parts_are_missing},
};

#[test]
fn lines_that_are_executed_are_a_figure_with_a_threshold_where_the_task_asks_for_them() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::with_patches(&[good()]);
    scene.task("timeout_sec: 10", "timeout_sec: 60\n  coverage: true");
    scene.task("max_iterations: 5", "max_iterations: 5, metrics: { covered_lines: { fall_max_percent: 20 } }");
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    scene.is_fixed();
    let metrics = scene.story()["metrics"].clone();
    for when in ["before", "after"] {
        let lines = metrics[when]["covered_lines"].as_f64().unwrap_or(0.0);
        assert!(lines > 100.0, "{when}: {metrics}");
    }
}

/// A patch by a person is not attributed to a model, and the person's time is not counted as the run's time.
#[test]
fn what_a_person_wrote_and_how_long_that_took_is_told_as_theirs() {
    if is_missing(&["git"]) {
        return;
    }
    let profile = "  env_type: local\n  format: unity\n  suites: [{ id: all }]\n  confirm: false\n  config: { command: sh fw.sh }\n\
                   constraints: { max_iterations: 5, metrics: { duration_ms: { max: 600000 }, text: { rise_max_percent: 20 } } }";
    let bench = Bench::new(profile, &[]);
    fs::write(bench.home().join("judges.toml"), "[chains]\ndefault = [\"rules\"]\njudge.patch = [\"person\"]\n")
        .unwrap();
    let waits = bench.run();
    assert_eq!(waits.code, Some(4), "{waits}\n{}", bench.trace());
    let shown = bench.session.run("show r").unwrap().stdout;
    assert!(shown.contains("iterations 1 of 5\n"), "{shown}");
    let patch = "--- a/fw.sh\n+++ b/fw.sh\n@@ -1,4 +1,4 @@\n # values\n-A=1\n-B=1\n+A=2\n+B=2\n # cases\n";
    let answer = serde_json::json!({ "summary": "both are two", "patch": patch });
    fs::write(bench.folder.path().join("answer.json"), answer.to_string()).unwrap();
    let sent = bench.session.run("send r patch_generated --data @../answer.json").unwrap();
    let story = bench.story();
    assert_eq!(story["patch_origin"], "person", "{sent}\n{story}");
    assert_eq!(story["models"]["calls"], 0, "rules and people are no models: {story}");
    assert!(story["time"]["waiting_ms"].as_u64().unwrap() > 0, "{story}");
    let report = bench.session.run("report r").unwrap().stdout;
    for words in [
        "The patch comes from a person (",
        "| judge.patch | a person (",
        "No model was asked; a person",
        "at most 600000 |",
    ] {
        assert!(report.contains(words), "{words} is not in {report}");
    }
    assert!(report.contains("| text |  |  | at most 20 % more than before |"), "what was not measured: {report}");
}

#[test]
fn a_fix_that_executes_too_few_lines_is_not_delivered() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::with_patches(&[good()]);
    scene.task("timeout_sec: 10", "timeout_sec: 60\n  coverage: true");
    scene.task("max_iterations: 5", "max_iterations: 1, metrics: { covered_lines: { min: 100000 } }");
    let ran = scene.run();
    let trace = scene.trace();
    assert_eq!(ran.code, Some(1), "{ran}\n{trace}");
    assert!(trace.contains("covered_lines is "), "{trace}");
    scene.is_untouched();
}

#[test]
fn a_result_of_two_thousand_cases_is_told_whole() {
    if is_missing(&["git"]) {
        return;
    }
    let profile = "  env_type: local\n  format: unity\n  suites: [{ id: all }]\n  confirm: false\n  config: { command: sh fw.sh }";
    let bench = Bench::new(profile, &[change("A=1", "A=2").replace(" B=1", " B=2")]);
    let more = "i=1\nwhile [ $i -le 1998 ]; do echo \"fw.sh:9:case_with_a_name_of_some_length_$i:PASS\"; i=$((i + 1)); done\necho \"2000 Tests";
    let firmware = FIRMWARE.replace("B=1", "B=2").replace("echo \"2 Tests", more);
    fs::write(bench.root().join("fw.sh"), firmware).unwrap();
    bench.commit();
    let ran = bench.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", bench.trace());
    let story = bench.story();
    let told = story["cases"].as_array().unwrap();
    assert_eq!(told.len(), 2000);
    let repaired = told.iter().find(|case| case["case_id"] == "one").unwrap();
    assert_eq!((repaired["before"].as_str(), repaired["after"].as_str()), (Some("failed"), Some("passed")));
    let report = bench.session.run("report r").unwrap().stdout;
    assert!(report.contains("1999 more cases passed before and pass now."), "{report}");
}
