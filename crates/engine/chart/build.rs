//! Embeds every file under `machines/`, so that the binary needs nothing beside it.

#![allow(clippy::disallowed_methods, reason = "a build script is told where to work by its environment")]

use std::{env, fmt::Write as _, fs, io, path::Path};

fn main() -> io::Result<()> {
    let crate_dir = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let machines = Path::new(&crate_dir).join("../../../machines");
    println!("cargo::rerun-if-changed={}", machines.display());
    let mut paths = Vec::new();
    if machines.is_dir() {
        collect(&machines, "", &mut paths)?;
    }
    paths.sort();
    let mut code = String::from("&[\n");
    for path in paths {
        let file = machines.join(&path);
        writeln!(code, "    ({path:?}, include_bytes!({:?}) as &[u8]),", file.display().to_string())
            .map_err(io::Error::other)?;
    }
    code.push_str("]\n");
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("machines.rs"), code)
}

/// Collects the files below a directory as paths relative to it, separated by `/`. Hidden files are skipped.
fn collect(folder: &Path, prefix: &str, paths: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}
