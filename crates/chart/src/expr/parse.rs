//! From CEL text to a tree.
