//! Observations print and change nothing else.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::{Expect, expect};
use interlock_repair::{Printer, functions, observe, printers};

const SCALE: &str = "#include \"../common/board.h\"\nstatic int half(int n) { return n / 2; }\nint scale(int value, uint8_t factor, const char *name)\n{\n    if (factor == 0) {\n        return -1;\n    }\n    if (value > 99) return 99;\n    return half(value);\n}\n";

fn files() -> BTreeMap<String, String> {
    let board = "void board_print(const char *text);\nint log_line(const char *format, ...);\n";
    [("src/scale.c", SCALE), ("common/board.h", board)].map(|(path, text)| (path.to_owned(), text.to_owned())).into()
}

fn check(printer: Printer, expected: Expect) {
    let files = files();
    let of = functions(&files, &[], &BTreeSet::new());
    let change = observe(&files, &printer, &of).unwrap();
    let added: Vec<&str> =
        change.patch.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++")).collect();
    assert!(!change.patch.lines().any(|line| line.starts_with('-') && !line.starts_with("---")), "{}", change.patch);
    expected.assert_eq(&added.join("\n"));
}

#[test]
fn arguments_and_plain_results_are_printed() {
    check(
        Printer::StandardError,
        expect![[r#"
            +#include <stdio.h>
            +    fprintf(stderr, "interlock-trace: src/scale.c:3: scale(value=%ld, factor=%ld, name=%ld)\n", (long)(value), (long)(factor), (long)(name));
            +        fprintf(stderr, "interlock-trace: src/scale.c:6: scale = %ld\n", (long)(-1));"#]],
    );
    check(
        Printer::Format("log_line".into()),
        expect![[r#"
            +    log_line("interlock-trace: src/scale.c:3: scale(value=%d, factor=%d, name=%d)\n", (int)(value), (int)(factor), (int)(name));
            +        log_line("interlock-trace: src/scale.c:6: scale = %d\n", (int)(-1));"#]],
    );
}

#[test]
fn printers_are_found_in_the_sources() {
    let found = printers(&files());
    assert_eq!(found, [Printer::Format("log_line".into()), Printer::Text("board_print".into())]);
}
