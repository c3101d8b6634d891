//! The page in a real browser, against the real program: what a person sees and does.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test that cannot go on has failed")]

mod crowd;
mod scene;

#[path = "accessible.rs"]
mod heavy_accessible;
#[path = "answering.rs"]
mod heavy_answering;
#[path = "board.rs"]
mod heavy_board;
#[path = "chart.rs"]
mod heavy_chart;
#[path = "connection.rs"]
mod heavy_connection;
#[path = "difference.rs"]
mod heavy_difference;
#[path = "ends.rs"]
mod heavy_ends;
#[path = "evidence.rs"]
mod heavy_evidence;
#[path = "history.rs"]
mod heavy_history;
#[path = "injection.rs"]
mod heavy_injection;
#[path = "notebook.rs"]
mod heavy_notebook;
#[path = "phone.rs"]
mod heavy_phone;
#[path = "proxy.rs"]
mod heavy_proxy;
#[path = "roles.rs"]
mod heavy_roles;
#[path = "scale.rs"]
mod heavy_scale;
#[path = "typing.rs"]
mod heavy_typing;
