//! What starts programs, for tests. The command line is its own launcher; a test process cannot be, so a binary that is nothing else is built
//! once for each of them.

use std::{path::PathBuf, process::Command, sync::OnceLock};

use interlock_sandbox::Launcher;

/// A launcher, in the same profile and beside the same dependencies as the test that asks. It keeps workspaces as the command line does.
pub fn launcher() -> Launcher {
    static LAUNCHER: OnceLock<[PathBuf; 2]> = OnceLock::new();
    let [launcher, keeper] = LAUNCHER.get_or_init(|| {
        [("interlock-sandbox", "interlock-sandbox"), ("interlock-workspace", "interlock-keeper")].map(build)
    });
    Launcher::at(launcher).with_keeper(keeper)
}

fn build((package, binary): (&str, &str)) -> PathBuf {
    // Tests are in `target/PROFILE/deps`.
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--offline", "--package", package, "--bin", binary]);
    build.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).arg("--target-dir").arg(profile.parent().unwrap());
    if profile.ends_with("release") {
        build.arg("--release");
    }
    let built = build.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    profile.join(binary)
}
