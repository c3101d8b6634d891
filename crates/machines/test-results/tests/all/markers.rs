//! A text with a failure marker of its format never passes, at any position of the marker. The fuzz targets use the
//! same oracle.

use interlock_test_results::{Verdict, parse};
use interlock_testkit::markers as oracle;
use proptest::prelude::*;

use crate::{
    corpus::{Example, all},
    ran,
};

const NAMES: [&str; 12] =
    ["unity", "tap", "ktap", "junit", "gtest", "ctest", "pytest", "cargo", "twister", "ztest", "robot", "patterns"];

/// The examples of each format that pass unchanged.
static GOOD: std::sync::LazyLock<Vec<(&'static str, Vec<Example>)>> = std::sync::LazyLock::new(|| {
    let good = |name: &&'static str| {
        let is_own =
            |example: &Example| example.path.parent().and_then(|folder| folder.file_name()).is_some_and(|n| n == *name);
        let passes = |example: &Example| example.measured().verdict == Verdict::Pass;
        (*name, all().into_iter().filter(|example| is_own(example) && passes(example)).collect())
    };
    NAMES.iter().map(good).collect()
});

fn verdict(example: &Example, text: &str) -> Verdict {
    let ran = ran("all", 1, interlock_test_results::Stop::Exited { code: 0 });
    interlock_test_results::measure(&[(parse(&example.format, text), &ran)], &[], None).verdict
}

/// Inserts a marker into the text: as a separate line if the format has lines.
fn put_in(name: &str, text: &str, at: usize, marker: &str) -> String {
    let is_document = matches!(name, "junit" | "robot" | "twister");
    let boundary = if is_document { '>' } else { '\n' };
    let places: Vec<usize> =
        text.match_indices(if name == "twister" { '{' } else { boundary }).map(|(at, _)| at + 1).collect();
    let place = if places.is_empty() { 0 } else { places[at % places.len()] };
    let end = if is_document { "" } else { "\n" };
    format!("{}{marker}{end}{}", &text[..place], &text[place..])
}

#[test]
fn every_format_has_good_examples_and_markers() {
    for (name, good) in GOOD.iter() {
        assert!(!good.is_empty(), "{name}");
        assert!(oracle::examples(name).iter().all(|marker| oracle::has_marker(name, marker)), "{name}");
        for example in good {
            assert!(!oracle::has_marker(name, &example.text), "{:?} passes and has a marker", example.path);
        }
    }
}

#[test]
fn marker_at_any_place_of_a_good_text_never_passes() {
    for (name, good) in GOOD.iter() {
        for example in good {
            for marker in oracle::examples(name) {
                for at in 0..example.text.matches(['\n', '>', '{']).count().min(80) {
                    let text = put_in(name, &example.text, at, marker);
                    let has_marker = oracle::has_marker(name, &text);
                    assert!(
                        !has_marker || verdict(example, &text) != Verdict::Pass,
                        "{name} with {marker:?} passes:\n{text}"
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn marker_in_a_damaged_good_text_never_passes(
        format in any::<prop::sample::Index>(),
        example in any::<prop::sample::Index>(),
        marker in any::<prop::sample::Index>(),
        at in any::<usize>(),
        lost in any::<prop::sample::Index>(),
        doubled in any::<prop::sample::Index>(),
    ) {
        let (name, good) = format.get(&GOOD);
        let example = example.get(good);
        let text = put_in(name, &example.text, at, marker.get::<&str>(oracle::examples(name)));
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        let again: &str = lines[doubled.index(lines.len())];
        lines.insert(doubled.index(lines.len()), again);
        lines.remove(lost.index(lines.len()));
        let text: String = lines.concat();
        prop_assume!(oracle::has_marker(name, &text));
        prop_assert_ne!(verdict(example, &text), Verdict::Pass, "{} {}", name, text);
    }
}
