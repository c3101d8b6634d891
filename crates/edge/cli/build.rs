//! Embeds the pages of `docs/errors/`, so that `interlock explain` needs no file beside the binary, and links unoptimised
//! binaries at a fixed address.

#![allow(clippy::disallowed_methods, reason = "a build script writes where its environment says")]

use std::{env, fmt::Write as _, fs, io, path::Path};

fn main() -> io::Result<()> {
    link_at_a_fixed_address();
    embed_error_pages()
}

/// An unoptimised binary has 250,000 relocations. Without them it starts in half of the time, and the tests start it
/// thousands of times, because it is also the launcher of the sandbox. Optimised binaries keep their random address.
fn link_at_a_fixed_address() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("OPT_LEVEL", "0") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

fn embed_error_pages() -> io::Result<()> {
    let crate_dir = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let pages = Path::new(&crate_dir).join("../../../docs/errors");
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
