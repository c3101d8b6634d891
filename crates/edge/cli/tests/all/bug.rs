//! A bug ends with a message that asks for a report and with exit code 70. The test starts itself as a child process,
//! which panics.

use std::process::Command;

const CHILD: &str = "INTERLOCK_TEST_PANICS";

#[test]
fn a_panic_asks_for_a_report_and_exits_with_70() {
    if std::env::var_os(CHILD).is_some() {
        interlock_cli::bug::watch();
        panic!("the chart has no root");
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bug::a_panic_asks_for_a_report_and_exits_with_70", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&child.stderr);
    assert_eq!(child.status.code(), Some(70), "{stderr}");
    assert!(stderr.contains("error: a bug in interlock") && stderr.contains("the chart has no root"), "{stderr}");
    assert!(stderr.contains("Hint: please report it"), "{stderr}");
}
