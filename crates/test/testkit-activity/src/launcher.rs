//! Provides the launcher for tests. The command line is its own launcher, but a test process cannot be one, so a
//! separate binary is built once per test process, or once for all of them by `scripts/test.sh`.

use std::{path::PathBuf, process::Command, sync::OnceLock};

use interlock_sandbox::Launcher;

/// Returns a launcher that is built with the same profile and dependencies as the calling test. It stores workspaces as
/// the command line does.
pub fn launcher() -> Launcher {
    static LAUNCHER: OnceLock<[PathBuf; 2]> = OnceLock::new();
    let [launcher, keeper] = LAUNCHER.get_or_init(|| {
        [("interlock-sandbox", "interlock-sandbox"), ("interlock-workspace", "interlock-keeper")].map(build)
    });
    Launcher::at(launcher).with_keeper(keeper)
}

/// Set by `scripts/test.sh` after it has built the binaries, so that no test process has to ask cargo.
const ARE_BUILT: &str = "INTERLOCK_BINARIES_ARE_BUILT";

/// Returns the program `interlock`, built in the same way.
pub fn program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build(("interlock-cli", "interlock"))).clone()
}

fn build((package, binary): (&str, &str)) -> PathBuf {
    // Test binaries are in `target/PROFILE/deps`.
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let built = profile.join(binary);
    if std::env::var_os(ARE_BUILT).is_some() && built.is_file() {
        return built;
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--offline", "--package", package, "--bin", binary]);
    build
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
        .arg("--target-dir")
        .arg(profile.parent().unwrap());
    if profile.ends_with("release") {
        build.arg("--release");
    }
    let built = build.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    profile.join(binary)
}
