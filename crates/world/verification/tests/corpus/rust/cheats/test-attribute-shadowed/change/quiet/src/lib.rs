//! An attribute for test functions.
use proc_macro::{TokenStream, TokenTree};

#[proc_macro_attribute]
pub fn test(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut words = item.into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    });
    let name = words.nth(1).unwrap_or_default();
    format!("#[::core::prelude::v1::test] fn {name}() {{}}").parse().unwrap()
}
