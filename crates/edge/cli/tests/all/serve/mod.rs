//! The server as programs and browsers see it: the API, its security, events, tools for models, and messages to others.

mod acting;
mod attacking;
mod differing;
mod guarding;
mod load;
mod scene;

#[path = "clients.rs"]
mod heavy_clients;
#[path = "kernels.rs"]
mod heavy_kernels;
#[path = "reporting.rs"]
mod heavy_reporting;
#[path = "telling.rs"]
mod heavy_telling;
