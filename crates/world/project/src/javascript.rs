//! The scripts of a `package.json`, run by the package manager that the project uses.

use serde_json::Value;

use crate::{Kind, files::Files, table::Found};

/// The scripts that verify, with their kinds.
const SCRIPTS: [(&str, Kind); 7] = [
    ("lint", Kind::Static),
    ("typecheck", Kind::Static),
    ("type-check", Kind::Static),
    ("check", Kind::Static),
    ("analyze", Kind::Static),
    ("build", Kind::Build),
    ("test", Kind::Test),
];

/// Lock files and their package managers.
const LOCKS: [(&str, &str); 5] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
];

/// The script that `npm init` writes; it always fails.
const NO_TEST: &str = "no test specified";

/// Returns a command for each verifying script that exists.
pub(crate) fn scripts(files: &Files<'_>, text: &str) -> Vec<Found> {
    let package: Value = match serde_json::from_str(text) {
        Ok(package) => package,
        Err(error) => {
            files.misread("package.json", error);
            return Vec::new();
        }
    };
    let manager = manager(files, &package);
    let found = SCRIPTS.iter().filter_map(|(name, kind)| {
        let script = package["scripts"][*name].as_str().filter(|script| !script.contains(NO_TEST))?;
        Some(Found::new(*kind, format!("{manager} run {name}")).defined(script))
    });
    found.collect()
}

/// Returns the package manager: the one that `packageManager` names, else the one whose lock file exists, else npm.
fn manager(files: &Files<'_>, package: &Value) -> &'static str {
    let named = package["packageManager"].as_str().and_then(|named| named.split('@').next());
    let of_field = LOCKS.iter().find(|(_, manager)| Some(*manager) == named);
    let found = of_field.or_else(|| LOCKS.iter().find(|(lock, _)| files.has(lock)));
    found.map_or("npm", |(_, manager)| manager)
}
