//! Compares the page of error codes with the sources: every code that they define has a row, and every row a source.

use std::collections::BTreeSet;

use super::{
    references::{read, sources as all_sources},
    root,
};

const PAGE: &str = "docs/error-codes.md";

/// Constants whose name is their value, as that of a code, and which are no codes.
const NO_CODES: [&str; 3] = ["HEAD", "PERMIT", "WORD"];

fn is_code(text: &str) -> bool {
    text.len() > 3 && text.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

/// Returns the shipped source texts, without their tests.
fn shipped() -> Vec<String> {
    let is_shipped = |path: &&String| {
        path.starts_with("crates/") && path.contains("/src/") && !path.contains("testkit") && !path.contains("/tests")
    };
    let texts = all_sources().iter().filter(is_shipped).map(|path| read(path)).collect::<Vec<_>>();
    texts.iter().map(|text| text.split("#[cfg(test)]").next().unwrap().to_owned()).collect()
}

/// Returns the text literals of a line.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

/// Returns the code that a line defines as a constant of the same name, or of the name `CODE`: `const LIMIT: &str = "LIMIT";`.
fn constant(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once("const ")?.1.split_once(": &str = ")?;
    literals(rest)
        .next()
        .filter(|value| (*value == name || name == "CODE") && is_code(value) && !NO_CODES.contains(value))
}

/// Returns the codes of a source text: constants, codes of refused requests, and the codes that begin with `E_`.
fn codes_of(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        found.extend(constant(line));
        found.extend(literals(line).filter(|text| text.starts_with("E_") && is_code(text)));
    }
    for call in text.split("Outcome::error(").chain(text.split("Problem::new(")).skip(1) {
        let arguments = call.split(");").next().unwrap();
        let first = arguments.split('"').next().unwrap_or_default().matches(',').count();
        found.extend(literals(arguments).next().filter(|code| is_code(code) && first <= 1));
    }
    found.into_iter().map(str::to_owned).collect()
}

/// Returns the types of errors that the machine `firmware` reports.
fn types_of_errors() -> BTreeSet<String> {
    let text = read("machines/firmware/machine.yaml");
    let types = text.split("error_state: { type: ").skip(1).filter_map(|rest| rest.split(',').next());
    let recovered = text.split("recovering == '").skip(1).filter_map(|rest| rest.split('\'').next());
    let passed = ["NO_BASELINE", "NOTHING_FOUND"];
    types.chain(recovered).filter(|name| is_code(name) && !passed.contains(name)).map(str::to_owned).collect()
}

/// Returns the codes in the first column of the page's tables.
fn listed() -> BTreeSet<String> {
    let page = read(PAGE);
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    cells.filter(|cell| is_code(cell)).map(str::to_owned).collect()
}

#[test]
fn every_error_code_is_explained() {
    assert!(root().join(PAGE).exists());
    let mut defined: BTreeSet<String> = shipped().iter().flat_map(|text| codes_of(text)).collect();
    defined.extend(types_of_errors());
    assert!(defined.len() > 60, "only {} codes were found", defined.len());
    let listed = listed();
    let missing: Vec<_> = defined.difference(&listed).collect();
    let stale: Vec<_> = listed.difference(&defined).collect();
    assert!(missing.is_empty(), "{PAGE} lacks {missing:?}");
    assert!(stale.is_empty(), "{PAGE} explains codes that no source defines: {stale:?}");
}

#[test]
fn codes_of_each_form_are_found() {
    let text = "const LIMIT: &str = \"LIMIT\";\nconst MARK: &str = \"OTHER\";\nOutcome::error(\"GONE\", \"x\");\n\
                Problem::new(\n  StatusCode::CONFLICT,\n  \"REFUSED\",\n  \"SHOUTED\");\n// const OLD: &str = \"OLD\";\n";
    assert_eq!(codes_of(text).into_iter().collect::<Vec<_>>(), ["GONE", "LIMIT", "REFUSED"]);
}
