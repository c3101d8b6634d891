//! Maps addresses to functions and source lines, with the symbols and line tables of an ELF file.
//!
//! The file may be damaged or malicious; unreadable parts are left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    ops::Range,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use addr2line::Context;
use gimli::{EndianArcSlice, RunTimeEndian};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

type Reader = EndianArcSlice<RunTimeEndian>;

/// The largest number of nested inlined functions.
const FRAMES_MAX: usize = 32;

/// The symbols and lines of a firmware image.
pub struct Symbols {
    /// The debug information, parsed lazily.
    context: Option<Mutex<Context<Reader>>>,
    /// The address range and the name of each function, sorted by address.
    functions: Vec<(Range<u64>, String)>,
    code: Vec<Range<u64>>,
    /// True if the lowest bit of a code address selects the instruction set (ARM/Thumb).
    has_mode_bit: bool,
}

/// A location in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLocation {
    /// The function, if known.
    pub function: Option<String>,
    /// The file and the line, if known.
    pub line: Option<(String, u32)>,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.line, &self.function) {
            (Some((file, line)), _) => write!(out, "{file}:{line}"),
            (None, Some(function)) => out.write_str(function),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Debug for Symbols {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Symbols").field("functions", &self.functions.len()).finish_non_exhaustive()
    }
}

impl Symbols {
    /// Reads the symbols of an ELF file. May block.
    pub fn read(path: &Path) -> io::Result<Self> {
        let content = super::elf::content(path)?;
        let file = object::File::parse(&*content).map_err(io::Error::other)?;
        let has_mode_bit = file.architecture() == Architecture::Arm;
        let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let code = code.map(|section| section.address()..section.address().saturating_add(section.size())).collect();
        let functions = functions(&file, has_mode_bit);
        Ok(Symbols { context: context(&file).map(Mutex::new), functions, code, has_mode_bit })
    }

    /// Reports whether the file names its code sections.
    pub fn has_code(&self) -> bool {
        !self.code.is_empty()
    }

    /// Reports whether an address is in the code.
    pub fn is_code(&self, address: u64) -> bool {
        self.code.iter().any(|range| range.contains(&self.clean(address)))
    }

    /// Returns the locations of an address: the innermost inlined function first, then the one that contains it, and
    /// so on. Empty if nothing is known.
    pub fn places(&self, address: u64) -> Vec<SourceLocation> {
        let address = self.clean(address);
        let mut places = self.frames(address);
        let symbol = self.function(address).map(str::to_owned);
        match places.last_mut() {
            Some(outermost) => outermost.function = outermost.function.take().or(symbol),
            None => places.extend(symbol.map(|name| SourceLocation { function: Some(name), line: None })),
        }
        places
    }

    /// Returns the location of the call that returns to an address.
    pub fn caller(&self, address: u64) -> Vec<SourceLocation> {
        self.places(self.clean(address).saturating_sub(1))
    }

    /// Returns the function that contains an address.
    pub fn function(&self, address: u64) -> Option<&str> {
        let address = self.clean(address);
        let after = self.functions.partition_point(|(range, _)| range.start <= address);
        let (range, name) = self.functions.get(after.checked_sub(1)?)?;
        (range.contains(&address)).then_some(name)
    }

    /// Returns the source lines of instructions, by file; for inlined code also the lines of the calls.
    pub fn lines(&self, addresses: impl IntoIterator<Item = u64>) -> BTreeMap<String, Vec<u32>> {
        let mut lines: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        for place in addresses.into_iter().flat_map(|address| self.frames(self.clean(address))) {
            if let Some((file, line @ 1..)) = place.line {
                lines.entry(file).or_default().insert(line);
            }
        }
        lines.into_iter().map(|(file, lines)| (file, lines.into_iter().collect())).collect()
    }

    fn context(&self) -> Option<MutexGuard<'_, Context<Reader>>> {
        self.context.as_ref().map(|context| context.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn frames(&self, address: u64) -> Vec<SourceLocation> {
        let Some(context) = self.context() else { return Vec::new() };
        let Ok(mut frames) = context.find_frames(address).skip_all_loads() else { return Vec::new() };
        let mut places = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.and_then(|name| Some(name.demangle().ok()?.into_owned()));
            let line = frame.location.and_then(|location| Some((plain(location.file?), location.line?)));
            places.push(SourceLocation { function, line });
            if places.len() == FRAMES_MAX {
                break;
            }
        }
        places.retain(|place| *place != SourceLocation::default());
        places
    }

    fn clean(&self, address: u64) -> u64 {
        if self.has_mode_bit { address & !1 } else { address }
    }
}

fn context(file: &object::File<'_>) -> Option<Context<Reader>> {
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let section = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|section| section.data().ok()).unwrap_or_default();
        Ok(EndianArcSlice::new(Arc::from(data), endian))
    };
    Context::from_dwarf(gimli::Dwarf::load(section).ok()?).ok()
}

fn functions(file: &object::File<'_>, has_mode_bit: bool) -> Vec<(Range<u64>, String)> {
    let symbols = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
    let named = symbols.filter_map(|symbol| {
        let start = if has_mode_bit { symbol.address() & !1 } else { symbol.address() };
        let name = symbol.name().ok().filter(|name| !name.is_empty() && !name.starts_with('$'))?;
        Some((start..start.saturating_add(symbol.size()), name.to_owned()))
    });
    let mut functions: Vec<_> = named.collect();
    functions.sort_by_key(|(range, _)| (range.start, range.end));
    // Assembly functions often have no size: they extend to the next function.
    let starts: Vec<u64> = functions.iter().map(|(range, _)| range.start).skip(1).chain([u64::MAX]).collect();
    for ((range, _), next) in functions.iter_mut().zip(starts) {
        if range.is_empty() {
            range.end = next;
        }
    }
    functions
}

/// Removes `.` and `..` from a path lexically.
fn plain(file: &str) -> String {
    let mut path = PathBuf::new();
    for part in Path::new(file).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(path.components().next_back(), Some(Component::Normal(_))) => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path.to_string_lossy().into_owned()
}
