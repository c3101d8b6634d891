//! The display of every problem that the reader reports.
//!
//! `tests/bad/CODE-what.yaml` has the problem, `CODE-what.txt` beside it has the expected output.
//! `UPDATE_EXPECT=1 cargo test` rewrites the texts.

use interlock_chart::{
    diagnostic::render,
    yaml::{self, code},
};
use std::{collections::BTreeSet, fs, path::Path};

/// Problems of files that cannot be kept as small text files; `robust.rs` tests them.
const ELSEWHERE: &[&str] = &[code::FILE_TOO_LARGE, code::NOT_UTF8, code::TOO_MANY];

#[test]
fn every_problem_is_shown_at_its_position() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    let mut seen = BTreeSet::new();
    let mut different = Vec::new();
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let source = fs::read_to_string(&path).unwrap();
        let reading = yaml::read(&source);
        let starts: Vec<u32> = reading.diagnostics.iter().map(|problem| problem.span.start).collect();
        assert!(starts.is_sorted(), "{name}: problems stand in the order of the file");
        let errors = reading.diagnostics.iter().any(|problem| problem.is_error());
        assert_eq!(reading.chart.is_none(), errors, "{name}: a chart is given if and only if there is no error");
        let codes: BTreeSet<&str> = reading.diagnostics.iter().map(|problem| problem.code).collect();
        let wanted = name.split('-').next().unwrap();
        assert!(codes.iter().any(|code| code.starts_with(wanted)), "{name} gives {codes:?}");
        seen.extend(codes);
        let shown: Vec<String> =
            reading.diagnostics.iter().map(|problem| render(problem, "machine.yaml", &source, false)).collect();
        let (shown, expected) = (shown.join("\n"), path.with_extension("txt"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&expected, &shown).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != shown {
            different.push(format!("{name}:\n{shown}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    let missing: Vec<_> = code::ALL.iter().filter(|code| !seen.contains(*code) && !ELSEWHERE.contains(code)).collect();
    assert!(missing.is_empty(), "no bad file shows {missing:?}");
}

#[test]
fn every_code_has_a_page() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/errors");
    for code in code::ALL {
        let page = fs::read_to_string(pages.join(format!("{code}.md"))).unwrap_or_default();
        assert!(page.starts_with(&format!("# {code}: ")), "{code} has no page");
    }
}
