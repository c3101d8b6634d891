//! Checks that the sections exist to which documents link.

use std::path::Path;

use super::{
    references::{documents, read},
    root,
};

/// Returns the anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase().replace(' ', "-");
    kept.chars().filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter)).collect()
}

/// Returns the anchors of a document: its headings outside of fenced blocks.
fn anchors(text: &str) -> Vec<String> {
    let fences = text.split("\n```").step_by(2);
    let headings = fences.flat_map(str::lines).filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

#[test]
fn sections_that_documents_link_to_exist() {
    let mut missing = Vec::new();
    for document in documents() {
        let text = read(&document);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let Some((path, section)) = link.split_once('#').filter(|_| !link.contains("://")) else { continue };
            let target = match path {
                "" => document.clone(),
                path => Path::new(&document).parent().unwrap().join(path).to_str().unwrap().to_owned(),
            };
            let target = std::fs::read_to_string(root().join(target)).unwrap_or_default();
            if !anchors(&target).contains(&section.to_owned()) {
                missing.push(format!("{document}: {link}"));
            }
        }
    }
    assert!(missing.is_empty(), "these sections do not exist: {missing:#?}");
}

#[test]
fn anchors_are_those_of_github() {
    let text = "# The user's repository\n\n```sh\n# no heading\n```\n\n## `--json`\n";
    assert_eq!(anchors(text), ["the-users-repository", "--json"]);
}
