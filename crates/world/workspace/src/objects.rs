//! Reads many objects of a repository in one call of `git`, by any names that `git` understands.

use crate::{Result, git::Git};

/// An object that was read from a repository.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) hash: String,
    pub(crate) content: Vec<u8>,
}

/// Reads the objects with these names, in the same order, with `None` for a missing object. A name with a line break
/// cannot be requested and gives `None`.
pub(crate) fn read(git: &Git, names: &[Vec<u8>]) -> Result<Vec<Option<Object>>> {
    let can_ask = |name: &&Vec<u8>| !name.contains(&b'\n');
    let asked: Vec<&[u8]> = names.iter().filter(can_ask).flat_map(|name| [name.as_slice(), b"\n"]).collect();
    let answer = git.run_with(&["cat-file", "--batch"], &asked.concat())?;
    let mut rest = answer.as_slice();
    Ok(names.iter().map(|name| if can_ask(&name) { next(&mut rest) } else { None }).collect())
}

/// Parses `HASH KIND LENGTH`, a line feed, that many bytes and a line feed. Any other line is an error message for a
/// missing object.
fn next(rest: &mut &[u8]) -> Option<Object> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (about, after) = (&rest[..end], &rest[end + 1..]);
    *rest = after;
    let about = std::str::from_utf8(about).ok()?;
    let [hash, _, length] = about.split(' ').collect::<Vec<_>>()[..] else { return None };
    let length: usize = length.parse().ok().filter(|_| hash.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    let content = after.get(..length)?.to_vec();
    *rest = after.get(length + 1..).unwrap_or_default();
    Some(Object { hash: hash.to_owned(), content })
}
