//! A 64-bit Arm processor. There is no common bare-metal compiler for it, so the firmware is nine instructions
//! written by hand.

use std::fs;

use interlock_testbench::Stop;
use serde_json::json;

use crate::trial::{Trial, has_parts, profile};

/// Prints a text on the UART of the machine `virt` and ends by semihosting with a code.
fn image(text: &str, code: u64) -> Vec<u8> {
    let adr = |at: u32, to: u32| 0x1000_0001 | (((to - at) >> 2) << 5);
    let instructions = [
        0xD2A1_2000,          // mov x0, #0x09000000: the UART
        adr(4, 56),           // adr x1, text
        0x3840_1422,          // next: ldrb w2, [x1], #1
        0x3400_0002 | 3 << 5, // cbz w2, end
        0xB900_0002,          // str w2, [x0]
        0x17FF_FFFD,          // b next
        0xD280_0300,          // end: mov x0, #0x18: exit
        adr(28, 40),          // adr x1, block
        0xD45E_0000,          // hlt #0xf000
        0,
    ];
    let mut image: Vec<u8> = instructions.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    // The block contains the reason, application exit, and its code.
    image.extend([0x20026, code].iter().flat_map(|word: &u64| word.to_le_bytes()));
    image.extend(text.bytes().chain([0]));
    image
}

async fn check(text: &str, code: u64) {
    if !has_parts(&["qemu-system-aarch64"]) {
        return;
    }
    let config = json!({ "program": "qemu-system-aarch64", "machine": "virt", "cpu": "cortex-a53", "semihosting": true, "args": ["-nic", "none"] });
    let mut trial = Trial::new(profile("qemu", config), None);
    let path = trial.session.folder.join("image");
    fs::write(&path, image(text, code)).unwrap();
    trial.session.image = Some(path);
    let seen = trial.run(&[]).await;
    assert_eq!(seen.ran.stop, Stop::Exited { code: i64::try_from(code).unwrap() }, "{seen:?}");
    assert_eq!(seen.log(), text);
    assert_eq!(trial.processes(), [] as [i32; 0], "a process is left");
}

#[tokio::test]
async fn aarch64_firmware_prints_and_exits_with_its_code() {
    check("t.c:1:boots:PASS\n1 Tests 0 Failures 0 Ignored\nOK\n", 0).await;
    check("t.c:1:boots:FAIL: no\n1 Tests 1 Failures 0 Ignored\nFAIL\n", 3).await;
}
