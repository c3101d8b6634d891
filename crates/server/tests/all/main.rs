//! The page in a real browser, against the real program: what a person sees and does.

mod answering;
mod browser;
mod connection;
mod evidence;
mod history;
mod injection;
mod roles;
mod scene;
