grep -q 'fn words_are_joined_by_one_dash' lib.rs
