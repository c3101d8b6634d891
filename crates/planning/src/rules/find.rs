//! Finds the table that a request is about.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

/// The most directory entries that are looked at.
const ENTRIES_MAX: usize = 5_000;

/// The deepest directory that is looked into.
const DEPTH_MAX: usize = 4;

/// Returns the path of the table: named by a variable, named by the problem, or found in the directory. May block.
pub fn find_csv(request: &Json, folder: Option<&Path>) -> Option<String> {
    let variables = request.pointer("/observation/context/variables").and_then(Json::as_object);
    let texts = || variables.into_iter().flatten().filter_map(|(_, value)| value.as_str());
    let is_csv = |text: &str| text.to_lowercase().ends_with(".csv");
    if let Some(path) = texts().map(str::trim).find(|text| is_csv(text) && !text.contains(char::is_whitespace)) {
        return Some(path.to_owned());
    }
    let trim = |word: &str| {
        let word = word.trim_start_matches(|one: char| !one.is_alphanumeric() && !"./_".contains(one));
        word.trim_end_matches(|one: char| !one.is_alphanumeric()).to_owned()
    };
    if let Some(path) = texts().flat_map(str::split_whitespace).map(trim).find(|word| is_csv(word)) {
        return Some(path);
    }
    let found = tables(folder?);
    let problem = request.pointer("/observation/context/variables/problem_description").and_then(Json::as_str);
    let problem = problem.unwrap_or_default().to_lowercase();
    let is_named = |path: &&PathBuf| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
        !stem.is_empty() && problem.contains(&stem)
    };
    let chosen = found.iter().find(is_named).or(found.first())?;
    Some(chosen.to_string_lossy().into_owned())
}

/// Lists the tables below a directory, in the order of their paths, without hidden directories and links.
fn tables(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open, mut entries) = (Vec::new(), vec![(folder.to_owned(), 0)], 0);
    while let Some((directory, depth)) = open.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            entries += 1;
            if entries > ENTRIES_MAX {
                break;
            }
            let (path, kind) = (entry.path(), entry.file_type());
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            match kind {
                Ok(kind) if kind.is_dir() && !is_hidden && depth < DEPTH_MAX => open.push((path, depth + 1)),
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv")) => {
                    found.extend(path.strip_prefix(folder).ok().map(Path::to_owned));
                }
                _ => {}
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_is_found_by_variable_problem_and_folder() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["b.csv", "data/sales.csv", ".hidden/a.csv", "notes.txt"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "a,b\n1,2\n").unwrap();
        }
        let found = |variables: Json| {
            find_csv(&json!({ "observation": { "context": { "variables": variables } } }), Some(folder.path()))
        };
        assert_eq!(found(json!({ "csv_file_path": "x/y.csv" })).unwrap(), "x/y.csv");
        assert_eq!(found(json!({ "problem_description": "Analyse `data/homes.csv`." })).unwrap(), "data/homes.csv");
        assert_eq!(found(json!({ "problem_description": "What drives sales?" })).unwrap(), "data/sales.csv");
        assert_eq!(found(json!({ "problem_description": "Why?" })).unwrap(), "b.csv");
        assert_eq!(find_csv(&json!({}), None), None);
    }
}
