//! Embeds the pages of `docs/errors/`, so that `interlock explain` needs no file beside the binary.

use std::{env, fmt::Write as _, fs, io, path::Path};

fn main() -> io::Result<()> {
    let crate_dir = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let pages = Path::new(&crate_dir).join("../../docs/errors");
    println!("cargo::rerun-if-changed={}", pages.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&pages)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let mut code = String::from("&[\n");
    for name in names {
        if let Some(page) = name.strip_suffix(".md") {
            let file = pages.join(&name).display().to_string();
            writeln!(code, "    ({page:?}, include_str!({file:?})),").map_err(io::Error::other)?;
        }
    }
    code.push_str("]\n");
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("errors.rs"), code)
}
