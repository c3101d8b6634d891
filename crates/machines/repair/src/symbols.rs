//! The meaning of names: constants, structures, functions, and the variables that are visible at a place.
//!
//! They are read from all files together, because the structures of a firmware are in its headers.

use std::collections::{BTreeMap, BTreeSet};

use crate::declared::{Declared, FUNCTION, base, declared, pointee};
use crate::source::Source;

/// The maximum nesting depth of expressions with a type.
const NESTED_MAX: usize = 24;

/// A macro without arguments, or an enumerator.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    /// The enumeration it belongs to; empty for a macro. Enumerators of one enumeration can replace each other.
    pub(crate) of: String,
    pub(crate) path: String,
    /// The position in the enumeration, which is its value unless one is written.
    pub(crate) ordinal: usize,
}

/// The parameter types and the return type of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) answers: String,
    pub(crate) takes: Vec<String>,
}

/// A variable and the range of bytes in which it is visible.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) size: Option<String>,
    from: usize,
    until: usize,
    pub(crate) global: bool,
}

/// All names of all files.
#[derive(Default)]
pub(crate) struct Symbols {
    pub(crate) constants: BTreeMap<String, Constant>,
    pub(crate) fields: BTreeMap<String, Vec<Declared>>,
    pub(crate) functions: BTreeMap<String, Signature>,
    variables: BTreeMap<String, Vec<Variable>>,
    /// The files that each file sees through its includes, including itself.
    seen: BTreeMap<String, BTreeSet<String>>,
    /// The files in which each function is declared or defined.
    heads: BTreeMap<String, BTreeSet<String>>,
}

impl Symbols {
    /// Reads the names of every file.
    pub(crate) fn read(sources: &[Source]) -> Symbols {
        let mut symbols = Symbols { seen: includes(sources), ..Symbols::default() };
        for source in sources {
            for at in 0..source.nodes.len() {
                symbols.take(source, at);
            }
        }
        symbols
    }

    fn take(&mut self, source: &Source, at: usize) {
        match source.kind(at) {
            "preproc_def" => self.constant(source, at, String::new()),
            "enumerator" => {
                let of = source.above(at, "enum_specifier").map(|up| base(source.text(up))).unwrap_or_default();
                self.constant(source, at, of);
            }
            "function_declarator" => self.head(source, at),
            "field_declaration" => self.field(source, at),
            "function_definition" => self.function(source, at),
            "declaration" | "parameter_declaration" => self.variable(source, at),
            _ => {}
        }
    }

    fn constant(&mut self, source: &Source, at: usize, of: String) {
        let valued = source.child(at, "value").is_some() || !of.is_empty();
        if let Some(name) = source.child(at, "name").filter(|_| valued) {
            let before = source.named(source.parent(at)).take_while(|one| *one != at);
            let ordinal = before.filter(|one| source.kind(*one) == "enumerator").count();
            let constant = Constant { of, path: source.path.clone(), ordinal };
            self.constants.insert(source.text(name).to_owned(), constant);
        }
    }

    fn field(&mut self, source: &Source, at: usize) {
        if let Some(of) = source.above(at, "struct_specifier") {
            self.fields.entry(base(source.text(of))).or_default().extend(declared(source, at));
        }
    }

    fn head(&mut self, source: &Source, at: usize) {
        if let Some(name) = source.child(at, "declarator").map(|node| source.text(node).to_owned()) {
            self.heads.entry(name).or_default().insert(source.path.clone());
        }
    }

    /// Returns true if one file sees another through its includes.
    pub(crate) fn sees(&self, path: &str, other: &str) -> bool {
        self.seen.get(path).is_some_and(|seen| seen.contains(other))
    }

    /// Returns the constants that a file sees.
    pub(crate) fn constants_of<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a String, &'a Constant)> {
        self.constants.iter().filter(move |(_, constant)| self.sees(path, &constant.path))
    }

    /// Returns true if a file sees a function.
    pub(crate) fn sees_function(&self, path: &str, name: &str) -> bool {
        self.heads.get(name).is_some_and(|heads| heads.iter().any(|head| self.sees(path, head)))
    }

    fn function(&mut self, source: &Source, at: usize) {
        let Some(answers) = source.child(at, "type").map(|node| base(source.text(node))) else { return };
        let Some(head) = source.inside(at).find(|node| source.kind(*node) == "function_declarator") else { return };
        let Some(name) = source.child(head, "declarator") else { return };
        let Some(list) = source.child(head, "parameters") else { return };
        let takes = source.named(list).flat_map(|one| declared(source, one)).map(|one| one.kind).collect();
        self.functions.insert(source.text(name).to_owned(), Signature { answers, takes });
    }

    fn variable(&mut self, source: &Source, at: usize) {
        let function = source.function(at);
        if source.kind(at) == "parameter_declaration" && function.is_none() {
            return;
        }
        // A parameter is visible in the whole function, a local variable from the end of its declaration to the end of
        // its block.
        let block = source.above(at, "compound_statement").or(source.above(at, "for_statement"));
        let inner = source.above(at, "for_statement").filter(|up| block.is_none_or(|block| *up > block)).or(block);
        let owner = inner.or(function);
        let until = owner.map_or(usize::MAX, |up| source.node(up).end);
        let from = if source.kind(at) == "declaration" { source.node(at).end - 1 } else { 0 };
        let from = owner.map_or(from, |up| from.max(source.node(up).start));
        for one in declared(source, at).into_iter().filter(|one| one.kind != FUNCTION || function.is_some()) {
            let Declared { name, kind, size, .. } = one;
            let variable = Variable { name, kind, size, from, until, global: function.is_none() };
            self.variables.entry(source.path.clone()).or_default().push(variable);
        }
    }

    /// Returns the variables that are visible at a byte of a file. An inner variable hides an outer one of the same
    /// name.
    pub(crate) fn visible(&self, path: &str, byte: usize) -> Vec<&Variable> {
        let all = self.variables.get(path).map(Vec::as_slice).unwrap_or_default();
        let mut seen: BTreeMap<&str, &Variable> = BTreeMap::new();
        for one in all.iter().filter(|one| one.from < byte && byte < one.until) {
            let hidden = seen.get(one.name.as_str()).is_some_and(|other| other.from > one.from);
            if !hidden {
                seen.insert(&one.name, one);
            }
        }
        seen.into_values().collect()
    }

    /// Returns the variable that a name refers to at a byte.
    pub(crate) fn variable_at(&self, path: &str, byte: usize, name: &str) -> Option<&Variable> {
        let all = self.variables.get(path)?;
        let here = all.iter().filter(|one| one.name == name && one.from < byte && byte < one.until);
        here.max_by_key(|one| one.from)
    }

    /// Returns the fields of a structure, or of the structure that a pointer refers to.
    pub(crate) fn fields_of(&self, kind: &str) -> &[Declared] {
        let of = pointee(kind).unwrap_or(kind);
        self.fields.get(of).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the type of an expression, if it is known.
    pub(crate) fn kind_of(&self, source: &Source, at: usize) -> Option<String> {
        self.kind_within(source, at, NESTED_MAX)
    }

    fn kind_within(&self, source: &Source, at: usize, nested: usize) -> Option<String> {
        let nested = nested.checked_sub(1)?;
        let of = |child: usize| self.kind_within(source, child, nested);
        let field = |name: &str| source.child(at, name);
        match source.kind(at) {
            "identifier" => self.kind_of_name(source, at),
            "number_literal" | "char_literal" | "sizeof_expression" => Some("int".to_owned()),
            "true" | "false" => Some("bool".to_owned()),
            "parenthesized_expression" => of(source.named(at).next()?),
            "field_expression" => {
                let owner = of(field("argument")?)?;
                let name = source.text(field("field")?);
                self.fields_of(&owner).iter().find(|one| one.name == name).map(|one| one.kind.clone())
            }
            "subscript_expression" => pointee(&of(field("argument")?)?).map(str::to_owned),
            "call_expression" => self.functions.get(source.text(field("function")?)).map(|one| one.answers.clone()),
            "cast_expression" => Some(base(source.text(field("type")?)).replace(' ', "").replace("struct", "struct ")),
            "update_expression" | "unary_expression" => of(field("argument")?),
            "pointer_expression" => self.kind_of_pointer(source, at, nested),
            "binary_expression" => of(field("left")?),
            "assignment_expression" => of(field("left")?),
            "conditional_expression" => of(field("consequence")?),
            _ => None,
        }
    }

    fn kind_of_name(&self, source: &Source, at: usize) -> Option<String> {
        let name = source.text(at);
        if let Some(variable) = self.variable_at(&source.path, source.node(at).start, name) {
            return Some(variable.kind.clone());
        }
        if let Some(constant) = self.constants.get(name) {
            return Some(if constant.of.is_empty() { "int".to_owned() } else { constant.of.clone() });
        }
        self.functions.contains_key(name).then(|| FUNCTION.to_owned())
    }

    fn kind_of_pointer(&self, source: &Source, at: usize, nested: usize) -> Option<String> {
        let inner = self.kind_within(source, source.child(at, "argument")?, nested)?;
        if source.text(at).starts_with('&') { Some(format!("{inner}*")) } else { pointee(&inner).map(str::to_owned) }
    }

    /// Returns true if every name in a text is also visible at another place.
    pub(crate) fn all_visible(&self, source: &Source, text_of: usize, byte: usize) -> bool {
        source.inside(text_of).filter(|node| source.kind(*node) == "identifier").all(|node| {
            let name = source.text(node);
            self.means_something(source, byte, name)
        })
    }

    pub(crate) fn means_something(&self, source: &Source, byte: usize, name: &str) -> bool {
        self.variable_at(&source.path, byte, name).is_some()
            || self.constants.get(name).is_some_and(|constant| self.sees(&source.path, &constant.path))
            || self.sees_function(&source.path, name)
            || matches!(name, "NULL" | "memcpy" | "memset" | "UINT32_MAX" | "UINT16_MAX" | "UINT8_MAX")
    }
}

/// Returns the files that each file sees: itself, and those that it includes directly or indirectly.
fn includes(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let direct: BTreeMap<&str, Vec<&str>> =
        sources.iter().map(|one| (one.path.as_str(), included(one, sources))).collect();
    let mut all = BTreeMap::new();
    for source in sources {
        let mut seen = BTreeSet::from([source.path.clone()]);
        let mut open = vec![source.path.as_str()];
        while let Some(path) = open.pop() {
            for next in direct.get(path).into_iter().flatten() {
                if seen.insert((*next).to_owned()) {
                    open.push(next);
                }
            }
        }
        all.insert(source.path.clone(), seen);
    }
    all
}

/// Returns the files whose name a file includes, in any directory.
fn included<'a>(source: &Source, sources: &'a [Source]) -> Vec<&'a str> {
    let includes = (0..source.nodes.len()).filter(|at| source.kind(*at) == "preproc_include");
    let paths =
        includes.filter_map(|at| source.child(at, "path")).map(|path| source.text(path).trim_matches(['"', '<', '>']));
    let names: Vec<&str> = paths.map(|path| path.rsplit('/').next().unwrap_or(path)).collect();
    let name = |path: &'a str| path.rsplit('/').next().unwrap_or(path);
    sources.iter().map(|one| one.path.as_str()).filter(|path| names.contains(&name(path))).collect()
}
