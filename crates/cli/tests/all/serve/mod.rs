//! The server as programs and browsers see it: the API, its security, events, tools for models, and messages to others.

mod acting;
mod attacking;
mod clients;
mod differing;
mod guarding;
mod load;
mod reporting;
mod scene;
mod telling;
