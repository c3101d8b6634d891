//! Failures that do not end open the breaker: the run stops, says why, and the sources are as they were found.

use std::fs;

use crate::scene::{BUG, Scene, bad, git, parts_are_missing};

/// A patch that does not build; each another one.
fn broken(number: usize) -> String {
    bad(BUG, &format!("    if (decoder->count > FRAME_BODY_MAX + {number}u {{"))
}

/// A patch that builds and changes nothing for the better.
fn harmless(number: usize) -> String {
    bad("    decoder->inside = 1;", &format!("    decoder->inside = {};", number + 1))
}

#[test]
fn more_than_five_rollbacks_open_the_breaker() {
    if parts_are_missing() {
        return;
    }
    // Broken builds are rolled back, and so are rounds that bring nothing. Three of either in a row would be the end for another reason.
    let patches = [broken(1), broken(2), harmless(1), broken(3), broken(4), harmless(2)];
    let scene = Scene::with_patches(&patches);
    scene.task("max_iterations: 5", "max_iterations: 50");
    let ran = scene.run();
    let trace = scene.trace();
    assert_eq!(ran.code, Some(1), "{ran}\n{trace}");
    assert!(trace.contains("breaker open: more than 5 rollbacks"), "{trace}");
    assert_eq!(scene.story()["final_status"], "FAILURE");
    scene.is_untouched();
    assert_eq!(scene.session.run("verify r").unwrap().code, Some(0));
}

#[test]
fn patches_whose_risks_sum_up_open_the_breaker() {
    if parts_are_missing() {
        return;
    }
    let patches = [broken(1), broken(2), harmless(1), broken(3), broken(4), harmless(2)];
    let scene = Scene::with_patches(&patches);
    // A project that is wary of changes: every line counts as much as two hundred elsewhere, and none is refused for that.
    fs::create_dir_all(scene.root().join(".interlock")).unwrap();
    let table = "version = 1\n[weights]\nsize = 0.6\n[full]\nlines = 2\n";
    fs::write(scene.root().join(".interlock/risk.toml"), table).unwrap();
    git(&scene.root(), &["add", "--all"]);
    scene.task("max_iterations: 5", "max_iterations: 50");
    let ran = scene.run();
    let trace = scene.trace();
    assert_eq!(ran.code, Some(1), "{ran}\n{trace}");
    assert!(trace.contains("breaker open: summed patch risk"), "{trace}");
    scene.is_untouched();
}
