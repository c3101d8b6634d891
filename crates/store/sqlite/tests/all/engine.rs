//! The conformance suite on the SQLite engine, with the writer thread and with inline writes.

use std::{path::Path, sync::Arc};

use interlock_journal::Engine;
use interlock_sqlite::Journal;
use interlock_testkit_engine::Store;
use tempfile::TempDir;

/// Opens an engine over a directory.
type Open = fn(&Path) -> Arc<dyn Engine>;

/// A store in a separate directory.
struct Folder {
    home: TempDir,
    open: Open,
}

impl Folder {
    fn new(open: Open) -> Self {
        Folder { home: TempDir::new().unwrap(), open }
    }
}

impl Store for Folder {
    fn open(&self) -> Arc<dyn Engine> {
        (self.open)(self.home.path())
    }
}

mod on_a_thread {
    use super::*;

    interlock_testkit_engine::engine_suite!(|| Folder::new(|home| Arc::new(Journal::open(home).unwrap())));
}

mod inline {
    use super::*;

    interlock_testkit_engine::engine_suite!(|| Folder::new(|home| Arc::new(Journal::open_inline(home).unwrap())));
}
