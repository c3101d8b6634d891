//! Reads the syntax of git's settings files, as `config.c` of git does: comments, continued lines, quotes, escapes, and
//! sections with other sections in their names.
//!
//! Git ends at the first mistake in a file. This reader goes on in the next line: a setting too many does no harm here. It
//! knows no setting; `git_settings.rs` does.

/// One setting: its section and its name in small letters, and its value. The second part of a section's name is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) section: String,
    pub(crate) name: String,
    pub(crate) value: Vec<u8>,
}

/// Returns the settings of a file that have a value.
pub(crate) fn settings(text: &[u8]) -> Vec<Setting> {
    let mut reader = Reader { rest: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text) };
    let (mut section, mut found) = (String::new(), Vec::new());
    while let Some(sign) = reader.next() {
        match sign {
            b'#' | b';' => reader.skip_line(),
            b'[' => section = reader.section(),
            sign if sign.is_ascii_alphabetic() => {
                let (name, value) = reader.setting(sign);
                found.extend(value.map(|value| Setting { section: section.clone(), name, value }));
            }
            sign if sign.is_ascii_whitespace() => {}
            _ => reader.skip_line(),
        }
    }
    found
}

struct Reader<'t> {
    rest: &'t [u8],
}

impl Reader<'_> {
    /// Returns the next byte. A line may end as on Windows.
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        match (first, rest) {
            (b'\r', [b'\n', after @ ..]) => {
                self.rest = after;
                Some(b'\n')
            }
            _ => {
                self.rest = rest;
                Some(*first)
            }
        }
    }

    fn skip_line(&mut self) {
        while !matches!(self.next(), None | Some(b'\n')) {}
    }

    /// Reads the head of a section behind its bracket. Returns the first part of its name.
    fn section(&mut self) -> String {
        let (mut name, mut is_first, mut is_quoted) = (String::new(), true, false);
        while let Some(sign) = self.next() {
            match sign {
                b'\n' => break,
                b'\\' if is_quoted => drop(self.next()),
                b'"' => is_quoted = !is_quoted,
                _ if is_quoted => {}
                b']' => break,
                sign if is_first && (sign.is_ascii_alphanumeric() || sign == b'-') => {
                    name.push(char::from(sign.to_ascii_lowercase()));
                }
                _ => is_first = name.is_empty(),
            }
        }
        name
    }

    /// Reads a setting whose name begins with this letter. Returns its name, and its value if it has one.
    fn setting(&mut self, first: u8) -> (String, Option<Vec<u8>>) {
        let mut name = String::from(char::from(first.to_ascii_lowercase()));
        let mut is_named = false;
        while let Some(sign) = self.next() {
            match sign {
                b'=' => return (name, Some(self.value())),
                b' ' | b'\t' => is_named = true,
                sign if !is_named && (sign.is_ascii_alphanumeric() || sign == b'-') => {
                    name.push(char::from(sign.to_ascii_lowercase()));
                }
                b'\n' => break,
                _ => {
                    self.skip_line();
                    break;
                }
            }
        }
        (name, None)
    }

    /// Reads a value up to the end of its line, or of the last line that continues it.
    fn value(&mut self) -> Vec<u8> {
        // The length of the value without white space at its end.
        let (mut value, mut length, mut is_quoted) = (Vec::new(), 0, false);
        while let Some(sign) = self.next() {
            match sign {
                b'\n' => break,
                sign if sign.is_ascii_whitespace() && !is_quoted => {
                    if !value.is_empty() {
                        value.push(sign);
                    }
                    continue;
                }
                b'#' | b';' if !is_quoted => {
                    self.skip_line();
                    break;
                }
                b'"' => is_quoted = !is_quoted,
                b'\\' => match self.next() {
                    Some(b'\n') | None => continue,
                    Some(b't') => value.push(b'\t'),
                    Some(b'n') => value.push(b'\n'),
                    Some(b'b') => value.push(8),
                    Some(other) => value.push(other),
                },
                other => value.push(other),
            }
            length = value.len();
        }
        value.truncate(length);
        value
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Git itself says what is right.
    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = concat!(
            "\u{feff}# a comment\n[core] bare = false ; another\n\thooksPath = h2 # of the team\n",
            "[Core]\r\n\tone = \\\r\n h3\r\n  two = \"h\"3\n  three=a \"b # c\" ; d\n four = a\\\n b\n",
            "[includeIf \"gitdir:/x]\\\"/\"]\n path = \"~/x \\\"y\\\"\\\\\"  \n[include] path = last\n[a.b-c \"d\"]\nK-9 = v\\tw\n",
            "[empty]\n flag\n text =\n[x]y=z",
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        std::fs::write(&file, text).unwrap();
        let output = Command::new("git").args(["config", "--list", "--null", "--file"]).arg(&file).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let of_git = output.stdout.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let of_git = of_git.filter_map(|line| {
            let (key, value) = line.split_once('\n')?;
            let (section, name) = (key.split('.').next()?, key.rsplit('.').next()?);
            Some((section.to_owned(), name.to_owned(), value.to_owned()))
        });
        let here = settings(text.as_bytes()).into_iter();
        let here = here.map(|it| (it.section, it.name, String::from_utf8(it.value).unwrap()));
        assert_eq!(here.collect::<Vec<_>>(), of_git.collect::<Vec<_>>());
    }

    #[test]
    fn a_mistake_hides_no_later_setting() {
        let found = settings(b"[core\n???\n[core]\n x y = 1\n hooksPath = \"open\n[include]\npath = \\q");
        let found: Vec<_> = found.iter().map(|it| (&*it.section, &*it.name, &*it.value)).collect();
        assert_eq!(found, [("core", "hookspath", &b"open"[..]), ("include", "path", b"q")]);
    }
}
