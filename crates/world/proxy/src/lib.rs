//! The only way out of a program's private network: a proxy that connects to listed hosts and to no others.
//!
//! A [`Proxy`] serves listeners that lie in the program's network (`interlock-sandbox` makes them there and sends them
//! out). It speaks HTTP `CONNECT` and plain HTTP in absolute form, and it forwards listed loopback ports as they are. It
//! checks every request against an [`Allow`] list, resolves names itself and connects to exactly the addresses that it
//! has checked. Every destination is recorded with its verdict and its byte counts, never with headers or content.
//!
//! The proxy does not look into encrypted connections: a listed host that serves other names, as content networks do, can
//! be asked for those. It does not know attempts or runs; `interlock-process` starts one per program.

mod address;
mod allow;
mod connection;
mod head;
mod log;
mod proxy;
mod relay;

pub use allow::{Allow, BadHost};
pub use log::{Destination, Verdict};
pub use proxy::{Names, Proxy, Service};
