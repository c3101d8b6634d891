//! One case for each template: a small text, the suspect line, and a result that must be among the first candidates.

use std::collections::BTreeMap;

use interlock_repair::{Candidate, Failure, Hints, Suspect, Template, candidates};

pub(crate) fn suspects(path: &str, lines: &[usize]) -> Vec<Suspect> {
    lines.iter().map(|line| Suspect { path: path.to_owned(), line: *line, score: 0.8, why: String::new() }).collect()
}

/// Checks that the template makes `expected` from the line marked with `//!`, among the first `within` candidates.
fn check(template: Template, text: &str, expected: &str, within: usize) {
    check_with(template, text, expected, within, &Hints::default());
}

fn check_with(template: Template, text: &str, expected: &str, within: usize, hints: &Hints) {
    let marked = text.lines().position(|line| line.ends_with("//!")).expect("a marked line") + 1;
    let text = text.replace(" //!", "");
    let files = BTreeMap::from([("src/a.c".to_owned(), text.clone())]);
    let ranked: Vec<Candidate> = candidates(&files, &suspects("src/a.c", &[marked]), hints).collect();
    let squeezed = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let found = ranked.iter().position(|one| {
        let made = one.apply("src/a.c", &text).expect("a candidate that applies");
        one.template == template && squeezed(&made).contains(&squeezed(expected))
    });
    let first: Vec<&str> = ranked.iter().take(within).map(|one| one.summary.as_str()).collect();
    assert!(found.is_some_and(|place| place < within), "{template}: at {found:?}, first {first:#?}");
}

/// Returns a function with the declarations that most cases need.
fn function(body: &str) -> String {
    format!(
        "#define SIZE 8\n#define HEADER 2\n#define FLAG_READ 1\n#define FLAG_WRITE 2\n\
         struct ring {{ int head; int tail; unsigned char *data; }};\n\
         int f(struct ring *ring, int a, int b, unsigned flags) {{\n{body}\n}}\n"
    )
}

#[test]
fn boundary() {
    check(Template::Boundary, &function("    if (a > SIZE) return 0; //!"), "if (a >= SIZE)", 2);
    check(Template::Boundary, &function("    for (int i = 0; i <= a; i++) { b += i; } //!"), "i < a;", 2);
}

#[test]
fn comparison() {
    check(Template::Comparison, &function("    if (a == b) return 0; //!"), "if (a != b)", 6);
}

#[test]
fn off_by_one() {
    check(Template::OffByOne, &function("    return a - b - 1; //!"), "return a - b;", 4);
    check(Template::OffByOne, &function("    if (a < SIZE) return 1; //!"), "if (a < SIZE - 1)", 6);
    check(Template::OffByOne, &function("    b = a / SIZE; //!"), "b = (a - 1) / SIZE;", 12);
}

#[test]
fn operator() {
    check(Template::Operator, &function("    b = a + SIZE; //!"), "b = a - SIZE;", 12);
    check(Template::Operator, &function("    b = a << 2; //!"), "b = a >> 2;", 12);
    check(Template::Operator, &function("    b = flags | FLAG_READ; //!"), "b = flags & FLAG_READ;", 16);
}

#[test]
fn logic() {
    check(Template::Logic, &function("    if (a && b) return 1; //!"), "if (a || b)", 3);
}

#[test]
fn precedence() {
    check(
        Template::Precedence,
        &function("    if (flags & FLAG_READ == 0) return 1; //!"),
        "(flags & FLAG_READ) == 0",
        30,
    );
    check(Template::Precedence, &function("    return a + b / 2; //!"), "(a + b) / 2", 50);
}

#[test]
fn swapped_operands() {
    check(Template::SwappedOperands, &function("    return a - b; //!"), "return b - a;", 20);
}

#[test]
fn swapped_arguments() {
    let text = function("    return g(b, a); //!");
    check(Template::SwappedArguments, &format!("int g(int x, int y) {{ return x / y; }}\n{text}"), "g(a, b)", 12);
}

#[test]
fn assignment() {
    check(Template::Assignment, &function("    ring->head = FLAG_READ; //!"), "ring->head |= FLAG_READ;", 4);
    check(Template::Assignment, &function("    a += b; //!"), "a -= b;", 4);
}

#[test]
fn step() {
    check(Template::Step, &function("    ring->head++; //!"), "ring->head--;", 12);
    check(Template::Step, &function("    b = ring->data[a++]; //!"), "ring->data[++a]", 24);
}

#[test]
fn unary() {
    check(Template::Unary, &function("    if (a && b) return 1; //!"), "if (a && !b)", 6);
    check(Template::Unary, &function("    if (!a) return 1; //!"), "if (a)", 6);
    let text = "static int g(int *x) { return *x; }\nint f(int a) {\n    return g(a); //!\n}\n";
    check(Template::Unary, text, "g(&a)", 8);
}

#[test]
fn mask() {
    check(Template::Mask, &function("    ring->head &= FLAG_WRITE; //!"), "ring->head &= ~FLAG_WRITE;", 3);
    check(Template::Mask, &function("    return a & ring->tail; //!"), "a & (ring->tail - 1)", 6);
}

#[test]
fn number() {
    check(Template::Number, &function("    a = b * 10; //!"), "b * 9", 16);
    check(Template::Number, &function("    if (flags & 0x8000u) return 1; //!"), "flags & 0x0080u", 24);
    check(Template::Number, &function("    return a << 8 | b; //!"), "a << 16 | b", 24);
}

#[test]
fn named_constant() {
    check(Template::NamedConstant, &function("    if (flags & FLAG_READ) return 1; //!"), "flags & FLAG_WRITE", 8);
    let text =
        "enum mode { OFF, ON, SLEEPING };\nint f(enum mode m) {\n    if (m == ON) return 1; //!\n    return 0;\n}\n";
    check(Template::NamedConstant, text, "m == SLEEPING", 8);
}

#[test]
fn variable() {
    check(Template::Variable, &function("    ring->tail += a; //!"), "ring->tail += b;", 12);
    check(Template::Variable, &function("    return ring->head; //!"), "return ring->tail;", 8);
}

#[test]
fn index() {
    check(Template::Index, &function("    return ring->data[1] << 8; //!"), "ring->data[2]", 8);
    check(Template::Index, &function("    return ring->data[a]; //!"), "ring->data[a - 1]", 8);
    check(Template::Index, &function("    return ring->data[a]; //!"), "ring->data[b]", 8);
}

#[test]
fn other_function() {
    let text =
        "int up(int x) { return x; }\nint down(int x) { return -x; }\nint f(int a) {\n    return up(a); //!\n}\n";
    check(Template::Function, text, "return down(a);", 12);
}

#[test]
fn negated() {
    check(Template::Negated, &function("    if (ring->head) return 1; //!"), "if (!ring->head)", 8);
}

#[test]
fn strengthened_and_weakened() {
    let text = function("    if (b > SIZE) return 0;\n    if (a > SIZE) return 1; //!");
    check(Template::Weakened, &text, "if (a > SIZE || b > SIZE)", 40);
    check(Template::Strengthened, &text, "if (a > SIZE && b > SIZE)", 40);
    check(Template::Weakened, &text, "a > SIZE || a + b > SIZE", 40);
    check(Template::Weakened, &function("    if (a && b) return 1; //!"), "if (a)", 12);
}

#[test]
fn missing_term() {
    check(Template::MissingTerm, &function("    return a; //!"), "return a - HEADER;", 24);
    let tests = BTreeMap::from([("t.c".to_owned(), "CHECK_EQ(1 | FLAG_WRITE, x);".to_owned())]);
    let failure = Failure { path: "t.c".to_owned(), line: 1, ..Failure::default() };
    let hints = Hints::of(&tests, &[failure]);
    check_with(Template::MissingTerm, &function("    ring->head = a; //!"), "ring->head = a | FLAG_WRITE;", 8, &hints);
}

#[test]
fn extra_term() {
    check(Template::ExtraTerm, &function("    return a - HEADER; //!"), "return a;", 24);
}

#[test]
fn as_elsewhere() {
    check(Template::AsElsewhere, &function("    b = a % SIZE;\n    return a; //!"), "return a % SIZE;", 24);
}

#[test]
fn rounding() {
    check(Template::Rounding, &function("    return a / b; //!"), "return (a + b / 2) / b;", 24);
}

#[test]
fn type_width() {
    let text = "#include <stdint.h>\nint f(int n) {\n    uint8_t total = 0; //!\n    return total + n;\n}\n";
    check(Template::Type, text, "uint16_t total = 0;", 8);
}

#[test]
fn cast() {
    let text = "#include <stdint.h>\nuint32_t f(uint32_t n) {\n    return n * 100u / 7u; //!\n}\n";
    check(Template::Cast, text, "(uint64_t)n * 100u", 24);
    let text = "#include <stdint.h>\nint f(int n) {\n    return (uint8_t)n; //!\n}\n";
    check(Template::Cast, text, "(uint16_t)n", 12);
}

#[test]
fn volatile() {
    let text = "static int ticks;\nvoid tick_handler(void) { ticks++; }\nint f(void) {\n    while (ticks < 3) { } //!\n    return 1;\n}\n";
    check(Template::Volatile, text, "static volatile int ticks;", 4);
}

#[test]
fn initialisation() {
    check(
        Template::Initialisation,
        &function("    int total; //!\n    total += a;\n    return total;"),
        "int total = 0;",
        4,
    );
}

#[test]
fn format() {
    let text = "int f(unsigned x) {\n    return print(\"%d\\n\", x); //!\n}\n";
    check(Template::Format, text, "\"%u\\n\"", 4);
}

#[test]
fn missing_break() {
    let text = "int f(int a) {\n    switch (a) {\n    case 1: a = 2; //!\n    case 2: a = 3; break;\n    }\n    return a;\n}\n";
    check(Template::Break, text, "case 1: a = 2; break; case 2:", 4);
}

#[test]
fn missing_return() {
    let text = "void f(int *a) {\n    if (*a) { //!\n        *a = 0;\n    }\n    *a = 5;\n}\n";
    check(Template::Return, text, "*a = 0; return; }", 30);
}

#[test]
fn return_value() {
    check(
        Template::ReturnValue,
        "bool f(int a) {\n    if (a) return true; //!\n    return false;\n}\n",
        "if (a) return false;",
        8,
    );
}

#[test]
fn null_check() {
    check(
        Template::NullCheck,
        &function("    return ring->head; //!"),
        "if (ring == NULL) { return 0; } return ring->head;",
        40,
    );
}

#[test]
fn range_check() {
    let text = "#define N 4\nstatic int t[N];\nint f(int i) {\n    return t[i]; //!\n}\n";
    check(Template::RangeCheck, text, "if (i >= N) { return -1; } return t[i];", 40);
}

#[test]
fn overflow_check() {
    let text = "#include <stdint.h>\nuint8_t f(uint8_t a, uint8_t b) {\n    return a + b; //!\n}\n";
    check(Template::OverflowCheck, text, "if (a > UINT8_MAX - b) { return 0; }", 60);
    check(Template::OverflowCheck, &function("    if (a + b > SIZE) return 0; //!"), "if (a > SIZE - b)", 30);
    check(Template::OverflowCheck, &function("    return a >= b + SIZE; //!"), "return a - b >= SIZE;", 30);
}

#[test]
fn missing_statement() {
    let text = "struct s { int bad; int last; };\nvoid g(struct s *s) { s->bad++; }\nint h(struct s *s) { return s->last; }\n\
                void f(struct s *s, int id) {\n    g(s); //!\n}\n";
    check(Template::MissingStatement, text, "g(s); s->bad++; }", 12);
    check(Template::MissingStatement, text, "g(s); s->bad--; }", 12);
    check(Template::MissingStatement, text, "g(s); s->last = id; }", 12);
}

#[test]
fn swapped_statements() {
    check(Template::SwappedStatements, &function("    a = b; //!\n    b = SIZE;"), "b = SIZE; a = b;", 60);
}

#[test]
fn delete() {
    check(Template::Delete, &function("    a = b; //!\n    return a;"), "unsigned flags) { return a; }", 400);
}
