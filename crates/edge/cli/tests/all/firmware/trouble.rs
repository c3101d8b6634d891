//! Bad patches and failing environments, and the results of such runs.

use std::fs;

use super::{
    endings,
    scene::{BUG, Scene, bad, good, parts_are_missing},
};

#[test]
fn a_patch_of_a_forbidden_file_is_refused_and_another_is_asked_for() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::without_model();
    let forbidden =
        scene.patch("parser/tests/test_parser.c", "#include \"frame.h\"", "#include \"frame.h\"\n/* nothing */");
    drop(scene);
    let scene = Scene::with_patches(&[forbidden, good()]);
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    assert!(scene.trace().contains("POLICY_VIOLATION 1"), "{}", scene.trace());
    scene.is_fixed();
    let asked = scene.server.as_ref().unwrap().asked();
    assert!(asked[1].text().contains("POLICY_VIOLATION"), "the model is told what was refused");
}

#[test]
fn a_patch_that_weakens_a_test_is_refused_whatever_paths_are_allowed() {
    if parts_are_missing() {
        return;
    }
    let text = super::scene::sample("parser/tests/test_parser.c");
    let check = text.lines().find(|line| line.trim_start().starts_with("CHECK")).unwrap().to_owned();
    let weaker = super::scene::patch(&text, "parser/tests/test_parser.c", &check, "    (void)0;");
    let scene = Scene::with_patches(&[weaker, good()]);
    scene.task("allowed_paths: [\"src/**\"], forbidden_paths: [\"tests/**\"]", "allowed_paths: []");
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    let trace = scene.trace();
    assert!(trace.contains("tests weakened") || trace.contains("tests deleted"), "{trace}");
    scene.is_fixed();
}

#[test]
fn patches_that_change_nothing_for_the_better_end_in_failure_and_leave_the_sources_as_they_were() {
    if parts_are_missing() {
        return;
    }
    let same = |number: u32| bad("    decoder->inside = 1;", &format!("    decoder->inside = {number};"));
    let scene = Scene::with_patches(&[same(2), same(3), same(4), same(5)]);
    let ran = scene.run();
    assert_eq!(ran.code, Some(1), "{ran}\n{}", scene.trace());
    assert!(scene.trace().contains("no improvement in 3 rounds running"), "{}", scene.trace());
    scene.is_untouched();
}

#[test]
fn a_firmware_that_hangs_is_a_result_and_not_the_end() {
    if parts_are_missing() {
        return;
    }
    let hangs = bad("    decoder->body[decoder->count++] = byte;", "    for (;;) {\n    }");
    let scene = Scene::with_patches(&[hangs, good()]);
    scene.task("timeout_sec: 10", "timeout_sec: 4\n  confirm: false");
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    scene.is_fixed();
}

#[test]
fn a_firmware_that_starts_over_and_over_is_a_result_and_not_the_end() {
    if parts_are_missing() {
        return;
    }
    let resets =
        bad("    decoder->body[decoder->count++] = byte;", "    *(volatile uint32_t *)0xE000ED0Cu = 0x05FA0004u;");
    let scene = Scene::with_patches(&[resets, good()]);
    scene.task("timeout_sec: 10", "timeout_sec: 4\n  confirm: false");
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    scene.is_fixed();
}

#[test]
fn an_emulator_that_is_killed_in_the_middle_is_reset_before_any_code_is_touched() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::with_patches(&[good()]);
    // Real QEMU with a short delay, so that there is time to kill it.
    let slow = scene.folder.path().join("slow-qemu");
    fs::write(&slow, "#!/bin/sh\nsleep 0.7\nexec qemu-system-arm \"$@\"\n").unwrap();
    fs::set_permissions(&slow, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    scene.task("program: qemu-system-arm", &format!("program: {}", slow.display()));
    let mut run = endings::until(&scene, "TEST_RUN");
    let killed = endings::kill_program(&slow.display().to_string());
    let ended = run.wait().unwrap();
    assert!(killed, "there was something to kill");
    assert_eq!(ended.code(), Some(0), "{}", scene.trace());
    assert!(scene.trace().contains("TEST_ENV_FAILURE 1: reset the environment"), "{}", scene.trace());
    scene.is_fixed();
}

#[test]
fn a_missing_toolchain_ends_the_run_at_once_and_names_the_package() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::without_model();
    scene.task("needs: [make, arm-none-eabi-gcc]", "needs: [make, riscv99-unknown-elf-gcc]");
    let ran = scene.run();
    assert_eq!(ran.code, Some(1), "{ran}");
    let both = "install the package riscv99-unknown-elf-gcc (for the program riscv99-unknown-elf-gcc)";
    assert!(scene.trace().contains(both), "{}", scene.trace());
    scene.is_untouched();
}

/// A program that only the build names is missing all the same.
#[test]
fn a_missing_program_that_the_task_does_not_name_is_found_in_the_words_of_the_build() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::without_model();
    scene.task(
        "commands: [make], clean: make clean, image: build/fw.elf, needs: [make, arm-none-eabi-gcc]",
        "commands: ['avr-gcc-of-nobody -c src/frame.c'], image: build/fw.elf",
    );
    let ran = scene.run();
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(scene.trace().contains("TOOLCHAIN_MISSING: install the package binutils-avr"), "{}", scene.trace());
}

#[test]
fn a_person_reviews_where_the_task_asks_for_it() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::with_patches(&[bad(BUG, "    if (decoder->count == FRAME_BODY_MAX) {"), good()]);
    scene.task("max_iterations: 5", "max_iterations: 5, human_review: true");
    let ran = scene.run();
    assert_eq!(ran.code, Some(4), "{ran}\n{}", scene.trace());
    let shown = scene.session.run("show r").unwrap();
    assert!(shown.stdout.contains("HUMAN_REVIEW") && shown.stdout.contains("approve"), "{shown}");
    let rejected = scene.session.run("send r reject --data '{\"text\": \"an equal sign is too little\"}'").unwrap();
    assert_eq!(rejected.code, Some(4), "{rejected}\n{}", scene.trace());
    scene.is_untouched();
    let approved = scene.session.run("send r approve").unwrap();
    assert_eq!(approved.code, Some(0), "{approved}\n{}", scene.trace());
    scene.is_fixed();
    let asked = scene.server.as_ref().unwrap().asked();
    assert!(asked[1].text().contains("an equal sign is too little"), "the model hears what the person said");
}

#[test]
fn a_case_that_is_flaky_decides_nothing_and_is_named() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::with_patches(&[good()]);
    // A middle bit of the nanoseconds since QEMU started is a source of real randomness on real QEMU.
    let clock = "int board_clock(void)\n{\n    unsigned ticks[2] = { 0, 0 };\n    semihosting(0x30, ticks);\n    return (int)(ticks[0] >> 10);\n}\n\nvoid board_exit(int status)";
    let board = scene.root().join("common/board.c");
    let text = fs::read_to_string(&board).unwrap();
    fs::write(&board, text.replacen("void board_exit(int status)", clock, 1)).unwrap();
    let tests = scene.root().join("parser/tests/test_parser.c");
    let text = fs::read_to_string(&tests).unwrap();
    let case = "int board_clock(void);\n\nstatic void by_chance(void)\n{\n    CHECK(board_clock() & 1);\n}\n\nstatic const struct check_case";
    let text = text.replacen("static const struct check_case", case, 1);
    let at = text.find("    CASE(").unwrap();
    fs::write(&tests, format!("{}    CASE(by_chance),\n{}", &text[..at], &text[at..])).unwrap();
    scene.task("timeout_sec: 10", "timeout_sec: 10\n  repetitions: 12");
    let ran = scene.run();
    assert_eq!(ran.code, Some(0), "{ran}\n{}", scene.trace());
    let result = &scene.story()["artifacts"]["test_result"];
    assert_eq!(result["flaky"][0]["case_id"], "by_chance", "{result}");
    let text = fs::read_to_string(scene.root().join(super::scene::FILE)).unwrap();
    assert!(text.contains(super::scene::FIX), "the target is repaired all the same");
}

/// Each start then runs all cases, so the executed lines give no information about a single case.
#[test]
fn a_case_arg_that_the_firmware_does_not_know_makes_no_patch_look_certain() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::without_model();
    scene.task("--test={case}", "--only={case}");
    let ran = scene.run();
    assert_eq!(ran.code, Some(1), "{ran}\n{}", scene.trace());
    scene.is_untouched();
    let trace = scene.trace();
    assert!(trace.contains("is `case_arg` right?") && trace.contains("plausible, not proven"), "{trace}");
}
