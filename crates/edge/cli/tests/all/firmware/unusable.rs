//! Patches of a model that cannot be used: the templates follow before a person is asked or the run ends.

use super::scene::{Scene, bad, parts_are_missing};

fn templates_repair_after(patches: &[String]) -> String {
    let scene = Scene::with_patches(patches);
    let done = scene.run();
    let trace = scene.trace();
    assert_eq!(done.code, Some(0), "{done} {trace}");
    assert!(trace.contains("the templates write the next patch") || trace.contains("rules and templates"), "{trace}");
    assert_eq!(scene.story()["patch_origin"], "template", "{trace}");
    scene.is_fixed();
    trace
}

#[test]
fn templates_follow_an_answer_without_a_diff() {
    if parts_are_missing() {
        return;
    }
    templates_repair_after(&["I would change the comparison.".to_owned()]);
}

#[test]
fn templates_follow_a_patch_that_does_not_apply() {
    if parts_are_missing() {
        return;
    }
    let elsewhere = "--- a/parser/src/frame.c\n+++ b/parser/src/frame.c\n@@ -1,3 +1,3 @@\n nothing\n-like this\n+is there\n at all\n";
    templates_repair_after(&[elsewhere.to_owned()]);
}

#[test]
fn templates_follow_a_patch_that_does_not_compile() {
    if parts_are_missing() {
        return;
    }
    templates_repair_after(&[bad(super::scene::BUG, "    if (decoder->cuont >= FRAME_BODY_MAX) {")]);
}

#[test]
fn templates_follow_a_patch_that_policy_refuses() {
    if parts_are_missing() {
        return;
    }
    let trace = templates_repair_after(&[bad(
        super::scene::BUG,
        "    system(\"reboot\");\n    if (decoder->count >= FRAME_BODY_MAX) {",
    )]);
    assert!(trace.contains("POLICY_VIOLATION 2: add logging only"), "the ladder is climbed first: {trace}");
}

/// Figures may deliver a patch of a model, and do not make it certain.
#[test]
fn a_delivery_by_figures_never_claims_more_than_its_cap() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::with_patches(&[super::scene::good()]);
    let done = scene.run();
    assert_eq!(done.code, Some(0), "{done}");
    let story = scene.story();
    assert!(story["decision"]["confidence"].as_f64().unwrap() <= 0.56, "{}", story["decision"]);
    assert!(!story["sentence"].as_str().unwrap().contains("is 1 sure"), "{}", story["sentence"]);
}

/// A model that says to go on with a patch that breaks cases is not obeyed.
#[test]
fn a_measured_regression_is_rolled_back_whatever_a_judge_says() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::with_decision(&bad(super::scene::BUG, "    if (decoder->count > 0) {"), "CONTINUE");
    let done = scene.run();
    let trace = scene.trace();
    assert!(trace.contains("passed before and does not now"), "{done} {trace}");
    assert!(trace.contains("ROLLBACK_TO_GOOD"), "{trace}");
    assert!(!trace.contains("reason    CONTINUE"), "{trace}");
    scene.is_untouched();
}
