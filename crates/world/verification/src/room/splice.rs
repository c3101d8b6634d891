//! Puts what says what is right in the old text of a source into its new text.

use interlock_codemap::{Item, ItemKind};

use super::uses::{Uses, items_of};

/// Returns the new text of a source with the old tests, examples and expected values; `None` if these did not change.
pub(super) fn with_old_expectations(uses: &Uses, path: &str, before: &str, after: &str) -> Option<String> {
    let mut old: Vec<Item> =
        items_of(path, before).into_iter().filter(|item| uses.is_expectation(path, before, item)).collect();
    let is_counterpart = |item: &Item| old.iter().any(|old| is_same(old, item));
    let new: Vec<Item> = items_of(path, after)
        .into_iter()
        .filter(|item| is_counterpart(item) || matches!(item.kind, ItemKind::Test | ItemKind::Documentation))
        .collect();
    let texts = |items: &[Item], text: &str| -> Vec<String> {
        items.iter().map(|item| text[item.range.clone()].to_owned()).collect()
    };
    if old.is_empty() || texts(&old, before) == texts(&new, after) {
        return None;
    }
    // Statements without a name stand together where the last of them stood.
    let is_unnamed = |item: &Item| item.kind == ItemKind::Test && item.name.is_empty();
    let last = new.iter().rposition(is_unnamed);
    let (mut text, mut end) = (String::new(), 0);
    for (number, item) in new.iter().enumerate() {
        text.push_str(&after[end..item.range.start]);
        end = item.range.end;
        if is_unnamed(item) {
            let here = old.extract_if(.., |old| is_unnamed(old) && Some(number) == last);
            text.push_str(&here.map(|old| before[old.range].to_owned()).collect::<Vec<_>>().join("\n"));
        } else if let Some(at) = old.iter().position(|old| is_same(old, item)) {
            text.push_str(&before[old.remove(at).range]);
        } else if item.kind != ItemKind::Test {
            text.push_str(&after[item.range.clone()]);
        }
    }
    text.push_str(&after[end..]);
    for (number, item) in old.into_iter().enumerate() {
        let left = &before[item.range];
        let left = if item.kind == ItemKind::Documentation { documented(path, left, number) } else { left.to_owned() };
        text = format!("{}\n\n{left}\n", text.trim_end());
    }
    Some(text)
}

fn is_same(one: &Item, other: &Item) -> bool {
    one.kind == other.kind && one.name == other.name
}

/// Puts the documentation of an item that is gone at one of its own.
fn documented(path: &str, text: &str, number: usize) -> String {
    match path.ends_with(".py") {
        true => format!("def _documented_before_{number}():\n    {text}"),
        false => {
            let text = text.replace("//!", "///");
            format!("{}\n#[allow(dead_code)]\nfn documented_before_{number}() {{}}", text.trim_end())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spliced(path: &str, before: &str, after: &str) -> Option<String> {
        let tree = tempfile::tempdir().unwrap_or_else(|error| unreachable!("{error}"));
        let _ = std::fs::write(tree.path().join(path), before);
        with_old_expectations(&Uses::of(tree.path(), &[]), path, before, after)
    }

    #[test]
    fn the_old_tests_of_a_rust_file_stand_in_the_new_one() {
        let before = "fn a() {}\n#[cfg(test)]\nmod tests { old }\n";
        let after = "fn a() { 1; }\n#[cfg(all(test, feature = \"x\"))]\nmod tests { new }\nfn b() {}\n";
        let text = spliced("a.rs", before, after);
        assert_eq!(text.as_deref(), Some("fn a() { 1; }\n#[cfg(test)]\nmod tests { old }\nfn b() {}\n"));
    }

    #[test]
    fn examples_and_tests_of_other_languages_stand_in_the_new_text() {
        let before = "def mean(a):\n    \"\"\"M.\n\n    >>> mean([1])\n    1.5\n    \"\"\"\n    return 1\n\n\ndef test_a():\n    assert mean([1]) == 1.5\n\n\nassert mean([2]) == 2\n";
        let after = before.replace("1.5", "1").replace("return 1", "return 2").replace("== 2", "== 3");
        assert_eq!(spliced("a.py", before, &after), Some(before.replace("return 1", "return 2")));
        let gone = "def mean(a):\n    return 2\n";
        let text = spliced("a.py", before, gone).unwrap_or_default();
        assert!(text.contains("def _documented_before_0():\n    \"\"\"M.\n\n    >>> mean([1])\n    1.5"), "{text}");
        assert!(text.contains("def test_a") && text.ends_with("assert mean([2]) == 2\n"), "{text}");
        let rust = "/// M.\n///\n/// ```\n/// assert_eq!(a::m(), 1.5);\n/// ```\npub fn m() -> f64 { 1.0 }\n";
        let after = rust.replace("1.5", "1.0").replace("{ 1.0 }", "{ 2.0 }");
        assert_eq!(spliced("a.rs", rust, &after), Some(rust.replace("{ 1.0 }", "{ 2.0 }")));
    }

    #[test]
    fn a_change_of_the_product_alone_changes_no_expectation() {
        let before = "def mean(a):\n    assert a\n    return 1\n\n\ndef test_a():\n    pass\n";
        assert_eq!(spliced("a.py", before, &before.replace("return 1", "return 2")), None);
    }
}
