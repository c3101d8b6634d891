//! Patches that pass every case but must not be delivered without a person's approval.

use std::collections::BTreeMap;

use interlock_repair::DoubtKind::{TestConstant, WaitChanged, WaitInverted, WaitRemoved};
use interlock_repair::{Change, Doubt, DoubtKind, FailingTests, doubts};

const REGISTERS: &str = "typedef struct { __IO uint32_t SR; __IO uint32_t DR; uint32_t plain; } UART_Type;
#define UART0 ((UART_Type *)0x40004000)
#define STATUS (*(volatile unsigned *)0x4000c018)
#define TX_READY (1u << 7)
#define BUSY TX_READY
static volatile int done;
extern int shared;
static inline unsigned status(void) { return STATUS & 0xffu; }
";

/// Returns the doubts about a change of one function, with registers in a header.
fn found(before: &str, after: &str) -> Vec<Doubt> {
    let code =
        BTreeMap::from([("src/regs.h".to_owned(), REGISTERS.to_owned()), ("src/uart.c".to_owned(), before.to_owned())]);
    let change = Change { path: "src/uart.c".to_owned(), before: before.to_owned(), after: after.to_owned() };
    doubts(&[change], &code, &FailingTests::default())
}

fn kinds(before: &str, after: &str) -> Vec<DoubtKind> {
    found(before, after).into_iter().map(|doubt| doubt.kind).collect()
}

/// Returns a function with this body.
fn body(text: &str) -> String {
    format!("void put(char c) {{\n    int i;\n    {text}\n    UART0->DR = c;\n}}\n")
}

fn check(before: &str, after: &str, expected: &[DoubtKind]) {
    assert_eq!(
        kinds(&body(before), &body(after)),
        expected,
        "{before}  becomes  {after}: {:?}",
        found(&body(before), &body(after))
    );
}

#[test]
fn an_inverted_wait_for_a_register_needs_a_person() {
    check("while (!(UART0->SR & TX_READY)) {}", "while (UART0->SR & TX_READY) {}", &[WaitInverted]);
    check("while (UART0->SR & BUSY);", "while (!(UART0->SR & BUSY));", &[WaitInverted]);
    check("while ((STATUS & 0x20) == 0);", "while ((STATUS & 0x20) != 0);", &[WaitInverted]);
    check("while (status() < 4) {}", "while (status() >= 4) {}", &[WaitInverted]);
    check("do {} while (!done);", "do {} while (done);", &[WaitInverted]);
    check("while (readl(BASE + 4) & 1) {}", "while (!(readl(BASE + 4) & 1)) {}", &[WaitInverted]);
    check("while (*(volatile char *)0x40 == 0);", "while (*(volatile char *)0x40 != 0);", &[WaitInverted]);
    let told = found(&body("while (!(UART0->SR & TX_READY)) {}"), &body("while (UART0->SR & TX_READY) {}"));
    assert_eq!(
        told[0].to_string(),
        "src/uart.c:3: the wait on hardware or volatile data `while (!(UART0->SR & TX_READY)) {}` now waits for the opposite"
    );
}

#[test]
fn a_removed_wait_for_a_register_needs_a_person() {
    check("while (!(UART0->SR & TX_READY)) {}", "", &[WaitRemoved]);
    check("while (!done);", ";", &[WaitRemoved]);
    check("for (i = 0; i < 100 && !(STATUS & 1); i++) {}", "i = 0;", &[WaitRemoved]);
    check("while (!(UART0->SR & TX_READY)) {}", "if (!(UART0->SR & TX_READY)) {}", &[WaitRemoved]);
}

#[test]
fn a_changed_or_bypassed_wait_needs_a_person() {
    check("while (!(UART0->SR & TX_READY)) {}", "while (!(UART0->SR & 0x40)) {}", &[WaitChanged]);
    check("while (!(UART0->SR & TX_READY)) {}", "while (!(UART0->SR & TX_READY)) { break; }", &[WaitChanged]);
    check("while (!done) {}", "if (c == 7) { while (!done) {} }", &[WaitChanged]);
    check("while (!done) {}", "if (c == 7) return;\n    while (!done) {}", &[WaitChanged]);
    check("while (!done) {}", "done = c;\n    while (!done) {}", &[WaitChanged]);
    check("for (i = 0; i < 9 && !done; i++) {}", "for (i = 0; i < 2 && !done; i++) {}", &[WaitChanged]);
    check("for (;;) { if (STATUS & 2) break; }", "for (;;) { if (STATUS & 4) break; }", &[WaitChanged]);
    check("for (volatile int n = 0; n < 900; n++) {}", "for (volatile int n = 0; n < 9; n++) {}", &[WaitChanged]);
    // Nothing is declared volatile, but no statement in the loop can end it.
    check("while (shared == c) {}", "while (shared > c) {}", &[WaitChanged]);
}

#[test]
fn registers_masks_and_readers_of_a_wait_belong_to_it() {
    let uart = body("while (!(UART0->SR & BUSY)) {}\n    while (status() & 2) {}");
    let code = BTreeMap::from([("src/regs.h".to_owned(), REGISTERS.to_owned()), ("src/uart.c".to_owned(), uart)]);
    let of = |from: &str, to: &str| {
        let after = REGISTERS.replace(from, to);
        assert_ne!(after, REGISTERS, "{from}");
        let change = Change { path: "src/regs.h".to_owned(), before: REGISTERS.to_owned(), after };
        doubts(&[change], &code, &FailingTests::default()).into_iter().map(|doubt| doubt.kind).collect::<Vec<_>>()
    };
    assert_eq!(of("(1u << 7)", "(1u << 6)"), [WaitChanged], "a mask behind another");
    assert_eq!(of("0x40004000", "0x40005000"), [WaitChanged], "the address");
    assert_eq!(of("STATUS & 0xffu", "0"), [WaitChanged], "the function that reads it");
    assert_eq!(of("static volatile int done", "static int done"), [WaitChanged], "not volatile any more");
    assert_eq!(of("uint32_t plain;", "uint16_t plain;"), [], "no wait reads it");
}

#[test]
fn other_changes_of_the_same_function_raise_no_doubt() {
    check("while (!(UART0->SR & TX_READY)) {}\n    i = 1;", "while (!(UART0->SR & TX_READY)) {}\n    i = 2;", &[]);
    check("while (!done) {}", "/* wait */\n    while ( ! done )\n    { }", &[]);
    check("for (i = 0; i <= c; i++) { put(i); }", "for (i = 0; i < c; i++) { put(i); }", &[]);
    check("while (i > 0) { i--; }", "while (i >= 0) { i--; }", &[]);
    // A variable that becomes volatile is a common repair, and it changes no wait.
    assert_eq!(
        kinds(
            "static int seen;\nvoid f(void) { while (!seen) {} }\n",
            "static volatile int seen;\nvoid f(void) { while (!seen) {} }\n"
        ),
        []
    );
    // Another function has a local variable of that name.
    let two = |bound: &str| {
        format!(
            "void delay(void) {{ for (volatile int i = 0; i < 9; i++) {{}} }}\nvoid sum(int *a, int n) {{ int i; for (i = 0; i {bound} n; i++) {{ a[0] += a[i]; }} }}\n"
        )
    };
    assert_eq!(kinds(&two("<="), &two("<")), []);
}

/// Returns the constants that are reported for a failing test and a change of the code under test.
fn fitted(test: &str, before: &str, after: &str) -> Vec<String> {
    let change = Change { path: "src/find.c".to_owned(), before: before.to_owned(), after: after.to_owned() };
    let tests = FailingTests {
        sources: BTreeMap::from([("tests/test_find.c".to_owned(), test.to_owned())]),
        inputs: vec!["--seed=4711 frame".to_owned()],
    };
    let code = BTreeMap::from([("src/find.c".to_owned(), before.to_owned())]);
    let found = doubts(&[change], &code, &tests);
    assert!(found.iter().all(|doubt| doubt.kind == TestConstant), "{found:?}");
    found.iter().map(|doubt| doubt.why.split(' ').next().unwrap().to_owned()).collect()
}

const TEST: &str = "void test_find(void) {\n    CHECK(find(\"456123\", \"612\", 3) == 0); /* 99 */\n    CHECK(sum(0x11, 250) == 267);\n}\n";

#[test]
fn a_patch_that_repeats_the_test_data_needs_a_person() {
    let find = |line: &str| {
        format!(
            "int find(const char *text, const char *needle, int len) {{\n    {line}\n    return scan(text, needle, len);\n}}\nint other(void) {{ return 3 + '6'; }}\n"
        )
    };
    let told = |line: &str| fitted(TEST, &find(""), &find(line));
    assert_eq!(told("if (len == 3 && needle[0] == '6') return 1;"), ["'6'", "3"]);
    assert_eq!(
        told("if (needle[0] == 0x36) return 1;"),
        [""; 0],
        "a number in another notation of no number of the test"
    );
    assert_eq!(told("if (len == 17) return 1;"), ["17"], "0x11 by another notation");
    assert_eq!(told("if (len == 0xFAu) return 1;"), ["250"]);
    assert_eq!(told("if (!strcmp(needle, \"612\")) return 1;"), ["\"612\""]);
    assert_eq!(told("if (!strncmp(needle, \"61\", len)) return 1;"), ["\"61\""]);
    assert_eq!(told("if (len == 6) return 1;"), ["6"], "the length of a text");
    assert_eq!(told("if (seed == 4711) return 1;"), ["4711"], "an argument of the case");
}

#[test]
fn old_and_unrelated_constants_raise_no_doubt() {
    let find = |line: &str| {
        format!(
            "int find(const char *text, int len) {{\n    if (len > 250) {{ return -1; }}\n    {line}\n    return 0;\n}}\n"
        )
    };
    let told = |line: &str| fitted(TEST, &find(""), &find(line));
    assert_eq!(told("if (len >= 250) { return 1; }"), [""; 0], "it was in the function");
    assert_eq!(told("if (len > 77) { return 0; }"), [""; 0], "no number of the test");
    assert_eq!(told("/* 267 */ if (len > FRAME_MAX) { return 1; }"), [""; 0], "a comment");
    assert_eq!(told("if (len > 99) { return 1; }"), [""; 0], "a comment of the test");
    assert_eq!(fitted("", &find(""), &find("if (len == 3) { return 1; }")), [""; 0]);
}

#[test]
fn scripts_are_compared_as_a_whole_and_tests_are_not_code() {
    let change =
        |path: &str| Change { path: path.to_owned(), before: "limit=10\n".to_owned(), after: "limit=42\n".to_owned() };
    let tests = FailingTests {
        sources: BTreeMap::from([("tests/run.sh".to_owned(), "check 42\n".to_owned())]),
        inputs: Vec::new(),
    };
    let told = |path: &str| doubts(&[change(path)], &BTreeMap::new(), &tests).len();
    assert_eq!((told("fw.sh"), told("tests/data.sh")), (1, 0));
}

#[test]
fn broken_text_never_panics() {
    for text in ["", "while (", "/*", "\"", "'", "'\\", "0x", "#define X", "for(;;){if(STATUS", "\u{feff}é'ß\"\\x"] {
        let _ = found(text, &format!("{text} while (1) {{}}"));
        let _ = fitted(text, text, "int f(void) { return 12345; }");
    }
}
