//! The diff of a large change: all files, true counts, content on demand, and the whole to download.

use crate::scene::Scene;

/// Changes files and asks a person.
const CHANGER: &str = "\
machine: changer
version: 1
summary: Changes files and asks.
events: { fine: { from: user, summary: Keep it }, abort: { from: user, summary: Stop } }
initial: writing
on: { abort: { target: gone }, error: { target: gone }, timeout: { target: gone } }
states:
  writing:
    invoke: { activity: command.run, effect: write, with: { command: [sh, write.sh] }, signals: [passed, failed] }
    timeout: 5m
    on: { passed: { target: asking }, failed: { target: gone } }
  asking: { tags: [idle], on: { fine: { target: kept } } }
  kept: { type: final, outcome: success }
  gone: { type: final, outcome: aborted }
";

/// Adds 60 long files, changes one with lines that look like heads of a diff, removes one, and writes a binary one.
const WRITE: &str = "mkdir -p src; for i in $(seq 1 60); do seq 1 2000 | sed \"s/^/file $i line /\" > \"src/file $i.txt\"; done\n\
    printf -- '-- a/fake\\n++ b/fake\\nnew\\n' > notes.txt; rm old.txt; printf 'a\\0b' > picture.bin\n";

#[test]
fn a_person_who_approves_sees_every_changed_file_with_its_counts() {
    let Some(scene) = Scene::new() else { return };
    scene.write(".interlock/machines/changer/machine.yaml", CHANGER);
    scene.write("write.sh", WRITE);
    scene.write("notes.txt", "- a/real\nold\n");
    scene.write("old.txt", "1\n2\n3\n");
    scene.run(&["run", "changer", "--name", "c1"]);
    let browser = scene.view("/inbox");
    // The same while the run waits and after it has ended.
    for view in ["/inbox", "/runs/c1"] {
        scene.view(view).click(if view == "/inbox" { "[data-run=c1]" } else { ".run-head" }, "Diff");
        browser.until_text("dialog .diff-total", "63 files changed, +120,003 −5 lines");
        assert_eq!(browser.value("document.querySelectorAll('dialog details').length"), 63);
        let summary = |path: &str| {
            let found = format!(
                "[...document.querySelectorAll('dialog summary')].find((one) => one.textContent.startsWith({path:?})).textContent"
            );
            browser.value(&found).as_str().unwrap().to_owned()
        };
        assert_eq!(summary("notes.txt"), "notes.txt +3 −2");
        assert_eq!(summary("old.txt"), "old.txt +0 −3");
        assert_eq!(summary("picture.bin"), "picture.bin binary");
        assert_eq!(summary("src/file 60.txt"), "src/file 60.txt +2000 −0");
        browser.until_text("dialog td.plus", "++ b/fake");
        // The content of a file arrives when a person opens it.
        assert_eq!(browser.value("document.body.textContent.includes('file 60 line 2000')"), false);
        browser.script("[...document.querySelectorAll('dialog summary')].find((one) => one.textContent.startsWith('src/file 60')).click()");
        browser.until_text("dialog td.plus", "file 60 line 2000");
        let whole = "const done = arguments[0]; const link = document.querySelector('dialog .diff-total a'); \
            fetch(link.href).then((answer) => answer.text()).then((text) => done([link.download, text.match(/^diff --git /gm).length, text.match(/^\\+file/gm).length]))";
        assert_eq!(browser.script_later(whole), serde_json::json!(["c1.diff", 63, 120_000]));
        if view == "/inbox" {
            scene.run(&["send", "c1", "fine"]);
        }
    }
}

#[test]
fn a_diff_among_the_evidence_has_the_counts_of_all_its_lines() {
    let Some(scene) = Scene::new() else { return };
    let print = "printf -- '--- a/long.txt\\n+++ b/long.txt\\n@@ -1,1 +1,9000 @@\\n-old\\n'; seq 1 9000 | sed 's/^/+/'\n\
        printf -- '--- a/last.txt\\n+++ b/last.txt\\n@@ -1 +1 @@\\n-x\\n+y\\n'\n";
    scene.write("make.sh", print);
    scene.run(&["run", "maker", "--name", "m1"]);
    let browser = scene.view("/runs/m1");
    browser.click(".tabs", "Evidence");
    browser.click(".files", "stdout");
    browser.until_text("dialog summary", "long.txt +9000 −1");
    browser.until_text("dialog summary", "last.txt +1 −1");
    browser.until_text("dialog", "5001 more lines");
}
