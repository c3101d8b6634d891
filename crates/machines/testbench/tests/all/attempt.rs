//! An attempt that belongs to no run, in real time: these tests wait for real programs.

use std::{path::Path, sync::Arc};

use interlock_activity::{Attempt, Canceller};
use interlock_testkit_activity::Recorder;

/// Makes an attempt that works in a folder and keeps everything else below `home`.
pub(crate) fn attempt(home: &Path, folder: &Path) -> (Attempt, Canceller) {
    interlock_testkit_activity::attempt(home, folder, Arc::new(Recorder::in_real_time()))
}
