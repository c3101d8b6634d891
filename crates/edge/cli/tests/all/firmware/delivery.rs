//! Delivery of patches, and runs that never search for one: flaky trees, patches that only a person may deliver, wrong
//! set-ups.

use std::{fs, path::PathBuf};

use interlock_testkit_activity::model_server::{Dialect, ModelServer};
use interlock_testkit_cli::session::{Session, Transcript};
use serde_json::Value as Json;
use tempfile::TempDir;

use super::{
    bench::{Bench, FIRMWARE},
    learning::{BOTH, LOCAL},
    scene::{Scene, answer, git, good, is_missing, parts_are_missing},
};

/// Writes a firmware whose first case passes or fails depending on a counter outside the tree.
fn counting(bench: &Bench, rule: &str) {
    let kept = bench.folder.path().join("kept");
    fs::create_dir_all(&kept).unwrap();
    let file = kept.join("count");
    let count = format!("n=$(cat {0} 2>/dev/null || echo 0)\nn=$((n + 1))\necho $n > {0}\n{rule}\n", file.display());
    let text = FIRMWARE.replace("B=1", "B=2").replace("# cases\n", &format!("# cases\n{count}"));
    fs::write(bench.root().join("fw.sh"), text).unwrap();
    let task = fs::read_to_string(bench.root().join("task.yaml")).unwrap();
    let writes = format!("command: sh fw.sh, write: ['{}']", kept.display());
    fs::write(bench.root().join("task.yaml"), task.replace("command: sh fw.sh", &writes)).unwrap();
    bench.commit();
}

#[test]
fn case_that_passes_every_second_time_is_flaky_and_nothing_is_searched_for_it() {
    if is_missing(&["git"]) {
        return;
    }
    let bench = Bench::new(LOCAL, &[BOTH.to_owned()]);
    counting(&bench, "A=$((n % 2 + 1))");
    // The first start would give 2 and pass. The counter begins at 1, so that the baseline sees a failure.
    fs::write(bench.folder.path().join("kept/count"), "1\n").unwrap();
    let ran = bench.run();
    let trace = bench.trace();
    assert_eq!(ran.code, Some(1), "{ran}\n{trace}");
    assert!(trace.contains("FLAKY, so nothing was searched for"), "{trace}");
    assert!(trace.contains("one passed in 3 of 6 runs of the same tree"), "{trace}");
    assert!(!trace.contains("CODE_ANALYSIS"), "{trace}");
    bench.is_untouched();
    let report = bench.session.run("report r").unwrap().stdout;
    assert!(report.contains("one passed in 3 of 6 runs"), "{report}");
}

#[test]
fn case_that_fails_in_nine_of_ten_starts_is_flaky() {
    if is_missing(&["git"]) {
        return;
    }
    // It fails in the first start and in five controls, as a case that always fails does.
    let bench = Bench::new(LOCAL, &[BOTH.to_owned()]);
    counting(&bench, "[ $((n % 10)) = 9 ] && A=2");
    let ran = bench.run();
    let trace = bench.trace();
    assert_eq!(ran.code, Some(1), "{ran}\n{trace}");
    assert!(trace.contains("FLAKY, so nothing was searched for"), "{trace}");
    bench.is_untouched();
}

#[test]
fn patch_that_was_lucky_is_told_by_the_untouched_tree_that_passes_too() {
    if is_missing(&["git"]) {
        return;
    }
    // The case fails until the baseline and its controls are over, and then passes, with or without a change.
    let harmless = "--- a/fw.sh\n+++ b/fw.sh\n@@ -1,2 +1,2 @@\n-# values\n+# the values\n A=1\n".to_owned();
    let bench = Bench::new(&format!("{LOCAL}\ncontrols: 5"), &[harmless]);
    counting(&bench, "[ $n -gt 6 ] && A=2");
    let ran = bench.run();
    let trace = bench.trace();
    assert_eq!(ran.code, Some(1), "{ran}\n{trace}");
    assert!(trace.contains("FLAKY, so the patch is not delivered"), "{trace}");
    assert!(trace.contains("one passes in 5 of 5 runs on the untouched tree and passes in 5 of 5 runs"), "{trace}");
    bench.is_untouched();
}

#[test]
fn controls_run_as_often_as_the_task_says() {
    if is_missing(&["git"]) {
        return;
    }
    let bench = Bench::new(LOCAL, &[BOTH.to_owned()]);
    let task = fs::read_to_string(bench.root().join("task.yaml")).unwrap();
    fs::write(bench.root().join("task.yaml"), format!("controls: 3\n{task}")).unwrap();
    bench.commit();
    let ran = bench.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", bench.trace());
    let decision = bench.story()["decision"].clone();
    assert_eq!((&decision["control_runs"], &decision["control_starts"]), (&3.into(), &6.into()), "{decision}");
}

/// A program in C with its tests, and a model that writes one patch.
struct Project {
    folder: TempDir,
    session: Session,
    _server: Option<ModelServer>,
}

const TASK: &str = "goal: All cases pass\nrepo_path: .\nBUILD\ntest_profile:\n  env_type: local\n  cases: [works]\n  format: tap\n  timeout_sec: 20\n  config: { command: ./program }\nCONSTRAINTS\n";

const BUILD: &str = "build: { commands: [\"cc -g -o program src/code.c tests/main.c\"], image: program, needs: [cc] }";

impl Project {
    fn new(code: &str, tests: &str, build: &str, rest: &str, patch: Option<(&str, &str)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        let task = TASK.replace("BUILD", build).replace("CONSTRAINTS", rest);
        for (name, text) in [("src/code.c", code), ("tests/main.c", tests), ("task.yaml", &task)] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        git(&root, &["init", "--quiet"]);
        git(&root, &["add", "--all"]);
        git(&root, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "as it was"]);
        let home = folder.path().join("home");
        let server = patch.map(|(from, to)| {
            let patch = super::scene::patch(code, "src/code.c", from, to);
            let server = ModelServer::saying(vec![Dialect::Chat.says(&answer(&patch))]);
            fs::create_dir_all(&home).unwrap();
            fs::set_permissions(&home, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
            let judge = "provider = \"openai-chat\"\nmodel = \"tiny\"";
            let chains = "[chains]\ndefault = [\"rules\"]\njudge.patch = [\"near\"]\n";
            fs::write(
                home.join("judges.toml"),
                format!("[judges.near]\n{judge}\nbase_url = \"{}\"\n{chains}", server.url),
            )
            .unwrap();
            server
        });
        let session =
            Session::new(env!("CARGO_BIN_EXE_interlock"), &root).with("INTERLOCK_HOME", home.display().to_string());
        Project { folder, session, _server: server }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn run(&self) -> Transcript {
        self.session.run("run firmware --input task.yaml --name r").unwrap()
    }

    fn is_untouched(&self) {
        assert_eq!(git(&self.root(), &["status", "--porcelain"]), "");
    }

    /// Asserts that the run ends in failure with these words, without a change and without an analysis.
    fn is_set_up_wrong(&self, words: &[&str]) {
        let ran = self.run();
        assert_eq!(ran.code, Some(1), "{ran}");
        let last = ran.stderr.lines().rev().find(|line| line.contains("→ FAILURE")).unwrap_or_default();
        for words in ["the set-up is wrong, so nothing was searched for"].iter().chain(words) {
            assert!(last.contains(words), "`{words}` is not in {last}\n{ran}");
        }
        assert!(!ran.stderr.contains("CODE_ANALYSIS"), "{ran}");
        self.is_untouched();
    }
}

const FIND: &str = "int find(const char *text, const char *needle, int len) {\n    int at = 0;\n    while (text[at]) {\n        at++;\n    }\n    return len > at;\n}\n";

const FIND_TESTS: &str = "#include <stdio.h>\nint find(const char *text, const char *needle, int len);\nint main(void) {\n    printf(\"1..1\\n%s 1 - works\\n\", find(\"456123\", \"612\", 3) == 1 ? \"ok\" : \"not ok\");\n    return 0;\n}\n";

#[test]
fn models_patch_that_repeats_the_data_of_the_test_is_not_delivered_whatever_the_settings() {
    if is_missing(&["cc", "git"]) {
        return;
    }
    let fitted = ("    int at = 0;", "    if (len == 3 && needle[0] == '6') return 1;\n    int at = 0;");
    let project = Project::new(FIND, FIND_TESTS, BUILD, "deliver: measured", Some(fitted));
    let ran = project.run();
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stderr.contains("never delivered without a person"), "{ran}");
    assert!(ran.stderr.contains("'6' is new in the code and is data of the failing test"), "{ran}");
    project.is_untouched();
    let report = project.session.run("report r --format json").unwrap().stdout;
    let story = serde_json::from_str::<Json>(&report).unwrap()["story"].clone();
    assert!(story["decision"]["doubts"].as_str().unwrap().contains("data of the failing test"), "{story}");
    assert!(story["decision"]["warning"].as_str().unwrap().contains("deliver: measured"), "{story}");
    assert!(story["sentence"].as_str().unwrap().contains("is NOT in the sources"), "{story}");
}

const WAIT: &str = "static volatile int ready;\nint transmit(int byte) {\n    int turns = 0;\n    while (!ready) {\n        if (++turns > 1000) return -1;\n    }\n    return byte;\n}\n";

const WAIT_TESTS: &str = "#include <stdio.h>\nint transmit(int byte);\nint main(void) {\n    printf(\"1..1\\n%s 1 - works\\n\", transmit(7) == 7 ? \"ok\" : \"not ok\");\n    return 0;\n}\n";

#[test]
fn wait_for_hardware_that_is_inverted_is_for_a_person_whatever_the_settings() {
    if is_missing(&["cc", "git"]) {
        return;
    }
    let inverted = ("    while (!ready) {", "    while (ready) {");
    let rest = "deliver: measured\nconstraints: { allow_human: true }";
    let project = Project::new(WAIT, WAIT_TESTS, BUILD, rest, Some(inverted));
    let waits = project.run();
    assert_eq!(waits.code, Some(4), "{waits}");
    let shown = project.session.run("show r").unwrap().stdout;
    for words in [
        "PLAUSIBLE_FIX",
        "+    while (ready) {",
        "now waits for the opposite",
        "1 case (works) failed without the patch",
    ] {
        assert!(shown.contains(words), "`{words}` is not in {shown}");
    }
    project.is_untouched();
    let refused = project.session.run(r#"send r reject --data '{"text":"it must wait"}'"#).unwrap();
    assert_ne!(refused.code, Some(0), "{refused}");
    project.is_untouched();
}

#[test]
fn good_patch_of_a_model_waits_for_a_person_and_is_delivered_when_one_vouches_for_it() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::with_patches(&[good()]).shipped();
    let waits = scene.run();
    assert_eq!(waits.code, Some(4), "{waits}\n{}", scene.trace());
    scene.is_untouched();
    let shown = scene.session.run("show r").unwrap().stdout;
    for words in ["PLAUSIBLE_FIX", "witnesses = ", "in all 5 control runs of each tree", "kept_confidence = 0.19"] {
        assert!(shown.contains(words), "`{words}` is not in {shown}");
    }
    let sent = scene.session.run("send r approve").unwrap();
    assert_eq!(sent.code, Some(0), "{sent}\n{}", scene.trace());
    scene.is_fixed();
    let story = scene.story();
    let sentence = story["sentence"].as_str().unwrap();
    for words in
        ["2 of 22 cases fail as found", "the patch changes parser/src/frame.c and is in the sources", "vouched for it"]
    {
        assert!(sentence.contains(words), "`{words}` is not in {sentence}");
    }
    assert_eq!(story["decision"]["warning"], "");
    let report = scene.session.run("report r").unwrap().stdout;
    assert!(report.contains("Risk of all patches: 0.001. 0.001: size 0.001 (2 lines)"), "{report}");
    let failing = story["failing"].as_array().unwrap();
    assert!(
        failing.iter().all(|case| !case["message"].as_str().unwrap().is_empty()
            && case["place"].as_str().unwrap().contains("test_parser.c:")),
        "{story}"
    );
    for tool in ["interlock", "git", "qemu-system-arm", "arm-none-eabi-gcc", "compiler of the image"] {
        assert!(
            story["tools"][tool].as_str().is_some_and(|version| version.contains('.')),
            "{tool}: {}",
            story["tools"]
        );
    }
    let repeat = story["repeat"].to_string();
    assert!(repeat.contains("make") && repeat.contains("qemu-system-arm -nographic -machine mps2-an385"), "{repeat}");
    for format in ["md", "html"] {
        let report = scene.session.run(&format!("report r --format {format}")).unwrap().stdout;
        assert!(
            report.contains("cases fail as found")
                && report.contains("How to repeat it")
                && report.contains("FRAME_BODY_MAX"),
            "{report}"
        );
    }
}

#[test]
fn patch_of_templates_is_capped_at_what_was_measured_and_never_delivers_itself() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::without_model().shipped();
    scene.task(", allow_human: true", "");
    let ran = scene.run();
    let trace = scene.trace();
    assert_eq!(ran.code, Some(1), "{ran}\n{trace}");
    assert!(trace.contains("plausible, not proven"), "{trace}");
    scene.is_untouched();
    let decision = scene.story()["decision"].clone();
    let sure = decision["confidence"].as_f64().unwrap();
    assert!(sure <= 0.56, "{decision}");
    assert!(decision["candidates_tried"].as_u64().unwrap() > 0, "{decision}");
    assert!(decision["why"].as_str().unwrap().contains("0.8 is asked for"), "{decision}");
}

#[test]
fn image_for_another_machine_is_named_before_any_search() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::without_model();
    scene.task("commands: [make]", "commands: ['mkdir -p build', 'cp /bin/sh build/fw.elf']");
    let ran = scene.run();
    assert_eq!(ran.code, Some(1), "{ran}");
    let trace = scene.trace();
    assert!(trace.contains("the set-up is wrong") && trace.contains("which qemu-system-arm does not run"), "{trace}");
    assert!(!trace.contains("TEMPLATE_SEARCH"), "{trace}");
}

#[test]
fn image_that_is_no_elf_is_named_before_any_search() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::without_model();
    scene.task("commands: [make]", "commands: ['mkdir -p build', 'echo no image > build/fw.elf']");
    scene.task("timeout_sec: 10", "timeout_sec: 3");
    let ran = scene.run();
    assert_eq!(ran.code, Some(1), "{ran}");
    let trace = scene.trace();
    assert!(trace.contains("`build.image` build/fw.elf is text, no ELF file"), "{trace}");
    assert!(!trace.contains("TEMPLATE_SEARCH"), "{trace}");
}

#[test]
fn limit_that_is_too_short_is_named_before_any_search() {
    if is_missing(&["cc", "git"]) {
        return;
    }
    let slow = "#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n    printf(\"1..1000\\n\");\n    for (int i = 1; i <= 1000; i++) {\n        printf(\"ok %d - case_%d\\n\", i, i);\n        fflush(stdout);\n        usleep(20000);\n    }\n    return 0;\n}\n";
    let project = Project::new("int unused;\n", slow, BUILD, "", None);
    let task = fs::read_to_string(project.root().join("task.yaml")).unwrap();
    fs::write(
        project.root().join("task.yaml"),
        task.replace("timeout_sec: 20", "timeout_sec: 1").replace("[works]", "[case_1, case_900]"),
    )
    .unwrap();
    git(
        &project.root(),
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--all", "--message", "short"],
    );
    project.is_set_up_wrong(&["reached its limit of 1 s while it still printed", "raise `timeout_sec`"]);
}

#[test]
fn what_the_sandbox_refuses_is_named_with_its_path_before_any_search() {
    if is_missing(&["cc", "git"]) {
        return;
    }
    let writes = "#include <stdio.h>\nint main(void) {\n    FILE *file = fopen(\"/var/interlock-refused.bin\", \"w\");\n    if (!file) perror(\"/var/interlock-refused.bin\");\n    printf(\"1..1\\n%s 1 - works\\n\", file ? \"ok\" : \"not ok\");\n    return 0;\n}\n";
    let project = Project::new("int unused;\n", writes, BUILD, "", None);
    project.is_set_up_wrong(&["the sandbox refused /var/interlock-refused.bin", "config.write"]);
}

#[test]
fn sources_that_are_not_in_the_image_are_named_before_any_search() {
    if is_missing(&["cc", "git"]) {
        return;
    }
    let other = BUILD.replace("cc -g -o program src/code.c", "cp src/code.c other.c && cc -g -o program other.c");
    let project = Project::new(FIND, FIND_TESTS, &other, "constraints: { allowed_paths: [\"src/**\"] }", None);
    project.is_set_up_wrong(&["no source that may be changed is in `build.image` program", "other.c", "src/code.c"]);
}
