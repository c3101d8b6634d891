//! Firmware that never ends and prints lines of its own, as a demo of an RTOS does: it is judged at a limit, by patterns.

use std::fs;

use interlock_testkit_cli::session::{Session, Transcript};
use tempfile::TempDir;

use super::scene::is_missing;

/// The processor: vectors, the serial port of mps2-an385, and numbers in text.
pub(super) const BOARD: &str = r#"#include "board.h"
#define UART ((volatile unsigned *)0x40004000)
extern unsigned stack_top;
void print(const char *text) { for (; *text; text++) { while (UART[1] & 1) {} UART[0] = (unsigned)*text; } }
void number(unsigned value) {
    char text[11]; int at = 10; text[at] = 0;
    do { text[--at] = (char)('0' + value % 10); value /= 10; } while (value);
    print(text + at);
}
void main(void);
static void reset(void) { UART[4] = 16; UART[2] = 1; main(); for (;;) {} }
static void fault(void) { print("HardFault\n"); for (;;) {} }
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = { &stack_top, reset, fault, fault, fault, fault, fault };
"#;

const HEADER: &str = "void print(const char *text);\nvoid number(unsigned value);\n#define LENGTH 8\nextern unsigned char queue_guard;\nint put(unsigned char value);\nint take(void);\n";

/// A queue that writes one place too far: the guard behind it breaks after the first round.
const QUEUE: &str = r#"#include "board.h"
static struct { unsigned char places[LENGTH]; unsigned char guard; } queue;
static unsigned head, tail, count;
int put(unsigned char value) {
    if (count >= LENGTH) {
        return 0;
    }
    queue.places[head] = value;
    head++;
    if (head > LENGTH) {
        head = 0;
    }
    count++;
    return 1;
}
int take(void) {
    if (count == 0) {
        return -1;
    }
    unsigned char value = queue.places[tail];
    tail++;
    if (tail >= LENGTH) {
        tail = 0;
    }
    count--;
    return value;
}
"#;

/// The tasks and their check, which prints how the system is for ever. It never says which task it means.
const DEMO: &str = r#"#include "board.h"
void main(void) {
    unsigned ticks = 0, errors = 0, checks = 0;
    for (;;) {
        ticks++;
        put((unsigned char)ticks);
        if (take() != (unsigned char)ticks) { errors++; }
        if (ticks % 500 == 43) {
            checks++;
            print(errors ? "ERROR in queue : " : "PASS : "); number(ticks); print(" ("); number(checks); print(")\n");
        }
    }
}
"#;

pub(super) const LINK: &str = "SECTIONS { . = 0; .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } . = 0x20000000; .data : { *(.data*) } .bss : { *(.bss*) *(COMMON) } stack_top = 0x20010000; }\n";

const TASK: &str = r#"goal: The demo runs without an error
repo_path: .
build:
  commands: ["arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -g -Og -ffreestanding -nostdlib -T link.ld -o demo.elf board.c queue.c demo.c"]
  image: demo.elf
  needs: [arm-none-eabi-gcc]
test_profile:
  env_type: qemu
  cases: [check]
  format: patterns
  limit: { lines: 40 }
  config:
    program: qemu-system-arm
    machine: mps2-an385
    patterns: { case: check, pass: '^PASS : \d+ \(\d+\)', fail: '^(?P<message>ERROR in \w+)' }
constraints: { max_iterations: 2, allow_human: true, allowed_paths: [queue.c] }
"#;

struct Demo {
    _folder: TempDir,
    session: Session,
}

impl Demo {
    /// Makes the project with these replacements; `None` if a program is missing.
    fn with(changes: &[(&str, &str)]) -> Option<Self> {
        if is_missing(&["qemu-system-arm", "arm-none-eabi-gcc", "git"]) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        fs::create_dir(&project).unwrap();
        let files = [
            ("board.c", BOARD),
            ("board.h", HEADER),
            ("queue.c", QUEUE),
            ("demo.c", DEMO),
            ("link.ld", LINK),
            ("task.yaml", TASK),
        ];
        for (name, text) in files {
            let text = changes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
            fs::write(project.join(name), text).unwrap();
        }
        let home = folder.path().join("home").display().to_string();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &project).with("INTERLOCK_HOME", home);
        Some(Demo { _folder: folder, session })
    }

    fn run(&self) -> Transcript {
        self.session.run("run firmware --input task.yaml --name demo").unwrap()
    }

    fn trace(&self) -> String {
        self.session.run("trace demo").unwrap().stdout
    }
}

#[test]
fn a_demo_that_prints_for_ever_is_judged_at_its_limit() {
    let Some(demo) = Demo::with(&[("head > LENGTH", "head >= LENGTH")]) else { return };
    let done = demo.run();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(demo.trace().contains("nothing to repair: 1 of 1 cases pass on the untouched tree"), "{}", demo.trace());
}

#[test]
fn a_demo_that_prints_for_ever_is_repaired() {
    let Some(demo) = Demo::with(&[]) else { return };
    let waits = demo.run();
    assert_eq!(waits.code, Some(4), "{waits} {}", demo.trace());
    let shown = demo.session.run("show demo").unwrap().stdout;
    assert!(shown.contains("+    if (head >= LENGTH) {"), "{shown}");
    assert!(demo.trace().contains("0 of 1 cases pass on the untouched tree: check failed: ERROR in queue"));
}

#[test]
fn a_limit_may_be_a_time() {
    let seconds = ("limit: { lines: 40 }", "limit: { seconds: 1.5 }");
    let Some(demo) = Demo::with(&[("head > LENGTH", "head >= LENGTH"), seconds]) else { return };
    let done = demo.run();
    assert_eq!(done.code, Some(0), "{done} {}", demo.trace());
}

/// One good line proves nothing of a demo that has stopped.
#[test]
fn a_demo_that_stops_printing_before_its_limit_does_not_pass() {
    let stops = ("checks++;", "checks++; if (checks > 3) { for (;;) {} }");
    let seconds = ("limit: { lines: 40 }", "limit: { seconds: 3 }");
    let good = ("head > LENGTH", "head >= LENGTH");
    let Some(demo) = Demo::with(&[good, stops, seconds, ("max_iterations: 2", "max_iterations: 0")]) else { return };
    let done = demo.run();
    assert_eq!(done.code, Some(1), "{done} {}", demo.trace());
    let (fails, is_busy) = ("0 of 1 cases pass on the untouched tree", "the computer is too busy");
    assert!(demo.trace().contains(fails) || demo.trace().contains(is_busy), "{}", demo.trace());
}

/// A check that fails once is not met, however often it is met before and after.
#[test]
fn one_error_between_many_good_lines_counts() {
    let once = ("errors ? ", "checks == 30 ? ");
    let Some(demo) =
        Demo::with(&[("head > LENGTH", "head >= LENGTH"), once, ("max_iterations: 2", "max_iterations: 0")])
    else {
        return;
    };
    let done = demo.run();
    assert_eq!(done.code, Some(1), "{done}");
    let baseline =
        "only the baseline was measured: 0 of 1 cases pass on the untouched tree: check failed: ERROR in queue";
    assert!(done.to_string().contains(baseline), "{done}");
}

/// A patch that ends the demo before its error would come must not win.
#[test]
fn a_demo_that_ends_by_itself_before_its_limit_does_not_pass() {
    let ends = ("checks++;", "checks++; if (checks > 3) { print(\"\\n\"); finish(); }");
    let finish = "void main(void) {";
    let semihosting = "static void finish(void) { unsigned block[2] = { 0x20026, 0 }; register unsigned r0 __asm__(\"r0\") = 0x20; register void *r1 __asm__(\"r1\") = block; __asm__ volatile(\"bkpt 0xab\" : \"+r\"(r0) : \"r\"(r1) : \"memory\"); }\nvoid main(void) {";
    let changes = [
        ("head > LENGTH", "head >= LENGTH"),
        (finish, semihosting),
        ends,
        ("machine: mps2-an385", "machine: mps2-an385\n    semihosting: true"),
        ("max_iterations: 2", "max_iterations: 0"),
    ];
    let Some(demo) = Demo::with(&changes) else { return };
    let done = demo.run();
    assert_eq!(done.code, Some(1), "{done} {}", demo.trace());
    assert!(demo.trace().contains("it ended before its limit, with exit code 0"), "{}", demo.trace());
}
