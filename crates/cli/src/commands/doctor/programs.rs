//! Programs that some runs need and others do not: that one is missing is said, and is nothing bad.

use std::path::{Path, PathBuf};

use interlock_runtime::package_of;

use super::{Finding, good};

/// Each with what it is needed for.
const OPTIONAL: [(&str, &str); 6] = [
    ("qemu-system-arm", "firmware for ARM that is run on QEMU"),
    ("arm-none-eabi-gcc", "firmware for Cortex-M that is built here, as the sample's"),
    ("make", "builds that call it, as the samples' do"),
    ("gdb-multiarch", "the stack of a firmware that hangs on QEMU"),
    ("ssh", "boards and script hosts that are reached by it"),
    ("ipmitool", "management controllers that are reached by IPMI"),
];

/// What there is of them, and what to install for the rest.
pub(super) fn optional() -> Vec<Finding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    OPTIONAL.iter().map(|(name, used_for)| finding(name, used_for, &folders)).collect()
}

fn finding(name: &'static str, used_for: &str, folders: &[PathBuf]) -> Finding {
    match folders.iter().map(|folder| folder.join(name)).find(|path| is_program(path)) {
        Some(path) => good(name, path.display().to_string()),
        None => good(name, format!("missing: only needed for {used_for}; `apt install {}`", package_of(name))),
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
