//! The analysed files of a directory, from the cache if the content is unchanged, and otherwise from their syntax
//! trees.

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

/// The maximum number of threads that read and parse.
const THREADS_MAX: usize = 8;

/// A request for relevant parts of a directory.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The task in words; empty for general relevance.
    pub goal: String,
    /// Places that a log or other evidence mentions.
    pub mentions: Vec<Mention>,
}

impl Wish {
    /// Creates a request from a goal in words. Places in the goal count as mentioned.
    pub fn goal(goal: impl Into<String>) -> Self {
        let goal = goal.into();
        Wish { mentions: crate::mentions(&goal), goal }
    }

    /// Adds the places that a log mentions.
    #[must_use]
    pub fn with_log(mut self, log: &str) -> Self {
        self.mentions.extend(crate::mentions(log));
        self
    }
}

/// A file with its definitions and references.
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

/// The analysed contents of a directory.
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
    /// Analyses a directory. With a home, the contents of files are cached in `HOME/maps`, and files below the home are
    /// not part of the map.
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

    /// Returns the canonical path of the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the number of files that had to be read because they were not cached.
    pub fn looked_into(&self) -> usize {
        self.looked_into
    }

    /// Ranks files and symbols by relevance to a request.
    pub fn rank(&self, wish: &Wish) -> Ranking<'_> {
        Ranking::of(self, wish)
    }
}

/// Returns the contents of each file, and the number of files that had to be read.
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
            FileContent::Same(content) => content,
            FileContent::New(content) => Arc::new(number(content, &mut cache.names)),
        };
        found[at] = Some(Remembered { hash: read.hash, bytes, changed_ns, content });
    }
    (found, missing.len())
}

/// A file that was read.
struct Read {
    hash: String,
    content: FileContent,
}

/// The contents of a read file: cached under another path or time, or new.
enum FileContent {
    Same(Arc<Content<Name>>),
    New(Content<String>),
}

/// Reads and parses files in parallel. Unreadable files are missing from the result.
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
        // If a grammar's code panics on a file, only the results of that thread are lost.
        done.extend(others.into_iter().filter_map(|other| other.join().ok()).flatten());
        done
    })
}

fn read(root: &Path, file: &Listed, tagger: &mut Tagger, known: &FxHashMap<&str, &Remembered>) -> Option<Read> {
    let text = interlock_beneath::read(root, Path::new(&file.path), skip::BYTES_MAX).ok()?;
    let language = file.language.with_content(&file.path, &text);
    // Only the beginning of a file without a grammar matters.
    let seen = if language.has_grammar() { &text[..] } else { &text[..text.len().min(skip::HEAD_BYTES)] };
    let hash = format!("{}.{}", hex(&Sha256::digest(seen)[..16]), language.name().replace(' ', "-"));
    if let Some(same) = known.get(hash.as_str()) {
        return Some(Read { hash, content: FileContent::Same(Arc::clone(&same.content)) });
    }
    let content = match skip::by_content(seen) {
        Some(reason) => Content::LeftOut(reason),
        None => Content::Tags(tagger.tags(language, &text)),
    };
    Some(Read { hash, content: FileContent::New(content) })
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

/// Returns the time of the cache write, from the clock that dates files.
fn now_ns() -> i128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(0))
}
