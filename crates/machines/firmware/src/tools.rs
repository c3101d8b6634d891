//! The versions of the programs that a result depends on. They are kept with the baseline, because repeating a run
//! requires the same versions.

use std::{collections::BTreeMap, path::Path};

use interlock_activity::Attempt;
use interlock_testbench::{Profile, fault::Image};

use crate::{
    build::{self, Build},
    table::{Settings, blocking},
};

/// The largest number of programs whose version is queried.
const PROGRAMS_MAX: usize = 8;

/// Returns the versions of Interlock, git, the programs that a task names, and the compilers named in the image.
pub(crate) async fn versions(
    settings: &Settings,
    attempt: &Attempt,
    build: &Build,
    profile: &Profile,
    folder: &Path,
) -> BTreeMap<String, String> {
    let mut found = BTreeMap::from([("interlock".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]);
    for program in programs(build, profile) {
        if let Some(version) = build::version(settings, attempt, &program, folder).await {
            found.insert(program, version);
        }
    }
    let image = folder.join(&build.image);
    let compilers = blocking(move || Ok(Image::read(&image).map(|image| image.compilers()).unwrap_or_default())).await;
    let compilers = compilers.unwrap_or_default().into_iter().collect::<Vec<_>>().join(", ");
    if !compilers.is_empty() {
        found.insert("compiler of the image".to_owned(), compilers);
    }
    found
}

/// Returns the programs that a task names; if the build names none, the first words of its commands.
fn programs(build: &Build, profile: &Profile) -> Vec<String> {
    let emulator = profile.config.get("program").and_then(serde_json::Value::as_str);
    let emulator = emulator.filter(|_| profile.env_type == "qemu").map(str::to_owned);
    let first = |line: &String| line.split_whitespace().next().map(str::to_owned);
    let named: Vec<String> = match build.needs.is_empty() {
        true => build.commands.iter().filter_map(first).filter(|word| !word.contains(['=', '/'])).collect(),
        false => build.needs.clone(),
    };
    let mut all: Vec<String> = ["git".to_owned()].into_iter().chain(emulator).chain(named).collect();
    all.truncate(PROGRAMS_MAX);
    all.retain(|program| !["cd", "sh", "test", "echo"].contains(&program.as_str()));
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use super::*;

    #[test]
    fn programs_are_taken_from_the_task() {
        let of = |build: &str, profile: &str| {
            programs(&serde_json::from_str(build).unwrap(), &serde_json::from_str(profile).unwrap())
        };
        let qemu = r#"{"env_type":"qemu","config":{"program":"qemu-system-arm"}}"#;
        assert_eq!(of(r#"{"needs":["make"],"commands":["ninja"]}"#, qemu), ["git", "qemu-system-arm", "make"]);
        let local = r#"{"env_type":"local","config":{"program":"x"}}"#;
        assert_eq!(of(r#"{"commands":["cc -o a a.c","A=1 make","./configure"]}"#, local), ["git", "cc"]);
    }
}
