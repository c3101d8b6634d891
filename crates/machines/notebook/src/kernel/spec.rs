//! Finds kernelspecs: the files that say how a Jupyter kernel is started.
//!
//! They are searched where Jupyter searches them: `JUPYTER_PATH`, the user's data directory, the current environment
//! and the system. The project's own virtual environment and the environments of the programs in `PATH` count too, so
//! that a kernel that was installed with `pip` is found without further settings.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use interlock_beneath::Folder;
use serde_json::Value as Json;

/// The longest kernelspec that is read.
const BYTES_MAX: u64 = 1_024 * 1_024;

/// The names of virtual environments in a project's directory.
const PROJECT: [&str; 2] = [".venv", "venv"];

/// A way to start a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernelspec {
    /// Its name, such as `python3`.
    pub(crate) name: String,
    /// The directory with its files.
    pub(crate) folder: PathBuf,
    /// The name that people see.
    pub(crate) display_name: String,
    /// The language of its cells, such as `python`.
    pub(crate) language: String,
    /// The program and its arguments, with `{connection_file}` in them.
    pub(crate) argv: Vec<String>,
    /// Variables in addition to the inherited ones.
    pub(crate) env: BTreeMap<String, String>,
    /// True if the kernel is interrupted by a message and not by a signal.
    pub(crate) is_interrupted_by_message: bool,
}

/// Finds a kernelspec by name. The error says which ones there are.
pub(crate) fn find(name: &str, folder: &Path) -> Result<Kernelspec, String> {
    let places = places(folder);
    // Names are compared without case, as Jupyter does.
    let wanted = name.to_lowercase();
    for place in &places {
        if let Some(found) = names(place).into_iter().find(|found| found.to_lowercase() == wanted) {
            return read(place, &found);
        }
    }
    let known: BTreeSet<_> = places.iter().flat_map(|place| names(place)).collect();
    Err(match known.is_empty() {
        true => {
            format!("no Jupyter kernel is installed, so there is no `{name}`. Install one: `pip install ipykernel`")
        }
        false => {
            let known: Vec<_> = known.into_iter().collect();
            format!("there is no Jupyter kernel `{name}`; the installed ones are {}", known.join(", "))
        }
    })
}

/// Returns the directories that may have a `kernels` directory, in the order in which they count.
fn places(folder: &Path) -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut places: Vec<PathBuf> =
        variable("JUPYTER_PATH").iter().flat_map(|path| std::env::split_paths(path).collect::<Vec<_>>()).collect();
    places.extend(PROJECT.map(|name| folder.join(name).join("share/jupyter")));
    let prefixes = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable);
    places.extend(prefixes.map(|prefix| Path::new(&prefix).join("share/jupyter")));
    let data = variable("XDG_DATA_HOME").map(|data| Path::new(&data).join("jupyter"));
    let home = std::env::home_dir().map(|home| home.join(".local/share/jupyter"));
    places.extend(variable("JUPYTER_DATA_DIR").map(PathBuf::from).or(data).or(home));
    let path = variable("PATH").unwrap_or_default();
    let programs = std::env::split_paths(&path).filter(|place| place.ends_with("bin"));
    places.extend(programs.filter_map(|place| Some(place.parent()?.join("share/jupyter"))));
    places.extend(["/usr/local/share/jupyter", "/usr/share/jupyter"].map(PathBuf::from));
    places
}

/// Returns the names of the kernelspecs in a place.
fn names(place: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(place.join("kernels")).into_iter().flatten().flatten();
    let kernels = entries.filter(|entry| entry.path().join("kernel.json").is_file());
    let mut names: Vec<_> = kernels.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

fn read(place: &Path, name: &str) -> Result<Kernelspec, String> {
    let folder = place.join("kernels").join(name);
    let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", folder.join("kernel.json").display());
    let text = Folder::open_through_links(&folder).and_then(|folder| folder.read(Path::new("kernel.json"), BYTES_MAX));
    let text = text.map_err(|error| wrong(&error))?;
    let spec: Json = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
    let text = |name: &str| spec[name].as_str().map(str::to_owned);
    let argv = spec["argv"].as_array().into_iter().flatten().filter_map(Json::as_str);
    let mut argv: Vec<_> = argv.map(|word| word.replace("{resource_dir}", &folder.to_string_lossy())).collect();
    let Some(program) = argv.first_mut() else { return Err(wrong(&"`argv` is missing")) };
    // The environment of a kernelspec has the interpreter that its kernel was installed for.
    let own = place.parent().and_then(Path::parent).map(|prefix| prefix.join("bin").join(&*program));
    if let Some(own) = own.filter(|own| !program.contains('/') && own.is_file()) {
        *program = own.to_string_lossy().into_owned();
    }
    let env = spec["env"].as_object().into_iter().flatten();
    let env = env.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    Ok(Kernelspec {
        name: name.to_owned(),
        folder: folder.clone(),
        display_name: text("display_name").unwrap_or_else(|| name.to_owned()),
        language: text("language").unwrap_or_default(),
        argv,
        env: env.collect(),
        is_interrupted_by_message: spec["interrupt_mode"] == "message",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(kernels: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in kernels {
            let place = folder.path().join(".venv/share/jupyter/kernels").join(name);
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join("kernel.json"), text).unwrap();
        }
        folder
    }

    #[test]
    fn a_kernelspec_of_the_project_is_found_with_its_interpreter() {
        let spec = r#"{"argv": ["python", "-m", "k", "{resource_dir}/x", "-f", "{connection_file}"], "display_name": "Own",
            "language": "python", "env": {"A": "b"}, "interrupt_mode": "message"}"#;
        let folder = project(&[("Own-Kernel", spec)]);
        let venv = folder.path().join(".venv");
        std::fs::create_dir_all(venv.join("bin")).unwrap();
        std::fs::write(venv.join("bin/python"), "").unwrap();
        let found = find("own-kernel", folder.path()).unwrap();
        assert_eq!(found.name, "Own-Kernel");
        assert_eq!(found.argv[0], venv.join("bin/python").to_string_lossy());
        let own = venv.join("share/jupyter/kernels/Own-Kernel/x");
        assert_eq!(found.argv[3..], [own.to_string_lossy().into_owned(), "-f".into(), "{connection_file}".into()]);
        assert_eq!(found.env["A"], "b");
        assert!(found.is_interrupted_by_message);
    }

    #[test]
    fn a_missing_or_broken_kernelspec_is_an_error_that_says_why() {
        let folder = project(&[("broken", "{"), ("empty", "{}")]);
        let error = find("no-such-kernel", folder.path()).unwrap_err();
        assert!(error.starts_with("there is no Jupyter kernel `no-such-kernel`; the installed ones are "), "{error}");
        assert!(error.contains("broken"), "{error}");
        assert!(find("broken", folder.path()).unwrap_err().contains("kernel.json: EOF"));
        assert!(find("empty", folder.path()).unwrap_err().ends_with("`argv` is missing"));
    }
}
