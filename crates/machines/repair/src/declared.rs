//! The names and types of a declaration. A type is a short text: `uint16_t`, `struct ring*`, `uint8_t[]`.

use crate::source::Source;

/// A name and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) kind: String,
    /// The size of an array as it is written, if it has one.
    pub(crate) size: Option<String>,
    /// The node of the name.
    pub(crate) at: usize,
}

/// The kind of every callable, which distinguishes pointers to functions from values.
pub(crate) const FUNCTION: &str = "function";

/// The maximum nesting of declarators. Real programs stay far below it.
const NESTED_MAX: usize = 16;

/// Returns everything that a declaration, parameter or field declares.
pub(crate) fn declared(source: &Source, declaration: usize) -> Vec<Declared> {
    let Some(base) = source.child(declaration, "type").map(|node| base(source.text(node))) else { return Vec::new() };
    let children = source.node(declaration).children.iter().copied();
    children
        .filter(|child| &*source.node(*child).field == "declarator")
        .filter_map(|child| unwrap(source, child, &base))
        .collect()
}

/// Returns a type without qualifiers and members: `struct ring { … }` becomes `struct ring`.
pub(crate) fn base(text: &str) -> String {
    let text = text.split('{').next().unwrap_or_default();
    let words = text.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile" | "static" | "extern"));
    words.collect::<Vec<_>>().join(" ")
}

fn unwrap(source: &Source, declarator: usize, base: &str) -> Option<Declared> {
    let mut kind = base.to_owned();
    let mut size = None;
    let mut at = declarator;
    for _ in 0..NESTED_MAX {
        match source.kind(at) {
            "identifier" | "field_identifier" | "type_identifier" => {
                return Some(Declared { name: source.text(at).to_owned(), kind, size, at });
            }
            "pointer_declarator" => kind.push('*'),
            "array_declarator" => {
                kind.push_str("[]");
                size = source.child(at, "size").map(|node| source.text(node).to_owned());
            }
            "function_declarator" => kind = FUNCTION.to_owned(),
            _ => {}
        }
        at = source.child(at, "declarator").or_else(|| source.named(at).next())?;
    }
    None
}

/// Returns the target type of a pointer, or the element type of an array.
pub(crate) fn pointee(kind: &str) -> Option<&str> {
    kind.strip_suffix("[]").or_else(|| kind.strip_suffix('*'))
}

/// Returns true if values of the type are whole numbers.
pub(crate) fn is_number(kind: &str) -> bool {
    let enumeration = kind.starts_with("enum ") && !kind.ends_with(['*', ']']);
    enumeration || bits(kind).is_some()
}

/// Returns the width of a whole number on a small target, or `None` for other types.
pub(crate) fn bits(kind: &str) -> Option<u32> {
    Some(match kind {
        "bool" | "_Bool" => 1,
        "char" | "signed char" | "unsigned char" | "int8_t" | "uint8_t" => 8,
        "short" | "unsigned short" | "int16_t" | "uint16_t" => 16,
        "int" | "unsigned" | "unsigned int" | "long" | "unsigned long" | "int32_t" | "uint32_t" | "size_t"
        | "ssize_t" | "uintptr_t" | "intptr_t" | "ptrdiff_t" => 32,
        "long long" | "unsigned long long" | "int64_t" | "uint64_t" => 64,
        _ => return None,
    })
}

/// Returns true if a value of one type may replace one of the other without a significant warning.
pub(crate) fn fits(wanted: &str, given: &str) -> bool {
    let decayed = |kind: &str| kind.strip_suffix("[]").map_or_else(|| kind.to_owned(), |of| format!("{of}*"));
    wanted == given || decayed(wanted) == decayed(given) || (is_number(wanted) && is_number(given))
}
