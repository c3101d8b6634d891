//! Everything known of all files of a folder: from the cache where their content is the same, from their syntax trees where it is not.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use rustc_hash::FxHashMap;
use sha2::{Digest as _, Sha256};

use crate::{
    Mention, Ranking, Reason, Result,
    cache::{self, Cache, Content, Remembered, hex},
    language::Language,
    list::{self, List, Listed},
    names::{Name, Names},
    skip,
    tags::{Definition, Tagger, Tags},
};

/// The most threads that read and parse.
const THREADS_MAX: usize = 8;

/// What somebody wants of a folder.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// What is to be done, in words; empty for what matters in general.
    pub goal: String,
    /// Places that a log or another piece of evidence names.
    pub mentions: Vec<Mention>,
}

impl Wish {
    /// A goal in words. Places that it names count as mentioned.
    pub fn goal(goal: impl Into<String>) -> Self {
        let goal = goal.into();
        Wish { mentions: crate::mentions(&goal), goal }
    }

    /// With the places that a log names.
    #[must_use]
    pub fn with_log(mut self, log: &str) -> Self {
        self.mentions.extend(crate::mentions(log));
        self
    }
}

/// A file with what it defines and speaks of.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) language: Language,
    content: Arc<Content<Name>>,
}

impl File {
    pub(crate) fn definitions(&self) -> &[Definition<Name>] {
        match &*self.content {
            Content::Tags(tags) => &tags.definitions,
            Content::LeftOut(_) => &[],
        }
    }

    pub(crate) fn references(&self) -> &[(Name, u32)] {
        match &*self.content {
            Content::Tags(tags) => &tags.references,
            Content::LeftOut(_) => &[],
        }
    }
}

/// Everything known of a folder.
#[derive(Debug)]
pub struct Survey {
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<File>,
    pub(crate) names: Names,
    pub(crate) recent: Vec<String>,
    pub(crate) left_out: BTreeMap<Reason, usize>,
    pub(crate) is_partial: bool,
    looked_into: usize,
}

impl Survey {
    /// Looks at a folder. With a home, what files hold is remembered in `HOME/maps`; files below it are no part of the map.
    pub fn of(folder: &Path, home: Option<&Path>) -> Result<Self> {
        let mut list = list::list(folder, home)?;
        let place = home.map(|home| cache::path(home, &list.root));
        let mut cache = place.as_deref().map(Cache::load).unwrap_or_default();
        let (found, looked_into) = find(&list, &mut cache);
        let is_stale = looked_into > 0 || cache.files.len() != found.iter().flatten().count();
        if let Some(place) = place.filter(|_| is_stale) {
            let all =
                list.files.iter().zip(&found).filter_map(|(file, found)| Some((file.path.as_str(), found.as_ref()?)));
            cache::save(&place, &cache.names, all, now_ns());
        }
        let mut files = Vec::with_capacity(found.len());
        for (listed, found) in std::mem::take(&mut list.files).into_iter().zip(found) {
            let Some(Remembered { hash, content, .. }) = found else {
                list.leave_out(Reason::Unreadable);
                continue;
            };
            let language = if hash.ends_with(".c++") { Language::Cpp } else { listed.language };
            match &*content {
                Content::LeftOut(reason) => list.leave_out(*reason),
                Content::Tags(_) => files.push(File { path: listed.path, language, content }),
            }
        }
        let List { root, recent, left_out, is_partial, .. } = list;
        Ok(Survey { root, files, names: cache.names, recent, left_out, is_partial, looked_into })
    }

    /// The folder, with nothing in its path that leads elsewhere.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// How many files had to be read because they were not remembered.
    pub fn looked_into(&self) -> usize {
        self.looked_into
    }

    /// What matters for a wish.
    pub fn rank(&self, wish: &Wish) -> Ranking<'_> {
        Ranking::of(self, wish)
    }
}

/// What each file holds, and how many had to be read for that.
fn find(list: &List, cache: &mut Cache) -> (Vec<Option<Remembered>>, usize) {
    let recall = |file: &Listed| cache.unchanged(&file.path, file.bytes, file.changed_ns).cloned();
    let mut found: Vec<Option<Remembered>> = list.files.iter().map(recall).collect();
    let missing: Vec<usize> = (0..found.len()).filter(|at| found[*at].is_none()).collect();
    let known: FxHashMap<&str, &Remembered> = match missing.is_empty() {
        true => FxHashMap::default(),
        false => cache.files.values().map(|file| (file.hash.as_str(), file)).collect(),
    };
    let read = read_all(list, &missing, &known);
    for (at, read) in read {
        let Listed { bytes, changed_ns, .. } = list.files[at];
        let content = match read.content {
            Known::Same(content) => content,
            Known::New(content) => Arc::new(number(content, &mut cache.names)),
        };
        found[at] = Some(Remembered { hash: read.hash, bytes, changed_ns, content });
    }
    (found, missing.len())
}

/// A file that was read.
struct Read {
    hash: String,
    content: Known,
}

/// What it holds: known under another path or time, or new.
enum Known {
    Same(Arc<Content<Name>>),
    New(Content<String>),
}

/// Reads and parses files, on all processors. One that cannot be read is missing from what comes back.
fn read_all(list: &List, wanted: &[usize], known: &FxHashMap<&str, &Remembered>) -> Vec<(usize, Read)> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX).min(wanted.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut tagger, mut done) = (Tagger::new(), Vec::new());
        while let Some(at) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.extend(read(&list.root, &list.files[*at], &mut tagger, known).map(|read| (*at, read)));
        }
        done
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        // A file on which a grammar's code fails costs what its thread has read, and no more.
        done.extend(others.into_iter().filter_map(|other| other.join().ok()).flatten());
        done
    })
}

fn read(root: &Path, file: &Listed, tagger: &mut Tagger, known: &FxHashMap<&str, &Remembered>) -> Option<Read> {
    let text = interlock_regular_file::read(root, Path::new(&file.path), skip::BYTES_MAX).ok()?;
    let language = file.language.with_content(&file.path, &text);
    // Of a file that is only named nothing but its beginning matters.
    let seen = if language.has_grammar() { &text[..] } else { &text[..text.len().min(skip::HEAD_BYTES)] };
    let hash = format!("{}.{}", hex(&Sha256::digest(seen)[..16]), language.name().replace(' ', "-"));
    if let Some(same) = known.get(hash.as_str()) {
        return Some(Read { hash, content: Known::Same(Arc::clone(&same.content)) });
    }
    let content = match skip::by_content(seen) {
        Some(reason) => Content::LeftOut(reason),
        None => Content::Tags(tagger.tags(language, &text)),
    };
    Some(Read { hash, content: Known::New(content) })
}

fn number(content: Content<String>, names: &mut Names) -> Content<Name> {
    let tags = match content {
        Content::LeftOut(reason) => return Content::LeftOut(reason),
        Content::Tags(tags) => tags,
    };
    let definitions = tags.definitions.into_iter().map(|it| {
        let Definition { name, kind, line, end_line, signature } = it;
        Definition { name: names.number(&name), kind, line, end_line, signature }
    });
    let definitions = definitions.collect();
    let references = tags.references.into_iter().map(|(name, count)| (names.number(&name), count)).collect();
    Content::Tags(Tags { definitions, references })
}

/// When the cache is written, by the clock that files are dated with.
fn now_ns() -> i128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(0))
}
