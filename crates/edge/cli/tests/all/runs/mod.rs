//! Commands about runs as users see them: stdout as it is, stderr after a bar, the exit code if it is not 0.

mod anchors;
mod around;
mod auditing;
mod faulting;
mod grants;
mod moving;
mod proving;
mod readers;
mod reporting;
mod scene;
mod telling;
mod unknown;
mod words;
mod worktrees;
