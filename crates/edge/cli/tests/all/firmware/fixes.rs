//! Runs that end in success: by templates or by a model, in the first round or in a later one.

use interlock_testkit_activity::model_server::{ModelServer, Scripted};
use interlock_testkit_cli::session::Transcript;

use super::{
    bench::Bench,
    learning::{BOTH, LOCAL},
    scene::{BUG, FIX, Scene, bad, git, good, is_missing, parts_are_missing},
};

#[test]
fn without_a_model_templates_repair_the_bug_and_the_report_says_how() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::without_model();
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    scene.is_fixed();
    let story = scene.story();
    assert_eq!(story["final_status"], "SUCCESS");
    assert_eq!(story["models"]["input_tokens"], 0);
    let cases = story["cases"].as_array().unwrap();
    let repaired = |name: &str| {
        cases.iter().any(|case| case["case_id"] == name && case["before"] != "passed" && case["after"] == "passed")
    };
    assert!(repaired("frame_one_byte_too_long_is_refused"), "{story}");
    assert!(cases.iter().all(|case| case["after"] == "passed"), "{story}");
    assert!(story["artifacts"]["patch"].as_str().unwrap().contains(FIX), "{story}");
    for format in ["md", "html"] {
        let report = scene.session.run(&format!("report r --format {format}")).unwrap();
        assert!(
            report.stdout.contains("plausible, not proven") && report.stdout.contains("Interlock itself"),
            "{report}"
        );
    }
    assert_eq!(scene.session.run("verify r").unwrap().code, Some(0));
    let undone = scene.session.run("undo r").unwrap();
    assert_eq!(undone.code, Some(0), "{undone}");
    scene.is_untouched();
}

#[test]
fn a_models_patch_is_used_and_its_tokens_are_in_the_report() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::with_patches(&[good()]);
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    scene.is_fixed();
    let story = scene.story();
    assert!(story["models"]["input_tokens"].as_u64().unwrap() > 0, "{story}");
    assert!(story["models"]["cost"].as_f64().unwrap() > 0.0, "{story}");
    let asked = scene.server.as_ref().unwrap().asked();
    assert!(asked[0].text().contains("frame_decode"), "the model sees the sources");
}

#[test]
fn the_third_patch_is_the_one() {
    if parts_are_missing() {
        return;
    }
    let off = bad(BUG, "    if (decoder->count > FRAME_BODY_MAX + 1u) {");
    let other = bad(BUG, "    if (decoder->count > FRAME_BODY_MAX - FRAME_TRAILER) {");
    let scene = Scene::with_patches(&[off, other, good()]);
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    scene.is_fixed();
    assert_eq!(scene.story()["iterations"], 3, "{}", scene.trace());
}

#[test]
fn a_patch_that_breaks_the_build_is_rolled_back_and_the_next_is_tried() {
    if parts_are_missing() {
        return;
    }
    let broken = bad(BUG, "    if (decoder->cuont >= FRAME_BODY_MAX) {");
    let scene = Scene::with_patches(&[broken, good()]);
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    scene.is_fixed();
    let trace = scene.trace();
    assert!(
        trace.contains("BUILD_FAILURE 1: clean and build again") && trace.contains("BUILD_FAILURE 2: roll back"),
        "{trace}"
    );
}

#[test]
fn a_patch_with_a_syntax_error_is_refused_before_anything_is_built() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::with_patches(&[bad(BUG, "    if (decoder->count >= FRAME_BODY_MAX {"), good()]);
    let ran = scene.run();
    let trace = scene.trace();
    assert_eq!(ran.code, Some(0), "{ran}\n{trace}");
    assert!(trace.contains("with the patch this is a syntax error") && !trace.contains("build failed"), "{trace}");
    scene.is_fixed();
}

#[test]
fn a_regression_is_caught_and_rolled_back() {
    if parts_are_missing() {
        return;
    }
    let from = "    decoder->frame.command = body[1];";
    let worse = bad(from, "    decoder->frame.command = body[0];");
    let scene = Scene::with_patches(&[worse, good()]);
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    scene.is_fixed();
    assert!(scene.trace().contains("ROLLBACK"), "{}", scene.trace());
}

#[test]
fn where_a_model_talks_nonsense_throughout_rules_and_templates_take_over() {
    if parts_are_missing() {
        return;
    }
    let nonsense = ["I would rather not.", "{\"signal\": \"yes\"}", "", "```json\n{}\n```"];
    let scene = Scene::with_server(ModelServer::start(move |at, _| {
        let text = nonsense[at % nonsense.len()];
        if at % 5 == 4 {
            Scripted::page(502)
        } else {
            interlock_testkit_activity::model_server::Dialect::Chat.says(text)
        }
    }));
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    scene.is_fixed();
}

#[test]
fn a_fix_is_committed_to_a_branch_of_its_own_where_that_is_asked_for() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::with_patches(&[good()]);
    scene.task("max_iterations: 5", "max_iterations: 5, commit_branch: fix/length");
    let before = git(&scene.root(), &["rev-parse", "HEAD"]);
    std::fs::write(scene.root().join("notes.txt"), "nobody else's business\n").unwrap();
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    let files = git(&scene.root(), &["show", "--name-only", "--format=", "fix/length"]);
    assert_eq!(files.trim(), "parser/src/frame.c", "the fix and nothing else");
    let shown = git(&scene.root(), &["show", "fix/length"]);
    assert!(shown.contains(FIX), "{shown}");
    assert_eq!(git(&scene.root(), &["rev-parse", "HEAD"]), before, "the branch that is checked out did not move");
}

#[test]
fn a_fix_that_cannot_be_committed_is_in_the_working_tree_and_everybody_is_told() {
    if is_missing(&["git"]) {
        return;
    }
    let bench = Bench::new(&format!("{LOCAL}\nconstraints: {{ commit_branch: fix/values }}"), &[BOTH.to_owned()]);
    let (root, file) = (bench.root(), bench.root().join("fw.sh"));
    let found = std::fs::read_to_string(&file).unwrap();
    git(&root, &["checkout", "--quiet", "-b", "fix/values"]);
    std::fs::write(&file, "echo another way\n").unwrap();
    bench.commit();
    git(&root, &["checkout", "--quiet", "-"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), found);
    let ran = bench.session.run("run firmware --input task.yaml --name r --json").unwrap();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", bench.trace());
    let told = "in the working tree, and NOT committed to fix/values: ";
    assert!(ran.stderr.trim_end().lines().last().unwrap().contains(told), "{ran}");
    let left: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(left["reason"].as_str().unwrap().contains(told), "{ran}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("A=2\nB=2\n"));
    for format in ["md", "html"] {
        let report = bench.session.run(&format!("report r --format {format}")).unwrap().stdout.replace("&#x2f;", "/");
        assert!(report.contains("It is in the working tree, but NOT committed to fix/values: "), "{report}");
        // The evidence of a hypothesis is a named link to its place in the report.
        let (_, hypotheses) = report.split_once("hypothesis").unwrap();
        let (_, linked) = hypotheses.split_once(if format == "md" { "](#" } else { "<a href=\"#" }).unwrap();
        let anchor = linked.split([')', '"']).next().unwrap();
        assert!(anchor.starts_with("file-") && report.contains(&format!(" id=\"{anchor}\">")), "{anchor}: {report}");
    }
    let commit = bench.story()["commit"].clone();
    assert_eq!((&commit["branch"], &commit["is_made"]), (&"fix/values".into(), &false.into()));
    assert_ne!(commit["why_not"], "");
}

#[test]
fn where_everything_passes_the_report_says_that_nothing_is_wrong_and_compares_nothing() {
    if is_missing(&["git"]) {
        return;
    }
    let bench = Bench::new(&format!("{LOCAL}\nconstraints: {{ metrics: {{ duration_ms: {{ max: 60000 }} }} }}"), &[]);
    let file = bench.root().join("fw.sh");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("=1\n", "=2\n")).unwrap();
    bench.commit();
    let ran = bench.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", bench.trace());
    let report = bench.session.run("report r").unwrap().stdout;
    let section = |title: &str| {
        let (_, rest) = report.split_once(&format!("\n## {title}\n")).unwrap_or_else(|| panic!("{report}"));
        rest.split("\n## ").next().unwrap().to_owned()
    };
    let wrong = section("Cause");
    assert!(wrong.contains("Nothing: every case passes on the tree as it was found."), "{wrong}");
    assert!(!report.contains("## Before and after") && !report.contains("| after |"), "{report}");
    assert_eq!(section("Cases").trim(), "2 cases pass.");
    let figures = section("Figures");
    assert!(
        figures.contains("| figure | as it was found | threshold |") && figures.contains("at most 60000"),
        "{figures}"
    );
}

#[test]
fn a_patch_that_was_refused_is_not_offered_again_in_other_words() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::without_model();
    scene.task("max_iterations: 5", "max_iterations: 5, human_review: true");
    let patch = |said: Transcript| {
        assert_eq!(said.code, Some(4), "{said}");
        let shown = scene.session.run("show r --json").unwrap().stdout;
        serde_json::from_str::<serde_json::Value>(&shown).unwrap()["context"]["patch"].as_str().unwrap().to_owned()
    };
    let first = patch(scene.run());
    assert!(first.contains(&format!("+{FIX}")), "{first}");
    let second = patch(scene.session.run(r#"send r reject --data '{"text":"another"}'"#).unwrap());
    // The next patch of the templates compiles to the same code, so it must be skipped.
    assert!(second != first && !second.contains("> FRAME_BODY_MAX - 1"), "{second}");
}

#[test]
fn a_renamed_copy_of_the_machine_keeps_its_report() {
    if is_missing(&["git"]) {
        return;
    }
    let bench = Bench::new(LOCAL, &[BOTH.to_owned()]);
    assert_eq!(bench.session.run("init firmware").unwrap().code, Some(0));
    let machines = bench.root().join(".interlock/machines");
    std::fs::rename(machines.join("firmware"), machines.join("board-doctor")).unwrap();
    let file = machines.join("board-doctor/machine.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("machine: firmware\n"));
    std::fs::write(&file, text.replace("machine: firmware\n", "machine: board-doctor\n")).unwrap();
    bench.commit();
    let ran = bench.session.run("run board-doctor --input task.yaml --name r").unwrap();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", bench.trace());
    let story = bench.story();
    assert_eq!(story["final_status"], "SUCCESS", "{story}");
    let report = bench.session.run("report r").unwrap().stdout;
    let sentence = story["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("2 of 2 cases fail as found (`one`: it is 1 at fw.sh:2"), "{sentence}");
    assert!(report.contains("## Delivery") && report.contains(sentence), "{report}");
}
