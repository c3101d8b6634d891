//! Faults in logs, and the locations that an ELF file gives for addresses.

use std::{fmt::Write, fs, process::Command};

use expect_test::{Expect, expect};
use interlock_testbench::fault::{Symbols, faults, sizes};
use regex::bytes::Regex;

use crate::firmware::{Handler, Processor};

fn check(log: &str, own: &[&str], expected: Expect) {
    let own: Vec<_> = own.iter().map(|pattern| Regex::new(pattern).unwrap()).collect();
    let mut told = String::new();
    for fault in faults(log, &own, None) {
        let registers: Vec<_> = fault.registers.iter().map(|(name, value)| format!("{name}={value}")).collect();
        writeln!(told, "{} [{}]", fault.banner, registers.join(" ")).unwrap();
    }
    expected.assert_eq(&told);
}

#[test]
fn fault_dumps_of_common_handlers_are_found() {
    check(
        "test_a:PASS\nHardFault\r\npc=0x000004a0\r\nlr=0x0000033b\r\ncfsr=0x00008200\r\nbye\n",
        &[],
        expect![[r#"
        HardFault [cfsr=00008200 lr=0000033b pc=000004a0]
    "#]],
    );
    check(
        "***** BUS FAULT *****\n  Precise data bus error\n  BFAR Address: 0x50000000\nr0/a1:  0x20000118  r1/a2:  0x00000055\nFaulting instruction address (r15/pc): 0x000012f4\n",
        &[],
        expect![[r#"
            ***** BUS FAULT ***** [a1=20000118 a2=00000055 pc=000012f4]
        "#]],
    );
    check(
        "qemu: fatal: Lockup: can't escalate 3\n\nR00=2000000c R01=00000074\nR14=fffffff9 R15=000003b8\n",
        &[],
        expect![[r#"
            qemu: fatal: Lockup: can't escalate 3 [r00=2000000c r01=00000074 r14=fffffff9 r15=000003b8]
        "#]],
    );
    check(
        "PC: 080012f4 LR: 08000131 PSR: 61000003\nnext\n",
        &[],
        expect![[r#"
        PC: 080012f4 LR: 08000131 PSR: 61000003 [lr=08000131 pc=080012f4 psr=61000003]
    "#]],
    );
    check(
        "Unhandled exception\n mepc: 80000480\n mcause: 00000007\nrebooting\n",
        &[],
        expect![[r#"
        Unhandled exception [mcause=00000007 mepc=80000480]
    "#]],
    );
    check(
        "assertion \"n > 0\" failed: file \"ring.c\", line 12, function: pop\n",
        &[],
        expect![[r#"
        assertion "n > 0" failed: file "ring.c", line 12, function: pop []
    "#]],
    );
}

#[test]
fn lines_that_only_mention_faults_are_ignored() {
    for log in [
        "test_hardfault_handler:PASS\n",
        "ring.c:3:handles a bus fault:PASS\n",
        "ok 3 - data abort is reported\n",
        "no default values\n",
        "pc games\n",
        "pc=0x1000\n",
        "panicking is not an option\n",
        "version 0x1234\n",
    ] {
        assert_eq!(faults(log, &[], None), [], "{log}");
    }
}

#[test]
fn user_patterns_name_their_registers() {
    check(
        "CRASH at 8000abcd in task 3\nPASS\nCRASH at 8000abce in task 4\n",
        &["^CRASH at (?P<pc>[0-9a-f]+) in task (?P<task>\\d)"],
        expect![[r#"
            CRASH at 8000abcd in task 3 [pc=8000abcd task=3]
            CRASH at 8000abce in task 4 [pc=8000abce task=4]
        "#]],
    );
}

#[test]
fn number_of_reported_faults_is_bounded() {
    let log = "HardFault\npc=0x00000001\n".repeat(100_000);
    assert_eq!(faults(&log, &[], None).len(), 20);
}

#[test]
fn sizes_match_the_program_size() {
    for (processor, size) in
        [(Processor::CortexM, "arm-none-eabi-size"), (Processor::RiscV, "riscv64-unknown-elf-size")]
    {
        let Some(image) = processor.firmware(Handler::Reports) else { continue };
        let said = Command::new(size).arg(&image).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let numbers: Vec<u64> =
            said.lines().nth(1).unwrap().split_whitespace().take(3).map(|number| number.parse().unwrap()).collect();
        let sizes = sizes(&image).unwrap();
        assert_eq!(vec![sizes.text, sizes.data, sizes.bss], numbers, "{processor:?}");
        assert!(sizes.text > 0 && sizes.bss > 0, "{sizes:?}");
    }
}

#[test]
fn damaged_elf_files_are_refused_or_give_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image");
    fs::write(&path, "no ELF file").unwrap();
    assert!(Symbols::read(&path).is_err() && sizes(&path).is_err());
    let Some(image) = Processor::CortexM.firmware(Handler::Reports) else { return };
    let good = fs::read(image).unwrap();
    let mut seed = 7_u64;
    for round in 0..300 {
        let mut bad = good.clone();
        for _ in 0..20 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (seed >> 33) as usize % bad.len();
            bad[at] = (seed >> 20) as u8;
        }
        bad.truncate(if round % 3 == 0 { bad.len() / 2 } else { bad.len() });
        fs::write(&path, &bad).unwrap();
        let _ = sizes(&path);
        if let Ok(symbols) = Symbols::read(&path) {
            for address in (0..0x800).step_by(64) {
                let _ = (symbols.places(address), symbols.function(address), symbols.caller(address));
            }
        }
    }
}
