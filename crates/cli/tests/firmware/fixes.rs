//! Runs that end well: by templates, by a model, at once or after detours.

use interlock_testkit::model_server::{ModelServer, Scripted};

use crate::scene::{BUG, FIX, Scene, bad, good, parts_are_missing};

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
    let broken = bad(BUG, "    if (decoder->count >= FRAME_BODY_MAX {");
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
        if at % 5 == 4 { Scripted::page(502) } else { interlock_testkit::model_server::Dialect::Chat.says(text) }
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
    let before = crate::scene::git(&scene.root(), &["rev-parse", "HEAD"]);
    std::fs::write(scene.root().join("notes.txt"), "nobody else's business\n").unwrap();
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    let files = crate::scene::git(&scene.root(), &["show", "--name-only", "--format=", "fix/length"]);
    assert_eq!(files.trim(), "parser/src/frame.c", "the fix and nothing else");
    let shown = crate::scene::git(&scene.root(), &["show", "fix/length"]);
    assert!(shown.contains(FIX), "{shown}");
    assert_eq!(
        crate::scene::git(&scene.root(), &["rev-parse", "HEAD"]),
        before,
        "the branch that is checked out did not move"
    );
}
