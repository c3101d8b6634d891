//! Identifies this checker by the sources that decide its verdicts, so that it does not accept a proof made by another
//! checker.

#![allow(clippy::disallowed_methods, reason = "a build script is told where to work by its environment")]

use std::{env, fs, io, path::Path};

/// The crates whose code a verdict depends on.
const CRATES: [&str; 3] = ["chart", "core", "checker"];

/// FNV-1a with 128 bits: it identifies sources and does not protect against deliberate collisions.
const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

fn main() -> io::Result<()> {
    let crate_dir = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let mut hash = OFFSET;
    for name in CRATES {
        let folder = Path::new(&crate_dir).join("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        add(&folder, &mut hash)?;
    }
    println!("cargo::rustc-env=CHECKER_SOURCES={hash:032x}");
    Ok(())
}

/// Adds every file below a directory, in the order of their names.
fn add(folder: &Path, hash: &mut u128) -> io::Result<()> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add(&path, hash)?;
        } else {
            let bytes = fs::read(&path)?;
            bytes.iter().for_each(|byte| *hash = (*hash ^ u128::from(*byte)).wrapping_mul(PRIME));
        }
    }
    Ok(())
}
