//! The lookup of machines by name and path.

use interlock_chart::library::{self, Error, Origin};
use std::{fs, path::PathBuf};

const MACHINE: &str = "machine: own\nversion: 1\ninitial: a\nstates: { a: { type: final, outcome: success } }\n";

/// Creates a project with a machine called `own` and a changed `coder`, and returns a directory below it.
fn project(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    for machine in ["own", "coder"] {
        let folder = root.join(".interlock/machines").join(machine);
        fs::create_dir_all(folder.join("prompts")).unwrap();
        fs::write(folder.join("machine.yaml"), MACHINE).unwrap();
        fs::write(folder.join("prompts/first.md"), "Be brief.").unwrap();
        fs::write(folder.join("README.md"), "Not part of the machine.").unwrap();
    }
    let below = root.join("src/deep");
    fs::create_dir_all(&below).unwrap();
    below
}

#[test]
fn project_machines_are_found_from_below_and_hide_built_in_ones() {
    let dir = project("found");
    let listed = library::list(&dir);
    let of = |name: &str| listed.iter().find(|listed| listed.name == name).unwrap().origin;
    assert_eq!((of("own"), of("coder"), of("firmware")), (Origin::Project, Origin::Project, Origin::BuiltIn));
    assert_eq!(listed.len(), 6);
    let source = library::load("coder", &dir).unwrap();
    assert_eq!(source.origin, Origin::Project);
    let files: Vec<&str> = source.files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(files, ["prompts/first.md"]);
}

#[test]
fn a_path_may_name_the_directory_or_the_file() {
    let dir = project("path");
    let by_folder = library::load("../../.interlock/machines/own", &dir).unwrap();
    let by_file = library::load("../../.interlock/machines/own/machine.yaml", &dir).unwrap();
    assert_eq!(by_folder.read().chart.unwrap().hash, by_file.read().chart.unwrap().hash);
    fs::write(dir.join("alone.yaml"), MACHINE).unwrap();
    let alone = library::load("alone.yaml", &dir).unwrap();
    assert!(alone.files.is_empty());
    assert_ne!(
        alone.read().chart.unwrap().hash,
        by_folder.read().chart.unwrap().hash,
        "the prompts are part of the hash"
    );
}

#[test]
fn load_errors_have_a_hint() {
    let dir = project("missing");
    let error = library::load("firmwear", &dir).unwrap_err();
    assert_eq!(error.to_string(), "there is no machine called `firmwear`");
    assert_eq!(error.hint(), Some("did you mean `firmware`?"));
    assert!(matches!(library::load("./nothing.yaml", &dir).unwrap_err(), Error::Unreadable { .. }));
}

#[test]
fn huge_files_and_files_that_are_not_text_are_refused() {
    let dir = project("huge");
    fs::write(dir.join("huge.yaml"), vec![b'x'; 10_000_000]).unwrap();
    fs::write(dir.join("bytes.yaml"), b"machine: \xff").unwrap();
    let code = |name: &str| library::load(name, &dir).unwrap().read().diagnostics[0].code;
    assert_eq!((code("huge.yaml"), code("bytes.yaml")), ("E0102", "E0103"));
}

#[test]
fn a_prompt_that_is_a_link_or_a_pipe_is_refused() {
    let dir = project("links");
    let secret = dir.join("credentials");
    fs::write(&secret, "password").unwrap();
    let prompts = dir.join("../../.interlock/machines/own/prompts");
    let said = |dir: &PathBuf| match library::load("own", dir) {
        Ok(source) => format!("{:?}", source.files),
        Err(error) => error.to_string().rsplit_once("prompts").map_or(error.to_string(), |(_, said)| said.to_owned()),
    };
    let _ = fs::remove_file(prompts.join("leak.md"));
    std::os::unix::fs::symlink(&secret, prompts.join("leak.md")).unwrap();
    assert_eq!(said(&dir), "/leak.md is a symbolic link; links are not followed here");
    fs::remove_file(prompts.join("leak.md")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(prompts.join("leak.md")).status().unwrap();
    assert!(made.success());
    assert_eq!(said(&dir), "/leak.md is a named pipe, not a regular file");
    fs::remove_file(prompts.join("leak.md")).unwrap();
}

#[test]
fn a_linked_machine_is_refused() {
    let dir = project("linked");
    let machines = dir.join("../../.interlock/machines");
    let _ = fs::remove_file(machines.join("other"));
    std::os::unix::fs::symlink(machines.join("own"), machines.join("other")).unwrap();
    let error = library::load("other", &dir).unwrap_err().to_string();
    assert!(error.ends_with("other is a symbolic link; links are not followed here"), "{error}");
}
