//! Finds the table that a request is about.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

/// The most directory entries that are looked at.
const ENTRIES_MAX: usize = 5_000;

/// The deepest directory that is looked into.
const DEPTH_MAX: usize = 4;

/// A table that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The path, as the notebook opens it.
    pub path: String,
    /// The number of other tables among which it was chosen without a reason.
    pub others: usize,
}

impl Found {
    /// Returns a sentence about a choice without a reason.
    pub(super) fn note(&self) -> Option<String> {
        let (path, others) = (&self.path, self.others);
        let others =
            if others == 1 { "is 1 other CSV file".to_owned() } else { format!("are {others} other CSV files") };
        let text = format!(
            "{path} is used, because the problem names no table; there {others}. Name one in `variables.csv_file_path`."
        );
        (self.others > 0).then_some(text)
    }
}

/// Returns the path of the table: the variable `csv_file_path`, a file that the problem or another variable names, or one
/// that is found in the directory. May block.
pub fn find_csv(request: &Json, folder: Option<&Path>) -> Option<Found> {
    let variables = request.pointer("/observation/context/variables").and_then(Json::as_object);
    let variable = |name: &str| variables.and_then(|all| all.get(name)).and_then(Json::as_str).unwrap_or_default();
    let named = |path: &str| Some(Found { path: path.to_owned(), others: 0 });
    // It is used as it is: a file of another kind or none at all is reported by the cell.
    if !variable("csv_file_path").trim().is_empty() {
        return named(variable("csv_file_path").trim());
    }
    let is_csv = |text: &str| text.to_lowercase().ends_with(".csv");
    let problem = variable("problem_description");
    if let Some(path) = mentioned(problem).find(|word| is_csv(word)) {
        return named(path);
    }
    let texts = variables.into_iter().flatten().filter_map(|(_, value)| value.as_str()).map(str::trim);
    if let Some(path) = texts.clone().find(|text| is_csv(text) && !text.contains(char::is_whitespace)) {
        return named(path);
    }
    if let Some(path) = texts.flat_map(mentioned).find(|word| is_csv(word)) {
        return named(path);
    }
    let found = tables(folder?);
    let problem = problem.to_lowercase();
    let is_named = |path: &&PathBuf| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
        let is_end = |one: Option<char>| !one.is_some_and(char::is_alphanumeric);
        let fits =
            |at: usize| is_end(problem[..at].chars().next_back()) && is_end(problem[at + stem.len()..].chars().next());
        !stem.is_empty() && problem.match_indices(&stem).any(|(at, _)| fits(at))
    };
    let chosen = found.iter().find(is_named);
    let others = if chosen.is_some() { 0 } else { found.len().saturating_sub(1) };
    chosen.or(found.first()).map(|path| Found { path: path.to_string_lossy().into_owned(), others })
}

/// Returns the words of a text without the marks around them, after the texts between quotation marks.
fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split(['"', '`']).skip(1).step_by(2).map(str::trim);
    let trim = |word: &'_ str| {
        let start = word.find(|one: char| one.is_alphanumeric() || "./_".contains(one)).unwrap_or(word.len());
        start
            ..word
                .rfind(char::is_alphanumeric)
                .map_or(start, |at| at + word[at..].chars().next().map_or(1, char::len_utf8))
                .max(start)
    };
    quoted.chain(text.split_whitespace().map(move |word| &word[trim(word)]))
}

/// Lists the tables below a directory, in the order of their paths, without hidden directories, environments of Python
/// and links.
fn tables(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open, mut entries) = (Vec::new(), vec![(folder.to_owned(), 0)], 0);
    while let Some((directory, depth)) = open.pop() {
        if directory.join("pyvenv.cfg").exists() {
            continue;
        }
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
        fs::create_dir_all(folder.path().join("env/lib")).unwrap();
        fs::write(folder.path().join("env/pyvenv.cfg"), "").unwrap();
        fs::write(folder.path().join("env/lib/a.csv"), "").unwrap();
        let find = |variables: Json| {
            find_csv(&json!({ "observation": { "context": { "variables": variables } } }), Some(folder.path())).unwrap()
        };
        let found = |variables: Json| find(variables).path;
        assert_eq!(found(json!({ "csv_file_path": "x/y.csv" })), "x/y.csv");
        assert_eq!(found(json!({ "csv_file_path": "my data.dat", "a": "b.csv" })), "my data.dat");
        assert_eq!(found(json!({ "problem_description": "Analyse `data/homes.csv`." })), "data/homes.csv");
        assert_eq!(found(json!({ "problem_description": "Analyse (homes.csv)!" })), "homes.csv");
        assert_eq!(found(json!({ "problem_description": "Analyse \"my homes.csv\"" })), "my homes.csv");
        assert_eq!(found(json!({ "problem_description": "Why?", "table": "t.csv" })), "t.csv");
        assert_eq!(found(json!({ "problem_description": "What drives sales?" })), "data/sales.csv");
        let chosen = find(json!({ "problem_description": "Why is a bottle blue?" }));
        assert_eq!((chosen.path.as_str(), chosen.others), ("b.csv", 1));
        assert!(chosen.note().unwrap().contains("1 other CSV file."));
        assert_eq!(find_csv(&json!({}), None), None);
    }
}
