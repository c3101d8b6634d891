//! The size of a firmware image.

use std::{io, path::Path};

use object::{
    Object, ObjectSection, SectionFlags, SectionKind,
    elf::{SHF_ALLOC, SHF_WRITE},
};
use serde::{Deserialize, Serialize};

/// The sizes of a firmware image in bytes, counted as the program `size` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Code and read-only data.
    pub text: u64,
    /// Initialized data.
    pub data: u64,
    /// Zero-initialized data.
    pub bss: u64,
}

/// Returns the sizes of the sections that an ELF file loads. May block.
pub fn sizes(elf: &Path) -> io::Result<Sizes> {
    let content = super::elf::content(elf)?;
    let file = object::File::parse(&*content).map_err(io::Error::other)?;
    let mut sizes = Sizes::default();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        let field = match section.kind() {
            _ if sh_flags.0 & SHF_ALLOC.0 == 0 => continue,
            SectionKind::UninitializedData | SectionKind::UninitializedTls => &mut sizes.bss,
            _ if sh_flags.0 & SHF_WRITE.0 != 0 => &mut sizes.data,
            _ => &mut sizes.text,
        };
        *field = field.saturating_add(section.size());
    }
    Ok(sizes)
}
