//! Serializes paths in JSON: as text, or as hexadecimal digits if they are not UTF-8.

use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::private::hex;

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes { hex: String },
}

pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    let form = match path.to_str() {
        Some(text) => Form::Text(text.to_owned()),
        None => Form::Bytes { hex: hex(path.as_os_str().as_bytes()) },
    };
    form.serialize(to)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    let digits = match Form::deserialize(from)? {
        Form::Text(text) => return Ok(text.into()),
        Form::Bytes { hex } => hex,
    };
    let pairs = digits.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let bytes: Option<Vec<u8>> = pairs.collect();
    bytes.map(|bytes| OsString::from_vec(bytes).into()).ok_or_else(|| serde::de::Error::custom("these are not bytes"))
}

pub(crate) mod option {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        match path {
            Some(path) => super::serialize(path, to),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
        super::deserialize(from).map(Some)
    }
}
