//! The order of files and symbols on a map.

use expect_test::expect;
use interlock_codemap::{BYTES_PER_TOKEN, Wish};

use crate::{Folder, paths};

/// Creates four mostly independent parts and one that all of them use.
fn project() -> Folder {
    Folder::new(&[
        (
            "src/uart.c",
            "#include \"log.h\"\nint uart_send(const char *text) { log_line(text); return 0; }\nint uart_baud(void) { return 9600; }\n",
        ),
        (
            "src/ring.c",
            "#include \"log.h\"\nint ring_push(int v) { log_line(\"push\"); return v; }\nint ring_pop(void) { return 0; }\n",
        ),
        ("src/timer.c", "#include \"log.h\"\nint timer_start(int ms) { log_line(\"start\"); return ms; }\n"),
        ("src/log.c", "void log_line(const char *text) { (void)text; }\n"),
        ("src/main.c", "int main(void) { uart_send(\"x\"); ring_push(1); timer_start(5); return 0; }\n"),
        ("tests/test_ring.c", "int test_ring_push(void) { return ring_push(1); }\n"),
        ("docs/ring.md", "# The ring\n"),
        ("docs/other.md", "# Other\n"),
    ])
}

#[test]
fn a_map_is_about_its_goal() {
    expect![[r#"
        8 files: 6 c, 2 markdown
        src/ring.c
             2  int ring_push(int v)
             3  int ring_pop(void)
        tests/test_ring.c
             1  int test_ring_push(void)
        src/log.c
             1  void log_line(const char *text)
        src/main.c
             1  int main(void)
        src/timer.c
             2  int timer_start(int ms)
        src/uart.c
             2  int uart_send(const char *text)
             3  int uart_baud(void)
        docs/ring.md
    "#]]
    .assert_eq(&project().map("the ring overflows when pushing").to_text());
}

#[test]
fn without_a_goal_the_most_used_file_comes_first() {
    assert_eq!(paths(&project().map(""))[0], "src/log.c");
}

#[test]
fn another_goal_gives_another_map() {
    let folder = project();
    assert_eq!(paths(&folder.map("change the baud rate of the uart"))[0], "src/uart.c");
    assert_eq!(paths(&folder.map("start timers earlier"))[0], "src/timer.c");
}

#[test]
fn files_in_a_log_come_first_with_the_mentioned_symbols() {
    let folder = project();
    let survey = folder.survey();
    let wish = Wish::goal("make it build").with_log("/build/3/src/uart.c:3:20: error: expected ';'\n");
    let ranking = survey.rank(&wish);
    let first = &ranking.places(1)[0];
    assert_eq!((first.path.as_str(), first.line), ("src/uart.c", 3));
    let named = survey.rank(&Wish::goal("something is wrong in timer.c"));
    assert_eq!(named.places(1)[0].path, "src/timer.c");
}

#[test]
fn tests_come_after_the_code_unless_the_goal_asks_for_them() {
    let folder = project();
    let first = |goal: &str| folder.survey().rank(&Wish::goal(goal)).places(1)[0].signature.clone();
    assert_eq!(first("ring push"), "int ring_push(int v)");
    assert_eq!(first("the test of ring push"), "int test_ring_push(void)");
}

#[test]
fn a_map_stays_within_its_budget_and_a_larger_budget_shows_more() {
    let files: Vec<(String, String)> = (0..200)
        .map(|at| {
            (
                format!("src/part_{at}.c"),
                format!("int part_{at}_run(int value, const char *why) {{ return part_{}_run(1, why); }}\n", at / 2),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let folder = Folder::new(&files);
    let survey = folder.survey();
    let ranking = survey.rank(&Wish::default());
    let mut before = 0;
    for tokens in [50, 100, 500, 1_000, 4_000] {
        let map = ranking.map(tokens);
        assert!(map.to_text().len() <= tokens * BYTES_PER_TOKEN, "{tokens}: {}", map.to_text().len());
        assert!(map.tokens <= tokens && map.entries.len() > before, "{tokens}: {} files", map.entries.len());
        before = map.entries.len();
    }
}

#[test]
fn odd_goals_and_budgets_still_give_a_map() {
    let folder = project();
    for goal in ["", "   ", "?!", "é ✂ 漢字", &"long ".repeat(100_000)] {
        assert_eq!(folder.map(goal).files, 8);
    }
    let survey = folder.survey();
    assert!(survey.rank(&Wish::default()).map(0).entries.is_empty());
    assert!(!survey.rank(&Wish::default()).map(usize::MAX).entries.is_empty());
}
