//! Sets of globs that are matched at once, and a test if two globs can match the same file.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Globs, each with the index of its rule. They ignore case, because some file systems do.
#[derive(Clone, Debug)]
pub(crate) struct Globs {
    set: GlobSet,
    rules: Vec<usize>,
    shapes: Vec<Shape>,
}

/// A glob, split into pieces once.
#[derive(Clone, Debug)]
struct Shape {
    /// `None` if the glob is too long; it is then assumed to match anything.
    pieces: Option<Vec<Piece>>,
    /// True if it starts at the root directory or the home directory.
    is_far: bool,
}

impl Shape {
    fn of(text: &str) -> Self {
        let pieces = (text.len() <= LETTERS_MAX).then(|| pieces(text));
        Shape { pieces, is_far: text.starts_with(['/', '~']) }
    }

    /// Reports if both globs can match the same path.
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

/// The maximum length of a glob; a longer one is assumed to match anything.
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

    /// Collects the rules that match a path.
    pub(crate) fn matching(&self, path: &str, into: &mut Vec<usize>) {
        let mut found = Vec::new();
        self.set.matches_into(path, &mut found);
        into.extend(found.into_iter().filter_map(|at| self.rules.get(at)));
    }

    /// Collects the rules that may match a path of the pattern.
    pub(crate) fn overlapping(&self, pattern: &str, into: &mut Vec<usize>) {
        let (pattern, mut rows) = (Shape::of(&pattern.to_lowercase()), Rows::default());
        for (shape, rule) in self.shapes.iter().zip(&self.rules) {
            // A path relative to the workspace is not a path from the root directory.
            if (pattern.is_far || !shape.is_far) && shape.overlaps(&pattern, &mut rows) {
                into.push(*rule);
            }
        }
    }
}

/// Checks that a text is a valid glob.
pub(crate) fn check(text: &str) -> Result<(), String> {
    build(text).map(drop)
}

fn build(text: &str) -> Result<globset::Glob, String> {
    let glob = GlobBuilder::new(text).literal_separator(true).case_insensitive(true).backslash_escape(true).build();
    glob.map_err(|error| error.kind().to_string())
}

/// A directory includes its contents: `infra/` means `infra/**`, and `infra/**` also matches `infra`.
fn also_below(text: &str) -> Vec<String> {
    match text.strip_suffix("/**").or_else(|| text.strip_suffix('/')) {
        Some(folder) if !folder.is_empty() && folder != "**" => vec![folder.to_owned(), format!("{folder}/**")],
        _ => vec![text.to_owned()],
    }
}

/// Reports if a text contains a character that a shell would expand to file names.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece {
    Letter(char),
    /// One character, but not `/`.
    One,
    /// Any number of characters, but no `/`.
    Many,
    /// Any number of characters, including `/`.
    Deep,
}

fn pieces(glob: &str) -> Vec<Piece> {
    let (mut pieces, mut letters) = (Vec::new(), glob.chars().peekable());
    while let Some(letter) = letters.next() {
        pieces.push(match letter {
            '?' => Piece::One,
            '*' if letters.peek() == Some(&'*') => {
                letters.next();
                // `**/` may match the empty text.
                letters.next_if_eq(&'/');
                Piece::Deep
            }
            '*' => Piece::Many,
            // A character class or an alternative is assumed to match anything.
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

/// Reports if both globs can match the same path. A false positive is possible, a false negative is not.
pub(crate) fn overlap(one: &str, other: &str) -> bool {
    Shape::of(one).overlaps(&Shape::of(other), &mut Rows::default())
}

/// Compares the literal text before the first and after the last wildcard. It is cheap, and decides nearly every pair.
fn could_meet(one: &[Piece], other: &[Piece]) -> bool {
    let differ = |(one, other): (&Piece, &Piece)| match (one, other) {
        (Piece::Letter(a), Piece::Letter(b)) if a == b => None,
        (Piece::Letter(_), Piece::Letter(_)) => Some(true),
        _ => Some(false),
    };
    one.iter().zip(other).find_map(differ) != Some(true)
        && one.iter().rev().zip(other.iter().rev()).find_map(differ) != Some(true)
}

/// The table rows for comparing two globs, reused from one pair to the next.
#[derive(Default)]
struct Rows {
    before: Vec<bool>,
    reached: Vec<bool>,
}

impl Rows {
    /// Reports if two piece lists can match the same text. `reached[j]` is true if the prefix of one before `i` and the
    /// prefix of the other before `j` can.
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
                // Either a wildcard matches the empty text, or it consumes the other piece, or both pieces agree.
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

/// Reports if a wildcard for any number of characters can match this piece.
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
    fn directory_glob_includes_its_contents() {
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
