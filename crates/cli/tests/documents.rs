//! What the documents show is what happens: their commands are run, their pictures drawn again, their links followed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use interlock_testkit_cli::{console, session::Session};

/// Documents with sessions in them, and how many commands each has at least (so that none is lost without notice).
const DOCUMENTS: [(&str, usize); 3] =
    [("README.md", 7), ("docs/running.md", 9), ("examples/wait-for-grant/README.md", 4)];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn session() -> Session {
    Session::new(env!("CARGO_BIN_EXE_interlock"), root())
}

/// With a store of its own, empty at first.
fn session_with_store(home: &Path) -> Session {
    session().with("INTERLOCK_HOME", home.display().to_string()).with("INTERLOCK_USER", "ada")
}

#[test]
fn commands_in_documents_print_what_is_shown() {
    for (document, commands_min) in DOCUMENTS {
        let home = tempfile::tempdir().unwrap();
        match console::check(&root().join(document), "interlock", &session_with_store(home.path())) {
            Ok(count) => assert!(count >= commands_min, "{document} has only {count} commands"),
            Err(difference) => panic!("{difference}"),
        }
    }
}

fn check_picture(machine: &str, theme: &str, path: &str) {
    let drawn = session().run(&format!("draw {machine} --theme {theme}")).unwrap().stdout;
    let kept = std::fs::read_to_string(root().join(path)).unwrap_or_default();
    assert!(drawn == kept, "{path} is out of date: run `make pictures`");
}

#[test]
fn pictures_in_documents_are_those_of_the_machines() {
    for machine in ["firmware", "coder", "prd", "brain", "notebook"] {
        check_picture(machine, "auto", &format!("machines/{machine}/machine.svg"));
    }
    for theme in ["light", "dark"] {
        check_picture("examples/fix-until-green", theme, &format!("docs/pictures/fix-until-green-{theme}.svg"));
    }
}

/// Markdown files of the repository: at the top, under `docs/`, and beside the machines.
fn markdown(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            markdown(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut documents = Vec::new();
    markdown(&root(), &mut documents);
    assert!(documents.len() > 10, "only {} documents were found", documents.len());
    let mut dangling = Vec::new();
    for document in documents {
        let text = std::fs::read_to_string(&document).unwrap();
        let folder = document.parent().unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let images = text.split("src=\"").chain(text.split("srcset=\"")).filter_map(|rest| rest.split('"').next());
        let images = images.filter(|path| path.ends_with(".svg") && !path.contains(char::is_whitespace));
        for link in links.chain(images).filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let path = link.split('#').next().unwrap_or_default();
            if !path.contains(char::is_whitespace) && !folder.join(path).exists() {
                dangling.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(dangling.is_empty(), "{dangling:#?}");
}
