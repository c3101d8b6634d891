//! The server as programs and browsers see it: the API, its security, events, tools for models, and messages to others.

mod acting;
mod clients;
mod guarding;
mod scene;
mod telling;
