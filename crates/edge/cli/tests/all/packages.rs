//! The packages of a release: packed from the compiled program, installed from the local file into an empty directory, and
//! used as the README begins.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use interlock_testkit_activity::parts;
use interlock_testkit_cli::session::Session;
use serde_json::Value as Json;
use tempfile::TempDir;

/// A way to install: a name, a shell command in an empty directory, the program, and the places of a manual page and of a completion.
struct Way {
    name: &'static str,
    install: &'static str,
    program: &'static str,
    page: &'static str,
    completion: &'static str,
}

const WAYS: [Way; 4] = [
    Way {
        name: "archive",
        install: "tar xf $DIST/interlock-*.tar.gz --strip-components 1",
        program: "interlock",
        page: "man/interlock-check.1",
        completion: "completions/interlock.fish",
    },
    Way {
        name: "deb",
        install: "dpkg-deb --extract $DIST/*.deb .",
        program: "usr/bin/interlock",
        page: "usr/share/man/man1/interlock-check.1.gz",
        completion: "usr/share/fish/vendor_completions.d/interlock.fish",
    },
    Way {
        name: "wheel",
        install: "python3 -m venv . && bin/pip install --quiet --no-index $DIST/*.whl && bin/pip check",
        program: "bin/interlock",
        page: "share/man/man1/interlock-check.1",
        completion: "share/fish/vendor_completions.d/interlock.fish",
    },
    Way {
        name: "npm",
        install: "npm install --offline --no-audit --no-fund --prefix . $DIST/*.tgz",
        program: "node_modules/.bin/interlock",
        page: "node_modules/interlock-cli/man/interlock-check.1",
        completion: "node_modules/interlock-cli/completions/interlock.fish",
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

/// Runs a shell command in a directory and returns what it prints. Its own home keeps the user's settings out.
fn shell(command: &str, folder: &Path, dist: &Path) -> String {
    let mut shell = Command::new("sh");
    shell.args(["-euc", command]).current_dir(folder).env("HOME", dist).env("DIST", dist);
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Packs the program that cargo compiled for this test.
fn packages() -> TempDir {
    parts::belongs_here("npm");
    let dist = tempfile::tempdir().unwrap();
    let mut release = Command::new(root().join("scripts/release.sh"));
    release.arg("host").env("PROFILE", "dev").env("DIST", dist.path());
    let output = release.env("BINARY", env!("CARGO_BIN_EXE_interlock")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    dist
}

/// Checks and runs the README's first machine with an installed program.
fn first_commands(program: &Path) {
    let place = tempfile::tempdir().unwrap();
    let here = place.path().canonicalize().unwrap();
    let copy = format!("mkdir examples && cp -r {}/examples/release examples", root().display());
    shell(&copy, &here, &here);
    let session = Session::new(program, &here).with("INTERLOCK_HOME", here.join("home").display().to_string());
    let checked = session.run("check examples/release").unwrap();
    assert!(checked.code == Some(0) && checked.stdout.starts_with("✓ release: proved\n"), "{checked}");
    let waits = session.run("run examples/release --set version=1.1 --name v1").unwrap();
    assert_eq!(waits.code, Some(4), "{waits}");
    let released = session.run("send v1 approve").unwrap();
    assert_eq!((released.code, released.stdout.as_str()), (Some(0), "v1  succeeded  released\n"), "{released}");
}

#[test]
fn each_package_installs_a_program_that_works() {
    let dist = packages();
    shell("sha256sum --check --strict SHA256SUMS", dist.path(), dist.path());
    for way in WAYS {
        let place = tempfile::tempdir().unwrap();
        shell(way.install, place.path(), dist.path());
        for file in [way.page, way.completion] {
            assert!(place.path().join(file).is_file(), "{} has no {file}", way.name);
        }
        first_commands(&place.path().canonicalize().unwrap().join(way.program));
    }
    front_package_alone_names_the_missing_one(dist.path());
    every_linked_crate_is_a_part(dist.path());
}

fn front_package_alone_names_the_missing_one(dist: &Path) {
    let place = tempfile::tempdir().unwrap();
    shell("npm install --offline --no-audit --no-fund --prefix . $DIST/interlock-cli-[0-9]*.tgz", place.path(), dist);
    let refused =
        Session::new(place.path().join("node_modules/.bin/interlock"), place.path()).run("--version").unwrap();
    assert!(refused.code == Some(1) && refused.stderr.contains("Hint: Install interlock-cli-linux-"), "{refused}");
}

fn every_linked_crate_is_a_part(dist: &Path) {
    let list: Json = serde_json::from_str(&shell("cat *.cdx.json", dist, dist)).unwrap();
    assert_eq!((list["bomFormat"].as_str(), list["specVersion"].as_str()), (Some("CycloneDX"), Some("1.6")));
    let of = |part: &Json, field: &str| part[field].as_str().unwrap_or_default().to_owned();
    let parts: Vec<String> = list["components"].as_array().unwrap().iter().map(|part| of(part, "name")).collect();
    for linked in ["interlock-core", "ring", "rusqlite", "sqlite", "tree-sitter-c", "zstd"] {
        assert!(parts.iter().any(|part| part == linked), "{linked} is missing in {parts:?}");
    }
    // Macros run in the compiler, and the others are for tests.
    for left_out in ["serde_derive", "proptest", "tree-sitter-bash"] {
        assert!(!parts.iter().any(|part| part == left_out), "{left_out} is not in the program");
    }
    let needs = list["dependencies"].as_array().unwrap();
    let refs: Vec<String> = needs.iter().map(|need| of(need, "ref")).collect();
    assert_eq!(refs.len(), parts.len() + 1, "each part, and the program itself, says what it needs");
    let needed = needs.iter().flat_map(|need| need["dependsOn"].as_array().unwrap());
    needed.for_each(|part| assert!(refs.contains(&part.as_str().unwrap().to_owned()), "{part} is not listed"));
}
