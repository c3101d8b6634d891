//! The names with which C code accesses hardware: volatile variables and fields, registers at fixed addresses, and
//! functions that read them.

use std::collections::{BTreeMap, BTreeSet};

use crate::hints::words;
use crate::source::Source;

/// Words that make a declaration volatile: the qualifier itself, and those of vendors' headers.
const QUALIFIERS: [&str; 12] =
    ["volatile", "__volatile__", "__IO", "__I", "__O", "__IOM", "__IM", "__OM", "__IO_REG", "_IO", "RoReg", "RwReg"];

/// Prefixes of functions and macros that read registers or data that another context writes.
const READERS: [&str; 20] = [
    "readb",
    "readw",
    "readl",
    "readq",
    "ioread",
    "inb",
    "inw",
    "inl",
    "mmio_read",
    "mmio_rd",
    "sys_read",
    "REG_READ",
    "READ_REG",
    "READ_BIT",
    "READ_ONCE",
    "atomic_load",
    "__atomic_load",
    "raw_read",
    "HWREG",
    "_SFR_",
];

/// The maximum number of statements of a function that counts as a register reader.
const READER_STATEMENTS_MAX: usize = 5;

/// The maximum number of rounds for macros that are defined by other macros.
const ROUNDS_MAX: usize = 6;

/// The names of hardware in all files.
#[derive(Default)]
pub(super) struct Hardware {
    /// Names that refer to hardware everywhere: file-level variables, fields, macros, and functions that read them.
    names: BTreeSet<String>,
    /// The names of volatile types.
    types: BTreeSet<String>,
    /// The macros of all files with their values.
    pub(super) macros: BTreeMap<String, String>,
    /// Functions that only read hardware, with their text.
    pub(super) readers: BTreeMap<String, String>,
}

impl Hardware {
    /// Reads the names from all sources together.
    pub(super) fn read(sources: &[Source]) -> Hardware {
        let mut hardware = Hardware::default();
        for source in sources {
            hardware.macros.extend(macros(source));
            hardware.types.extend(volatile_types(source));
        }
        for source in sources {
            let outside = (0..source.nodes.len()).filter(|node| source.function(*node).is_none());
            outside.for_each(|node| hardware.names.extend(hardware.declared_at(source, node)));
        }
        // Macros of macros, and functions that read them, are added until nothing changes.
        for _ in 0..ROUNDS_MAX {
            let before = hardware.names.len();
            hardware.add_macros();
            sources.iter().for_each(|source| hardware.add_readers(source));
            if hardware.names.len() == before {
                break;
            }
        }
        hardware
    }

    /// Returns the names that a declaration makes volatile or places at a fixed address; empty for any other node.
    pub(super) fn declared_at(&self, source: &Source, node: usize) -> Vec<String> {
        if !matches!(source.kind(node), "declaration" | "field_declaration" | "parameter_declaration") {
            return Vec::new();
        }
        let text = source.text(node);
        // For a structure with a variable after it, only the text around its fields counts.
        let around = match (text.find('{'), text.rfind('}')) {
            (Some(open), Some(close)) if open < close => format!("{} {}", &text[..open], &text[close + 1..]),
            _ => text.to_owned(),
        };
        let (head, value) = around.split_once('=').unwrap_or((&around, ""));
        let is_volatile = words(head).any(|word| QUALIFIERS.contains(&word) || self.types.contains(word));
        if !is_volatile && !has_fixed_address(value) {
            return Vec::new();
        }
        head.split(',').filter_map(declared_name).collect()
    }

    fn add_macros(&mut self) {
        let is_hardware = |value: &str, names: &BTreeSet<String>| {
            has_fixed_address(value) || words(value).any(|word| QUALIFIERS.contains(&word) || names.contains(word))
        };
        let new = self.macros.iter().filter(|(_, value)| is_hardware(value, &self.names));
        let new: Vec<String> = new.map(|(name, _)| name.clone()).collect();
        self.names.extend(new);
    }

    fn add_readers(&mut self, source: &Source) {
        let functions = (0..source.nodes.len()).filter(|node| source.kind(*node) == "function_definition");
        for function in functions.collect::<Vec<_>>() {
            let Some(name) = function_name(source, function) else { continue };
            let statements = source.inside(function).filter(|node| is_statement(source.kind(*node))).count();
            let returns = source.inside(function).filter(|node| source.kind(*node) == "return_statement");
            let is_reader = statements <= READER_STATEMENTS_MAX
                && returns.into_iter().any(|node| self.is_in(source, node, &BTreeSet::new()));
            if is_reader {
                self.readers.insert(name.to_owned(), squeezed(source.text(function)));
                self.names.insert(name.to_owned());
            }
        }
    }

    /// Returns true if an expression reads hardware or volatile data. `local` has the names of the enclosing function.
    pub(super) fn is_in(&self, source: &Source, node: usize, local: &BTreeSet<String>) -> bool {
        let reads = |word: &str| {
            self.names.contains(word)
                || local.contains(word)
                || QUALIFIERS.contains(&word)
                || READERS.iter().any(|reader| word.starts_with(reader))
        };
        let text = source.text(node);
        words(text).any(reads) || has_fixed_address(text)
    }

    /// Returns the volatile names that a function declares itself.
    pub(super) fn local(&self, source: &Source, function: usize) -> BTreeSet<String> {
        source.inside(function).flat_map(|node| self.declared_at(source, node)).collect()
    }
}

/// Returns the name in one declarator. It is read from the text, because a vendor's qualifier is unknown to the
/// grammar.
fn declared_name(declarator: &str) -> Option<String> {
    let end = declarator.find(['[', '(', ':', ';']).unwrap_or(declarator.len());
    words(&declarator[..end]).last().filter(|word| !QUALIFIERS.contains(word)).map(str::to_owned)
}

/// Returns true if a text has a pointer to a fixed address: `(UART_Type *)0x40004000`, `*(uint32_t *)(BASE + 0x10)`.
fn has_fixed_address(text: &str) -> bool {
    let squeezed: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    squeezed.match_indices("*)").any(|(at, _)| {
        let address = squeezed[at + 2..].trim_start_matches('(');
        let digits = address.strip_prefix("0x").or_else(|| address.strip_prefix("0X"));
        let is_number = digits.is_some_and(|digits| digits.starts_with(|letter: char| letter.is_ascii_hexdigit()));
        let name: String =
            address.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect();
        is_number || name.len() > 2 && name.to_ascii_uppercase().contains("BASE")
    })
}

/// Returns the macros that have a value, with their values.
pub(super) fn macros(source: &Source) -> Vec<(String, String)> {
    let is_macro = |node: &usize| matches!(source.kind(*node), "preproc_def" | "preproc_function_def");
    let named = (0..source.nodes.len()).filter(is_macro).filter_map(|node| {
        let (name, value) = (source.child(node, "name")?, source.child(node, "value")?);
        Some((source.text(name).to_owned(), squeezed(source.text(value))))
    });
    named.collect()
}

fn volatile_types(source: &Source) -> Vec<String> {
    let typedefs = (0..source.nodes.len()).filter(|node| source.kind(*node) == "type_definition");
    let volatile = typedefs.filter(|node| words(source.text(*node)).any(|word| QUALIFIERS.contains(&word)));
    // A structure with volatile fields is not volatile itself; only its fields are.
    let plain = volatile.filter(|node| !source.text(*node).contains('{'));
    plain.filter_map(|node| words(source.text(node)).last().map(str::to_owned)).collect()
}

/// Returns the name of a function definition.
pub(super) fn function_name(source: &Source, function: usize) -> Option<&str> {
    let head = source.inside(function).find(|node| source.kind(*node) == "function_declarator")?;
    source.child(head, "declarator").map(|name| source.text(name))
}

fn is_statement(kind: &str) -> bool {
    kind.ends_with("_statement") && kind != "compound_statement"
}

/// Removes insignificant whitespace, so that layout makes no difference.
pub(super) fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    for part in text.split_ascii_whitespace() {
        let joins_words = out.ends_with(is_word) && part.starts_with(is_word);
        if joins_words {
            out.push(' ');
        }
        out.push_str(part);
    }
    out
}
