//! Programs that only some runs need. A missing program is marked as missing and is not a failure.

use std::{collections::BTreeMap, path::Path};

use interlock_firmware::package_of;
use interlock_process::find;

use super::{Finding, good};

/// The optional programs, each with its purpose.
const OPTIONAL: [(&str, &str); 6] = [
    ("qemu-system-arm", "running ARM firmware on QEMU"),
    ("arm-none-eabi-gcc", "building Cortex-M firmware, as the samples do"),
    ("make", "builds that use make, as the samples do"),
    ("gdb-multiarch", "the stack trace of firmware that hangs on QEMU"),
    ("ssh", "boards and script hosts that use SSH"),
    ("ipmitool", "management controllers that use IPMI"),
];

/// Looks for each optional program. The finding for a missing program names the package to install.
pub(super) fn optional() -> Vec<Finding> {
    OPTIONAL.iter().map(|(name, used_for)| finding(name, used_for)).collect()
}

fn finding(name: &'static str, used_for: &str) -> Finding {
    match find(name, Path::new("/"), &BTreeMap::new()) {
        Ok(path) => good(name, path.display().to_string()),
        Err(_) => {
            let said =
                format!("missing, only needed for {used_for}; install it with `apt install {}`", package_of(name));
            Finding { missing: true, ..good(name, said) }
        }
    }
}
