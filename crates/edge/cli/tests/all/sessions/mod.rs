//! The command line as users see it: stdout as it is, stderr after a bar, the exit code if it is not 0.

mod border;
mod checking;
mod exchange;
mod helping;
mod knowing;
mod machines;
mod resources;
mod sarif;
mod scene;
mod usage;
