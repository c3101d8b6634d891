//! Programs that print nothing useful: the first round observes, without a model, and what it added is taken out again.

use std::fs;

use interlock_testkit_cli::session::{Session, Transcript};
use tempfile::TempDir;

use super::{
    endless::{BOARD, LINK},
    scene::is_missing,
};

/// A program whose only output is its result, which it does not reach: `scale` accepts the limit itself.
const SCALE: &str = "#include \"scale.h\"\nint scale(int value, int limit)\n{\n    if (value > limit) {\n        return -1;\n    }\n    return value * 2;\n}\n";
const MAIN: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include \"scale.h\"\nint main(void)\n{\n    if (scale(8, 8) != -1 || scale(3, 8) != 6) {\n        exit(3);\n    }\n    printf(\"1..1\\nok 1 - scales\\n\");\n    return 0;\n}\n";
const TASK: &str = "goal: The program reports its case
repo_path: .
build: { commands: ['cc -g -o scales src/scale.c src/main.c'], image: scales, needs: [cc] }
test_profile:
  env_type: local
  cases: [scales]
  format: tap
  timeout_sec: 20
  config: { command: './scales 2> /dev/null || exit 3' }
constraints: { max_iterations: 4, allow_human: true, allowed_paths: ['src/scale.c'] }
";

/// The same program as an image whose only way to print is a function for texts.
const IMAGE_MAIN: &str = r#"#include "board.h"
static void finish(unsigned code)
{
    unsigned block[2] = { 0x20026, code };
    register unsigned r0 __asm__("r0") = 0x20;
    register void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}
void main(void)
{
    if (scale(8, 8) != -1 || scale(3, 8) != 6) {
        finish(3);
    }
    print("1..1\nok 1 - scales\n");
    finish(0);
}
"#;
const IMAGE_TASK: &str = "goal: The program reports its case
repo_path: .
build:
  commands: ['arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -g -Og -ffreestanding -nostdlib -T link.ld -o fw.elf src/board.c src/scale.c src/main.c']
  image: fw.elf
  needs: [arm-none-eabi-gcc]
test_profile:
  env_type: qemu
  cases: [scales]
  format: tap
  timeout_sec: 20
  config: { program: qemu-system-arm, machine: mps2-an385, semihosting: true }
constraints: { max_iterations: 4, allow_human: true, allowed_paths: ['src/scale.c'] }
";

struct Silent {
    folder: TempDir,
    session: Session,
}

impl Silent {
    fn with(changes: &[(&str, &str)]) -> Option<Self> {
        if is_missing(&["cc", "git"]) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        fs::create_dir_all(project.join("src")).unwrap();
        let header = "int scale(int value, int limit);\n";
        for (name, text) in [("src/scale.c", SCALE), ("src/scale.h", header), ("src/main.c", MAIN), ("task.yaml", TASK)]
        {
            let text = changes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
            fs::write(project.join(name), text).unwrap();
        }
        let home = folder.path().join("home").display().to_string();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &project).with("INTERLOCK_HOME", home);
        Some(Silent { folder, session })
    }

    /// Makes the image for QEMU instead.
    fn image() -> Option<Self> {
        let silent = Silent::with(&[(TASK, IMAGE_TASK), (MAIN, IMAGE_MAIN)])
            .filter(|_| !is_missing(&["qemu-system-arm", "arm-none-eabi-gcc"]))?;
        let project = silent.folder.path().join("project");
        let header = "void print(const char *text);\nvoid number(unsigned value);\nint scale(int value, int limit);\n";
        for (name, text) in [("src/board.c", BOARD), ("src/board.h", header), ("link.ld", LINK)] {
            fs::write(project.join(name), text).unwrap();
        }
        Some(silent)
    }

    fn run(&self) -> Transcript {
        self.session.run("run firmware --input task.yaml --name r").unwrap()
    }

    fn trace(&self) -> String {
        self.session.run("trace r").unwrap().stdout
    }

    fn source(&self) -> String {
        fs::read_to_string(self.folder.path().join("project/src/scale.c")).unwrap()
    }
}

/// The command keeps the standard error, where observations are printed.
const SHOWN: (&str, &str) = ("./scales 2> /dev/null || exit 3", "./scales || exit 3");

#[test]
fn the_first_round_observes_and_the_analysis_uses_it() {
    let Some(silent) = Silent::with(&[SHOWN]) else { return };
    let waits = silent.run();
    let trace = silent.trace();
    assert!(trace.contains("no evidence on the first round: a diagnostic change only"), "{waits} {trace}");
    assert!(trace.contains("by template, a diagnostic change: it prints what `scale` get"), "{trace}");
    assert!(trace.contains("observed, and the diagnostic change is taken out again"), "{trace}");
    assert!(trace.contains("scale(value=8, limit=8)"), "the second analysis names what was observed: {trace}");
    assert_eq!(waits.code, Some(4), "a repair is found on top of it: {waits} {trace}");
    let shown = silent.session.run("show r").unwrap().stdout;
    assert!(shown.contains("value >= limit") && !shown.contains("interlock-trace: src/scale.c:2"), "{shown}");
    assert_eq!(silent.source(), SCALE, "nothing is left in the sources");
    let approved = silent.session.run("send r approve").unwrap();
    assert_eq!(approved.code, Some(0), "{approved}");
    assert_eq!(silent.source(), SCALE.replace("value > limit", "value >= limit"));
}

/// Nothing can be observed, and no model can be asked: every step is made once, and the end says what is wrong.
#[test]
fn a_program_that_cannot_be_observed_ends_after_one_search() {
    let Some(silent) = Silent::with(&[("exit(3);", "_Exit(3);"), ("scale(8, 8) != -1 ||", "1 ||")]) else {
        return;
    };
    let done = silent.run();
    let trace = silent.trace();
    assert_eq!(done.code, Some(1), "{done} {trace}");
    assert!(trace.matches("LOG_TRIAGE → SIMILAR_CASES").count() <= 2, "{trace}");
    assert!(!trace.contains("MODEL_FAILURE"), "there is no model that could have failed: {trace}");
    assert!(trace.contains("no patch was found for this: 0 of 1 cases pass"), "{trace}");
}

#[test]
fn an_image_that_prints_nothing_is_observed_with_its_own_way_to_print() {
    let Some(silent) = Silent::image() else { return };
    let waits = silent.run();
    let trace = silent.trace();
    assert!(trace.contains("by template, a diagnostic change: it prints what `scale` get"), "{waits} {trace}");
    assert!(trace.contains("scale(value=0x00000008, limit=0x00000008)"), "{trace}");
    assert_eq!(waits.code, Some(4), "{waits} {trace}");
    assert_eq!(silent.source(), SCALE, "nothing is left in the sources");
    let aborted = silent.session.run("abort r").unwrap();
    assert_eq!(aborted.code, Some(0), "{aborted}");
    let moves = silent.session.run("trace r --json").unwrap().stdout;
    let last: serde_json::Value = serde_json::from_str(moves.lines().last().unwrap()).unwrap();
    assert_eq!((&last["from_state"], &last["to_state"]), (&"PLAUSIBLE_FIX".into(), &"ABORTED".into()), "{last}");
}

/// A search that is stopped has tried what it has tried: the report still knows.
#[test]
fn candidates_that_were_tried_are_kept_when_the_run_is_stopped() {
    let hopeless = ("scale(3, 8) != 6", "scale(3, 8) != 60451");
    let Some(silent) = Silent::with(&[hopeless, ("cases: [scales]", "cases: [scales]\n  confirm: false")]) else {
        return;
    };
    let area = silent.folder.path().join("tmp");
    fs::create_dir(&area).unwrap();
    let session = silent.session.clone().with("TMPDIR", area.display().to_string());
    let mut run = session
        .command("run firmware --input task.yaml --name r")
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let has_tried = || {
        let files = walk(&area).into_iter().filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
        files.into_iter().any(|path| fs::read_to_string(path).is_ok_and(|text| text.lines().count() > 4))
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while !has_tried() && run.try_wait().unwrap().is_none() {
        assert!(std::time::Instant::now() < deadline, "nothing was tried");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    session.run("abort r").unwrap();
    run.wait().unwrap();
    let listed = session.run("evidence r --json").unwrap();
    assert!(listed.stdout.contains("\"search\""), "{listed} {}", silent.trace());
    let search = session.run("evidence r search").unwrap().stdout;
    let search: serde_json::Value = serde_json::from_str(&search).unwrap();
    assert!(search["trials"].as_array().unwrap().len() > 1, "{search}");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(walk(&path)),
            false => found.push(path),
        }
    }
    found
}
