//! Invalid tasks: every problem is named, and no run is created.

use std::fs;

use super::scene::Scene;

fn check(from: &str, to: &str, expected: &[&str]) {
    let scene = Scene::without_model();
    let path = scene.root().join("parser/task.yaml");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    let ran = scene.run();
    assert_eq!(ran.code, Some(2), "{ran}");
    for word in expected {
        assert!(ran.stderr.contains(word), "{word} is not in {ran}");
    }
    let runs = scene.session.run("runs --json").unwrap();
    assert_eq!(runs.stdout.trim(), "[]", "{runs}");
}

#[test]
fn every_problem_of_a_task_is_named_and_no_run_is_left_behind() {
    check(
        "goal: All cases of the frame parser pass\n",
        "",
        &["goal", "`interlock init firmware` writes a valid task.yaml"],
    );
    check("repo_path: .", "repo_path: nowhere", &["repo_path", "nowhere"]);
    check("repo_path: .", "repo_path: /", &["repo_path", "outside", "--repo /"]);
    check("repo_path: .", "repo_path: https://localhost/a.git", &["repo_path", "clone it first"]);
    check("max_iterations: 5", "max_iteration: 5", &["max_iteration"]);
    check("goal:", "goal: twice\ngoal:", &["line 3", "`goal` occurs twice"]);
    check("image: build/fw.elf", "image: /etc/hostname", &["build.image", "/etc/hostname"]);
    check("image: build/fw.elf", "image: ../fw.elf", &["build.image", "../fw.elf"]);
    check("format: unity", "format: unison", &["unison", "unity, tap, ktap", "patterns"]);
    check("env_type: qemu", "env_type: qmeu", &["env_type", "qmeu", "\"qemu\"", "\"windows_script\"", "\"program\""]);
    check("image: build/fw.elf", "image: ''", &["build.image", "QEMU"]);
    let metrics = |metrics: &str, expected: &[&str]| {
        check("max_iterations: 5", &format!("max_iterations: 5, metrics: {metrics}"), expected);
    };
    metrics("{ txt: { max: 3 } }", &["constraints.metrics.txt", "duration_ms"]);
    metrics("{ text: {} }", &["constraints.metrics.text", "rise_max_percent"]);
    metrics("{ covered_lines: { min: 3 } }", &["covered_lines", "coverage: true"]);
    metrics("{ text: { max: -5 } }", &["constraints.metrics.text.max", "-5 is below 0", "use 0 or more"]);
    metrics("{ duration_ms: { rise_max_percent: 9, min: -0.5 } }", &["duration_ms.min", "-0.5 is below 0"]);
    check("max_iterations: 5", "max_iterations: 5, commit_branch: a..b", &["commit_branch", "a..b"]);
    check("max_iterations: 5", "max_iterations: 500", &["max_iterations"]);
    check("targets: [", "targets: [no_such_case, ", &["no_such_case", "not among the cases"]);
    check("allowed_paths: [\"src/**\"]", "allowed_paths: [\"src/[\"]", &["allowed_paths"]);
    check("targets: [", "tags: [quick]\n  targets: [no_such_case, ", &["no_such_case", "no suite has the tag `quick`"]);
    check("max_iterations: 5", "max_iterations: 5, metrics: { text: { most: 3 } }", &["metrics.text", "most"]);
}

#[test]
fn the_target_of_the_example_is_a_case_that_fails() {
    let of = |text: &str| text.lines().find_map(|line| line.trim().strip_prefix("targets: [")).unwrap().to_owned();
    let machine = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../machines/firmware/task.yaml");
    let example = fs::read_to_string(machine).unwrap();
    let target = of(&example).split(']').next().unwrap().to_owned();
    assert!(of(&super::scene::sample("parser/task.yaml")).contains(&target), "{target}");
}

#[test]
fn init_writes_an_example_with_comments_that_fits_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home").display().to_string();
    let session = interlock_testkit_cli::session::Session::new(env!("CARGO_BIN_EXE_interlock"), folder.path())
        .with("INTERLOCK_HOME", home);
    let written = session.run("init firmware").unwrap();
    assert_eq!(written.code, Some(0), "{written}");
    let task = folder.path().join(".interlock/machines/firmware/task.yaml");
    assert!(fs::read_to_string(&task).unwrap().contains("# "), "it has comments");
    let checked = session.run("check firmware").unwrap();
    assert_eq!(checked.code, Some(0), "{checked}");
}
