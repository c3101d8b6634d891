//! Sends one HTTP/1.1 request over a separate connection and reads the response as it arrives.
//!
//! Deliberately small: no redirects, no pool, no cookies, no retries and no clock. The caller decides how long each
//! part may take: [`Client::connect`], [`Connection::send`] and [`Response::piece`] are awaited one by one, and
//! dropping any of them closes the connection.

mod address;
mod client;
mod error;
mod pin;
mod proxy;
mod response;
mod trust;

pub use address::Address;
pub use client::{Body, Client, Connection};
pub use error::Error;
pub use hyper::{HeaderMap, Method, Request, Uri, body::Bytes, header};
pub use proxy::Proxy;
pub use response::Response;
