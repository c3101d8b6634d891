//! Answering one question both ways: a script of choices, run through until every combination has been tried.

use smallvec::SmallVec;

/// The choices of one step. The first time through, every choice is 0; [`Choices::next`] moves on to the next combination.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    made: SmallVec<[(u8, u8); 16]>,
    at: usize,
}

impl Choices {
    /// One of `options` possibilities; the same one on every run with the same script.
    pub(crate) fn choose(&mut self, options: u8) -> u8 {
        if options <= 1 {
            return 0;
        }
        if self.at == self.made.len() {
            self.made.push((0, options));
        }
        let (choice, _) = self.made[self.at];
        self.at += 1;
        choice
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.made.clear();
        self.at = 0;
    }

    /// Moves on to the next combination. Says whether there is one.
    pub(crate) fn next(&mut self) -> bool {
        self.made.truncate(self.at);
        self.at = 0;
        while let Some((choice, options)) = self.made.last_mut() {
            if *choice + 1 < *options {
                *choice += 1;
                return true;
            }
            self.made.pop();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_comes_once_even_where_later_choices_depend_on_earlier_ones() {
        let (mut choices, mut seen) = (Choices::default(), Vec::new());
        loop {
            let first = choices.choose(2);
            let second = if first == 1 { choices.choose(3) } else { 9 };
            seen.push((first, second));
            if !choices.next() {
                break;
            }
        }
        assert_eq!(seen, [(0, 9), (1, 0), (1, 1), (1, 2)]);
    }
}
