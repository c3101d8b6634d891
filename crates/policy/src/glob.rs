//! Globs, all of them asked at once; and whether two globs could mean the same file.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Globs, each with the number of the rule it belongs to. They do not care about case: some file systems do not either.
#[derive(Clone, Debug)]
pub(crate) struct Globs {
    set: GlobSet,
    rules: Vec<usize>,
    shapes: Vec<Shape>,
}

/// A glob in pieces, taken apart once.
#[derive(Clone, Debug)]
struct Shape {
    /// Nothing where it is too long, and taken to mean anything.
    pieces: Option<Vec<Piece>>,
    /// Written from the root of the computer or from the home directory.
    is_far: bool,
}

impl Shape {
    fn of(text: &str) -> Self {
        let pieces = (text.len() <= LETTERS_MAX).then(|| pieces(text));
        Shape { pieces, is_far: text.starts_with(['/', '~']) }
    }

    /// Whether some path is meant by both.
    fn overlaps(&self, other: &Shape, rows: &mut Rows) -> bool {
        match (&self.pieces, &other.pieces) {
            (Some(one), Some(other)) => could_meet(one, other) && rows.meet(one, other),
            _ => true,
        }
    }
}

impl Default for Globs {
    fn default() -> Self {
        Globs { set: GlobSet::empty(), rules: Vec::new(), shapes: Vec::new() }
    }
}

/// The longest glob; what is longer is taken to mean anything.
const LETTERS_MAX: usize = 512;

impl Globs {
    pub(crate) fn new<'g>(globs: impl IntoIterator<Item = (usize, &'g str)>) -> Result<Self, String> {
        let (mut builder, mut rules, mut shapes) = (GlobSetBuilder::new(), Vec::new(), Vec::new());
        for (rule, text) in globs {
            for text in also_below(text) {
                builder.add(build(&text)?);
                rules.push(rule);
                shapes.push(Shape::of(&text.to_lowercase()));
            }
        }
        let set = builder.build().map_err(|error| error.to_string())?;
        Ok(Globs { set, rules, shapes })
    }

    /// The rules that speak of a path.
    pub(crate) fn matching(&self, path: &str, into: &mut Vec<usize>) {
        let mut found = Vec::new();
        self.set.matches_into(path, &mut found);
        into.extend(found.into_iter().filter_map(|at| self.rules.get(at)));
    }

    /// The rules that could speak of something that a pattern stands for.
    pub(crate) fn overlapping(&self, pattern: &str, into: &mut Vec<usize>) {
        let (pattern, mut rows) = (Shape::of(&pattern.to_lowercase()), Rows::default());
        for (shape, rule) in self.shapes.iter().zip(&self.rules) {
            // What is written from the root of the workspace is not what is written from that of the computer.
            if (pattern.is_far || !shape.is_far) && shape.overlaps(&pattern, &mut rows) {
                into.push(*rule);
            }
        }
    }
}

/// Whether a text is a glob at all.
pub(crate) fn check(text: &str) -> Result<(), String> {
    build(text).map(drop)
}

fn build(text: &str) -> Result<globset::Glob, String> {
    let glob = GlobBuilder::new(text).literal_separator(true).case_insensitive(true).backslash_escape(true).build();
    glob.map_err(|error| error.kind().to_string())
}

/// A folder stands for everything in it: `infra/` means `infra/**`, and `infra/**` means `infra` too.
fn also_below(text: &str) -> Vec<String> {
    match text.strip_suffix("/**").or_else(|| text.strip_suffix('/')) {
        Some(folder) if !folder.is_empty() && folder != "**" => vec![folder.to_owned(), format!("{folder}/**")],
        _ => vec![text.to_owned()],
    }
}

/// Whether a text holds something that a shell would look up among the files.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece {
    Letter(char),
    /// One letter, but no `/`.
    One,
    /// Any letters, but no `/`.
    Many,
    /// Any letters.
    Deep,
}

fn pieces(glob: &str) -> Vec<Piece> {
    let (mut pieces, mut letters) = (Vec::new(), glob.chars().peekable());
    while let Some(letter) = letters.next() {
        pieces.push(match letter {
            '?' => Piece::One,
            '*' if letters.peek() == Some(&'*') => {
                letters.next();
                // `**/` may stand for nothing at all.
                letters.next_if_eq(&'/');
                Piece::Deep
            }
            '*' => Piece::Many,
            // Whatever is in a class or a choice: it is taken to mean anything.
            '[' if glob.contains(']') => {
                letters.by_ref().take_while(|letter| *letter != ']').for_each(drop);
                Piece::One
            }
            '{' if glob.contains('}') => {
                letters.by_ref().take_while(|letter| *letter != '}').for_each(drop);
                Piece::Deep
            }
            '\\' => letters.next().map_or(Piece::Letter('\\'), Piece::Letter),
            letter => Piece::Letter(letter),
        });
    }
    pieces
}

/// Whether some path is meant by both globs. May say yes where there is none, never no where there is one.
pub(crate) fn overlap(one: &str, other: &str) -> bool {
    Shape::of(one).overlaps(&Shape::of(other), &mut Rows::default())
}

/// Whether the letters before the first and after the last wildcard leave it possible. Cheap, and enough for nearly every pair.
fn could_meet(one: &[Piece], other: &[Piece]) -> bool {
    let differ = |(one, other): (&Piece, &Piece)| match (one, other) {
        (Piece::Letter(a), Piece::Letter(b)) if a == b => None,
        (Piece::Letter(_), Piece::Letter(_)) => Some(true),
        _ => Some(false),
    };
    one.iter().zip(other).find_map(differ) != Some(true)
        && one.iter().rev().zip(other.iter().rev()).find_map(differ) != Some(true)
}

/// What two globs are compared with, kept from one pair to the next.
#[derive(Default)]
struct Rows {
    before: Vec<bool>,
    reached: Vec<bool>,
}

impl Rows {
    /// Whether two lists of pieces can spell the same text. `reached[j]`: what is before `i` in one and before `j` in the other can.
    fn meet(&mut self, one: &[Piece], other: &[Piece]) -> bool {
        let Rows { before, reached } = self;
        reached.clear();
        reached.resize(other.len() + 1, false);
        reached[0] = true;
        for j in 0..other.len() {
            reached[j + 1] = reached[j] && is_any(other[j]);
        }
        for piece in one {
            before.clear();
            before.extend_from_slice(reached);
            reached[0] = before[0] && is_any(*piece);
            let mut is_possible = reached[0];
            for (j, against) in other.iter().enumerate() {
                // One stands for nothing more, or one swallows what the other says, or both say the same.
                let skips = is_any(*against) && reached[j] || is_any(*piece) && before[j + 1];
                let swallows = is_any(*piece) && takes(*piece, *against) && reached[j]
                    || is_any(*against) && takes(*against, *piece) && before[j + 1];
                reached[j + 1] = skips || swallows || (before[j] && agree(*piece, *against));
                is_possible |= reached[j + 1];
            }
            if !is_possible {
                return false;
            }
        }
        reached.last() == Some(&true)
    }
}

fn is_any(piece: Piece) -> bool {
    matches!(piece, Piece::Many | Piece::Deep)
}

/// Whether something that stands for any letters can stand for this one.
fn takes(any: Piece, piece: Piece) -> bool {
    any == Piece::Deep || piece != Piece::Letter('/')
}

fn agree(one: Piece, other: Piece) -> bool {
    match (one, other) {
        (Piece::Letter(a), Piece::Letter(b)) => a == b,
        (Piece::Letter(letter), Piece::One) | (Piece::One, Piece::Letter(letter)) => letter != '/',
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_that_can_mean_the_same_file_overlap() {
        let cases = [
            ("a/b", "a/b", true),
            ("a/b", "a/c", false),
            ("a/*", "a/b", true),
            ("a/*", "a/b/c", false),
            ("a/**", "a/b/c", true),
            ("**/id_rsa", "/home/x/.ssh/id_*", true),
            ("~/.ssh/**", "~/.s*/id_rsa", true),
            ("~/.ssh/**", "~/.s??/x", true),
            ("~/.ssh/**", "~/src/*", false),
            (".env", ".e*", true),
            (".env", ".[e]nv", true),
            ("**/*.pem", "keys/*", true),
            ("**/*.pem", "src/*.c", false),
            ("*", "**", true),
            ("", "*", true),
            ("", "a", false),
            ("**/*.pem", "**/*.key", false),
            ("/home/*/.ssh/**", "/home/ada/**", true),
            ("a*", "*a", true),
            ("ab*", "*ba", true),
            ("a", "aa", false),
        ];
        for (one, other, expected) in cases {
            assert_eq!(overlap(one, other), expected, "{one} and {other}");
            assert_eq!(overlap(other, one), expected, "{other} and {one}");
        }
    }

    #[test]
    fn a_folder_stands_for_what_is_in_it() {
        let globs = Globs::new([(7, "infra/"), (8, "**/*.PEM")]).unwrap();
        let matching = |path: &str| {
            let mut found = Vec::new();
            globs.matching(path, &mut found);
            found
        };
        assert_eq!(matching("infra"), [7]);
        assert_eq!(matching("Infra/a/b.tf"), [7]);
        assert_eq!(matching("a/infra/x"), [] as [usize; 0]);
        assert_eq!(matching("infra/x.pem"), [7, 8]);
        assert_eq!(matching("x.pem"), [8]);
    }
}
