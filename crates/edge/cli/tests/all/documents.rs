//! Runs the commands that the documents show, draws their pictures again and follows their links.

use std::path::{Path, PathBuf};

use interlock_testkit_cli::{console, mask::masked, session::Session};

/// The documents with sessions, each with the least number of its commands, so that no loss goes unnoticed.
const DOCUMENTS: [(&str, usize); 17] = [
    ("README.md", 12),
    ("README.zh-CN.md", 12),
    ("docs/tour.md", 9),
    ("docs/running.md", 9),
    ("docs/brain.md", 6),
    ("docs/coder.md", 6),
    ("docs/tutorial.md", 10),
    ("docs/how-to/connect-a-coding-agent.md", 6),
    ("docs/how-to/connect-a-model.md", 5),
    ("docs/how-to/run-in-ci.md", 6),
    ("docs/how-to/test-a-machine.md", 9),
    ("docs/how-to/timers.md", 3),
    ("docs/how-to/write-an-activity.md", 5),
    ("docs/prd.md", 16),
    ("docs/how-to/back-up.md", 4),
    ("docs/how-to/upgrade.md", 4),
    ("examples/wait-for-grant/README.md", 4),
];

/// The directories that sessions use. They are copied, because runs write to them.
const FOLDERS: [&str; 3] = ["examples", "docs/examples", "tests/conformance"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

fn session() -> Session {
    Session::new(env!("CARGO_BIN_EXE_interlock"), root())
}

/// Copies the directories that sessions use and returns a session with an empty store.
fn session_in_copy(copy: &Path, home: &Path) -> Session {
    FOLDERS.iter().for_each(|folder| copy_folder(&root().join(folder), &copy.join(folder)));
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), copy);
    session.with("INTERLOCK_HOME", home.display().to_string()).with("INTERLOCK_USER", "ada")
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn commands_in_documents_print_what_is_shown() {
    for (document, commands_min) in DOCUMENTS {
        let (copy, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        match console::check(&root().join(document), "interlock", &session_in_copy(copy.path(), home.path())) {
            Ok(count) => assert!(count >= commands_min, "{document} has only {count} commands"),
            Err(difference) => panic!("{difference}"),
        }
    }
    // This is not a separate test, because `make docs` rewrites both documents above.
    assert_eq!(masked_blocks("README.zh-CN.md"), masked_blocks("README.md"), "the translation shows other sessions");
}

/// Returns the fenced blocks of a document with times, hashes and durations masked.
fn masked_blocks(document: &str) -> Vec<String> {
    blocks(document).iter().map(|block| block.lines().map(masked).collect::<Vec<String>>().join("\n")).collect()
}

/// Returns the fenced blocks of a document, without its prose.
fn blocks(document: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(document)).unwrap();
    text.split("\n```").skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn readme_shows_the_example_in_full() {
    let example = std::fs::read_to_string(root().join("examples/release/machine.yaml")).unwrap();
    let shown = blocks("README.md").into_iter().filter_map(|block| block.strip_prefix("yaml\n").map(str::to_owned));
    assert!(shown.into_iter().any(|block| block + "\n" == example), "README.md does not show {example}");
}

/// Returns the pages that the index must link to: everything directly in `docs/` and the how-to guides.
fn pages() -> Vec<String> {
    let mut pages = Vec::new();
    for folder in ["", "how-to/"] {
        for entry in std::fs::read_dir(root().join("docs").join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            pages.extend(name.ends_with(".md").then(|| format!("{folder}{name}")));
        }
    }
    pages.retain(|page| page != "README.md");
    pages
}

#[test]
fn index_links_to_every_page() {
    let index = std::fs::read_to_string(root().join("docs/README.md")).unwrap();
    let missing: Vec<String> = pages().into_iter().filter(|page| !index.contains(&format!("]({page})"))).collect();
    assert!(missing.is_empty(), "docs/README.md does not link to {missing:?}");
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
        for example in ["fix-until-green", "release"] {
            check_picture(&format!("examples/{example}"), theme, &format!("docs/pictures/{example}-{theme}.svg"));
        }
    }
}

/// Collects the Markdown files of the repository: at the top, under `docs/`, and beside the machines.
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

#[test]
fn every_kind_of_record_is_described() {
    let page = std::fs::read_to_string(root().join("docs/durability.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
    let words = (1..=u8::MAX).map(interlock_journal::Entry::kind_word).take_while(|word| *word != "unknown");
    let missing: Vec<&str> = words.filter(|word| !rows.iter().any(|row| row.contains(word))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
