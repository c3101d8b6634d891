//! Properties of an image before it runs: the target machine, the sources, and the compiler.

use std::{collections::BTreeSet, io, path::Path};

use crate::walk::FILE_BYTES_MAX;

use gimli::{EndianSlice, RunTimeEndian};
use object::{Architecture, BinaryFormat, Object, ObjectKind, ObjectSection};

/// The number of bytes that identify a file that is not ELF.
const MAGIC_BYTES: usize = 4;

/// The largest number of source files that are returned.
const SOURCES_MAX: usize = 20_000;

/// An image file, parsed as far as needed to decide whether it can run.
pub struct Image {
    content: Vec<u8>,
}

/// The suffixes of emulator names, with the architectures that they run.
const EMULATED: [(&str, &[Architecture]); 11] = [
    ("arm", &[Architecture::Arm]),
    ("aarch64", &[Architecture::Aarch64, Architecture::Arm]),
    ("riscv32", &[Architecture::Riscv32]),
    ("riscv64", &[Architecture::Riscv64, Architecture::Riscv32]),
    ("i386", &[Architecture::I386]),
    ("x86_64", &[Architecture::X86_64, Architecture::I386]),
    ("mips", &[Architecture::Mips]),
    ("mipsel", &[Architecture::Mips]),
    ("ppc", &[Architecture::PowerPc]),
    ("xtensa", &[Architecture::Xtensa]),
    ("avr", &[Architecture::Avr]),
];

/// Reads a file that a build has made. It may be a link: a build may give its product several names.
pub(super) fn content(path: &Path) -> io::Result<Vec<u8>> {
    Ok(interlock_beneath::whole::read(path.canonicalize()?, FILE_BYTES_MAX)?)
}

impl Image {
    /// Reads an image from a file. May block.
    pub fn read(path: &Path) -> io::Result<Self> {
        content(path).map(|content| Image { content })
    }

    fn file(&self) -> Option<object::File<'_>> {
        object::File::parse(&*self.content).ok().filter(|file| file.format() == BinaryFormat::Elf)
    }

    /// Reports whether the image is a readable ELF file.
    pub fn is_elf(&self) -> bool {
        self.file().is_some()
    }

    /// Describes the kind of a file that is not ELF, by its first bytes.
    pub fn kind(&self) -> String {
        match self.content.get(..MAGIC_BYTES).unwrap_or(&self.content) {
            [] => "an empty file".to_owned(),
            [b'#', b'!', ..] => "a script".to_owned(),
            [b':', b'0'..=b'9', ..] => "Intel HEX".to_owned(),
            [b'S', b'0'..=b'9', b'0'..=b'9', ..] => "Motorola S-records".to_owned(),
            b"!<ar" => "a library of object files".to_owned(),
            [0x7f, b'E', b'L', b'F'] => "a damaged ELF file".to_owned(),
            [b'M', b'Z', ..] => "a program for Windows".to_owned(),
            magic if magic.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) => {
                "text".to_owned()
            }
            magic => format!("a file that begins with {magic:02x?}"),
        }
    }

    /// Returns the reason why an emulator cannot run the image, if its ELF header shows one.
    pub fn unfit_for(&self, emulator: &str) -> Option<String> {
        let file = self.file()?;
        if file.kind() == ObjectKind::Relocatable {
            return Some("it is an object file that is not linked".to_owned());
        }
        let name = emulator.rsplit('/').next().unwrap_or(emulator);
        let system = name.strip_prefix("qemu-system-")?;
        let (_, runs) = EMULATED.iter().find(|(known, _)| *known == system)?;
        let made_for = file.architecture();
        let is_known = made_for != Architecture::Unknown;
        (is_known && !runs.contains(&made_for))
            .then(|| format!("it is an ELF file for {made_for:?}, which {name} does not run"))
    }

    /// Returns the architecture of the image, if it is an ELF file for another kind of computer.
    pub fn is_foreign(&self) -> Option<String> {
        let own = match std::env::consts::ARCH {
            "x86_64" => &[Architecture::X86_64, Architecture::I386][..],
            "aarch64" => &[Architecture::Aarch64, Architecture::Arm],
            "riscv64" => &[Architecture::Riscv64],
            _ => return None,
        };
        let made_for = self.file()?.architecture();
        (!own.contains(&made_for)).then(|| format!("{made_for:?}"))
    }

    /// Returns the sources of the image, as its debug information names them; empty without debug information.
    pub fn sources(&self) -> BTreeSet<String> {
        self.file().and_then(|file| sources(&file).ok()).unwrap_or_default()
    }

    /// Returns the compilers that made the image, by their identification strings.
    pub fn compilers(&self) -> BTreeSet<String> {
        let Some(file) = self.file() else { return BTreeSet::new() };
        let comment = file.section_by_name(".comment").and_then(|section| section.uncompressed_data().ok());
        let comment = comment.unwrap_or_default();
        let said = comment.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).trim().to_owned());
        said.filter(|text| !text.is_empty()).take(8).collect()
    }
}

fn sources(file: &object::File<'_>) -> gimli::Result<BTreeSet<String>> {
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let section = |id: gimli::SectionId| -> Result<std::borrow::Cow<'_, [u8]>, gimli::Error> {
        Ok(file.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok()).unwrap_or_default())
    };
    let sections = gimli::DwarfSections::load(section)?;
    let dwarf = sections.borrow(|data| EndianSlice::new(data, endian));
    let mut found = BTreeSet::new();
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        if found.len() >= SOURCES_MAX {
            break;
        }
        let unit = dwarf.unit(header)?;
        let text = |reader: Option<EndianSlice<'_, RunTimeEndian>>| reader.map(|it| it.to_string_lossy().into_owned());
        let Some(name) = text(unit.name) else { continue };
        let folder = text(unit.comp_dir).unwrap_or_default();
        found.insert(Path::new(&folder).join(name).to_string_lossy().into_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use super::*;

    #[test]
    fn test_binary_is_an_elf_file_for_this_computer_only() {
        let image = Image::read(&std::env::current_exe().unwrap()).unwrap();
        assert!(image.is_elf());
        assert_eq!(image.is_foreign(), None);
        let why = image.unfit_for("/usr/bin/qemu-system-arm").unwrap();
        assert!(why.contains("which qemu-system-arm does not run"), "{why}");
        assert_eq!(image.unfit_for("my-emulator"), None, "nobody knows what that runs");
    }

    #[test]
    fn files_other_than_elf_are_described_by_kind() {
        let kind = |content: &[u8]| Image { content: content.to_owned() }.kind();
        assert_eq!(kind(b"#!/bin/sh\n"), "a script");
        assert_eq!(kind(b":10010000214601360121470136007EFE09D2190140\n"), "Intel HEX");
        assert_eq!(kind(b""), "an empty file");
        assert_eq!(kind(b"\x7fELF\x01"), "a damaged ELF file");
        assert_eq!(kind(b"\0\0\x01\x20"), "a file that begins with [00, 00, 01, 20]");
        assert_eq!(Image { content: b"text".to_vec() }.unfit_for("qemu-system-arm"), None);
    }
}
