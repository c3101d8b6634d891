//! A first task for a project, from the files that already say how it is built and tested: PlatformIO, west, CMake or
//! Makefile. It is a draft to be read: what no file says is left to its author, and marked.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::search::Sources;

/// The largest file that is read.
const BYTES_MAX: u64 = 256 * 1024;

/// A draft of a task.
pub struct Draft {
    /// The file that it is made from.
    pub from: &'static str,
    /// The task, as YAML.
    pub text: String,
}

/// The parts of a task that build files tell.
#[derive(Default)]
struct Found {
    commands: Vec<String>,
    clean: String,
    image: String,
    needs: Vec<String>,
    profile: Value,
    /// The fields that the author must fill in.
    open: Vec<&'static str>,
}

/// Drafts a task for the project in a directory; `None` if none of the known files is there.
pub fn draft(folder: &Path) -> Option<Draft> {
    let read = |name: &str| interlock_beneath::read_text(folder, Path::new(name), BYTES_MAX).ok().flatten();
    let (cmake, prj) = (read("CMakeLists.txt"), read("prj.conf"));
    let is_zephyr = prj.is_some() || cmake.as_ref().is_some_and(|text| text.contains("Zephyr"));
    let (from, found) = if let Some(ini) = read("platformio.ini") {
        ("platformio.ini", platformio(&ini))
    } else if is_zephyr && cmake.is_some() {
        let cases = read("testcase.yaml").or_else(|| read("sample.yaml")).unwrap_or_default();
        ("CMakeLists.txt (west)", west(&cases))
    } else if let Some(cmake) = cmake {
        ("CMakeLists.txt", with_cmake(&cmake))
    } else {
        let make = ["Makefile", "makefile", "GNUmakefile"].iter().find_map(|name| read(name))?;
        ("Makefile", with_make(&make))
    };
    Some(Draft { from, text: written(from, found, folder) })
}

fn platformio(ini: &str) -> Found {
    let environments: Vec<(&str, &str)> = ini
        .split("[env:")
        .skip(1)
        .filter_map(|part| part.split_once(']'))
        .map(|(name, rest)| (name.trim(), rest.split("\n[").next().unwrap_or(rest)))
        .collect();
    let is_native =
        |(_, text): &&(&str, &str)| text.lines().any(|line| line.replace(' ', "").starts_with("platform=native"));
    let native = environments.iter().find(is_native).or(environments.first());
    let name = native.map_or("native", |(name, _)| *name);
    let profile = json!({ "env_type": "local", "suites": [{ "id": "all" }], "format": "unity", "timeout_sec": 300, "config": { "command": format!("pio test -e {name}") } });
    let open = match native.filter(is_native) {
        Some(_) => Vec::new(),
        None => vec!["no environment of platformio.ini is `native`: its tests need the board, see docs/testbench.md"],
    };
    Found { needs: vec!["pio".into()], profile, open, ..Found::default() }
}

fn west(cases: &str) -> Found {
    let known = [
        ("qemu_cortex_m3", "qemu-system-arm", "lm3s6965evb"),
        ("mps2/an385", "qemu-system-arm", "mps2-an385"),
        ("mps2_an385", "qemu-system-arm", "mps2-an385"),
        ("qemu_riscv32", "qemu-system-riscv32", "virt"),
    ];
    let (board, program, machine) = known.into_iter().find(|(board, ..)| cases.contains(board)).unwrap_or(known[0]);
    let config = json!({ "program": program, "machine": machine, "end": "PROJECT EXECUTION (SUCCESSFUL|FAILED)" });
    Found {
        commands: vec![format!("west build -p auto -b {board} -d build .")],
        image: "build/zephyr/zephyr.elf".into(),
        needs: vec!["west".into(), program.into()],
        profile: json!({ "env_type": "qemu", "suites": [{ "id": "all" }], "format": "ztest", "timeout_sec": 120, "config": config }),
        ..Found::default()
    }
}

fn with_cmake(text: &str) -> Found {
    let mut found = Found {
        commands: vec!["cmake -S . -B build".into(), "cmake --build build".into()],
        needs: vec!["cmake".into()],
        ..Found::default()
    };
    let is_tested = ["add_test(", "gtest_discover_tests(", "enable_testing("].iter().any(|call| text.contains(call));
    found.profile = json!({ "env_type": "local", "suites": [{ "id": "all" }], "format": "ctest", "timeout_sec": 300, "config": { "command": "ctest --test-dir build --output-on-failure" } });
    if !is_tested {
        found.open.push("CMakeLists.txt has no tests: say in `test_profile` how the firmware is tested");
    }
    found
}

fn with_make(text: &str) -> Found {
    let target = |name: &str| text.lines().any(|line| line.starts_with(&format!("{name}:")));
    let mut found = Found { commands: vec!["make".into()], needs: vec!["make".into()], ..Found::default() };
    found.clean = if target("clean") { "make clean".into() } else { String::new() };
    found.needs.extend(words(text).find(|word| word.ends_with("-gcc")).map(str::to_owned));
    found.image = image(text).unwrap_or_default();
    let emulator = words(text).find(|word| word.starts_with("qemu-system-")).map(str::to_owned);
    if let Some(program) = emulator {
        let after = |flags: [&str; 2]| words(text).skip_while(|word| !flags.contains(word)).nth(1).map(str::to_owned);
        let machine = after(["-machine", "-M"]);
        if found.image.is_empty() {
            found.open.push("the Makefile names no ELF file: say in `build.image` what it makes");
        }
        if machine.is_none() {
            found.open.push("the Makefile does not say which machine QEMU emulates: see `config.machine`");
        }
        let config = json!({ "program": &program, "machine": machine.unwrap_or_default(), "semihosting": text.contains("semihosting") });
        found.needs.push(program);
        found.profile = json!({ "env_type": "qemu", "suites": [{ "id": "all" }], "format": "auto", "timeout_sec": 30, "config": config });
        return found;
    }
    let test = ["test", "check", "tests"].into_iter().find(|name| target(name));
    if test.is_none() {
        found
            .open
            .push("the Makefile has no target `test` or `check`: say in `test_profile` how the firmware is tested");
    }
    let command = format!("make {}", test.unwrap_or("test"));
    found.image = String::new();
    found.profile = json!({ "env_type": "local", "suites": [{ "id": "all" }], "format": "auto", "timeout_sec": 300, "config": { "command": command } });
    found
}

/// Returns the ELF file that a Makefile makes, with its variables filled in.
fn image(text: &str) -> Option<String> {
    let value = |name: &str| {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        let mut own = lines.filter(|(left, _)| left.trim_end_matches([' ', ':', '?']).trim() == name);
        own.next().map(|(_, right)| right.trim().to_owned())
    };
    let mut word = words(text).find(|word| word.ends_with(".elf"))?.trim_end_matches(':').to_owned();
    for _ in 0..5 {
        let Some(start) = word.find("$(").or_else(|| word.find("${")) else { return Some(word) };
        let end = word[start..].find([')', '}'])? + start;
        let filled = value(&word[start + 2..end])?;
        word.replace_range(start..=end, &filled);
    }
    None
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| letter.is_whitespace() || letter == '=').map(|word| word.trim_end_matches(':'))
}

fn written(from: &str, found: Found, folder: &Path) -> String {
    let Found { commands, clean, image, needs, profile, open } = found;
    let sources = Sources::read(folder, folder);
    let has_src = sources.texts.keys().any(|path| path.starts_with("src/"));
    let allowed = if has_src { "src/**" } else { "**/*.c" };
    let build = json!({ "commands": commands, "clean": clean, "image": image, "needs": needs });
    let mut text = format!("# Drafted from {from}: read it, and name the cases that must pass.\n");
    text.extend(open.iter().map(|open| format!("# OPEN: {open}\n")));
    text.push_str("goal: All tests pass\nrepo_path: .\n");
    text.push_str(&format!("build: {build}\n"));
    text.push_str("# cases: [NAME]      the cases that must be reported; targets: [NAME]  those that must pass\n");
    text.push_str(&format!("test_profile: {profile}\n"));
    text.push_str(&format!(
        "constraints: {{ max_iterations: 5, allow_human: true, allowed_paths: [\"{allowed}\"], forbidden_paths: [\"tests/**\", \"test/**\"] }}\n"
    ));
    text
}

/// Reports whether a task could be drafted, without reading more than the names of files.
pub fn can_draft(folder: &Path) -> bool {
    ["platformio.ini", "CMakeLists.txt", "Makefile", "makefile", "GNUmakefile"]
        .iter()
        .any(|name| fs::symlink_metadata(folder.join(name)).is_ok_and(|about| about.is_file()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use super::*;

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        assert!(can_draft(folder.path()));
        let draft = draft(folder.path()).unwrap();
        for part in expected {
            assert!(draft.text.contains(part), "{part} is not in {}", draft.text);
        }
    }

    #[test]
    fn every_kind_of_build_file_gives_a_task() {
        let make = "BUILD := out\nTARGET = $(BUILD)/fw.elf\nCC = arm-none-eabi-gcc\nall: $(TARGET)\nclean:\n\trm -rf out\nrun:\n\tqemu-system-arm -M mps2-an385 -semihosting -kernel $(TARGET)\n$(BUILD)/fw.elf: a.c\n";
        let told = [
            r#""commands":["make"]"#,
            "make clean",
            "arm-none-eabi-gcc",
            r#""machine":"mps2-an385""#,
            r#""image":"out/fw.elf""#,
        ];
        check(&[("Makefile", make)], &told);
        check(&[("Makefile", "check: a\n\t./a\n")], &["make check", "local"]);
        check(&[("Makefile", "all: a\n")], &["# OPEN: the Makefile has no target `test`"]);
        check(
            &[("CMakeLists.txt", "add_test(NAME a COMMAND a)\n")],
            &["ctest --test-dir build", "cmake --build build"],
        );
        check(
            &[("CMakeLists.txt", "find_package(Zephyr)\n"), ("prj.conf", ""), ("testcase.yaml", "qemu_riscv32")],
            &["west build", "-b qemu_riscv32", "zephyr.elf"],
        );
        check(
            &[("platformio.ini", "[env:board]\nplatform = ststm32\n[env:host]\nplatform = native\n")],
            &["pio test -e host", "unity"],
        );
        assert!(draft(tempfile::tempdir().unwrap().path()).is_none());
    }
}
