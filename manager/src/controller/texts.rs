//! Texts that many objects have in common, each once: all configs of a MachineDeployment have the files of its template.

use std::collections::BTreeSet;
use std::sync::Arc;

/// As many are held before it is looked for the first time which of them nobody has any more.
const FEW: usize = 64;

/// The texts of the objects of a store.
#[derive(Default)]
pub(super) struct Texts {
    all: BTreeSet<Arc<str>>,
    /// How many somebody had when that was looked for last.
    had: usize,
}

impl Texts {
    /// The one that all hold who have this text.
    pub(super) fn one(&mut self, text: Arc<str>) -> Arc<str> {
        if let Some(known) = self.all.get(&text) {
            return known.clone();
        }
        // So that looking at all costs each text a constant share.
        if self.all.len() >= FEW.max(self.had * 2) {
            self.sweep();
        }
        self.all.insert(text.clone());
        text
    }

    /// An object that has this text is let go.
    pub(super) fn leave(&mut self, text: &Arc<str>) {
        // The other one is the set.
        if Arc::strong_count(text) == 2 {
            self.all.remove(text);
        }
    }

    /// Lets go what nobody has any more.
    pub(super) fn sweep(&mut self) {
        self.all.retain(|text| Arc::strong_count(text) > 1);
        self.had = self.all.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_there_once_and_as_long_as_somebody_has_it() {
        let mut texts = Texts::default();
        let (first, second) = (texts.one("a".into()), texts.one("a".into()));
        assert!(Arc::ptr_eq(&first, &second));
        texts.one("b".into());
        assert_eq!(texts.all.len(), 2);
        texts.sweep();
        assert_eq!(texts.all.len(), 1);
        texts.leave(&first);
        drop(first);
        assert_eq!(texts.all.len(), 1, "another has it");
        texts.leave(&second);
        assert!(texts.all.is_empty());
    }

    #[test]
    fn what_nobody_has_does_not_pile_up() {
        let mut texts = Texts::default();
        let held: Vec<_> = (0..100).map(|number| texts.one(number.to_string().into())).collect();
        for number in 100..10_000 {
            texts.one(number.to_string().into());
        }
        assert!(texts.all.len() <= 200, "{}", texts.all.len());
        assert!(held.iter().all(|text| texts.all.contains(text)));
    }
}
