//! A chart in plain words and as JSON.
