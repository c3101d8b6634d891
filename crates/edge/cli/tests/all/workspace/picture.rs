//! The picture of the dependencies between crates, drawn from the manifests.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::{Manifest, manifests};

type Manifests = BTreeMap<String, Manifest>;

/// The marks before and after the picture in the document.
const BEGIN: &str = "<!-- crates: drawn from the manifests; `make docs` rewrites it -->\n";
const END: &str = "<!-- crates: end -->\n";
/// Columns between the margin and the crates that a crate depends on.
const NAME_COLUMNS: usize = 16;

/// Replaces the picture in a document.
pub(crate) fn put_into(document: &str, picture: &str) -> String {
    let (before, rest) = document.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    format!("{before}{BEGIN}```text\n{picture}```\n{END}{after}")
}

/// Draws the crates by level, the highest first. A crate of level N has a chain of N crates below it; arrows that follow from others are
/// left out.
pub(crate) fn draw(manifests: &Manifests) -> String {
    let level = |name: &str| chain(manifests, name).len() - 1;
    let mut levels: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for name in manifests.keys() {
        levels.entry(level(name)).or_default().push(name);
    }
    let mut picture = String::new();
    for (level, names) in levels.iter().rev() {
        for (row, name) in names.iter().enumerate() {
            let margin = if row == 0 { level.to_string() } else { String::new() };
            let arrows = direct(manifests, name).into_iter().collect::<Vec<_>>().join(", ");
            let line = match arrows.is_empty() {
                true => format!("{margin:<4}{name}"),
                false => format!("{margin:<4}{name:<NAME_COLUMNS$}──▶ {arrows}"),
            };
            picture.push_str(&line);
            picture.push('\n');
        }
    }
    picture
}

/// Returns the longest chain of crates in which each depends on the next.
pub(crate) fn longest_chain(manifests: &Manifests) -> Vec<&str> {
    manifests.keys().map(|name| chain(manifests, name)).max_by_key(Vec::len).unwrap_or_default()
}

/// Returns the longest chain that begins with a crate. Cargo allows no cycle, so the recursion ends.
fn chain<'m>(manifests: &'m Manifests, name: &'m str) -> Vec<&'m str> {
    let below = manifests[name].arrows().into_iter().map(|target| chain(manifests, target));
    let below = below.max_by_key(Vec::len).unwrap_or_default();
    std::iter::once(name).chain(below).collect()
}

/// Returns the crates that a crate depends on, without those that another of them depends on.
fn direct<'m>(manifests: &'m Manifests, name: &str) -> BTreeSet<&'m str> {
    let arrows = manifests[name].arrows();
    let indirect: BTreeSet<&str> = arrows.iter().flat_map(|target| all_below(manifests, target)).collect();
    arrows.into_iter().filter(|target| !indirect.contains(target)).collect()
}

fn all_below<'m>(manifests: &'m Manifests, name: &str) -> BTreeSet<&'m str> {
    let arrows = manifests[name].arrows();
    let further: Vec<&str> = arrows.iter().flat_map(|target| all_below(manifests, target)).collect();
    arrows.into_iter().chain(further).collect()
}

fn example() -> Manifests {
    let manifest = |text: &str| super::manifest::parse(&format!("[dependencies]\n{text}"));
    BTreeMap::from([
        ("a".to_owned(), manifest("")),
        ("b".to_owned(), manifest("interlock-a.workspace = true\n")),
        ("c".to_owned(), manifest("interlock-a.workspace = true\ninterlock-b.workspace = true\n")),
    ])
}

#[test]
fn arrows_that_follow_from_others_are_left_out() {
    expect_test::expect![[r#"
        2   c               ──▶ b
        1   b               ──▶ a
        0   a
    "#]]
    .assert_eq(&draw(&example()));
}

#[test]
fn a_picture_takes_the_place_of_the_one_before() {
    let document = format!("before\n{BEGIN}old\n{END}after\n");
    let expected = format!("before\n{BEGIN}```text\nnew\n```\n{END}after\n");
    assert_eq!(put_into(&document, "new\n"), expected);
}

#[test]
fn the_longest_chain_is_found() {
    assert_eq!(longest_chain(&example()), ["c", "b", "a"]);
    assert!(longest_chain(&manifests()).len() > 2);
}
