//! Evidence files on the page.

use crate::scene::Scene;

#[test]
fn logs_have_colours_and_html_is_text() {
    let Some(scene) = Scene::new() else { return };
    scene.write("make.sh", "printf '\\033[31mred\\033[0m <img src=x onerror=\"window.bad=1\"><b>bold</b>\\n'\n");
    let browser = scene.view("/start/maker");
    browser.click("form.card", "Start");
    browser.until("document.querySelector('.run-head .phase.succeeded')");
    browser.click(".tabs", "Evidence");
    browser.click(".panel", "stdout");
    browser.until_text("dialog pre .a-1", "red");
    browser.until_text("dialog pre", "<b>bold</b>");
    assert_eq!(browser.value("document.querySelectorAll('dialog pre b, dialog pre img').length"), 0);
    assert_eq!(browser.value("window.bad ?? null"), serde_json::Value::Null);
}

#[test]
fn a_diff_is_shown_side_by_side() {
    let Some(scene) = Scene::new() else { return };
    scene.write("make.sh", "printf -- '--- a/x\\n+++ b/x\\n@@ -1 +1 @@\\n-old\\n+new\\n'\n");
    let browser = scene.view("/start/maker");
    browser.click("form.card", "Start");
    browser.until("document.querySelector('.run-head .phase.succeeded')");
    browser.click(".tabs", "Evidence");
    browser.click(".panel", "stdout");
    browser.until_text("dialog td.minus", "old");
    let row =
        "[...document.querySelectorAll('dialog .diff tr:has(td.minus) td')].map((cell) => cell.textContent).join()";
    assert_eq!(browser.value(row), "1,old,1,new");
}
